"""Whether a new bot is better than its base: what a regression test asks, and what its games answer.

The new bot, entrant 0, sits in one seat of each table and copies of its base in all others. Complete deal groups are
read in the order of the schedule, in whatever order their games finish, and the verdict falls at the first group at
which it can. It is final: groups that are complete beyond it are known and not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import ceil, floor, log10
from typing import Final, Literal, TypeAlias

import numpy as np

from rummyarena_server.store.results import GameResult, GameSummary, SeatForfeit
from rummyarena_server.tournament.bars import Estimate
from rummyarena_server.tournament.games import Game
from rummyarena_server.tournament.pairs import PairStatistics, pair_statistics
from rummyarena_server.tournament.points import ratios
from rummyarena_server.tournament.sequential import Hypotheses, SequentialTest, expected_groups, groups_to_come

Verdict: TypeAlias = Literal["accepted", "rejected", "undecided"]

NEW: Final = 0
"""The number of the new bot among the entrants; all others are its base."""

MOST_GROUPS: Final = 1_000_000

_HOPELESS: Final = 20  # games that a bot has forfeited, all of them, before it is given up
_TIMES_HALF_WAY: Final = 3
_FIGURES: Final = 2  # of a round number
_FEW_GROUPS: Final = 8  # tell too little of how much groups scatter


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a regression test asks.

    `hypotheses`: between which it decides, after at most `most_groups` deal groups. `None`: all of these are played,
    and then the 95 % bar of the score decides. `lower_is_better`: whether the lowest total wins.
    """

    seats: int
    most_groups: int
    hypotheses: Hypotheses | None = None
    lower_is_better: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.most_groups <= MOST_GROUPS:
            raise ValueError(f"a test has 1 to {MOST_GROUPS} deal groups: {self}")
        if self.hypotheses is not None and self.hypotheses.seats != self.seats:
            raise ValueError(f"the hypotheses are about tables of {self.seats} seats: {self}")


def sensible_groups(hypotheses: Hypotheses) -> int:
    """Returns how many groups end a test that does not decide: three times what it takes half-way, as a round number.

    Half-way, where a test takes longest, its ratio wanders without a drift; after three times the mean time to a bound
    4/pi exp(-3 pi^2/8), about 3 of 100, have met none. So few tests end undecided, whatever is true.
    """
    _, half_way, _ = expected_groups(hypotheses, hypotheses.variance_of_equals**0.5)
    unit = 10.0 ** (floor(log10(_TIMES_HALF_WAY * half_way)) + 1 - _FIGURES)
    return int(min(max(ceil(_TIMES_HALF_WAY * half_way / unit) * unit, 1), MOST_GROUPS))


@dataclass(frozen=True, slots=True)
class Played:
    """A recorded game, and which entrants forfeited it, with the reasons."""

    game: Game
    forfeits: tuple[tuple[int, SeatForfeit], ...] = ()

    @classmethod
    def of_result(cls, result: GameResult) -> Played:
        """Returns a game that was just recorded."""
        seats = result.seats
        game = Game(
            group=result.group,
            table=tuple(one.entrant for one in seats),
            ranks=tuple(one.rank for one in seats),
            points=tuple(one.points for one in seats),
            deals=result.counted_deals,
        )
        return cls(game, tuple((one.entrant, one.forfeit) for one in seats if one.forfeit is not None))

    @classmethod
    def of_summary(cls, summary: GameSummary, numbers: Mapping[str, int]) -> Played:
        """Returns a stored game; `numbers`: of the entrants by their names."""
        seats = summary.seats
        game = Game(
            group=summary.group,
            table=tuple(numbers[one.bot] for one in seats),
            ranks=tuple(one.rank for one in seats),
            points=tuple(one.points for one in seats),
            deals=summary.counted_deals,
        )
        return cls(game, tuple((numbers[one.bot], one.forfeit) for one in seats if one.forfeit is not None))


class Evidence:
    """The games of a regression test so far; it is the same in whatever order and portions they are added.

    `games`: how many there are; every entrant sits in each. `verdict`: `None` until there is one. `forfeits`: how many
    there are of each entrant, by its number, for each reason.
    """

    def __init__(self, question: Question) -> None:
        self.question = question
        self.verdict: Verdict | None = None
        self.games = 0
        self.forfeits: Counter[tuple[int, SeatForfeit]] = Counter()
        self._test = None if question.hypotheses is None else SequentialTest(question.hypotheses)
        # Of each group that counts; the games themselves are not kept, of which there may be a million.
        self._scores: list[float] = []
        self._leads: list[float] = []
        self._deals: list[int] = []
        self._squares = 0.0
        self._waiting: dict[int, list[Game]] = {}

    @property
    def groups(self) -> int:
        """The number of groups that count."""
        return len(self._scores)

    @property
    def groups_beyond(self) -> int:
        """The number of groups that are complete and do not count, or not yet, for one before them is not."""
        return sum(map(self._is_complete, self._waiting.values()))

    @property
    def ratio(self) -> float | None:
        """The logarithm of the likelihood ratio; `None` where there are no hypotheses."""
        return None if self._test is None else self._test.ratio

    @property
    def broken(self) -> tuple[int, ...]:
        """The entrants that forfeited every game: at once if these were 20, else once there is a verdict.

        What their games say is no verdict about how well anybody plays.
        """
        if self.games < (_HOPELESS if self.verdict is None else 1):
            return ()
        return tuple(one for one in range(self.question.seats) if sum(self.reasons(one).values()) == self.games)

    @property
    def is_enough(self) -> bool:
        """Whether no more games are needed."""
        return self.verdict is not None or bool(self.broken)

    def add(self, games: Iterable[Played]) -> None:
        """Takes more games, each of which is added once, and reads on as far as groups are complete."""
        for one in games:
            self.games += 1
            self.forfeits.update(one.forfeits)
            self._waiting.setdefault(one.game.group, []).append(one.game)
        if self.verdict is None:
            self._read_on()

    def reasons(self, entrant: int) -> dict[SeatForfeit, int]:
        """Returns how many games an entrant has forfeited for each reason that there was."""
        return {reason: number for (one, reason), number in sorted(self.forfeits.items()) if one == entrant}

    def against_base(self) -> PairStatistics:
        """Returns what the groups that count say of the new bot against its base; finite for any, even none."""
        return pair_statistics(self._scores, self.question.seats)

    def points_a_deal(self) -> Estimate | None:
        """Returns how many points the new bot had more than its base in a deal that counts; `None` without one."""
        one = np.zeros(len(self._leads), np.int64)
        (found,) = ratios(one, np.array(self._leads), np.array(self._deals), np.array([self._squares]))
        return found

    def groups_to_come(self) -> float:
        """Returns how many more groups are likely to be played, from how the ratio has moved so far.

        Until there are a few groups, it goes by how much those of equals would scatter.
        """
        left = self.question.most_groups - self.groups
        if self._test is None:
            return left
        hypotheses = self._test.hypotheses
        variance = hypotheses.variance_of_equals
        if self.groups >= _FEW_GROUPS:
            # Groups that are all alike do not scatter, yet the next one may (see `pairs`).
            variance = max(float(np.var(self._scores)), 1 / hypotheses.seats**2 / (self.groups + 3))
        return min(left, groups_to_come(self._test, variance**0.5))

    def _read_on(self) -> None:
        first = self.groups
        left = range(first, self.question.most_groups)
        ready = [*takewhile(self._is_complete, (self._waiting.get(group, []) for group in left))]
        scores = [score_of_new(games) for games in ready]
        counting = self._decide(scores)
        self._scores += scores[:counting]
        for group in range(first, first + counting):
            self._note_points(self._waiting.pop(group))
        if self.verdict is None and self.groups == self.question.most_groups:
            self.verdict = "undecided" if self._test else self._by_the_bar()

    def _note_points(self, games: Sequence[Game]) -> None:
        leads = [_lead_of_new(game, self.question.lower_is_better) for game in games]
        self._leads.append(sum(leads))
        self._deals.append(sum(game.deals for game in games))
        self._squares += sum(lead**2 for lead in leads)

    def _decide(self, scores: Sequence[float]) -> int:
        """Returns how many more groups count, with the last of which there may be a verdict."""
        if self._test is None:
            return len(scores)
        before = self._test.groups
        self._test = self._test.after(scores)
        self.verdict = self._test.verdict
        return self._test.groups - before

    def _by_the_bar(self) -> Verdict:
        score = self.against_base().score
        if score.low > 0.5:
            return "accepted"
        return "rejected" if score.high < 0.5 else "undecided"

    def _is_complete(self, games: Sequence[Game]) -> bool:
        return len(games) == self.question.seats


def score_of_new(games: Sequence[Game]) -> float:
    """Returns the score of a complete deal group, 0 .. 1: the mean share of its opponents that the new bot beat.

    A tie counts half, and so does a game that everybody forfeited: there all places are equal.
    """
    halves = sum(_halves_of_new(game) for game in games)
    return halves / (2 * len(games) * (len(games[0].table) - 1))


def _halves_of_new(game: Game) -> int:
    """Returns two for each opponent that the new bot beat, and one for each with the same place."""
    own = game.ranks[game.table.index(NEW)]
    opponents = [rank for entrant, rank in zip(game.table, game.ranks, strict=True) if entrant != NEW]
    return sum(2 * (rank > own) + (rank == own) for rank in opponents)


def _lead_of_new(game: Game, lower_is_better: bool) -> float:
    """Returns the points of the new bot less the mean of the others'; more is better."""
    own = game.points[game.table.index(NEW)]
    lead = own - (sum(game.points) - own) / (len(game.points) - 1)
    return -lead if lower_is_better else lead
