"""A round robin is fair, can be entered anywhere, and anybody can work it out from its public seed."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from itertools import combinations, groupby
from operator import attrgetter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rummyarena_server.tournament.schedule import RoundRobin, ScheduledGame

SCHEDULES = st.builds(RoundRobin, seed=st.integers(0, 2**63 - 1), entrants=st.integers(2, 11), cycles=st.integers(1, 4))


def groups_of(schedule: RoundRobin) -> list[list[ScheduledGame]]:
    return [list(games) for _, games in groupby(schedule, key=attrgetter("group"))]


def rounds_of(schedule: RoundRobin) -> list[list[set[int]]]:
    """The pairs of each round: a round has a table for every two entrants."""
    pairs = [set(games[0].table) for games in groups_of(schedule)]
    tables = schedule.entrants // 2
    return [pairs[at : at + tables] for at in range(0, len(pairs), tables)]


@given(SCHEDULES)
def test_every_pair_meets_in_as_many_groups_as_there_are_cycles(schedule: RoundRobin) -> None:
    met = Counter(frozenset(games[0].table) for games in groups_of(schedule))
    assert met == {frozenset(pair): schedule.cycles for pair in combinations(range(schedule.entrants), 2)}


@given(SCHEDULES)
def test_in_a_group_every_bot_sits_in_every_seat_once(schedule: RoundRobin) -> None:
    for games in groups_of(schedule):
        assert [game.rotation for game in games] == list(range(schedule.seats))
        assert {frozenset(game.table) for game in games} == {frozenset(games[0].table)}
        for seat in range(schedule.seats):
            assert len({game.table[seat] for game in games}) == schedule.seats


@given(SCHEDULES)
def test_indices_and_groups_count_from_zero_without_gaps(schedule: RoundRobin) -> None:
    games = list(schedule)
    assert [game.index for game in games] == list(range(len(schedule)))
    assert [game.group for game in games] == [index // schedule.seats for index in range(len(schedule))]
    assert len(schedule) == schedule.groups * schedule.seats


@given(SCHEDULES, st.randoms(use_true_random=False))
def test_a_game_is_the_same_in_whatever_order_one_asks(schedule: RoundRobin, random: Random) -> None:
    in_order = list(schedule)
    indices = list(range(len(schedule)))
    random.shuffle(indices)
    assert [schedule.game(index) for index in indices] == [in_order[index] for index in indices]


@given(SCHEDULES)
def test_nobody_is_at_two_tables_of_a_round(schedule: RoundRobin) -> None:
    for pairs in rounds_of(schedule):
        assert len(set().union(*pairs)) == 2 * len(pairs)


@given(SCHEDULES)
def test_in_a_cycle_of_an_odd_number_everybody_has_one_bye(schedule: RoundRobin) -> None:
    everybody = set(range(schedule.entrants))
    byes = Counter(one for pairs in rounds_of(schedule) for one in everybody - set().union(*pairs))
    assert byes == (dict.fromkeys(everybody, schedule.cycles) if schedule.entrants % 2 else {})


def test_a_schedule_of_many_millions_of_games_is_entered_anywhere() -> None:
    schedule = RoundRobin(seed=1, entrants=1000, cycles=1_000_000)
    assert len(schedule) == 999_000_000_000
    assert schedule.game(len(schedule) - 1).group == schedule.groups - 1
    assert next(iter(schedule)).index == 0


def test_cycles_and_seeds_have_different_orders() -> None:
    first, second = (RoundRobin(seed=0, entrants=8, cycles=2).game(index).table for index in (0, 56))
    other = RoundRobin(seed=1, entrants=8).game(0).table
    assert len({first, second, other}) == 3


def test_the_circle_can_be_worked_out_by_hand() -> None:
    # The words of the first block of the stream, as the modules of schedule and shoe describe it.
    key = sha256(b"schedule/7/" + b"circle/0").digest()
    block = sha256(key + bytes(8)).digest()
    words = [int.from_bytes(block[at : at + 4], "big") for at in range(0, 32, 4)]
    circle = [0, 1, 2, 3]
    for last, word in zip((3, 2, 1), words, strict=False):  # none of these words is near the limit of 2^32
        other = word % (last + 1)
        circle[last], circle[other] = circle[other], circle[last]
    a, b, c, d = circle
    tables = [game.table for game in RoundRobin(seed=7, entrants=4)]
    assert tables[0::2] == [(d, a), (b, c), (d, b), (c, a), (d, c), (a, b)]
    assert tables[1::2] == [(a, d), (c, b), (b, d), (a, c), (c, d), (b, a)]


@pytest.mark.parametrize("index", [-1, 2])
def test_there_is_no_game_outside_the_schedule(index: int) -> None:
    with pytest.raises(IndexError, match=f"game {index} of a schedule of 2"):
        RoundRobin(seed=0, entrants=2).game(index)


def test_what_cannot_be_scheduled_is_refused() -> None:
    with pytest.raises(ValueError, match="only tables of 2"):
        RoundRobin(seed=0, entrants=4, seats=3)
    for wrong in ({"entrants": 1}, {"cycles": 0}, {"seed": -1}):
        with pytest.raises(ValueError, match="no round robin"):
            RoundRobin(**({"seed": 0, "entrants": 2} | wrong))
