"""Who plays whom, and where everybody sits: pure functions of a public seed.

A **deal group** is the games that the same bots play with the seats rotated until every bot has sat in every seat once.
Games are numbered from 0 in the order of the schedule; the games of a group have consecutive numbers.

The round robin for two seats, to the byte. n entrants stand on a circle of m = n places (m = n + 1 if n is odd; whoever
meets place m-1 then has a bye). In round r = 0 .. m-2 of a cycle the tables are, in this order::

    place m-1        meets place r                         left out if n is odd
    place r + k      meets place r - k   (mod m-1)         k = 1 .. m/2 - 1

Which entrant stands where is drawn for each cycle 0, 1 ... from the stream (`rummyarena_rules.shoe`) whose seed is the
ASCII text `schedule/SEED/` and whose purpose is `circle/CYCLE`, both numbers decimal: the list 0 .. n-1 is shuffled as
a shoe is, and its i-th entry stands on place i. The first named sits in seat 0 at rotation 0; at rotation r everybody
has moved r seats down, cyclically.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from rummyarena_rules.shoe import Stream


@dataclass(frozen=True, slots=True)
class ScheduledGame:
    """A game that is to be played; `table[seat]` is the number of the entrant who sits there."""

    index: int
    group: int
    rotation: int
    table: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RoundRobin:
    """Every pair of entrants meets in `cycles` deal groups; no entrant is in two groups of one round.

    Any game is found at once, however long the schedule is. Iterating gives all games in the order of their indices.
    """

    seed: int
    entrants: int
    seats: int = 2
    cycles: int = 1

    def __post_init__(self) -> None:
        if self.seats != 2:
            raise ValueError(f"{self.seats} seats: only tables of 2 are scheduled")
        if self.entrants < self.seats or self.cycles < 1 or self.seed < 0:
            raise ValueError(f"no round robin has {self}")

    @property
    def groups(self) -> int:
        """The number of deal groups."""
        return self.cycles * self._groups_a_cycle

    def __len__(self) -> int:
        return self.groups * self.seats

    def __iter__(self) -> Iterator[ScheduledGame]:
        return map(self.game, range(len(self)))

    def game(self, index: int) -> ScheduledGame:
        """Returns the game with this index, 0 .. len - 1; `IndexError` beyond."""
        if not 0 <= index < len(self):
            raise IndexError(f"game {index} of a schedule of {len(self)}")
        group, rotation = divmod(index, self.seats)
        pair = self._pair(group)
        table = tuple(pair[(seat + rotation) % self.seats] for seat in range(self.seats))
        return ScheduledGame(index, group, rotation, table)

    @property
    def _groups_a_cycle(self) -> int:
        return self.entrants * (self.entrants - 1) // 2

    def _pair(self, group: int) -> tuple[int, int]:
        cycle, within = divmod(group, self._groups_a_cycle)
        number, table = divmod(within, self.entrants // 2)
        first, second = _places(self.entrants, number, table)
        circle = _circle(self.seed, cycle, self.entrants)
        return circle[first], circle[second]


def _places(entrants: int, number: int, table: int) -> tuple[int, int]:
    """Returns the places on the circle that meet at a table of round `number`."""
    odd = entrants % 2
    last = entrants - 1 + odd
    distance = table + odd  # an odd circle has nobody on its last place: the first table is left out
    if distance == 0:
        return last, number
    return (number + distance) % last, (number - distance) % last


@lru_cache(maxsize=16)
def _circle(seed: int, cycle: int, entrants: int) -> tuple[int, ...]:
    """Returns the entrants in the order in which they stand on the circle; kept, for every game of a cycle needs it."""
    stream = Stream(f"schedule/{seed}/".encode("ascii"), f"circle/{cycle}")
    order = list(range(entrants))
    for last in range(entrants - 1, 0, -1):
        other = stream.below(last + 1)
        order[last], order[other] = order[other], order[last]
    return tuple(order)
