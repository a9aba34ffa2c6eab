"""Swiss rounds: tables of bots that have done equally well, and as few rematches as can be.

Round r (from 0) of n bots at tables of s seats is made from their scores a game so far: the share of the opponents that
were beaten, ties half, and nothing in a game that all have forfeited; 1/2 before the first game. All draws of the round
are from the stream of the schedule seed (`schedule`) with the purpose `round/r`.

1. **Order.** The bots 0 .. n-1 are shuffled, then sorted by score, the best first; equals stay in the drawn order.
2. **Byes.** n mod s bots have a bye: those with the fewest byes so far, of these the last in the order.
3. **Tables.** The others are divided into tables with few rematches, equals beside equals (`rematches`).
4. **Seats.** The bots of each table are shuffled, one table after another.

A bye counts nothing: standings go by score a game.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

from rummyarena_server.store.rounds import PlayedGame
from rummyarena_server.tournament.rematches import fewest_rematches
from rummyarena_server.tournament.rounds import Round
from rummyarena_server.tournament.schedule import SEATS, schedule_stream, shuffled


@dataclass(frozen=True, slots=True)
class Swiss:
    """A Swiss tournament of so many rounds, at tables of 2 to 8 seats."""

    seed: int
    entrants: int
    rounds: int
    seats: int = 2

    def __post_init__(self) -> None:
        if self.seats not in SEATS or self.entrants < self.seats or self.rounds < 1 or self.seed < 0:
            raise ValueError(f"no Swiss tournament has {self}")

    @property
    def tables_a_round(self) -> int:
        """The number of tables in every round; who has no seat there has a bye."""
        return self.entrants // self.seats

    def pairing(self) -> SwissPairing:
        """Returns what makes the rounds, before the first of them."""
        return SwissPairing(self)


class SwissPairing:
    """Makes the rounds of a Swiss tournament from the scores so far."""

    def __init__(self, swiss: Swiss) -> None:
        self._swiss = swiss
        self._round = 0
        self._halves = [0] * swiss.entrants  # beaten opponents count two, ties one
        self._games = [0] * swiss.entrants
        self._byes = [0] * swiss.entrants
        self._met = [Counter[int]() for _ in range(swiss.entrants)]

    def next_round(self) -> Round | None:
        """Returns the next round, `None` after the last."""
        if self._round == self._swiss.rounds:
            return None
        draws = schedule_stream(self._swiss.seed, f"round/{self._round}")
        order = sorted(shuffled(draws, range(self._swiss.entrants)), key=self._score, reverse=True)
        for one in self._with_a_bye(order):
            order.remove(one)
        tables = fewest_rematches(order, self._swiss.seats, self._met)
        return Round(self._round, tuple(shuffled(draws, table) for table in tables))

    def note(self, played: Round, games: Sequence[PlayedGame]) -> None:
        """Notes the next round and all its results."""
        self._round += 1
        for table in played.tables:
            for one, other in permutations(table, 2):
                self._met[one][other] += 1
        for one in set(range(self._swiss.entrants)).difference(*played.tables):
            self._byes[one] += 1
        for game in games:
            self._count(game)

    def _count(self, game: PlayedGame) -> None:
        for entrant, rank in zip(game.table, game.ranks, strict=True):
            self._games[entrant] += 1
            if game.rated:
                halves = sum((other > rank) + (other >= rank) for other in game.ranks)
                self._halves[entrant] += halves - 1  # its tie with itself

    def _score(self, entrant: int) -> Fraction:
        if not self._games[entrant]:
            return Fraction(1, 2)
        return Fraction(self._halves[entrant], 2 * (self._swiss.seats - 1) * self._games[entrant])

    def _with_a_bye(self, order: Sequence[int]) -> list[int]:
        from_last = list(reversed(order))
        from_last.sort(key=self._byes.__getitem__)
        return from_last[: self._swiss.entrants % self._swiss.seats]
