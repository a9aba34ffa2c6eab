"""Elo as it is published: worked numbers, nothing gained or lost in all, the same for tables of any size."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rummyarena_server.tournament.rating import K, elo_changes, expected_score

RATINGS = st.floats(-1000, 4000)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[float], list[int]]:
    seats = draw(st.integers(2, 8))
    ratings = draw(st.lists(RATINGS, min_size=seats, max_size=seats))
    return ratings, draw(st.lists(st.integers(1, seats), min_size=seats, max_size=seats))


def test_equals_win_and_lose_half_of_k() -> None:
    assert elo_changes((1500.0, 1500.0), (1, 2)) == (8.0, -8.0)


def test_a_tie_of_equals_changes_nothing() -> None:
    assert elo_changes((1500.0, 1500.0), (1, 1)) == (0.0, 0.0)


def test_four_hundred_points_are_ten_to_one() -> None:
    assert expected_score(1900.0, 1500.0) == pytest.approx(10 / 11)
    assert elo_changes((1900.0, 1500.0), (1, 2)) == pytest.approx((16 / 11, -16 / 11))
    assert elo_changes((1900.0, 1500.0), (2, 1)) == pytest.approx((-160 / 11, 160 / 11))


def test_a_tie_takes_from_the_stronger() -> None:
    assert elo_changes((1900.0, 1500.0), (1, 1)) == pytest.approx((-72 / 11, 72 / 11))


def test_at_a_table_of_four_equals_each_opponent_counts_a_third() -> None:
    # Places 1, 2, 2, 4: scores 3, 1 1/2, 1 1/2, 0 where 1 1/2 are expected.
    assert elo_changes((1500.0,) * 4, (1, 2, 2, 4)) == pytest.approx((8, 0, 0, -8))


def test_forfeited_seats_that_share_the_last_place_are_even_among_each_other() -> None:
    assert elo_changes((1500.0,) * 3, (1, 2, 2)) == pytest.approx((8, -4, -4))


@given(tables())
def test_what_one_wins_others_lose(table: tuple[list[float], list[int]]) -> None:
    assert sum(elo_changes(*table)) == pytest.approx(0, abs=1e-9)


@given(tables())
def test_a_table_is_the_mean_of_its_pairs(table: tuple[list[float], list[int]]) -> None:
    ratings, ranks = table
    seats = range(len(ratings))
    expected = [0.0 for _ in seats]
    for pair in combinations(seats, 2):
        for seat, change in zip(
            pair, elo_changes([ratings[one] for one in pair], [ranks[one] for one in pair]), strict=True
        ):
            expected[seat] += change / (len(ratings) - 1)
    assert elo_changes(ratings, ranks) == pytest.approx(expected, abs=1e-9)


@given(tables())
def test_nobody_moves_by_more_than_k(table: tuple[list[float], list[int]]) -> None:
    assert all(abs(change) <= K for change in elo_changes(*table))


@given(tables(), st.floats(-500, 500))
def test_only_differences_count(table: tuple[list[float], list[int]], shift: float) -> None:
    ratings, ranks = table
    moved = elo_changes([one + shift for one in ratings], ranks)
    assert moved == pytest.approx(elo_changes(ratings, ranks), abs=1e-6)


@given(tables())
def test_a_better_place_is_never_worth_less(table: tuple[list[float], list[int]]) -> None:
    ratings, ranks = table
    better = [max(1, ranks[0] - 1), *ranks[1:]]
    assert elo_changes(ratings, better)[0] >= elo_changes(ratings, ranks)[0]


def test_what_is_no_table_is_refused() -> None:
    for ratings, ranks in (((1500.0,), (1,)), ((1500.0, 1500.0), (1,))):
        with pytest.raises(ValueError, match="no table"):
            elo_changes(ratings, ranks)
