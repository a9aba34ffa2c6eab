"""The commands of `rummyarena`."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import trio
from cyclopts import App, CycloptsError, Parameter, UnusedCliTokensError

from rummyarena.version import __version__
from rummyarena_server import app
from rummyarena_server.cli.demo import demo_file
from rummyarena_server.cli.output import UsageError, Watch, complain, say, show_ladder, show_standings
from rummyarena_server.cli.rulebook import show_rules
from rummyarena_server.cli.scenarios import run_files
from rummyarena_server.config import ConfigError, TournamentFile, load
from rummyarena_server.hosting import visible
from rummyarena_server.rpc.bridge import AddressError
from rummyarena_server.store.errors import StoreError
from rummyarena_server.tournament.bots import HostError
from rummyarena_server.tournament.event import Event
from rummyarena_server.tournament.runner import GameFailedError, SecondRunnerError

DATABASE: Final = "sqlite:///rummyarena.db"
_LOGS: Final = "rummyarena-logs"
_EXPECTED: Final = (
    UsageError,
    ConfigError,
    StoreError,
    AddressError,
    HostError,
    app.ChangedTournamentError,
    GameFailedError,
    SecondRunnerError,
)
_USAGE, _FAILED, _INTERRUPTED = 2, 1, 130

Database = Annotated[str, Parameter(name="--db", help="The database, as a URL or the path of a SQLite file.")]

cli = App(
    name="rummyarena",
    version=__version__,
    help="Plays rated tournaments between rummy bots.",
    help_epilogue="Begin with: rummyarena demo",
)
tournament = App(name="tournament", help="Plays the tournament that a file describes.")
cli.command(tournament)


@cli.command
def demo(*, db: Database = DATABASE) -> int:
    """Plays a small tournament between the sample bots.

    Its secret is fixed and its clock is off, so that it ends in the same table everywhere.

    Example: rummyarena demo --db sqlite:///demo.db
    """
    return _play(demo_file(), db)


@tournament.command(name="run")
def run_tournament(file: Path, /, *, db: Database = DATABASE) -> int:
    """Plays a tournament, or what is left of it; once it is over, shows its table.

    Example: rummyarena tournament run friday.toml

    Parameters
    ----------
    file
        The tournament file (TOML).
    """
    return _play(load(file), db)


@cli.command
def standings(*, db: Database = DATABASE) -> int:
    """Shows the Elo of all bots that have played rated games."""
    say(f"Database: {visible(db)}")
    ladder = trio.run(app.read_ladder, db)
    if not ladder:
        say("No rated game has been played yet.")
    show_ladder(ladder)
    return 0


@cli.command
def rules(ruleset: str, /) -> int:
    """Shows what can be varied in a game: its options with their defaults and meaning, presets and local terms.

    Example: rummyarena rules thai

    Parameters
    ----------
    ruleset
        The name of the game.
    """
    show_rules(ruleset)
    return 0


@cli.command
def scenario(*files: Path) -> int:
    """Runs scenario files: a line for each failure, then how many passed.

    Example: rummyarena scenario tests/rules/scenarios/thai.json

    Parameters
    ----------
    files
        Scenario files (JSON), see docs/rules/notation.md.
    """
    if not files:
        raise UsageError("name at least one scenario file")
    return 0 if run_files(files) else _FAILED


def _play(file: TournamentFile, database: str) -> int:
    say(f"Database: {visible(database)}; what the bots print: {_LOGS}/")
    opened: list[Event] = []
    with Watch() as watch:
        listeners = watch.listeners

        def note(event: Event) -> None:
            opened.append(event)
            listeners.opened(event)

        heard = app.Listeners(note, listeners.progress, listeners.trouble)
        table = trio.run(app.run_tournament, file, database, Path(_LOGS), heard)
    show_standings(opened[0], table.standings, table.ladder)
    return 0


def main() -> None:
    """Runs the command line and exits: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        status = cli(sys.argv[1:], result_action="return_value", exit_on_error=False, print_error=False)
    except CycloptsError as error:
        complain(f"rummyarena: {_misuse(error)}")
        sys.exit(_USAGE)
    except BaseException as error:
        sys.exit(_told(error))
    sys.exit(status if isinstance(status, int) else 0)


def _misuse(error: CycloptsError) -> str:
    """Says what was wrong with a command and where it is told how to write it."""
    command = " ".join(("rummyarena", *(error.command_chain or ())))
    too_much = " ".join(error.unused_tokens or ()) if isinstance(error, UnusedCliTokensError) else ""
    what = f"{too_much!r} is too much" if too_much else str(error).removesuffix(".")
    return f"{what}; see {command} --help"


def _told(error: BaseException) -> int:
    """Tells people of an error that is expected, and returns the exit status; raises any other."""
    leaves = list(_leaves(error))
    if any(isinstance(one, KeyboardInterrupt) for one in leaves):
        complain("Interrupted. What was recorded is kept; run the same command again to go on.")
        return _INTERRUPTED
    if not all(isinstance(one, _EXPECTED) for one in leaves):
        raise error
    for one in leaves:
        complain(f"rummyarena: {one}")
    return _USAGE if any(isinstance(one, (UsageError, ConfigError)) for one in leaves) else _FAILED


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _leaves(one)
    else:
        yield error
