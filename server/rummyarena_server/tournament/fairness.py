"""What the seat is worth, and what deal groups are worth.

In a whole deal group every bot has sat in every seat, so what a seat has more than the others is owed to the seat. And
what the games of a group have in common, luck of the deal or of the seat, cancels out of its sum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from rummyarena_server.tournament.bars import Estimate
from rummyarena_server.tournament.games import FloatArray, Games, Memberships, add_up
from rummyarena_server.tournament.pairs import share
from rummyarena_server.tournament.points import deals_by_seat, ratios
from rummyarena_server.tournament.strength import fitted, residuals, scores


@dataclass(frozen=True, slots=True)
class SeatEffect:
    """What a seat is worth to whoever sits there.

    `score`: the mean share of its opponents that it beats, ties half; 1/2 is fair. `points`: the points a deal by which
    it is better than the mean of the others; None where no deal counts.
    """

    score: Estimate
    points: Estimate | None


@dataclass(frozen=True, slots=True)
class VarianceSaved:
    """How much of the variance of independent games deal groups took away, by places and by points: below 1.

    With 0.75 a game in a group tells as much as four games on their own; below 0 it tells less than one. None where
    too few groups were played to see it.
    """

    places: float | None
    points: float | None


def seat_effects(games: Games, lower_is_better: bool) -> tuple[SeatEffect, ...]:
    """Returns what each seat is worth."""
    names, numbers = np.unique(games.groups, return_inverse=True)
    lengths = np.bincount(numbers)
    shares, leads, deals = games.shares(), games.leads(lower_is_better), deals_by_seat(games)

    def sums(values: FloatArray) -> FloatArray:
        return np.stack([add_up(column, numbers, len(names)) for column in values.T])

    seats = np.repeat(np.arange(games.seats), len(names))
    points = ratios(seats, sums(leads).ravel(), sums(deals).ravel(), (leads**2).sum(axis=0))
    games_a_group = float(lengths.mean()) if len(names) else float(games.seats)
    return tuple(
        SeatEffect(share(of_groups / lengths, games_a_group), of_points)
        for of_groups, of_points in zip(sums(shares), points, strict=True)
    )


def variance_saved(games: Games, lower_is_better: bool) -> VarianceSaved:
    """Returns what the deal groups saved, by how far games and groups are from what the bots' strengths expect."""
    return VarianceSaved(
        places=_saved(games, residuals(games, fitted(scores(games)))),
        points=_saved(games, _unexpected_leads(games, games.leads(lower_is_better))),
    )


def _unexpected_leads(games: Games, leads: FloatArray) -> FloatArray:
    """Returns what is left of the leads after a fit by least squares: each bot is worth so many points a deal."""
    seats, deals = games.seats, games.deals.astype(np.float64)
    meetings = np.zeros((games.entrants, games.entrants))
    for one, other in permutations(range(seats), 2):
        meetings += games.pair_sums(one, other, deals**2)
    normal = (np.diag(meetings.sum(axis=1)) - meetings) / (seats - 1)
    worth = np.linalg.lstsq(normal, games.entrant_sums(leads * deals[:, np.newaxis]))[0][games.tables]
    others = (worth.sum(axis=1, keepdims=True) - worth) / (seats - 1)
    return np.asarray(leads - (worth - others) * deals[:, np.newaxis], dtype=np.float64)


def _saved(games: Games, deviations: FloatArray) -> float | None:
    """Returns 1 - (squares of the sums of groups) / (the same, if games were independent)."""
    by_game = replace(games, groups=np.arange(len(games)))
    together, alone = _squares(games.memberships(), deviations), _squares(by_game.memberships(), deviations)
    return 1 - together / alone if together is not None and alone else None


def _squares(memberships: Memberships, deviations: FloatArray) -> float | None:
    """Returns the sum of the squares of sums, as if the strengths had not been fitted to them; None if they are few."""
    free = len(memberships.groups) - memberships.group_count
    fitted_values = len(np.unique(memberships.members)) - 1
    if free <= fitted_values:
        return None
    return float(np.sum(memberships.sums(deviations) ** 2)) * free / (free - fitted_values)
