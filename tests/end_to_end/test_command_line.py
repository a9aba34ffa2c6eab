"""What the command line says to whoever uses it wrongly: what is wrong, where, and what to do; never a traceback.

A process takes a second to start, so most commands run in this one; a few run as processes to show that it is the same.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from rummyarena import __version__
from rummyarena_server.cli.main import main
from tests.end_to_end.arena import DATABASE, ROOT, Ended, arena, write_samples, write_tournament

THAI = ROOT / "tests" / "rules" / "scenarios" / "thai.json"
OF_THAI = len(json.loads(THAI.read_text())["scenarios"])
LOGS = "rummyarena-logs"

Command: TypeAlias = Callable[..., Ended]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command in this process, in the folder of the test."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["rummyarena", *words])
        with pytest.raises(SystemExit) as exit_:
            main()
        captured = capsys.readouterr()
        assert isinstance(exit_.value.code, int)
        return Ended(exit_.value.code, captured.out, captured.err)

    return run


def last_line(text: str) -> str:
    return text.splitlines()[-1]


# --- as processes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "status", "out", "err"),
    [
        (["--version"], 0, f"{__version__}\n", ""),
        (["standings"], 0, "Database: sqlite:///rummyarena.db\nNo rated game has been played yet.\n", ""),
        (["scenario", str(THAI)], 0, f"{OF_THAI} passed, 0 failed\n", ""),
        (
            ["standings", "--db", "missing/arena.db"],
            1,
            "Database: missing/arena.db\n",
            "rummyarena: database missing/arena.db: there is no folder missing; make it or name another file\n",
        ),
        (
            ["tournament", "run", "missing.toml"],
            2,
            "",
            "rummyarena: missing.toml: the tournament file cannot be read: no such file or directory\n",
        ),
    ],
)
def test_a_process_ends_with_its_status(words: list[str], status: int, out: str, err: str, tmp_path: Path) -> None:
    assert arena(tmp_path, *words) == Ended(status, out, err)


# --- asking for help, and asking for what there is not ---------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [["demo"], ["tournament"], ["tournament", "run"], ["standings"], ["rules"], ["scenario"], []]
)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_everything_has_help(words: list[str], flag: str, command: Command) -> None:
    ended = command(*words, flag)

    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith(f"Usage: {' '.join(['rummyarena', *words])}")
    assert len(ended.out.splitlines()) > 5


@pytest.mark.parametrize("words", [[], ["tournament"]])
def test_without_a_command_there_is_help(words: list[str], command: Command) -> None:
    assert command(*words) == command(*words, "--help")


@pytest.mark.parametrize(
    ("words", "what", "see"),
    [
        (["demonstrate"], 'Unknown command "demonstrate". Available commands: ', ""),
        (["standing"], 'Did you mean "standings"?', ""),
        (["tournament", "start"], 'Unknown command "start". Available commands: run', " tournament"),
        (["tournament", "run"], "FILE requires an argument", " tournament run"),
        (["tournament", "run", "a.toml", "b.toml"], "'b.toml' is too much", " tournament run"),
        (["standings", "--database", "arena.db"], "Unknown option: --database", " standings"),
        (["demo", "--db"], "--db requires an argument", " demo"),
        (["demo", "--db", "a.db", "--db", "b.db"], "--db specified multiple times", " demo"),
    ],
)
def test_a_command_that_is_not_understood(words: list[str], what: str, see: str, command: Command) -> None:
    ended = command(*words)

    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("rummyarena: ")
    assert what in ended.err
    assert ended.err.endswith(f"; see rummyarena{see} --help\n")
    assert len(ended.err.splitlines()) == 1


# --- scenario --------------------------------------------------------------------------------------------------------


def scenarios(path: Path, **expectations: Any) -> str:
    """Writes a file of one scenario, of a deal among two."""
    one = {"id": "X1", "title": "A deal", "options": {}, "seats": 2, "position": {"fresh": {}}, "moves": []}
    path.write_text(json.dumps({"format": 1, "game": "thai", "scenarios": [one | {"expect": expectations}]}))
    return str(path)


def test_scenarios_that_pass(tmp_path: Path, command: Command) -> None:
    ended = command("scenario", scenarios(tmp_path / "deal.json", stock_count=29), str(THAI))
    assert ended == Ended(0, f"{OF_THAI + 1} passed, 0 failed\n", "")


def test_a_scenario_that_fails_is_told_with_the_difference(tmp_path: Path, command: Command) -> None:
    ended = command("scenario", str(THAI), scenarios(tmp_path / "deal.json", stock_count=30))

    assert (ended.status, ended.err) == (1, "")
    failure, count = ended.out.splitlines()
    assert failure.startswith("X1 A deal: ")
    assert "30" in failure
    assert "29" in failure
    assert count == f"{OF_THAI} passed, 1 failed"


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"{", "line 1, column 2: not JSON"),
        (b"\xff", "byte 0"),
        (b"[]", "an object"),
        (b'{"format": 2, "game": "thai", "scenarios": []}', "format"),
        (b'{"format": 1, "game": "chess", "scenarios": []}', "game"),
        (b'{"format": 1, "game": "thai", "scenarios": [{"id": "X1"}]}', "scenarios[0]"),
    ],
)
def test_a_scenario_file_that_cannot_be_read(content: bytes, place: str, tmp_path: Path, command: Command) -> None:
    (tmp_path / "mine.json").write_bytes(content)

    ended = command("scenario", str(THAI), "mine.json")

    assert (ended.status, ended.out) == (2, "")  # none is run
    assert ended.err.startswith("rummyarena: mine.json: ")
    assert place in ended.err
    assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "name at least one scenario file"),
        (["missing.json"], "missing.json: cannot be read: no such file or directory"),
        (["."], ".: cannot be read: is a directory"),
    ],
)
def test_no_scenario_file(words: list[str], sentence: str, command: Command) -> None:
    assert command("scenario", *words) == Ended(2, "", f"rummyarena: {sentence}\n")


# --- tournament files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "line", "sentence"),
    [
        ({"cycles": 0}, 5, "cycles = 0: allowed is a whole number from 1 to 1000000"),
        ({"clock": "of"}, 3, 'clock = "of": allowed is "on" or "off"'),
        ({"cycle": 2}, 5, "there is no key cycle: did you mean cycles?"),
        ({"ruleset": "tai"}, 5, 'ruleset = "tai": did you mean thai?'),
        ({"name": None}, 0, "name is missing: a text of 1 to 64 characters"),
    ],
)
def test_a_mistake_in_a_tournament_file(
    changes: dict[str, Any], line: int, sentence: str, tmp_path: Path, command: Command
) -> None:
    write_tournament(tmp_path, {"one": ["true"], "other": ["true"]}, **changes)

    ended = command("tournament", "run", "tournament.toml")

    place = f"line {line}: " if line else ""
    assert ended == Ended(2, "", f"rummyarena: tournament.toml: {place}{sentence}\n")
    assert not (tmp_path / DATABASE).exists()


def test_all_mistakes_are_told_at_once(tmp_path: Path, command: Command) -> None:
    write_tournament(tmp_path, {"one": []}, cycles=0)
    ended = command("tournament", "run", "tournament.toml")
    assert ended.status == 2
    assert [line.rpartition("toml: ")[2].split(":")[0] for line in ended.err.splitlines()] == ["line 5", "line 10"]


def test_a_file_that_is_not_toml(tmp_path: Path, command: Command) -> None:
    (tmp_path / "tournament.toml").write_text("name = Friday")
    ended = command("tournament", "run", "tournament.toml")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("rummyarena: tournament.toml: this is not TOML: ")
    assert "line 1, column 8" in ended.err


def test_a_changed_tournament_is_refused_with_the_differences(
    friday: tuple[Path, Ended], tmp_path: Path, command: Command
) -> None:
    folder, _ = friday
    shutil.copy(folder / DATABASE, tmp_path)
    file = write_samples(tmp_path, secret="00" * 32, decision_seconds=1)
    file.write_text(file.read_text().replace('"also random"', '"random too"'))

    ended = command("tournament", "run", "tournament.toml")

    assert ended.status == 1
    assert ended.err.splitlines() == [
        "rummyarena: the tournament 'Friday' was begun with other settings:",
        '  bots[2].name: it was "also random", now it is "random too"',
        "  decision_seconds: it was 5.0, now it is 1.0",
        "  secret: it is not the same",
        "Undo the change to go on with it, or give the file another name to begin a new tournament.",
    ]
    assert not (tmp_path / "processes").exists()


# --- databases -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "database", ["arena.db", "sqlite:///arena.db", "{folder}/arena.db", "sqlite:///{folder}/arena.db"]
)
def test_a_database_is_named_by_a_path_or_a_url(database: str, tmp_path: Path, command: Command) -> None:
    ended = command("standings", "--db", database.format(folder=tmp_path))

    assert (ended.status, ended.err, last_line(ended.out)) == (0, "", "No rated game has been played yet.")
    assert (tmp_path / "arena.db").is_file()


@pytest.mark.parametrize(
    ("database", "sentence"),
    [
        ("missing/arena.db", "there is no folder missing; make it or name another file"),
        (".", "this is a folder; name a file in it"),
        ("text.db", "it is not a database; name another file"),
        ("theirs.db", "it belongs to another program; name another file"),
        ("mysql://host/arena", "mysql is not supported; write sqlite:/// and the path of a file"),
        (":memory:", "a database in memory would forget all results; write sqlite:/// and the path of a file"),
        ("sqlite://", "a database in memory would forget all results; write sqlite:/// and the path of a file"),
    ],
)
@pytest.mark.parametrize("words", [["standings"], ["demo"]])
def test_a_database_that_cannot_be_used(
    words: list[str], database: str, sentence: str, tmp_path: Path, command: Command
) -> None:
    (tmp_path / "text.db").write_text("This is a text of more than a few bytes, and no database. " * 20)
    with closing(sqlite3.connect(tmp_path / "theirs.db")) as theirs:
        theirs.execute("CREATE TABLE invoice (number)")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    ended = command(*words, "--db", database)

    assert ended.status == 1
    assert ended.err.startswith("rummyarena: ")
    assert sentence in ended.err
    assert len(ended.err.splitlines()) == 1
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_no_place_for_what_the_bots_print(tmp_path: Path, command: Command) -> None:
    (tmp_path / LOGS).touch()

    ended = command("demo")

    assert ended.status == 1
    assert ended.err == (
        f"rummyarena: {tmp_path / LOGS}, the folder for what the bots print, cannot be made: file exists; "
        "remove what is in its place or run this from another folder\n"
    )
