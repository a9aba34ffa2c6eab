"""The command line as a process of its own, in a folder of its own, and what it leaves behind there.

Every bot notes its process number in the file `processes` of that folder, so that a test can see that none is left.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from rummyarena_server.referee.record import GameRecord, from_json
from rummyarena_server.store.database import open_engine
from rummyarena_server.store.models import BOT, ENTRANT, GAME, SEAT, TOURNAMENT
from rummyarena_server.store.records import record_text
from tests.server.test_hosting import is_running

ROOT: Final = Path(__file__).resolve().parents[2]
SAMPLES: Final = ROOT / "sample_bots" / "python"
DATABASE: Final = "rummyarena.db"
SECRET: Final = "5e" * 32
WHOLE_RUN: Final = 120  # seconds, a limit for what hangs
PATIENCE: Final = 10.0  # seconds, for what takes milliseconds

_NOTE: Final = """\
import os
with open("processes", "a") as file:
    print(os.getpid(), file=file)
"""


# --- given: a folder with bots and a tournament ----------------------------------------------------------------------


def write_bot(folder: Path, name: str, source: str) -> list[str]:
    """Writes a bot that notes its process number first, and returns the words that start it."""
    (folder / f"{name}.py").write_text(_NOTE + source)
    return ["python", f"{name}.py"]


def write_sample(folder: Path, name: str) -> list[str]:
    return write_bot(folder, name, (SAMPLES / f"{name}.py").read_text())


def write_tournament(folder: Path, bots: Mapping[str, Sequence[str]], **changes: Any) -> Path:
    """Writes `tournament.toml`: games of one deal without a clock, on deals that are known; `None` leaves a key out."""
    settings = {"name": "Friday", "trusted": True, "clock": "off", "secret": SECRET} | changes
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items() if value is not None]
    lines += ["[options]", "max_deals = 1"]
    for name, command in bots.items():
        lines += ["[[bots]]", f"name = {json.dumps(name)}", f"command = {json.dumps(command)}"]
    path = folder / "tournament.toml"
    path.write_text("\n".join(lines))
    return path


def write_samples(folder: Path, **changes: Any) -> Path:
    """Writes a tournament of sample bots."""
    random = write_sample(folder, "random_legal")
    bots = {"first": write_sample(folder, "first_candidate"), "random": random, "also random": random}
    return write_tournament(folder, bots, cycles=2, **changes)


# --- when: a command is run ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ended:
    """A command that has ended: its exit status, and what it wrote."""

    status: int
    out: str
    err: str

    @property
    def table(self) -> list[str]:
        """The table at the end of the output, with its header."""
        lines = self.out.splitlines()
        header = max(at for at, line in enumerate(lines) if line.split()[:2] == ["bot", "Elo"])
        return lines[header:]


@contextmanager
def started(
    folder: Path, *words: str, program: Sequence[str] = ("-m", "rummyarena_server")
) -> Iterator[subprocess.Popen[str]]:
    """Runs a command in a folder; one that is still there at the end of the block is killed, and its bots with it.

    So is one that hangs, or who waits for what it says would wait for ever.
    """
    process = subprocess.Popen(
        [sys.executable, *program, *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # as at a terminal, it leads a process group
    )
    limit = threading.Timer(2 * WHOLE_RUN, process.kill)
    with process:
        limit.start()
        try:
            yield process
        finally:
            limit.cancel()
            if process.poll() is None:
                process.kill()


def end_of(process: subprocess.Popen[str]) -> Ended:
    out, err = process.communicate(timeout=WHOLE_RUN)
    return Ended(process.returncode, out, err)


def arena(folder: Path, *words: str) -> Ended:
    """Runs a command to its end."""
    with started(folder, *words) as process:
        return end_of(process)


def play(folder: Path) -> Ended:
    """Plays the folder's tournament to its end, which must come as it should and leave no bot."""
    ended = arena(folder, "tournament", "run", "tournament.toml")
    assert ended.status == 0, ended
    assert bots_left(folder) == []
    return ended


# --- then: what is left ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Played:
    """A recorded game; the lists are in the order of the seats."""

    index: int
    id: int
    status: str
    rated: bool
    bots: tuple[str, ...]
    ranks: tuple[int, ...]
    totals: tuple[int, ...]
    forfeits: tuple[str | None, ...]
    faults: tuple[int, ...]
    record: GameRecord | None
    text: str

    @property
    def game_text(self) -> str:
        """The part of the record that is the same if the game is."""
        return json.dumps(json.loads(self.text)["game"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def games(folder: Path) -> list[Played]:
    """Returns the games of the folder's only tournament, in the order of the schedule; none if it is not open."""
    engine = open_engine(folder / DATABASE)
    with Session(engine) as session:
        tournament_id = session.execute(select(TOURNAMENT.c.id)).scalar_one_or_none() or 0
        found = [_played(session, tournament_id, row) for row in session.execute(select(GAME)).all()]
    engine.dispose()
    return sorted(found, key=lambda game: game.index)


def _played(session: Session, tournament_id: int, row: Any) -> Played:
    seats = session.execute(
        select(SEAT, BOT.c.name)
        .join(ENTRANT, ENTRANT.c.id == SEAT.c.entrant_id)
        .join(BOT, BOT.c.id == ENTRANT.c.bot_id)
        .where(SEAT.c.game_id == row.id)
        .order_by(SEAT.c.seat)
    ).all()
    record = record_text(session, tournament_id, row.schedule_index)
    return Played(
        index=row.schedule_index,
        id=row.id,
        status=row.status,
        rated=row.rated,
        bots=tuple(one.name for one in seats),
        ranks=tuple(one.rank for one in seats),
        totals=tuple(one.total for one in seats),
        forfeits=tuple(one.forfeit for one in seats),
        faults=tuple(one.faults for one in seats),
        record=from_json(record.text) if record else None,
        text=record.text if record else "",
    )


def bots_started(folder: Path) -> list[int]:
    """Returns the numbers of all processes that bots have been, and of those that they started."""
    return [int(line) for line in (folder / "processes").read_text().split()]


def bots_left(folder: Path) -> list[int]:
    return [pid for pid in bots_started(folder) if is_running(pid)]


def eventually(condition: Callable[[], bool]) -> None:
    """Waits for what other processes do; time out means that they do not."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.01)
