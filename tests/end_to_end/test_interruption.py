"""A tournament that was broken off goes on where it was, and ends as if nothing had happened."""

from __future__ import annotations

import random
import re
import signal
from pathlib import Path

import pytest

from tests.end_to_end.arena import (
    Ended,
    arena,
    bots_left,
    bots_started,
    end_of,
    eventually,
    games,
    play,
)
from tests.end_to_end.torture import Ordeal, torture
from tests.end_to_end.waiting import in_the_middle, write_waiting


def assert_goes_on_to(friday: tuple[Path, Ended], folder: Path) -> None:
    """The rest is played, what was recorded is left alone, and all is as in the tournament that had no break."""
    recorded = games(folder)
    assert 3 <= len(recorded) < 12

    (folder / "go").touch()
    ended = play(folder)

    uninterrupted, before = friday
    assert ended.table == before.table
    assert [game.game_text for game in games(folder)] == [game.game_text for game in games(uninterrupted)]
    assert [game for game in games(folder) if game.index in {one.index for one in recorded}] == recorded


def test_after_ctrl_c_the_games_that_have_begun_are_finished_and_the_rest_is_played_later(
    friday: tuple[Path, Ended], tmp_path: Path
) -> None:
    write_waiting(tmp_path, concurrency=1)
    with in_the_middle(tmp_path) as server:
        begun = len(games(tmp_path)) + 1
        server.send_signal(signal.SIGINT)
        assert server.stderr is not None
        assert "Ctrl-C again stops now" in server.stderr.readline()
        (tmp_path / "go").touch()
        ended = end_of(server)

    assert ended.status == 130
    assert "run the same command again to go on" in ended.err
    assert len(games(tmp_path)) == begun
    assert bots_left(tmp_path) == []
    assert_goes_on_to(friday, tmp_path)


def test_after_a_second_ctrl_c_nothing_is_finished_and_the_rest_is_played_later(
    friday: tuple[Path, Ended], tmp_path: Path
) -> None:
    write_waiting(tmp_path, concurrency=1)
    with in_the_middle(tmp_path) as server:
        finished = len(games(tmp_path))
        server.send_signal(signal.SIGINT)
        assert server.stderr is not None
        assert "Ctrl-C again stops now" in server.stderr.readline()
        server.send_signal(signal.SIGINT)
        ended = end_of(server)

    assert ended.status == 130
    assert len(games(tmp_path)) == finished
    assert bots_left(tmp_path) == []
    assert_goes_on_to(friday, tmp_path)


def test_after_a_kill_no_bot_lives_on_and_the_rest_is_played_later(friday: tuple[Path, Ended], tmp_path: Path) -> None:
    write_waiting(tmp_path)

    with in_the_middle(tmp_path) as server:
        server.kill()
        ended = end_of(server)

    assert ended.status == -signal.SIGKILL
    eventually(lambda: bots_left(tmp_path) == [])
    assert_goes_on_to(friday, tmp_path)


def test_a_second_run_is_refused_at_once_and_the_first_not_disturbed(
    friday: tuple[Path, Ended], tmp_path: Path
) -> None:
    write_waiting(tmp_path)
    with in_the_middle(tmp_path) as first:
        bots = bots_started(tmp_path)

        second = arena(tmp_path, "tournament", "run", "tournament.toml")

        assert second.status == 1
        assert re.fullmatch(
            f"rummyarena: the tournament 'Friday' is being played by process {first.pid} already; .*\n", second.err
        )
        assert bots_started(tmp_path) == bots
        (tmp_path / "go").touch()
        ended = end_of(first)
    uninterrupted, before = friday
    assert (ended.status, ended.err, ended.table) == (0, "", before.table)
    assert [game.game_text for game in games(tmp_path)] == [game.game_text for game in games(uninterrupted)]


@pytest.mark.parametrize("deals", ["shared", "own"])
def test_killed_at_random_instants_it_goes_on_as_if_nothing_had_happened(deals: str, tmp_path: Path) -> None:
    # The long version is `scripts/torture resume`; what must hold stands in `torture`.
    torture(tmp_path, Ordeal(cycles=3, kills=3, deals=deals, draws=random.Random(deals), tell=print))
