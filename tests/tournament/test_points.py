"""Points a deal, what a seat is worth, and what deal groups save."""

from __future__ import annotations

import numpy as np
import pytest

from rummyarena_server.tournament.bars import Estimate
from rummyarena_server.tournament.fairness import seat_effects, variance_saved
from rummyarena_server.tournament.games import Game, Games, in_columns
from rummyarena_server.tournament.points import points_a_deal
from tests.tournament.simulation import STRONG_LUCK, play, random_tables


def sound(bar: Estimate | None) -> Estimate:
    assert bar is not None
    assert np.isfinite([bar.low, bar.value, bar.high]).all()
    assert bar.low < bar.high
    return bar


def simulated(seed: int, entrants: int, seats: int, groups: int, luck: float) -> Games:
    draws = np.random.default_rng(seed)
    return play(draws, np.linspace(-0.5, 0.5, entrants), random_tables(draws, entrants, seats, groups), luck)


# Points a deal


def test_points_are_the_difference_to_the_mean_of_the_opponents_over_all_deals() -> None:
    games = in_columns(
        4,
        3,
        [
            Game(0, (0, 1, 2), (1, 2, 3), (50, 20, -10), 2),
            Game(1, (2, 0, 1), (1, 2, 3), (30, 10, 0), 3),
        ],
    )

    found = points_a_deal(games, lower_is_better=False)

    assert sound(found[0]).value == pytest.approx((45 - 5) / 5)
    assert sound(found[1]).value == pytest.approx((0 - 20) / 5)
    assert sound(found[2]).value == pytest.approx((-45 + 25) / 5)
    assert found[3] is None
    assert sound(found[0]).groups == 2


def test_where_lower_is_better_more_is_still_better_in_the_result() -> None:
    games = simulated(1, 3, 2, 40, 1.0)

    high, low = points_a_deal(games, lower_is_better=False), points_a_deal(games, lower_is_better=True)

    for one, other in zip(high, low, strict=True):
        assert sound(one).value == -sound(other).value
        assert sound(one).low == -sound(other).high


def test_the_bar_is_over_groups() -> None:
    brought = (30.0, 10.0, 20.0, 40.0) * 10  # a group of two games
    games = in_columns(
        2,
        2,
        [
            Game(group, ((0, 1), (1, 0))[turn], (1, 2), ((100, 0), (100 - int(points), 0))[turn], 1)
            for group, points in enumerate(brought)
            for turn in range(2)
        ],
    )

    bar = sound(points_a_deal(games, lower_is_better=False)[0])

    assert bar.value == pytest.approx(np.mean(brought) / 2)
    assert bar.high - bar.value == pytest.approx(1.959964 * np.std(brought, ddof=1) / np.sqrt(40) / 2, rel=1e-6)


def test_a_game_in_which_no_deal_counts_says_nothing() -> None:
    with_deals = [Game(group, (0, 1), (1, 2), (5 + group % 3, 0), 1) for group in range(40)]
    without = [Game(100 + group, (0, 1), (1, 2), (0, 0), 0) for group in range(5)]

    alone, both = (points_a_deal(in_columns(2, 2, games), False) for games in (with_deals, with_deals + without))

    assert both == alone
    assert points_a_deal(in_columns(2, 2, without), False) == (None, None)


@pytest.mark.parametrize("points", [(0, 0), (70, -70)])
@pytest.mark.parametrize("groups", [1, 2, 30, 10_000])
def test_groups_that_all_came_to_the_same_have_bars_all_the_same(groups: int, points: tuple[int, int]) -> None:
    games = in_columns(2, 2, [Game(group, (0, 1), (1, 1), points, 1) for group in range(groups)])

    bar = sound(points_a_deal(games, lower_is_better=False)[0])

    assert bar.value == points[0] - points[1]
    assert bar.high - bar.low > 1 / groups


# What a seat is worth


def test_in_fair_seats_nobody_is_ahead() -> None:
    for effect in seat_effects(simulated(2, 6, 4, 2000, STRONG_LUCK), lower_is_better=False):
        score, points = sound(effect.score), sound(effect.points)
        assert abs(score.value - 0.5) < 1.6 * (score.high - score.value)
        assert abs(points.value) < 1.6 * (points.high - points.value)
        assert score.groups == points.groups == 2000


def test_a_seat_that_is_worth_something_is_found_whoever_sits_there() -> None:
    draws = np.random.default_rng(3)
    fair = simulated(3, 4, 2, 600, 0.0)
    first_wins = draws.random(len(fair)) < 0.25  # a quarter of all games is given to the first seat
    ranks = np.where(first_wins[:, np.newaxis], [1, 2], fair.ranks)
    points = np.where(first_wins[:, np.newaxis], [40, 0], fair.points)

    first, second = seat_effects(Games(4, fair.groups, fair.tables, ranks, points, fair.deals), lower_is_better=False)

    assert first.score.low < 0.625 < first.score.high
    assert first.score.low > 0.55
    assert sound(first.points).low > 0
    assert second.score.value == pytest.approx(1 - first.score.value)
    assert sound(second.points).value == pytest.approx(-sound(first.points).value)


def test_seats_without_games_are_not_known_to_be_fair_or_unfair() -> None:
    for effect in seat_effects(in_columns(3, 3, []), lower_is_better=False):
        assert (effect.score.value, effect.score.low, effect.score.high, effect.points) == (0.5, 0, 1, None)


# What deal groups save


@pytest.mark.parametrize("seats", [2, 4])
def test_deal_groups_save_the_luck_of_the_deal_and_nothing_where_there_is_none(seats: int) -> None:
    # Points: the deal has the variance 9, chance pi^2/6; of the sum, the deal goes, the seats being exchanged.
    lucky, fair = (variance_saved(simulated(4, 5, seats, 3000, luck), False) for luck in (STRONG_LUCK, 0.0))

    assert lucky.points == pytest.approx(9 / (9 + np.pi**2 / 6), abs=0.03)
    assert lucky.places is not None
    assert lucky.places > 0.5
    assert fair.points == pytest.approx(0, abs=0.1)
    assert fair.places == pytest.approx(0, abs=0.1)


def test_few_groups_are_not_judged_by_their_own_fit() -> None:
    found = [variance_saved(simulated(seed, 6, 3, 4, 0.0), False).points for seed in range(600)]

    assert np.mean([saved for saved in found if saved is not None]) == pytest.approx(0, abs=0.15)


def test_a_base_in_several_seats_is_one_opponent() -> None:
    draws = np.random.default_rng(6)
    games = play(draws, np.array([0.5, 0.0]), np.tile([0, 1, 1, 1], (3000, 1)), STRONG_LUCK)

    found = variance_saved(games, lower_is_better=False)

    assert found.points == pytest.approx(9 / (9 + np.pi**2 / 6), abs=0.03)


def test_too_few_groups_tell_nothing_of_it() -> None:
    for games in (in_columns(2, 2, []), simulated(5, 2, 2, 1, 0.0)):
        found = variance_saved(games, lower_is_better=False)
        assert (found.places, found.points) == (None, None)


def test_games_that_are_all_tied_save_nothing() -> None:
    games = in_columns(2, 2, [Game(game // 2, (0, 1), (1, 1), (0, 0), 1) for game in range(20)])

    found = variance_saved(games, lower_is_better=False)

    assert (found.places, found.points) == (None, None)
