"""What a regression test tells: what it asks, how the ratio moves between its bounds, and what came of it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from rummyarena_server.cli.output import (
    FINISHING,
    OutputError,
    complain,
    console,
    doubts_about,
    interject,
    say,
    with_bar,
)
from rummyarena_server.cli.places import LOGS
from rummyarena_server.hosting import visible
from rummyarena_server.tournament.bots import Trouble

if TYPE_CHECKING:
    from rummyarena_server.app.regressing import Listeners, Outcome, RegressionTest
    from rummyarena_server.tournament.regression import Evidence, Question
    from rummyarena_server.tournament.sequential import Hypotheses

_LINE_SECONDS: Final = 10.0  # between two lines of progress where there is no terminal
_PICTURE_SECONDS: Final = 0.25
_FIRST_GROUPS: Final = 8  # tell how long it will take
_BAR_WIDTH: Final = 40
_MINUTE: Final = 60.0


# --- what is asked ---------------------------------------------------------------------------------------------------


def claims(question: Question) -> tuple[str, str]:
    """Returns what is said of the new bot if it is accepted, and if it is rejected."""
    hypotheses = question.hypotheses
    if hypotheses is None:
        return "the new bot is better than its base", "the new bot is worse than its base"
    if hypotheses.elo1 == 0:
        return "the new bot is not worse than its base", "the new bot is worse than its base"
    if hypotheses.elo0 == 0:
        return "the new bot is better than its base", "the new bot is not better than its base"
    low, high = (_difference(elo, hypotheses) for elo in (hypotheses.elo0, hypotheses.elo1))
    return f"the new bot is {high} rather than {low}", f"the new bot is {low} rather than {high}"


def description(test: RegressionTest, new: str, base: str) -> Iterator[str]:
    """Yields lines that say what is tested; `new`, `base`: the bots as they were named."""
    question, seats = test.question, test.question.seats
    options = "".join(f", {name} = {value}" for name, value in test.options.items())
    copies = "" if seats == 2 else f", in {seats - 1} copies"
    yield f"new:  {visible(new)}"
    yield f"base: {visible(base)}{copies}"
    yield (
        f"{test.ruleset}, {seats} seats{visible(options)}, {'a clock' if test.clock else 'no clock'}; a deal group is "
        f"{seats} games on the same deals, the seats exchanged"
    )
    if question.hypotheses is None:
        yield f"{_groups(question.most_groups)} are played; then the 95 % bar says which of the two is better"
    else:
        yield from _question(question.hypotheses)


def _question(hypotheses: Hypotheses) -> Iterator[str]:
    low, high = (_difference(elo, hypotheses) for elo in (hypotheses.elo0, hypotheses.elo1))
    yield f"question: is the new bot {high} (accepted), or is it {low} (rejected)?"
    alpha, beta = (f"{100 * rate:.3g} %" for rate in (hypotheses.alpha, hypotheses.beta))
    yield f"errors: {alpha} of tests accept a bot that is {low}, {beta} reject one that is {high}"


def _difference(elo: float, hypotheses: Hypotheses) -> str:
    if elo == 0:
        return "as good as its base"
    unit = "normalised Elo" if hypotheses.normalised else "Elo"
    return f"{abs(elo):g} {unit} {'better' if elo > 0 else 'worse'}"


def expectation(question: Question) -> str:
    """Returns a line about how many groups are likely to be needed; nothing where their number is fixed."""
    from rummyarena_server.tournament.sequential import expected_groups

    hypotheses = question.hypotheses
    if hypotheses is None:
        return ""
    expected = expected_groups(hypotheses, hypotheses.variance_of_equals**0.5)
    null, half_way, alternative = (f"{round(groups)}" for groups in expected)
    low, high = (_difference(elo, hypotheses) for elo in (hypotheses.elo0, hypotheses.elo1))
    return (
        f"expected: {null} deal groups if it is {low}, {alternative} if it is {high}, {half_way} half-way; "
        f"after {question.most_groups} it ends undecided"
    )


# --- how it comes along ----------------------------------------------------------------------------------------------


class Watch:
    """Shows how a test comes along: the ratio between its bounds on a terminal, now and then a line elsewhere.

    `on_stderr`: keeps the standard output for what comes of the test.
    """

    def __init__(self, *, on_stderr: bool) -> None:
        self._console = console(stderr=on_stderr)
        self._say: Callable[[str], None] = complain if on_stderr else say
        self._live: Live | None = None
        self._began = time.monotonic()
        self._last_shown = -_LINE_SECONDS
        self._games_before = 0
        self._groups_before = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._live is not None:
            with contextlib.suppress(OSError, OutputError):
                self._live.stop()

    def listeners(self) -> Listeners:
        """Returns what a test reports to."""
        from rummyarena_server.app.regressing import Listeners

        return Listeners(self._opened, self._progress, self._trouble, self._finishing)

    def _opened(self, evidence: Evidence) -> None:
        self._began = time.monotonic()
        self._games_before, self._groups_before = evidence.games, evidence.groups
        if evidence.broken:
            self._say("Nothing is played: in the games that were recorded before, a bot forfeited every one.")
            return
        if evidence.is_enough:
            self._say(
                "Nothing is played: it was decided before, and a verdict is final. (A bot is known by its command and "
                "the files that this names; --files watches what else it is made of.)"
            )
            return
        if evidence.games:
            self._say(f"It goes on: {evidence.games} games were recorded before.")
        if expected := expectation(evidence.question):
            self._say(expected)

    def _progress(self, evidence: Evidence) -> None:
        with contextlib.suppress(OSError, OutputError):
            if self._console.is_terminal:
                self._show(evidence)
            else:
                self._write_line(evidence)

    def _show(self, evidence: Evidence) -> None:
        if self._live is None:
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
            self._live.start()
        if self._is_time(_PICTURE_SECONDS):
            where, pace = self._state(evidence)
            self._live.update(Group(picture(evidence), Text(where), Text(pace)), refresh=True)

    def _write_line(self, evidence: Evidence) -> None:
        if evidence.groups - self._groups_before >= _FIRST_GROUPS and self._is_time(_LINE_SECONDS):
            self._say(", ".join(self._state(evidence)))

    def _is_time(self, seconds: float) -> bool:
        """Tells whether the last picture or line is so old, and notes that there is another one."""
        now = time.monotonic()
        is_time = now - self._last_shown >= seconds
        if is_time:
            self._last_shown = now
        return is_time

    def _state(self, evidence: Evidence) -> tuple[str, str]:
        seconds = max(time.monotonic() - self._began, 1e-3)
        return where(evidence), pace(evidence, (evidence.games - self._games_before) / seconds)

    def _trouble(self, trouble: Trouble) -> None:
        interject(self._live, trouble.told())

    def _finishing(self) -> None:
        interject(self._live, FINISHING)


def where(evidence: Evidence) -> str:
    """Returns where a test stands that goes on."""
    hypotheses, ratio = evidence.question.hypotheses, ""
    if hypotheses is not None and evidence.ratio is not None:
        lower, upper = hypotheses.bounds
        ratio = f", ratio {evidence.ratio:+.2f} between {lower:+.2f} and {upper:+.2f}"
    return f"{_groups(evidence.groups)}{ratio}, Elo {with_bar(evidence.against_base().elo, '+.0f')}"


def pace(evidence: Evidence, games_a_second: float) -> str:
    """Returns how fast a test is played and how long it is likely to go on."""
    more = evidence.groups_to_come()
    minutes = more * evidence.question.seats / games_a_second / _MINUTE
    return f"{games_a_second:.1f} games/s, about {more:.0f} groups more in {minutes:.1f} minutes"


def picture(evidence: Evidence) -> Table:
    """Returns the ratio between its bounds, or where there are no hypotheses how many groups are done."""
    row = Table.grid(padding=(0, 1))
    question = evidence.question
    if question.hypotheses is None or evidence.ratio is None:
        bar = ProgressBar(total=question.most_groups, completed=evidence.groups, width=_BAR_WIDTH)
        row.add_row("deal groups", bar, f"{evidence.groups} of {question.most_groups}")
    else:
        lower, upper = question.hypotheses.bounds
        bar = ProgressBar(total=upper - lower, completed=evidence.ratio - lower, width=_BAR_WIDTH)
        row.add_row(f"rejected {lower:+.2f}", bar, f"{upper:+.2f} accepted")
    return row


# --- what came of it -------------------------------------------------------------------------------------------------


def headline(outcome: Outcome) -> str:
    """Returns the verdict as a sentence, or why there is none."""
    if outcome.broken:
        return "Broken: " + "; ".join(visible(f"{one.bot} {one.sentence}") for one in outcome.broken) + "."
    accepted, rejected = claims(outcome.evidence.question)
    match outcome.evidence.verdict:
        case "accepted":
            return f"Accepted: {accepted}."
        case "rejected":
            return f"Rejected: {rejected}."
        case "undecided":
            return f"Undecided after {_groups(outcome.evidence.groups)}."
        case None:
            return "There is no verdict yet."


def details(outcome: Outcome, names: tuple[str, ...]) -> Iterator[str]:
    """Yields lines with the figures behind a verdict; `names`: of the entrants."""
    evidence = outcome.evidence
    beyond = f", {evidence.groups_beyond} more not counted" if evidence.groups_beyond else ""
    yield f"  deal groups    {evidence.groups} of {evidence.question.seats} games{beyond}"
    if evidence.groups and not outcome.broken:
        yield from _figures(evidence)
    for number, name in enumerate(names):
        if reasons := evidence.reasons(number):
            why = ", ".join(f"{reason} {times}" for reason, times in reasons.items())
            yield f"  forfeits       {name}: {sum(reasons.values())} of {evidence.games} games ({why})"
    for one in outcome.broken:
        if one.log or evidence.games:
            yield f"  its output     {visible(one.log) or f'{LOGS}/, if it printed anything'}"
    if doubts := doubts_about(outcome.timing):
        yield f"  {doubts}"
    if outcome.broken and evidence.games:
        yield "  to go on       mend the bot; if no file changes by that, add --seed with any new text, for a new test"
    if evidence.games:
        yield f"  stored as      {visible(outcome.tournament)}"


def _figures(evidence: Evidence) -> Iterator[str]:
    if evidence.ratio is not None and evidence.question.hypotheses is not None:
        lower, upper = evidence.question.hypotheses.bounds
        yield f"  ratio          {evidence.ratio:+.2f}, rejected at {lower:+.2f}, accepted at {upper:+.2f}"
    pair, points = evidence.against_base(), evidence.points_a_deal()
    yield f"  Elo            {with_bar(pair.elo, '+.0f')}, normalised {with_bar(pair.normalised, '+.0f')}"
    yield f"  score          {with_bar(pair.score, '.3f')}"
    if points is not None:
        yield f"  points a deal  {with_bar(points, '+.1f')}"
    yield f"  better         with a likelihood of {pair.superiority:.1%}"


def as_json(outcome: Outcome, test: RegressionTest, status: int) -> Mapping[str, Any]:
    """Returns all that came of a test, ready for JSON."""
    evidence, hypotheses = outcome.evidence, test.question.hypotheses
    pair, points = evidence.against_base(), evidence.points_a_deal()
    verdict = "broken" if outcome.broken else evidence.verdict or "interrupted"
    return {
        "verdict": verdict,
        "sentence": headline(outcome),
        "status": status,
        "tournament": outcome.tournament,
        "new": list(test.new.words),
        "base": list(test.base.words),
        "ruleset": test.ruleset,
        "seats": test.question.seats,
        "options": dict(test.options),
        "hypotheses": None if hypotheses is None else asdict(hypotheses),
        "bounds": None if hypotheses is None else hypotheses.bounds,
        "ratio": evidence.ratio,
        "groups": evidence.groups,
        "groups_beyond": evidence.groups_beyond,
        "most_groups": test.question.most_groups,
        "games": evidence.games,
        "forfeits": {name: evidence.reasons(number) for number, name in enumerate(test.names)},
        "score": asdict(pair.score),
        "elo": asdict(pair.elo),
        "normalised": asdict(pair.normalised),
        "superiority": pair.superiority,
        "points_a_deal": None if points is None else asdict(points),
        "broken": [asdict(one) for one in outcome.broken],
        "timing": None if outcome.timing is None else asdict(outcome.timing),
    }


def _groups(number: int) -> str:
    return "1 deal group" if number == 1 else f"{number} deal groups"
