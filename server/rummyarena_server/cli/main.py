"""The commands of `rummyarena`."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from cyclopts import App, CycloptsError, UnusedCliTokensError

from rummyarena.version import __version__
from rummyarena_server.app.opening import ChangedTournamentError, ImportedTournamentError
from rummyarena_server.cli import archives, exports, games, regress, statistics, tournaments
from rummyarena_server.cli.output import (
    OutputError,
    UsageError,
    complain,
    console,
    let_go_of_output,
    prepare_outputs,
)
from rummyarena_server.cli.places import harmless
from rummyarena_server.cli.plan import plan
from rummyarena_server.cli.rulebook import show_rules
from rummyarena_server.cli.scenarios import run_files
from rummyarena_server.cli.verify import verify
from rummyarena_server.config import ConfigError
from rummyarena_server.hosting import visible
from rummyarena_server.rpc.bridge import AddressError
from rummyarena_server.store.errors import StoreError
from rummyarena_server.tournament.bots import HostError
from rummyarena_server.tournament.runner import GameFailedError, SecondRunnerError
from rummyarena_server.tournament.single import NoGameError

_EXPECTED: Final = (
    UsageError,
    OutputError,
    ConfigError,
    StoreError,
    AddressError,
    HostError,
    NoGameError,
    ChangedTournamentError,
    ImportedTournamentError,
    GameFailedError,
    SecondRunnerError,
)
_USAGE, _FAILED, _INTERRUPTED = 2, 1, 130

cli = App(
    name="rummyarena",
    version=__version__,
    help="Plays rated tournaments between rummy bots.",
    help_epilogue="Begin with: rummyarena demo",
    suppress_keyboard_interrupt=False,  # `main` says what became of it
)
cli.command(tournaments.demo)
cli.command(games.play)
cli.command(games.connect)
cli.command(games.replay)
cli.command(verify)
tournament = App(name="tournament", help="Plays tournaments and shows what came of them.")
tournament.command(tournaments.run)
tournament.command(plan)
tournament.command(tournaments.show)
tournament.command(statistics.statistics)
tournament.command(exports.export)
tournament.command(archives.take_in, name="import")
tournament.command(tournaments.listed, name="list")
cli.command(tournament)
cli.command(regress.regress)
cli.command(tournaments.serve)
cli.command(tournaments.standings)


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


cli.register_install_completion_command(
    name="--install-completion", help="Has the shell complete the commands and flags of rummyarena."
)


def main() -> None:
    """Runs the command line and exits: 0 done, 1 failed, 2 wrong usage, 130 interrupted, 143 stopped by SIGTERM."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        prepare_outputs()
        status = cli(
            sys.argv[1:], console=console(), result_action="return_value", exit_on_error=False, print_error=False
        )
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
    return visible(f"{what}; see {command} --help")


def _told(error: BaseException) -> int:
    """Tells people of an error that is expected, and returns the exit status; raises any other."""
    leaves = list(_leaves(error))
    if any(isinstance(one, KeyboardInterrupt) for one in leaves):
        complain("Interrupted.")  # whatever plays a tournament hears the signal itself, and says what is kept
        return _INTERRUPTED
    if not all(isinstance(one, _EXPECTED) for one in leaves):
        raise error
    if any(isinstance(one, OutputError) for one in leaves):
        let_go_of_output()
    for one in leaves:
        if not (isinstance(one, OutputError) and one.is_unwanted):
            complain("\n".join(map(harmless, f"rummyarena: {one}".split("\n"))))
    if any(isinstance(one, (UsageError, ConfigError)) for one in leaves):
        return _USAGE
    return regress.UNTESTED if isinstance(error, regress.UntestedError) else _FAILED


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _leaves(one)
    else:
        yield error
