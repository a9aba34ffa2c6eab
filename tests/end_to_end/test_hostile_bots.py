"""Bots that mean harm, or are as clumsy as if they did: on the stream, with their output and with their processes.

Each tournament holds several of them beside two bots that behave, and is judged by what is recorded. `test_bad_bots`
has those that need no malice: they crash, cheat or hang; `test_untimely_bots` those that play with time. Most speak to
the referee through `raw_bot`, without the SDK.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from rummyarena_server.hosting.output import HEAD_BYTES, TAIL_BYTES
from tests.end_to_end.arena import Ended, bots_left, bots_started, games, play
from tests.end_to_end.hostile import (
    GOOD,
    STALE,
    assert_defined,
    assert_fair,
    assert_lost,
    game_of_first_candidates,
    games_against_good,
    games_of_good,
    logs,
    notes,
    told_of,
    write_event,
)

# --- they do much that they should not, and it changes nothing -------------------------------------------------------

ANSWERS_TWICE = """
from raw_bot import named, play

def decide(stream, update):
    stream.answer(named(update))
    stream.answer(named(update))

play(decide)
"""

ANSWERS_A_THOUSAND_TIMES = """
from raw_bot import named, play
asked = 0

def decide(stream, update):
    global asked
    asked += 1
    stream.answer(*[named(update)] * (1000 if asked in (3, 30) else 1))

play(decide)
"""

# It is in one game at a time, so that every other game is one of other bots.
ANSWERS_FOR_OTHERS = """
from raw_bot import HELLO, Stream, named, play
from rummyarena.v1.play_pb2 import PlayRequest
HELLO.max_concurrent_games = 1

def decide(stream, update):
    tournament, index, attempt = update.game_id.split(".")
    events, seat = update.decision.decision_id.split(".")
    theirs = f"{events}.{1 - int(seat)}"
    others = [f"{tournament}.{int(index) + step}.{attempt}" for step in (-2, -1, 1, 2)]
    stolen = [named(update, game_id=game, decision_id=one) for game in others for one in (theirs, f"{events}.{seat}")]
    stream.answer(named(update, decision_id=theirs), *stolen, named(update))

play(decide, Stream(PlayRequest(hello=HELLO)))
"""

ANSWERS_BEFORE_IT_IS_ASKED = """
from raw_bot import HELLO, Stream, named, play
from rummyarena.v1.play_pb2 import Answer, PlayRequest

def decide(stream, update):
    events, seat = map(int, update.decision.decision_id.split("."))
    coming = [named(update, decision_id=f"{events + step}.{seat}") for step in range(1, 9)]
    stream.answer(*coming, named(update))

at_once = [Answer(game_id=f"1.{index}.0", decision_id="4.0") for index in range(100)]
play(decide, Stream(PlayRequest(hello=HELLO, answers=at_once)))
"""

CONNECTS_TWICE = """
from raw_bot import Stream, play, well
first = Stream()
second = None
for update in first.decisions():
    second = second or Stream()
play(well, second)
"""

FLOODS_ITS_OUTPUT = """
import os
from raw_bot import play, well

def decide(stream, update):
    for output in (1, 2):
        os.write(output, b"all work and no play\\n" * 1500)
    well(stream, update)

play(decide)
"""

IGNORES_SIGTERM = """
import signal, subprocess, sys, time
from raw_bot import play, well
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"])
with open("processes", "a") as file:
    print(child.pid, file=file)
play(well)
time.sleep(600)
"""

# A process that makes a session of its own is not followed; it must not hold anything up. The test ends it.
LETS_A_PROCESS_ESCAPE = """
import subprocess, sys
from raw_bot import note, play, well
child = subprocess.Popen(
    [sys.executable, "-I", "-S", "-c", "import time; print('free', flush=True); time.sleep(120)"],
    start_new_session=True,
)
note(str(child.pid))
play(well)
"""

HARMLESS: Final = {
    "answers twice": ANSWERS_TWICE,
    "answers a thousand times": ANSWERS_A_THOUSAND_TIMES,
    "answers for others": ANSWERS_FOR_OTHERS,
    "answers before": ANSWERS_BEFORE_IT_IS_ASKED,
    "connects twice": CONNECTS_TWICE,
    "floods its output": FLOODS_ITS_OUTPUT,
    "ignores SIGTERM": IGNORES_SIGTERM,
    "lets escape": LETS_A_PROCESS_ESCAPE,
}


@pytest.fixture(scope="module")
def harmless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Ended]]:
    folder = tmp_path_factory.mktemp("harmless")
    write_event(folder, HARMLESS)
    try:
        yield folder, play(folder)
    finally:
        for line in notes(folder, "lets escape"):
            if line.isdigit():
                os.kill(int(line), signal.SIGKILL)


def test_nobody_is_at_fault_and_every_game_is_what_it_would_have_been(harmless: tuple[Path, Ended]) -> None:
    folder, ended = harmless
    played = games(folder)
    bots = len(GOOD) + len(HARMLESS)
    assert len(played) == bots * (bots - 1)
    for game in played:
        assert_fair(game)
    assert ended.err == ""


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("answers twice", 100),
        ("answers a thousand times", 2 * 999),
        ("answers for others", 1000),
        ("answers before", 1000),
    ],
)
def test_an_answer_that_nobody_waits_for_is_refused_as_stale(
    name: str, least: int, harmless: tuple[Path, Ended]
) -> None:
    folder, _ = harmless
    refusals = [line for line in notes(folder, name) if line != "OK"]
    assert {*refusals} == {STALE}
    assert len(refusals) >= least


def test_a_second_connection_replaces_the_first(harmless: tuple[Path, Ended]) -> None:
    folder, _ = harmless
    assert [line for line in notes(folder, "connects twice") if line != "OK"] == ["ABORTED"]


def test_of_a_flood_of_output_the_log_keeps_beginning_and_end(harmless: tuple[Path, Ended]) -> None:
    folder, _ = harmless
    (log,) = logs(folder, "floods its output")
    text = log.read_text()

    assert HEAD_BYTES + TAIL_BYTES < len(text) < HEAD_BYTES + TAIL_BYTES + 100
    assert text.startswith("all work and no play\n")
    assert text.endswith("all work and no play\n")
    assert re.search(r"\n\[\.\.\. [0-9]{7,} bytes of output are left out here \.\.\.]\n", text)


def test_what_ignores_sigterm_is_killed_with_its_children(harmless: tuple[Path, Ended]) -> None:
    folder, _ = harmless
    assert len(bots_started(folder)) == len(GOOD) + len(HARMLESS) + 1
    assert bots_left(folder) == []


def test_a_process_that_leaves_the_group_and_keeps_the_output_open_holds_nothing_up(
    harmless: tuple[Path, Ended],
) -> None:
    folder, _ = harmless
    assert notes(folder, "lets escape")[0].isdigit()
    (log,) = logs(folder, "lets escape")
    assert log.read_text() == "free\n"


# --- they break the protocol, or die where it hurts most -------------------------------------------------------------

SAYS_NO_HELLO = """
from raw_bot import Stream
from rummyarena.v1.play_pb2 import Answer, PlayRequest
stream = Stream(PlayRequest(answers=[Answer(game_id="1.0.0", decision_id="4.0")]))
assert list(stream.updates()) == []
"""

SAYS_HELLO_AGAIN = """
from raw_bot import HELLO, play
from rummyarena.v1.play_pb2 import PlayRequest
play(lambda stream, update: stream.send(PlayRequest(hello=HELLO)))
"""

ANSWERS_ONE_BYTE = """
from raw_bot import play
play(lambda stream, update: stream.send(b"\\xff"))
"""

FLOODS_THE_STREAM = """
from raw_bot import named, play
play(lambda stream, update: stream.answer(*[named(update, decision_id="0.0")] * 6000))
"""

# The last action is a knock, for the games are of one deal. It is in one game at a time, so that no other ends with it,
# and spares every second game, so that it is never withdrawn.
DIES_BEFORE_ITS_LAST_MOVE = """
import os
from pathlib import Path
from raw_bot import HELLO, Stream, play, well
from rummyarena.v1.play_pb2 import PlayRequest
HELLO.max_concurrent_games = 1
is_spared = Path("spared")

def decide(stream, update):
    if update.decision.candidates[0].HasField("knock"):
        if not is_spared.exists():
            is_spared.touch()
            os._exit(1)
        is_spared.unlink()
    well(stream, update)

play(decide, Stream(PlayRequest(hello=HELLO)))
"""

# With the answer it asks for no more games, so that it is in none when it dies, its answer being on its way.
DIES_AFTER_ITS_LAST_MOVE = """
import os, time
from raw_bot import HELLO, Stream, named, play, well
from rummyarena.v1.play_pb2 import Drain, PlayRequest
HELLO.max_concurrent_games = 1

def decide(stream, update):
    if update.decision.candidates[0].HasField("knock"):
        stream.send(PlayRequest(answers=[named(update)], drain=Drain()))
        time.sleep(0.1)
        os._exit(1)
    well(stream, update)

play(decide, Stream(PlayRequest(hello=HELLO)))
"""

PRINTS_A_LINE_WITHOUT_END = """
import os
from raw_bot import play, well
asked = 0

def decide(stream, update):
    global asked
    asked += 1
    os.write(1, b"no end " * 10_000)
    if asked == 30:
        os._exit(1)
    well(stream, update)

play(decide)
"""

HARMFUL: Final = {
    "says no hello": SAYS_NO_HELLO,
    "says hello again": SAYS_HELLO_AGAIN,
    "answers one byte": ANSWERS_ONE_BYTE,
    "floods the stream": FLOODS_THE_STREAM,
    "dies before": DIES_BEFORE_ITS_LAST_MOVE,
    "dies after": DIES_AFTER_ITS_LAST_MOVE,
    "prints a line": PRINTS_A_LINE_WITHOUT_END,
}


@pytest.fixture(scope="module")
def harmful(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    folder = tmp_path_factory.mktemp("harmful")
    write_event(folder, HARMFUL)
    return folder, play(folder)


@pytest.mark.parametrize("name", ["says hello again", "answers one byte", "floods the stream"])
def test_misuse_of_the_stream_forfeits_the_games_that_are_on(name: str, harmful: tuple[Path, Ended]) -> None:
    folder, ended = harmful
    assert_lost(folder, name, "misuse")
    assert told_of(ended, name) == []  # it comes back for its next games as the process that it was


def test_misuse_is_told_with_the_code_that_the_contract_names(harmful: tuple[Path, Ended]) -> None:
    folder, _ = harmful
    codes = {name: notes(folder, name)[0] for name in HARMFUL if name.startswith(("says", "answers", "floods"))}
    assert codes == {
        "says no hello": "FAILED_PRECONDITION",
        "says hello again": "FAILED_PRECONDITION",
        "answers one byte": "INVALID_ARGUMENT",
        "floods the stream": "RESOURCE_EXHAUSTED",
    }


def test_a_bot_that_never_says_hello_is_withdrawn_unplayed(harmful: tuple[Path, Ended]) -> None:
    folder, ended = harmful
    assert_lost(folder, "says no hello", "withdrawn")
    assert {game.status for _, game in games_against_good(folder, "says no hello")} == {"unplayed"}
    assert told_of(ended, "says no hello") == [
        *["exited with code 0"] * 3,
        "is withdrawn after 3 exits in a row",
    ]
    assert "says no hello has forfeited all its games; what it printed is in rummyarena-logs/\n" in ended.err


def test_a_bot_that_dies_before_its_last_move_loses_what_it_would_have_won(harmful: tuple[Path, Ended]) -> None:
    folder, ended = harmful
    found = games_against_good(folder, "dies before")
    forfeited = [(seat, game) for seat, game in found if game.forfeits[seat] is not None]
    assert forfeited
    for seat, game in forfeited:
        assert (game.forfeits[seat], game.ranks[seat], game.ranks[1 - seat], game.rated) == ("exited", 2, 1, True)
        assert game.record is not None
        assert game.record.moves == game_of_first_candidates(game.record.setup).moves[:-1]
    for one in found:
        if one not in forfeited:
            assert_fair(one[1])
    assert {*told_of(ended, "dies before")} == {"exited with code 1"}


def test_a_bot_that_dies_after_its_last_move_has_won(harmful: tuple[Path, Ended]) -> None:
    folder, ended = harmful
    won = [(seat, game) for seat, game in games_against_good(folder, "dies after") if game.ranks[seat] == 1]
    assert won
    for _, game in games_against_good(folder, "dies after"):
        assert_fair(game)
    assert "is withdrawn after 3 exits in a row" not in told_of(ended, "dies after")


def test_a_line_without_end_is_cut_where_it_is_shown_and_capped_where_it_is_kept(harmful: tuple[Path, Ended]) -> None:
    folder, ended = harmful
    assert_lost(folder, "prints a line", "exited", "withdrawn")
    shown = [line for line in ended.err.splitlines() if "no end no end" in line]
    assert shown
    assert all(len(line) == 2 + 200 and line.endswith("...") for line in shown)
    assert max(log.stat().st_size for log in logs(folder, "prints a line")) < HEAD_BYTES + TAIL_BYTES + 100


def test_the_games_of_the_others_are_fair(harmful: tuple[Path, Ended]) -> None:
    folder, _ = harmful
    for game in games_of_good(folder):
        assert_fair(game)


def test_between_hostile_bots_who_is_left_alone_has_won_and_else_nobody(harmful: tuple[Path, Ended]) -> None:
    folder, _ = harmful
    assert_defined(folder)
