"""Regression tests of simulated bots whose difference is known, to see how often their verdicts are wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rummyarena_server.tournament.games import Game
from rummyarena_server.tournament.regression import Evidence, Played, Question
from tests.tournament.simulation import play

_GROUPS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of tests that ended so, and how many groups counted in a test on average."""

    accepted: float
    rejected: float
    undecided: float
    groups: float


def shares(draws: np.random.Generator, question: Question, advantage: float, luck: float, tests: int) -> Shares:
    """Runs tests of a bot with this advantage, in natural logarithms of odds, over its base."""
    done = [_one_test(draws, question, advantage, luck) for _ in range(tests)]
    ends = [test.verdict for test in done]
    accepted, rejected, undecided = (ends.count(end) / tests for end in ("accepted", "rejected", "undecided"))
    return Shares(accepted, rejected, undecided, sum(test.groups for test in done) / tests)


def played(
    draws: np.random.Generator, seats: int, advantage: float, luck: float, groups: int, first: int = 0
) -> Iterator[Played]:
    """Yields the games of deal groups of a new bot at tables full of its base, in a random order of finishing."""
    strengths = np.array([advantage] + [0.0] * (seats - 1))
    games = play(draws, strengths, np.tile(np.arange(seats), (groups, 1)), luck)
    rows = zip(games.groups.tolist(), games.tables.tolist(), games.ranks.tolist(), games.points.tolist(), strict=True)
    found = [
        Played(Game(first + group, tuple(table), tuple(ranks), tuple(points), 1))
        for group, table, ranks, points in rows
    ]
    yield from (found[number] for number in draws.permutation(len(found)))


def _one_test(draws: np.random.Generator, question: Question, advantage: float, luck: float) -> Evidence:
    evidence, first = Evidence(question), 0
    while evidence.verdict is None:
        groups = min(_GROUPS_AT_ONCE, question.most_groups - first)
        evidence.add(played(draws, question.seats, advantage, luck, groups, first))
        first += groups
    return evidence
