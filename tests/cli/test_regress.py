"""`rummyarena regress` on paper: what it refuses, what it asks, what it tells, and the XML for other programs."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from rummyarena_server.app.regressing import Outcome, RegressionTest, planned
from rummyarena_server.cli import regression_report as report
from rummyarena_server.cli.junit import Result, TestCase, junit_xml
from rummyarena_server.cli.main import cli, main
from rummyarena_server.cli.output import json_text
from rummyarena_server.cli.regress import regress as regress_command
from rummyarena_server.config import TournamentSettings
from rummyarena_server.hosting import BotCommand
from rummyarena_server.tournament.bots import Trouble
from rummyarena_server.tournament.regression import Evidence, Question
from rummyarena_server.tournament.sequential import Hypotheses
from tests.tournament.test_regression import evidence_of, groups

ROOT = Path(__file__).resolve().parents[2]
BETTER = Hypotheses(elo0=0.0, elo1=20.0)
ODD = "a\x1b[31m\x00<&>\"'\ud800\ufffe\u202e\n\tz"

Command: TypeAlias = Callable[..., tuple[int, str, str]]


@pytest.fixture
def regress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs the command in the folder of the test and returns its exit status and what it wrote to both outputs."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str, new: str = "random-legal") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["rummyarena", "regress", "--new", new, "--base", "random-legal", *words])
        with pytest.raises(SystemExit) as exit_:
            main()
        assert isinstance(exit_.value.code, int)
        return exit_.value.code, *capsys.readouterr()

    return run


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--better", "--not-worse"], "--not-worse, --better and --elo0 with --elo1 are three questions: ask one"),
        (["--better", "--elo0", "0", "--elo1", "5"], "are three questions: ask one of them"),
        (["--elo1", "5"], "--elo0 and --elo1 belong together: name both"),
        (["--elo0", "-3", "--elo1", "-5"], "this cannot be asked: elo0 is below elo1"),
        (["--elo0", "0", "--elo1", "300", "--normalised"], "both are nearer to 0 than 245.674"),
        (["--elo0", "0", "--elo1", "nan"], "this cannot be asked: elo0 is below elo1"),
        (["--elo0", "0", "--elo1", "1e-200"], "less than 0.01 Elo apart: no test would ever tell"),
        (["--seed", "caf\udce9"], "caf\\udce9 is no UTF-8 text"),
        (["--better", "--alpha", "0.5"], "error rates between 0 and 0.5"),
        (["--groups", "0"], "--groups 0: a test has 1 to 1000000 deal groups"),
        (["--groups", "5", "--alpha", "0.1"], "--groups alone asks none: add --not-worse"),
        (["--groups", "many"], "see rummyarena regress --help"),
        (["--seats", "7"], "--seats 7: thai is for 2 to 4 seats"),
        (["--ruleset", "tai"], "there is no ruleset 'tai': did you mean thai?"),
        (["--option", "max_deals"], "max_deals is no option: write NAME=VALUE"),
        (["--option", "deals=1"], 'there is no option "deals"'),
        (["--concurrency", "0"], "--concurrency 0: 1 to 1000 games can be played at once"),
        (["--files", "no/*.py"], 'matches "no/*.py"; correct the pattern'),
        (["--junit", "no/result.xml"], "/no; make it or name another file"),
        (["--junit", "."], "--junit .: this is a folder; name a file in it"),
        (["--junit", f"{'x' * 300}.xml"], "xxx.xml cannot be replaced: file name too long"),
        (["--db", ""], "names no database"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_done(
    words: list[str], complaint: str, regress: Command, tmp_path: Path
) -> None:
    status, _, err = regress(*words)

    assert (status, err.count("\n")) == (2, 1)
    assert complaint in err
    assert list(tmp_path.iterdir()) == []


def test_who_is_no_bot_is_refused_with_advice(regress: Command) -> None:
    status, _, err = regress(new="random-leagl")

    assert (status, err) == (2, "rummyarena: there is no bot random-leagl: did you mean random-legal?\n")


def test_a_test_that_cannot_be_carried_out_is_neither_accepted_nor_rejected(regress: Command) -> None:
    status, _, err = regress("--db", "missing/arena.db")

    assert status == 5
    assert err.startswith("rummyarena: database missing/arena.db: there is no folder missing")


@pytest.mark.parametrize(("words", "expected"), [(["--db", "missing/arena.db"], 5), (["--alpha", "2"], 2)])
def test_an_older_result_is_not_taken_for_this_one(
    words: list[str], expected: int, regress: Command, tmp_path: Path
) -> None:
    (tmp_path / "result.xml").write_text("old")

    status, _, _ = regress(*words, "--junit", "result.xml")

    assert status == expected
    assert not (tmp_path / "result.xml").exists()


def test_nothing_but_an_ordinary_file_is_taken_for_an_older_result(regress: Command, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    status, _, err = regress("--junit", "pipe")

    assert status == 2
    assert err == ("rummyarena: --junit pipe: this is no ordinary file; name one, or redirect the standard output\n")
    assert (tmp_path / "pipe").is_fifo()


def test_a_link_to_an_older_result_stays(regress: Command, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "result.xml").write_text("old")
    (tmp_path / "result.xml").symlink_to("there/result.xml")

    regress("--db", "missing/arena.db", "--junit", "result.xml")

    assert (tmp_path / "result.xml").is_symlink()
    assert list((tmp_path / "there").iterdir()) == []


# --- what is asked ---------------------------------------------------------------------------------------------------


def asked(hypotheses: Hypotheses | None = BETTER, **changes: Any) -> RegressionTest:
    seats = 2 if hypotheses is None else hypotheses.seats
    values: dict[str, Any] = {
        "new": BotCommand("mine", ("python", "mine.py"), Path("/")),
        "base": BotCommand("old", ("./old", "--slow"), Path("/")),
        "question": Question(seats=seats, most_groups=100, hypotheses=hypotheses),
        "ruleset": "thai",
        "options": {},
        "clock": True,
        "concurrency": 8,
    }
    return RegressionTest(**(values | changes))


@pytest.mark.parametrize(
    ("hypotheses", "accepted", "rejected"),
    [
        (None, "is better than its base", "is worse than its base"),
        (Hypotheses(elo0=-20.0, elo1=0.0), "is not worse than its base", "is worse than its base"),
        (BETTER, "is better than its base", "is not better than its base"),
        (Hypotheses(elo0=-5.5, elo1=5.0), "is 5 Elo better rather than 5.5 Elo worse", "is 5.5 Elo worse rather than"),
        (
            Hypotheses(elo0=5.0, elo1=9.0, normalised=True),
            "is 9 normalised Elo better rather than 5",
            "is 5 normalised",
        ),
    ],
)
def test_a_verdict_says_what_was_asked(hypotheses: Hypotheses | None, accepted: str, rejected: str) -> None:
    yes, no = report.claims(asked(hypotheses).question)

    assert f"the new bot {accepted}" in yes
    assert f"the new bot {rejected}" in no


def test_it_says_first_what_is_tested_and_how_long_it_is_likely_to_take() -> None:
    test = asked(Hypotheses(elo0=0.0, elo1=20.0, seats=3), clock=False, options={"max_deals": 1})

    assert list(report.description(test, "mine.py", "./old --slow\x1b[1m")) == [
        "new:  mine.py",
        "base: ./old --slow\\x1b[1m, in 2 copies",
        "thai, 3 seats, max_deals = 1, no clock; a deal group is 3 games on the same deals, the seats exchanged",
        "question: is the new bot 20 Elo better (accepted), or is it as good as its base (rejected)?",
        "errors: 5 % of tests accept a bot that is as good as its base, 5 % reject one that is 20 Elo better",
    ]
    assert report.expectation(test.question) == (
        "expected: 356 deal groups if it is as good as its base, 356 if it is 20 Elo better, 583 half-way; "
        "after 100 it ends undecided"
    )


def test_without_hypotheses_the_number_of_groups_is_said() -> None:
    test = asked(None)

    assert list(report.description(test, "mine.py", "old"))[-1] == (
        "100 deal groups are played; then the 95 % bar says which of the two is better"
    )
    assert report.expectation(test.question) == ""


def commands_of_the_page() -> list[list[str]]:
    """The commands of docs/regression-testing.md, each in one line."""
    page = (ROOT / "docs" / "regression-testing.md").read_text()
    text = "\n".join(re.findall(r"```(?:sh|yaml)\n(.*?)```", page, re.DOTALL)).replace(
        "base/my_bot.py\n ", "base/my_bot.py "
    )
    return [
        shlex.split(line.partition("rummyarena ")[2]) for line in text.split("\n") if "rummyarena regress --" in line
    ]


def test_the_commands_on_the_page_are_commands() -> None:
    found = commands_of_the_page()

    assert len(found) == 3
    for words in found:
        command, bound, _ = cli.parse_args(words, exit_on_error=False, print_error=False)
        assert command is regress_command
        assert {"new", "base"} <= set(bound.arguments)


# --- which test it is ------------------------------------------------------------------------------------------------


def name(test: RegressionTest) -> str:
    return planned(test).settings.name


@pytest.fixture
def of_files(tmp_path: Path) -> RegressionTest:
    """A test of two bots that are files, and of one more that they use."""
    for file in ("mine.py", "old.py", "helper.py"):
        (tmp_path / file).write_text(file)
    mine, old = (BotCommand(one, ("python", f"{one}.py"), tmp_path) for one in ("mine", "old"))
    return asked(new=mine, base=old, files=("help*.py",))


@pytest.mark.parametrize(
    "changes",
    [
        {"question": Question(seats=2, most_groups=101, hypotheses=BETTER)},
        {"question": Question(seats=2, most_groups=100, hypotheses=replace(BETTER, alpha=0.01))},
        {"question": Question(seats=2, most_groups=100)},
        {"question": Question(seats=3, most_groups=100, hypotheses=replace(BETTER, seats=3))},
        {"options": {"max_deals": 1}},
        {"clock": False},
        {"seed": "another"},
        {"files": ()},
    ],
)
def test_whatever_bears_on_the_result_makes_another_test(changes: dict[str, Any], of_files: RegressionTest) -> None:
    assert name(replace(of_files, **changes)) != name(of_files)


@pytest.mark.parametrize("file", ["mine.py", "old.py", "helper.py"])
def test_a_change_in_a_file_makes_another_test(file: str, of_files: RegressionTest, tmp_path: Path) -> None:
    before = name(of_files)

    (tmp_path / file).write_text("changed")

    assert name(of_files) != before


def test_a_bot_and_its_base_exchanged_are_another_test(of_files: RegressionTest) -> None:
    exchanged = replace(of_files, new=of_files.base, base=of_files.new)

    assert name(exchanged).split(", ")[0] == "old against mine"
    assert name(exchanged).split(", ")[1] != name(of_files).split(", ")[1]


def test_how_many_games_are_played_at_once_makes_no_other_test(of_files: RegressionTest) -> None:
    assert name(replace(of_files, concurrency=1)) == name(of_files)


@given(st.text(), st.text(min_size=30))
def test_any_names_of_bots_make_a_name_of_a_tournament(new: str, base: str) -> None:
    bots = (BotCommand(one, ("python",), Path("/")) for one in (new, base))
    settings = planned(asked(new=next(bots), base=next(bots))).settings

    assert TournamentSettings.model_validate(settings.model_dump(mode="json")).name == settings.name


def test_its_games_are_shared_deals_for_no_elo_and_its_seed_fixes_them(of_files: RegressionTest) -> None:
    settings = planned(of_files).settings

    assert (settings.shares_deals, settings.rated, settings.cycles, settings.secret) == (True, False, 100, None)
    assert [bot.name for bot in settings.bots] == ["new", "base"]
    one, other = (planned(replace(of_files, seed=seed)).settings.secret for seed in ("one", "other"))
    assert None not in (one, other)
    assert one != other


# --- how it comes along ----------------------------------------------------------------------------------------------


def test_where_there_is_no_terminal_a_line_says_where_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    evidence = evidence_of(asked().question, groups(3, 1, 2))
    with report.Watch(on_stderr=False) as watch:
        listeners = watch.listeners()
        listeners.opened(evidence)
        for group in range(3, 30):
            evidence.add(groups(1, 1, 2, first=group))
            listeners.progress(evidence)
    out, err = capsys.readouterr()

    before, _, line = out.splitlines()  # the next one would come ten seconds later
    assert before == "It goes on: 6 games were recorded before."
    assert line.startswith("11 deal groups, ratio -0.")
    assert "between -2.94 and +2.94, Elo +0 +- " in line
    assert line.endswith(" minutes")
    assert err == ""


def test_the_standard_output_can_be_kept_for_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    with report.Watch(on_stderr=True) as watch:
        watch.listeners().opened(Evidence(asked().question))
        watch.listeners().trouble(Trouble("new", "exited with status 1", ("oh\x1b",)))
    out, err = capsys.readouterr()

    assert out == ""
    assert err.splitlines()[0].startswith("expected: 801 deal groups")
    assert err.splitlines()[1] == "new exited with status 1"


@pytest.mark.parametrize(
    ("hypotheses", "shown"), [(BETTER, ("rejected -2.94", "+2.94 accepted")), (None, ("deal groups", "40 of 100"))]
)
def test_a_terminal_shows_where_it_stands_in_a_line(
    hypotheses: Hypotheses | None, shown: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    Console(width=80, force_terminal=False).print(
        report.picture(evidence_of(asked(hypotheses).question, groups(40, 1, 2)))
    )
    (line,) = capsys.readouterr().out.splitlines()

    assert line.startswith(shown[0])
    assert line.rstrip().endswith(shown[1])


# --- what came of it -------------------------------------------------------------------------------------------------


def outcome(*places: int, count: int = 60, hypotheses: Hypotheses | None = None, **changes: Any) -> Outcome:
    question = Question(seats=2, most_groups=60, hypotheses=hypotheses)
    return Outcome("mine against old, 1a2b", evidence_of(question, groups(count, *places)), **changes)


def test_a_verdict_comes_with_its_figures() -> None:
    lines = [*report.details(outcome(1, 1), ("new", "base"))]

    assert report.headline(outcome(1, 1)) == "Accepted: the new bot is better than its base."
    assert lines[0] == "  deal groups    60 of 2 games"
    assert [line.split()[0] for line in lines] == ["deal", "Elo", "score", "points", "better", "stored"]
    assert report.headline(outcome(2, 2)) == "Rejected: the new bot is worse than its base."
    assert report.headline(outcome(1, 2)) == "Undecided after 60 deal groups."
    assert report.headline(outcome(1, 1, count=3)) == "There is no verdict yet."


def test_of_a_bot_that_cannot_play_no_figures_are_shown() -> None:
    trouble = Trouble("new", "is withdrawn after 3 exits in a row", ("Error",), "logs/new-3.log")
    broken = outcome(2, 2, count=3, broken=(trouble,))
    lines = [*report.details(broken, ("new", "base"))]

    assert report.headline(broken) == "Broken: new is withdrawn after 3 exits in a row."
    assert lines[1] == "  its output     logs/new-3.log"
    assert not any("Elo" in line for line in lines)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (outcome(1, 1), "accepted"),
        (outcome(2, 2, hypotheses=BETTER, count=0), "interrupted"),
        (outcome(2, 2, broken=(Trouble("new", "is gone"),)), "broken"),
    ],
)
def test_as_json_everything_is_said_in_numbers(found: Outcome, verdict: str) -> None:
    said = json.loads(json_text(report.as_json(found, asked(None), 7)))

    assert (said["verdict"], said["status"], said["tournament"]) == (verdict, 7, "mine against old, 1a2b")
    assert said["elo"]["low"] < said["elo"]["value"] < said["elo"]["high"]
    assert set(said["forfeits"]) == {"new", "base"}


# --- JUnit -----------------------------------------------------------------------------------------------------------


def parsed(case: TestCase) -> ElementTree.Element:
    suites = ElementTree.fromstring(junit_xml(case))  # noqa: S314 - it was written here
    assert [one.tag for one in suites] == ["testsuite"]
    return suites[0]


@pytest.mark.parametrize("result", ["passed", "failure", "error", "skipped"])
def test_a_result_is_a_suite_of_one_case(result: Result) -> None:
    suite = parsed(TestCase("it is better", result, 1.25, "why", "all of it"))
    (case,) = suite

    counts = {key: suite.attrib[key] for key in ("tests", "failures", "errors", "skipped")}
    expected = {"failure": "failures", "error": "errors", "skipped": "skipped"}.get(result)
    assert counts == {"tests": "1", "failures": "0", "errors": "0", "skipped": "0"} | (
        {expected: "1"} if expected else {}
    )
    assert case.attrib == {"classname": "rummyarena.regress", "name": "it is better", "time": "1.250"}
    (element,) = case
    assert element.tag == ("system-out" if result == "passed" else result)
    assert element.text == "all of it"
    assert element.get("message") == (None if result == "passed" else "why")


def test_odd_names_and_control_characters_do_no_harm() -> None:
    (case,) = parsed(TestCase(ODD, "failure", 0.0, ODD, ODD))

    assert case.attrib["name"] == "a\\x1b[31m\\x00<&>\"'\\ud800\\ufffe\u202e\n\tz"
    assert case[0].get("message") == case[0].text == case.attrib["name"]


@given(st.text(alphabet=st.characters(codec=None)), st.text())
def test_any_text_is_valid_xml(name: str, output: str) -> None:
    (case,) = parsed(TestCase(name, "skipped", 0.0, name, output))

    assert case.tag == "testcase"
    junit_xml(TestCase(name, "passed", 0.0)).encode()
