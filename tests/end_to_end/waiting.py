"""Bots that wait in the middle of a tournament, and tournaments that are run up to there."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.end_to_end.arena import eventually, started, write_bot, write_sample, write_tournament

RUN: Final = ("tournament", "run", "tournament.toml")
RANDOMLY: Final = "decision.random.choice(decision.candidates)"


def waiting_bot(games: int, move: str = RANDOMLY, *, imports: str = "", settings: str = "") -> str:
    """The source of a bot that plays a move and, after so many games, waits until there is a file `go`."""
    return f"""
import sys, time
from pathlib import Path
from rummyarena import run
{imports}

class Waits:
    over = 0

    def decide(self, decision):
        while self.over >= {games} and not Path("go").exists():
            Path("waiting").touch()
            time.sleep(0.01)
        return {move}

    def game_over(self, game, outcome):
        self.over += 1

run(Waits(){settings})
"""


def write_waiting(folder: Path, **changes: Any) -> None:
    """Writes the tournament `friday` of bots that wait in the middle of it, for they begin their fourth game there."""
    waits = write_bot(folder, "waits", waiting_bot(3))
    bots = {"first": write_sample(folder, "first_candidate"), "random": waits, "also random": waits}
    write_tournament(folder, bots, cycles=2, **changes)


@contextmanager
def in_the_middle(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Runs a tournament up to where a bot waits."""
    with started(folder, *(words or RUN)) as server:
        eventually((folder / "waiting").exists)
        yield server
