"""How a bot finds its server, plays on it, and says what is wrong: against a fake referee on loopback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import grpc
import pytest

import rummyarena
from rummyarena import ConnectionFailedError, Decision, Settings, SettingsError, draw, play
from rummyarena.settings import find_place
from rummyarena.v1 import move_pb2, play_pb2, view_pb2
from tests.sdk.referee import HEARS, TOKEN, Referee, serving

ROOT = Path(__file__).parents[2]
SAMPLE_BOTS = sorted((ROOT / "sample_bots" / "python").glob("*.py"))

WELCOME = play_pb2.PlayResponse(
    welcome=play_pb2.Welcome(session_id="s", server_version="9.9.9", max_concurrent_games=1)
)


def question(game_id: str, decision_id: str) -> play_pb2.GameUpdate:
    candidates = [move_pb2.Move(draw=move_pb2.Draw())]
    return play_pb2.GameUpdate(
        game_id=game_id, decision=view_pb2.Decision(decision_id=decision_id, candidates=candidates, complete=True)
    )


ASKS = play_pb2.PlayResponse(updates=[question("a", "1"), question("b", "1")])
ENDS = play_pb2.PlayResponse(updates=[play_pb2.GameUpdate(game_id="a", over=play_pb2.GameOver(ranks=[1, 2]))])
ONE_QUESTION = (HEARS, WELCOME, ASKS, HEARS, ENDS)


def drawing(_: Decision) -> rummyarena.Move:
    return draw()


def settings(address: str, *, token: str = TOKEN, patience: float = 0.0) -> Settings:
    return Settings(address, token, bot_version="3", max_concurrent_games=2, candidate_limit=5, patience=patience)


def script(source: Path | str, address: str, tmp_path: Path) -> subprocess.Popen[str]:
    """Starts a bot as a program of its own, as a host does."""
    if isinstance(source, str):
        (tmp_path / "bot.py").write_text(source, encoding="utf-8")
        source = tmp_path / "bot.py"
    environment = {**os.environ, "RUMMYARENA_ADDRESS": address, "RUMMYARENA_TOKEN": TOKEN}
    return subprocess.Popen(
        [sys.executable, str(source)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


# --- playing ---------------------------------------------------------------------------------------------------------


def test_a_bot_says_hello_and_answers_in_one_message() -> None:
    referee = Referee(ONE_QUESTION)
    with serving(referee) as address:
        play(drawing, settings(address))
    hello, answer = referee.heard
    assert hello.hello == play_pb2.Hello(
        sdk_name="python",
        sdk_version=rummyarena.__version__,
        bot_version="3",
        max_concurrent_games=2,
        candidate_limit=5,
        wants=play_pb2.WANTS_VIEW,
    )
    assert [(one.game_id, one.decision_id) for one in answer.answers] == [("a", "1"), ("b", "1")]


def test_what_the_bot_raises_is_passed_on() -> None:
    def clumsy(_: Decision) -> str:
        raise grpc.RpcError("from the bot itself")

    with serving(Referee(ONE_QUESTION)) as address, pytest.raises(grpc.RpcError, match="from the bot itself"):
        play(clumsy, settings(address))


def test_a_server_that_comes_up_late_is_waited_for() -> None:
    with serving(None) as address:
        pass  # the port is free again
    referee = Referee(ONE_QUESTION)
    bot = threading.Thread(target=play, args=(drawing, settings(address, patience=60.0)))
    bot.start()
    with serving(referee, address):
        bot.join()
    assert len(referee.heard) == 2


# --- what can be wrong -----------------------------------------------------------------------------------------------


def test_nobody_listens() -> None:
    with serving(None) as address:
        pass
    with pytest.raises(ConnectionFailedError, match=f"nobody answers at {address}: start the server first"):
        play(drawing, settings(address))


def test_a_wrong_token() -> None:
    with (
        serving(Referee()) as address,
        pytest.raises(ConnectionFailedError, match=r"does not know this token: pass the"),
    ):
        play(drawing, settings(address, token="wrong"))  # noqa: S106 - that is the test


def test_another_program_listens() -> None:
    with serving(None) as address, pytest.raises(ConnectionFailedError, match=r"does not offer .*upgrade the older"):
        play(drawing, settings(address))


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (grpc.StatusCode.ABORTED, "another stream with this token has replaced this one"),
        (grpc.StatusCode.FAILED_PRECONDITION, r"upgrade the older of server \(version 9.9.9\) and SDK \(version "),
        (grpc.StatusCode.INVALID_ARGUMENT, "could not read a message"),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "was sent too much"),
        (grpc.StatusCode.UNAVAILABLE, "has stopped, or the connection was lost"),
        (grpc.StatusCode.INTERNAL, "ended the stream with INTERNAL"),
    ],
)
def test_the_server_ends_the_stream(code: grpc.StatusCode, sentence: str) -> None:
    with serving(Referee((HEARS, WELCOME), (code, "because"))) as address:
        with pytest.raises(ConnectionFailedError, match=sentence) as caught:
            play(drawing, settings(address, patience=60.0))
        assert "(because)" in str(caught.value)


@pytest.mark.parametrize(
    ("words", "environment", "sentence"),
    [
        ([], {}, "no address: pass --address HOST:PORT or set RUMMYARENA_ADDRESS"),
        (["--address", "localhost:1"], {}, "no token: pass --token TOKEN or set RUMMYARENA_TOKEN"),
        (["--address", "localhost"], {}, "'localhost' is not an address: write host:port"),
        (["--address", "localhost:1", "--token", "a b"], {}, "the token has characters that no token has"),
        (["--address", "localhost:1"], {"RUMMYARENA_TOKEN": "é"}, "the token has characters that no token has"),
    ],
)
def test_what_is_missing_is_named(words: list[str], environment: dict[str, str], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        find_place(None, None, words, environment)


@pytest.mark.parametrize("number", [0, 2**32])
def test_a_number_of_games_that_cannot_be_is_named(number: int) -> None:
    with pytest.raises(SettingsError, match=f"max_concurrent_games = {number}: allowed are 1 to "):
        replace(settings("localhost:1"), max_concurrent_games=number)


def test_a_number_of_candidates_that_cannot_be_is_named() -> None:
    with pytest.raises(SettingsError, match="candidate_limit = -1: allowed are 0 to "):
        replace(settings("localhost:1"), candidate_limit=-1)


def test_arguments_come_before_flags_and_flags_before_the_environment() -> None:
    environment = {"RUMMYARENA_ADDRESS": "e:1", "RUMMYARENA_TOKEN": "e"}
    assert find_place(None, None, ["--depth", "3"], environment) == ("e:1", "e")
    assert find_place(None, None, ["--address", "f:1", "--token=f"], environment) == ("f:1", "f")
    assert find_place("unix:/run/a", "a", ["--address", "f:1"], environment) == ("unix:/run/a", "a")


# --- programs --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bot", SAMPLE_BOTS, ids=lambda path: path.stem)
def test_the_sample_bots_are_programs(bot: Path, tmp_path: Path) -> None:
    referee = Referee(ONE_QUESTION)
    with serving(referee) as address:
        process = script(bot, address, tmp_path)
        output = process.communicate()
    assert (process.returncode, output) == (0, ("", ""))
    assert referee.heard[1].answers[0].moves == [move_pb2.Move(draw=move_pb2.Draw())]


def test_there_are_sample_bots() -> None:
    assert [one.stem for one in SAMPLE_BOTS] == ["first_candidate", "random_legal"]


def test_a_bot_that_raises_is_a_crash(tmp_path: Path) -> None:
    source = "from rummyarena import run\ndef bot(decision):\n    return 1 / 0\nrun(bot)\n"
    with serving(Referee(ONE_QUESTION)) as address:
        process = script(source, address, tmp_path)
        _, errors = process.communicate()
    assert process.returncode == 1
    assert "Traceback" in errors
    assert "ZeroDivisionError" in errors


def test_a_bot_without_a_server_says_so_in_a_sentence(tmp_path: Path) -> None:
    process = script("from rummyarena import run\nrun(lambda one: 'draw')\n", "", tmp_path)
    _, errors = process.communicate()
    assert process.returncode == 2
    assert errors == "no address: pass --address HOST:PORT or set RUMMYARENA_ADDRESS\n"


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_bot_that_is_told_to_end_ends_quietly(ending: signal.Signals, tmp_path: Path) -> None:
    source = "from rummyarena import run\nrun(lambda one: print('asked', flush=True) or 'draw')\n"
    with serving(Referee((HEARS, WELCOME, ASKS, HEARS, HEARS))) as address:
        process = script(source, address, tmp_path)
        assert process.stdout is not None
        while process.stdout.readline() != "asked\n":
            pass
        process.send_signal(ending)
        _, errors = process.communicate()
    assert (process.returncode, errors) == (0, "")


def test_the_version_is_that_of_the_distribution() -> None:
    assert f'version = "{rummyarena.__version__}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
