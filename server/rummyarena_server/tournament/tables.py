"""Which places sit together at tables of more than two seats, in which order and beside whom.

All of it follows from the numbers of entrants and seats alone: it is worked out for the *places* of a circle, numbered
from 0, and a draw for each schedule says who stands on which place (`schedule`). To the byte: docs/schedule.md.

**Tables.** If there are at most `MOST_TABLES` combinations of places, a cycle has each of them once. Else it has
blocks, each of them a table moved round the whole circle: so everybody sits at the same number of tables, and two
places meet as often as any others at the same distance. A block is found place by place, so that the sum of the squares
of all pairs' meetings grows least; blocks are added until all have met and no pair more than 2 times more than another.

**Order.** The next table is put together place by place, from what the tables that are left allow: who has the fewest
games, then who has met the others of the table least, then who has waited longest.

**Neighbours.** The places of a table are joined to one of a few circuits (`circuits`) in which everybody follows each
other place equally often. From cycle to cycle a table goes on to its next circuit; with which it begins is chosen so
that in each cycle, too, everybody follows the others about equally often.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from math import comb
from typing import Final, TypeAlias

MOST_TABLES: Final = 5000
_WIDEST_DIFFERENCE: Final = 2  # between the meetings of two pairs of places in a cycle

Table: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """The tables of a cycle in the order of play, each with its places ascending.

    `first_circuits[t]`: the circuit that table t begins with. `lap`: how many cycles have the same circle, each with
    the next circuit at every table; after a lap of all combinations everybody has followed all others equally often.
    """

    tables: tuple[Table, ...]
    first_circuits: tuple[int, ...]
    lap: int

    def seating(self, number: int, cycle: int) -> Table:
        """Returns the places of table `number` in cycle `cycle` of a lap, each beside its neighbours."""
        table = self.tables[number]
        ways = circuits(len(table))
        return tuple(table[at] for at in ways[(self.first_circuits[number] + cycle) % len(ways)])


@lru_cache(maxsize=4)
def pattern(entrants: int, seats: int) -> Pattern:
    """Returns the pattern of a round robin at tables of 3 or more seats; kept, for every game needs it."""
    tables = tuple(_spread(entrants, _tables(entrants, seats)))
    return with_neighbours(entrants, tables, len(circuits(seats)) if _has_all_tables(entrants, seats) else 1)


def with_neighbours(entrants: int, tables: tuple[Table, ...], lap: int) -> Pattern:
    """Returns the pattern of these tables, whose neighbours are balanced within each of the `lap` cycles."""
    return Pattern(tables, tuple(_first_circuits(entrants, tables, lap)), lap)


def tables_a_cycle(entrants: int, seats: int) -> int:
    """Returns the number of tables in a cycle without working out their order."""
    return comb(entrants, seats) if _has_all_tables(entrants, seats) else entrants * len(blocks(entrants, seats))


def _has_all_tables(entrants: int, seats: int) -> bool:
    return comb(entrants, seats) <= MOST_TABLES


def _tables(entrants: int, seats: int) -> list[Table]:
    if _has_all_tables(entrants, seats):
        return list(combinations(range(entrants), seats))
    return [
        tuple(sorted((place + step) % entrants for place in block))
        for block in blocks(entrants, seats)
        for step in range(entrants)
    ]


# --- blocks ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def blocks(entrants: int, seats: int) -> tuple[Table, ...]:
    """Returns the blocks of a cycle that has not all tables: one table each, to be moved round the circle."""
    found = []
    meetings = [0] * (entrants // 2 + 1)  # of two places, by their distance on the circle, from 1
    while min(meetings[1:]) == 0 or max(meetings[1:]) - min(meetings[1:]) > _WIDEST_DIFFERENCE:
        found.append(_block(entrants, seats, meetings))
    return tuple(found)


def _block(entrants: int, seats: int, meetings: list[int]) -> Table:
    """Returns the next block and adds what it contributes to the meetings."""
    block = [0]
    while len(block) < seats:
        _, place = min((_growth(entrants, block, place, meetings), place) for place in range(1, entrants))
        for distance in _distances(entrants, block, place):
            meetings[distance] += _meetings_a_pair(entrants, distance)
        block.append(place)
    return tuple(block)


def _growth(entrants: int, block: Sequence[int], place: int, meetings: Sequence[int]) -> float:
    """Returns by how much a place makes the squares of meetings grow, up to a factor; infinite if it is taken."""
    if place in block:
        return float("inf")
    growth = 0
    added: dict[int, int] = {}
    for distance in _distances(entrants, block, place):
        once = _meetings_a_pair(entrants, distance)
        before = meetings[distance] + added.get(distance, 0)
        growth += 2 * before + once  # as ((before + once)^2 - before^2) / once: half as many pairs if once is 2
        added[distance] = added.get(distance, 0) + once
    return growth


def _distances(entrants: int, block: Sequence[int], place: int) -> Iterator[int]:
    for other in block:
        apart = (place - other) % entrants
        yield min(apart, entrants - apart)


def _meetings_a_pair(entrants: int, distance: int) -> int:
    """Returns how often two places at a distance meet while a block that has it once moves round the circle."""
    return 2 if 2 * distance == entrants else 1


# --- the order of tables ---------------------------------------------------------------------------------------------


def _spread(entrants: int, tables: Sequence[Table]) -> Iterator[Table]:
    """Yields the tables in the order of play; sets of tables are the bits of whole numbers."""
    tables_of = _tables_of_each(entrants, tables)
    left = (1 << len(tables)) - 1
    games = [0] * entrants
    met = [[0] * entrants for _ in range(entrants)]
    waiting = list(range(entrants))  # longest first
    while left:
        waiting.sort(key=games.__getitem__)
        chosen, possible = _next_places(len(tables[0]), left, tables_of, waiting, games, met)
        one = possible & -possible
        left ^= one
        yield tables[one.bit_length() - 1]
        for place in chosen:
            games[place] += 1
            waiting.remove(place)
            waiting.append(place)
            for other in chosen:
                met[place][other] += 1


def _tables_of_each(entrants: int, tables: Sequence[Table]) -> list[int]:
    tables_of = [0] * entrants
    for number, table in enumerate(tables):
        for place in table:
            tables_of[place] |= 1 << number
    return tables_of


def _next_places(
    seats: int,
    possible: int,
    tables_of: Sequence[int],
    waiting: Sequence[int],
    games: Sequence[int],
    met: Sequence[Sequence[int]],
) -> tuple[list[int], int]:
    """Returns the places that are to play next, and the tables at which they sit."""
    chosen: list[int] = []
    candidates = list(waiting)
    met_chosen = [0] * len(waiting)
    while len(chosen) < seats:
        candidates = [place for place in candidates if possible & tables_of[place]]
        place = min(candidates, key=lambda one: (games[one], met_chosen[one]))
        candidates.remove(place)
        chosen.append(place)
        possible &= tables_of[place]
        met_chosen = [before + more for before, more in zip(met_chosen, met[place], strict=True)]
    return chosen, possible


# --- neighbours ------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def circuits(seats: int) -> tuple[Table, ...]:
    """Returns circular orders of `seats` positions in which each position follows each other one equally often.

    They are Walecki's: the last position, then a zigzag 0, 1, -1, 2, -2 ... through the others, moved on by 0, 1, 2 ...
    (all modulo seats - 1). If the number of seats is even, each pair is neighbours twice and the reversed circuits are
    needed as well; if it is odd, they are among these.
    """
    others = seats - 1
    zigzag = [(step + 1) // 2 if step % 2 else -(step // 2) for step in range(others)]
    forward = [(others, *((position + moved) % others for position in zigzag)) for moved in range(others)]
    return tuple(forward if seats % 2 else forward + [way[::-1] for way in forward])


def _first_circuits(entrants: int, tables: Sequence[Table], lap: int) -> Iterator[int]:
    """Yields the circuit that each table begins with: the one whose neighbours were so least often in the lap."""
    steps = [tuple(pairwise((*way, way[0]))) for way in circuits(len(tables[0]))]
    followed = [[0] * entrants**2 for _ in range(lap)]  # in each cycle of a lap; the pair (a, b) is a * entrants + b
    for table in tables:
        pairs = [[table[one] * entrants + table[other] for one, other in way] for way in steps]
        first = min(range(len(steps)), key=lambda way: _times_followed(followed, pairs[way:] + pairs[:way]))
        for count, neighbours in zip(followed, pairs[first:] + pairs[:first], strict=False):
            for pair in neighbours:
                count[pair] += 1
        yield first


def _times_followed(followed: Sequence[Sequence[int]], pairs: Sequence[Sequence[int]]) -> int:
    return sum(count[pair] for count, neighbours in zip(followed, pairs, strict=False) for pair in neighbours)
