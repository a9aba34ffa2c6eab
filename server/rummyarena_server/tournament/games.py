"""The games of a tournament as columns of numbers: what all its statistics are made from.

The games of a deal group have the same bots, mostly the same cards, and the seats in turn, so they are not independent
of each other. Deal groups are independent: every bar of the statistics is computed from sums over groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]


class Game(NamedTuple):
    """What statistics need of a rated game; all but the group and the deals in the order of the seats.

    `table`: the numbers of the entrants. `ranks`: 1 is best, ties are equal; forfeited seats come with the place they
    were given. `points`: over the `deals` that count, the ones before the first forfeit.
    """

    group: int
    table: tuple[int, ...]
    ranks: tuple[int, ...]
    points: tuple[int, ...]
    deals: int


@dataclass(frozen=True, slots=True, eq=False)
class Games:
    """Rated games of one tournament in any order, as arrays: `tables[game, seat]` and so on, see `Game`.

    `entrants`: how many there are, whether they have played or not. `groups`: numbers from 0, equal for the games of a
    deal group, gaps or not.
    """

    entrants: int
    groups: IntArray
    tables: IntArray
    ranks: IntArray
    points: IntArray
    deals: IntArray

    def __post_init__(self) -> None:
        games, seats = self.tables.shape
        if self.ranks.shape != (games, seats) or self.points.shape != (games, seats):
            raise ValueError("tables, ranks and points have a row for each game and a column for each seat")
        if self.groups.shape != (games,) or self.deals.shape != (games,):
            raise ValueError("groups and deals have an entry for each game")
        if min(seats, self.entrants) < 2:
            raise ValueError(f"{self.entrants} entrants at tables of {seats} seats are no tournament")
        if games and min(self.tables.min(), self.groups.min(), self.deals.min()) < 0:
            raise ValueError("entrants and groups are numbered from 0, and deals are not negative")
        if games and self.tables.max() >= self.entrants:
            raise ValueError(f"the last of {self.entrants} entrants is number {self.entrants - 1}")

    def __len__(self) -> int:
        return len(self.tables)

    @property
    def seats(self) -> int:
        """The number of seats of a table."""
        return int(self.tables.shape[1])

    def results(self) -> Iterator[tuple[int, int, FloatArray]]:
        """Yields one seat, another, and what the one scored against the other in each game: 1, 0, or 1/2 for a tie."""
        for one, other in permutations(range(self.seats), 2):
            yield one, other, (np.sign(self.ranks[:, other] - self.ranks[:, one]) + 1) / 2

    def shares(self) -> FloatArray:
        """Returns the share of its opponents that each seat beat in each game, ties half: 0 .. 1."""
        beaten = np.zeros(self.tables.shape)
        for one, _, result in self.results():
            beaten[:, one] += result
        return beaten / (self.seats - 1)

    def leads(self, lower_is_better: bool) -> FloatArray:
        """Returns the points of each seat in each game less the mean of the others'; more is better."""
        seats = self.seats
        leads = (seats * self.points - self.points.sum(axis=1, keepdims=True)) / (seats - 1)
        return np.asarray(-leads if lower_is_better else leads, dtype=np.float64)

    def entrant_sums(self, values: FloatArray) -> FloatArray:
        """Returns the sum of `values[game, seat]` for each entrant."""
        return add_up(values, self.tables, self.entrants)

    def pair_sums(self, one: int, other: int, values: npt.NDArray[Any]) -> FloatArray:
        """Returns the sum of a value of each game for the entrants in one seat and in another: `[entrant, entrant]`."""
        cells = self.tables[:, one] * self.entrants + self.tables[:, other]
        return add_up(values, cells, self.entrants**2).reshape(self.entrants, self.entrants)

    def memberships(self) -> Memberships:
        """Returns who played in which group."""
        keys = self.groups[:, np.newaxis] * self.entrants + self.tables
        played, numbers = np.unique(keys, return_inverse=True)
        groups, entrants = np.divmod(played, self.entrants)
        return Memberships(self.entrants, groups, entrants, numbers.reshape(keys.shape))


@dataclass(frozen=True, slots=True, eq=False)
class Memberships:
    """Each pair of a deal group and an entrant who played in it, in the order of the groups.

    `numbers[game, seat]`: the number of the membership in which that seat was played.
    """

    entrants: int
    groups: IntArray
    members: IntArray
    numbers: IntArray

    @property
    def group_count(self) -> int:
        """The number of different groups."""
        return int(np.count_nonzero(np.diff(self.groups, prepend=-1)))

    def sums(self, values: FloatArray) -> FloatArray:
        """Returns the sum of `values[game, seat]` for each membership."""
        return add_up(values, self.numbers, len(self.groups))

    def products(self, sums: FloatArray) -> FloatArray:
        """Returns the product of the sums of two entrants of a group, added up over all groups: `[entrant, entrant]`.

        That is X'X where row g of X has the sums of group g, made without that matrix, which is large and nearly empty.
        """
        shape = (self.entrants, self.entrants)
        products = np.zeros(shape)
        for lag in range(len(self.groups)):
            first = np.flatnonzero(self.groups[lag:] == self.groups[: len(self.groups) - lag])
            if not len(first):
                break
            cells = self.members[first] * self.entrants + self.members[first + lag]
            part = add_up(sums[first] * sums[first + lag], cells, products.size).reshape(shape)
            products += part if lag == 0 else part + part.T
        return products

    def groups_together(self) -> IntArray:
        """Returns in how many groups each two entrants played; on the diagonal, each one."""
        return np.rint(self.products(np.ones(len(self.groups)))).astype(np.int64)


def add_up(values: npt.NDArray[Any], numbers: IntArray, size: int) -> FloatArray:
    """Returns the sum of the values that belong to each number 0 .. size - 1; both arrays of one shape."""
    return np.bincount(numbers.ravel(), values.ravel(), size).astype(np.float64)


def in_columns(entrants: int, seats: int, games: Iterable[Game]) -> Games:
    """Returns games as columns; there may be none."""
    rows = list(games)

    def table(values: Iterable[tuple[int, ...]]) -> IntArray:
        return np.array([*values], dtype=np.int64).reshape(len(rows), seats)

    return Games(
        entrants,
        groups=np.array([game.group for game in rows], dtype=np.int64),
        tables=table(game.table for game in rows),
        ranks=table(game.ranks for game in rows),
        points=table(game.points for game in rows),
        deals=np.array([game.deals for game in rows], dtype=np.int64),
    )
