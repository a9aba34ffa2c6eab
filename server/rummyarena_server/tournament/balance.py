"""How even games are: meetings, seats and neighbours, in a schedule or in games that were played."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from typing import Final, NamedTuple, TypeAlias

from rummyarena_server.tournament.schedule import Schedule
from rummyarena_server.tournament.tables import Table

MOST_GROUPS: Final = 100_000
"""How many deal groups of a schedule are looked at; a second's work."""

Counts: TypeAlias = tuple[tuple[int, ...], ...]


class Spread(NamedTuple):
    """The least of some counts and the most."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Balance:
    """Counts of games, for entrants by their numbers.

    `meetings[a][b]`: in which a and b sat at one table. `seats[a][s]`: in which a sat in seat s. `followed[a][b]`: in
    which b sat next after a, round the table; at tables of two that is every meeting.
    """

    games: int
    meetings: Counts
    seats: Counts
    followed: Counts

    def met(self, some: Collection[int], others: Collection[int] | None = None) -> Spread:
        """Returns how often two of some entrants met or, with others, one of some and one of the others.

        `ValueError` if there are no such two.
        """
        return _spread(self.meetings[one][other] for one, other in _pairs(some, others))

    def neighbours(self, some: Collection[int], others: Collection[int] | None = None) -> Spread:
        """Returns how often one followed another, either way round, of the same two as in `met`."""
        return _spread(
            count
            for one, other in _pairs(some, others)
            for count in (self.followed[one][other], self.followed[other][one])
        )

    @property
    def seat_difference(self) -> int:
        """By how many games, at most, an entrant sat in one seat more often than in another."""
        return max(max(counts) - min(counts) for counts in self.seats)


def balance(entrants: int, seats: int, tables: Iterable[Table]) -> Balance:
    """Returns the balance of games; `tables`: the entrants of each, in the order of the seats."""
    meetings, followed = ([[0] * entrants for _ in range(entrants)] for _ in range(2))
    seated = [[0] * seats for _ in range(entrants)]
    games = 0
    for table in tables:
        games += 1
        for seat, one in enumerate(table):
            seated[one][seat] += 1
        for one, other in combinations(table, 2):
            meetings[one][other] += 1
            meetings[other][one] += 1
        for one, other in pairwise((*table, table[0])):
            followed[one][other] += 1
    return Balance(games, _frozen(meetings), _frozen(seated), _frozen(followed))


def planned_tables(schedule: Schedule, groups: int) -> Iterator[Table]:
    """Yields the tables of the first deal groups of a schedule, game by game."""
    return (schedule.game(index).table for index in range(min(groups * schedule.seats, len(schedule))))


def _pairs(some: Collection[int], others: Collection[int] | None) -> Iterable[tuple[int, int]]:
    return combinations(some, 2) if others is None else product(some, others)


def _spread(counts: Iterable[int]) -> Spread:
    every = list(counts)
    if not every:
        raise ValueError("there is nobody who could meet anybody")
    return Spread(min(every), max(every))


def _frozen(counts: list[list[int]]) -> Counts:
    return tuple(map(tuple, counts))
