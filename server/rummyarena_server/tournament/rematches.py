"""Divides bots that stand in an order into tables of neighbours, with as few rematches as can be.

A *rematch* of two bots at a table counts as often as they have been at one table before.

**Search.** Of all ways to fill the tables one is looked for with the fewest rematches, added up. They are tried in this
order: the first in the order who has no seat opens a table; each next seat of it goes to somebody further down than
those who sit there, at first to whoever adds the fewest rematches, of several to the next in the order, and so on until
the table is full. What cannot become better than the best way found is given up. The search ends after `MOST_STEPS`
seats that were tried; the best way found counts, of several the first.

**Exchanges.** For each table that has rematches, and each of its seats, the bot there changes places with one of
another table wherever that leaves the two tables fewer of them: the nearest tables first, of two the earlier, and there
the first seats first. That is repeated until no exchange is left, or `MOST_PASSES` times.

With up to 12 bots at tables of two the search comes to its end, so nobody meets again where that can be avoided. With
many it is hard at the last tables only, and it is these of which most ways are tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Final, TypeAlias

from rummyarena_server.tournament.tables import Table

MOST_STEPS: Final = 50_000
MOST_PASSES: Final = 10

Meetings: TypeAlias = Sequence[Mapping[int, int]]
"""`meetings[a].get(b, 0)`: how often a and b have been at one table."""


def fewest_rematches(order: Sequence[int], seats: int, met: Meetings) -> list[Table]:
    """Returns the tables, each in the order that is given; as many must be in it as fill tables."""
    search = _Search(order, seats, met)
    for _ in range(MOST_STEPS):
        if not search.step():
            break
    chosen = [order[position] for position in search.best]
    tables = [chosen[first : first + seats] for first in range(0, len(chosen), seats)]
    for _ in range(MOST_PASSES):
        if not _exchange(tables, met):
            break
    return [tuple(table) for table in tables]


# --- exchanges -------------------------------------------------------------------------------------------------------


def _exchange(tables: Sequence[list[int]], met: Meetings) -> bool:
    """Goes through all exchanges once; returns whether it made any."""
    made = 0
    for number, table in enumerate(tables):
        if any(_rematches_of(one, table, met) for one in table):
            nearest = sorted(range(len(tables)), key=lambda other: abs(other - number))
            others = [tables[other] for other in nearest[1:]]
            made += sum(_exchange_one(table, seat, other, met) for seat in range(len(table)) for other in others)
    return made > 0


def _exchange_one(table: list[int], seat: int, other: list[int], met: Meetings) -> int:
    """Has a bot change places with those of another table where that lessens the rematches; returns how often."""
    made = 0
    one, at_home = table[seat], _rematches_of(table[seat], table, met)
    for other_seat, another in enumerate(other):
        before = at_home + _rematches_of(another, other, met)
        if before and _rematches_exchanged(one, table, another, other, met) < before:
            table[seat], other[other_seat] = another, one
            one, at_home, made = another, _rematches_of(another, table, met), made + 1
    return made


def _rematches_exchanged(one: int, table: Sequence[int], another: int, other: Sequence[int], met: Meetings) -> int:
    """Returns how many rematches two bots would have if they changed places; that of the two is none of them."""
    return _rematches_of(one, other, met) + _rematches_of(another, table, met) - 2 * met[one].get(another, 0)


def _rematches_of(bot: int, table: Sequence[int], met: Meetings) -> int:
    return sum(map(met[bot].get, table, repeat(0)))  # nobody has met itself


# --- the search ------------------------------------------------------------------------------------------------------


class _Search:
    """Goes through the ways to fill the tables, as the module says; bots are known by their positions in the order."""

    def __init__(self, order: Sequence[int], seats: int, met: Meetings) -> None:
        self.best: list[int] = []
        self._fewest: int | None = None  # rematches, of the best way
        self._order, self._seats, self._met = order, seats, met
        self._is_free = [True] * len(order)
        self._seated: list[int] = []
        self._rematches = [0]  # before the first is seated, and after each
        self._choices = [self._next_seat()]  # those that are left for each that is seated, and for the next seat

    def step(self) -> bool:
        """Tries one seat; returns whether one was left to try."""
        while self._choices:
            rematches, position = next(self._choices[-1], (0, None))
            if position is None or not self._is_better(self._rematches[-1] + rematches):
                self._choices.pop()
                self._stand_up()
                continue
            self._sit_down(position, rematches)
            if len(self._seated) < len(self._order):
                self._choices.append(self._next_seat())
            else:
                self.best, self._fewest = list(self._seated), self._rematches[-1]
                self._stand_up()
            return True
        return False

    def _is_better(self, rematches: int) -> bool:
        return self._fewest is None or rematches < self._fewest

    def _next_seat(self) -> Iterator[tuple[int, int]]:
        """Returns who may take the next seat, with the rematches that this adds; the fewest of these first."""
        at_table = len(self._seated) % self._seats
        if at_table == 0:
            return iter([(0, self._is_free.index(True))])
        table = self._seated[-at_table:]
        below = [one for one in range(table[-1] + 1, len(self._order)) if self._is_free[one]]
        enough_below = below[: len(below) - (self._seats - at_table - 1)]
        return iter(sorted((self._rematches_of(one, table), one) for one in enough_below))

    def _rematches_of(self, position: int, table: Sequence[int]) -> int:
        met = self._met[self._order[position]]
        return sum(met.get(self._order[one], 0) for one in table)

    def _sit_down(self, position: int, rematches: int) -> None:
        self._is_free[position] = False
        self._seated.append(position)
        self._rematches.append(self._rematches[-1] + rematches)

    def _stand_up(self) -> None:
        """Gives the last seat back, if there is one."""
        if self._seated:
            self._is_free[self._seated.pop()] = True
            self._rematches.pop()
