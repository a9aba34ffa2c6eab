"""The sequential test: whether a new bot is better, found out with as few deal groups as that takes.

The generalised sequential probability ratio test (GSPRT) on the scores of deal groups, 0 .. 1, for tables of any size:
the new bot in one seat, the base in the others, all rotations; the score of a group is the new bot's mean share of
opponents beaten, ties half. With the share f(a) of the N groups so far that scored a, and f0, f1 the most likely
distributions on the observed scores whose mean, or normalised mean, is what the hypotheses say::

    log likelihood ratio = N * sum over a of f(a) ln(f1(a) / f0(a))
    rejected at or below ln(beta / (1 - alpha)), accepted at or above ln((1 - beta) / alpha)

A mean of s: f_s(a) = f(a) / (1 + theta (a - s)), with the theta for which they add up to 1. A normalised mean of t,
(mean - 1/2) / deviation = t: the same in steps, each for the condition made linear at the distribution before it:
f-mean of a - 1/2 - t d/2 (1 + ((a - m) / d)^2) = 0, m its mean and d its deviation. (Van den Bergh, "Comments on
normalized Elo"; Fishtest computes the same.)

So that any mean is possible, a thousandth of a group is taken to have scored at each of two ends, three deviations
below and above 1/2 and the hypotheses, but not beyond 0 and 1; the deviation is that from 1/2, over the groups and
ten virtual ones of equal bots. Ends farther out, as 0 and 1 are at large tables, would explain any mean too cheaply
and nearly double the groups that a test takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import expm1, log, sqrt
from typing import Final, Literal, TypeAlias

import numpy as np

from rummyarena_server.tournament.bars import ELO
from rummyarena_server.tournament.games import FloatArray, IntArray
from rummyarena_server.tournament.rating import expected_score

Verdict: TypeAlias = Literal["accepted", "rejected"]

MOST_ELO: Final = 1000.0
"""Beyond this no hypothesis of a test lies."""

_UNSEEN: Final = 1e-3  # groups
_VIRTUAL_GROUPS: Final = 10
_ENDS: Final = 3.0  # deviations away
_HALVINGS: Final = 60
_MOST_STEPS: Final = 40
_SAME: Final = 1e-9  # a change of a share
_STEEPEST: Final = 500.0  # a drift, so that its exponential is finite
_FLAT: Final = 1e-6
_AT_ONCE: Final = 1024  # prefixes whose ratios are computed together


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypotheses:
    """What a test decides between: the new bot is `elo0` or `elo1` better than the base, in Elo or normalised Elo.

    `alpha`: the chance to accept elo1 where elo0 is true; `beta`: to reject elo1 where it is true. A group has as many
    games as a table has `seats`.
    """

    elo0: float
    elo1: float
    seats: int = 2
    normalised: bool = False
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        if self.seats < 2 or not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ValueError(f"a test has 2 or more seats, and error rates between 0 and 0.5: {self}")
        if not -self.most_elo < self.elo0 < self.elo1 < self.most_elo:
            raise ValueError(f"elo0 is below elo1, and both are nearer to 0 than {self.most_elo:g}: {self}")

    @property
    def most_elo(self) -> float:
        """What both hypotheses are nearer to 0 than: for normalised Elo, a mean one deviation away from 1/2."""
        return 1 / self._normalised_unit if self.normalised else MOST_ELO

    @property
    def bounds(self) -> tuple[float, float]:
        """The ratios at which the new bot is rejected and accepted."""
        return log(self.beta / (1 - self.alpha)), log((1 - self.beta) / self.alpha)

    @property
    def steps(self) -> int:
        """How many equal steps the score of a group goes from 0 to 1: half a point for each opponent in each game."""
        return 2 * self.seats * (self.seats - 1)

    @property
    def targets(self) -> tuple[float, float]:
        """The mean score of a group, or its normalised mean, under each hypothesis."""
        if self.normalised:
            return self.elo0 * self._normalised_unit, self.elo1 * self._normalised_unit
        return expected_score(self.elo0, 0.0), expected_score(self.elo1, 0.0)

    @property
    def variance_of_equals(self) -> float:
        """The variance of the score of a group if every order of places is equally likely in every game."""
        return (self.seats + 1) / (12 * self.seats * (self.seats - 1))

    @property
    def _normalised_unit(self) -> float:
        """What one point of normalised Elo is in deviations of the score of a group."""
        return sqrt(self.seats) / (2 * ELO)


@dataclass(frozen=True, slots=True)
class SequentialTest:
    """A sequential test so far; a new one knows no groups. `ratio`: the logarithm, as the counted groups give it."""

    hypotheses: Hypotheses
    counts: tuple[int, ...] = ()
    ratio: float = 0.0
    verdict: Verdict | None = None

    @property
    def groups(self) -> int:
        """The number of groups that counted."""
        return sum(self.counts)

    def after(self, scores: Sequence[float] | FloatArray) -> SequentialTest:
        """Returns the test after more complete groups, in schedule order.

        It decides at the first group at which the ratio crosses a bound. That is final: no later group counts.
        """
        test = self
        for first in range(0, len(scores), _AT_ONCE):
            if test.verdict is None:
                test = test._after_some(np.asarray(scores[first : first + _AT_ONCE], dtype=np.float64))
        return test

    def _after_some(self, scores: FloatArray) -> SequentialTest:
        steps = self.hypotheses.steps
        before = np.array(self.counts or [0] * (steps + 1), dtype=np.int64)
        counts = before + np.cumsum(np.eye(steps + 1, dtype=np.int64)[_in_steps(scores, steps)], axis=0)
        ratios = log_likelihood_ratios(counts, self.hypotheses)
        lower, upper = self.hypotheses.bounds
        crossed = np.flatnonzero((ratios <= lower) | (ratios >= upper))
        last = int(crossed[0]) if len(crossed) else len(scores) - 1
        verdict: Verdict | None = None
        if len(crossed):
            verdict = "accepted" if ratios[last] >= upper else "rejected"
        return replace(self, counts=tuple(counts[last].tolist()), ratio=float(ratios[last]), verdict=verdict)


def log_likelihood_ratios(counts: IntArray, hypotheses: Hypotheses) -> FloatArray:
    """Returns the logarithms of the ratios; `counts[..., step]`: the groups that scored step / hypotheses.steps."""
    values, groups = _observed(counts, hypotheses)
    total = groups.sum(axis=-1, keepdims=True)
    most_likely = _with_normalised_mean if hypotheses.normalised else _with_mean
    null, alternative = (most_likely(values, groups / total, target) for target in hypotheses.targets)
    terms = np.zeros_like(groups)
    np.log(alternative / np.where(groups > 0, null, 1), out=terms, where=groups > 0)
    return np.asarray((groups * terms).sum(axis=-1))


def expected_groups(hypotheses: Hypotheses, deviation: float) -> tuple[float, float, float]:
    """Returns how many groups the test takes on average if elo0 is true, if it is half-way, and if elo1 is true.

    `deviation`: the standard deviation of the score of a group, more than 0. These are Wald's approximations; half-way
    the test takes longest.
    """
    variance = _variance(hypotheses, deviation)
    null, half_way, alternative = (
        _mean_time(hypotheses, 0.0, drift, variance) for drift in (-variance / 2, 0.0, variance / 2)
    )
    return null, half_way, alternative


def groups_to_come(test: SequentialTest, deviation: float) -> float:
    """Returns how many more groups the test takes on average if its ratio drifts on as it has so far.

    `deviation`: see `expected_groups`. A test without groups has no drift.
    """
    drift = test.ratio / test.groups if test.groups else 0.0
    return _mean_time(test.hypotheses, test.ratio, drift, _variance(test.hypotheses, deviation))


def _variance(hypotheses: Hypotheses, deviation: float) -> float:
    """Returns the variance of what a group adds to the ratio: under elo1 twice the mean, under elo0 minus twice."""
    null, alternative = hypotheses.targets
    return ((alternative - null) if hypotheses.normalised else (alternative - null) / deviation) ** 2


def _mean_time(hypotheses: Hypotheses, ratio: float, drift: float, variance: float) -> float:
    """Returns how many groups it takes on average until a ratio, taken for a Brownian motion, meets a bound."""
    lower, upper = hypotheses.bounds
    below, whole = min(max(ratio, lower), upper) - lower, upper - lower
    slope = min(max(2 * drift / variance, -_STEEPEST / whole), _STEEPEST / whole)
    if abs(slope * whole) < _FLAT:
        return below * (whole - below) / variance
    upwards = expm1(-slope * below) / expm1(-slope * whole)
    return (upwards * whole - below) / drift


def _in_steps(scores: FloatArray, steps: int) -> IntArray:
    whole = np.rint(scores * steps)
    if not np.all((whole >= 0) & (whole <= steps) & (np.abs(scores * steps - whole) < 1e-6)):
        raise ValueError(f"the scores of groups go from 0 to 1 in {steps} steps: {scores}")
    return whole.astype(np.int64)


def _observed(counts: IntArray, hypotheses: Hypotheses) -> tuple[FloatArray, FloatArray]:
    """Returns scores and how many groups had them, both `[..., score]`; the last two are the low and the high end."""
    seen = np.flatnonzero(counts.reshape(-1, counts.shape[-1]).sum(axis=0))
    groups, scores = counts[..., seen].astype(np.float64), seen / hypotheses.steps
    low, high = _ends(groups, scores, hypotheses)
    # At 0 and 1 an end may be a score that groups had: then it has been seen.
    unseen = [
        np.where(np.any((groups > 0) & (scores == end), axis=-1, keepdims=True), 0.0, _UNSEEN) for end in (low, high)
    ]
    values = np.concatenate([np.broadcast_to(scores, groups.shape), low, high], axis=-1)
    return values, np.concatenate([groups, *unseen], axis=-1)


def _ends(groups: FloatArray, scores: FloatArray, hypotheses: Hypotheses) -> tuple[FloatArray, FloatArray]:
    """Returns scores, one for each distribution, that are well below and well above what the hypotheses expect."""
    squares = (groups * (scores - 0.5) ** 2).sum(axis=-1, keepdims=True)
    squares += _VIRTUAL_GROUPS * hypotheses.variance_of_equals
    reach = _ENDS * np.sqrt(squares / (groups.sum(axis=-1, keepdims=True) + _VIRTUAL_GROUPS))
    means = [0.5] if hypotheses.normalised else [0.5, *hypotheses.targets]
    return np.maximum(min(means) - reach, 0), np.minimum(max(means) + reach, 1)


def _with_mean(values: FloatArray, shares: FloatArray, mean: float) -> FloatArray:
    """Returns the most likely distributions with this mean; `shares[..., value]`: as observed."""
    return _balanced(values - mean, shares)


def _with_normalised_mean(values: FloatArray, shares: FloatArray, target: float) -> FloatArray:
    """Returns the most likely distributions with this normalised mean."""
    # Begun with one half at each end, every step keeps weights on both sides of 0: the condition is convex.
    likely = np.zeros_like(shares)
    likely[..., [-2, -1]] = 0.5
    for _ in range(_MOST_STEPS):
        mean = (likely * values).sum(axis=-1, keepdims=True)
        deviation = np.sqrt((likely * (values - mean) ** 2).sum(axis=-1, keepdims=True))
        weights = values - 0.5 - target * deviation / 2 * (1 + ((values - mean) / deviation) ** 2)
        before, likely = likely, _balanced(weights, shares)
        if np.abs(likely - before).max() < _SAME:
            break
    return likely


def _balanced(weights: FloatArray, shares: FloatArray) -> FloatArray:
    """Returns the most likely distributions under which the mean of the weights is 0.

    Some weight of an observed value must be negative and some positive. Theta is found by halving: the mean falls with
    it, from plus infinity to minus infinity between the two ends.
    """
    weights = np.where(shares > 0, weights, 0.0)
    low = -1 / weights.max(axis=-1, keepdims=True)
    high = -1 / weights.min(axis=-1, keepdims=True)
    for _ in range(_HALVINGS):
        theta = (low + high) / 2
        positive = (shares * weights / (1 + theta * weights)).sum(axis=-1, keepdims=True) > 0
        low, high = np.where(positive, theta, low), np.where(positive, high, theta)
    return np.asarray(shares / (1 + theta * weights))
