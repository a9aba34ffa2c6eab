"""Who plays whom, and where everybody sits: pure functions of a public seed.

A **deal group** is the games that the same bots play with the seats rotated until every bot has sat in every seat once.
Games are numbered from 0 in the order of the schedule; the games of a group have consecutive numbers.

Everything is arranged for places 0 .. n-1 on a circle; which of the n entrants stands where is drawn for each cycle, or
lap of cycles (see `tables`), numbered from 0. The draw is from the stream (`rummyarena_rules.shoe`) whose seed is the
ASCII text `schedule/SEED/` and whose purpose is `circle/NUMBER`, both numbers decimal: the list 0 .. n-1 is shuffled as
a shoe is, and its i-th entry stands on place i. A table is listed in the order in which its bots sit: the first named
sits in seat 0 at rotation 0, and at rotation r everybody has moved r seats down, cyclically.

Two seats, to the byte: the circle has m = n places (m = n + 1 if n is odd; whoever meets place m-1 then has a bye). In
round r = 0 .. m-2 of a cycle the tables are, in this order::

    place m-1        meets place r                         left out if n is odd
    place r + k      meets place r - k   (mod m-1)         k = 1 .. m/2 - 1

Three to eight seats: the tables of places are those of `tables`. docs/schedule.md has all of it in one piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Final, Protocol

from rummyarena_rules.shoe import Stream
from rummyarena_server.tournament.tables import Table, pattern, tables_a_cycle

SEATS: Final = range(2, 9)
MOST_ENTRANTS: Final = 64  # at tables of more than two seats; the search for their tables is tried out for no more


@dataclass(frozen=True, slots=True)
class ScheduledGame:
    """A game that is to be played; `table[seat]` is the number of the entrant who sits there."""

    index: int
    group: int
    rotation: int
    table: tuple[int, ...]


class Schedule(Protocol):
    """Games in the order in which they start; their indices count from 0, and `seats` of them make a deal group.

    `len`: how many are known so far. Equal schedules have equal games, in whatever order one asks for them.
    """

    @property
    def seats(self) -> int:
        """The number of seats of a table."""
        ...

    def __len__(self) -> int: ...

    def game(self, index: int) -> ScheduledGame:
        """Returns the game with this index; `IndexError` if it is not known."""
        ...


@dataclass(frozen=True, slots=True)
class RoundRobin:
    """Every two entrants meet in each of `cycles` cycles, at tables of 2 to 8 seats.

    A cycle has a deal group for each combination of `seats` entrants where these are at most 5,000, or two seats. Else
    it has fewer: all entrants sit at the same number of tables, every two meet at least once, and the meetings of two
    pairs differ by at most 2. With two seats no entrant is in two groups of one round.

    Any game is found at once, however long the schedule is. Iterating gives all games in the order of their indices.
    """

    seed: int
    entrants: int
    seats: int = 2
    cycles: int = 1

    def __post_init__(self) -> None:
        if self.seats not in SEATS or self.entrants < self.seats or self.cycles < 1 or self.seed < 0:
            raise ValueError(f"no round robin has {self}")
        if self.seats > 2 and self.entrants > MOST_ENTRANTS:
            raise ValueError(f"tables of {self.seats} are scheduled for at most {MOST_ENTRANTS} entrants: {self}")

    @property
    def groups(self) -> int:
        """The number of deal groups."""
        return self.cycles * self._groups_a_cycle

    @property
    def groups_a_lap(self) -> int:
        """The number of deal groups until all is as even as it becomes: those of a cycle or, see `tables`, of a lap."""
        return self._groups_a_cycle * (pattern(self.entrants, self.seats).lap if self.seats > 2 else 1)

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
        return comb(self.entrants, 2) if self.seats == 2 else tables_a_cycle(self.entrants, self.seats)

    def _seated_at_first(self, group: int) -> Table:
        """Returns the table of a group at rotation 0."""
        cycle, number = divmod(group, self._groups_a_cycle)
        if self.seats == 2:
            circle, places = cycle, pair(self.entrants, number)
        else:
            tables = pattern(self.entrants, self.seats)
            circle, cycle_of_lap = divmod(cycle, tables.lap)
            places = tables.seating(number, cycle_of_lap)
        standing = circle_of(self.seed, circle, self.entrants)
        return tuple(standing[place] for place in places)


def rotated(index: int, first: Table) -> ScheduledGame:
    """Returns the game with this index of a deal group whose bots sit at rotation 0 as `first` says."""
    seats = len(first)
    group, rotation = divmod(index, seats)
    return ScheduledGame(index, group, rotation, first[rotation:] + first[:rotation])


def pair(entrants: int, number: int) -> Table:
    """Returns the places on the circle that meet at table `number` of a cycle of two seats."""
    turn, table = divmod(number, entrants // 2)
    odd = entrants % 2
    last = entrants - 1 + odd
    distance = table + odd  # an odd circle has nobody on its last place: the first table is left out
    if distance == 0:
        return last, turn
    return (turn + distance) % last, (turn - distance) % last


@lru_cache(maxsize=16)
def circle_of(seed: int, number: int, entrants: int) -> Table:
    """Returns the entrants in the order in which they stand on a circle; kept, for every game of a cycle needs it."""
    return shuffled(schedule_stream(seed, f"circle/{number}"), range(entrants))


def schedule_stream(seed: int, purpose: str) -> Stream:
    """Returns what the draws of a schedule seed for one purpose are made from."""
    return Stream(f"schedule/{seed}/".encode("ascii"), purpose)


def shuffled(stream: Stream, numbers: Iterable[int]) -> Table:
    """Returns numbers in a drawn order, shuffled as a shoe is."""
    order = list(numbers)
    for last in range(len(order) - 1, 0, -1):
        other = stream.below(last + 1)
        order[last], order[other] = order[other], order[last]
    return tuple(order)
