"""Bots that play with time: never, late, slowly, away and back, too much at once, or all together.

See `test_hostile_bots` for how they are judged.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

from tests.end_to_end import raw_bot
from tests.end_to_end.arena import (
    Ended,
    bots_left,
    end_of,
    games,
    play,
    started,
    write_bot,
    write_tournament,
)
from tests.end_to_end.hostile import (
    BEHAVES,
    STALE,
    assert_defined,
    assert_fair,
    assert_lost,
    games_against_good,
    games_of_good,
    notes,
    told_of,
    write_event,
)

# --- they play with time ---------------------------------------------------------------------------------------------

NEVER_ANSWERS = """
from raw_bot import play
play(lambda stream, update: None)
"""

# A decision may take 1 second, or 1.5 with what is in the bank of the game at first.
IS_ALWAYS_LATE = """
import threading
from raw_bot import named, play
play(lambda stream, update: threading.Timer(2.0, stream.answer, [named(update)]).start())
"""

IS_LATE_ONCE = """
import threading
from raw_bot import named, play, well
seen = set()

def decide(stream, update):
    if update.game_id in seen:
        well(stream, update)
    else:
        seen.add(update.game_id)
        threading.Timer(2.0, stream.answer, [named(update)]).start()

play(decide)
"""

COMES_BACK = """
import time
from raw_bot import Stream, note, play, well

def said(update):
    left = update.decision.time_left.ToTimedelta().total_seconds()
    return f"{update.game_id} {update.decision.decision_id} {left}"

stream = Stream()
left = next(stream.decisions())
note(said(left))
stream.close()
time.sleep(0.4)
has_noted = False

def decide(stream, update):
    global has_noted
    if update.game_id == left.game_id and not has_noted:
        has_noted = True
        note(said(update))
        note(f"setup: {update.HasField('setup')}, view: {update.HasField('view')}")
    well(stream, update)

play(decide)
"""

# It knows that it is asked to end when it is given up, and looks first whether it may come back.
COMES_BACK_TOO_LATE = """
import signal, time
from raw_bot import Stream
signal.signal(signal.SIGTERM, signal.SIG_IGN)
stream = Stream()
next(stream.decisions())
stream.close()
time.sleep(1.5)
assert list(Stream().updates()) == []
"""

STOPS_READING = """
import time
from raw_bot import HELLO, Stream
from rummyarena.v1.play_pb2 import PlayRequest, WANTS_BOTH
HELLO.wants = WANTS_BOTH
stream = Stream(PlayRequest(hello=HELLO), options=[("grpc.http2.lookahead_bytes", 1), ("grpc.http2.bdp_probe", 0)])
next(stream.decisions())
time.sleep(600)
"""

# It reads on, but has closed its side of the stream, on which its answers would go.
SAYS_NO_MORE = """
from raw_bot import play
play(lambda stream, update: stream.half_close())
"""

SENDS_TOO_MUCH = """
from raw_bot import named, play

def decide(stream, update):
    answer = named(update)
    stream.answer(*[answer] * (1536 * 1024 // answer.ByteSize()))

play(decide)
"""

HOGS_THE_PROCESSOR = """
import subprocess, sys
from raw_bot import play, well
for _ in range(2):
    child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import os; os.nice(19); [0 for _ in iter(int, 1)]"])
    with open("processes", "a") as file:
        print(child.pid, file=file)
play(well)
"""

UNTIMELY: Final = {
    "never answers": NEVER_ANSWERS,
    "always late": IS_ALWAYS_LATE,
    "late once": IS_LATE_ONCE,
    "comes back": COMES_BACK,
    "back too late": COMES_BACK_TOO_LATE,
    "stops reading": STOPS_READING,
    "says no more": SAYS_NO_MORE,
    "sends too much": SENDS_TOO_MUCH,
    "hogs": HOGS_THE_PROCESSOR,
}


@pytest.fixture(scope="module")
def untimely(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    folder = tmp_path_factory.mktemp("untimely")
    write_event(folder, UNTIMELY, clock="on", decision_seconds=1.0, bank_seconds=0.5, reconnect_seconds=1.0)
    return folder, play(folder)


@pytest.mark.parametrize("name", ["never answers", "always late"])
def test_three_decisions_without_an_answer_in_time_forfeit_a_game(name: str, untimely: tuple[Path, Ended]) -> None:
    folder, ended = untimely
    assert_lost(folder, name, "faults")
    assert [game.faults[seat] for seat, game in games_against_good(folder, name)] == [3] * 4
    assert told_of(ended, name) == []


def test_an_answer_that_comes_late_once_is_a_fault_and_no_forfeit(untimely: tuple[Path, Ended]) -> None:
    folder, _ = untimely
    for seat, game in games_against_good(folder, "late once"):
        assert (game.faults[seat], game.faults[1 - seat]) == (1, 0)
        assert game.forfeits == (None, None)
        assert game.rated


@pytest.mark.parametrize("name", ["always late", "late once"])
def test_a_late_answer_is_refused_as_stale(name: str, untimely: tuple[Path, Ended]) -> None:
    folder, _ = untimely
    assert {*notes(folder, name)} - {"OK"} == {STALE}


def test_a_bot_that_comes_back_in_time_is_asked_the_same_and_its_clock_has_run(untimely: tuple[Path, Ended]) -> None:
    folder, _ = untimely
    before, after, told = notes(folder, "comes back")[:3]
    *decision, left = before.split()
    *same_decision, less = after.split()
    assert same_decision == decision
    assert float(less) <= float(left) - 0.4
    assert told == "setup: True, view: True"
    for _, game in games_against_good(folder, "comes back"):
        assert_fair(game)


def test_a_bot_that_comes_back_too_late_is_refused_and_has_forfeited_its_games(untimely: tuple[Path, Ended]) -> None:
    folder, ended = untimely
    assert_lost(folder, "back too late", "gone", "withdrawn")
    assert {*notes(folder, "back too late")} == {"UNAUTHENTICATED"}
    assert told_of(ended, "back too late")[0] == "was no longer connected and was stopped"


@pytest.mark.parametrize("name", ["stops reading", "says no more"])
def test_a_bot_that_uses_one_side_of_its_stream_only_is_gone(name: str, untimely: tuple[Path, Ended]) -> None:
    folder, ended = untimely
    assert_lost(folder, name, "gone", "withdrawn")
    assert told_of(ended, name)[0] == "was no longer connected and was stopped"


def test_a_message_that_is_too_large_is_misuse(untimely: tuple[Path, Ended]) -> None:
    folder, _ = untimely
    assert {*notes(folder, "sends too much")} <= {"RESOURCE_EXHAUSTED", "OK"}
    assert_lost(folder, "sends too much", "misuse")


def test_a_bot_that_takes_the_processor_makes_nobody_late(untimely: tuple[Path, Ended]) -> None:
    folder, _ = untimely
    for _, game in games_against_good(folder, "hogs"):
        assert_fair(game)


def test_the_games_of_those_that_behave_are_fair_meanwhile(untimely: tuple[Path, Ended]) -> None:
    folder, _ = untimely
    for game in games_of_good(folder):
        assert_fair(game)


# --- they fail together ----------------------------------------------------------------------------------------------

WAITS_FOR_THE_OTHERS_AND_DIES = """
import os, time
from pathlib import Path
from raw_bot import Stream
update = next(Stream().updates())
Path(f"{update.game_id} {update.setup.seat}").touch()
while len(list(Path().glob(f"{update.game_id} *"))) < 3:
    time.sleep(0.001)
os._exit(1)
"""


def test_where_all_bots_of_a_table_die_at_once_the_game_has_a_defined_end(tmp_path: Path) -> None:
    shutil.copy(raw_bot.__file__, tmp_path)
    names = ["one", "two", "three"]
    bots = {name: write_bot(tmp_path, name, WAITS_FOR_THE_OTHERS_AND_DIES) for name in names}
    write_tournament(tmp_path, bots, seats=3)

    ended = play(tmp_path)

    played = games(tmp_path)
    assert len(played) == 3
    assert all(game.forfeits.count(None) < 2 for game in played)
    assert_defined(tmp_path)
    assert {forfeit for game in played for forfeit in game.forfeits} <= {"exited", "withdrawn", None}
    told = [name for name in names if "exited with code 1" in told_of(ended, name)]
    assert len(told) >= 2  # the last one may have died unnoticed, for without it the games were decided


def test_between_untimely_bots_who_is_left_alone_has_won_and_else_nobody(untimely: tuple[Path, Ended]) -> None:
    folder, _ = untimely
    assert_defined(folder)


# --- they take their time: this tournament lasts half a minute and runs beside all tests above -----------------------

# It pings as often as the server permits; a fourth ping too many would cost it the connection.
PINGS = """
from raw_bot import Stream, note, play, well
note("connects")
play(well, Stream(options=[
    ("grpc.keepalive_time_ms", 10_100),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
]))
"""

SENDS_HALF_A_HANDSHAKE = """
import os, socket, time
host, _, port = os.environ["RUMMYARENA_ADDRESS"].rpartition(":")
connection = socket.create_connection((host, int(port)))
connection.sendall(b"PRI * HTTP/2.0")
time.sleep(600)
"""

STARTS_SLOWLY = "import time; time.sleep(7)" + BEHAVES

START_SECONDS: Final = 11


@pytest.fixture(scope="module", autouse=True)
def leisurely_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    """With this seed the idle bot plays once, waits until half a handshake is given up, and plays again."""
    folder = tmp_path_factory.mktemp("leisurely")
    bots = {"idle": PINGS, "half a handshake": SENDS_HALF_A_HANDSHAKE, "starts slowly": STARTS_SLOWLY}
    write_event(folder, bots, seed=1, clock="on", decision_seconds=5, bank_seconds=0, start_seconds=START_SECONDS)
    with started(folder, "tournament", "run", "tournament.toml") as server:
        yield folder, server


@pytest.fixture(scope="module")
def leisurely(leisurely_run: tuple[Path, subprocess.Popen[str]]) -> tuple[Path, Ended]:
    folder, server = leisurely_run
    ended = end_of(server)
    assert ended.status == 0, ended
    assert bots_left(folder) == []
    return folder, ended


def test_the_clocks_wait_for_a_slow_start(leisurely: tuple[Path, Ended]) -> None:
    folder, _ = leisurely
    for _, game in games_against_good(folder, "starts slowly"):
        assert_fair(game)


def test_half_a_handshake_is_no_connection(leisurely: tuple[Path, Ended]) -> None:
    folder, ended = leisurely
    assert_lost(folder, "half a handshake", "withdrawn")
    sentence = f"did not connect within {START_SECONDS} seconds of its start and was stopped"
    assert told_of(ended, "half a handshake")[:3] == [sentence] * 3


def test_an_idle_bot_lives(leisurely: tuple[Path, Ended]) -> None:
    folder, _ = leisurely
    records = [game.record for _, game in games_against_good(folder, "idle")]
    times = sorted((one.started_at, one.finished_at) for one in records if one and one.started_at and one.finished_at)
    assert max(later[0] - earlier[1] for earlier, later in pairwise(times)) > timedelta(seconds=3 * 10.1)
    assert [line for line in notes(folder, "idle") if line != "OK"] == ["connects"]
    for _, game in games_against_good(folder, "idle"):
        assert_fair(game)
