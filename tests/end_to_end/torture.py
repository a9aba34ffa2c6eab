"""An event that is put through what must not harm it.

The server of one is killed again and again, and the event compared with the same event left in peace. With shared deals
both must be equal, byte for byte. With deals of their own the games that a kill has broken off are dealt other cards,
and it is known which; so the peaceful event is told of the same attempts and must then be equal too.
"""

from __future__ import annotations

import random
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from rummyarena_server.config import load
from rummyarena_server.store.database import open_engine, writing
from rummyarena_server.store.models import ATTEMPT
from rummyarena_server.store.records import open_tournament
from rummyarena_server.tournament.event import plan
from rummyarena_server.tournament.seeds import game_seed
from tests.end_to_end.arena import (
    DATABASE,
    SECRET,
    Played,
    bots_left,
    end_of,
    eventually,
    games,
    play,
    started,
    write_bot,
    write_sample,
    write_tournament,
)
from tests.server.results import NOW

GAMES_A_CYCLE: Final = 12  # four bots: six pairs, twice each
_SPARE: Final = 8  # lives for which there are games besides, so that the event is not over before the last kill

# `random_legal`, but now and then it dawdles, so that games which began later are over earlier.
DAWDLER: Final = """
import time
from rummyarena import run

def dawdler(decision):
    if decision.random.random() < 0.01:
        time.sleep(0.2)
    return decision.random.choice(decision.candidates)

run(dawdler)
"""


@dataclass(frozen=True)
class Ordeal:
    """What is to be gone through; `draws` chooses the instants."""

    cycles: int
    kills: int
    deals: str
    draws: random.Random
    tell: Callable[[str], object]


@dataclass(frozen=True)
class Endured:
    """What an event has gone through: kills before it was over, and how many of them left gaps among its games."""

    kills: int
    with_gaps: int


def torture(folder: Path, ordeal: Ordeal) -> Endured:
    """Goes through it, in two new folders; raises `AssertionError` if it leaves a trace."""
    peaceful, tortured = (folder / name for name in ("peaceful", "tortured"))
    for one in (peaceful, tortured):
        one.mkdir()
        _write(one, ordeal)
    begun = time.monotonic()
    expected = play(peaceful)
    over = time.monotonic()
    play(peaceful)  # once more, to see how long it takes when there is nothing to play
    endured = _kill_again_and_again(tortured, ordeal, over - begun, time.monotonic() - over)
    ended = play(tortured)
    if ordeal.deals == "own":
        _check_attempts(tortured)
        peaceful = folder / "peaceful with the same attempts"
        peaceful.mkdir()
        _write(peaceful, ordeal)
        _give_attempts(peaceful, _attempts(tortured))
        expected = play(peaceful)
    assert [_compared(game) for game in games(tortured)] == [_compared(game) for game in games(peaceful)]
    assert len(games(tortured)) == GAMES_A_CYCLE * ordeal.cycles
    assert ended.table == expected.table
    return endured


def _write(folder: Path, ordeal: Ordeal) -> None:
    randomly = write_sample(folder, "random_legal")
    bots = {
        "first": write_sample(folder, "first_candidate"),
        "random": randomly,
        "also random": randomly,
        "dawdler": write_bot(folder, "dawdler", DAWDLER),
    }
    write_tournament(folder, bots, cycles=ordeal.cycles, deals=ordeal.deals)


def _compared(game: Played) -> tuple[object, ...]:
    """What must be the same: all but times and the order of recording."""
    return (
        (game.index, game.status, game.rated, game.bots, game.ranks, game.totals, game.forfeits, game.faults),
        game.game_text,
    )


# --- kills -----------------------------------------------------------------------------------------------------------


def _kill_again_and_again(folder: Path, ordeal: Ordeal, whole_run: float, empty_run: float) -> Endured:
    """Kills the server at random instants, in all phases of its life, and checks after each what was recorded before.

    `whole_run`, `empty_run`: the seconds that the event takes in peace, and that a run takes without a game to play.
    One life in four ends anywhere before its games; another some time after it has recorded as many as are drawn from
    its share, so that there are games left until the last kill.
    """
    recorded: dict[int, Played] = {}
    with_gaps, in_all = 0, GAMES_A_CYCLE * ordeal.cycles
    for number in range(ordeal.kills):
        share = (in_all - len(recorded)) / (ordeal.kills - number + _SPARE)
        more = ordeal.draws.randint(1, max(1, round(share))) if ordeal.draws.random() < min(0.75, share) else 0
        instant = ordeal.draws.uniform(0, share * (whole_run - empty_run) / in_all if more else empty_run)
        was_playing = _kill(folder, more, instant)
        _see_bots_gone(folder)
        if not was_playing:
            ordeal.tell(f"the event was over before kill {number + 1}")
            return Endured(number, with_gaps)
        before, recorded = recorded, {game.index: game for game in games(folder)}
        assert before.items() <= recorded.items(), "a recorded game is lost or changed"
        gaps = max(recorded, default=-1) + 1 - len(recorded)
        with_gaps += gaps > 0
        since = f"its game {more}" if more else "its start"
        ordeal.tell(
            f"kill {number + 1} of {ordeal.kills}, {instant:.2f} s after {since}: {len(recorded)} games are recorded, "
            f"{gaps} gaps among them"
        )
    return Endured(ordeal.kills, with_gaps)


def _kill(folder: Path, more: int, instant: float) -> bool:
    """Runs the tournament and kills the server, returning whether it was still at it.

    `instant`: so many seconds after it has recorded so many `more` games, or at once when it has recorded another two;
    if none, after its start, or when it has recorded one.
    """
    before = _recorded(folder)
    most = before + (more + 2 if more else 1)
    with started(folder, "tournament", "run", "tournament.toml") as server:
        _wait(server, lambda: _recorded(folder) >= before + more)
        deadline = time.monotonic() + instant
        _wait(server, lambda: time.monotonic() >= deadline or _recorded(folder) >= most)
        server.kill()
        ended = end_of(server)
    assert ended.status in (0, -9), ended
    return ended.status == -9


def _wait(server: subprocess.Popen[str], until: Callable[[], bool]) -> None:
    """Waits for something that may not come before the server ends."""
    while server.poll() is None and not until():
        time.sleep(0.005)


def _recorded(folder: Path) -> int:
    """Returns how many games are recorded, at little cost."""
    if not (folder / DATABASE).exists():
        return 0
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        try:
            return int(database.execute("SELECT count(*) FROM game").fetchone()[0])
        except sqlite3.OperationalError:  # its tables are not made yet
            return 0


def _see_bots_gone(folder: Path) -> None:
    """Waits until no bot is left."""
    if (folder / "processes").exists():
        eventually(lambda: bots_left(folder) == [])


# --- attempts --------------------------------------------------------------------------------------------------------


def _attempts(folder: Path) -> list[dict[str, Any]]:
    engine = open_engine(folder / DATABASE)
    with Session(engine) as session:
        found = [dict(row) for row in session.execute(select(ATTEMPT)).mappings()]
    engine.dispose()
    return found


def _give_attempts(folder: Path, attempts: list[dict[str, Any]]) -> None:
    """Opens the folder's tournament as if these attempts had been made and abandoned."""
    settings = load(folder / "tournament.toml").settings
    engine = open_engine(folder / DATABASE)
    with Session(writing(engine)) as session, session.begin():
        open_tournament(session, plan(settings, bytes(32)), NOW)
        if attempts:
            session.execute(insert(ATTEMPT), attempts)
    engine.dispose()


def _check_attempts(folder: Path) -> None:
    """What was begun is recorded or abandoned, the number of the attempt is in its seed, and no seed is used twice."""
    abandoned = {(one["schedule_index"], one["attempt"]): one for one in _attempts(folder)}
    assert all(one["abandoned_at"] is not None for one in abandoned.values())
    recorded = {game.index: game.record.setup for game in games(folder) if game.record is not None}
    for index, setup in recorded.items():
        attempt = int(setup.game_id.rpartition(".")[2])
        group, rotation = divmod(index, 2)
        assert setup.seed == game_seed(bytes.fromhex(SECRET), group, rotation, attempt)
        assert [key for key in sorted(abandoned) if key[0] == index] == [(index, one) for one in range(attempt)]
    seeds = [setup.seed for setup in recorded.values()] + [one["seed"] for one in abandoned.values()]
    assert len(set(seeds)) == len(seeds)
