"""Two bots compared: what each deal group says, put together; and everybody against everybody.

The score a of a group, 0 .. 1, is the mean of what the one bot scored against the other in the games of the group. With
the mean m and the variance v of N groups of g games each::

    se = sqrt(v / N)                    sqrt(v / (N - 1)) below 30 groups, with Student's t
    Elo = 400/ln 10 * ln(m / (1 - m))   the bar from m +- 1.96 se, by the same formula
    normalised Elo = (m - 1/2) / sqrt(v g) * 2 * 400/ln 10
    likelihood of superiority = Phi((m - 1/2) / se)

Groups that all went the same way do not scatter, yet the next one may. So v is taken as at least 1/g^2 / (N + 3): as if
one game of one group in N + 3 had turned round. A mean of 0 or 1 would be infinitely many Elo: the estimate is at most
that of one drawn game more, and a bar ends where losing not one of all those games had a chance of 97.5 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Final

import numpy as np

from rummyarena_server.tournament.bars import ELO, MANY_GROUPS, Estimate, estimate, reach_of_bar, superiority
from rummyarena_server.tournament.games import FloatArray, Games, IntArray, add_up

_MARGIN_OF_ESTIMATE: Final = 0.5  # games lost (or won) of all games and one more, at least
_MARGIN_OF_BAR: Final = 0.025


@dataclass(frozen=True, slots=True, kw_only=True)
class PairStatistics:
    """What deal groups say about one bot against another, or against several equal ones; more is better.

    `score`: the mean score of a group, 0 .. 1. `normalised`: Elo in units of the scatter, which says how many games it
    takes to see the difference. `superiority`: the likelihood that the one is better, 0 .. 1.
    """

    score: Estimate
    elo: Estimate
    normalised: Estimate
    superiority: float


@dataclass(frozen=True, slots=True, eq=False)
class HeadToHead:
    """Everybody against everybody, as `[own, other]`.

    `wins`, `ties`: better and equal places at a table of both; the wins of the other are the losses. `groups`: in which
    both played.
    """

    wins: IntArray
    ties: IntArray
    groups: IntArray


def pair_statistics(scores: Sequence[float] | FloatArray, games_a_group: float) -> PairStatistics:
    """Returns the statistics of the scores, 0 .. 1, of all deal groups of two bots; finite for any, even none."""
    groups = len(scores)
    mean, variance, error = _mean_score(scores, games_a_group)
    reach = reach_of_bar(groups)
    games = groups * games_a_group
    elo = Estimate(
        _elo(mean, games, _MARGIN_OF_ESTIMATE),
        _elo(mean - reach * error, games, _MARGIN_OF_BAR),
        _elo(mean + reach * error, games, _MARGIN_OF_BAR),
        groups,
    )
    deviation = sqrt(variance * games_a_group) / (2 * ELO)
    return PairStatistics(
        score=share(scores, games_a_group),
        elo=elo,
        normalised=estimate((mean - 0.5) / deviation, error / deviation, groups),
        superiority=superiority((mean - 0.5) / error, groups),
    )


def share(scores: Sequence[float] | FloatArray, games_a_group: float) -> Estimate:
    """Returns the mean of scores of groups, 0 .. 1 as they are; 1/2 of none."""
    mean, _, error = _mean_score(scores, games_a_group)
    whole = estimate(mean, error, len(scores))
    return Estimate(mean, max(whole.low, 0.0), min(whole.high, 1.0), whole.groups)


def group_scores(games: Games, one: int, other: int) -> tuple[FloatArray, float]:
    """Returns the mean score of one entrant against another in each group they share, and their games a group.

    Who sits in several seats of a table, as the base does in a regression test, counts in each.
    """
    scored, met = np.zeros(len(games)), np.zeros(len(games))
    for seat, opposite, result in games.results():
        both = (games.tables[:, seat] == one) & (games.tables[:, opposite] == other)
        scored += both * result
        met += both
    shared = met > 0
    names, groups = np.unique(games.groups[shared], return_inverse=True)
    if not len(names):
        return np.zeros(0), float(games.seats)
    scored, met = (add_up(of_games[shared], groups, len(names)) for of_games in (scored, met))
    return scored / met, len(groups) / len(names)


def head_to_head(games: Games) -> HeadToHead:
    """Returns who beat whom how often."""
    wins, ties = np.zeros((2, games.entrants, games.entrants), np.int64)
    for one, other, result in games.results():
        wins += games.pair_sums(one, other, result == 1).astype(np.int64)
        ties += games.pair_sums(one, other, result == 0.5).astype(np.int64)
    return HeadToHead(wins, ties, games.memberships().groups_together())


def _elo(score: float, games: float, margin: float) -> float:
    least = margin / (games + 1)
    score = min(max(score, least), 1 - least)
    return ELO * log(score / (1 - score))


def _mean_score(scores: Sequence[float] | FloatArray, games_a_group: float) -> tuple[float, float, float]:
    """Returns the mean score of groups, the variance of the scores, and the standard error of the mean."""
    groups = len(scores)
    mean, variance = (float(np.mean(scores)), float(np.var(scores))) if groups else (0.5, 0.0)
    variance = max(variance, 1 / games_a_group**2 / (groups + 3))
    return mean, variance, sqrt(variance / (groups if groups >= MANY_GROUPS else max(groups - 1, 1)))
