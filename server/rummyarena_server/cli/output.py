"""What the command line shows: plain lines, tables and progress, calm where nobody watches."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from rummyarena_server import app
from rummyarena_server.hosting import visible
from rummyarena_server.store.results import BotRating, Standing
from rummyarena_server.tournament.bots import Trouble
from rummyarena_server.tournament.event import Event
from rummyarena_server.tournament.runner import Progress as EventProgress

_LINE_SECONDS: Final = 10.0  # between two lines of progress where there is no terminal
_PLAIN_WIDTH: Final = 200  # where output goes to a file, no table is squeezed


class UsageError(Exception):
    """Something asked for that cannot be done as asked; the text is for people and says what to change."""


def console(*, stderr: bool = False) -> Console:
    """Returns the console for one of the two outputs: colours and moving progress on a terminal only."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PLAIN_WIDTH
    return Console(file=stream, highlight=False, markup=False, soft_wrap=True, width=width)


def say(text: str) -> None:
    """Prints a line."""
    console().print(Text(text))


def complain(text: str) -> None:
    """Prints a line for people to the error output."""
    console(stderr=True).print(Text(text))


def show_standings(event: Event, standings: Sequence[Standing], ladder: Sequence[BotRating]) -> None:
    """Prints the final table of a tournament, with the Elo of its variant."""
    elo = {one.bot: one.elo for one in ladder if one.variant == event.variant}
    table = _table("", "bot", "Elo", "games", "won", "drawn", "lost", "points a deal", "forfeits")
    for place, one in enumerate(standings, 1):
        table.add_row(
            str(place),
            _name(one.name),
            f"{elo[one.name]:.0f}" if one.name in elo else "-",
            *(str(number) for number in (one.games, one.wins, one.draws, one.losses)),
            f"{one.difference / one.deals:+.1f}" if one.deals else "-",
            str(one.forfeits),
        )
    console().print(table)


def show_ladder(ladder: Sequence[BotRating]) -> None:
    """Prints the Elo of all bots, a table for each variant."""
    for variant in dict.fromkeys(one.variant for one in ladder):
        say(visible(variant))
        table = _table("", "bot", "Elo", "games", "won", "drawn", "lost")
        for place, one in enumerate((one for one in ladder if one.variant == variant), 1):
            numbers = (one.games, one.wins, one.draws, one.losses)
            table.add_row(str(place), _name(one.bot), f"{one.elo:.0f}", *map(str, numbers))
        console().print(table)


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, justify="left" if column == "bot" else "right", no_wrap=True)
    return table


def _name(name: str) -> Text:
    return Text(visible(name))


class Watch:
    """Shows how a tournament comes along: a bar on a terminal, now and then a line elsewhere."""

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._task = TaskID(0)
        self._started = self._last_line = time.monotonic()
        self._already = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    @property
    def listeners(self) -> app.Listeners:
        """What a tournament reports to."""
        return app.Listeners(self._opened, self._progress, self._trouble)

    def _opened(self, event: Event) -> None:
        settings = event.settings
        deals = "the same deals in all seats" if settings.shares_deals else "deals of its own in each game"
        bots = f"{len(settings.bots)} bots, {len(event.schedule)} games of {settings.ruleset}"
        say(f"{visible(settings.name)}: {bots}, {settings.seats} seats, {deals}.")
        if settings.secret is not None:
            say("The secret stands in the tournament's settings: its deals are foreseeable.")
        if event.stored.status == "finished":
            say("It was played before; this is its table.")

    def _progress(self, progress: EventProgress) -> None:
        if console().is_terminal:
            self._advance(progress)
        else:
            self._write_line(progress)

    def _advance(self, progress: EventProgress) -> None:
        if self._bar is None:
            columns = (TextColumn("games"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=console())
            self._task = self._bar.add_task("games", total=progress.games, completed=progress.recorded)
            self._bar.start()
        self._bar.update(self._task, completed=progress.recorded)

    def _write_line(self, progress: EventProgress) -> None:
        now = time.monotonic()
        if progress.recorded == progress.games or now - self._last_line >= _LINE_SECONDS:
            self._last_line = now
            say(f"{progress.recorded} of {progress.games} games")

    def _trouble(self, trouble: Trouble) -> None:
        lines = [f"{visible(trouble.bot)} {trouble.sentence}", *(f"  {line}" for line in trouble.last_lines)]
        if trouble.log:
            lines.append(f"  its output is in {visible(trouble.log)}")
        text = Text("\n".join(lines))
        if self._bar is not None:
            self._bar.console.print(text)
        else:
            console(stderr=True).print(text)
