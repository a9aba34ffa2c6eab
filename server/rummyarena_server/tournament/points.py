"""Points a deal: the difference in score, which tells most from the fewest games.

For an entrant, D(g) is what it had more than the mean of its opponents, added up over the games of group g, and n(g)
the number of deals of these games::

    points a deal R = sum of D / sum of n
    se = sqrt( N/(N-1) * sum of (D(g) - R n(g))^2 ) / sum of n      over the entrant's N groups

One group has no scatter: its games are taken for groups then, and their means for 0. Groups that all came to the same
are taken to scatter by one point.
"""

from __future__ import annotations

import numpy as np

from rummyarena_server.tournament.bars import Estimate, estimate
from rummyarena_server.tournament.games import FloatArray, Games, IntArray, add_up


def points_a_deal(games: Games, lower_is_better: bool) -> tuple[Estimate | None, ...]:
    """Returns for each entrant how much better than its opponents it was in a deal; None where no deal counts.

    More is better in the result, whatever `lower_is_better` says of the points.
    """
    leads, memberships = games.leads(lower_is_better), games.memberships()
    return ratios(
        memberships.members,
        memberships.sums(leads),
        memberships.sums(deals_by_seat(games)),
        add_up(leads**2, games.tables, games.entrants),
    )


def deals_by_seat(games: Games) -> FloatArray:
    """Returns the deals of each game once for each seat."""
    return np.repeat(games.deals[:, np.newaxis], games.seats, axis=1).astype(np.float64)


def ratios(of: IntArray, amounts: FloatArray, deals: FloatArray, squares: FloatArray) -> tuple[Estimate | None, ...]:
    """Returns the ratio of amounts to deals for each number 0 .. len(squares) - 1; None where there are no deals.

    `of`, `amounts`, `deals`: an entry for each group of each number. `squares`: of the amounts of single games, added
    up for each number.
    """
    size = len(squares)
    total = add_up(deals, of, size)
    shown = np.maximum(total, 1)
    ratio = add_up(amounts, of, size) / shown
    groups = np.bincount(of[deals > 0], minlength=size)
    squares = np.where(groups > 1, add_up((amounts - ratio[of] * deals) ** 2, of, size), squares)
    errors = np.sqrt(np.maximum(squares, 1) * groups / np.maximum(groups - 1, 1)) / shown
    return tuple(
        estimate(float(ratio[one]), float(errors[one]), int(groups[one])) if total[one] else None for one in range(size)
    )
