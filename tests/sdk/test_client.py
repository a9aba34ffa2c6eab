"""How a bot finds its server, plays on it, and says what is wrong: against a fake referee on loopback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import grpc
import pytest

import rummyarena
from rummyarena import (
    ConnectionFailedError,
    Decision,
    Event,
    Game,
    Outcome,
    Settings,
    SettingsError,
    Stop,
    draw,
    play,
)
from rummyarena.client import batches
from rummyarena.settings import find_place
from rummyarena.v1 import event_pb2, move_pb2, play_pb2, view_pb2
from rummyarena_rules.ruleset import Refusal
from rummyarena_rules.thai import THAI
from rummyarena_server.wire import read_move
from tests.sdk.dealt import FIRST, STATE, asked, said
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


def script(source: Path | str, address: str, tmp_path: Path, *words: str) -> subprocess.Popen[str]:
    """Starts a bot as a program of its own, as a host does."""
    if isinstance(source, str):
        (tmp_path / "bot.py").write_text(source, encoding="utf-8")
        source = tmp_path / "bot.py"
    environment = {**os.environ, "RUMMYARENA_ADDRESS": address, "RUMMYARENA_TOKEN": TOKEN}
    return subprocess.Popen(
        [sys.executable, str(source), *words],
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


class Diary:
    """A bot that draws, and writes down what it is told."""

    def __init__(self) -> None:
        self.lines: list[object] = []

    def decide(self, decision: Decision) -> str:
        self.lines.append(f"{decision.game_id} asks {decision.decision_id}")
        return "draw"

    def game_started(self, game: Game) -> None:
        self.lines.append(f"{game.game_id} starts")

    def observe(self, game: Game, events: Sequence[Event]) -> None:
        self.lines.append((game.game_id, [one.sequence for one in events]))

    def game_over(self, game: Game, outcome: Outcome) -> None:
        self.lines.append((game.game_id, outcome.ranks))


def events(*sequences: int) -> list[event_pb2.Event]:
    return [event_pb2.Event(sequence=one, stock_drawn=event_pb2.StockDrawn(seat=1)) for one in sequences]


def test_a_lost_connection_is_made_again_and_the_games_go_on() -> None:
    # given: two games, one of which ends while the connection is lost
    asks = play_pb2.PlayResponse(updates=[question("a", "1"), question("b", "1")])
    asks.updates[0].events.extend(events(1, 2))
    back = play_pb2.PlayResponse(
        welcome=play_pb2.Welcome(server_version="9.9.9", max_concurrent_games=1, gone_game_ids=["b"])
    )
    again = play_pb2.PlayResponse(updates=[question("a", "1")])
    again.updates[0].events.extend(events(2, 3))
    lost = (grpc.StatusCode.UNAVAILABLE, "connection reset")
    referee = Referee((HEARS, WELCOME, asks, HEARS), lost, then=[((HEARS, back, again, HEARS, ENDS), None)])
    bot = Diary()
    with serving(referee) as address:
        play(bot, settings(address, patience=60.0))
    # then: the new stream is told what the bot knows, and the bot hears nothing twice
    hello = referee.heard[2].hello
    assert [(one.game_id, one.last_sequence) for one in hello.resumes] == [("a", 2), ("b", 0)]
    assert bot.lines == [
        *("a starts", ("a", [1, 2]), "b starts", "a asks 1", "b asks 1"),
        *(("b", ()), ("a", [3]), "a asks 1", ("a", (1, 2))),
    ]
    assert [one.decision_id for one in referee.heard[3].answers] == ["1"]


def test_a_server_that_is_lost_for_good_is_told_after_the_patience() -> None:
    lost = (grpc.StatusCode.UNAVAILABLE, "going down")
    referee = Referee((HEARS, WELCOME, ASKS, HEARS), lost, then=[((HEARS,), lost)])
    with (
        serving(referee) as address,
        pytest.raises(ConnectionFailedError, match=r"has stopped, or the connection was lost .*going down"),
    ):
        play(drawing, settings(address, patience=0.5))
    assert len(referee.heard) > 3  # it was tried again


def test_who_asks_for_the_end_plays_its_games_to_the_end() -> None:
    stop = Stop()

    def stopping(_: Decision) -> str:
        stop.request()
        return "draw"

    referee = Referee((HEARS, WELCOME, ASKS, HEARS, HEARS, ENDS))
    with serving(referee) as address:
        play(stopping, settings(address), stop)
    assert [(one.HasField("drain"), len(one.answers)) for one in referee.heard[1:]] == [(True, 0), (False, 2)]


def test_who_has_asked_for_the_end_drains_at_once() -> None:
    stop = Stop()
    stop.request()
    referee = Referee((HEARS, HEARS, WELCOME))
    with serving(referee) as address:
        play(drawing, settings(address), stop)
    assert [one.HasField("drain") for one in referee.heard] == [False, True]


def test_who_has_asked_for_the_end_waits_for_no_server() -> None:
    with serving(None) as address:
        pass
    stop = Stop()
    stop.request()
    play(drawing, settings(address, patience=600.0), stop)


def test_fast_answers_go_out_together_and_wait_for_no_slow_one() -> None:
    def answers(*seconds: float) -> Iterator[play_pb2.Answer]:
        for number, one in enumerate(seconds):
            time.sleep(one)
            yield play_pb2.Answer(game_id=str(number))

    sizes = [len(one.answers) for one in batches(answers(0, 0, 0, 0.01, 0, 0.01))]
    assert sum(sizes) == 6
    assert sizes[0] >= 4  # what came fast, and the slow one
    assert len(sizes) >= 2
    assert list(batches(answers())) == []


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
        (grpc.StatusCode.PERMISSION_DENIED, "does not let this copy of the bot play"),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "was sent too much"),
        (grpc.StatusCode.UNAVAILABLE, "has stopped, or the connection was lost"),
        (grpc.StatusCode.INTERNAL, "ended the stream with INTERNAL"),
    ],
)
def test_the_server_ends_the_stream(code: grpc.StatusCode, sentence: str) -> None:
    with serving(Referee((HEARS, WELCOME), (code, "because"))) as address:
        with pytest.raises(ConnectionFailedError, match=sentence) as caught:
            play(drawing, settings(address, patience=0.5))
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


@pytest.mark.parametrize(
    ("flag", "meant"),
    [
        ("--addres", "--address"),
        ("--adress=localhost:1", "--address"),
        ("-address", "--address"),
        ("--addr", "--address"),
        ("--tokn", "--token"),
        ("--Token", "--token"),
    ],
)
def test_a_slip_in_a_flag_is_named(flag: str, meant: str) -> None:
    environment = {"RUMMYARENA_ADDRESS": "e:1", "RUMMYARENA_TOKEN": "e"}
    name = flag.partition("=")[0]
    with pytest.raises(SettingsError, match=f"unknown flag {name}; did you mean {meant}"):
        find_place(None, None, [flag], environment)


def test_flags_of_the_bots_own_are_left_alone() -> None:
    environment = {"RUMMYARENA_ADDRESS": "e:1", "RUMMYARENA_TOKEN": "e"}
    own = ["--depth", "3", "-v", "--learn=0.1", "--at", "book.txt", "--token-file", "x"]
    assert find_place(None, None, own, environment) == ("e:1", "e")


def test_arguments_come_before_flags_and_flags_before_the_environment() -> None:
    environment = {"RUMMYARENA_ADDRESS": "e:1", "RUMMYARENA_TOKEN": "e"}
    assert find_place(None, None, ["--depth", "3"], environment) == ("e:1", "e")
    assert find_place(None, None, ["--address", "f:1", "--token=f"], environment) == ("f:1", "f")
    assert find_place("unix:/run/a", "a", ["--address", "f:1"], environment) == ("unix:/run/a", "a")


# --- programs --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bot", SAMPLE_BOTS, ids=lambda path: path.stem)
def test_the_sample_bots_are_programs(bot: Path, tmp_path: Path) -> None:
    referee = Referee((HEARS, WELCOME, said(asked("a", "1", first=True)), HEARS, ENDS))
    with serving(referee) as address:
        process = script(bot, address, tmp_path)
        output = process.communicate()
    assert (process.returncode, output) == (0, ("", ""))
    move = read_move(referee.heard[1].answers[0].moves[0])
    assert not isinstance(move, Refusal)
    assert THAI.check(THAI.view(STATE, FIRST), move) is None


def test_there_are_sample_bots() -> None:
    assert {"first_candidate", "random_legal"} <= {one.stem for one in SAMPLE_BOTS}


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


def test_a_program_may_have_flags_like_ours(tmp_path: Path) -> None:
    source = "from rummyarena import run\nrun(lambda one: 'draw', arguments=[])\n"
    with serving(Referee(ONE_QUESTION)) as address:
        process = script(source, address, tmp_path, "--addresses", "here")
        assert process.communicate() == ("", "")
    assert process.returncode == 0


ASKED = "from rummyarena import run\nrun(lambda one: print('asked', flush=True) or 'draw')\n"


@contextmanager
def asked_bot(referee: Referee, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A bot as a program that was asked for a decision."""
    with serving(referee) as address:
        process = script(ASKED, address, tmp_path)
        assert process.stdout is not None
        while process.stdout.readline() != "asked\n":
            pass
        yield process


def test_ctrl_c_ends_a_bot_quietly(tmp_path: Path) -> None:
    with asked_bot(Referee((HEARS, WELCOME, ASKS, HEARS, HEARS)), tmp_path) as process:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert (process.returncode, errors) == (0, "")


def test_sigterm_has_a_bot_play_to_the_end(tmp_path: Path) -> None:
    # given: a referee that ends the games only when the bot has said that it wants no more
    referee = Referee((HEARS, WELCOME, ASKS, HEARS, HEARS, ASKS, HEARS, ENDS))
    with asked_bot(referee, tmp_path) as process:
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate()
    assert (process.returncode, errors) == (0, "")
    assert output.count("asked") >= 2  # it went on
    assert any(one.HasField("drain") for one in referee.heard)


def test_a_second_sigterm_ends_a_bot_at_once(tmp_path: Path) -> None:
    referee = Referee((HEARS, WELCOME, ASKS, HEARS, HEARS, HEARS))
    with asked_bot(referee, tmp_path) as process:
        process.send_signal(signal.SIGTERM)
        while not any(one.HasField("drain") for one in referee.heard):
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate()
    assert (process.returncode, errors) == (0, "")


def test_the_version_is_that_of_the_distribution() -> None:
    assert f'version = "{rummyarena.__version__}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
