"""Simulated tournaments whose truth is known, to see how often bars and sequential tests are wrong.

Bots play by the Plackett-Luce model, the one behind the strengths. The luck of the deal is no part of that model: each
seat of a deal group has its own, the same in all games of the group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rummyarena_server.tournament.bars import ELO, Estimate
from rummyarena_server.tournament.games import FloatArray, Games, IntArray
from rummyarena_server.tournament.pairs import group_scores, pair_statistics
from rummyarena_server.tournament.points import points_a_deal
from rummyarena_server.tournament.sequential import Hypotheses, SequentialTest
from rummyarena_server.tournament.strength import fitted, rate, scores

STRONG_LUCK = 3.0  # standard deviation in natural logarithms of odds: the deal matters more than any bot
SPREAD = 200 / ELO  # between the strongest bot and the weakest

_TRUTH = 8_000_000  # places
_TRUTH_PARTS = 100
_GROUPS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Coverage:
    """The share of 95 % bars that hold the truth; of the bots, the mean and the lowest."""

    strength: float
    lowest: float
    pair: float
    points: float


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The share of tests that accepted, and how many groups a test took on average."""

    accepted: float
    groups: float


def random_tables(draws: np.random.Generator, entrants: int, seats: int, groups: int) -> IntArray:
    """Returns a table of different entrants for each group."""
    return np.argsort(draws.random((groups, entrants)), axis=1)[:, :seats]


def play(draws: np.random.Generator, strengths: FloatArray, tables: IntArray, luck: float) -> Games:
    """Plays whole deal groups, one deal a game.

    `strengths`: of the entrants, in natural logarithms of odds. `tables[group, seat]`: at rotation 0. `luck`: its
    standard deviation. More points are better.
    """
    groups, seats = tables.shape
    turned = np.stack([np.roll(tables, -rotation, axis=1) for rotation in range(seats)], axis=1).reshape(-1, seats)
    deal = np.repeat(draws.normal(0, luck, (groups, seats)), seats, axis=0)
    fortune = strengths[turned] + deal + draws.gumbel(size=turned.shape)
    ranks = np.argsort(np.argsort(-fortune, axis=1), axis=1) + 1
    points = np.rint(20 * fortune).astype(np.int64)
    one_deal = np.ones(len(turned), np.int64)
    return Games(len(strengths), np.repeat(np.arange(groups), seats), turned, ranks, points, one_deal)


def coverage(draws: np.random.Generator, seats: int, luck: float, simulations: int, groups: int = 50) -> Coverage:
    """Plays tournaments of as many different bots as a table has seats, and looks which bars hold the truth.

    The truth is what all these tournaments say together, for the luck of the deal makes strengths look more alike.
    """
    strengths = np.linspace(SPREAD / 2, -SPREAD / 2, seats)
    results = [play(draws, strengths, random_tables(draws, seats, seats, groups), luck) for _ in range(simulations)]
    true_elo = ELO * fitted(np.sum([scores(one) for one in results], axis=0), virtual_draws=0).strengths
    bars = [[_ends(bar) for bar in rate(one).elo] for one in results]
    pairs = [[_ends(pair_statistics(*group_scores(one, 0, 1)).elo)] for one in results]
    true_pair = pair_statistics(np.concatenate([group_scores(one, 0, 1)[0] for one in results]), seats).elo.value
    points = [[_ends(bar) for bar in points_a_deal(one, lower_is_better=False)] for one in results]
    true_points = np.mean([[_middle(ends) for ends in one] for one in points], axis=0)
    by_bot = _holding(bars, true_elo)
    return Coverage(
        float(by_bot.mean()),
        float(by_bot.min()),
        float(_holding(pairs, np.array([true_pair])).mean()),
        float(_holding(points, true_points).mean()),
    )


def verdicts(draws: np.random.Generator, hypotheses: Hypotheses, advantage: float, luck: float, tests: int) -> Verdicts:
    """Runs sequential tests of a bot with this advantage, in natural logarithms of odds, over its base."""
    done = [_one_test(draws, hypotheses, advantage, luck) for _ in range(tests)]
    accepted = sum(test.verdict == "accepted" for test in done)
    return Verdicts(accepted / tests, sum(test.groups for test in done) / tests)


def true_elo(draws: np.random.Generator, seats: int, advantage: float, luck: float, normalised: bool) -> float:
    """Returns the Elo that an advantage amounts to at a table of bases, as many deal groups tell."""
    groups = _TRUTH // seats**2 // _TRUTH_PARTS
    some = [against_base(draws, seats, advantage, luck, groups) for _ in range(_TRUTH_PARTS)]
    statistics = pair_statistics(np.concatenate(some), seats)
    return (statistics.normalised if normalised else statistics.elo).value


def against_base(draws: np.random.Generator, seats: int, advantage: float, luck: float, groups: int) -> FloatArray:
    """Returns the scores of deal groups of a new bot at tables full of its base."""
    table = np.array([0] + [1] * (seats - 1))
    games = play(draws, np.array([advantage, 0.0]), np.tile(table, (groups, 1)), luck)
    return group_scores(games, 0, 1)[0]


def _one_test(draws: np.random.Generator, hypotheses: Hypotheses, advantage: float, luck: float) -> SequentialTest:
    test = SequentialTest(hypotheses)
    while test.verdict is None:
        test = test.after(against_base(draws, hypotheses.seats, advantage, luck, _GROUPS_AT_ONCE))
    return test


def _ends(bar: Estimate | None) -> tuple[float, float]:
    assert bar is not None
    return bar.low, bar.high


def _middle(ends: tuple[float, float]) -> float:
    return sum(ends) / 2


def _holding(bars: list[list[tuple[float, float]]], truth: FloatArray) -> FloatArray:
    """Returns the share of bars `[simulation][figure]` that hold the true figure, for each figure."""
    ends = np.array(bars)
    return np.asarray(((ends[..., 0] <= truth) & (truth <= ends[..., 1])).mean(axis=0))
