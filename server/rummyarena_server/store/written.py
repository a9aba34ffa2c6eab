"""The recorded games of a tournament as they are written down; functions of a session, as in `records`.

What a record says besides the moves stands in the tables as well; where the two contradict each other, that is told.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from rummyarena_server.referee.clock import SECOND, TimeControl
from rummyarena_server.referee.record import (
    Origin,
    RecordError,
    SeatedBot,
    WrittenGame,
    WrittenResult,
    WrittenSeat,
    read_stored,
)
from rummyarena_server.store.errors import StoreError
from rummyarena_server.store.groups import shown_groups
from rummyarena_server.store.models import BOT, ENTRANT, GAME, RECORD, SEAT
from rummyarena_server.store.records import record_text
from rummyarena_server.store.results import StoredTournament


@dataclass(frozen=True, slots=True)
class KeptGame:
    """A recorded game of a tournament.

    `game`: its origin lacks the secret, which is not the store's to reveal. `entrants`: their numbers, in the order of
    the seats. `may_be_shown`: see `StoredGame`. `contradictions`: where its record and the tables differ, in sentences,
    or why the record cannot be read.
    """

    index: int
    game: WrittenGame
    entrants: tuple[int, ...]
    may_be_shown: bool
    contradictions: tuple[str, ...]


def kept_games(session: Session, tournament: StoredTournament, after: int, limit: int) -> list[KeptGame]:
    """Returns a page of the recorded games of a tournament; `after`: the index of the last game of the page before."""
    mine = (GAME.c.tournament_id == tournament.id, GAME.c.schedule_index > after)
    rows = session.execute(select(GAME).where(*mine).order_by(GAME.c.schedule_index).limit(limit)).all()
    seats = _seats(session, [row.id for row in rows])
    said = json.loads(tournament.configuration)
    shown = shown_groups(session, tournament, {row.deal_group for row in rows})
    return [_kept(session, tournament, said, row, seats[row.id], may_be_shown=row.deal_group in shown) for row in rows]


def stored_bytes(session: Session, tournament_id: int) -> int:
    """Returns how many bytes the records of a tournament take as they are stored."""
    size = func.coalesce(func.sum(func.length(RECORD.c.content)), 0)
    mine = select(size).join(GAME, GAME.c.id == RECORD.c.game_id).where(GAME.c.tournament_id == tournament_id)
    return int(session.execute(mine).scalar_one())


def recorded_in(session: Session, tournament_id: int, indices: range) -> int:
    """Returns how many games with these indices are recorded."""
    mine = (
        GAME.c.tournament_id == tournament_id,
        GAME.c.schedule_index >= indices.start,
        GAME.c.schedule_index < indices.stop,
    )
    return session.execute(select(func.count()).select_from(GAME).where(*mine)).scalar_one()


def _seats(session: Session, game_ids: Sequence[int]) -> Mapping[int, list[Row[Any]]]:
    rows = session.execute(
        select(SEAT, BOT.c.name, ENTRANT.c.number, ENTRANT.c.version)
        .join(ENTRANT, ENTRANT.c.id == SEAT.c.entrant_id)
        .join(BOT, BOT.c.id == ENTRANT.c.bot_id)
        .where(SEAT.c.game_id.in_(game_ids))
        .order_by(SEAT.c.game_id, SEAT.c.seat)
    )
    found: defaultdict[int, list[Row[Any]]] = defaultdict(list)
    for row in rows:
        found[row.game_id].append(row)
    return found


def _kept(
    session: Session,
    tournament: StoredTournament,
    said: Mapping[str, Any],
    row: Row[Any],
    seats: Sequence[Row[Any]],
    *,
    may_be_shown: bool,
) -> KeptGame:
    options = _object(row.options)
    game = WrittenGame(
        id=f"{row.tournament_id}.{row.schedule_index}.{row.attempt}",
        ruleset=row.ruleset,
        rules_version=row.rules_version,
        options=options or {},
        seed=row.seed,
        digest=sha256(row.seed).digest(),
        bots=tuple(SeatedBot(one.name, one.version) for one in seats),
        time_control=time_control(said),
        play=None,
        started_at=row.started_at,
        finished_at=row.finished_at,
        lag=row.lag,
        origin=_origin(tournament, said, row),
        result=_result(row, seats),
    )
    game, contradictions = _with_record(session, row, game)
    if options is None:
        contradictions = (*contradictions, "options: what the tables have is no object of JSON")
    if [one.seat for one in seats] != list(range(said["seats"])):
        contradictions = (*contradictions, f"seats: the tables have {len(seats)}, in a tournament of {said['seats']}")
    return KeptGame(row.schedule_index, game, tuple(one.number for one in seats), may_be_shown, contradictions)


def _object(text: str) -> Mapping[str, object] | None:
    try:
        read = json.loads(text)
    except ValueError:
        return None
    return read if isinstance(read, dict) else None


def time_control(said: Mapping[str, Any]) -> TimeControl | None:
    """Returns the clock of a tournament from its configuration."""
    if said["clock"] == "off":
        return None
    seconds = (said["decision_seconds"], said["bank_seconds"], said["increment_seconds"])
    return TimeControl(*(round(one * SECOND) for one in seconds))


def _origin(tournament: StoredTournament, said: Mapping[str, Any], row: Row[Any]) -> Origin:
    return Origin(
        tournament=tournament.name,
        index=row.schedule_index,
        group=row.deal_group,
        rotation=row.rotation,
        attempt=row.attempt,
        shares_deals=said["deals"] == "shared",
        secret_digest=None,
        secret=None,
    )


def _result(row: Row[Any], seats: Sequence[Row[Any]]) -> WrittenResult:
    return WrittenResult(
        status=row.status,
        reason=row.reason,
        rated=row.rated,
        deals=row.deals,
        counted_deals=row.counted_deals,
        seats=tuple(
            WrittenSeat(
                rank=one.rank,
                total=one.total,
                points=one.points,
                forfeit=one.forfeit,
                faults=one.faults,
                thinking=one.thinking,
            )
            for one in seats
        ),
    )


def _with_record(session: Session, row: Row[Any], game: WrittenGame) -> tuple[WrittenGame, tuple[str, ...]]:
    """Returns a game with the moves of its record, if it was kept, and where the record contradicts the tables.

    Without the moves where the record cannot be read, or is one of another table.
    """
    try:
        text = record_text(session, row.tournament_id, row.schedule_index)
        if text is None:
            return game, ()
        record = read_stored(text.text)
    except (StoreError, RecordError) as error:
        return game, (str(error),)
    if len(record.bots) != len(game.bots):
        return game, (f"seats: the record has {len(record.bots)}, the tables have {len(game.bots)}",)
    # The bots with the versions that they told when it was played.
    kept = replace(game, bots=record.bots, play=record.play)
    return kept, tuple(_contradictions(record, game))


def _contradictions(record: WrittenGame, game: WrittenGame) -> Iterator[str]:
    for name in ("id", "ruleset", "rules_version", "options", "seed", "time_control", "started_at", "finished_at"):
        if getattr(record, name) != getattr(game, name):
            yield f"{name}: the record has another one than the tables"
    if [one.name for one in record.bots] != [one.name for one in game.bots]:
        yield "bots: those of the record are not the entrants of the tables"
    for seat, (one, entrant) in enumerate(zip(record.bots, game.bots, strict=False)):
        if entrant.version and one.version != entrant.version:
            yield f"seat {seat}: the record has another version of the bot than the tables"
