"""The command that hands a tournament on to other programs: as CSV that does no harm in a spreadsheet, or as JSON."""

from __future__ import annotations

import csv
import io
import os
import secrets
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, Protocol, TypeAlias

import trio
from cyclopts import Parameter

from rummyarena_server.app import reading
from rummyarena_server.cli.archives import tell_export, write_records
from rummyarena_server.cli.output import OutputError, UsageError, json_text, say
from rummyarena_server.cli.places import DATABASE, Database, named
from rummyarena_server.cli.tournaments import no_tournament
from rummyarena_server.hosting import visible
from rummyarena_server.referee.record_files import Form
from rummyarena_server.store.results import GameSummary, TournamentSummary

if TYPE_CHECKING:
    from rummyarena_server.tournament.bars import Estimate

What: TypeAlias = Literal["standings", "games", "head-to-head"]
Format: TypeAlias = Literal["csv", "json"]
Value: TypeAlias = str | int | float | datetime | None
Write: TypeAlias = Callable[[Sequence[Value]], None]


class Destination(Protocol):
    """Where text is written to."""

    def write(self, text: str, /) -> object:
        """Takes the next piece."""


COLUMNS: Final[dict[What, tuple[str, ...]]] = {
    "standings": (
        *("place", "bot", "version", "elo", "games", "wins", "draws", "losses", "score"),
        *("deals", "points", "difference", "forfeits", "faults", "thinking_microseconds"),
        *("strength", "strength_low", "strength_high"),
        *("points_a_deal", "points_a_deal_low", "points_a_deal_high", "deal_groups"),
    ),
    "games": (
        *("game", "index", "deal_group", "rotation", "attempt", "status", "reason", "deals", "counted_deals", "rated"),
        *("lag_microseconds", "started_at", "finished_at"),
        *("seat", "bot", "version", "rank", "total", "points", "forfeit", "faults", "thinking_microseconds"),
    ),
    "head-to-head": (
        *("bot", "opponent", "wins", "ties", "losses", "score", "score_low", "score_high", "stronger", "deal_groups"),
    ),
}
"""The columns of each table, which are also the names in its JSON; docs/exports.md explains them."""

_FORMAT_HELP: Final = "csv for spreadsheets, json for programs; of records text, for people, or json."
_FORMULA: Final = "=+-@"
_BREAKS_CELLS: Final = "\t\r\n"


def export(
    name: str,
    what: Literal["standings", "games", "head-to-head", "records"],
    /,
    *,
    as_format: Annotated[Literal["csv", "json", "text"] | None, Parameter(name="--format", help=_FORMAT_HELP)] = None,
    out: Annotated[Path | None, Parameter(help="The file to write; the standard output if there is none.")] = None,
    force: Annotated[bool, Parameter(negative="", help="Replaces the file if there is one already.")] = False,
    db: Database = DATABASE,
) -> int:
    """Writes a table of a tournament for other programs, a line each for its bots, seats of games, or pairs of bots.

    Or it writes the records of its games, from which anybody can replay and verify them: see docs/verification.md.

    Example: rummyarena tournament export Friday games --out friday.csv

    Parameters
    ----------
    name
        The name of the tournament.
    what
        The table: standings and head-to-head count complete deal groups only, games are all that are recorded. Or
        records.
    """
    database = named(db)
    summary = trio.run(reading.read_summary, db, name)
    if summary is None:
        raise no_tournament(name, database)
    if what == "records":
        return _export_records(db, summary, _form(as_format), out, force)
    as_format = _table_format(as_format)
    lines = 0
    with written_to(out, force) as file, _FORMATS[as_format](file, COLUMNS[what]) as write:

        def count(row: Sequence[Value]) -> None:
            nonlocal lines
            write(row)
            lines += 1

        _TABLES[what](db, summary, count)
    if out is not None:
        say(f"{visible(str(out))}: {lines} lines of {what}")
    return 0


def _export_records(database: str, summary: TournamentSummary, form: Form, out: Path | None, force: bool) -> int:
    with written_to(out, force) as file:
        exported = write_records(database, summary.name, form, file.write)
    if out is not None:
        say(f"{visible(str(out))}: {exported.games} games")
    tell_export(exported)
    return 0


def _table_format(chosen: Format | Literal["text"] | None) -> Format:
    if chosen == "text":
        raise UsageError("--format text is for records; a table is written as csv or json")
    return chosen or "csv"


def _form(chosen: Format | Literal["text"] | None) -> Form:
    if chosen == "csv":
        raise UsageError("--format csv is for tables; records are written as text or json")
    return chosen or "text"


# --- tables ----------------------------------------------------------------------------------------------------------


def _standings(database: str, summary: TournamentSummary, write: Write) -> None:
    found = trio.run(reading.read_tournament, database, summary.name, -1, 0)
    if found is None:
        raise no_tournament(summary.name, named(database))
    elo = {one.bot: one.elo for one in found.table.ladder if one.variant == summary.variant}
    for place, one in enumerate(found.table.standings, 1):
        strength = None if found.figures is None else found.figures.strength[one.number]
        points = None if found.figures is None else found.figures.points[one.number]
        write(
            (
                *(place, one.name, one.version, elo.get(one.name), one.games, one.wins, one.draws, one.losses),
                *(one.score, one.deals, one.points, one.difference, one.forfeits, one.faults, one.thinking),
                *_bar(strength),
                *_bar(points),
                0 if strength is None else strength.groups,
            )
        )


def _games(database: str, summary: TournamentSummary, write: Write) -> None:
    def tell(game: GameSummary) -> None:
        for row in _seats(game):
            write(row)

    trio.run(reading.read_games, database, summary.id, tell)


def _seats(game: GameSummary) -> Iterator[tuple[Value, ...]]:
    for number, seat in enumerate(game.seats):
        yield (
            *(game.id, game.index, game.group, game.rotation, game.attempt, game.status, game.reason),
            *(game.deals, game.counted_deals, game.rated, game.lag, game.started_at, game.finished_at),
            *(number, seat.bot, seat.version, seat.rank, seat.total, seat.points),
            *(seat.forfeit, seat.faults, seat.thinking),
        )


def _head_to_head(database: str, summary: TournamentSummary, write: Write) -> None:
    found = trio.run(reading.read_statistics, database, summary.name)
    if found is None or found.statistics is None:
        return
    meetings = [*found.statistics.meetings, *(one.turned_round() for one in found.statistics.meetings)]
    for one in sorted(meetings, key=lambda one: (one.bot, one.opponent)):
        write(
            (
                *(summary.bots[one.bot].name, summary.bots[one.opponent].name, one.wins, one.ties, one.losses),
                *_bar(one.score),
                found.statistics.figures.superiority[one.bot][one.opponent],
                one.score.groups,
            )
        )


def _bar(one: Estimate | None) -> tuple[Value, Value, Value]:
    return (None, None, None) if one is None else (one.value, one.low, one.high)


_TABLES: Final[dict[What, Callable[[str, TournamentSummary, Write], None]]] = {
    "standings": _standings,
    "games": _games,
    "head-to-head": _head_to_head,
}


# --- formats ---------------------------------------------------------------------------------------------------------


@contextmanager
def as_csv(file: Destination, columns: Sequence[str]) -> Iterator[Write]:
    """Writes rows as RFC 4180 says: lines end in CRLF; texts stand in quotes, so that numbers stay numbers."""
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(columns)
    yield lambda row: writer.writerow([_cell(value) for value in row])


@contextmanager
def as_json(file: Destination, columns: Sequence[str]) -> Iterator[Write]:
    """Writes rows as an array of objects, each in a line of its own."""
    before = "[\n"

    def write(row: Sequence[Value]) -> None:
        nonlocal before
        file.write(before + json_text(dict(zip(columns, row, strict=True))))
        before = ",\n"

    yield write
    file.write("[]\n" if before == "[\n" else "\n]\n")


_FORMATS: Final[dict[Format, Callable[[Destination, Sequence[str]], AbstractContextManager[Write]]]] = {
    "csv": as_csv,
    "json": as_json,
}


def _cell(value: Value) -> Value:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    return harmless_text(value) if isinstance(value, str) else value


def harmless_text(text: str) -> str:
    """Returns a text that no spreadsheet takes for a formula: with an apostrophe before what might be one.

    That is what begins with = + - or @, in any width and also after blanks, or with a tab or the end of a line.
    """
    first = unicodedata.normalize("NFKC", text.lstrip()[:1])
    return f"'{text}" if (first and first in _FORMULA) or (text and text[0] in _BREAKS_CELLS) else text


# --- files -----------------------------------------------------------------------------------------------------------


@contextmanager
def written_to(path: Path | None, force: bool, flag: str = "--out") -> Iterator[Destination]:
    """Gives a file to write UTF-8 to, which takes its place only when it is whole; without a path, standard output.

    `force`: whether a file that is there may be replaced. `flag`: what the path was said with. Raises `UsageError` if
    the path will not do, and `OutputError` if it cannot be written, or no more; then whatever was there is as it was.
    """
    if path is None:
        yield from _standard_output()
        return
    try:
        target = target_of(path, force, flag)
        draft = target.with_name(f"{target.name}.{secrets.token_hex(4)}.new")
        try:
            with draft.open("x", encoding="utf-8", newline="") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            _check(f"{flag} {visible(str(path))}", target, force)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(error, f"the file {visible(str(path))}") from None


def target_of(path: Path, force: bool, flag: str) -> Path:
    """Returns the file that a path leads to through all links, an ordinary one or none yet; see `written_to`.

    Raises `OSError` where that cannot be found out.
    """
    target = Path(os.path.realpath(path))  # unlike `resolve`, the same in all versions of Python
    _check(f"{flag} {visible(str(path))}", target, force)
    return target


def _check(named: str, target: Path, force: bool) -> None:
    if target.is_symlink():
        raise UsageError(f"{named}: this is a link that leads back to itself; name another file")
    if not target.parent.is_dir():
        raise UsageError(f"{named}: there is no folder {visible(str(target.parent))}; make it or name another file")
    if target.is_dir():
        raise UsageError(f"{named}: this is a folder; name a file in it")
    if target.exists() and not target.is_file():
        raise UsageError(f"{named}: this is no ordinary file; name one, or redirect the standard output")
    if target.exists() and not force:
        raise UsageError(f"{named}: there is such a file; --force replaces it")


def _standard_output() -> Iterator[Destination]:
    try:
        if sys.stdout.isatty():
            yield _Terminal()
        else:
            if isinstance(sys.stdout, io.TextIOWrapper):
                sys.stdout.reconfigure(encoding="utf-8", newline="")
            yield sys.stdout
        sys.stdout.flush()
    except OSError as error:
        raise OutputError(error) from None


class _Terminal:
    """Standard output where somebody looks at it: what does not print is shown as an escape."""

    def write(self, text: str, /) -> None:
        """Shows lines, which may end in CRLF."""
        sys.stdout.write("\n".join(map(visible, text.replace("\r\n", "\n").split("\n"))))
