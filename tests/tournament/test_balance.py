"""How even games are is counted as one would by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rummyarena_server.tournament.balance import balance, planned_tables
from rummyarena_server.tournament.gauntlet import Gauntlet
from rummyarena_server.tournament.schedule import RoundRobin


def test_meetings_seats_and_neighbours_are_counted() -> None:
    # given: two games of three bots, and one in which the fourth sits in for the first
    found = balance(4, 3, [(0, 1, 2), (1, 0, 2), (3, 1, 2)])

    assert found.games == 3
    assert found.meetings == ((0, 2, 2, 0), (2, 0, 3, 1), (2, 3, 0, 1), (0, 1, 1, 0))
    assert found.seats == ((1, 1, 0), (1, 2, 0), (0, 0, 3), (1, 0, 0))
    assert found.followed == ((0, 1, 1, 0), (1, 0, 2, 0), (1, 1, 0, 1), (0, 1, 0, 0))
    assert found.met(range(4)) == (0, 3)
    assert found.met([0, 3], [1, 2]) == (1, 2)
    assert found.neighbours(range(3)) == (1, 2)
    assert found.seat_difference == 3


def test_no_games_are_balanced() -> None:
    found = balance(2, 2, [])
    assert (found.games, found.met(range(2)), found.neighbours(range(2)), found.seat_difference) == (
        0,
        (0, 0),
        (0, 0),
        0,
    )


def test_a_spread_needs_two_who_could_meet() -> None:
    with pytest.raises(ValueError, match="nobody"):
        balance(2, 2, []).met([0])


@given(st.integers(2, 8), st.integers(1, 3))
def test_a_round_robin_of_two_seats_is_even(entrants: int, cycles: int) -> None:
    schedule = RoundRobin(0, entrants, cycles=cycles)
    found = balance(entrants, 2, planned_tables(schedule, schedule.groups))
    assert found.games == len(schedule)
    assert found.met(range(entrants)) == found.neighbours(range(entrants)) == (2 * cycles, 2 * cycles)
    assert found.seat_difference == 0


def test_a_gauntlet_is_even_between_challengers_and_field() -> None:
    gauntlet = Gauntlet(0, 7, (0, 1), 3, cycles=2)
    found = balance(7, 3, planned_tables(gauntlet, gauntlet.groups))
    assert found.met(gauntlet.challengers) == (0, 0)
    assert found.met(gauntlet.challengers, gauntlet.field) == (24, 24)
    assert found.neighbours(gauntlet.challengers, gauntlet.field) == (12, 12)
    assert found.met(gauntlet.field) == (12, 12)
    assert found.seat_difference == 0


def test_only_the_first_groups_of_a_long_schedule_are_looked_at() -> None:
    long = RoundRobin(0, 1000, cycles=1_000_000)
    assert len(list(planned_tables(long, 10))) == 20
    assert len(list(planned_tables(RoundRobin(0, 3), 10))) == 6
