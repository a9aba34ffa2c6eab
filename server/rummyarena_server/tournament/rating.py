"""Elo, the ladder's rating, for tables of any size.

For a table of k bots, with 1 for a better place than the opponent's, 1/2 for the same and 0 for a worse one::

    expected(i, j) = 1 / (1 + 10^((Ej - Ei) / 400))
    change of Ei   = K/(k-1) * sum over opponents j of (score(i, j) - expected(i, j))

All changes come from the ratings before the game and add up to zero. The rating depends on the order of the games by
nature; it is applied in the order of the schedule, whatever the order of finishing, so that it can be computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

START: Final = 1500.0
K: Final = 16.0


def expected_score(own: float, other: float) -> float:
    """Returns the share of wins, 0 .. 1, that a rating expects against another."""
    return float(1.0 / (1.0 + 10.0 ** ((other - own) / 400.0)))


def elo_changes(ratings: Sequence[float], ranks: Sequence[int], k: float = K) -> tuple[float, ...]:
    """Returns what a game adds to each rating; `ranks`: places in the order of the ratings, 1 is best, ties are equal.

    Forfeited seats come with the place they were given; a game that is not rated is not for this function.
    """
    if len(ratings) != len(ranks) or len(ratings) < 2:
        raise ValueError(f"{len(ratings)} ratings and {len(ranks)} ranks are no table")
    changes = [0.0] * len(ratings)
    for one, other in combinations(range(len(ratings)), 2):
        surprise = _score(ranks[one], ranks[other]) - expected_score(ratings[one], ratings[other])
        change = k / (len(ratings) - 1) * surprise
        changes[one] += change
        changes[other] -= change
    return tuple(changes)


def _score(own: int, other: int) -> float:
    return 0.5 if own == other else float(own < other)
