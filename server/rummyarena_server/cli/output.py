"""What the command line shows: plain lines, tables and progress, calm where nobody watches."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from rich.console import Console, Group, JustifyMethod
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from rummyarena_server.app import playing
from rummyarena_server.hosting import visible
from rummyarena_server.store.results import BotRating, GameSummary, SeatSummary, Standing, TournamentSummary
from rummyarena_server.tournament.bots import Trouble
from rummyarena_server.tournament.event import Event
from rummyarena_server.tournament.runner import Progress as EventProgress
from rummyarena_server.tournament.timing import Timing
from rummyarena_server.tournament.waves import CommittedWave
from rummyarena_server.tournament.written import tournament_secret

if TYPE_CHECKING:
    from rummyarena_server.tournament.bars import Estimate
    from rummyarena_server.tournament.figures import Figures

FINISHING: Final = "Finishing the games that have begun; Ctrl-C again stops now."

_LINE_SECONDS: Final = 10.0  # between two lines of progress where there is no terminal
_MOST_SHOWN: Final = 16  # bots in the table while games are played
_NAMES: Final = ("bot", "opponent")  # the columns of tables that hold names of bots
_PLAIN_WIDTH: Final = 200  # where output goes to a file
_WIDEST_TABLE: Final = 1000


class UsageError(Exception):
    """Something asked for that cannot be done as asked; the text is for people and says what to change."""


class OutputError(Exception):
    """What is shown, or a file, cannot be written; `is_unwanted` if who read it has had enough, as `head` has."""

    def __init__(self, error: OSError, what: str = "the output") -> None:
        super().__init__(f"{what} cannot be written: {(error.strerror or str(error)).lower()}")
        self.is_unwanted = isinstance(error, BrokenPipeError)


class _Console(Console):
    """A console that says what is wrong with its output instead of ending the program."""

    def print(self, *objects: Any, **settings: Any) -> None:
        try:
            super().print(*objects, **settings)
        except OSError as error:
            raise OutputError(error) from None

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # rich would raise SystemExit


def prepare_outputs() -> None:
    """Has characters that an output's encoding lacks written as escapes; `OutputError` if standard output is closed."""
    if sys.stdout is None:
        raise OutputError(OSError("standard output is closed"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def let_go_of_output() -> None:
    """Sends what is still buffered nowhere, or Python would complain at its end that it cannot be written."""
    with contextlib.suppress(OSError, AttributeError):  # the output is closed, or is no file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def console(*, stderr: bool = False) -> Console:
    """Returns the console for one of the two outputs: colours and moving progress on a terminal only.

    What is printed raises `OutputError` if it cannot be written.
    """
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PLAIN_WIDTH
    return _Console(file=stream, highlight=False, markup=False, soft_wrap=True, width=width)


def say(text: str) -> None:
    """Prints a line."""
    console().print(Text(text))


def complain(text: str) -> None:
    """Prints a line for people to the error output; where there is none, there is nobody to complain to."""
    if sys.stderr is not None:
        with contextlib.suppress(OutputError):
            console(stderr=True).print(Text(text))


def json_text(value: object) -> str:
    """Returns a value with moments in it as JSON in one line."""

    def written(one: object) -> str:
        if isinstance(one, datetime):
            return one.isoformat()
        raise TypeError(f"{one!r} is no JSON")

    return json.dumps(value, ensure_ascii=False, default=written)


def show_standings(variant: str, standings: Sequence[Standing], ladder: Sequence[BotRating]) -> None:
    """Prints the table of a tournament, with the Elo of its variant."""
    show_table(standings_table(variant, standings, ladder))


def standings_table(variant: str, standings: Sequence[Standing], ladder: Sequence[BotRating]) -> Table:
    """Returns the table of a tournament, with the Elo of its variant."""
    elo = {one.bot: one.elo for one in ladder if one.variant == variant}
    table = plain_table("", "bot", "Elo", "games", "won", "drawn", "lost", "points a deal", "forfeits")
    for place, one in enumerate(standings, 1):
        table.add_row(
            str(place),
            shown_name(one.name, one.version),
            f"{elo[one.name]:.0f}" if one.name in elo else "-",
            *(str(number) for number in (one.games, one.wins, one.draws, one.losses)),
            f"{one.difference / one.deals:+.1f}" if one.deals else "-",
            str(one.forfeits),
        )
    return table


def show_figures(names: Sequence[str], figures: Figures) -> None:
    """Prints the table of `figures_table`."""
    show_table(figures_table(names, figures))


def figures_table(names: Sequence[str], figures: Figures) -> Table:
    """Returns strength and points a deal with their 95 % bars, and the likelihood that each is ahead of the next."""
    order = sorted(range(len(names)), key=lambda one: -figures.strength[one].value)
    table = plain_table("", "bot", "strength", "points a deal", "ahead of the next", "deal groups")
    for place, one in enumerate(order):
        points, ahead = figures.points[one], ""
        if place + 1 < len(order):
            ahead = f"{figures.superiority[one][order[place + 1]]:.1%}"
        strength = with_bar(figures.strength[one], "+z.0f")
        shown = "-" if points is None else with_bar(points, "+z.1f")
        table.add_row(str(place + 1), shown_name(names[one]), strength, shown, ahead, str(figures.strength[one].groups))
    return table


def with_bar(one: Estimate, how: str) -> str:
    """Returns a figure and half the width of its bar, in the format `how`."""
    return f"{one.value:{how}} +- {(one.high - one.low) / 2:{how.lstrip('+')}}"


def doubts_about(timing: Timing | None) -> str:
    """Returns a sentence about games whose clocks cannot be trusted; nothing if there are none."""
    if timing is None or not timing.doubtful:
        return ""
    return (
        f"In {timing.doubtful} of {timing.games} games this machine was late by more than "
        f"{timing.tolerable / 1000:.0f} ms, {timing.worst / 1000:.0f} ms at worst: their clocks are not reliable, and "
        "who forfeited may not be to blame; lower concurrency, or give decisions more time."
    )


def told_wave(wave: CommittedWave) -> str:
    """Says what holds whoever runs a ladder to the secret of a wave."""
    return f"SHA-256 of the secret of wave {wave.number}: {wave.secret_digest.hex()}"


def told_digest(digest: bytes) -> str:
    """Says what holds whoever runs a tournament to its secret, before the secret itself is told."""
    return f"SHA-256 of its secret: {digest.hex()}"


def played_as(plays: str) -> str:
    """Says the format of a tournament before all else, if it is not the usual one."""
    return "" if plays == "round-robin" else f"{plays}, "


def all_games(games: int | None) -> str:
    """Says how many games a tournament has in all."""
    return "games without end" if games is None else f"{games} games"


def recorded_games(recorded: int, games: int | None) -> str:
    """Says how many games are recorded, and of how many if there is an end to them."""
    return f"{recorded} games" if games is None else f"{recorded} of {games} games"


def show_games(games: Sequence[GameSummary]) -> None:
    """Prints games, a line each: their ids, and what came of them in each seat."""
    table = plain_table("id", "group", "deals", "seats: rank, points", text_columns=("id", "seats: rank, points"))
    for game in games:
        seats = "   ".join(_seat(seat, one) for seat, one in enumerate(game.seats))
        table.add_row(game.id, str(game.group), str(game.deals), Text(seats))
    show_table(table)


def _seat(seat: int, one: SeatSummary) -> str:
    forfeit = f" forfeit: {one.forfeit}" if one.forfeit else ""
    return f"{seat} {visible(one.bot)}: {one.rank}, {one.total}{forfeit}"


def show_tournaments(tournaments: Sequence[TournamentSummary]) -> None:
    """Prints tournaments, a line each."""
    table = plain_table("tournament", "variant", "bots", "games", "recorded", text_columns=("tournament", "variant"))
    for one in tournaments:
        table.add_row(
            shown_name(one.name),
            Text(visible(one.variant)),
            str(len(one.bots)),
            "endless" if one.games is None else str(one.games),
            str(one.recorded),
        )
    show_table(table)


def show_ladder(ladder: Sequence[BotRating]) -> None:
    """Prints the Elo of all bots, a table for each variant."""
    for variant in dict.fromkeys(one.variant for one in ladder):
        say(visible(variant))
        table = plain_table("", "bot", "Elo", "games", "won", "drawn", "lost")
        for place, one in enumerate((one for one in ladder if one.variant == variant), 1):
            numbers = (one.games, one.wins, one.draws, one.losses)
            table.add_row(str(place), shown_name(one.bot), f"{one.elo:.0f}", *map(str, numbers))
        show_table(table)


def show_table(table: Table) -> None:
    """Prints a table, as wide as it is where no terminal sets a limit."""
    shown = console()
    if not shown.is_terminal:
        shown.width = _WIDEST_TABLE
    shown.print(table)


def plain_table(*columns: str, text_columns: Sequence[str] = _NAMES) -> Table:
    """Returns a table without lines; on a narrow terminal names are cut, numbers only if that is not enough."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        justify: JustifyMethod = "left" if column in text_columns else "right"
        table.add_column(column, justify=justify, no_wrap=column not in _NAMES)
    return table


def shown_name(name: str, version: str = "") -> Text:
    """Returns a name, of a bot perhaps with its version, for a cell of a table."""
    return Text(visible(f"{name} {version}" if version else name), no_wrap=True, overflow="ellipsis")


def interject(live: Live | None, text: str) -> None:
    """Prints lines for people above a moving picture or, without one, to the error output."""
    if live is None:
        complain(text)
    else:
        with contextlib.suppress(OutputError):
            live.console.print(Text(text))


class Watch:
    """Shows how a tournament comes along: a bar and the table so far on a terminal, now and then a line elsewhere.

    Once the games have begun, a tournament is not broken off because nobody can be shown how it comes along.
    """

    def __init__(self) -> None:
        self._live: Live | None = None
        self._bar = Progress(
            TextColumn("games"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
        )
        self._task = TaskID(0)
        self._variant = ""
        self._standings: Sequence[Standing] = ()
        self._began = self._last_line = time.monotonic()
        self._already: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._live is not None:
            self._standings = ()  # the table that closes the run follows
            with contextlib.suppress(OSError, OutputError):
                self._live.update(self._picture())
                self._live.stop()

    @property
    def listeners(self) -> playing.Listeners:
        """What a tournament reports to."""
        standings = self._note_standings if console().is_terminal else None
        return playing.Listeners(
            self._opened, self._progress, self._trouble, self._finishing, self._wave, standings=standings
        )

    def _opened(self, event: Event) -> None:
        settings = event.settings
        self._variant = event.variant
        deals = "the same deals in all seats" if settings.shares_deals else "deals of its own in each game"
        bots = f"{played_as(settings.format)}{len(settings.bots)} bots, {all_games(event.games)} of {settings.ruleset}"
        say(f"{visible(settings.name)}: {bots}, {settings.seats} seats, {deals}.")
        digest = tournament_secret(event.stored).digest
        if digest is not None:
            say(told_digest(digest))
        if settings.secret is not None:
            say("The secret stands in the tournament's settings: its deals are foreseeable.")
        if event.stored.status == "finished":
            say("It was played before; this is its table.")

    def _progress(self, progress: EventProgress) -> None:
        if self._already is None:
            self._already, self._began = progress.recorded, time.monotonic()
        with contextlib.suppress(OSError, OutputError):
            if console().is_terminal:
                self._advance(progress)
            else:
                self._write_line(progress)

    def _advance(self, progress: EventProgress) -> None:
        if self._live is None:
            self._task = self._bar.add_task("games", total=progress.games, completed=progress.recorded, rate="")
            self._live = Live(self._picture(), console=console(), refresh_per_second=4)
            self._live.start()
        self._bar.update(self._task, completed=progress.recorded, rate=self._rate(progress))

    def _write_line(self, progress: EventProgress) -> None:
        now = time.monotonic()
        if progress.recorded == progress.games or now - self._last_line >= _LINE_SECONDS:
            self._last_line = now
            rate = self._rate(progress)
            say(recorded_games(progress.recorded, progress.games) + (f", {rate}" if rate else ""))

    def _rate(self, progress: EventProgress) -> str:
        """Returns the games a second of this run; nothing before there were any."""
        played, seconds = progress.recorded - (self._already or 0), time.monotonic() - self._began
        return f"{played / seconds:.1f} games/s" if played and seconds > 0 else ""

    def _note_standings(self, standings: Sequence[Standing]) -> None:
        self._standings = standings
        if self._live is not None:
            with contextlib.suppress(OSError, OutputError):
                self._live.update(self._picture())

    def _picture(self) -> Group:
        """Returns the bar, and the table so far if there is one; Elo is made at the end."""
        if not any(one.games for one in self._standings):
            return Group(self._bar)
        best = self._standings[:_MOST_SHOWN]
        return Group(self._bar, Text("so far, complete deal groups only:"), standings_table(self._variant, best, ()))

    def _trouble(self, trouble: Trouble) -> None:
        interject(self._live, trouble.told())

    def _wave(self, wave: CommittedWave) -> None:
        with contextlib.suppress(OSError, OutputError):
            if self._live is None:
                say(told_wave(wave))
            else:
                interject(self._live, told_wave(wave))

    def _finishing(self) -> None:
        interject(self._live, FINISHING)
