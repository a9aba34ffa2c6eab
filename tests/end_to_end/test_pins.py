"""A tournament goes on only with the bots with which it began, or is begun anew while the old one is kept."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from sqlalchemy.orm import Session

from rummyarena_server.store.database import open_engine
from rummyarena_server.store.history import all_tournaments, recorded_counts
from tests.end_to_end.arena import (
    DATABASE,
    Ended,
    arena,
    bots_started,
    end_of,
    eventually,
    games,
    play,
    started,
    write_bot,
    write_sample,
    write_tournament,
)
from tests.end_to_end.test_single_games import place
from tests.end_to_end.waiting import RUN, in_the_middle, waiting_bot

ADVICE: Final = (
    "Undo the change to go on with it, or begin a new tournament: give the file another name, or add --fork, which "
    "keeps the old one aside."
)
ASIDE: Final = re.compile(r"Friday \(set aside \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\)")
# It plays by the hints of a module beside it.
HINTED: Final = waiting_bot(2, "choose(decision)", imports="from hints import choose")

# It is started elsewhere, with a version of its own.
FAR: Final = waiting_bot(2, settings=", bot_version=sys.argv[1]")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a tournament of two bots, six games, one of whose bots waits in the middle."""
    bots = {"waits": write_bot(tmp_path, "waits", HINTED), "first": write_sample(tmp_path, "first_candidate")}
    (tmp_path / "hints.py").write_text("def choose(decision):\n    return decision.candidates[0]\n")
    file = write_tournament(tmp_path, bots, cycles=3, concurrency=1)
    file.write_text(file.read_text().replace('"waits.py"]', '"waits.py"]\nfiles = ["hint*.py", "**/*.hints"]'))
    (tmp_path / "opening").mkdir()
    (tmp_path / "opening" / "book.hints").write_text("draw")
    return tmp_path


def write_other_hints(folder: Path) -> None:
    (folder / "hints.py").write_text("def choose(decision):\n    return decision.candidates[-1]\n")


def broken_off(folder: Path, *words: str) -> Ended:
    """Runs the tournament and stops it in the middle."""
    with in_the_middle(folder, *words) as server:
        server.send_signal(signal.SIGINT)
        assert server.stderr is not None
        assert "Ctrl-C again stops now" in server.stderr.readline()
        server.send_signal(signal.SIGINT)
        ended = end_of(server)
    assert ended.status == 130
    (folder / "waiting").unlink()
    return ended


def tournaments(folder: Path) -> Mapping[str, tuple[str, int]]:
    """Whether each tournament is finished, and how many of its games are recorded, by the names but for the time."""
    engine = open_engine(folder / DATABASE)
    with Session(engine) as session:
        recorded = recorded_counts(session)
        found = {re.sub(ASIDE, "aside", one.name): (one.status, recorded[one.id]) for one in all_tournaments(session)}
    engine.dispose()
    return found


# --- bots that are started here --------------------------------------------------------------------------------------


def test_with_a_changed_bot_a_tournament_goes_on_only_once_that_is_undone(folder: Path) -> None:
    broken_off(folder)
    recorded, processes = games(folder), bots_started(folder)
    assert len(recorded) == 2
    before = (folder / "hints.py").read_text()

    write_other_hints(folder)
    (folder / "hint_of_the_day.py").touch()
    (folder / "opening" / "book.hints").unlink()
    (folder / "opening" / "other.hints").touch()
    (folder / "first_candidate.py").write_text(HINTED)
    refused = arena(folder, *RUN)

    assert refused.status == 1
    assert refused.err.splitlines() == [
        "rummyarena: the tournament 'Friday' was begun with other settings:",
        '  bots[0] "waits": hint_of_the_day.py is new',
        '  bots[0] "waits": hints.py has changed',
        '  bots[0] "waits": opening/book.hints is gone',
        '  bots[0] "waits": opening/other.hints is new',
        '  bots[1] "first": first_candidate.py has changed',
        ADVICE,
    ]
    assert bots_started(folder) == processes

    (folder / "hints.py").write_text(before)
    (folder / "hint_of_the_day.py").unlink()
    (folder / "opening" / "other.hints").unlink()
    (folder / "opening" / "book.hints").write_text("draw")
    write_sample(folder, "first_candidate")
    (folder / "go").touch()
    play(folder)

    assert len(games(folder)) == 6
    assert games(folder)[:2] == recorded


def test_files_that_cannot_be_pinned_are_told_before_the_first_game_and_not_missed_after_the_last(folder: Path) -> None:
    hints = (folder / "hints.py").read_text()
    (folder / "hints.py").unlink()
    refused = arena(folder, *RUN)
    assert refused.status == 2
    assert refused.err == (
        f'rummyarena: {folder}/tournament.toml: bots[0] "waits" cannot be pinned: no file in {folder} matches '
        '"hint*.py"; correct the pattern in its files\n'
    )
    assert not (folder / DATABASE).exists()

    (folder / "hints.py").write_text(hints)
    (folder / "go").touch()
    before = play(folder)
    (folder / "hints.py").unlink()
    assert arena(folder, *RUN).table == before.table


# --- begun anew ------------------------------------------------------------------------------------------------------


def test_with_fork_a_changed_tournament_is_begun_anew_and_the_old_one_is_kept(folder: Path) -> None:
    broken_off(folder)
    write_other_hints(folder)

    forked = broken_off(folder, *RUN, "--fork")

    assert re.search(
        f"The tournament of this name differs and is kept as {ASIDE.pattern}; a new one begins.", forked.out
    )
    assert tournaments(folder) == {"aside": ("running", 2), "Friday": ("running", 2)}
    # and the same command goes on with the new one
    (folder / "go").touch()
    again = arena(folder, *RUN, "--fork")
    assert again.status == 0, again
    assert "Nothing differs from the tournament of this name, which is therefore not set aside." in again.out
    assert tournaments(folder) == {"aside": ("running", 2), "Friday": ("finished", 6)}


def test_a_finished_tournament_is_set_aside_too_and_still_counts(folder: Path) -> None:
    (folder / "go").touch()
    first = arena(folder, *RUN, "--fork")
    assert (first.status, first.err) == (0, "")
    assert "differs" not in first.out  # there was nothing to set aside
    write_other_hints(folder)

    second = arena(folder, *RUN, "--fork")

    assert second.status == 0, second
    assert tournaments(folder) == {"aside": ("finished", 6), "Friday": ("finished", 6)}
    ratings = json.loads(arena(folder, "standings", "--json").out)
    assert {one["bot"]: one["games"] for one in ratings} == {"waits": 12, "first": 12}


def test_a_tournament_that_is_being_played_is_not_set_aside(folder: Path) -> None:
    with in_the_middle(folder) as server:
        write_other_hints(folder)
        refused = arena(folder, *RUN, "--fork")
        assert refused.status == 1
        assert f"the tournament 'Friday' is being played by process {server.pid} already" in refused.err
        assert tournaments(folder) == {"Friday": ("running", 2)}
        (folder / "go").touch()
        assert end_of(server).status == 0
    assert len(games(folder)) == 6


# --- bots that are started elsewhere ---------------------------------------------------------------------------------


@contextmanager
def far(folder: Path, environment: Mapping[str, str], version: str) -> Iterator[subprocess.Popen[str]]:
    """Starts a copy of the bot that is started elsewhere."""
    words = [sys.executable, "far.py", version]
    process = subprocess.Popen(
        words,
        cwd=folder,
        env={**os.environ, **environment},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def test_a_bot_that_is_started_elsewhere_is_held_to_the_version_of_its_first_game(tmp_path: Path) -> None:
    (tmp_path / "far.py").write_text(FAR)
    file = write_tournament(tmp_path, {"far": ["x"], "first": write_sample(tmp_path, "first_candidate")}, cycles=3)
    file.write_text(file.read_text().replace('command = ["x"]', "connected = true"))
    serve = ("serve", "tournament.toml", "--address", "127.0.0.1:0")

    # given: a tournament in which version 1.0 has played
    with started(tmp_path, *serve) as server:
        assert server.stdout is not None
        with far(tmp_path, place(server.stdout), "1.0"):
            eventually(lambda: (tmp_path / "waiting").exists())
            server.kill()
            end_of(server)
    (tmp_path / "go").touch()

    # when: another version comes, and then the right one
    with started(tmp_path, *serve) as server:
        assert server.stdout is not None
        environment = place(server.stdout)
        with far(tmp_path, environment, "2.0") as other:
            _, complaint = other.communicate(timeout=60)
            assert other.returncode == 2
        with far(tmp_path, environment, "1.0") as right:
            ended = end_of(server)
            assert right.wait(60) == 0

    # then: the one is told why it may not play, the run says so, and the other plays
    assert (
        'this bot plays this tournament as version "1.0", and this copy is version "2.0"; start the copy that is '
        'version "1.0"'
    ) in complaint
    assert (
        'far has come as version "2.0" and is not let in: version "1.0", which has played here, is waited for'
    ) in ended.err
    assert ended.status == 0
    assert {re.split(r"\s{2,}", line)[1] for line in ended.table[1:]} == {"far 1.0", "first"}
    played = games(tmp_path)
    assert len(played) == 6
    assert {bot.version for game in played if game.record for bot in game.record.setup.bots} == {"1.0", ""}
