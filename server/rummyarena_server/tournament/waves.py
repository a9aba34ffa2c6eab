"""The waves of a ladder: endless rounds of informative games, between bots that are near each other or little known.

A wave has min(64, max(1, 4n div s)) tables for n bots at tables of s seats, about four a bot where these are few.

**What is known.** Each bot has an estimate R, at first 1500, and a deviation D, at first 350: Glicko (M. Glickman,
"Parameter estimation in large dynamic paired comparison experiments", 1999) with a wave as rating period and strengths
that do not drift. In each rated game every two bots i and j of a table have a result s of 1, 1/2 or 0 for i, which
weighs w = 1/(s-1)::

    q = ln 10 / 400        g(D) = 1 / sqrt(1 + 3 q^2 D^2 / pi^2)        E(i, j) = 1 / (1 + 10^(-g(Dj) (Ri - Rj) / 400))
    precision of i   1 / Di'^2 = 1 / Di^2 + sum over its results of w q^2 g(Dj)^2 E (1 - E)
    estimate of i    Ri'       = Ri + q Di'^2 * sum over its results of w g(Dj) (s - E)

All of it from the estimates before the wave, added up in the order of the schedule.

**Who plays whom.** All bots are shuffled (the stream of the schedule seed with the purpose `round/WAVE`); this order
breaks all ties. What is the same to 6 decimals is a tie, so that errors of rounding decide nothing. The tables are made
one after another:

1. First comes the bot whose D^2 is the largest, newcomers therefore before all others.
2. Each further seat goes to the bot for which the sum of ::

       (p (1 - p))^2 (Di^2 + Dj^2) / (1 + m)      p = 1 / (1 + 10^((Rj - Ri) / 400)),  m: tables of i and j so far

   over all who sit there already is largest: it is near to them in strength, they or it are little known, and they have
   met seldom. So pairs meet in proportion to how much their games tell, near ones a little oftener.
3. The deviations become at once what they will be after the games of this table, and m grows.

Then the bots of each table are shuffled, one table after another. A bot that had been withdrawn before every one of its
games in the last wave in which it sat takes no part in later ones; the ladder ends when no table can be filled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import permutations
from math import log, pi, sqrt
from typing import Final

from sqlalchemy.orm import Session

from rummyarena_server.store.results import StoredTournament
from rummyarena_server.store.rounds import PlayedGame, last_round
from rummyarena_server.tournament.rating import START, expected_score
from rummyarena_server.tournament.rounds import Round
from rummyarena_server.tournament.schedule import SEATS, schedule_stream, shuffled
from rummyarena_server.tournament.seeds import wave_secret

MOST_TABLES: Final = 64
_TABLES_OF_A_BOT: Final = 4
_FIRST_DEVIATION: Final = 350.0
_Q: Final = log(10) / 400


@dataclass(frozen=True, slots=True)
class Ladder:
    """A ladder at tables of 2 to 8 seats; without `rounds`, which are its waves, it has no end."""

    seed: int
    entrants: int
    seats: int = 2
    rounds: int | None = None

    def __post_init__(self) -> None:
        has_rounds = self.rounds is None or self.rounds >= 1
        if self.seats not in SEATS or self.entrants < self.seats or not has_rounds or self.seed < 0:
            raise ValueError(f"no ladder has {self}")

    @property
    def tables_a_round(self) -> int:
        """The number of tables in every wave."""
        return min(MOST_TABLES, max(1, _TABLES_OF_A_BOT * self.entrants // self.seats))

    def pairing(self) -> LadderPairing:
        """Returns what makes the waves, before the first of them."""
        return LadderPairing(self)


@dataclass(frozen=True, slots=True)
class CommittedWave:
    """A wave whose deals are fixed: its number, from 0, and SHA-256 of its secret, which may be told at any time."""

    number: int
    secret_digest: bytes


def committed(event_secret: bytes, number: int) -> CommittedWave:
    """Returns the wave of this number."""
    return CommittedWave(number, sha256(wave_secret(event_secret, number)).digest())


def last_wave(session: Session, tournament: StoredTournament) -> CommittedWave | None:
    """Returns the last wave of a ladder that was stored, `None` if none was."""
    number = last_round(session, tournament.id)
    return None if number is None else committed(tournament.event_secret, number)


class LadderPairing:
    """Makes the waves of a ladder from what is known of its bots."""

    def __init__(self, ladder: Ladder) -> None:
        self._ladder = ladder
        self._wave = 0
        self._estimates = [START] * ladder.entrants
        self._precision = [_FIRST_DEVIATION**-2] * ladder.entrants
        self._met = [Counter[int]() for _ in range(ladder.entrants)]
        self._withdrawn: set[int] = set()

    def next_round(self) -> Round | None:
        """Returns the next wave; `None` after the last, or if too few bots are left."""
        present = [one for one in range(self._ladder.entrants) if one not in self._withdrawn]
        if self._wave == self._ladder.rounds or len(present) < self._ladder.seats:
            return None
        draws = schedule_stream(self._ladder.seed, f"round/{self._wave}")
        plan = _Wave(shuffled(draws, present), self._ladder.seats, self._estimates, self._precision, self._met)
        chosen = [plan.next_table() for _ in range(self._ladder.tables_a_round)]
        return Round(self._wave, tuple(shuffled(draws, table) for table in chosen))

    def note(self, played: Round, games: Sequence[PlayedGame]) -> None:
        """Notes the next wave and all its results."""
        self._wave += 1
        for table in played.tables:
            for one, other in permutations(table, 2):
                self._met[one][other] += 1
        self._note_withdrawn(games)
        self._rate([game for game in games if game.rated])

    def _note_withdrawn(self, games: Sequence[PlayedGame]) -> None:
        seated = {one for game in games for one in game.table}
        present = {one for game in games for one in game.table if one not in game.withdrawn}
        self._withdrawn = (self._withdrawn - seated) | (seated - present)

    def _rate(self, games: Sequence[PlayedGame]) -> None:
        """Moves estimates and precisions, all from those before the wave."""
        weakening = [_weakening(one) for one in self._precision]
        surplus, precision = [0.0] * len(self._estimates), list(self._precision)
        for game in games:
            for (one, rank), (other, other_rank) in permutations(zip(game.table, game.ranks, strict=True), 2):
                expected = _expected(self._estimates, weakening, one, other)
                scored = (1 + (other_rank > rank) - (other_rank < rank)) / 2
                weighed = weakening[other] / (len(game.table) - 1)
                surplus[one] += weighed * (scored - expected)
                precision[one] += _Q**2 * weighed * weakening[other] * expected * (1 - expected)
        rated = zip(self._estimates, surplus, precision, strict=True)
        self._estimates = [estimate + _Q * more / known for estimate, more, known in rated]
        self._precision = precision


class _Wave:
    """The tables of a wave as they are chosen; `order` breaks ties."""

    def __init__(
        self,
        order: Sequence[int],
        seats: int,
        estimates: Sequence[float],
        precision: Sequence[float],
        met: Sequence[Counter[int]],
    ) -> None:
        self._order, self._seats, self._estimates = order, seats, estimates
        self._weakening = [_weakening(one) for one in precision]
        self._precision = list(precision)
        self._met = [one.copy() for one in met]

    def next_table(self) -> list[int]:
        """Returns the next table, and counts on its games from now on."""
        table = [max(self._order, key=lambda one: _to_6_decimals(1 / self._precision[one]))]
        telling = dict.fromkeys(self._order, 0.0)
        while len(table) < self._seats:
            del telling[table[-1]]
            for other in telling:
                telling[other] += self._telling(table[-1], other)
            table.append(max(telling, key=lambda one: _to_6_decimals(telling[one])))
        self._count_on(table)
        return table

    def _telling(self, one: int, other: int) -> float:
        """Returns how much a game of two tells, less the oftener they have met."""
        wins = expected_score(self._estimates[one], self._estimates[other])
        unknown = 1 / self._precision[one] + 1 / self._precision[other]
        return (wins * (1 - wins)) ** 2 * unknown / (1 + self._met[one][other])

    def _count_on(self, table: Sequence[int]) -> None:
        games_a_result = self._seats / (self._seats - 1)
        for one, other in permutations(table, 2):
            self._met[one][other] += 1
            expected = _expected(self._estimates, self._weakening, one, other)
            self._precision[one] += games_a_result * (_Q * self._weakening[other]) ** 2 * expected * (1 - expected)


def _to_6_decimals(value: float) -> float:
    return round(value, 6)


def _weakening(precision: float) -> float:
    """Returns Glicko's g: by how much a result tells less, for the deviation of the opponent."""
    return 1 / sqrt(1 + 3 * _Q**2 / precision / pi**2)


def _expected(estimates: Sequence[float], weakening: Sequence[float], one: int, other: int) -> float:
    return expected_score(weakening[other] * estimates[one], weakening[other] * estimates[other])
