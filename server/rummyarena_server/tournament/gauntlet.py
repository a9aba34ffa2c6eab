"""Challengers against a field: which of them play at which table, a pure function of a public seed.

A table has one challenger and `seats` - 1 bots of the field, so challengers never meet. The field stands on a circle,
drawn as for a round robin (`schedule`) from the list 0 .. f-1 of its f bots in the order of the entrants; a challenger
stands on place f, outside of it. In a cycle each challenger plays each table of the field once::

    two seats      every bot of the field by itself, in the order of the places
    three seats    every two of the field, in the order of a round robin of two seats
    more           the tables of a round robin of the field with one seat less, in its order (`tables`)

The T tables come up in turn, the challengers beginning at different ones, so that they come along together and so does
the field: group g of a cycle with c challengers belongs to challenger a = g mod c, who plays table
(g div c + a T div c) mod T. Who sits beside whom is chosen as in a round robin, but in a lap of L cycles challenger a
has in cycle k the neighbours of cycle (k + a) mod L. docs/formats.md has all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import comb

from rummyarena_server.tournament.schedule import (
    MOST_ENTRANTS,
    SEATS,
    ScheduledGame,
    circle_of,
    pair,
    rotated,
)
from rummyarena_server.tournament.tables import Pattern, Table, circuits, pattern, tables_a_cycle, with_neighbours


@dataclass(frozen=True, slots=True)
class Gauntlet:
    """Each challenger meets everybody in the field in each of `cycles` cycles, at tables of 2 to 8 seats.

    `challengers`: their numbers, ascending. At larger tables a challenger has a deal group with each choice of
    opponents where these are at most 5,000, else with a balanced selection of them.

    Any game is found at once, however long the schedule is. Iterating gives all games in the order of their indices.
    """

    seed: int
    entrants: int
    challengers: tuple[int, ...]
    seats: int = 2
    cycles: int = 1

    def __post_init__(self) -> None:
        numbers = range(self.entrants)
        if list(self.challengers) != sorted(set(self.challengers) & set(numbers)) or not self.challengers:
            raise ValueError(f"challengers are some of 0 .. {self.entrants - 1}, ascending: {self}")
        if self.seats not in SEATS or len(self.field) < self.seats - 1 or self.cycles < 1 or self.seed < 0:
            raise ValueError(f"no gauntlet has {self}")
        if self.seats > 2 and self.entrants > MOST_ENTRANTS:
            raise ValueError(f"tables of {self.seats} are scheduled for at most {MOST_ENTRANTS} entrants: {self}")

    @property
    def field(self) -> Table:
        """Those who are no challengers."""
        return _field(self.entrants, self.challengers)

    @property
    def groups(self) -> int:
        """The number of deal groups."""
        return self.cycles * self._groups_a_cycle

    @property
    def groups_a_lap(self) -> int:
        """The number of deal groups until all is as even as it becomes: those of a cycle or, see `tables`, of a lap."""
        return self._groups_a_cycle * _pattern(len(self.field), self.seats).lap

    def __len__(self) -> int:
        return self.groups * self.seats

    def __iter__(self) -> Iterator[ScheduledGame]:
        return map(self.game, range(len(self)))

    def game(self, index: int) -> ScheduledGame:
        """Returns the game with this index, 0 .. len - 1; `IndexError` beyond."""
        if not 0 <= index < len(self):
            raise IndexError(f"game {index} of a schedule of {len(self)}")
        return rotated(index, self._seated_at_first(index // self.seats))

    @property
    def _groups_a_cycle(self) -> int:
        return len(self.challengers) * _tables_of_field(len(self.field), self.seats)

    def _seated_at_first(self, group: int) -> Table:
        """Returns the table of a group at rotation 0."""
        cycle, number = divmod(group, self._groups_a_cycle)
        step, challenger = divmod(number, len(self.challengers))
        tables = _pattern(len(self.field), self.seats)
        among = len(tables.tables)
        circle, cycle_of_lap = divmod(cycle, tables.lap)
        table = (step + challenger * among // len(self.challengers)) % among
        places = tables.seating(table, (cycle_of_lap + challenger) % tables.lap)
        standing = circle_of(self.seed, circle, len(self.field))
        bots = (*(self.field[one] for one in standing), self.challengers[challenger])
        return tuple(bots[place] for place in places)


@lru_cache(maxsize=4)
def _field(entrants: int, challengers: tuple[int, ...]) -> Table:
    return tuple(sorted(set(range(entrants)) - set(challengers)))


def _tables_of_field(field: int, seats: int) -> int:
    """Returns how many tables a challenger has in a cycle."""
    return comb(field, seats - 1) if seats <= 3 else tables_a_cycle(field, seats - 1)


@lru_cache(maxsize=4)
def _pattern(field: int, seats: int) -> Pattern:
    """Returns the tables of a challenger, who stands on the place after those of the field."""
    if seats == 2:
        return Pattern(tuple((place, field) for place in range(field)), (0,) * field, lap=1)
    if seats == 3:
        of_field: tuple[Table, ...] = tuple(pair(field, number) for number in range(comb(field, 2)))
        has_all = True
    else:
        some = pattern(field, seats - 1)
        of_field, has_all = some.tables, some.lap > 1
    tables = tuple((*sorted(table), field) for table in of_field)
    return with_neighbours(field + 1, tables, len(circuits(seats)) if has_all else 1)
