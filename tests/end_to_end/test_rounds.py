"""A Swiss tournament and a ladder whose server is killed go on where they were, and end as if nothing had happened."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import time
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from rummyarena_server.cli.tournaments import listed, show, standings
from rummyarena_server.tournament.seeds import wave_secret
from tests.end_to_end.arena import (
    DATABASE,
    SECRET,
    arena,
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


def write_bots(folder: Path, bots: int, said: dict[str, Any]) -> None:
    folder.mkdir()
    randomly = write_sample(folder, "random_legal")
    commands = {"first": write_sample(folder, "first_candidate")} | {
        f"random {one}": randomly for one in range(1, bots)
    }
    write_tournament(folder, commands, concurrency=3, **said)


def kill_after(folder: Path, recorded: int) -> None:
    """Runs the tournament and kills the server as soon as so many games are recorded."""
    with started(folder, "tournament", "run", "tournament.toml") as server:
        while server.poll() is None and len(stored(folder, "SELECT id FROM game")) < recorded:
            time.sleep(0.005)
        server.kill()
        assert end_of(server).status == -9
    eventually(lambda: len(bots_left(folder)) <= 1)  # one may have been started in that moment


def stored(folder: Path, query: str) -> list[tuple[Any, ...]]:
    """What the database says; nothing as long as there is none, or no table in it."""
    if not (folder / DATABASE).exists():
        return []
    try:
        with closing(sqlite3.connect(folder / DATABASE)) as database:
            return database.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []


@pytest.mark.parametrize(
    ("bots", "said", "kills"),
    [
        (5, {"format": "swiss", "rounds": 4}, (1, 5)),  # of four games a round
        (3, {"format": "ladder", "rounds": 2}, (11, 14)),  # of twelve games a wave
    ],
)
def test_a_killed_tournament_goes_on_as_if_it_had_not_been(
    tmp_path: Path, bots: int, said: dict[str, Any], kills: tuple[int, ...]
) -> None:
    peaceful, killed = tmp_path / "peaceful", tmp_path / "killed"
    for folder in (peaceful, killed):
        write_bots(folder, bots, said)
    expected = play(peaceful)

    for recorded in kills:
        kill_after(killed, recorded)
        before = games(killed)
        assert recorded <= len(before) < len(games(peaceful))
    ended = play(killed)

    assert [game for game in games(killed) if game.index in {one.index for one in before}] == before
    assert [(game.index, game.game_text) for game in games(killed)] == [
        (game.index, game.game_text) for game in games(peaceful)
    ]
    rounds = "SELECT number, tables FROM round ORDER BY number"
    assert stored(killed, rounds) == stored(peaceful, rounds)
    assert len(stored(killed, rounds)) == said["rounds"]
    assert ended.table == expected.table


def digest_of_wave(number: int) -> str:
    """What holds whoever runs the ladder to the secret of a wave."""
    secret = wave_secret(bytes.fromhex(SECRET), number)
    return f"SHA-256 of the secret of wave {number}: {sha256(secret).hexdigest()}"


def test_a_ladder_without_end_is_stopped_and_its_waves_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # given: waves of twelve games
    folder = tmp_path / "endless"
    write_bots(folder, 3, {"format": "ladder"})

    with started(folder, "tournament", "run", "tournament.toml") as server:
        eventually(lambda: len(stored(folder, "SELECT id FROM game")) > 12)
        server.send_signal(signal.SIGINT)
        ended = end_of(server)

    assert ended.status == 130, ended
    assert "Friday: ladder, 3 bots, games without end of thai" in ended.out
    recorded = len(games(folder))
    waves = [line for line in ended.out.splitlines() if line.startswith("SHA-256")]
    assert waves == [digest_of_wave(number) for number in range(len(stored(folder, "SELECT number FROM round")))]
    assert stored(folder, "SELECT rated_games FROM tournament") == [(recorded // 12 * 12,)]
    database = str(folder / DATABASE)
    assert listed(db=database) == standings(db=database) == show("Friday", db=database) == 0
    shown = capsys.readouterr().out
    assert re.search(rf"Friday .* 3 +endless +{recorded}\n", shown)
    assert f"first {recorded // 12 * 12} games: {recorded} games are recorded; run it again to go on.\n" in shown
    assert "Friday: ladder, thai 1, 2 seats, max_deals=1, 3 bots, games without end" in shown
    assert [line for line in shown.splitlines() if line.startswith("SHA-256")] == waves[-1:]
    assert show("Friday", as_json=True, db=database) == 0
    wave = json.loads(capsys.readouterr().out)["wave"]
    assert f"SHA-256 of the secret of wave {wave['number']}: {wave['secret_digest']}" == waves[-1]
    assert bots_left(folder) == []


def test_a_ladder_of_which_too_few_bots_are_left_says_so(tmp_path: Path) -> None:
    crashing = write_bot(tmp_path, "crashing", "raise SystemExit('broken')")
    bots = {"one": crashing, "two": crashing, "good": write_sample(tmp_path, "random_legal")}
    write_tournament(tmp_path, bots, format="ladder", rounds=2)

    ended = arena(tmp_path, "tournament", "run", "tournament.toml")

    assert ended.status == 0
    assert "It has ended after 12 of 24 games: too few of its bots were left for a table." in ended.err.splitlines()
