"""`play`, `connect` and `serve`: games with bots as processes of their own, started by us or by hand."""

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
from typing import IO, Final

import pytest

from rummyarena_server.cli.places import TOKENS
from tests.end_to_end.arena import SAMPLES, Ended, arena, end_of, games, started, write_sample

ONE_DEAL: Final = ("--option", "max_deals=1")
SEED: Final = ("--seed", "07" * 32)
PLACE: Final = re.compile(r"RUMMYARENA_ADDRESS=(\S+) RUMMYARENA_TOKEN=(\S+)")


def place(output: IO[str]) -> Mapping[str, str]:
    """Reads on until the command says where a bot connects, and returns that as the bot's environment."""
    for line in output:
        if found := PLACE.search(line):
            return {"RUMMYARENA_ADDRESS": found[1], "RUMMYARENA_TOKEN": found[2]}
    raise AssertionError("the command has ended without saying where to connect")


@contextmanager
def by_hand(environment: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Starts a sample bot as somebody would in another terminal."""
    words = [sys.executable, str(SAMPLES / "random_legal.py")]
    process = subprocess.Popen(
        words, env={**os.environ, **environment}, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


# --- play ------------------------------------------------------------------------------------------------------------


def test_a_game_is_told_to_its_end_and_nothing_is_stored(tmp_path: Path) -> None:
    ended = arena(tmp_path, "play", "thai", "random-legal", "first-candidate", *ONE_DEAL)
    assert (ended.status, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[:3] == ["thai, 2 seats, with a clock", "seat 0: random-legal", "seat 1: first-candidate"]
    assert lines[-2].startswith("2. " if lines[-3].startswith("1. ") else "1. ")
    assert lines[-1].startswith("Its seed was ")
    assert list(tmp_path.glob("*.db")) == []


def test_the_same_seed_and_bots_play_the_same_game(tmp_path: Path) -> None:
    words = ("play", "liverpool", "random-legal", "random-legal", "first-candidate", "--clock", "off", *SEED)
    first, again = arena(tmp_path, *words), arena(tmp_path, *words)
    assert first.status == 0
    assert first.out == again.out
    assert first.out.count("end of the deal") == 7


def test_a_seat_is_shown_what_it_may_see_and_a_program_gets_json(tmp_path: Path) -> None:
    words = ("play", "thai", "random-legal", "random-legal", *ONE_DEAL, *SEED, "--show", "0", "--json")
    ended = arena(tmp_path, *words)
    setup, *events, over = map(json.loads, ended.out.splitlines())
    assert [bot["name"] for bot in setup["bots"]] == ["random-legal", "random-legal-2"]
    assert {one["seat"]: one["cards"] is None for one in events if one["event"] == "hand_dealt"} == {0: False, 1: True}
    assert sorted(over["over"]["ranks"]) in ([1, 2], [1, 1])


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        (
            "raise SystemExit('I do not feel like it')",
            "exited with code 1 before it had connected\n  I do not feel like it",
        ),
        ("import os; os.kill(os.getpid(), 9)", "was killed by SIGKILL before it had connected"),
    ],
)
def test_a_bot_that_does_not_come_is_named_with_its_last_lines(source: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(source)
    ended = arena(tmp_path, "play", "thai", "mine.py", "random-legal")
    assert ended.status == 1
    assert f"rummyarena: mine {complaint}" in ended.err
    assert "Traceback" not in ended.err


def test_a_bot_that_exits_in_the_game_loses_it(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from rummyarena import run\n\ndef choose(decision):\n    raise SystemExit('enough of this')\n\nrun(choose)\n"
    )
    ended = arena(tmp_path, "play", "thai", "mine.py", "random-legal", *ONE_DEAL)
    assert ended.status == 0
    assert "1. random-legal (seat 1)" in ended.out
    assert "mine (seat 0): 0 points, forfeited (exited)" in ended.out
    assert "mine exited with code 1\n  enough of this\n  its output is in rummyarena-logs/" in ended.err


def test_a_bot_that_answers_what_is_not_legal_is_told_of_with_its_log(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import logging\nfrom rummyarena import run\nlogging.basicConfig()\nrun(lambda decision: 'discard 2C')\n"
    )
    ended = arena(tmp_path, "play", "thai", "mine.py", "random-legal", *ONE_DEAL)
    assert "mine (seat 0): 0 points, forfeited (faults)" in ended.out
    assert "mine was forfeited, for its answers were refused or late too often\n" in ended.err
    assert "wrong_phase" in ended.err
    assert "its output is in rummyarena-logs/" in ended.err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("play", "thai", "random-legal"), "thai is for 2 to 4 seats, here are 1: name a bot for each"),
        (("play", "thay", "random-legal"), "did you mean thai?"),
        (("play", "thai", "random", "random-legal"), "did you mean random-legal?"),
        (("play", "thai", "random-legal", "random-legal", "--show", "2"), "--show 2: the seats are 0 to 1"),
        (("play", "thai", "random-legal", "random-legal", "--option", "max_deals=x"), "option max_deals"),
        (("connect", "thai", "random-legal", "--seat", "2"), "--seat 2: with 1 other bots the seats are 0 to 1"),
        (("connect", "thai", "--address", "127.0.0.1:99999"), "cannot listen on 127.0.0.1:99999"),
    ],
)
def test_what_cannot_be_played_is_refused_with_advice(words: tuple[str, ...], complaint: str, tmp_path: Path) -> None:
    ended = arena(tmp_path, *words)
    assert ended.status in (1, 2)
    assert complaint in ended.err
    assert "Traceback" not in ended.err


# --- bots that are started by hand -----------------------------------------------------------------------------------


def test_connect_waits_for_a_bot_started_by_hand(tmp_path: Path) -> None:
    with started(tmp_path, "connect", "thai", *ONE_DEAL, "--show", "0") as command:
        assert command.stdout is not None
        with by_hand(place(command.stdout)) as bot:
            ended = end_of(command)
            assert (ended.status, bot.wait(10)) == (0, 0)
    assert "your bot (seat 0)" in ended.out
    assert "end of the deal" in ended.out


def test_a_bot_started_by_hand_ends_with_the_game_that_is_broken_off(tmp_path: Path) -> None:
    with started(tmp_path, "connect", "thai", "--option", "max_deals=200", "--option", "target_score=3000") as command:
        assert command.stdout is not None
        with by_hand(place(command.stdout)) as bot:
            assert any(line.startswith("deal 1") for line in command.stdout)
            command.send_signal(signal.SIGINT)
            assert (end_of(command).status, bot.wait(10)) == (130, 0)


def write_mixed(folder: Path) -> None:
    """Writes a tournament between a bot that is started by us and one that is started elsewhere."""
    write_sample(folder, "random_legal")
    (folder / "mixed.toml").write_text(
        'name = "mixed"\nclock = "off"\ncycles = 3\n[options]\nmax_deals = 1\n'
        '[[bots]]\nname = "ours"\ncommand = "python random_legal.py"\n'
        '[[bots]]\nname = "theirs"\nconnected = true\n'
    )


def serve_mixed(folder: Path) -> Ended:
    with started(folder, "serve", "mixed.toml", "--address", "127.0.0.1:0") as command:
        assert command.stdout is not None
        with by_hand(place(command.stdout)) as bot:
            ended = end_of(command)
            assert bot.wait(10) == 0
    return ended


def test_serve_lets_in_who_is_started_elsewhere(tmp_path: Path) -> None:
    write_mixed(tmp_path)
    ended = serve_mixed(tmp_path)
    assert ended.status == 0, ended
    (listed,) = json.loads(arena(tmp_path, "tournament", "list", "--json").out)
    assert not listed["shares_deals"]  # strangers could carry cards from game to game
    played = games(tmp_path)
    assert len(played) == 6
    assert all(game.forfeits == (None, None) for game in played)
    assert {name for game in played for name in game.bots} == {"ours", "theirs"}


def test_tokens_are_kept_for_their_owner_alone(tmp_path: Path) -> None:
    write_mixed(tmp_path)
    tokens = []
    for _ in range(2):
        with started(tmp_path, "serve", "mixed.toml", "--address", "127.0.0.1:0") as command:
            assert command.stdout is not None
            tokens.append(place(command.stdout)["RUMMYARENA_TOKEN"])
    assert tokens[0] == tokens[1]
    assert (tmp_path / TOKENS).stat().st_mode & 0o777 == 0o600
    assert json.loads((tmp_path / TOKENS).read_text()) == {"mixed": {"theirs": tokens[0]}}


def test_without_serving_nobody_can_come_from_elsewhere(tmp_path: Path) -> None:
    write_mixed(tmp_path)
    ended = arena(tmp_path, "tournament", "run", "mixed.toml")
    assert ended.status == 2
    assert 'bots[1] "theirs" is started elsewhere: play this file with `rummyarena serve`' in ended.err
