"""A machine that has too much to do for the clock of a tournament: the run says so, and which games it was."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

from tests.end_to_end.arena import arena, end_of, games, write_sample, write_tournament
from tests.end_to_end.hurry import hurry
from tests.end_to_end.waiting import in_the_middle, write_waiting

CLOCK = {"clock": "on", "bank_seconds": 60.0}


def test_a_run_on_a_machine_that_stands_still_says_that_its_clocks_are_not_reliable(tmp_path: Path) -> None:
    # given: a tournament whose server is late by a multiple of what is tolerable, 0.1 s
    write_waiting(tmp_path, concurrency=1, decision_seconds=1.0, **CLOCK)
    with in_the_middle(tmp_path) as server:
        during = len(games(tmp_path))
        server.send_signal(signal.SIGSTOP)
        time.sleep(0.5)  # five times what is tolerable
        server.send_signal(signal.SIGCONT)
        (tmp_path / "go").touch()
        ended = end_of(server)

    assert ended.status == 0
    once, *rest = ended.err.splitlines()
    assert once.startswith("Friday is not timed reliably: this machine was late by ")
    assert rest[-1].startswith("In ")
    assert " of 12 games this machine was late by more than 100 ms, " in rest[-1]

    # then: it is kept, for people and for programs
    shown = arena(tmp_path, "tournament", "show", "Friday")
    assert rest[-1] in shown.out.splitlines()
    read = json.loads(arena(tmp_path, "tournament", "show", "Friday", "--json").out)
    assert read["games"][during]["lag"] > 300_000
    assert read["timing"] == {
        "tolerable": 100_000,
        "worst": max(game["lag"] for game in read["games"]),
        "games": 12,
        "doubtful": sum(game["lag"] > 100_000 for game in read["games"]),
    }


def test_a_run_on_a_machine_that_is_fast_enough_says_nothing_of_it(tmp_path: Path) -> None:
    first = write_sample(tmp_path, "first_candidate")
    write_tournament(tmp_path, {"one": first, "other": first}, decision_seconds=600.0, **CLOCK)

    ended = arena(tmp_path, "tournament", "run", "tournament.toml")

    assert (ended.status, ended.err) == (0, "")
    read = json.loads(arena(tmp_path, "tournament", "show", "Friday", "--json").out)
    assert (read["timing"]["tolerable"], read["timing"]["doubtful"]) == (60_000_000, 0)


def test_late_answers_of_instant_bots_are_counted_over_all_games(tmp_path: Path) -> None:
    found = hurry(tmp_path, games=4, concurrency=2)  # the long version is `scripts/torture forfeits`

    assert (found.games, len(games(tmp_path))) == (4, 4)
    assert found.decisions == sum(len(game.record.moves) for game in games(tmp_path) if game.record)
    assert found.slowest > 0


def test_without_a_clock_nothing_is_said_of_it(tmp_path: Path) -> None:
    first = write_sample(tmp_path, "first_candidate")
    write_tournament(tmp_path, {"one": first, "other": first})

    ended = arena(tmp_path, "tournament", "run", "tournament.toml")

    assert (ended.status, ended.err) == (0, "")
    assert json.loads(arena(tmp_path, "tournament", "show", "Friday", "--json").out)["timing"] is None
