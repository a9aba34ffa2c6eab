"""In a gauntlet challengers meet the field and never each other, evenly, and the schedule can be entered anywhere."""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations, groupby, pairwise, product
from operator import attrgetter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rummyarena_server.tournament.gauntlet import Gauntlet
from rummyarena_server.tournament.schedule import ScheduledGame
from rummyarena_server.tournament.tables import blocks
from tests.tournament.test_schedule import described_circle, described_circuits, described_firsts, described_order


@st.composite
def gauntlets(draw: st.DrawFn, most_seats: int = 8) -> Gauntlet:
    seats = draw(st.sampled_from([one for one in (2, 3, 4, 8) if one <= most_seats]))
    field = draw(st.integers(seats - 1, 9))
    entrants = field + draw(st.integers(1, 4))
    challengers = sorted(draw(st.permutations(range(entrants)))[field:])
    return Gauntlet(draw(st.integers(0, 2**63 - 1)), entrants, tuple(challengers), seats, draw(st.integers(1, 3)))


def tables_of(gauntlet: Gauntlet) -> list[tuple[int, ...]]:
    """The tables of all deal groups at rotation 0."""
    return [gauntlet.game(group * gauntlet.seats).table for group in range(gauntlet.groups)]


def meetings(tables: list[tuple[int, ...]]) -> Counter[frozenset[int]]:
    return Counter(frozenset(pair) for table in tables for pair in combinations(table, 2))


@given(gauntlets())
@settings(max_examples=50)
def test_a_table_has_one_challenger_and_the_field(gauntlet: Gauntlet) -> None:
    for table in tables_of(gauntlet):
        assert len(set(table)) == gauntlet.seats
        assert len(set(table) & set(gauntlet.challengers)) == 1


@given(gauntlets())
@settings(max_examples=50)
def test_in_each_cycle_each_challenger_meets_everybody_in_the_field_equally_often(gauntlet: Gauntlet) -> None:
    tables = tables_of(gauntlet)
    of_a_cycle = len(tables) // gauntlet.cycles
    for first in range(0, len(tables), of_a_cycle):
        met = meetings(tables[first : first + of_a_cycle])
        assert len({met[frozenset(pair)] for pair in product(gauntlet.challengers, gauntlet.field)}) == 1
        assert len({met[frozenset(pair)] for pair in combinations(gauntlet.field, 2)}) <= 1
        assert min(met.values()) >= 1


@given(gauntlets())
@settings(max_examples=50)
def test_in_a_group_every_bot_sits_in_every_seat_once(gauntlet: Gauntlet) -> None:
    games = [gauntlet.game(index) for index in range(len(gauntlet))]
    assert [game.index for game in games] == list(range(len(gauntlet)))
    for group, some in groupby(games, key=attrgetter("group")):
        rotations: list[ScheduledGame] = list(some)
        assert [(one.index, one.rotation) for one in rotations] == [
            (group * gauntlet.seats + rotation, rotation) for rotation in range(gauntlet.seats)
        ]
        for seat in range(gauntlet.seats):
            assert {one.table[seat] for one in rotations} == set(rotations[0].table)


@given(gauntlets(), st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_a_game_is_the_same_in_whatever_order_one_asks(gauntlet: Gauntlet, random: Random) -> None:
    in_order = list(gauntlet)
    indices = list(range(len(gauntlet)))
    random.shuffle(indices)
    assert [gauntlet.game(index) for index in indices] == [in_order[index] for index in indices]


@given(gauntlets())
@settings(max_examples=50)
def test_at_any_moment_the_challengers_have_had_as_many_tables_as_each_other(gauntlet: Gauntlet) -> None:
    had = dict.fromkeys(gauntlet.challengers, 0)
    for number, table in enumerate(tables_of(gauntlet), 1):
        had[next(one for one in table if one in had)] += 1
        assert max(had.values()) - min(had.values()) <= (number % len(had) > 0)


@given(gauntlets())
@settings(max_examples=50)
def test_at_any_moment_the_field_has_had_about_as_many_tables(gauntlet: Gauntlet) -> None:
    had = dict.fromkeys(gauntlet.field, 0)
    for number, table in enumerate(tables_of(gauntlet), 1):
        for one in set(table) & set(had):
            had[one] += 1
        if number % len(gauntlet.challengers) == 0:
            assert max(had.values()) - min(had.values()) <= 3 + len(gauntlet.challengers)


@pytest.mark.parametrize(("entrants", "challengers", "seats", "lap"), [(6, 2, 3, 2), (6, 1, 4, 6), (10, 2, 8, 14)])
def test_after_a_lap_everybody_has_followed_everybody_equally_often(
    entrants: int, challengers: int, seats: int, lap: int
) -> None:
    gauntlet = Gauntlet(3, entrants, tuple(range(challengers)), seats, lap)
    followed = Counter(chain.from_iterable(pairwise((*table, table[0])) for table in tables_of(gauntlet)))
    field = list(gauntlet.field)
    assert len({followed[a, b] for a, b in product(gauntlet.challengers, field)}) == 1
    assert len({followed[b, a] for a, b in product(gauntlet.challengers, field)}) == 1
    assert len({followed[a, b] for a, b in product(field, field) if a != b}) == 1


def test_a_field_too_large_for_all_tables_has_a_balanced_selection() -> None:
    gauntlet = Gauntlet(0, 42, (0, 1), 5)
    assert gauntlet.groups == 2 * 40 * len(blocks(40, 4))
    met = meetings(tables_of(gauntlet))
    assert len({met[frozenset(pair)] for pair in product((0, 1), gauntlet.field)}) == 1
    counts = [met[frozenset(pair)] for pair in combinations(gauntlet.field, 2)]
    assert max(counts) - min(counts) <= 4  # each challenger has the selection, of which they differ by at most 2


def test_a_seed_gives_this_schedule_for_ever() -> None:
    assert tables_of(Gauntlet(7, 5, (1, 3))) == [(1, 0), (3, 2), (1, 2), (3, 4), (1, 4), (3, 0)]
    assert tables_of(Gauntlet(7, 5, (0, 2), 3)) == [(0, 3, 4), (2, 1, 4), (0, 4, 1), (2, 3, 1), (0, 1, 3), (2, 4, 3)]


@pytest.mark.parametrize(
    ("entrants", "challengers", "seats", "cycles"),
    [(5, (1,), 2, 2), (6, (0, 3), 2, 1), (7, (1, 2), 3, 3), (8, (0, 7), 4, 7), (7, (3,), 4, 1), (9, (0, 1), 8, 2)],
)
def test_anybody_can_redo_a_gauntlet_from_its_description(
    entrants: int, challengers: tuple[int, ...], seats: int, cycles: int
) -> None:
    assert tables_of(Gauntlet(20, entrants, challengers, seats, cycles)) == as_described(
        20, entrants, challengers, seats, cycles
    )


@pytest.mark.parametrize(("entrants", "seats"), [(1000, 2), (64, 8)])
def test_a_gauntlet_of_many_millions_of_games_is_entered_anywhere(entrants: int, seats: int) -> None:
    gauntlet = Gauntlet(1, entrants, (0, 5), seats, 1_000_000)
    assert len(gauntlet) > 1_000_000_000
    assert gauntlet.game(len(gauntlet) - 1).group == gauntlet.groups - 1
    assert gauntlet.game(0).index == 0


def test_cycles_and_seeds_have_different_orders() -> None:
    one, other = (Gauntlet(seed, 9, (0,), cycles=2) for seed in (0, 1))
    assert len({tuple(tables_of(one)[:8]), tuple(tables_of(one)[8:]), tuple(tables_of(other)[:8])}) == 3


# --- what there is not -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [-1, 4])
def test_there_is_no_game_outside_the_schedule(index: int) -> None:
    with pytest.raises(IndexError, match=f"game {index} of a schedule of 4"):
        Gauntlet(0, 3, (0,)).game(index)


@pytest.mark.parametrize("challengers", [(), (1, 0), (0, 0), (3,), (-1,)])
def test_challengers_are_entrants_each_named_once(challengers: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"challengers are some of 0 \.\. 2, ascending"):
        Gauntlet(0, 3, challengers)


@pytest.mark.parametrize(
    "wrong", [{"cycles": 0}, {"seed": -1}, {"seats": 1}, {"seats": 4}, {"seats": 9, "entrants": 20}, {"entrants": 1}]
)
def test_what_cannot_be_scheduled_is_refused(wrong: dict[str, int]) -> None:
    values = {"seed": 0, "entrants": 3, "seats": 2, "cycles": 1} | wrong
    with pytest.raises(ValueError, match="no gauntlet"):
        Gauntlet(challengers=(0,), **values)


def test_larger_tables_are_for_at_most_as_many_entrants_as_were_tried_out() -> None:
    with pytest.raises(ValueError, match="tables of 3 are scheduled for at most 64 entrants"):
        Gauntlet(0, 65, (0,), 3)


# --- the description of docs/formats.md, word by word and slowly ------------------------------------------------------


def as_described(
    seed: int, entrants: int, challengers: tuple[int, ...], seats: int, cycles: int
) -> list[tuple[int, ...]]:
    field = [one for one in range(entrants) if one not in challengers]
    f, c = len(field), len(challengers)
    tables: list[tuple[int, ...]] = [(*places, f) for places in described_places(f, seats)]
    ways: list[tuple[int, ...]] = described_circuits(seats) if seats > 2 else [(1, 0)]  # the challenger first
    lap = len(ways)
    firsts = described_firsts(tables, ways, lap) if seats > 2 else [0] * f
    groups = []
    for cycle in range(cycles):
        circle = described_circle(seed, cycle // lap, f)
        for g in range(c * len(tables)):
            a = g % c
            number = (g // c + a * len(tables) // c) % len(tables)
            way = ways[(firsts[number] + (cycle % lap + a) % lap) % len(ways)]
            bots = [*(field[one] for one in circle), challengers[a]]
            groups.append(tuple(bots[tables[number][position]] for position in way))
    return groups


def described_places(f: int, seats: int) -> list[tuple[int, ...]]:
    """The places of the field at each table, for fields that have all of them."""
    if seats == 2:
        return [(place,) for place in range(f)]
    if seats > 3:
        return described_order(f, seats - 1, set(combinations(range(f), seats - 1)))
    m = f + f % 2
    pairs: list[tuple[int, ...]] = []
    for r in range(m - 1):
        pairs += [] if f % 2 else [(m - 1, r)]
        pairs += [((r + k) % (m - 1), (r - k) % (m - 1)) for k in range(1, m // 2)]
    return [tuple(sorted(pair)) for pair in pairs]
