"""Games that were played elsewhere, taken in as a tournament of their own: functions of a session, as in `records`.

Such a tournament is finished and counts for no Elo; for the rest it is like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import insert, select, update
from sqlalchemy.dialects.sqlite import insert as insert_or_not
from sqlalchemy.orm import Session

from rummyarena_rules.options import changed_options
from rummyarena_rules.reading import shown
from rummyarena_server.config import Name
from rummyarena_server.referee.clock import SECOND
from rummyarena_server.referee.record import (
    FORMAT,
    Origin,
    RecordError,
    SeatedBot,
    WrittenGame,
    WrittenResult,
    record_of,
    setup_of,
    to_json,
)
from rummyarena_server.store.models import BOT, ENTRANT, TOURNAMENT
from rummyarena_server.store.records import find_tournament, record_game
from rummyarena_server.store.results import GameRecordText, GameResult, SeatResult, canonical_json

_NO_SECRET: Final = bytes(32)


class ImportRefusedError(Exception):
    """Games that cannot be taken in; the text says which, why, and what to do."""


@dataclass(frozen=True, slots=True)
class Imported:
    """A tournament of games that were played elsewhere."""

    name: str
    games: int
    bots: int


@dataclass(frozen=True, slots=True)
class Revealed:
    """What is told of the secret from which seeds follow: its digest, and itself if it is revealed."""

    digest: bytes | None
    secret: bytes | None


def import_games(session: Session, name: str | None, games: Iterable[WrittenGame], now: datetime) -> Imported:
    """Takes in games, in the order of their indices, as a tournament of this name, or of the one they were played in.

    `ImportRefusedError`, or whatever `games` raises, leaves nothing behind once the transaction is rolled back.
    """
    taking: _Taking | None = None
    for game in games:
        taking = taking or _Taking(session, _free_name(session, name, game), game, now)
        taking.take(game)
    if taking is None:
        raise ImportRefusedError("there are no games in it")
    return taking.close()


def revealed_of(configuration: Mapping[str, Any], index: int) -> Revealed:
    """Returns what the file of an imported tournament told of the secret of a game."""
    digest, secret = None, None
    for first, its_digest, its_secret in configuration["secrets"]:
        if first > index:
            break
        digest, secret = its_digest, its_secret
    return Revealed(*(None if one is None else bytes.fromhex(one) for one in (digest, secret)))


def _free_name(session: Session, name: str | None, game: WrittenGame) -> str:
    wanted = name if name is not None else game.origin.tournament if game.origin else None
    if wanted is None:
        raise ImportRefusedError(f"game {shown(game.id)} says of no tournament that it was played in; add --name")
    _check_text(wanted, "the name of the tournament")
    if find_tournament(session, wanted) is not None:
        raise ImportRefusedError(f"there is a tournament {shown(wanted)} already; --name gives this one another name")
    return wanted


class _Taking:
    """An import under way."""

    def __init__(self, session: Session, name: str, first: WrittenGame, now: datetime) -> None:
        self._session = session
        self._name = name
        self._now = now
        self._kind = _kind(first)
        self._bots: dict[str, SeatedBot] = {}
        self._numbers: dict[str, int] = {}
        self._secrets: list[tuple[int, str | None, str | None]] = []
        self._games = 0
        self._last_index = -1
        values = {
            "name": name,
            "configuration": "{}",
            "schedule_seed": 0,
            "event_secret": _NO_SECRET,
            "secret_fixed": False,
            "status": "finished",
            "rated_games": 0,
            "imported": True,
            "opened_at": now,
            "finished_at": now,
        }
        self._id: int = session.execute(insert(TOURNAMENT).values(values).returning(TOURNAMENT.c.id)).scalar_one()

    def take(self, game: WrittenGame) -> None:
        """Stores the next game."""
        origin, result = _checked(game)
        self._check_kind(game)
        if origin.index <= self._last_index:
            why = f"its index {origin.index} does not follow {self._last_index}: sort the games, and have each once"
            raise _refused(game, why)
        self._last_index = origin.index
        self._games += 1
        self._note_secret(origin)
        entrants = [self._entrant(game, bot) for bot in game.bots]
        try:
            stored = _result(game, origin, result, entrants)
        except ValueError as error:
            raise _refused(game, str(error)) from None
        record_game(self._session, self._id, self._with_record(game, stored), self._now)

    def close(self) -> Imported:
        """Stores what all games have told together."""
        configuration = {
            **_configuration(self._kind),
            "name": self._name,
            "bots": [{"name": bot.name, "version": bot.version} for bot in self._bots.values()],
            "secrets": self._secrets,
        }
        this = TOURNAMENT.c.id == self._id
        self._session.execute(update(TOURNAMENT).where(this).values(configuration=canonical_json(configuration)))
        return Imported(self._name, self._games, len(self._bots))

    def _check_kind(self, game: WrittenGame) -> None:
        for what, value in _kind(game).items():
            if value != self._kind[what]:
                raise _refused(game, f"another {what} than the games before it; put them into files of their own")

    def _entrant(self, game: WrittenGame, bot: SeatedBot) -> int:
        """Returns the number of an entrant, who is stored when it plays its first game."""
        if bot.name not in self._bots:
            self._add_entrant(game, bot)
        if self._bots[bot.name] != bot:
            raise _refused(game, f"the bot {shown(bot.name)} has another version than in the games before it")
        return self._numbers[bot.name]

    def _add_entrant(self, game: WrittenGame, bot: SeatedBot) -> None:
        _check_text(bot.name, f"game {shown(game.id)}: the name of a bot")
        if bot.version:
            _check_text(bot.version, f"game {shown(game.id)}: the version of a bot")
        self._session.execute(insert_or_not(BOT).values(name=bot.name, created_at=self._now).on_conflict_do_nothing())
        values = {
            "tournament_id": self._id,
            "number": len(self._bots),
            "bot_id": self._session.execute(select(BOT.c.id).where(BOT.c.name == bot.name)).scalar_one(),
            "version": bot.version,
            "command": canonical_json([]),
            "pin": "",
        }
        self._session.execute(insert(ENTRANT).values(values))
        self._numbers[bot.name] = len(self._bots)
        self._bots[bot.name] = bot

    def _note_secret(self, origin: Origin) -> None:
        digest, secret = (None if one is None else one.hex() for one in (origin.secret_digest, origin.secret))
        if not self._secrets or self._secrets[-1][1:] != (digest, secret):
            self._secrets.append((origin.index, digest, secret))

    def _with_record(self, game: WrittenGame, stored: GameResult) -> GameResult:
        if game.play is None:
            return stored
        try:
            record = record_of(replace(game, id=f"{self._id}.{stored.index}.{stored.attempt}"))
        except RecordError as error:
            raise _refused(game, str(error)) from None
        return replace(stored, record=GameRecordText(format=FORMAT, text=to_json(record)))


def _checked(game: WrittenGame) -> tuple[Origin, WrittenResult]:
    if game.origin is None or game.result is None:
        raise _refused(game, "it says neither its tournament nor its result, as records of format 1 do not")
    if game.is_whole is False:
        raise _refused(game, "it was changed after it was written, for its checksum is wrong; get the file anew")
    if game.origin.index != game.origin.group * len(game.bots) + game.origin.rotation:
        raise _refused(game, "its index, group and rotation do not belong together")
    try:
        setup = setup_of(game)
    except RecordError as error:
        raise _refused(game, str(error)) from None
    if canonical_json(game.options) != canonical_json(changed_options(setup.options)):
        raise _refused(game, "its options are not those that differ from the defaults, and these alone")
    return game.origin, game.result


def _refused(game: WrittenGame, why: str) -> ImportRefusedError:
    return ImportRefusedError(f"game {shown(game.id)}: {why}")


def _kind(game: WrittenGame) -> dict[str, Any]:
    """Returns what must be the same in all games of a tournament."""
    return {
        "tournament": game.origin and game.origin.tournament,
        "ruleset": game.ruleset,
        "version of the rules": game.rules_version,
        "set of options": game.options,
        "number of seats": len(game.bots),
        "clock": game.time_control,
        "way to deal": game.origin and game.origin.shares_deals,
    }


def _configuration(kind: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what a tournament file would have said of such games; see `TournamentSettings.configuration`."""
    control = kind["clock"]
    times = (0, 0, 0) if control is None else (control.decision, control.bank, control.increment)
    names = ("decision_seconds", "bank_seconds", "increment_seconds")
    return {
        "ruleset": kind["ruleset"],
        "rules_version": kind["version of the rules"],
        "options": kind["set of options"],
        "seats": kind["number of seats"],
        "deals": "shared" if kind["way to deal"] else "own",
        "clock": "off" if control is None else "on",
        **{name: time / SECOND for name, time in zip(names, times, strict=True)},
        "imported_from": kind["tournament"],
    }


def _result(game: WrittenGame, origin: Origin, result: WrittenResult, entrants: Iterable[int]) -> GameResult:
    return GameResult(
        index=origin.index,
        group=origin.group,
        rotation=origin.rotation,
        attempt=origin.attempt,
        seed=game.seed,
        ruleset=game.ruleset,
        rules_version=game.rules_version,
        options=game.options,
        status=result.status,
        reason=result.reason,
        deals=result.deals,
        counted_deals=result.counted_deals,
        rated=result.rated,
        lag=game.lag,
        started_at=game.started_at,
        finished_at=game.finished_at,
        seats=tuple(
            SeatResult(
                entrant=entrant,
                rank=one.rank,
                total=one.total,
                points=one.points,
                forfeit=one.forfeit,
                thinking=one.thinking,
                faults=one.faults,
            )
            for entrant, one in zip(entrants, result.seats, strict=True)
        ),
    )


_NAME: Final[TypeAdapter[str]] = TypeAdapter(Name)


def _check_text(text: str, what: str) -> None:
    """Refuses a name or a version that could not stand in a tournament file."""
    try:
        read = _NAME.validate_python(text)
    except ValidationError as error:
        raise ImportRefusedError(f"{what}, {shown(text)}: {error.errors()[0]['msg']}") from None
    if read != text:
        raise ImportRefusedError(f"{what}, {shown(text)}: it is not in normal form C")
