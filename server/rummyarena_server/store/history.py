"""What was played, for people to look at: functions of a session, as in `records`; nothing here changes anything."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, func, select
from sqlalchemy.orm import Session

from rummyarena_server.store.groups import shown_groups
from rummyarena_server.store.models import ATTEMPT, BOT, ENTRANT, GAME, SEAT, TOURNAMENT
from rummyarena_server.store.records import record_text
from rummyarena_server.store.results import EntrantPlan, GameSummary, SeatSummary, StoredGame, StoredTournament

_GAME_ID: Final = re.compile(r"([0-9]{1,18})\.([0-9]{1,18})\.([0-9]{1,9})", re.ASCII)


# --- tournaments -----------------------------------------------------------------------------------------------------


def all_tournaments(session: Session) -> list[StoredTournament]:
    """Returns all tournaments in the order of opening."""
    rows = session.execute(select(TOURNAMENT).order_by(TOURNAMENT.c.id)).mappings()
    return [StoredTournament(**row) for row in rows]


def recorded_counts(session: Session, tournament_id: int | None = None) -> dict[int, int]:
    """Returns how many games of each tournament, or of this one, are recorded, by its id; who has none is left out."""
    counts = select(GAME.c.tournament_id, func.count().label("recorded")).group_by(GAME.c.tournament_id)
    which = () if tournament_id is None else (GAME.c.tournament_id == tournament_id,)
    rows = session.execute(counts.where(*which))
    return {row.tournament_id: row.recorded for row in rows}


def entrants(session: Session, tournament_id: int) -> tuple[EntrantPlan, ...]:
    """Returns the bots of a tournament in the order of their numbers."""
    rows = session.execute(
        select(BOT.c.name, ENTRANT.c.version, ENTRANT.c.command, ENTRANT.c.pin)
        .join(BOT, BOT.c.id == ENTRANT.c.bot_id)
        .where(ENTRANT.c.tournament_id == tournament_id)
        .order_by(ENTRANT.c.number)
    )
    return tuple(EntrantPlan(row.name, row.version, tuple(json.loads(row.command)), row.pin) for row in rows)


# --- games -----------------------------------------------------------------------------------------------------------


def games(
    session: Session, tournament_id: int, *, after: int = -1, limit: int = 100, bot: str | None = None
) -> list[GameSummary]:
    """Returns a page of the recorded games of a tournament, in the order of the schedule.

    `after`: the index of the last game of the page before. `bot`: the name of one that must have sat there.
    """
    which = [GAME.c.tournament_id == tournament_id, GAME.c.schedule_index > after]
    if bot is not None:
        its_games = select(SEAT.c.game_id).join(ENTRANT, ENTRANT.c.id == SEAT.c.entrant_id)
        which.append(GAME.c.id.in_(its_games.join(BOT, BOT.c.id == ENTRANT.c.bot_id).where(BOT.c.name == bot)))
    return _summaries(session, which, limit)


def game_record(session: Session, game_id: str) -> StoredGame | None:
    """Returns the game of this id with its record, as `find_game` does; `StoreError` if that is damaged."""
    found = find_game(session, game_id)
    if found is None or found.summary is None:
        return found
    tournament_id, index, _ = map(int, found.id.split("."))
    return replace(found, record=record_text(session, tournament_id, index))


def find_game(session: Session, game_id: str) -> StoredGame | None:
    """Returns the game of this id, `TOURNAMENT.INDEX.ATTEMPT` in numbers; `None` if there is none that is over.

    Its record is left out. See `StoredGame.may_be_shown` before anything of it is.
    """
    numbers = _GAME_ID.fullmatch(game_id)
    if numbers is None:
        return None
    tournament_id, index, attempt = map(int, numbers.groups())
    row = session.execute(select(TOURNAMENT).where(TOURNAMENT.c.id == tournament_id)).mappings().one_or_none()
    if row is None:
        return None
    tournament = StoredTournament(**row)
    return _recorded(session, tournament, index, attempt) or _abandoned(session, tournament, index, attempt)


def _recorded(session: Session, tournament: StoredTournament, index: int, attempt: int) -> StoredGame | None:
    this = (GAME.c.tournament_id == tournament.id, GAME.c.schedule_index == index, GAME.c.attempt == attempt)
    found = _summaries(session, this, 1)
    if not found:
        return None
    summary = found[0]
    return StoredGame(
        id=summary.id,
        tournament=tournament.name,
        index=index,
        status=summary.status,
        seed=session.execute(select(GAME.c.seed).where(*this)).scalar_one(),
        may_be_shown=summary.group in shown_groups(session, tournament, [summary.group]),
        summary=summary,
        record=None,
    )


def _abandoned(session: Session, tournament: StoredTournament, index: int, attempt: int) -> StoredGame | None:
    """Returns an attempt that is over; nobody else plays on its seed, for each has one of its own."""
    row = session.execute(
        select(ATTEMPT).where(
            ATTEMPT.c.tournament_id == tournament.id,
            ATTEMPT.c.schedule_index == index,
            ATTEMPT.c.attempt == attempt,
            ATTEMPT.c.abandoned_at.is_not(None),
        )
    ).one_or_none()
    if row is None:
        return None
    return StoredGame(
        id=f"{tournament.id}.{index}.{attempt}",
        tournament=tournament.name,
        index=index,
        status="abandoned",
        seed=row.seed,
        may_be_shown=True,
        summary=None,
        record=None,
    )


def _summaries(session: Session, which: Sequence[ColumnElement[bool]], limit: int) -> list[GameSummary]:
    rows = session.execute(select(GAME).where(*which).order_by(GAME.c.schedule_index).limit(limit)).all()
    seats = _seats(session, [row.id for row in rows])
    return [_summary(row, tuple(seats[row.id])) for row in rows]


def _seats(session: Session, game_ids: Sequence[int]) -> defaultdict[int, list[SeatSummary]]:
    """Returns the seats of each game, in their order."""
    rows = session.execute(
        select(SEAT, BOT.c.name, ENTRANT.c.version)
        .join(ENTRANT, ENTRANT.c.id == SEAT.c.entrant_id)
        .join(BOT, BOT.c.id == ENTRANT.c.bot_id)
        .where(SEAT.c.game_id.in_(game_ids))
        .order_by(SEAT.c.game_id, SEAT.c.seat)
    )
    found: defaultdict[int, list[SeatSummary]] = defaultdict(list)
    for row in rows:
        found[row.game_id].append(
            SeatSummary(
                bot=row.name,
                version=row.version,
                rank=row.rank,
                total=row.total,
                points=row.points,
                forfeit=row.forfeit,
                faults=row.faults,
                thinking=row.thinking,
            )
        )
    return found


def _summary(row: Row[Any], seats: tuple[SeatSummary, ...]) -> GameSummary:
    return GameSummary(
        id=f"{row.tournament_id}.{row.schedule_index}.{row.attempt}",
        index=row.schedule_index,
        group=row.deal_group,
        rotation=row.rotation,
        attempt=row.attempt,
        status=row.status,
        reason=row.reason,
        deals=row.deals,
        counted_deals=row.counted_deals,
        rated=row.rated,
        lag=row.lag,
        started_at=row.started_at,
        finished_at=row.finished_at,
        seats=seats,
    )
