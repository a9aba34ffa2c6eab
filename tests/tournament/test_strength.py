"""Strength against published fits, another program and the truth of simulations; finite and honest in every case."""

from __future__ import annotations

from itertools import permutations
from statistics import NormalDist
from typing import Any

import choix
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rummyarena_server.tournament.bars import ELO, MANY_GROUPS, Estimate, reach_of_bar, superiority
from rummyarena_server.tournament.games import Game, Games, in_columns
from rummyarena_server.tournament.strength import Strengths, fitted, rate, scores
from tests.tournament.simulation import STRONG_LUCK, coverage, play, random_tables

# Citations between statistics journals: of the journal of the row, by that of the column (Stigler 1994).
BIOMETRIKA, COMMUNICATIONS, JASA, JRSS_B = range(4)
CITATIONS = np.array([[0, 730, 498, 221], [33, 0, 68, 17], [320, 813, 0, 142], [284, 276, 325, 0]], float)


def random_games(seed: int, entrants: int, seats: int, groups: int, luck: float = 0.0) -> Games:
    draws = np.random.default_rng(seed)
    return play(draws, draws.normal(0, 0.7, entrants), random_tables(draws, entrants, seats, groups), luck)


def duel(groups: int, *ranks: tuple[int, int], entrants: int = 2) -> Games:
    """Returns groups of two games of the bots 0 and 1 who get these places in turn."""
    places = [ranks[game % len(ranks)] for game in range(2 * groups)]
    tables = [((0, 1), (1, 0))[game % 2] for game in range(2 * groups)]
    turned = [place if table == (0, 1) else place[::-1] for place, table in zip(places, tables, strict=True)]
    return in_columns(
        entrants, 2, [Game(game // 2, tables[game], turned[game], (0, 0), 1) for game in range(2 * groups)]
    )


def rows(games: Games, which: npt.NDArray[Any]) -> Games:
    """Returns some games, or all in another order."""
    columns = (games.groups, games.tables, games.ranks, games.points, games.deals)
    return Games(games.entrants, *(column[which] for column in columns))


def assert_sound(strengths: Strengths) -> None:
    for bar in strengths.elo:
        assert np.isfinite([bar.value, bar.low, bar.high]).all()
        assert bar.low < bar.value < bar.high
    assert np.isfinite(strengths.covariance).all()
    assert np.all((strengths.superiority >= 0) & (strengths.superiority <= 1))
    assert sum(bar.value for bar in strengths.elo) == pytest.approx(0, abs=1e-6)


# The fit


def test_the_citations_of_statistics_journals_as_published() -> None:
    fit = fitted(CITATIONS, virtual_draws=0)

    published = {COMMUNICATIONS: (-2.94907, 0.10255), JASA: (-0.47957, 0.06059), JRSS_B: (0.26895, 0.07083)}
    for journal, (strength, error) in published.items():
        against = np.zeros(4)
        against[[journal, BIOMETRIKA]] = 1, -1
        assert against @ fit.strengths == pytest.approx(strength, abs=5e-6)
        assert np.sqrt(against @ fit.inverse @ against) == pytest.approx(error, abs=5e-6)


def test_choix_finds_the_same_without_virtual_draws() -> None:
    draws = np.random.default_rng(7)
    for entrants in (2, 5, 12):
        won = [(i, j) for i, j in permutations(range(entrants), 2) for _ in range(draws.integers(1, 20))]
        scored = np.zeros((entrants, entrants))
        for i, j in won:
            scored[i, j] += 1

        theirs = choix.opt_pairwise(entrants, won, alpha=0, tol=1e-12)

        assert fitted(scored, virtual_draws=0).strengths == pytest.approx(theirs - theirs.mean(), abs=1e-6)


def test_at_the_maximum_everybody_scored_what_was_expected() -> None:
    scored = scores(random_games(1, 6, 3, 40))
    strengths = fitted(scored).strengths

    win = 1 / (1 + np.exp(strengths - strengths[:, np.newaxis]))
    drawn = 0.5 - 1 / (1 + np.exp(-strengths))
    assert (scored - (scored + scored.T) * win).sum(axis=1) + drawn - drawn.mean() == pytest.approx(0, abs=1e-9)


def test_a_maximum_that_does_not_exist_is_told() -> None:
    never_lost = np.array([[0.0, 5.0], [0.0, 0.0]])
    never_met = np.zeros((3, 3))
    for scored in (never_lost, never_met):
        with pytest.raises(ValueError, match="without virtual draws"):
            fitted(scored, virtual_draws=0)


@given(st.integers(2, 6).flatmap(lambda size: st.lists(st.integers(0, 10**6), min_size=size**2, max_size=size**2)))
@settings(max_examples=200, deadline=None)
def test_with_virtual_draws_any_scores_have_a_maximum(numbers: list[int]) -> None:
    size = round(len(numbers) ** 0.5)
    scored = np.array(numbers, float).reshape(size, size) / 2
    np.fill_diagonal(scored, 0)

    fit = fitted(scored)

    assert np.isfinite(fit.strengths).all()
    assert np.linalg.eigvalsh(fit.inverse).min() > -1e-9


def test_a_table_of_four_is_six_pairs_with_ties_half_and_half() -> None:
    games = in_columns(5, 4, [Game(0, (4, 2, 0, 1), (2, 1, 2, 4), (0, 0, 0, 0), 1)])

    expected = np.zeros((5, 5))
    for winner, loser in ((2, 4), (2, 0), (2, 1), (4, 1), (0, 1)):
        expected[winner, loser] = 1
    expected[4, 0] = expected[0, 4] = 0.5
    assert scores(games).tolist() == expected.tolist()


def test_tables_of_any_size_share_one_scale() -> None:
    strengths = np.array([0.8, 0.3, -0.2, -0.9, 0, 0, 0, 0])
    strengths -= strengths.mean()
    for seats in (2, 4, 8):
        draws = np.random.default_rng(seats)
        found = rate(play(draws, strengths, random_tables(draws, 8, seats, 40_000 // seats), luck=0))
        for bar, strength in zip(found.elo, strengths, strict=True):
            assert bar.value == pytest.approx(ELO * strength, abs=2.5 * (bar.high - bar.value))


# The bars


def test_the_covariance_is_the_sandwich_over_groups() -> None:
    games = random_games(3, 5, 3, 40, STRONG_LUCK)
    fit = fitted(scores(games))
    win = 1 / (1 + np.exp(fit.strengths - fit.strengths[:, np.newaxis]))

    scatter = np.zeros((5, 5))
    for group in range(40):
        scored = scores(rows(games, games.groups == group))
        surplus = (scored - (scored + scored.T) * win).sum(axis=1)
        scatter += np.outer(surplus, surplus) * 40 / 39
    centring = np.eye(5) - 1 / 5

    expected = ELO**2 * fit.inverse @ (scatter + centring / 4) @ fit.inverse
    assert rate(games).covariance == pytest.approx(expected, abs=1e-9)


def test_superiority_is_the_normal_likelihood_of_a_positive_difference() -> None:
    found = rate(random_games(4, 3, 3, 60))

    difference = found.elo[0].value - found.elo[2].value
    error = np.sqrt(found.covariance[0, 0] + found.covariance[2, 2] - 2 * found.covariance[0, 2])
    assert found.superiority[0, 2] == pytest.approx(NormalDist().cdf(difference / error), abs=1e-12)
    assert found.superiority[2, 0] == pytest.approx(1 - found.superiority[0, 2])
    assert found.superiority[1, 1] == 0.5


def test_below_thirty_groups_student_makes_bars_wider() -> None:
    table = {2: 12.7062, 3: 4.3027, 4: 3.1824, 5: 2.7764, 6: 2.5706, 11: 2.2281, 21: 2.0860, 29: 2.0484, 30: 1.9600}

    for groups, reach in table.items():
        assert reach_of_bar(groups) == pytest.approx(reach, abs=0.00005)
        assert superiority(reach, groups) == pytest.approx(0.975, abs=0.00001)
        assert superiority(-reach, groups) == pytest.approx(0.025, abs=0.00001)
        assert superiority(0.0, groups) == 0.5


def test_a_likelihood_is_never_outside_of_its_limits() -> None:
    for groups in range(MANY_GROUPS + 1):
        for errors in (1e3, 1e6, 1e12):
            assert 0 <= superiority(-errors, groups) < 0.001
            assert 0.999 < superiority(errors, groups) <= 1


@pytest.mark.parametrize("groups", [0, 1])
def test_one_group_and_none_are_treated_like_two(groups: int) -> None:
    assert reach_of_bar(groups) == reach_of_bar(2)
    assert superiority(1.0, groups) == superiority(1.0, 2)


@pytest.mark.parametrize(("seats", "luck"), [(2, 0.0), (2, STRONG_LUCK), (3, 0.0), (4, STRONG_LUCK), (8, 0.0)])
def test_bars_hold_the_truth_as_often_as_they_say(seats: int, luck: float) -> None:
    # 400 tournaments tell to a percent or two; scripts/simulate runs 4,000.
    found = coverage(np.random.default_rng([seats, 11]), seats, luck, simulations=400)

    for share in (found.strength, found.pair, found.points):
        assert 0.92 <= share <= 0.98


def test_the_luck_that_a_group_cancels_makes_bars_narrower_and_the_model_alone_would_not_see_it() -> None:
    lucky = random_games(6, 4, 4, 100, STRONG_LUCK)

    by_groups = rate(lucky).elo[0]
    by_games = rate(Games(4, np.arange(len(lucky)), lucky.tables, lucky.ranks, lucky.points, lucky.deals)).elo[0]

    assert by_groups.value == pytest.approx(by_games.value)
    assert by_groups.high - by_groups.low < 0.8 * (by_games.high - by_games.low)


# Hard cases


@pytest.mark.parametrize("ranks", [[(1, 2)], [(1, 1)], [(1, 2), (2, 1)]], ids=["all wins", "all ties", "all split"])
@pytest.mark.parametrize("groups", [1, 2, 29, 30, 500])
def test_what_does_not_scatter_has_bars_all_the_same(groups: int, ranks: list[tuple[int, int]]) -> None:
    assert_sound(rate(duel(groups, *ranks)))


def test_no_game_and_one_game() -> None:
    none = rate(in_columns(3, 2, []))
    one = rate(in_columns(3, 3, [Game(7, (2, 0, 1), (1, 2, 2), (0, 0, 0), 0)]))

    assert_sound(none)
    assert [bar.groups for bar in none.elo] == [0, 0, 0]
    assert np.all(none.superiority == 0.5)
    assert_sound(one)
    assert [bar.groups for bar in one.elo] == [1, 1, 1]
    assert one.superiority[2, 0] > 0.5


def test_all_losses_are_far_down_but_not_infinitely_and_more_of_them_tell_more() -> None:
    few, many = rate(duel(50, (2, 1))), rate(duel(5000, (2, 1)))

    assert many.elo[0].value < few.elo[0].value < -300
    assert few.superiority[0, 1] < 1e-6


def test_a_bot_that_met_nobody_stands_at_the_mean_with_the_widest_bar() -> None:
    found = rate(duel(100, (1, 2), (1, 2), (2, 1), entrants=3))

    assert_sound(found)
    assert found.elo[2].value == pytest.approx(0, abs=1e-6)
    assert found.elo[2].groups == 0
    assert found.elo[2].high > 5 * (found.elo[0].high - found.elo[0].value)


def test_two_circles_that_never_met_are_rated_on_one_scale() -> None:
    games = [Game(g, (0, 1), (1, 2), (0, 0), 1) for g in range(40)]
    games += [Game(40 + g, (2, 3), (1 + g % 2, 2 - g % 2), (0, 0), 1) for g in range(40)]

    found = rate(in_columns(4, 2, games))

    assert_sound(found)
    assert 0.5 < found.superiority[0, 2] < 1


def test_a_million_games_that_all_went_one_way() -> None:
    group = duel(1, (1, 2))
    tables, ranks, points = (np.tile(one, (500_000, 1)) for one in (group.tables, group.ranks, group.points))
    groups = np.repeat(np.arange(500_000), 2)

    found = rate(Games(2, groups, tables, ranks, points, np.ones(10**6, np.int64)))

    assert_sound(found)
    assert found.elo[0].groups == 500_000


@given(st.integers(0, 2**32), st.integers(2, 4))
@settings(max_examples=25, deadline=None)
def test_the_order_of_the_games_changes_nothing(seed: int, seats: int) -> None:
    games = random_games(seats, 6, seats, 30, STRONG_LUCK)
    found = rate(games)

    again = rate(rows(games, np.random.default_rng(seed).permutation(len(games))))

    for one, other in zip(found.elo, again.elo, strict=True):
        assert (other.value, other.low, other.high) == pytest.approx((one.value, one.low, one.high), abs=1e-9)
    assert again.superiority == pytest.approx(found.superiority, abs=1e-9)


def test_the_names_of_the_groups_change_nothing() -> None:
    games = random_games(5, 4, 2, 30)
    renamed = Games(4, 10**9 - 7 * games.groups, games.tables, games.ranks, games.points, games.deals)

    assert rate(renamed).covariance == pytest.approx(rate(games).covariance, abs=1e-9)


def test_identical_bots_rate_equal_within_the_bars() -> None:
    draws = np.random.default_rng(2)
    found = rate(play(draws, np.zeros(10), random_tables(draws, 10, 4, 3000), STRONG_LUCK))

    outside = [bar for bar in found.elo if not bar.low <= 0 <= bar.high]
    assert len(outside) <= 1
    assert all(abs(bar.value) < 2 * (bar.high - bar.value) for bar in found.elo)


def test_a_base_in_several_seats_of_a_table_is_one_entrant() -> None:
    draws = np.random.default_rng(9)
    games = play(draws, np.array([1.0, 0.0]), np.tile([0, 1, 1, 1], (400, 1)), luck=0)

    new, base = rate(games).elo

    assert new.low - base.low == pytest.approx(ELO, abs=50)
    assert new.groups == base.groups == 400


def test_what_are_no_games_is_refused() -> None:
    good = duel(1, (1, 2))
    with pytest.raises(ValueError, match="no tournament"):
        in_columns(1, 1, [])
    with pytest.raises(ValueError, match="row for each game"):
        Games(2, good.groups, good.tables, good.ranks[:1], good.points, good.deals)
    with pytest.raises(ValueError, match="entry for each game"):
        Games(2, good.groups, good.tables, good.ranks, good.points, good.deals[:1])
    with pytest.raises(ValueError, match="numbered from 0"):
        Games(2, good.groups - 1, good.tables, good.ranks, good.points, good.deals)
    with pytest.raises(ValueError, match="the last of 2 entrants is number 1"):
        Games(2, good.groups, good.tables + 1, good.ranks, good.points, good.deals)


def test_an_estimate_names_the_groups_behind_it() -> None:
    games = in_columns(3, 2, [Game(g, (0, 1 + g % 2), (1, 2), (0, 0), 1) for g in range(5)])

    assert [bar.groups for bar in rate(games).elo] == [5, 3, 2]
    assert isinstance(rate(games).elo[0], Estimate)
