"""The rounds of a tournament whose pairings follow from results: functions of a session, as in `records`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from rummyarena_server.store.models import ENTRANT, GAME, ROUND, SEAT
from rummyarena_server.store.results import canonical_json


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """What later rounds may know of a game; all in the order of the seats.

    `table`: the numbers of the entrants. `ranks`: 1 is best, ties are equal. `rated`: whether there is a winner, so
    that it counts. `withdrawn`: who was so before the game.
    """

    table: tuple[int, ...]
    ranks: tuple[int, ...]
    rated: bool = True
    withdrawn: tuple[int, ...] = ()


def add_round(
    session: Session, tournament_id: int, number: int, tables: Sequence[Sequence[int]], now: datetime
) -> bool:
    """Stores a round, numbered from 0, if it is not; returns whether it is stored with these tables.

    `tables`: the entrants of each as they sit at rotation 0.
    """
    stored = round_tables(session, tournament_id, number)
    if stored:
        return stored == tuple(map(tuple, tables))
    values = {"tournament_id": tournament_id, "number": number, "tables": canonical_json(tables), "opened_at": now}
    session.execute(insert(ROUND).values(values))
    return True


def round_tables(session: Session, tournament_id: int, number: int) -> tuple[tuple[int, ...], ...]:
    """Returns the tables of a round as they were stored, none if it has not been."""
    this = (ROUND.c.tournament_id == tournament_id) & (ROUND.c.number == number)
    said = session.execute(select(ROUND.c.tables).where(this)).scalar_one_or_none()
    return () if said is None else tuple(map(tuple, json.loads(said)))


def last_round(session: Session, tournament_id: int) -> int | None:
    """Returns the number of the last round that was stored, `None` if none was."""
    last = select(func.max(ROUND.c.number)).where(ROUND.c.tournament_id == tournament_id)
    number: int | None = session.execute(last).scalar_one()
    return number


def played_games(session: Session, tournament_id: int, indices: range) -> list[PlayedGame]:
    """Returns the recorded games with these indices, in the order of the schedule."""
    rows = session.execute(
        select(GAME.c.schedule_index, GAME.c.rated, ENTRANT.c.number, SEAT.c.rank, SEAT.c.forfeit)
        .join(SEAT, SEAT.c.game_id == GAME.c.id)
        .join(ENTRANT, ENTRANT.c.id == SEAT.c.entrant_id)
        .where(
            GAME.c.tournament_id == tournament_id,
            GAME.c.schedule_index >= indices.start,
            GAME.c.schedule_index < indices.stop,
        )
        .order_by(GAME.c.schedule_index, SEAT.c.seat)
    )
    return [_played(list(seats)) for _, seats in groupby(rows, key=attrgetter("schedule_index"))]


def _played(seats: list[Any]) -> PlayedGame:
    return PlayedGame(
        table=tuple(one.number for one in seats),
        ranks=tuple(one.rank for one in seats),
        rated=seats[0].rated,
        withdrawn=tuple(one.number for one in seats if one.forfeit == "withdrawn"),
    )
