"""Strength, the rating of a tournament: Bradley-Terry on all pairs of a table, independent of the order of the games.

The Plackett-Luce model of whole tables implies the same strengths for every pair of a table, so tables of 2 to 8 seats
share one scale. With T(i, j) what i scored against j (ties half to each) and N(i, j) = T(i, j) + T(j, i)::

    p(i, j)  = 1 / (1 + exp(b(j) - b(i)))          Elo = 400 / ln 10 * b
    gradient   G(i) = sum over j of T(i, j) - N(i, j) p(i, j)
    information H   = diag(sum over j of N p q) - N p q,  q = 1 - p

To this every bot adds one virtual draw against the mean of all, so that there is always a finite maximum; the mean of
all strengths is 0. The covariance comes from the deal groups (a "sandwich"), not from the model, which knows nothing
of the luck of the deal that the games of a group share, nor that the pairs of a table depend on each other::

    V = H+ ( g/(g-1) * sum over groups of S S' + D ) H+

S is the gradient of one group's games, g the number of groups, H+ = inv(H + 11'/n) - 11'/n. D stands for the virtual
draws, each taken as a group of its own with the variance of a tossed coin, 1/4: it hardly matters once some groups are
played, and keeps the bars honest where all groups went the same way and do not scatter at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rummyarena_server.tournament.bars import ELO, Estimate, estimate, superiority
from rummyarena_server.tournament.games import FloatArray, Games, Memberships

_MOST_STEPS: Final = 500
_TOSS: Final = 0.25  # the variance of a tossed coin
_LAST_STEP: Final = 1e-7  # in natural logarithms; what remains after such a step of Newton's is its square


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Strengths in natural logarithms of odds, with mean 0, and the pseudo-inverse of the information."""

    strengths: FloatArray
    inverse: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Strengths:
    """The strengths of all entrants in Elo, relative to their mean.

    `covariance`: in squared Elo. `superiority[i, j]`: the likelihood that i is stronger than j, 0 .. 1.
    """

    elo: tuple[Estimate, ...]
    covariance: FloatArray
    superiority: FloatArray


def rate(games: Games) -> Strengths:
    """Returns what the games say about the strength of all entrants; finite for any games, even none."""
    fit = fitted(scores(games))
    memberships = games.memberships()
    covariance = ELO**2 * _covariance(fit, memberships, residuals(games, fit))
    together = memberships.groups_together()
    errors = np.sqrt(np.diagonal(covariance))
    elo = tuple(
        estimate(float(value), float(error), int(groups))
        for value, error, groups in zip(ELO * fit.strengths, errors, np.diagonal(together), strict=True)
    )
    return Strengths(elo, covariance, _superiority(elo, covariance))


def scores(games: Games) -> FloatArray:
    """Returns what each entrant scored against each other one, `[own, other]`: 1 for a better place, ties half."""
    total = np.zeros((games.entrants, games.entrants))
    for one, other, result in games.results():
        total += games.pair_sums(one, other, result)
    return total


def fitted(scored: FloatArray, virtual_draws: float = 1.0) -> Fit:
    """Returns the strengths that make the scores `[own, other]` most likely.

    Without virtual draws that may be nowhere, as where somebody won every game: `ValueError`.
    """
    strengths = np.zeros(len(scored))
    for _ in range(_MOST_STEPS):
        gradient, information = _derivatives(scored, strengths, virtual_draws)
        inverse = _inverse(information)
        step = inverse @ gradient
        length = float(np.ptp(step))
        if length < _LAST_STEP:
            return Fit(strengths + step, inverse)
        # This much of Newton's step always leads upwards: a logistic curvature changes at most by a factor of e^length.
        strengths += step * np.log1p(length) / length
    raise ValueError("these scores have no most likely strengths without virtual draws")


def residuals(games: Games, fit: Fit) -> FloatArray:
    """Returns by how much each seat scored more, against all others of its game, than the strengths expect."""
    expected = _expected(fit.strengths)
    surplus = np.zeros(games.tables.shape)
    for one, other, result in games.results():
        surplus[:, one] += result - expected[games.tables[:, one], games.tables[:, other]]
    return surplus


def _expected(strengths: FloatArray) -> FloatArray:
    return _logistic(strengths[:, np.newaxis] - strengths)


def _logistic(odds: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-odds)), dtype=np.float64)


def _derivatives(scored: FloatArray, strengths: FloatArray, virtual_draws: float) -> tuple[FloatArray, FloatArray]:
    """Returns the gradient and the information of games and virtual draws."""
    win = _expected(strengths)
    # T q - T' p is T - N p without the cancellation.
    gradient = (scored * win.T - scored.T * win).sum(axis=1)
    weights = (scored + scored.T) * win * win.T
    against_mean = _logistic(strengths)
    gradient += _without_mean(virtual_draws * (0.5 - against_mean))
    information = np.diag(weights.sum(axis=1)) - weights
    return gradient, information + _centred(virtual_draws * against_mean * (1 - against_mean))


def _without_mean(values: FloatArray) -> FloatArray:
    return np.asarray(values - values.mean(), dtype=np.float64)


def _centred(diagonal: FloatArray) -> FloatArray:
    """Returns P diag(...) P, where P takes the mean away: the opponent of a virtual draw moves with all entrants."""
    centring = np.eye(len(diagonal)) - 1 / len(diagonal)
    return np.asarray(centring * diagonal @ centring, dtype=np.float64)


def _inverse(information: FloatArray) -> FloatArray:
    shift = 1 / len(information)
    try:
        return np.asarray(np.linalg.inv(information + shift) - shift, dtype=np.float64)
    except np.linalg.LinAlgError as error:
        raise ValueError("without virtual draws, strengths need games that connect all entrants") from error


def _covariance(fit: Fit, memberships: Memberships, surplus: FloatArray) -> FloatArray:
    """Returns the covariance of the strengths, clustered by deal group."""
    groups = memberships.group_count
    scatter = memberships.products(memberships.sums(surplus)) * groups / max(groups - 1, 1)
    return fit.inverse @ (scatter + _centred(np.full(len(scatter), _TOSS))) @ fit.inverse


def _superiority(elo: tuple[Estimate, ...], covariance: FloatArray) -> FloatArray:
    likelihood = np.full(covariance.shape, 0.5)
    for i, one in enumerate(elo):
        for j, other in enumerate(elo[:i]):
            error = np.sqrt(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])
            likelihood[i, j] = superiority((one.value - other.value) / float(error), min(one.groups, other.groups))
            likelihood[j, i] = 1 - likelihood[i, j]
    return likelihood
