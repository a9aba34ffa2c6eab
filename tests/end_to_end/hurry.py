"""Bots that answer at once, and have hardly time to: how many are late all the same, which is not their fault.

Both are the sample bot that plays the first candidate, in games of one deal of Thai Rummy for two; a decision has a
tenth of a second and there is no bank. It is the whole arena that plays: the command line, its server and its bots.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from rummyarena_server.referee.record import from_json
from rummyarena_server.store.database import open_engine
from rummyarena_server.store.models import GAME, SEAT
from rummyarena_server.store.records import record_text
from tests.end_to_end.arena import DATABASE, write_sample, write_tournament

DECISION_SECONDS: Final = 0.1


@dataclass(frozen=True)
class Hurried:
    """What came of so many games: late answers are faults, three of them in a game a forfeit; times in microseconds.

    `slowest`: the longest time an answer took, as the referee judged it. `worst_lag`: of the server, in any game;
    `doubtful`: the games whose lag is beyond a tenth of a decision's time.
    """

    games: int
    forfeits: int
    faults: int
    decisions: int
    slowest: int
    worst_lag: int
    doubtful: int


def hurry(folder: Path, games: int, concurrency: int) -> Hurried:
    """Plays so many games, rounded up to whole deal groups, in an empty folder, and shows how they come along."""
    first = write_sample(folder, "first_candidate")
    write_tournament(
        folder,
        {"one": first, "other": first},
        cycles=-(-games // 2),
        concurrency=concurrency,
        clock="on",
        decision_seconds=DECISION_SECONDS,
        bank_seconds=0.0,
    )
    command = [sys.executable, "-m", "rummyarena_server", "tournament", "run", "tournament.toml"]
    subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, check=True)
    engine = open_engine(folder / DATABASE)
    with Session(engine) as session:
        hurried = _counted(session)
    engine.dispose()
    return hurried


def _counted(session: Session) -> Hurried:
    tolerable = round(DECISION_SECONDS * 1_000_000) // 10
    games, worst_lag, doubtful = session.execute(
        select(func.count(), func.max(GAME.c.lag), func.count().filter(GAME.c.lag > tolerable))
    ).one()
    forfeits, faults = session.execute(select(func.count(SEAT.c.forfeit), func.sum(SEAT.c.faults))).one()
    times = list(_thinking_times(session, games))
    return Hurried(games, forfeits, faults, len(times), max(times), worst_lag, doubtful)


def _thinking_times(session: Session, games: int) -> Iterator[int]:
    """Yields the time of each decision of the only tournament."""
    for index in range(games):
        record = record_text(session, 1, index)
        assert record is not None
        yield from from_json(record.text).thinking
