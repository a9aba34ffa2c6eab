"""A tournament that was broken off goes on where it was, and ends as if nothing had happened."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.end_to_end.arena import (
    Ended,
    bots_left,
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

# `random_legal` but for this: after a few games it waits until there is a file `go`.
WAITS = """
import time
from pathlib import Path
from rummyarena import run

class Waits:
    over = 0

    def decide(self, decision):
        while self.over >= 3 and not Path("go").exists():
            Path("waiting").touch()
            time.sleep(0.01)
        return decision.random.choice(decision.candidates)

    def game_over(self, game, outcome):
        self.over += 1

run(Waits())
"""


def write_waiting(folder: Path) -> None:
    """Writes the tournament `friday` of bots that wait in the middle of it."""
    waits = write_bot(folder, "waits", WAITS)
    bots = {"first": write_sample(folder, "first_candidate"), "random": waits, "also random": waits}
    write_tournament(folder, bots, cycles=2)


def break_off(folder: Path, number: signal.Signals) -> Ended:
    """Sends the server a signal in the middle of its tournament."""
    with started(folder, "tournament", "run", "tournament.toml") as server:
        eventually(lambda: (folder / "waiting").exists())
        assert len(bots_left(folder)) == 3
        server.send_signal(number)
        return end_of(server)


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
    assert len(bots_started(folder)) == 6


def test_ctrl_c_ends_with_a_sentence_and_the_rest_is_played_later(friday: tuple[Path, Ended], tmp_path: Path) -> None:
    write_waiting(tmp_path)

    ended = break_off(tmp_path, signal.SIGINT)

    assert ended.status == 130
    assert ended.err == "Interrupted. What was recorded is kept; run the same command again to go on.\n"
    assert bots_left(tmp_path) == []
    assert_goes_on_to(friday, tmp_path)


def test_after_a_kill_no_bot_lives_on_and_the_rest_is_played_later(friday: tuple[Path, Ended], tmp_path: Path) -> None:
    write_waiting(tmp_path)

    ended = break_off(tmp_path, signal.SIGKILL)

    assert ended.status == -signal.SIGKILL
    eventually(lambda: bots_left(tmp_path) == [])
    assert_goes_on_to(friday, tmp_path)
