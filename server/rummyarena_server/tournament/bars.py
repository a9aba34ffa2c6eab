"""Figures with 95 % bars: the scale of Elo, and how far to trust a figure that few deal groups stand behind.

From 30 groups on a mean over groups is taken as normally distributed. Fewer groups do not even tell how much they
scatter; Student's t with groups - 1 degrees of freedom makes up for that. One group is treated like two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import atan, cos, log, pi, sin, sqrt
from statistics import NormalDist
from typing import Final

ELO: Final = 400.0 / log(10.0)
"""Elo points in one natural logarithm of the odds."""

MANY_GROUPS: Final = 30
_BELOW_HIGH: Final = 0.975  # 2.5 % on either side of a bar
_NORMAL: Final = NormalDist()


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure, the ends of its 95 % bar, and the number of deal groups behind it; always finite, `low` < `high`."""

    value: float
    low: float
    high: float
    groups: int


def estimate(value: float, error: float, groups: int) -> Estimate:
    """Returns a figure with a bar from its standard error."""
    reach = reach_of_bar(groups) * error
    return Estimate(value, value - reach, value + reach, groups)


@lru_cache(maxsize=MANY_GROUPS + 1)
def _reach_by_t(degrees: int) -> float:
    """Returns Student's quantile by bisection."""
    low, high = 1.0, 16.0  # 12.71 for one degree of freedom
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if _below_by_t(middle, degrees) < _BELOW_HIGH else (low, middle)
    return middle


def reach_of_bar(groups: int) -> float:
    """Returns how many standard errors a bar reaches to either side."""
    return _NORMAL.inv_cdf(_BELOW_HIGH) if groups >= MANY_GROUPS else _reach_by_t(_degrees(groups))


def superiority(errors: float, groups: int) -> float:
    """Returns the likelihood of superiority, 0 .. 1, of what is ahead by so many standard errors."""
    return _NORMAL.cdf(errors) if groups >= MANY_GROUPS else _below_by_t(errors, _degrees(groups))


def _degrees(groups: int) -> int:
    return max(groups - 1, 1)


def _below_by_t(t: float, degrees: int) -> float:
    """Returns Student's distribution function (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = atan(t / sqrt(degrees))
    odd = degrees % 2
    term, total = (cos(angle), 0.0) if odd else (1.0, 0.0)
    for factor in range(1 + odd, degrees, 2):
        total += term
        term *= cos(angle) ** 2 * factor / (factor + 1)
    between = 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total
    return min(max((1 + between) / 2, 0.0), 1.0)  # rounding may pass the ends
