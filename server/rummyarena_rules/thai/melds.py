"""Melds of `thai` as bit sets: one deck, no jokers, the ace high only (T2, T8 to T11)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import Final

from rummyarena_rules.cards import CARDS, Card, cards_in, face, mask_of
from rummyarena_rules.table import TableMeld

SUIT_MASK: Final = (1 << 13) - 1


def _sets() -> Iterator[int]:
    for rank in range(13):
        four = [face(rank, suit) for suit in range(4)]
        yield mask_of(four)
        yield from (mask_of(three) for three in combinations(four, 3))


def _suit_runs() -> Iterator[int]:
    """Yields every run of one suit as a set of ranks, T9: three or more consecutive ones."""
    for first in range(11):
        for end in range(first + 3, 14):
            yield (1 << end) - (1 << first)


MELD_STARTS: Final[dict[int, int]] = dict.fromkeys(_sets(), 0) | {
    run << 13 * suit: cards_in(run)[0] + 2 for run in _suit_runs() for suit in range(4)
}
"""Every meld as a set of cards; the value is its start: 0 for a set, the rank (2 .. 12) of the lowest card of a run."""


def _runs_by_ranks() -> tuple[tuple[int, ...], ...]:
    """Tabulates, for each set of ranks of one suit, all runs inside it."""
    table: list[tuple[int, ...]] = [()]
    for ranks in range(1, SUIT_MASK + 1):
        lowest = ranks & -ranks
        runs = list(table[ranks ^ lowest])
        run = lowest
        while ranks & (run + lowest):  # the next rank above the run is there
            run |= run + lowest
            if run.bit_count() >= 3:
                runs.append(run)
        table.append(tuple(runs))
    return tuple(table)


_RUNS_IN: Final = _runs_by_ranks()


def melds_in(mask: int) -> list[int]:
    """Returns every meld made of cards of the set `mask`: runs first, then sets by rank."""
    found = [run << shift for shift in (0, 13, 26, 39) for run in _RUNS_IN[mask >> shift & SUIT_MASK]]
    clubs, diamonds, hearts, spades = (mask >> shift & SUIT_MASK for shift in (0, 13, 26, 39))
    ranks = clubs & diamonds & (hearts | spades) | hearts & spades & (clubs | diamonds)
    while ranks:
        lowest = ranks & -ranks
        ranks ^= lowest
        found += _sets_of(mask & lowest * _EVERY_SUIT)
    return found


_EVERY_SUIT: Final = 1 | 1 << 13 | 1 << 26 | 1 << 39


@cache
def _sets_of(same_rank: int) -> tuple[int, ...]:
    """Returns the sets among three or four cards of one rank."""
    some = cards_in(same_rank)
    threes = tuple(mask_of(three) for three in combinations(some, 3))
    return threes if len(some) == 3 else (same_rank, *threes)


@cache
def extensions(cards: tuple[Card, ...], start: int) -> int:
    """Returns the cards that, each alone, extend a meld (T11), as a set; arguments as in `TableMeld`."""
    if start == 0:
        return mask_of(face(cards[0].rank, suit) for suit in range(4)) & ~mask_of(cards)
    low = cards[0].bit >> 1 if start > 2 else 0
    high = cards[-1].bit << 1 if cards[-1].rank < 12 else 0
    return low | high


def split_layoff(meld: TableMeld, some: tuple[Card, ...]) -> tuple[tuple[Card, ...], tuple[Card, ...]] | None:
    """Returns the cards of a lay-off as `events.LaidOff` names them (low, high), or `None` if they do not fit (T19)."""
    start = MELD_STARTS.get(mask_of(meld.cards) | mask_of(some))
    if start is None or (start > 0) != meld.is_run:
        return None
    order = sorted(some)
    if start == 0:
        return (), tuple(order)
    low = meld.start - start
    return tuple(reversed(order[:low])), tuple(order[low:])


@cache
def neighbours(card: Card) -> int:
    """Returns N(card) as a set: its suit at distance 1 or 2, no wrap, and the others of its rank (T43)."""
    near = [CARDS[card + step] for step in (-2, -1, 1, 2) if 0 <= card.rank + step <= 12]
    return mask_of(near) | mask_of(face(card.rank, suit) for suit in range(4)) & ~card.bit


def completes_meld(card: Card, row: int) -> bool:
    """Tells whether a card forms a meld of three with two cards of the row (T47)."""
    around = neighbours(card) & row
    return any(mask & card.bit and mask.bit_count() == 3 for mask in melds_in(around | card.bit))
