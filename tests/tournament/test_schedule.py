"""A round robin is fair, can be entered anywhere, and anybody can work it out from its public seed."""

from __future__ import annotations

import tracemalloc
from collections import Counter, deque
from collections.abc import Mapping
from hashlib import sha256
from itertools import chain, combinations, groupby, islice, pairwise, permutations
from math import comb
from operator import attrgetter
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rummyarena_rules.shoe import Stream
from rummyarena_server.tournament.schedule import RoundRobin, ScheduledGame
from rummyarena_server.tournament.tables import blocks, circuits

SEEDS = st.integers(0, 2**63 - 1)
PAIRS = st.builds(RoundRobin, seed=SEEDS, entrants=st.integers(2, 11), cycles=st.integers(1, 4))
SIZES = [  # the others have so many tables that a few of them are tried one by one
    (entrants, seats)
    for seats in range(3, 9)
    for entrants in range(seats, 65)
    if not 500 < comb(entrants, seats) <= 5000
]
LARGER = st.tuples(SEEDS, st.sampled_from(SIZES), st.integers(1, 2)).map(
    lambda drawn: RoundRobin(seed=drawn[0], entrants=drawn[1][0], seats=drawn[1][1], cycles=drawn[2])
)
SCHEDULES = PAIRS | LARGER


def groups_of(schedule: RoundRobin) -> list[list[ScheduledGame]]:
    return [list(games) for _, games in groupby(schedule, key=attrgetter("group"))]


def rounds_of(schedule: RoundRobin) -> list[list[set[int]]]:
    """The pairs of each round: a round has a table for every two entrants."""
    pairs = [set(games[0].table) for games in groups_of(schedule)]
    tables = schedule.entrants // 2
    return [pairs[at : at + tables] for at in range(0, len(pairs), tables)]


def cycles_of(schedule: RoundRobin) -> list[list[tuple[int, ...]]]:
    """The tables of each cycle at rotation 0."""
    tables = [games[0].table for games in groups_of(schedule)]
    of_a_cycle = len(tables) // schedule.cycles
    return [tables[at : at + of_a_cycle] for at in range(0, len(tables), of_a_cycle)]


def first_tables(schedule: RoundRobin) -> list[tuple[int, ...]]:
    return [schedule.game(group * schedule.seats).table for group in range(min(schedule.groups, 7))]


def followers(table: tuple[int, ...]) -> list[tuple[int, int]]:
    """Everybody at a table with who sits next, round the table."""
    return list(pairwise((*table, table[0])))


def games_of(schedule: RoundRobin, tables: list[tuple[int, ...]]) -> dict[int, int]:
    games = Counter(chain.from_iterable(tables))
    return {one: games[one] for one in range(schedule.entrants)}


def meetings_of(schedule: RoundRobin, tables: list[tuple[int, ...]]) -> dict[tuple[int, int], int]:
    met = Counter(pair for table in tables for pair in combinations(sorted(table), 2))
    return {pair: met[pair] for pair in combinations(range(schedule.entrants), 2)}


def followings_of(schedule: RoundRobin, tables: list[tuple[int, ...]]) -> dict[tuple[int, int], int]:
    followed = Counter(chain.from_iterable(map(followers, tables)))
    return {pair: followed[pair] for pair in permutations(range(schedule.entrants), 2)}


def widest(counts: Mapping[Any, int]) -> int:
    """How much the largest count exceeds the smallest."""
    return max(counts.values()) - min(counts.values())


@given(PAIRS)
def test_every_pair_meets_in_as_many_groups_as_there_are_cycles(schedule: RoundRobin) -> None:
    met = Counter(frozenset(games[0].table) for games in groups_of(schedule))
    assert met == {frozenset(pair): schedule.cycles for pair in combinations(range(schedule.entrants), 2)}


@given(SCHEDULES)
@settings(max_examples=50)
def test_in_a_group_every_bot_sits_in_every_seat_once(schedule: RoundRobin) -> None:
    for games in groups_of(schedule):
        assert [game.rotation for game in games] == list(range(schedule.seats))
        assert len(set(games[0].table)) == schedule.seats
        assert {frozenset(game.table) for game in games} == {frozenset(games[0].table)}
        for seat in range(schedule.seats):
            assert len({game.table[seat] for game in games}) == schedule.seats


@given(SCHEDULES)
@settings(max_examples=50)
def test_indices_and_groups_count_from_zero_without_gaps(schedule: RoundRobin) -> None:
    games = list(schedule)
    assert [game.index for game in games] == list(range(len(schedule)))
    assert [game.group for game in games] == [index // schedule.seats for index in range(len(schedule))]
    assert len(schedule) == schedule.groups * schedule.seats


@given(SCHEDULES, st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_a_game_is_the_same_in_whatever_order_one_asks(schedule: RoundRobin, random: Random) -> None:
    in_order = list(schedule)
    indices = list(range(len(schedule)))
    random.shuffle(indices)
    assert [schedule.game(index) for index in indices] == [in_order[index] for index in indices]


@given(PAIRS)
def test_nobody_is_at_two_tables_of_a_round(schedule: RoundRobin) -> None:
    for pairs in rounds_of(schedule):
        assert len(set().union(*pairs)) == 2 * len(pairs)


@given(PAIRS)
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


# --- tables of three to eight ----------------------------------------------------------------------------------------


@given(LARGER)
@settings(max_examples=25)
def test_in_a_group_everybody_keeps_the_neighbours(schedule: RoundRobin) -> None:
    for games in groups_of(schedule):
        assert len({frozenset(followers(game.table)) for game in games}) == 1


@given(LARGER)
@settings(max_examples=25)
def test_games_and_meetings_are_even_in_each_cycle(schedule: RoundRobin) -> None:
    all_tables = comb(schedule.entrants, schedule.seats) <= 5000
    for tables in cycles_of(schedule):
        assert widest(games_of(schedule, tables)) == 0
        assert widest(meetings_of(schedule, tables)) <= (0 if all_tables else 2)
        assert min(meetings_of(schedule, tables).values()) >= 1
        assert len(set(map(frozenset, tables))) == len(tables)


@given(LARGER)
@settings(max_examples=25)
def test_at_any_moment_of_a_cycle_everybody_has_had_about_as_many_tables(schedule: RoundRobin) -> None:
    most = 4 if comb(schedule.entrants, schedule.seats) <= 5000 else 8
    for tables in cycles_of(schedule):
        games = dict.fromkeys(range(schedule.entrants), 0)
        for table in tables:
            for one in table:
                games[one] += 1
            assert widest(games) <= most


@given(LARGER)
@settings(max_examples=25)
def test_nobody_waits_long_for_a_table(schedule: RoundRobin) -> None:
    for tables in cycles_of(schedule):
        seen = dict.fromkeys(range(schedule.entrants), -1)
        for number, table in enumerate(tables):
            assert all(number - seen[one] <= 1.5 * schedule.entrants for one in table)
            seen |= dict.fromkeys(table, number)
        assert all(len(tables) - last <= 1.5 * schedule.entrants for last in seen.values())


@given(LARGER)
@settings(max_examples=25)
def test_in_each_cycle_everybody_follows_the_others_about_equally_often(schedule: RoundRobin) -> None:
    most = 10 if comb(schedule.entrants, schedule.seats) <= 5000 else 2
    for tables in cycles_of(schedule):
        assert widest(followings_of(schedule, tables)) <= most


@pytest.mark.parametrize(
    ("entrants", "seats", "lap"), [(3, 3, 2), (5, 3, 2), (4, 4, 6), (7, 4, 6), (5, 5, 4), (6, 6, 10)]
)
def test_after_a_lap_everybody_has_followed_everybody_equally_often(entrants: int, seats: int, lap: int) -> None:
    schedule = RoundRobin(seed=3, entrants=entrants, seats=seats, cycles=2 * lap)
    cycles = cycles_of(schedule)
    for tables in (cycles[:lap], cycles[lap:]):
        assert widest(followings_of(schedule, list(chain.from_iterable(tables)))) == 0
    assert cycles[:lap] != cycles[lap:]  # for the circle is another one


@pytest.mark.parametrize("seats", range(3, 9))
def test_on_all_circuits_each_position_follows_each_other_one_equally_often(seats: int) -> None:
    followed = Counter(chain.from_iterable(map(followers, circuits(seats))))
    assert set(followed) == set(permutations(range(seats), 2))
    assert widest(followed) == 0


@pytest.mark.parametrize(("entrants", "seats"), [(32, 3), (20, 4), (16, 5), (14, 8)])
def test_all_tables_are_played_where_they_are_at_most_five_thousand(entrants: int, seats: int) -> None:
    schedule = RoundRobin(seed=0, entrants=entrants, seats=seats)
    (tables,) = cycles_of(schedule)
    assert sorted(tuple(sorted(table)) for table in tables) == list(combinations(range(entrants), seats))
    assert widest(followings_of(schedule, tables)) <= 10


@pytest.mark.parametrize("seats", range(3, 9))
def test_a_selection_of_tables_is_even_for_every_number_of_entrants(seats: int) -> None:
    for entrants in (one for one in range(seats, 65) if comb(one, seats) > 5000):
        tables = [
            frozenset((place + step) % entrants for place in block)
            for block in blocks(entrants, seats)
            for step in range(entrants)
        ]
        assert {len(table) for table in tables} == {seats}
        assert len(set(tables)) == len(tables) <= 5000
        meetings = Counter(pair for table in tables for pair in combinations(sorted(table), 2))
        assert len(meetings) == comb(entrants, 2)
        assert widest(meetings) <= 2


def test_cycles_of_a_selection_have_circles_of_their_own() -> None:
    schedule = RoundRobin(seed=0, entrants=24, seats=4, cycles=6)
    cycles = cycles_of(schedule)
    assert len({frozenset(map(frozenset, tables)) for tables in cycles}) == 6
    games = games_of(schedule, list(chain.from_iterable(cycles)))
    assert set(games.values()) == {6 * 12}


def test_a_schedule_of_larger_tables_is_entered_anywhere() -> None:
    schedule = RoundRobin(seed=1, entrants=64, seats=8, cycles=1_000_000)
    assert len(schedule) == 1_024_000_000
    assert schedule.game(len(schedule) - 1).group == schedule.groups - 1


@pytest.mark.parametrize(("entrants", "seats"), [(4, 4), (6, 3), (24, 4)])
def test_going_through_a_schedule_takes_no_memory(entrants: int, seats: int) -> None:
    games = iter(RoundRobin(seed=1, entrants=entrants, seats=seats, cycles=1_000_000))
    deque(islice(games, 3_000), maxlen=0)  # by now everything that is kept is there
    tracemalloc.start()
    try:
        deque(islice(games, 3_000), maxlen=0)
        before = tracemalloc.get_traced_memory()[0]
        deque(islice(games, 10_000), maxlen=0)
        assert tracemalloc.get_traced_memory()[0] - before < 4_000
    finally:
        tracemalloc.stop()


def test_a_seed_gives_this_schedule_for_ever() -> None:
    assert [game.table for game in islice(RoundRobin(seed=7, entrants=5, seats=3), 4)] == [
        (0, 1, 4),
        (1, 4, 0),
        (4, 0, 1),
        (2, 1, 3),
    ]
    assert first_tables(RoundRobin(seed=7, entrants=5, seats=3)) == [
        (0, 1, 4),
        (2, 1, 3),
        (3, 0, 4),
        (2, 4, 1),
        (2, 0, 3),
        (3, 1, 4),
        (2, 4, 0),
    ]
    assert first_tables(RoundRobin(seed=7, entrants=4, seats=4, cycles=7)) == [
        (0, 1, 2, 3),
        (0, 2, 3, 1),
        (0, 3, 1, 2),
        (3, 2, 1, 0),
        (1, 3, 2, 0),
        (2, 1, 3, 0),
        (1, 3, 2, 0),
    ]
    assert first_tables(RoundRobin(seed=7, entrants=15, seats=8)) == [
        (1, 12, 8, 6, 9, 4, 5, 10),
        (4, 8, 13, 12, 10, 11, 0, 14),
        (2, 8, 9, 1, 14, 7, 3, 4),
        (1, 13, 5, 7, 0, 4, 3, 11),
        (2, 13, 3, 9, 11, 12, 6, 1),
        (11, 3, 6, 14, 9, 10, 13, 7),
        (0, 10, 3, 5, 11, 9, 12, 2),
    ]


@pytest.mark.parametrize(
    ("entrants", "seats", "cycles"),
    [(3, 3, 5), (6, 3, 3), (7, 4, 7), (8, 5, 5), (33, 3, 2), (15, 6, 3), (16, 8, 2), (24, 4, 1)],
)
def test_anybody_can_redo_a_schedule_from_its_description(entrants: int, seats: int, cycles: int) -> None:
    schedule = RoundRobin(seed=20, entrants=entrants, seats=seats, cycles=cycles)
    redone = as_described(20, entrants, seats, cycles)
    assert [games[0].table for games in groups_of(schedule)] == redone


# --- what there is not -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [-1, 2])
def test_there_is_no_game_outside_the_schedule(index: int) -> None:
    with pytest.raises(IndexError, match=f"game {index} of a schedule of 2"):
        RoundRobin(seed=0, entrants=2).game(index)


@pytest.mark.parametrize(
    "wrong", [{"entrants": 1}, {"cycles": 0}, {"seed": -1}, {"seats": 1}, {"seats": 3}, {"seats": 9, "entrants": 20}]
)
def test_what_cannot_be_scheduled_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="no round robin"):
        RoundRobin(**({"seed": 0, "entrants": 2} | wrong))


def test_larger_tables_are_for_at_most_as_many_entrants_as_were_tried_out() -> None:
    with pytest.raises(ValueError, match="tables of 3 are scheduled for at most 64 entrants"):
        RoundRobin(seed=0, entrants=65, seats=3)


# --- the description of docs/schedule.md, word by word and slowly -----------------------------------------------------


def as_described(seed: int, entrants: int, seats: int, cycles: int) -> list[tuple[int, ...]]:
    all_tables = comb(entrants, seats) <= 5000
    tables = set(combinations(range(entrants), seats)) if all_tables else described_selection(entrants, seats)
    ways = described_circuits(seats)
    lap = len(ways) if all_tables else 1
    in_order = described_order(entrants, seats, tables)
    firsts = described_firsts(in_order, ways, lap)
    groups = []
    for cycle in range(cycles):
        circle = described_circle(seed, cycle // lap, entrants)
        for table, first in zip(in_order, firsts, strict=True):
            way = ways[(first + cycle % lap) % len(ways)]
            groups.append(tuple(circle[table[position]] for position in way))
    return groups


def described_circle(seed: int, number: int, entrants: int) -> list[int]:
    stream = Stream(f"schedule/{seed}/".encode(), f"circle/{number}")
    circle = list(range(entrants))
    for last in range(entrants - 1, 0, -1):
        other = stream.below(last + 1)
        circle[last], circle[other] = circle[other], circle[last]
    return circle


def described_selection(entrants: int, seats: int) -> set[tuple[int, ...]]:
    tables: list[tuple[int, ...]] = []
    meetings: Counter[tuple[int, int]] = Counter(dict.fromkeys(combinations(range(entrants), 2), 0))

    def moved(block: list[int]) -> list[tuple[int, ...]]:
        return [tuple(sorted((place + step) % entrants for place in block)) for step in range(entrants)]

    def meetings_with(block: list[int]) -> Counter[tuple[int, int]]:
        return meetings + Counter(pair for table in moved(block) for pair in combinations(table, 2))

    while min(meetings.values()) == 0 or widest(meetings) > 2:
        block = [0]
        while len(block) < seats:
            rest = (place for place in range(entrants) if place not in block)
            squares = [(sum(met**2 for met in meetings_with([*block, place]).values()), place) for place in rest]
            block.append(min(squares)[1])
        meetings.update(pair for table in moved(block) for pair in combinations(table, 2))
        tables += moved(block)
    return set(tables)


def described_order(entrants: int, seats: int, tables: set[tuple[int, ...]]) -> list[tuple[int, ...]]:
    left, in_order = set(tables), []
    games: Counter[int] = Counter()
    meetings: Counter[frozenset[int]] = Counter()
    queue = list(range(entrants))
    while left:
        chosen: list[int] = []
        while len(chosen) < seats:
            possible = {place for table in left if set(chosen) <= set(table) for place in table} - set(chosen)
            ranked = [
                (games[place], sum(meetings[frozenset((place, other))] for other in chosen), queue.index(place), place)
                for place in possible
            ]
            chosen.append(min(ranked)[-1])
        table = tuple(sorted(chosen))
        left.remove(table)
        in_order.append(table)
        games.update(chosen)
        meetings.update(map(frozenset, combinations(chosen, 2)))
        queue = [place for place in queue if place not in chosen] + chosen
    return in_order


def described_circuits(seats: int) -> list[tuple[int, ...]]:
    zigzag = [0]
    for step in range(1, seats):
        zigzag += [step, -step]
    forward = [(seats - 1, *((z + j) % (seats - 1) for z in zigzag[: seats - 1])) for j in range(seats - 1)]
    return forward if seats % 2 else forward + [tuple(reversed(way)) for way in forward]


def described_firsts(in_order: list[tuple[int, ...]], ways: list[tuple[int, ...]], lap: int) -> list[int]:
    followed: Counter[tuple[int, int, int]] = Counter()
    firsts = []
    for table in in_order:
        by_first = [
            [
                (cycle, table[one], table[other])
                for cycle in range(lap)
                for one, other in followers(ways[(first + cycle) % len(ways)])
            ]
            for first in range(len(ways))
        ]
        sums = [sum(followed[one] for one in all_cycles) for all_cycles in by_first]
        firsts.append(sums.index(min(sums)))
        followed.update(by_first[firsts[-1]])
    return firsts
