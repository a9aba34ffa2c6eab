"""The command that tests a new version of a bot against its base."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import trio
from cyclopts import Parameter

from rummyarena_rules.options import changed_options
from rummyarena_server.cli import regression_report as report
from rummyarena_server.cli.bots import commands
from rummyarena_server.cli.exports import target_of, written_to
from rummyarena_server.cli.games import Options
from rummyarena_server.cli.junit import Result, TestCase, junit_xml
from rummyarena_server.cli.narrator import Table, single_game
from rummyarena_server.cli.output import UsageError, complain, json_text, say
from rummyarena_server.cli.places import DATABASE, LOGS, AsJson, Database, named
from rummyarena_server.cli.rulebook import find_ruleset
from rummyarena_server.cli.tournaments import INTERRUPTION
from rummyarena_server.hosting import visible
from rummyarena_server.tournament.pins import PinError

if TYPE_CHECKING:
    from rummyarena_server.app.regressing import Outcome, RegressionTest
    from rummyarena_server.tournament.regression import Question, Verdict
    from rummyarena_server.tournament.sequential import Hypotheses

UNTESTED: Final = 5
"""The exit status where a test could not be carried out, for reasons that say nothing of the bots."""

_STATUS: Final[dict[Verdict, int]] = {"accepted": 0, "rejected": 1, "undecided": 3}
_BROKEN: Final = 4
_SIGNALLED: Final = 128
_DIFFERENCE: Final = 20.0  # Elo; docs/regression-testing.md says why
_LEAST_DIFFERENCE: Final = 0.01
_ERRORS: Final = 0.05
_MOST_AT_ONCE: Final = 1000

_JUNIT: Final = "--junit"
_SWITCH: Final = Parameter(negative="")


class UntestedError(ExceptionGroup[Exception]):
    """A test that could not be carried out; what is in it says why."""


def regress(
    *,
    new: str,
    base: str,
    ruleset: str = "thai",
    seats: int | None = None,
    option: Options = None,
    not_worse: Annotated[bool, _SWITCH] = False,
    better: Annotated[bool, _SWITCH] = False,
    elo0: float | None = None,
    elo1: float | None = None,
    normalised: Annotated[bool, _SWITCH] = False,
    alpha: float | None = None,
    beta: float | None = None,
    groups: int | None = None,
    concurrency: int = 8,
    clock: Literal["on", "off"] = "on",
    files: Annotated[list[str] | None, _SWITCH] = None,
    seed: str | None = None,
    junit: Path | None = None,
    as_json: AsJson = False,
    db: Database = DATABASE,
) -> int:
    """Tests whether a new version of a bot is better than its base, or at least not worse, with known error rates.

    The exit status is 0 if it is accepted, 1 rejected, 2 wrong usage, 3 undecided, 4 if a bot cannot play, 5 if the
    test could not be carried out, and 130 or 143 if it was stopped: the same command goes on then.

    Example: rummyarena regress --new my_bot.py --base ../main/my_bot.py

    Parameters
    ----------
    new
        The new version: a sample's name, a .py file, or a command in quotes.
    base
        What it is compared with. At tables of more than two seats it sits in all seats but one.
    ruleset
        The name of the game: thai or liverpool.
    seats
        The seats of a table; if not said, the fewest that the game is for.
    not_worse
        Asks whether the new bot is not worse: equal rather than 20 Elo worse. So it is if nothing else is said.
    better
        Asks whether the new bot is better: by 20 Elo rather than equal.
    elo0
        With --elo1: asks whether the new bot is --elo1 better rather than this.
    elo1
        See --elo0.
    normalised
        Takes these for normalised Elo: in units of the scatter, so that a test of any game takes as long.
    alpha
        How often the new bot may be accepted by mistake, above 0 and below 0.5: 0.05 if not said.
    beta
        How often it may be rejected by mistake: 0.05 if not said.
    groups
        After how many deal groups to end undecided. Without any of the questions above: plays exactly so many and
        decides by the 95 % bar.
    concurrency
        Games at once, 1 to 1000.
    clock
        Whether the bots' time is limited, as in tournaments: 5 seconds a decision and 60 more for the whole game.
    files
        A pattern of further files that the bots are made of, such as 'my_bot/**/*.py'; may be given again. A change in
        them, or in files that the commands name, makes another test.
    seed
        Any text, which fixes the deals: for repeatable tests.
    junit
        A file for the result as JUnit XML.
    """
    shown = named(db)
    _make_room(junit)
    flags = _Flags(not_worse, better, elo0, elo1, normalised, alpha, beta, groups)
    test = _test(_Table(new, base, ruleset, seats, option or (), clock == "on"), flags, concurrency, files, seed)
    tell = complain if as_json else say
    for line in report.description(test, new, base):
        tell(line)
    tell(f"Database: {shown}; what the bots print: {LOGS}/")
    began = time.monotonic()
    try:
        outcome = _play(test, db, on_stderr=as_json)
    except Exception as error:
        if isinstance(error, UsageError):
            raise
        raise UntestedError("the test could not be carried out", [error]) from None
    status = _status(outcome)
    lines = [report.headline(outcome), *report.details(outcome, test.names)]
    say(json_text(report.as_json(outcome, test, status)) if as_json else "\n".join(lines))
    if junit is not None:
        _write_junit(junit, _case(outcome, test, lines, time.monotonic() - began))
    if outcome.stopped_by is not None:
        complain(INTERRUPTION)
    return status


# --- what is asked ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Table:
    """Who sits at a table, and what is played there."""

    new: str
    base: str
    ruleset: str
    seats: int | None
    options: Sequence[str]
    clock: bool


@dataclass(frozen=True, slots=True)
class _Flags:
    """What was said of the question."""

    not_worse: bool
    better: bool
    elo0: float | None
    elo1: float | None
    normalised: bool
    alpha: float | None
    beta: float | None
    groups: int | None

    @property
    def differences(self) -> tuple[float, float] | None:
        """The two differences in Elo between which is decided, `None` if only a number of groups was said."""
        bounds = [one for one in (self.elo0, self.elo1) if one is not None]
        if self.not_worse + self.better + bool(bounds) > 1:
            raise UsageError("--not-worse, --better and --elo0 with --elo1 are three questions: ask one of them")
        if len(bounds) == 1:
            raise UsageError("--elo0 and --elo1 belong together: name both, --elo0 below --elo1")
        if bounds:
            return bounds[0], bounds[1]
        if self.better:
            return 0.0, _DIFFERENCE
        return (-_DIFFERENCE, 0.0) if self.not_worse or self.groups is None else None


def _test(
    table: _Table, flags: _Flags, concurrency: int, files: Sequence[str] | None, seed: str | None
) -> RegressionTest:
    """Returns the test that is asked for; `UsageError` says what cannot be."""
    # Imported only here: numpy starts threads, which no other command that plays has a use for.
    from rummyarena_server.app.regressing import RegressionTest

    _check_texts(table.new, table.base, *(files or ()), seed or "")
    ruleset = find_ruleset(table.ruleset)
    seats = ruleset.seats.start if table.seats is None else table.seats
    if seats not in ruleset.seats:
        allowed = f"{ruleset.seats.start} to {ruleset.seats.stop - 1}"
        raise UsageError(f"--seats {seats}: {table.ruleset} is for {allowed} seats")
    if not 1 <= concurrency <= _MOST_AT_ONCE:
        raise UsageError(f"--concurrency {concurrency}: 1 to {_MOST_AT_ONCE} games can be played at once")
    (new,), (base,) = commands([table.new], Path.cwd()), commands([table.base], Path.cwd())
    game = single_game(Table(table.ruleset, (new, *[base] * (seats - 1)), table.options))
    return RegressionTest(
        new=new,
        base=base,
        question=_question(flags, seats, ruleset.lowest_wins),
        ruleset=table.ruleset,
        options=changed_options(game.setup.options),
        clock=table.clock,
        concurrency=concurrency,
        files=tuple(files or ()),
        seed=seed,
    )


def _check_texts(*texts: str) -> None:
    """Refuses what is no text, as a file's name need not be: a test is known by it."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UsageError(f"{visible(text)} is no UTF-8 text; rename the file, or write something else") from None


def _question(flags: _Flags, seats: int, lower_is_better: bool) -> Question:
    from rummyarena_server.tournament.regression import MOST_GROUPS, Question, sensible_groups

    if flags.groups is not None and not 1 <= flags.groups <= MOST_GROUPS:
        raise UsageError(f"--groups {flags.groups}: a test has 1 to {MOST_GROUPS} deal groups")
    hypotheses = _hypotheses(flags, seats)
    most = flags.groups or (sensible_groups(hypotheses) if hypotheses is not None else MOST_GROUPS)
    return Question(seats=seats, most_groups=most, hypotheses=hypotheses, lower_is_better=lower_is_better)


def _hypotheses(flags: _Flags, seats: int) -> Hypotheses | None:
    from rummyarena_server.tournament.sequential import Hypotheses

    differences = flags.differences
    if differences is None:
        if flags.normalised or flags.alpha is not None or flags.beta is not None:
            raise UsageError(
                "--normalised, --alpha and --beta are about a question, and --groups alone asks none: "
                "add --not-worse, --better, or --elo0 and --elo1"
            )
        return None
    if 0 < differences[1] - differences[0] < _LEAST_DIFFERENCE:
        raise UsageError(f"--elo0 and --elo1 are less than {_LEAST_DIFFERENCE} Elo apart: no test would ever tell")
    alpha, beta = (_ERRORS if one is None else one for one in (flags.alpha, flags.beta))
    try:
        return Hypotheses(
            elo0=differences[0],
            elo1=differences[1],
            seats=seats,
            normalised=flags.normalised,
            alpha=alpha,
            beta=beta,
        )
    except ValueError as error:
        why, _, _ = str(error).partition(": ")
        raise UsageError(f"this cannot be asked: {why}") from None


# --- what comes of it ------------------------------------------------------------------------------------------------


def _play(test: RegressionTest, database: str, *, on_stderr: bool) -> Outcome:
    from rummyarena_server.app.regressing import run_regression

    try:
        with report.Watch(on_stderr=on_stderr) as watch:
            return trio.run(run_regression, test, database, LOGS, watch.listeners())
    except PinError as error:
        raise UsageError(str(error)) from None


def _status(outcome: Outcome) -> int:
    if outcome.broken:
        return _BROKEN
    if outcome.evidence.verdict is not None:
        return _STATUS[outcome.evidence.verdict]
    return _SIGNALLED + (outcome.stopped_by or 0)


def _make_room(junit: Path | None) -> None:
    """Takes an older result away, so that it is not taken for this one; sees whether there can be a new one."""
    if junit is None:
        return
    try:
        target_of(junit, force=True, flag=_JUNIT).unlink(missing_ok=True)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UsageError(f"{_JUNIT} {visible(str(junit))} cannot be replaced: {why}") from None


def _case(outcome: Outcome, test: RegressionTest, lines: Sequence[str], seconds: float) -> TestCase:
    """Returns the result of a test as others tell theirs: what was claimed, and whether it holds."""
    claim, _ = report.claims(test.question)
    last_lines = [line for one in outcome.broken for line in one.told().split("\n")]
    return TestCase(
        name=f"{test.new.name} against {test.base.name}, {test.ruleset}, {test.question.seats} seats: {claim}",
        result=_result(outcome),
        seconds=seconds,
        message=report.headline(outcome),
        output="\n".join([*lines, *last_lines]),
    )


def _result(outcome: Outcome) -> Result:
    if outcome.broken:
        return "error"
    match outcome.evidence.verdict:
        case "accepted":
            return "passed"
        case "rejected":
            return "failure"
        case _:
            return "skipped"


def _write_junit(path: Path, case: TestCase) -> None:
    try:
        with written_to(path, force=True, flag=_JUNIT) as file:
            file.write(junit_xml(case))
    except Exception as error:
        raise UntestedError("the result could not be written", [error]) from None
