"""Whatever a bot does: it loses the games it is in, nobody else feels it, and nothing of it is left."""

from __future__ import annotations

import re
import sys
from itertools import combinations
from pathlib import Path

import pytest

from tests.end_to_end.arena import Ended, Played, games, play, write_bot, write_sample, write_tournament

GOOD = {"good": "random_legal", "also good": "random_legal", "better": "first_candidate"}

BREAKS_AT_ITS_START = "raise RuntimeError('no book of openings')"

ENDS_AT_ONCE = ""

RAISES_AT_ITS_FIRST_DECISION = """
from rummyarena import run

def bot(decision):
    raise ValueError("what now?")

run(bot)
"""

EXITS_IN_THE_MIDDLE = """
import os
from rummyarena import run
asked = 0

def bot(decision):
    global asked
    asked += 1
    if asked > 5:
        print("enough of this")
        os._exit(3)
    return decision.candidates[0]

run(bot)
"""

# It is killed, as by a system that has run out of memory, and has started a process that would live on.
IS_KILLED_IN_THE_MIDDLE = """
import os, signal, subprocess, sys
from rummyarena import run
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"])
with open("processes", "a") as file:
    print(child.pid, file=file)
asked = 0

def bot(decision):
    global asked
    asked += 1
    if asked > 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return decision.candidates[-1]

run(bot)
"""

PLAYS_WHAT_IT_MAY_NOT = """
from rummyarena import pass_, run
run(lambda decision: pass_())
"""

# It says Hello, answers its first decision with bytes that are no message, and comes back for the next games.
SENDS_GARBAGE = """
import os, queue, time
import grpc
from rummyarena.v1 import play_pb2

HELLO = play_pb2.PlayRequest(hello=play_pb2.Hello(max_concurrent_games=4)).SerializeToString()
TOKEN = (("authorization", "Bearer " + os.environ["RUMMYARENA_TOKEN"]),)

def play(method):
    sent = queue.SimpleQueue()
    sent.put(HELLO)
    try:
        for frame in method(iter(sent.get, None), metadata=TOKEN):
            if play_pb2.PlayResponse.FromString(frame).updates:
                sent.put(bytes([255]) * 40)
    except grpc.RpcError as error:
        return error.code()
    finally:
        sent.put(None)

with grpc.insecure_channel(os.environ["RUMMYARENA_ADDRESS"]) as channel:
    while play(channel.stream_stream("/rummyarena.v1.PlayService/Play")) == grpc.StatusCode.INVALID_ARGUMENT:
        time.sleep(0.05)
"""

BAD = {
    "breaks at its start": BREAKS_AT_ITS_START,
    "ends at once": ENDS_AT_ONCE,
    "raises": RAISES_AT_ITS_FIRST_DECISION,
    "exits": EXITS_IN_THE_MIDDLE,
    "is killed": IS_KILLED_IN_THE_MIDDLE,
    "cheats": PLAYS_WHAT_IT_MAY_NOT,
    "garbage": SENDS_GARBAGE,
}

# It is a program of its own that removes itself: it can be started once, and not a second time.
VANISHES = f"""#!{sys.executable}
import os
os.remove("vanishes")
"""

FORFEITS = {
    "breaks at its start": {"withdrawn"},
    "ends at once": {"withdrawn"},
    "raises": {"exited", "withdrawn"},
    "exits": {"exited", "withdrawn"},
    "is killed": {"exited", "withdrawn"},
    "cheats": {"faults"},
    "garbage": {"misuse"},
    "vanishes": {"withdrawn"},
}


@pytest.fixture(scope="module")
def event(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    """A tournament of good bots and bad ones; that it ends, and leaves no process, is `play`'s to see."""
    folder = tmp_path_factory.mktemp("event")
    bots = {name: write_sample(folder, sample) for name, sample in GOOD.items()}
    bots |= {name: write_bot(folder, name.replace(" ", "_"), source) for name, source in BAD.items()}
    (folder / "vanishes").write_text(VANISHES)
    (folder / "vanishes").chmod(0o755)
    write_tournament(folder, bots | {"vanishes": ["./vanishes"]})
    return folder, play(folder)


def games_of(folder: Path, name: str) -> list[tuple[int, Played]]:
    """Returns the games of a bot, each after its seat there."""
    return [(game.bots.index(name), game) for game in games(folder) if name in game.bots]


@pytest.mark.parametrize("name", FORFEITS)
def test_it_loses_every_game_that_it_is_in_and_its_opponents_win(name: str, event: tuple[Path, Ended]) -> None:
    folder, _ = event
    against_good = [(seat, game) for seat, game in games_of(folder, name) if game.bots[1 - seat] in GOOD]

    assert len(against_good) == 2 * len(GOOD)
    for seat, game in against_good:
        assert game.forfeits[seat] in FORFEITS[name]
        assert (game.ranks[seat], game.ranks[1 - seat], game.forfeits[1 - seat]) == (2, 1, None)
        assert game.rated


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("raises", "exited with code 1"), ("exits", "exited with code 3"), ("is killed", "was killed by SIGKILL")],
)
def test_a_bot_that_exits_is_started_afresh(name: str, sentence: str, event: tuple[Path, Ended]) -> None:
    folder, ended = event
    assert "exited" in {game.forfeits[seat] for seat, game in games_of(folder, name)}
    assert ended.err.splitlines().count(f"{name} {sentence}") > 1


@pytest.mark.parametrize("name", ["breaks at its start", "ends at once"])
def test_after_three_exits_without_a_finished_game_it_is_withdrawn(name: str, event: tuple[Path, Ended]) -> None:
    _, ended = event
    lines = [line for line in ended.err.splitlines() if line.startswith(f"{name} ")]
    assert [line.startswith(f"{name} exited with code") for line in lines[:4]] == [True, True, True, False]
    assert lines[3] == f"{name} is withdrawn after 3 exits in a row"


def test_the_games_of_the_others_are_those_of_an_event_without_it(event: tuple[Path, Ended], tmp_path: Path) -> None:
    # given: the same event with a well-behaved bot in the place of each bad one
    bots = {name: write_sample(tmp_path, sample) for name, sample in GOOD.items()}
    write_tournament(tmp_path, bots | dict.fromkeys(FORFEITS, bots["better"]))

    play(tmp_path)

    def among_good(folder: Path) -> list[str]:
        return [game.game_text for game in games(folder) if set(game.bots) <= set(GOOD)]

    folder, _ = event
    assert len(among_good(folder)) == 2 * len(list(combinations(GOOD, 2)))
    assert among_good(folder) == among_good(tmp_path)


def test_a_game_between_two_bad_bots_has_a_defined_end(event: tuple[Path, Ended]) -> None:
    folder, _ = event
    between_bad = [game for game in games(folder) if not set(game.bots) & set(GOOD)]

    assert len(between_bad) == len(FORFEITS) * (len(FORFEITS) - 1)
    for game in between_bad:
        forfeits = [one is not None for one in game.forfeits]
        assert any(forfeits)
        assert game.rated == (not all(forfeits))
        assert game.ranks == ((2, 2) if all(forfeits) else (2, 1) if forfeits[0] else (1, 2))


@pytest.mark.parametrize(
    ("name", "sentence", "last_line"),
    [
        ("breaks at its start", "exited with code 1", "RuntimeError: no book of openings"),
        ("raises", "exited with code 1", "ValueError: what now?"),
        ("exits", "exited with code 3", "enough of this"),
    ],
)
def test_the_last_words_of_a_bot_that_crashed_are_shown(
    name: str, sentence: str, last_line: str, event: tuple[Path, Ended]
) -> None:
    folder, ended = event
    told = rf"^{name} {sentence}\n(?:  .*\n)*?  {re.escape(last_line)}\n  its output is in (.*)$"
    logs = re.findall(told, ended.err, re.MULTILINE)

    assert len(set(logs)) == len(logs) > 1
    for log in logs:
        assert (folder / log).read_text().endswith(f"{last_line}\n")


def test_a_bot_that_printed_nothing_has_no_log(event: tuple[Path, Ended]) -> None:
    folder, ended = event
    following = re.findall(r"^ends at once exited with code 0\n(?=(.*))", ended.err, re.MULTILINE)
    assert len(following) == 3
    assert not any(line.startswith(" ") for line in following)
    assert list((folder / "rummyarena-logs").glob("ends_at_once-*")) == []


def test_a_bot_that_cannot_be_found_any_more_is_told_with_its_path(event: tuple[Path, Ended]) -> None:
    folder, ended = event
    assert ended.err.count(f"there is no file {folder / 'vanishes'}; build it or correct the path") == 2
    assert "vanishes is withdrawn after 3 exits in a row\n" in ended.err


def test_no_bot_makes_the_server_show_a_traceback_of_its_own(event: tuple[Path, Ended]) -> None:
    _, ended = event
    assert not any(line.startswith(("Traceback", "ERROR")) for line in ended.err.splitlines())
    assert all(line.isprintable() for line in ended.err.splitlines())


# --- where time matters ----------------------------------------------------------------------------------------------

# It is connected, never answers, and does not end when it is asked to.
HANGS = """
import signal, time
from rummyarena import run
signal.signal(signal.SIGTERM, signal.SIG_IGN)
run(lambda decision: time.sleep(600))
"""

NEVER_CONNECTS = """
import time
print("thinking about it")
time.sleep(600)
"""


def test_bots_that_hang_or_never_connect_lose_by_time(tmp_path: Path) -> None:
    hangs, never = write_bot(tmp_path, "hangs", HANGS), write_bot(tmp_path, "never", NEVER_CONNECTS)
    bots = {"good": write_sample(tmp_path, "first_candidate"), "hangs": hangs, "never connects": never}
    write_tournament(tmp_path, bots, clock="on", decision_seconds=0.5, bank_seconds=0, start_seconds=1.5)

    ended = play(tmp_path)

    assert [(game.ranks[seat], game.forfeits[seat]) for seat, game in games_of(tmp_path, "good")] == [(1, None)] * 4
    for name, forfeit in (("hangs", "faults"), ("never connects", "withdrawn")):
        against_good = [(seat, game) for seat, game in games_of(tmp_path, name) if "good" in game.bots]
        assert [game.forfeits[seat] for seat, game in against_good] == [forfeit] * 2
    assert [game.faults[seat] for seat, game in games_of(tmp_path, "hangs") if "good" in game.bots] == [3, 3]
    told = "never connects did not connect within 1.5 seconds of its start and was stopped\n  thinking about it\n"
    assert ended.err.count(told) == 3
    assert "never connects is withdrawn after 3 exits in a row\n" in ended.err
