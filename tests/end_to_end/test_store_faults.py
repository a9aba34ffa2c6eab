"""A database that cannot be written for a while: it is said why, nothing is lost, and the tournament goes on."""

from __future__ import annotations

import resource
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.end_to_end.arena import DATABASE, Ended, arena, bots_left, end_of, games, started
from tests.end_to_end.test_interruption import assert_goes_on_to
from tests.end_to_end.waiting import in_the_middle, write_waiting

Trouble: TypeAlias = Callable[[Path, "subprocess.Popen[str]"], AbstractContextManager[None]]

WAITS = "Friday waits, and nothing is lost: database rummyarena.db: "
ONLY_READ = "it can only be read; make the file, those beside it that end in -wal and -shm, and its folder writable"
GOES_ON = "Friday goes on: its results can be kept again"

# The command line without the rights by which root writes what is protected; who has none of them loses none.
AS_ANYBODY = """
import ctypes, os, sys
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1
ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-m", "rummyarena_server", *sys.argv[1:]])
"""


def line_of(server: subprocess.Popen[str]) -> str:
    """The next line of the error output."""
    assert server.stderr is not None
    return server.stderr.readline().removesuffix("\n")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Has this process keep the database from being written."""
    with closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        yield
        database.execute("ROLLBACK")


@contextmanager
def without_room(server: subprocess.Popen[str]) -> Iterator[None]:
    """Lets the server write nothing more into any file, as where a quota is used up."""
    before = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (1, before[1]))
    yield
    if server.poll() is None:
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, before)


def by_anybody(folder: Path, *words: str) -> AbstractContextManager[subprocess.Popen[str]]:
    """Runs a command with the rights of any user."""
    return started(folder, *words, program=("-c", AS_ANYBODY))


def interrupt_in_the_middle(folder: Path) -> None:
    """Plays a part of the tournament `friday`."""
    write_waiting(folder, concurrency=1)
    with in_the_middle(folder) as server:
        server.send_signal(signal.SIGINT)
        line_of(server)
        server.send_signal(signal.SIGINT)
        assert end_of(server).status == 130


def assert_ends_as(friday: tuple[Path, Ended], folder: Path, ended: Ended) -> None:
    """Every game was played and recorded once, as in the tournament that had no trouble."""
    untroubled, before = friday
    assert (ended.status, ended.table) == (0, before.table)
    assert [game.game_text for game in games(folder)] == [game.game_text for game in games(untroubled)]
    assert bots_left(folder) == []


# --- while games are played ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (lambda folder, _server: locked(folder), "another program keeps it locked; close that program"),
        (lambda _folder, server: without_room(server), "the disk could not be read or written; see whether a quota"),
    ],
)
def test_while_the_database_cannot_be_written_the_tournament_waits_and_then_goes_on(
    trouble: Trouble, reason: str, friday: tuple[Path, Ended], tmp_path: Path
) -> None:
    write_waiting(tmp_path, concurrency=1)
    with in_the_middle(tmp_path) as server:
        recorded = games(tmp_path)
        with trouble(tmp_path, server):
            (tmp_path / "go").touch()
            assert line_of(server).startswith(f"{WAITS}{reason}")
            assert games(tmp_path) == recorded
        assert line_of(server) == GOES_ON
        ended = end_of(server)

    assert ended.err == ""
    assert_ends_as(friday, tmp_path, ended)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_tournament_that_waits_for_its_database_can_be_stopped_and_played_later(
    number: signal.Signals, friday: tuple[Path, Ended], tmp_path: Path
) -> None:
    write_waiting(tmp_path, concurrency=1)
    with in_the_middle(tmp_path) as server:
        recorded = games(tmp_path)
        with without_room(server):
            (tmp_path / "go").touch()
            assert line_of(server).startswith(WAITS)
            server.send_signal(number)
            assert "Ctrl-C again stops now" in line_of(server)
            server.send_signal(number)
            ended = end_of(server)

    assert (ended.status, "Traceback" in ended.err) == (128 + number, False)
    assert games(tmp_path) == recorded
    assert_goes_on_to(friday, tmp_path)


# --- before the first ------------------------------------------------------------------------------------------------


def test_a_database_that_is_locked_from_the_beginning_is_named_and_nothing_is_lost(
    friday: tuple[Path, Ended], tmp_path: Path
) -> None:
    interrupt_in_the_middle(tmp_path)

    with locked(tmp_path):
        ended = arena(tmp_path, "tournament", "run", "tournament.toml")

    assert ended.status == 1
    assert ended.err.startswith("rummyarena: database rummyarena.db: another program keeps it locked; close that")
    assert len(ended.err.splitlines()) == 1
    assert_goes_on_to(friday, tmp_path)


def test_a_file_that_can_only_be_read_is_named_and_once_it_is_writable_the_tournament_goes_on(
    friday: tuple[Path, Ended], tmp_path: Path
) -> None:
    interrupt_in_the_middle(tmp_path)

    (tmp_path / DATABASE).chmod(0o444)
    with by_anybody(tmp_path, "tournament", "run", "tournament.toml") as process:
        ended = end_of(process)

    assert_only_read(ended)
    for path in tmp_path.glob(f"{DATABASE}*"):
        path.chmod(0o644)
    assert_goes_on_to(friday, tmp_path)


def test_a_file_that_can_only_be_read_shows_what_is_in_it(tmp_path: Path) -> None:
    interrupt_in_the_middle(tmp_path)

    (tmp_path / DATABASE).chmod(0o444)
    with by_anybody(tmp_path, "tournament", "show", "Friday") as process:
        ended = end_of(process)

    assert (ended.status, ended.err) == (0, "")
    assert "The table is provisional; it counts complete deal groups only." in ended.out.splitlines()


def test_in_a_folder_that_can_only_be_read_nothing_is_played_or_shown_and_nothing_lost(
    friday: tuple[Path, Ended], tmp_path: Path
) -> None:
    interrupt_in_the_middle(tmp_path)

    tmp_path.chmod(0o555)
    for words in (("run", "tournament.toml"), ("show", "Friday")):
        with by_anybody(tmp_path, "tournament", *words) as process:
            assert_only_read(end_of(process))
    tmp_path.chmod(0o755)

    assert_goes_on_to(friday, tmp_path)


def assert_only_read(ended: Ended) -> None:
    """It was refused in one line that says what is to be done."""
    assert ended.status == 1
    assert ended.err.startswith(f"rummyarena: database rummyarena.db: {ONLY_READ}")
    assert len(ended.err.splitlines()) == 1
