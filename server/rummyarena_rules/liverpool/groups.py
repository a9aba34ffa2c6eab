"""The sets and runs that a hand holds, as counts of cards packed into one int.

A *packed* hand has four bits a natural face, from 2C at bit 0, and the jokers above them, so that cards are added and
taken away by one addition or subtraction and `GUARDS`, the highest bit of each count, shows whether all were there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Final, NamedTuple

from rummyarena_rules.cards import CARDS, JOKER, Card
from rummyarena_rules.liverpool.melds import LAST_POSITION, Span, card_at

_JOKERS_AT: Final = 4 * 52
_SUIT_BITS: Final = 4 * 13
_SUIT_MASK: Final = (1 << _SUIT_BITS) - 1
_RANK_MASK: Final = sum(15 << _SUIT_BITS * suit for suit in range(4))
_ACE: Final = 12  # its rank
_REMEMBERED: Final = 4096  # groups of cards, which come back from turn to turn

ACE_POSITIONS: Final = 1 << 1 | 1 << LAST_POSITION
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
    return positions | ACE_POSITIONS if part >> 48 else positions


# --- runs ------------------------------------------------------------------------------------------------------------


class RunTerms(NamedTuple):
    """What runs are looked for: how long, with how many naturals at least, and whether in every way of using jokers.

    Not in every way: runs of more than four cards either have all naturals there are or are minimal, so that they would
    be no runs any more without the card at one of their ends.
    """

    lengths: range
    least_naturals: int
    every_way: bool


class _Window(NamedTuple):
    """A place for a run; `there`: which naturals the hand has there, bit 0 for the first position."""

    suit: int
    start: int
    length: int
    there: int


def runs_by_jokers(have: int, terms: RunTerms) -> Iterator[list[Group]]:
    """Yields the runs that can be made of packed cards without a joker, then those with one joker, and so on."""
    windows = list(_windows(have, terms))
    if windows:
        for jokers in range(jokers_of(have) + 1):
            runs = [run for window in windows for run in _runs_at(window, jokers, terms)]
            # An ace at both ends needs two aces.
            yield [run for run in runs if len(run.cards) < LAST_POSITION or without(have, run.need) is not None]


def _windows(have: int, terms: RunTerms) -> Iterator[_Window]:
    """Yields the places in which the cards are enough for a run."""
    jokers, least = jokers_of(have), terms.least_naturals
    for suit in range(4):
        positions = positions_of(suit_part(have, suit))
        most = positions.bit_count()
        if most < least:
            continue
        for length in terms.lengths:
            if length > most + jokers:
                break
            needed = max(least, length - jokers)
            for start in range(1, LAST_POSITION + 2 - length):
                there = positions >> start & (1 << length) - 1
                if there.bit_count() >= needed:
                    yield _Window(suit, start, length, there)


def _runs_at(window: _Window, jokers: int, terms: RunTerms) -> Iterator[Group]:
    """Yields the runs in a window with so many jokers."""
    suit, start, length, there = window
    replaced = jokers - (length - there.bit_count())
    if replaced == 0:
        yield _run(suit, start, length, there)
    elif replaced > 0:
        for kept in _naturals_kept(there, length, replaced, terms):
            yield _run(suit, start, length, kept)


def _naturals_kept(there: int, length: int, replaced: int, terms: RunTerms) -> Iterator[int]:
    """Yields which of the naturals of a window stay when jokers replace so many of them."""
    kept = there.bit_count() - replaced
    least = terms.least_naturals
    if kept < least:
        return
    places = [1 << place for place in range(length) if there >> place & 1]
    if length == 4 or terms.every_way:
        yield from (there - sum(some) for some in combinations(places, replaced))
    elif kept == least >= 2 and there & 1 and there >> length - 1:
        ends = places[0] | places[-1]
        yield from (ends | sum(some) for some in combinations(places[1:-1], least - 2))


def runs_around(suit: int, positions: int, needed: int, passable: int, jokers: int, terms: RunTerms) -> Iterator[Group]:
    """Yields the runs of a suit, in every way, that use the naturals at some positions.

    As bits 1 .. 14, `positions`: where there are naturals, an ace at both of its own; `needed`: those that a run must
    use; `passable`: those whose places it may fill with jokers.
    """
    for length in terms.lengths:
        for start in range(1, LAST_POSITION + 2 - length):
            window = (1 << length) - 1 << start
            there = positions & window
            most = min(there.bit_count() - terms.least_naturals, jokers - length + there.bit_count())
            if needed & ~window or most < 0:
                continue
            places = [1 << at for at in range(start, start + length) if there & passable & ~needed & 1 << at]
            for replaced in range(min(most, len(places)) + 1):
                for some in combinations(places, replaced):
                    yield _run(suit, start, length, there - sum(some) >> start)


def aces_of(run: Group) -> int:
    """Returns how many aces a run has, at its ends."""
    return sum([card is not JOKER and card.rank == _ACE for card in (run.cards[0], run.cards[-1])])


@lru_cache(_REMEMBERED)
def _run(suit: int, start: int, length: int, kept: int) -> Group:
    some = tuple([card_at(start + place, suit) if kept >> place & 1 else JOKER for place in range(length)])
    return Group(some, packed(some), length - kept.bit_count(), Span(suit, start, start + length - 1))


# --- sets ------------------------------------------------------------------------------------------------------------


def sets_by_jokers(have: int, least_naturals: int, *, longer: bool) -> Iterator[list[Group]]:
    """Yields the sets of three that can be made of packed cards without a joker, then those with one, and so on.

    `longer`: before the first ones with a joker also all naturals of a rank as one set.
    """
    by_rank = [(rank, part) for rank in range(13) if (part := have >> 4 * rank & _RANK_MASK)]
    for jokers in range(min(jokers_of(have), 3 - least_naturals) + 1):
        yield [one for rank, part in by_rank for one in _sets_of(rank, part, jokers, longer=longer and jokers == 0)]


@lru_cache(_REMEMBERED)
def _sets_of(rank: int, part: int, jokers: int, *, longer: bool) -> tuple[Group, ...]:
    """Returns the sets of one rank with so many jokers; `part`: its cards, packed as twos."""
    naturals = [card for card in CARDS[rank:JOKER:13] for _ in range(part >> 4 * (card - rank) & 15)]
    sets = [_set((*some, *(JOKER,) * jokers), jokers) for some in dict.fromkeys(combinations(naturals, 3 - jokers))]
    return (*sets, _set(tuple(naturals), 0)) if longer and len(naturals) > 3 else tuple(sets)


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
