"""The sequential test against a published ratio, Wald's bounds and simulated bots; a verdict is final."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rummyarena_server.tournament.bars import ELO
from rummyarena_server.tournament.sequential import (
    Hypotheses,
    SequentialTest,
    expected_groups,
    log_likelihood_ratios,
)
from tests.tournament.simulation import STRONG_LUCK, against_base, true_elo, verdicts

BETTER = Hypotheses(elo0=0.0, elo1=40.0)
HYPOTHESES = st.sampled_from(
    [
        BETTER,
        Hypotheses(elo0=-10.0, elo1=0.0, alpha=0.01, beta=0.1),
        Hypotheses(elo0=-900.0, elo1=900.0),
        Hypotheses(elo0=0.0, elo1=30.0, normalised=True),
        Hypotheses(elo0=200.0, elo1=240.0, normalised=True),
        Hypotheses(elo0=-240.0, elo1=-200.0, normalised=True),
    ]
)
SCORES = st.lists(st.integers(0, 4).map(lambda step: step / 4), max_size=80)


def ratio(hypotheses: Hypotheses, *counts: int) -> float:
    return float(log_likelihood_ratios(np.array(counts), hypotheses))


def one_at_a_time(test: SequentialTest, scores: list[float]) -> SequentialTest:
    for score in scores:
        test = test.after([score])
    return test


# The ratio


def test_normalised_bounds_as_published() -> None:
    hypotheses = Hypotheses(elo0=0.0, elo1=4.0, normalised=True)

    assert ratio(hypotheses, 13, 37, 50, 25, 3) == pytest.approx(-0.54912, abs=0.000005)


def test_with_two_scores_there_is_one_distribution_of_each_mean() -> None:
    hypotheses = Hypotheses(elo0=0.0, elo1=100.0)
    win = 1 / (1 + 10 ** (-100 / 400))

    expected = 70 * log(win / 0.5) + 30 * log((1 - win) / 0.5)
    assert ratio(hypotheses, 30, 0, 0, 0, 70) == pytest.approx(expected, abs=1e-9)


def test_near_the_hypotheses_it_is_the_ratio_of_normal_distributions() -> None:
    counts = np.array([300, 1200, 2000, 1250, 310])
    values = np.linspace(0, 1, 5)
    mean = counts @ values / counts.sum()
    variance = counts @ (values - mean) ** 2 / counts.sum()
    hypotheses = Hypotheses(elo0=0.0, elo1=5.0)
    null, alternative = hypotheses.targets

    expected = counts.sum() * (alternative - null) / variance * (mean - (null + alternative) / 2)
    assert ratio(hypotheses, *counts) == pytest.approx(expected, rel=0.02)


def test_the_opposite_scores_favour_the_opposite_hypotheses() -> None:
    for normalised in (False, True):
        up = Hypotheses(elo0=-5.0, elo1=30.0, normalised=normalised)
        down = Hypotheses(elo0=-30.0, elo1=5.0, normalised=normalised)
        assert ratio(up, 5, 8, 20, 9, 3) == pytest.approx(-ratio(down, 3, 9, 20, 8, 5), abs=1e-9)


def test_a_ratio_of_many_groups_costs_nothing_in_precision() -> None:
    counts = np.array([1, 2, 3, 2, 1]) * 100_000
    for normalised in (False, True):
        hypotheses = Hypotheses(elo0=-7.0, elo1=7.0, normalised=normalised)
        assert ratio(hypotheses, *counts) == pytest.approx(0, abs=1e-6)


def test_at_large_tables_scores_that_never_occur_do_not_hold_it_up() -> None:
    hypotheses = Hypotheses(elo0=0.0, elo1=17.4, seats=8)  # a mean of 0.5 or of 0.525
    narrow = np.rint((0.525 + 0.05 * np.linspace(-1.7, 1.7, 61)) * hypotheses.steps) / hypotheses.steps

    assert SequentialTest(hypotheses).after(np.random.default_rng(1).permutation(narrow)).verdict == "accepted"


@given(st.lists(st.integers(0, 10**6), min_size=5, max_size=5), HYPOTHESES)
@settings(deadline=None)
def test_any_scores_have_a_finite_ratio(counts: list[int], hypotheses: Hypotheses) -> None:
    assert np.isfinite(ratio(hypotheses, *counts))


# The test


def test_bounds_are_walds() -> None:
    lower, upper = Hypotheses(elo0=0.0, elo1=5.0, alpha=0.05, beta=0.1).bounds

    assert (lower, upper) == pytest.approx((log(0.1 / 0.95), log(0.9 / 0.05)))


def test_a_better_bot_is_accepted_and_a_worse_one_rejected() -> None:
    better = [0.75, 0.5, 1.0, 0.25] * 200
    worse = [1 - score for score in better]

    assert SequentialTest(BETTER).after(better).verdict == "accepted"
    assert SequentialTest(BETTER).after(worse).verdict == "rejected"


def test_bots_that_split_every_group_are_no_better() -> None:
    found = SequentialTest(BETTER).after([0.5] * 500)

    assert found.verdict == "rejected"
    assert found.groups < 100


def test_few_groups_decide_nothing() -> None:
    found = SequentialTest(BETTER).after([0.5, 0.75])

    assert (found.verdict, found.groups) == (None, 2)
    assert BETTER.bounds[0] < found.ratio < BETTER.bounds[1]


def test_it_stops_at_the_first_group_that_crosses_a_bound() -> None:
    scores = against_base(np.random.default_rng(4), 2, 80 / ELO, 0.0, 3000).tolist()

    found = SequentialTest(BETTER).after(scores)

    assert found.verdict == "accepted"
    assert found.ratio >= BETTER.bounds[1]
    before = SequentialTest(BETTER).after(scores[: found.groups - 1])
    assert (before.verdict, before.groups) == (None, found.groups - 1)


@given(SCORES, HYPOTHESES)
@settings(deadline=None)
def test_it_is_the_same_by_ones_and_all_at_once(scores: list[float], hypotheses: Hypotheses) -> None:
    at_once, by_ones = SequentialTest(hypotheses).after(scores), one_at_a_time(SequentialTest(hypotheses), scores)

    assert (at_once.verdict, at_once.groups) == (by_ones.verdict, by_ones.groups)
    assert at_once.ratio == pytest.approx(by_ones.ratio, abs=1e-6)


@given(SCORES)
@settings(deadline=None)
def test_a_verdict_never_changes(later: list[float]) -> None:
    decided = SequentialTest(BETTER).after([0.75] * 200)

    assert decided.verdict == "accepted"
    assert decided.after(later) == decided


def test_no_scores_change_nothing() -> None:
    assert SequentialTest(BETTER).after([]) == SequentialTest(BETTER)


def test_scores_at_larger_tables_go_by_half_an_opponent_of_a_game() -> None:
    hypotheses = Hypotheses(elo0=0.0, elo1=40.0, seats=3)

    found = SequentialTest(hypotheses).after([1 / 12, 11 / 12, 0.1 + 0.2 + 0.2])

    assert [(step, count) for step, count in enumerate(found.counts) if count] == [(1, 1), (6, 1), (11, 1)]


@pytest.mark.parametrize("score", [-0.25, 1.25, 0.3, float("nan")])
def test_what_is_no_score_is_refused(score: float) -> None:
    with pytest.raises(ValueError, match="in 4 steps"):
        SequentialTest(BETTER).after([0.5, score])


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Hypotheses(elo0=40.0, elo1=40.0), "elo0 is below elo1"),
        (lambda: Hypotheses(elo0=0.0, elo1=1000.0), "nearer to 0 than 1000"),
        (lambda: Hypotheses(elo0=0.0, elo1=246.0, normalised=True), "nearer to 0 than 245.674"),
        (lambda: Hypotheses(elo0=0.0, elo1=float("nan")), "elo0 is below elo1"),
        (lambda: Hypotheses(elo0=0.0, elo1=40.0, alpha=0.0), "between 0 and 0.5"),
        (lambda: Hypotheses(elo0=0.0, elo1=40.0, beta=0.5), "between 0 and 0.5"),
        (lambda: Hypotheses(elo0=0.0, elo1=40.0, seats=1), "2 or more seats"),
    ],
)
def test_what_is_no_test_is_refused(make: Callable[[], Hypotheses], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        make()


# Against simulated bots


@pytest.mark.parametrize(("seats", "luck"), [(2, 0.0), (4, STRONG_LUCK)])
def test_it_is_wrong_no_more_often_than_allowed(seats: int, luck: float) -> None:
    # 200 tests tell to a percent or two; scripts/simulate runs 2,000.
    draws = np.random.default_rng([seats, 5])
    advantage = 60 / ELO
    elo1 = true_elo(draws, seats, advantage, luck, normalised=False)
    hypotheses = Hypotheses(elo0=0.0, elo1=elo1, seats=seats, alpha=0.1, beta=0.1)

    null, alternative = (verdicts(draws, hypotheses, true, luck, tests=200) for true in (0.0, advantage))

    assert null.accepted <= 0.13
    assert alternative.accepted >= 0.87


def test_it_takes_about_as_many_groups_as_expected() -> None:
    draws = np.random.default_rng(8)
    deviation = float(np.std(against_base(draws, 2, 0.0, 0.0, 20_000)))

    if_null, half_way, if_alternative = expected_groups(BETTER, deviation)
    null, alternative = (verdicts(draws, BETTER, true, 0.0, tests=200) for true in (0.0, 40 / ELO))

    assert null.groups == pytest.approx(if_null, rel=0.2)
    assert alternative.groups == pytest.approx(if_alternative, rel=0.2)
    assert half_way > max(if_null, if_alternative)


def test_finer_hypotheses_take_longer() -> None:
    groups = [expected_groups(Hypotheses(elo0=0.0, elo1=elo1), deviation=0.35)[0] for elo1 in (80.0, 40.0, 20.0, 5.0)]

    assert all(3 < more / fewer < 17 for fewer, more in pairwise(groups))
