"""The sets and runs that a hand holds, as counts of cards packed into one int.

A *packed* hand has four bits a natural face, from 2C at bit 0, and the jokers above them, so that cards are added and
taken away by one addition or subtraction and `GUARDS`, the highest bit of each count, shows whether all were there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from rummyarena_rules.cards import JOKER, Card, face
from rummyarena_rules.liverpool.melds import LAST_POSITION, Span, card_at

_JOKERS_AT: Final = 4 * 52
_SUIT_BITS: Final = 4 * 13
_SUIT_MASK: Final = (1 << _SUIT_BITS) - 1
_ACE_POSITIONS: Final = 1 << 1 | 1 << LAST_POSITION

GUARDS: Final = sum(8 << 4 * number for number in range(52)) | 1 << _JOKERS_AT + 7


class Group(NamedTuple):
    """Cards of a hand that are a set or a run: as written, packed, how many are jokers; `span`: of a run."""

    cards: tuple[Card, ...]
    need: int
    jokers: int
    span: Span | None


def packed(some: Iterable[Card]) -> int:
    """Returns the counts of cards as one int."""
    return sum([1 << 4 * card for card in some])


def without(have: int, need: int) -> int | None:
    """Returns packed cards without some of them, or `None` if they are not all there."""
    left = (have | GUARDS) - need
    return left ^ GUARDS if left & GUARDS == GUARDS else None


def jokers_of(have: int) -> int:
    """Returns the number of jokers among packed cards."""
    return have >> _JOKERS_AT


def suit_part(have: int, suit: int) -> int:
    """Returns the cards of one suit among packed cards, packed as clubs."""
    return have >> _SUIT_BITS * suit & _SUIT_MASK


def positions_of(part: int) -> int:
    """Returns which positions in runs the cards of a `suit_part` have, as bits 1 .. 14; an ace has both."""
    positions = 0
    for rank in range(12):
        if part >> 4 * rank & 15:
            positions |= 1 << rank + 2
    return positions | _ACE_POSITIONS if part >> 48 else positions


# --- runs ------------------------------------------------------------------------------------------------------------


class RunTerms(NamedTuple):
    """What runs are looked for: how long, with how many naturals at least, and whether in every way of using jokers.

    Not in every way: runs of more than four cards either have all naturals there are or are minimal, so that they would
    be no runs any more without the card at one of their ends.
    """

    lengths: range
    least_naturals: int
    every_way: bool


def runs_in(have: int, terms: RunTerms) -> Iterator[Group]:
    """Yields the runs that can be made of packed cards."""
    for suit in range(4):
        positions = positions_of(suit_part(have, suit))
        if positions:
            for group in suit_runs(suit, positions, jokers_of(have), terms):
                if without(have, group.need) is not None:  # an ace at both ends needs two aces
                    yield group


def suit_runs(suit: int, positions: int, jokers: int, terms: RunTerms) -> Iterator[Group]:
    """Yields the runs of naturals at some positions of a suit and jokers; an ace may count twice."""
    for length in terms.lengths:
        if length > positions.bit_count() + jokers:
            return
        for start in range(1, LAST_POSITION + 2 - length):
            there = positions >> start & (1 << length) - 1
            for kept in _naturals_kept(there, length, jokers, terms):
                yield _run(suit, start, length, kept)


def _naturals_kept(there: int, length: int, jokers: int, terms: RunTerms) -> Iterator[int]:
    """Yields which of the naturals there are a run uses, jokers in all other places; bit 0 is its first place."""
    count, least = there.bit_count(), terms.least_naturals
    if count < least or length - count > jokers:
        return
    yield there
    places = [1 << place for place in range(length) if there >> place & 1]
    if length == 4 or terms.every_way:
        for dropped in range(1, min(jokers - length + count, count - least) + 1):
            yield from (there - sum(some) for some in combinations(places, dropped))
    elif 2 <= least < count and length - least <= jokers and there & 1 and there >> length - 1:
        ends = places[0] | places[-1]
        yield from (ends | sum(some) for some in combinations(places[1:-1], least - 2))


def _run(suit: int, start: int, length: int, kept: int) -> Group:
    some = tuple([card_at(start + place, suit) if kept >> place & 1 else JOKER for place in range(length)])
    return Group(some, packed(some), length - kept.bit_count(), Span(suit, start, start + length - 1))


# --- sets ------------------------------------------------------------------------------------------------------------


def sets_in(have: int, least_naturals: int, *, longer: bool) -> Iterator[Group]:
    """Yields the sets of three that can be made of packed cards; `longer`: also all naturals of a rank as one set."""
    for rank in range(13):
        naturals = [card for card in (face(rank, suit) for suit in range(4)) for _ in range(have >> 4 * card & 15)]
        for jokers in range(min(jokers_of(have), 3 - least_naturals) + 1):
            for some in dict.fromkeys(combinations(naturals, 3 - jokers)):
                yield _set((*some, *(JOKER,) * jokers), jokers)
        if longer and len(naturals) > 3:
            yield _set(tuple(naturals), 0)


def _set(some: tuple[Card, ...], jokers: int) -> Group:
    return Group(some, packed(some), jokers, None)


def enough_for_sets(have: int, count: int, least_naturals: int) -> bool:
    """Tells whether so many sets of three, each with its naturals, can be made of packed cards."""
    ranks = sum([suit_part(have, suit) for suit in range(4)])
    costs: list[int] = []
    while ranks:
        costs += _JOKERS_FOR_SETS[least_naturals][ranks & 15]
        ranks >>= 4
    return len(costs) >= count and sum(sorted(costs)[:count]) <= jokers_of(have)


def _jokers_for_sets(least_naturals: int, naturals: int) -> Sequence[int]:
    """Returns the jokers that the first, the second and the third set of one rank cost; they never fall."""
    total = [max(0, 3 * sets - naturals) for sets in range(4) if least_naturals * sets <= naturals]
    return [total[at] - total[at - 1] for at in range(1, len(total))]


_JOKERS_FOR_SETS: Final = {least: [_jokers_for_sets(least, naturals) for naturals in range(13)] for least in (1, 2, 3)}
