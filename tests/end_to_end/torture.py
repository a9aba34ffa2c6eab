"""An event whose server is killed again and again, compared with the same event left in peace.

With shared deals both must be equal, byte for byte. With deals of their own the games that a kill has broken off are
dealt other cards, and it is known which; so the peaceful event is told of the same attempts and must then be equal too.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
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
    PATIENCE,
    SECRET,
    Played,
    bots_left,
    bots_started,
    end_of,
    games,
    play,
    started,
    write_sample,
    write_tournament,
)
from tests.server.results import NOW

GAMES_A_CYCLE: Final = 12  # four bots: six pairs, twice each


@dataclass(frozen=True)
class Ordeal:
    """What is to be gone through; `draws` chooses the instants."""

    cycles: int
    kills: int
    deals: str
    draws: random.Random
    tell: Callable[[str], object]


def torture(folder: Path, ordeal: Ordeal) -> int:
    """Goes through it, in two new folders, and returns how many kills there were before the event was over."""
    peaceful, tortured = (folder / name for name in ("peaceful", "tortured"))
    for one in (peaceful, tortured):
        one.mkdir()
        _write(one, ordeal)
    begun = time.monotonic()
    expected = play(peaceful)
    over = time.monotonic()
    play(peaceful)  # once more, to see how long it takes when there is nothing to play
    kills = _kill_again_and_again(tortured, ordeal, over - begun, time.monotonic() - over)
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
    return kills


def _write(folder: Path, ordeal: Ordeal) -> None:
    randomly = write_sample(folder, "random_legal")
    bots = {"first": write_sample(folder, "first_candidate")} | {f"random {one}": randomly for one in (1, 2, 3)}
    write_tournament(folder, bots, cycles=ordeal.cycles, deals=ordeal.deals)


def _compared(game: Played) -> tuple[object, ...]:
    """What must be the same: all but times and the order of recording."""
    return (
        (game.index, game.status, game.rated, game.bots, game.ranks, game.totals, game.forfeits, game.faults),
        game.game_text,
    )


# --- kills -----------------------------------------------------------------------------------------------------------


def _kill_again_and_again(folder: Path, ordeal: Ordeal, whole_run: float, empty_run: float) -> int:
    """Kills the server at random instants, in all phases of its life, and checks after each what was recorded before.

    `whole_run`, `empty_run`: the seconds that the event takes in peace, and that a run takes without a game to play.
    One life in four ends anywhere before its first game; another goes on for up to twice as long, once it has a bot, as
    its share of the games needs, so that there are some left until about the last kill.
    """
    recorded: dict[int, Played] = {}
    for number in range(ordeal.kills):
        left = 1 - len(recorded) / (GAMES_A_CYCLE * ordeal.cycles)
        share = (whole_run - empty_run) * left / (ordeal.kills - number + 1)
        has_bots = ordeal.draws.random() < 0.75
        instant = ordeal.draws.uniform(0, 2 * share if has_bots else empty_run)
        was_playing = _kill(folder, instant, has_bots)
        _see_bots_gone(folder, ordeal)
        if not was_playing:
            ordeal.tell(f"the event was over before kill {number + 1}")
            return number
        before, recorded = recorded, {game.index: game for game in games(folder)}
        assert before.items() <= recorded.items(), "a recorded game is lost or changed"
        gaps = max(recorded, default=-1) + 1 - len(recorded)
        since = "first bot" if has_bots else "start"
        ordeal.tell(
            f"kill {number + 1}, {instant:.2f} s after the {since}: {len(recorded)} games, {gaps} gaps among them"
        )
    return ordeal.kills


def _kill(folder: Path, instant: float, has_bots: bool) -> bool:
    """Runs the tournament and kills the server, returning whether it was still at it.

    `instant`: so many seconds after its start, or after that of its first bot.
    """
    before = _started(folder)
    with started(folder, "tournament", "run", "tournament.toml") as server:
        while has_bots and _started(folder) == before and server.poll() is None:
            time.sleep(0.005)
        deadline = time.monotonic() + instant
        while time.monotonic() < deadline and server.poll() is None:
            time.sleep(0.005)
        server.kill()
        ended = end_of(server)
    assert ended.status in (0, -9), ended
    return ended.status == -9


def _started(folder: Path) -> int:
    return len(bots_started(folder)) if (folder / "processes").exists() else 0


def _see_bots_gone(folder: Path, ordeal: Ordeal) -> None:
    """Waits until no bot is left; one may be, if the kill came between its start and the word to the warden.

    That one would find out by itself, within a minute, that nobody answers.
    """
    if not (folder / "processes").exists():
        return
    deadline = time.monotonic() + PATIENCE
    while (left := bots_left(folder)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(left) <= 1, "bots outlive their server"
    for stray in left:
        ordeal.tell("a bot that was being started outlived the server")
        os.kill(stray, signal.SIGKILL)


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
