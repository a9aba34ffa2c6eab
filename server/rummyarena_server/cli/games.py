"""The commands for single games: `play`, `connect` and `replay`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, Literal

import trio
from cyclopts import Parameter

from rummyarena_server.app import playing, reading
from rummyarena_server.app.archiving import GameFileError, games_in
from rummyarena_server.cli.bots import commands
from rummyarena_server.cli.narrator import (
    Narrator,
    Table,
    single_game,
    tell_end,
    tell_invitation,
    tell_record,
)
from rummyarena_server.cli.output import UsageError, complain, say
from rummyarena_server.cli.places import DATABASE, LOGS, AsJson, Database, named
from rummyarena_server.hosting import BotCommand, visible
from rummyarena_server.referee.record import RecordError, WrittenGame, from_json, record_of
from rummyarena_server.store.errors import StoreError
from rummyarena_server.store.results import StoredGame
from rummyarena_server.tournament.pins import is_file
from rummyarena_server.tournament.single import SingleGame

_DEBUGGING_SECONDS: Final = 24 * 3600.0  # how long a bot by hand may be away: its author is looking at it
_INTERRUPTED: Final = 130
_LOOPBACK: Final = "127.0.0.1:0"
_OPPONENT: Final = "random-legal"

Options = Annotated[
    list[str] | None,
    Parameter(name="--option", negative="", help="An option of the ruleset, as NAME=VALUE; may be given again."),
]
Seed = Annotated[str | None, Parameter(help="The game's seed, 64 hex digits; the same seed deals the same cards.")]
Show = Annotated[int | None, Parameter(help="Shows only what this seat, from 0, may see; else all cards are face up.")]


def play(
    ruleset: str,
    /,
    *bots: str,
    clock: Literal["on", "off"] = "on",
    option: Options = None,
    seed: Seed = None,
    show: Show = None,
    as_json: AsJson = False,
) -> int:
    """Plays one game and tells it as it goes; nothing is stored.

    Example: rummyarena play thai my_bot.py random-legal --option max_deals=1 --show 0

    Parameters
    ----------
    ruleset
        The name of the game: thai or liverpool.
    bots
        A bot for each seat: a sample's name, a .py file, or a command in quotes.
    clock
        Whether the bots' time is limited, as in tournaments: 5 seconds a decision and 60 more for the whole game.
    """
    table = Table(ruleset, tuple(commands(bots, Path.cwd())), option or (), clock == "on", seed)
    return _play(single_game(table), show, as_json=as_json)


def connect(
    ruleset: str,
    /,
    *bots: str,
    seat: int = 0,
    option: Options = None,
    seed: Seed = None,
    show: Show = None,
    as_json: AsJson = False,
    address: str = _LOOPBACK,
) -> int:
    """Plays one game with a bot that you start by hand, perhaps in a debugger; it waits for it, and has no clock.

    A bot that is gone is waited for again, so that it can be mended and started anew in the middle of the game.

    Example: rummyarena connect liverpool random-legal first-candidate

    Parameters
    ----------
    ruleset
        The name of the game: thai or liverpool.
    bots
        The other bots, a sample's name, a .py file or a command in quotes for each; as many random-legal as are needed
        if none is named.
    seat
        The seat of your bot, from 0.
    address
        Where to listen: HOST:PORT, or unix:PATH.
    """
    others: list[BotCommand | None] = [*commands(bots or _opponents(ruleset), Path.cwd())]
    if not 0 <= seat <= len(others):
        raise UsageError(f"--seat {seat}: with {len(others)} other bots the seats are 0 to {len(others)}")
    seats = (*others[:seat], None, *others[seat:])
    game = single_game(Table(ruleset, seats, option or (), clock=False, seed=seed))
    return _play(game, show, as_json=as_json, address=address, reconnect_seconds=_DEBUGGING_SECONDS)


def replay(game: str, /, *, show: Show = None, as_json: AsJson = False, db: Database = DATABASE) -> int:
    """Tells a game that was recorded, or all games of a file.

    Example: rummyarena replay 1.17.0

    Parameters
    ----------
    game
        The id of the game, as `rummyarena tournament show` and the bots name it, or a file of games.
    """
    named(db)  # refuses a text that names none
    if is_file(Path(game)):
        return _tell_file(Path(game), show, as_json=as_json)
    stored = trio.run(reading.read_game, db, game)
    if stored is None:
        raise UsageError(
            f"no game {visible(game)} is over: `rummyarena tournament show NAME` names those of a tournament"
        )
    if not stored.may_be_shown:
        raise UsageError(
            f"game {stored.id} cannot be shown yet, for other games of {visible(stored.tournament)} on the same cards "
            "are still to be played; try again when its deal group is complete"
        )
    return _tell(stored, show, as_json=as_json)


def _opponents(ruleset: str) -> Sequence[str]:
    return [_OPPONENT] * (2 if ruleset == "liverpool" else 1)


def _play(
    game: SingleGame, show: int | None, *, as_json: bool, address: str = _LOOPBACK, reconnect_seconds: float = 30.0
) -> int:
    narrator = Narrator(game.setup, show, as_json=as_json)
    narrator.begin()
    watchers = narrator.watchers(tell_invitation)
    try:
        outcome = trio.run(playing.play_game, game, LOGS, watchers, address, reconnect_seconds)
    except* KeyboardInterrupt:
        complain("Interrupted; the game counts for nobody.")
        raise SystemExit(_INTERRUPTED) from None
    tell_end(narrator, outcome)
    if not as_json:
        say(f"Its seed was {game.setup.seed.hex()}; --seed deals the same cards again.")
    return 0


def _tell(stored: StoredGame, show: int | None, *, as_json: bool) -> int:
    if stored.record is None:
        what = "not kept" if stored.status == "finished" else stored.status
        complain(f"game {stored.id} was {what}: there is nothing to tell but its seed {stored.seed.hex()}")
        return 0
    try:
        record = from_json(stored.record.text)
        narrator = Narrator(record.setup, show, as_json=as_json)
        tell_record(record, narrator)
    except RecordError as error:
        raise StoreError(f"game {stored.id}: its record cannot be read: {error}") from None
    if stored.summary is not None:
        seats = stored.summary.seats
        if len(seats) != record.setup.seats:
            raise StoreError(f"game {stored.id} has {len(seats)} seats, its record {record.setup.seats}: verify it")
        narrator.end([one.rank for one in seats], [one.total for one in seats], record.forfeits)
    return 0


def _tell_file(path: Path, show: int | None, *, as_json: bool) -> int:
    status = 0
    try:
        with games_in(path) as games:
            for game in games:
                status = max(status, _tell_written(game, show, as_json=as_json))
    except GameFileError as error:
        complain(f"rummyarena: {error}")
        return 1
    return status


def _tell_written(game: WrittenGame, show: int | None, *, as_json: bool) -> int:
    """Tells a game of a file, or who played it and why the rest cannot be told."""
    if not as_json:
        where = f" of {visible(game.origin.tournament)}" if game.origin else ""
        say(f"game {visible(game.id)}{where}")
    try:
        record = record_of(game)
        narrator = Narrator(record.setup, show, as_json=as_json)
        tell_record(record, narrator)
    except RecordError as error:
        for seat, bot in enumerate(game.bots):
            complain(f"seat {seat}: {visible(bot.name)}")
        complain(f"game {visible(game.id)} cannot be told: {visible(str(error))}")
        return 1
    if game.result is not None:
        seats = game.result.seats
        narrator.end([one.rank for one in seats], [one.total for one in seats], record.forfeits)
    return 0
