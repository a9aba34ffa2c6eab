"""Tournaments and games: functions of a session, within the transaction that its caller begins and ends."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import chain, count
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as insert_or_not
from sqlalchemy.orm import Session

from rummyarena_rules.reading import printable
from rummyarena_server.config import NAME_LENGTH
from rummyarena_server.store.errors import StoreError
from rummyarena_server.store.models import ATTEMPT, BOT, ENTRANT, GAME, RECORD, SEAT, TOURNAMENT
from rummyarena_server.store.results import (
    EntrantPlan,
    GameRecordText,
    GameResult,
    StoredTournament,
    TournamentPlan,
    canonical_json,
)

_CODEC: Final = "zlib"
_LONGEST_PATH: Final = 200  # that is shown
_MOST_FILES_NAMED: Final = 10  # of a bot that has changed
_ABSENT: Final = object()


# --- tournaments -----------------------------------------------------------------------------------------------------


def open_tournament(session: Session, plan: TournamentPlan, now: datetime) -> StoredTournament | list[str]:
    """Returns the tournament of the plan's name, made if it is new, or a sentence for each thing that has changed.

    A tournament that is there keeps its event secret; of one that is not finished, pins that were not known are stored.
    """
    stored = find_tournament(session, plan.name)
    if stored is not None:
        return _resumed(session, stored, plan)
    values = {
        "name": plan.name,
        "configuration": canonical_json(plan.configuration),
        "schedule_seed": plan.schedule_seed,
        "event_secret": plan.event_secret,
        "secret_fixed": plan.secret_fixed,
        "status": "running",
        "rated_games": 0,
        "imported": False,
        "opened_at": now,
    }
    made = StoredTournament(**session.execute(insert(TOURNAMENT).values(values).returning(TOURNAMENT)).mappings().one())
    add_entrants(session, made.id, plan.entrants, now)
    return made


def find_tournament(session: Session, name: str) -> StoredTournament | None:
    """Returns the tournament of this name."""
    row = session.execute(select(TOURNAMENT).where(TOURNAMENT.c.name == name)).mappings().one_or_none()
    return None if row is None else StoredTournament(**row)


def differences(session: Session, plan: TournamentPlan) -> list[str]:
    """Returns a sentence for each thing in which a plan differs from the tournament of its name, if there is one.

    Files of its bots are such things also when it is finished.
    """
    stored = find_tournament(session, plan.name)
    if stored is None:
        return []
    return [*_changed_settings(stored, plan), *_changed_bots(session, stored.id, plan)]


def set_aside(session: Session, tournament: StoredTournament, now: datetime) -> str:
    """Gives a tournament that nobody plays another name, which it returns; no game and no rating of it changes."""
    name = _name_aside(session, tournament.name, now)
    configuration = json.loads(tournament.configuration)
    if "name" in configuration:  # so that a file with the new name goes on with it
        configuration["name"] = name
    values = {"name": name, "configuration": canonical_json(configuration)}
    session.execute(update(TOURNAMENT).where(TOURNAMENT.c.id == tournament.id).values(values))
    abandon_attempts(session, tournament.id, now)
    return name


def pin_entrant(session: Session, tournament_id: int, number: int, pin: str, version: str) -> None:
    """Stores the pin of an entrant that was not known when the tournament was opened, and the version to be shown."""
    this = (ENTRANT.c.tournament_id == tournament_id) & (ENTRANT.c.number == number)
    session.execute(update(ENTRANT).where(this).values(pin=pin, version=version))


def finish_tournament(session: Session, tournament_id: int, now: datetime) -> None:
    """Marks a tournament as finished; done again, it keeps the time of the first."""
    running = (TOURNAMENT.c.id == tournament_id) & (TOURNAMENT.c.status == "running")
    session.execute(update(TOURNAMENT).where(running).values(status="finished", finished_at=now))


def count_for_elo(session: Session, tournament_id: int, games: int) -> None:
    """Has so many games of a tournament, from the first, count for Elo; the ratings are to be made again then."""
    session.execute(update(TOURNAMENT).where(TOURNAMENT.c.id == tournament_id).values(rated_games=games))


def add_entrants(session: Session, tournament_id: int, entrants: Iterable[EntrantPlan], now: datetime) -> None:
    """Stores the entrants of a new tournament in the order of their numbers, and those bots that are new."""
    for number, one in enumerate(entrants):
        session.execute(insert_or_not(BOT).values(name=one.name, created_at=now).on_conflict_do_nothing())
        values = {
            "tournament_id": tournament_id,
            "number": number,
            "bot_id": session.execute(select(BOT.c.id).where(BOT.c.name == one.name)).scalar_one(),
            "version": one.version,
            "command": canonical_json(one.command),
            "pin": one.pin,
        }
        session.execute(insert(ENTRANT).values(values))


def _resumed(session: Session, stored: StoredTournament, plan: TournamentPlan) -> StoredTournament | list[str]:
    changed = _changed_settings(stored, plan)
    if stored.status == "running":  # what is finished needs its bots no more
        changed += _changed_bots(session, stored.id, plan)
        if not changed:
            _add_pins(session, stored.id, plan.entrants)
    return changed or stored


def _add_pins(session: Session, tournament_id: int, entrants: Iterable[EntrantPlan]) -> None:
    """Stores pins where there are none, as in tournaments of an older version."""
    unknown = (ENTRANT.c.tournament_id == tournament_id) & (ENTRANT.c.pin == "")
    for number, one in enumerate(entrants):
        session.execute(update(ENTRANT).where(unknown & (ENTRANT.c.number == number)).values(pin=one.pin))


def _name_aside(session: Session, name: str, now: datetime) -> str:
    moment = now.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
    endings = (f" (set aside {moment}{more})" for more in chain([""], (f", {number}" for number in count(2))))
    names = (name[: NAME_LENGTH - len(ending)].rstrip() + ending for ending in endings)
    return next(one for one in names if find_tournament(session, one) is None)


# --- what has changed ------------------------------------------------------------------------------------------------


def _changed_settings(stored: StoredTournament, plan: TournamentPlan) -> list[str]:
    was, now = map(_without_what_pins_tell, (json.loads(stored.configuration), plan.configuration))
    secret_was = stored.event_secret if stored.secret_fixed else None
    secret_now = plan.event_secret if plan.secret_fixed else None
    return [*_unlike("", was, now), *(["secret: it is not the same"] if secret_was != secret_now else [])]


def _without_what_pins_tell(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a configuration without what is held otherwise: a version is all that counts where a bot has one.

    Which files belong to another bot is seen by the files themselves, however they were named.
    """
    said: dict[str, Any] = json.loads(canonical_json(configuration))
    for bot in said.get("bots", ()):
        if isinstance(bot, dict):
            bot.pop("files", None)
            if bot.get("version"):
                bot.pop("command", None)
    return said


def _changed_bots(session: Session, tournament_id: int, plan: TournamentPlan) -> Iterator[str]:
    """Yields a sentence for each file of a bot that is not as it was pinned."""
    mine = select(ENTRANT.c.pin).where(ENTRANT.c.tournament_id == tournament_id).order_by(ENTRANT.c.number)
    pins = session.execute(mine).scalars().all()
    for number, (pin, one) in enumerate(zip(pins, plan.entrants, strict=False)):  # more or fewer bots: see the settings
        for changed in _changed_files(pin, one.pin):
            yield f'bots[{number}] "{printable(one.name)}": {changed}'


def _changed_files(was: str, now: str) -> list[str]:
    """Returns how the files of two pins differ; nothing where a pin is not known, or where the settings tell more."""
    before, after = (json.loads(pin) if pin else {} for pin in (was, now))
    if not before or not after or before.get("command") != after.get("command"):
        return []
    old, new = before.get("files", {}), after.get("files", {})
    changed = [name for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name)]
    said = [f"{printable(name, _LONGEST_PATH)} {_change(name, old, new)}" for name in changed[:_MOST_FILES_NAMED]]
    more = len(changed) - len(said)
    return [*said, f"{more} more of its files have changed"] if more else said


def _change(name: str, old: Mapping[str, str], new: Mapping[str, str]) -> str:
    if name not in new:
        return "is gone"
    return "has changed" if name in old else "is new"


def _unlike(place: str, was: Any, now: Any) -> Iterator[str]:
    """Yields a sentence for each place in which two JSON values differ."""
    if isinstance(was, dict) and isinstance(now, dict):
        for name in sorted(was.keys() | now.keys()):
            yield from _unlike(f"{place}.{name}", was.get(name, _ABSENT), now.get(name, _ABSENT))
    elif isinstance(was, list) and isinstance(now, list):
        for at in range(max(len(was), len(now))):
            yield from _unlike(f"{place}[{at}]", *(one[at] if at < len(one) else _ABSENT for one in (was, now)))
    elif was != now:
        yield f"{place.removeprefix('.')}: it was {_said(was)}, now it is {_said(now)}"


def _said(value: object) -> str:
    return "absent" if value is _ABSENT else json.dumps(value)  # non-ASCII escaped: this goes to terminals


# --- games -----------------------------------------------------------------------------------------------------------


def begin_attempt(
    session: Session, tournament_id: int, index: int, seed_of: Callable[[int], bytes], now: datetime
) -> int:
    """Notes that a game with deals of its own is about to be dealt and returns the number of this attempt, from 0.

    `seed_of`: the game seed of an attempt. Earlier attempts at the game are abandoned.
    """
    abandon_attempts(session, tournament_id, now, index)
    last = select(func.max(ATTEMPT.c.attempt)).where(*_attempts_at(tournament_id, index))
    before = session.execute(last).scalar_one()
    attempt = 0 if before is None else before + 1
    key = {"tournament_id": tournament_id, "schedule_index": index, "attempt": attempt}
    session.execute(insert(ATTEMPT).values(key | {"seed": seed_of(attempt), "started_at": now}))
    return attempt


def abandon_attempts(session: Session, tournament_id: int, now: datetime, index: int | None = None) -> None:
    """Notes that nothing that was begun is in play any more, in a tournament or, with `index`, at one of its games."""
    open_ones = (*_attempts_at(tournament_id, index), ATTEMPT.c.abandoned_at.is_(None))
    session.execute(update(ATTEMPT).where(*open_ones).values(abandoned_at=now))


def _attempts_at(tournament_id: int, index: int | None) -> tuple[ColumnElement[bool], ...]:
    mine = ATTEMPT.c.tournament_id == tournament_id
    return (mine,) if index is None else (mine, ATTEMPT.c.schedule_index == index)


def record_game(session: Session, tournament_id: int, result: GameResult, now: datetime) -> bool:
    """Records a game; `False`, and nothing is changed, if its index is recorded already."""
    statement = (
        insert_or_not(GAME)
        .values(_game_values(tournament_id, result, now))
        .on_conflict_do_nothing(index_elements=[GAME.c.tournament_id, GAME.c.schedule_index])
        .returning(GAME.c.id)
    )
    game_id = session.execute(statement).scalar_one_or_none()
    if game_id is None:
        return False
    _add_parts(session, tournament_id, {game_id: result})
    recorded = (*_attempts_at(tournament_id, result.index), ATTEMPT.c.attempt == result.attempt)
    session.execute(delete(ATTEMPT).where(*recorded))
    return True


def add_games(session: Session, tournament_id: int, results: Sequence[GameResult], now: datetime) -> None:
    """Records games, at least one, of a tournament that has none of these and that nobody plays."""
    values = [_game_values(tournament_id, one, now) for one in results]
    ids = session.execute(insert(GAME).returning(GAME.c.id, sort_by_parameter_order=True), values).scalars()
    _add_parts(session, tournament_id, dict(zip(ids, results, strict=True)))


def recorded_indices(session: Session, tournament_id: int) -> tuple[range, ...]:
    """Returns which games of a tournament are recorded: ascending ranges of indices with gaps between them."""
    index = GAME.c.schedule_index
    run = index - func.row_number().over(order_by=index)  # the same for all indices without a gap between them
    mine = select(index.label("index"), run.label("run")).where(GAME.c.tournament_id == tournament_id).subquery()
    first, last = func.min(mine.c.index), func.max(mine.c.index)
    found = session.execute(select(first, last).group_by(mine.c.run).order_by(first))
    return tuple(range(least, most + 1) for least, most in found)


def record_text(session: Session, tournament_id: int, index: int) -> GameRecordText | None:
    """Returns the record of a game, `None` if it is not recorded or was not played; `StoreError` if it is damaged."""
    this = (GAME.c.tournament_id == tournament_id) & (GAME.c.schedule_index == index)
    row = session.execute(select(RECORD).join(GAME, GAME.c.id == RECORD.c.game_id).where(this)).one_or_none()
    if row is None:
        return None
    try:
        return GameRecordText(format=row.format, text=zlib.decompress(row.content).decode())
    except (zlib.error, UnicodeDecodeError) as error:
        raise StoreError(f"the record of game {index} is damaged ({error}); its result is not") from error


def _game_values(tournament_id: int, result: GameResult, now: datetime) -> dict[str, object]:
    return {
        "tournament_id": tournament_id,
        "schedule_index": result.index,
        "deal_group": result.group,
        "rotation": result.rotation,
        "attempt": result.attempt,
        "seed": result.seed,
        "ruleset": result.ruleset,
        "rules_version": result.rules_version,
        "options": canonical_json(result.options),
        "status": result.status,
        "reason": result.reason,
        "deals": result.deals,
        "counted_deals": result.counted_deals,
        "rated": result.rated,
        "lag": result.lag,
        "started_at": result.started_at,
        "finished_at": result.finished_at,
        "recorded_at": now,
    }


def _add_parts(session: Session, tournament_id: int, games: Mapping[int, GameResult]) -> None:
    """Stores the seats and the records of games, by their ids."""
    theirs = select(ENTRANT.c.number, ENTRANT.c.id).where(ENTRANT.c.tournament_id == tournament_id)
    entrant_ids = {row.number: row.id for row in session.execute(theirs)}
    seats, records = [], []
    for game_id, result in games.items():
        for seat, one in enumerate(result.seats):
            values = asdict(one)
            seats.append(values | {"game_id": game_id, "seat": seat, "entrant_id": entrant_ids[values.pop("entrant")]})
        if result.record is not None:
            content = zlib.compress(result.record.text.encode())
            records.append({"game_id": game_id, "format": result.record.format, "codec": _CODEC, "content": content})
    session.execute(insert(SEAT), seats)
    if records:
        session.execute(insert(RECORD), records)
