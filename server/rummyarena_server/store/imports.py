"""Games that were played elsewhere, taken in as a tournament of their own: functions of a session, as in `records`.

Such a tournament is finished and counts for no Elo; for the rest it is like any other.
"""

from __future__ import annotations

import pickle
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from operator import itemgetter
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Final

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import insert
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
from rummyarena_server.store.models import TOURNAMENT
from rummyarena_server.store.records import add_entrants, add_games, find_tournament
from rummyarena_server.store.results import EntrantPlan, GameRecordText, GameResult, SeatResult, canonical_json

NO_GAMES: Final = "there are no games in it"
_NO_SECRET: Final = bytes(32)
_NO_ID: Final = '"id":""'  # stands in no text of a record, for there quotation marks are escaped
_GAMES_AT_ONCE: Final = 500


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


@dataclass(frozen=True, slots=True)
class Prepared:
    """Games that are ready to be taken in under this name; `spool` holds them, for there may be more than memory holds.

    `configuration`: what a tournament file would have said of them.
    """

    name: str
    configuration: Mapping[str, Any]
    entrants: tuple[EntrantPlan, ...]
    games: int
    spool: BinaryIO


def free_name(session: Session, name: str | None, game: WrittenGame) -> str:
    """Returns the name for a tournament of such games: this, or that of the one in which they were played.

    `ImportRefusedError` if there is none, or a tournament of that name.
    """
    wanted = name if name is not None else game.origin.tournament if game.origin else None
    if wanted is None:
        raise ImportRefusedError(f"game {shown(game.id)} says of no tournament that it was played in; add --name")
    _check_text(wanted, "the name of the tournament")
    _refuse_taken(session, wanted)
    return wanted


def prepare(games: Iterable[WrittenGame], name: str, spool: BinaryIO) -> Prepared:
    """Checks games, which come in the order of their indices, and writes them to an empty file for `import_games`.

    `spool`: as `open_spool` returns it. No database is needed, so that nobody waits for one meanwhile.
    `ImportRefusedError` names the first game that will not do.
    """
    taking: _Taking | None = None
    for game in games:
        taking = taking or _Taking(game, spool)
        taking.take(game)
    if taking is None:
        raise ImportRefusedError(NO_GAMES)
    return taking.prepared(name)


def import_games(session: Session, prepared: Prepared, now: datetime, heed: Callable[[], object]) -> Imported:
    """Takes in games as a tournament; `heed`: is called now and then, and may raise to have none of them taken in."""
    _refuse_taken(session, prepared.name)
    values = {
        "name": prepared.name,
        "configuration": canonical_json(prepared.configuration),
        "schedule_seed": 0,
        "event_secret": _NO_SECRET,
        "secret_fixed": False,
        "status": "finished",
        "rated_games": 0,
        "imported": True,
        "opened_at": now,
        "finished_at": now,
    }
    tournament_id: int = session.execute(insert(TOURNAMENT).values(values).returning(TOURNAMENT.c.id)).scalar_one()
    add_entrants(session, tournament_id, prepared.entrants, now)
    left = prepared.games
    while left:
        heed()
        portion = min(left, _GAMES_AT_ONCE)
        add_games(session, tournament_id, [_from_spool(prepared.spool, tournament_id) for _ in range(portion)], now)
        left -= portion
    return Imported(prepared.name, prepared.games, len(prepared.entrants))


def _refuse_taken(session: Session, name: str) -> None:
    if find_tournament(session, name) is not None:
        raise ImportRefusedError(f"there is a tournament {shown(name)} already; --name gives this one another name")


def revealed_of(configuration: Mapping[str, Any], index: int) -> Revealed:
    """Returns what the file of an imported tournament told of the secret of a game."""
    secrets = configuration["secrets"]  # each with the index of the first game to which it applies
    _, digest, secret = secrets[bisect_right(secrets, index, key=itemgetter(0)) - 1]
    return Revealed(_bytes(digest), _bytes(secret))


def revealed_of_all(configuration: Mapping[str, Any]) -> Revealed:
    """Returns what the file of an imported tournament told of the secret that all its games have in common, if any."""
    told = {(digest, secret) for _, digest, secret in configuration["secrets"]}
    return Revealed(*map(_bytes, told.pop())) if len(told) == 1 else Revealed(None, None)


def _bytes(told: str | None) -> bytes | None:
    return None if told is None else bytes.fromhex(told)


# --- the spool -------------------------------------------------------------------------------------------------------


def open_spool() -> BinaryIO:
    """Returns an empty file that is gone when it is closed."""
    with _room():
        return TemporaryFile()


def _to_spool(spool: BinaryIO, result: GameResult, record: str | None) -> None:
    """Writes a game; `record`: its text, in which the id is empty, for there is none before the game is stored."""
    with _room():
        pickle.dump((result, None if record is None else record.partition(_NO_ID)), spool)


@contextmanager
def _room() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise ImportRefusedError(
            f"there is no room for its games in the folder for temporary files: {why}; make some, or have TMPDIR name "
            "another folder"
        ) from None


def _from_spool(spool: BinaryIO, tournament_id: int) -> GameResult:
    result, record = pickle.load(spool)  # noqa: S301 - this process wrote it, into a file that nobody else can open
    read: GameResult = result
    if record is None:
        return read
    before, _, after = record
    text = f'{before}"id":"{tournament_id}.{read.index}.{read.attempt}"{after}'
    return replace(read, record=GameRecordText(format=FORMAT, text=text))


# --- one game after the other ----------------------------------------------------------------------------------------


class _Taking:
    """Games that are being checked."""

    def __init__(self, first: WrittenGame, spool: BinaryIO) -> None:
        self._spool = spool
        self._kind = _kind(first)
        self._bots: dict[str, SeatedBot] = {}
        self._numbers: dict[str, int] = {}
        self._secrets: list[tuple[int, str | None, str | None]] = []
        self._games = 0
        self._last_index = -1

    def take(self, game: WrittenGame) -> None:
        """Checks the next game and writes it to the spool."""
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
        _to_spool(self._spool, stored, _record(game))

    def prepared(self, name: str) -> Prepared:
        """Returns all games together."""
        configuration = {
            **_configuration(self._kind),
            **({"format": "ladder"} if self._has_waves() else {}),
            "name": name,
            "bots": [{"name": bot.name, "version": bot.version} for bot in self._bots.values()],
            "secrets": self._secrets,
        }
        entrants = tuple(EntrantPlan(bot.name, bot.version) for bot in self._bots.values())
        with _room():
            self._spool.seek(0)
        return Prepared(name, configuration, entrants, self._games, self._spool)

    def _has_waves(self) -> bool:
        """Tells whether these games are of a ladder: no other format has more than one secret."""
        return len({digest for _, digest, _ in self._secrets if digest is not None}) > 1

    def _check_kind(self, game: WrittenGame) -> None:
        for what, value in _kind(game).items():
            if value != self._kind[what]:
                raise _refused(game, f"another {what} than the games before it; put them into files of their own")

    def _entrant(self, game: WrittenGame, bot: SeatedBot) -> int:
        """Returns the number of an entrant, which it gets when it plays its first game."""
        if bot.name not in self._bots:
            self._add_entrant(game, bot)
        if self._bots[bot.name] != bot:
            raise _refused(game, f"the bot {shown(bot.name)} has another version than in the games before it")
        return self._numbers[bot.name]

    def _add_entrant(self, game: WrittenGame, bot: SeatedBot) -> None:
        _check_text(bot.name, f"game {shown(game.id)}: the name of a bot")
        if bot.version:
            _check_text(bot.version, f"game {shown(game.id)}: the version of a bot")
        self._numbers[bot.name] = len(self._bots)
        self._bots[bot.name] = bot

    def _note_secret(self, origin: Origin) -> None:
        digest, secret = (None if one is None else one.hex() for one in (origin.secret_digest, origin.secret))
        if not self._secrets or self._secrets[-1][1:] != (digest, secret):
            self._secrets.append((origin.index, digest, secret))


def _record(game: WrittenGame) -> str | None:
    """Returns the record of a game without its id, `None` if its moves were not kept."""
    if game.play is None:
        return None
    try:
        return to_json(record_of(replace(game, id="")))
    except RecordError as error:
        raise _refused(game, str(error)) from None


def _checked(game: WrittenGame) -> tuple[Origin, WrittenResult]:
    if game.origin is None or game.result is None:
        raise _refused(game, "it says neither its tournament nor its result, as records of format 1 do not")
    if game.is_whole is False:
        raise _refused(game, "it was changed after it was written, for its checksum is wrong; get the file anew")
    if not game.origin.fits(len(game.bots)):
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
