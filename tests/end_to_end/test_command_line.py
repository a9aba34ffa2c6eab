"""What the command line says to whoever uses it wrongly: what is wrong, where, and what to do; never a traceback.

A process takes a second to start, so most commands run in this one; a few run as processes to show that it is the same.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from rummyarena import __version__
from rummyarena_server.cli.main import main
from rummyarena_server.store.store import open_store
from tests.end_to_end.arena import (
    DATABASE,
    ROOT,
    WHOLE_RUN,
    Ended,
    arena,
    bots_left,
    end_of,
    games,
    play,
    started,
    write_bot,
    write_sample,
    write_samples,
    write_tournament,
)
from tests.end_to_end.waiting import in_the_middle, waiting_bot

THAI = ROOT / "tests" / "rules" / "scenarios" / "thai.json"
OF_THAI = len(json.loads(THAI.read_text())["scenarios"])
LOGS = "rummyarena-logs"
NOTHING_THERE = "nothing has been played there yet; name the file that was played with"
INTERRUPTED = "Interrupted. What was recorded is kept; run the same command again to go on."
FINISHING = "Finishing the games that have begun; Ctrl-C again stops now."

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
        (
            ["standings"],
            1,
            "Database: sqlite:///rummyarena.db\n",
            f"rummyarena: database rummyarena.db: {NOTHING_THERE}\n",
        ),
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


# --- outputs ---------------------------------------------------------------------------------------------------------


def output_of(folder: Path, *words: str, into: str, **environment: str) -> Ended:
    """Runs a command whose output a shell sends somewhere; the rest of the pipe says nothing itself."""
    line = f'"$0" -m rummyarena_server "$@" {into}'
    done = subprocess.run(
        ["/usr/bin/env", "bash", "-o", "pipefail", "-c", line, sys.executable, *words],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=WHOLE_RUN,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def test_an_output_that_lacks_characters_gets_escapes(tmp_path: Path) -> None:
    ended = output_of(tmp_path, "rules", "thai", into="", PYTHONIOENCODING="ascii")
    assert (ended.status, ended.err) == (0, "")
    assert r"\u0e40\u0e01\u0e34\u0e14 (born): has taken from the row in this deal" in ended.out


@pytest.mark.parametrize(
    ("words", "into", "why"),
    [
        (["--help"], ">/dev/full", "no space left on device"),
        (["demo"], ">/dev/full", "no space left on device"),
        (["rules", "thai"], ">&-", "standard output is closed"),
    ],
)
def test_an_output_that_cannot_be_written_is_told_once(words: list[str], into: str, why: str, tmp_path: Path) -> None:
    ended = output_of(tmp_path, *words, into=into)
    assert ended == Ended(1, "", f"rummyarena: the output cannot be written: {why}\n")
    assert list(tmp_path.iterdir()) == []


def test_who_has_read_enough_hears_no_complaint(tmp_path: Path) -> None:
    assert output_of(tmp_path, "rules", "thai", into="| true") == Ended(1, "", "")


def test_errors_that_cannot_be_told_do_not_hide_the_status(tmp_path: Path) -> None:
    assert output_of(tmp_path, "rules", "chess", into="2>/dev/full").status == 2


def test_a_tournament_goes_on_if_nobody_watches_any_more(tmp_path: Path) -> None:
    write_samples(tmp_path)

    ended = output_of(tmp_path, "tournament", "run", "tournament.toml", into="| head -n 4 >/dev/null")

    assert (ended.status, ended.err) == (1, "")
    assert len(games(tmp_path)) == 12


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
        (["de\x1b[31mmo"], r"de\x1b[31mmo", ""),
        (["tournament", "run", "a.toml", "\u202eb"], r"\u202eb", " tournament run"),
    ],
)
def test_a_command_that_is_not_understood(words: list[str], what: str, see: str, command: Command) -> None:
    ended = command(*words)

    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("rummyarena: ")
    assert what in ended.err
    assert ended.err.endswith(f"; see rummyarena{see} --help\n")
    assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize("name", ["x" * 300, "\U0001f0a1" * 64])
@pytest.mark.parametrize("words", [["verify"], ["replay"]])
def test_what_is_too_long_for_a_file_is_no_file(words: list[str], name: str, tmp_path: Path, command: Command) -> None:
    open_store(DATABASE).close()

    ended = command(*words, name)

    assert (ended.status, ended.out) == (2, "")
    assert name in ended.err
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


@pytest.mark.parametrize("words", [["scenario"], ["tournament", "run"], ["standings", "--db"], ["rules"]])
def test_what_would_upset_a_terminal_is_made_visible(words: list[str], command: Command) -> None:
    ended = command(*words, "a/\x1b[31m\u202eb\r")
    assert ended.status != 0
    assert "x1b[31m" in ended.err
    assert ended.err.removesuffix("\n").isprintable()


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


BAD_COMMANDS = [
    (["greedo", "--fast"], 'there is no program "greedo" in PATH; install it or write its full path'),
    (["text"], 'there is no program "text" in PATH; write "./text" for the file in {folder}'),
    (["./greedy"], "there is no file {folder}/greedy; build it or correct the path"),
    (["./text/greedy"], "there is no file {folder}/text/greedy; build it or correct the path"),
    (["./" + "x" * 300], "there is no file {folder}/" + "x" * 300 + "; build it or correct the path"),
    (["x" * 300], f'there is no program "{"x" * 300}" in PATH; install it or write its full path'),
    (["./text"], "{folder}/text is not executable; allow it (chmod +x) or start it with its interpreter"),
    ([".."], 'there is no program ".." in PATH; write "./.." for the file in {folder}'),
    (["../"], "{folder}/.. is a directory; name a program in it"),
    (
        ["./script"],
        "the interpreter that {folder}/script names in its first line does not exist; install it or correct the line",
    ),
    (["python", "greedy.py"], "there is no file {folder}/greedy.py; correct the path"),
    (
        ["python3", "-u", "bots/greedy.py", "--to", "out.py"],
        "there is no file {folder}/bots/greedy.py; correct the path",
    ),
]


@pytest.mark.parametrize(("words", "why"), BAD_COMMANDS, ids=[words[0][:20] for words, _ in BAD_COMMANDS])
def test_bots_that_cannot_be_started_are_told_before_the_first_game(
    words: list[str], why: str, tmp_path: Path, command: Command
) -> None:
    (tmp_path / "text").write_text("no program")
    (tmp_path / "script").write_text("#!/nowhere/ruby\n")
    (tmp_path / "script").chmod(0o755)
    file = write_tournament(tmp_path, {"one": words, "good": ["python", "-c", "pass", "none.py"], "two": words})

    ended = command("tournament", "run", "tournament.toml")

    told = [f'{file}: bots[{number}] "{name}" cannot be started: ' for number, name in ((0, "one"), (2, "two"))]
    assert ended.status == 2
    assert ended.err == "rummyarena: " + "".join(f"{one}{why.format(folder=tmp_path)}\n" for one in told)
    assert not (tmp_path / DATABASE).exists()


def test_the_table_of_a_tournament_that_is_over_needs_no_bots(
    friday: tuple[Path, Ended], tmp_path: Path, command: Command
) -> None:
    folder, before = friday
    shutil.copy(folder / DATABASE, tmp_path)
    write_samples(tmp_path)
    for bot in tmp_path.glob("*.py"):
        bot.unlink()

    ended = command("tournament", "run", "tournament.toml")

    assert (ended.status, ended.err, ended.table) == (0, "", before.table)


def test_a_version_is_shown_beside_the_name(tmp_path: Path) -> None:
    bots = {"first": write_sample(tmp_path, "first_candidate"), "random": write_sample(tmp_path, "random_legal")}
    file = write_tournament(tmp_path, bots)
    file.write_text(file.read_text().replace('name = "random"', 'name = "random"\nversion = "2.1"'))

    table = arena(tmp_path, "tournament", "run", "tournament.toml").table

    assert sorted(re.split(r"\s{2,}", line)[1] for line in table[1:]) == ["first", "random 2.1"]


def test_who_forfeits_everything_is_named_after_the_table(tmp_path: Path) -> None:
    broken = write_bot(tmp_path, "broken", "raise RuntimeError('no book of openings')")
    write_tournament(tmp_path, {"broken": broken, "good": write_sample(tmp_path, "random_legal")})

    ended = arena(tmp_path, "tournament", "run", "tournament.toml")

    assert ended.status == 0
    assert last_line(ended.err) == f"broken has forfeited all its games; what it printed is in {LOGS}/"


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
        (
            "Undo the change to go on with it, or begin a new tournament: give the file another name, or add --fork, "
            "which keeps the old one aside."
        ),
    ]
    assert not (tmp_path / "processes").exists()


# --- databases -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "database", ["arena.db", "sqlite:///arena.db", "{folder}/arena.db", "sqlite:///{folder}/arena.db"]
)
def test_a_database_is_named_by_a_path_or_a_url(
    database: str, friday: tuple[Path, Ended], tmp_path: Path, command: Command
) -> None:
    folder, _ = friday
    shutil.copy(folder / DATABASE, tmp_path / "arena.db")

    ended = command("standings", "--db", database.format(folder=tmp_path))

    assert (ended.status, ended.err) == (0, "")
    assert sorted(line.split()[1] for line in ended.out.splitlines()[3:]) == ["also", "first", "random"]


def test_looking_at_a_database_that_is_not_there_does_not_make_it(tmp_path: Path, command: Command) -> None:
    ended = command("standings", "--db", "arena.db")
    assert (ended.status, ended.err) == (1, f"rummyarena: database arena.db: {NOTHING_THERE}\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["standings"], ["demo"]])
@pytest.mark.parametrize(
    ("database", "sentence"),
    [
        ("", "--db '' names no database"),
        (" ", "--db ' ' names no database"),
        (":", "--db ':' names no database"),
        ("sqlite:", "--db sqlite:: the slashes of the URL are missing"),
        ("sqlite:arena.db", "--db sqlite:arena.db: the slashes of the URL are missing"),
        ("sqlite:/arena.db", "--db sqlite:/arena.db: the slashes of the URL are missing"),
    ],
)
def test_a_text_that_names_no_database(
    words: list[str], database: str, sentence: str, tmp_path: Path, command: Command
) -> None:
    ended = command(*words, "--db", database)
    assert ended == Ended(2, "", f"rummyarena: {sentence}; write the path of a file, or sqlite:/// and the path\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["standings"], ["demo"]])
@pytest.mark.parametrize("password", ["pass", "p@ss:w", "p/ss"])
def test_a_password_is_not_shown(words: list[str], password: str, command: Command) -> None:
    ended = command(*words, "--db", f"postgresql://me:{password}@host/arena")
    assert ended.status == 1
    assert ended.out.startswith("Database: postgresql://me:***@host/arena")
    assert password not in ended.err


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


# --- signals ---------------------------------------------------------------------------------------------------------


@contextmanager
def waiting(folder: Path, **changes: Any) -> Iterator[subprocess.Popen[str]]:
    """Runs a tournament, game by game, until a bot holds up the third of its 8 games."""
    waits = write_bot(folder, "waits", waiting_bot(2))
    bots = {"first": write_sample(folder, "first_candidate"), "waits": waits}
    write_tournament(folder, bots, cycles=4, concurrency=1, **changes)
    with in_the_middle(folder) as server:
        yield server


def line_of(server: subprocess.Popen[str]) -> str:
    """The next line of the error output."""
    assert server.stderr is not None
    return server.stderr.readline().removesuffix("\n")


def test_a_sigterm_finishes_the_games_that_have_begun_and_shows_the_table_so_far(tmp_path: Path) -> None:
    with waiting(tmp_path) as server:
        server.send_signal(signal.SIGTERM)
        assert line_of(server) == FINISHING
        (tmp_path / "go").touch()
        ended = end_of(server)

    assert (ended.status, ended.err) == (143, f"{INTERRUPTED}\n")
    assert len(games(tmp_path)) == 3  # the one that was waited for is recorded
    assert "The table so far is provisional; it counts complete deal groups only." in ended.out.splitlines()
    assert [line.split()[3] for line in ended.table[1:]] == ["2", "2"]
    assert bots_left(tmp_path) == []

    rest = play(tmp_path)
    assert [line.split()[3] for line in rest.table[1:]] == ["8", "8"]


@pytest.mark.parametrize(
    ("first", "second", "status"), [(signal.SIGINT, signal.SIGINT, 130), (signal.SIGINT, signal.SIGTERM, 143)]
)
def test_a_second_signal_stops_at_once(
    first: signal.Signals, second: signal.Signals, status: int, tmp_path: Path
) -> None:
    with waiting(tmp_path) as server:
        server.send_signal(first)
        assert line_of(server) == FINISHING
        server.send_signal(second)
        ended = end_of(server)

    assert (ended.status, ended.err) == (status, f"{INTERRUPTED}\n")
    assert len(games(tmp_path)) == 2
    assert bots_left(tmp_path) == []


def test_many_signals_are_as_good_as_two(tmp_path: Path) -> None:
    with waiting(tmp_path) as server:
        while server.poll() is None:
            server.send_signal(signal.SIGINT)
            time.sleep(0.005)
        ended = end_of(server)

    assert ended.status == 130
    assert ended.err.splitlines()[0] == FINISHING
    assert "Traceback" not in ended.err
    assert bots_left(tmp_path) == []


def test_the_standings_tell_of_a_tournament_that_is_not_finished(tmp_path: Path, command: Command) -> None:
    with waiting(tmp_path) as server:
        server.kill()

    ended = command("standings")

    assert (ended.status, ended.out.splitlines()[1:]) == (
        0,
        [
            "No tournament with rated games has been finished yet.",
            "Friday is unfinished and not rated yet: 2 of 8 games are recorded; run it again to go on.",
        ],
    )


def test_the_standings_do_not_wait_for_what_counts_for_no_elo(tmp_path: Path, command: Command) -> None:
    with waiting(tmp_path, rated=False) as server:
        server.kill()

    ended = command("standings")

    assert (ended.status, ended.out.splitlines()[1:]) == (0, ["No tournament with rated games has been finished yet."])


def test_ctrl_c_is_answered_where_no_games_are_played(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "endless.json")
    with started(tmp_path, "scenario", "endless.json") as command, (tmp_path / "endless.json").open("w"):
        command.send_signal(signal.SIGINT)
        ended = end_of(command)

    assert (ended.status, ended.out, ended.err) == (130, "", "Interrupted.\n")


# Ctrl-C comes while a module is looked for.
INTERRUPTED_IMPORT = """
import signal, sys

class Interrupting:
    def find_spec(self, name, path, target=None):
        if name == sys.argv[1]:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
from rummyarena_server.__main__ import main
main()
"""


@pytest.mark.parametrize("module", ["rummyarena_server.cli.main", "trio", "grpc", "rummyarena_server.store.models"])
def test_an_early_ctrl_c_leaves_no_traceback(module: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_IMPORT, module],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=WHOLE_RUN,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Interrupted.\n")
