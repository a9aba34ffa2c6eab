"""The command that takes in games from a file, and how games are written to one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import trio
from cyclopts import Parameter

from rummyarena_server.app import archiving
from rummyarena_server.cli.output import UsageError, complain, say
from rummyarena_server.cli.places import DATABASE, Database, named
from rummyarena_server.hosting import visible
from rummyarena_server.referee.record_files import Form, written
from rummyarena_server.store.imports import ImportRefusedError


def take_in(
    file: Path,
    /,
    *,
    name: Annotated[str | None, Parameter(help="The name of the tournament, if not that in the file.")] = None,
    db: Database = DATABASE,
) -> int:
    """Takes in games from a file, all or none, as a tournament of their own; they count for no Elo.

    Example: rummyarena tournament import friday.txt

    Parameters
    ----------
    file
        A file that `rummyarena tournament export NAME records` wrote, see docs/verification.md.
    """
    database = named(db)
    try:
        taken = trio.run(archiving.import_records, db, file, name)
    except (archiving.GameFileError, ImportRefusedError) as error:
        told = str(error) if isinstance(error, archiving.GameFileError) else f"{visible(str(file))}: {error}"
        raise UsageError(f"{told}; nothing was taken in") from None
    say(f"{visible(taken.name)}: {taken.games} games of {taken.bots} bots are in {database} now.")
    say(f"They are as the file has them: rummyarena verify {_quoted(taken.name)} checks them.")
    return 0


def write_records(database: str, name: str, form: Form, write: Callable[[str], object]) -> archiving.Exported:
    """Writes the games of a tournament that is there, as far as they may be shown."""
    exported = trio.run(archiving.export_records, database, name, lambda game: write(written(game, form)))
    if exported is None:
        raise UsageError(f"there is no tournament {visible(name)} any more")
    return exported


def tell_export(exported: archiving.Exported) -> None:
    """Tells what an export of games has left out."""
    if exported.without_moves:
        complain(f"Games whose moves were not kept, so that only their results are in it: {exported.without_moves}.")
    if exported.unreadable:
        complain(
            f"Games whose records could not be read, so that only their results are in it: {exported.unreadable}; "
            "rummyarena verify says which, and what is wrong with them."
        )
    if exported.held_back:
        complain(
            f"Games that are held back, for others on the same cards are still to be played: {exported.held_back}; "
            "export again when their deal groups are complete."
        )


def _quoted(name: str) -> str:
    return f'"{visible(name)}"'
