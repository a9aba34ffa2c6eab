"""Melds of `liverpool`: what a group is, what fits a meld on the table, which joker a card replaces (L7 to L12).

Positions in runs are 1 .. 14 for A 2 .. K A (L7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from rummyarena_rules.cards import CARDS, JOKER, Card, face, mask_of
from rummyarena_rules.liverpool.options import LiverpoolOptions
from rummyarena_rules.moves import Side
from rummyarena_rules.ruleset import Reason
from rummyarena_rules.table import TableMeld

LAST_POSITION: Final = 14
_SET_LEAST: Final = 3
_RUN_LEAST: Final = 4


def natural_count(some: Sequence[Card]) -> int:
    """Returns how many of the cards are no jokers."""
    return len(some) - some.count(JOKER)


def card_at(position: int, suit: int) -> Card:
    """Returns the card of a position in runs of a suit; positions 1 and 14 are the same ace."""
    return face((position - 2) % 13, suit)


def rank_mask(rank: int) -> int:
    """Returns the four cards of a rank as a set."""
    return mask_of(CARDS[rank:JOKER:13])


def suit_of(run: Sequence[Card]) -> int:
    """Returns the suit of a run, which has at least one natural."""
    return next(card.suit for card in run if card is not JOKER)


def set_or_run(some: Sequence[Card], options: LiverpoolOptions) -> int | Reason:
    """Returns the start of a group as `events.MeldLaid` names it (0: a set), or why it is no meld (L8 to L11)."""
    naturals = natural_count(some)
    start = run_start(some, options.run_max)
    if start and naturals >= options.min_naturals_run:
        return start
    is_set = has_shape_of_set(some)
    if is_set and naturals >= options.min_naturals_set:
        return 0
    return Reason.TOO_FEW_NATURALS if start or is_set else Reason.NOT_A_MELD


def has_shape_of_set(some: Sequence[Card]) -> bool:
    """Tells whether cards are a set but for the minimum of naturals (L8)."""
    return len(some) >= _SET_LEAST and len({card.rank for card in some if card is not JOKER}) <= 1


def run_start(some: Sequence[Card], run_max: int = LAST_POSITION) -> int:
    """Returns the position of the first card of a run but for the minimum of naturals (L9, L10), 0 if it is none.

    Jokers alone would fit anywhere; for them it is the lowest position.
    """
    if not _RUN_LEAST <= len(some) <= run_max:
        return 0
    starts = (1 << LAST_POSITION + 2 - len(some)) - 2  # bit p: the run may begin at position p
    suits = set()
    for index, card in enumerate(some):
        if card is not JOKER:
            suits.add(card.suit)
            starts &= _POSITIONS[card.rank] >> index
    return (starts & -starts).bit_length() - 1 if starts and len(suits) <= 1 else 0


_POSITIONS: Final = (*(1 << rank + 2 for rank in range(12)), 1 << 1 | 1 << 14)
"""For each rank its positions as bits: an ace is low or high."""


# --- lay-offs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Misfit:
    """The first card of a lay-off that does not fit, and why."""

    card: Card
    reason: Reason


def takes_joker(meld: TableMeld, run_max: int) -> bool:
    """Tells whether a joker can be laid off on a meld (L24); a run with room always has an open end."""
    return not meld.is_run or len(meld.cards) < run_max


@lru_cache(4096)  # melds; one stands unchanged over many decisions
def openings(cards: tuple[Card, ...], start: int, run_max: int) -> tuple[int, int]:
    """Returns which cards fit below and which above a meld, as sets (L24); a set takes all of its cards above.

    `cards`, `start`: as in `TableMeld`.
    """
    if not start:
        return 0, JOKER.bit | rank_mask(cards[0].rank)
    if len(cards) >= run_max:
        return 0, 0
    suit, end = suit_of(cards), start + len(cards) - 1
    low = JOKER.bit | card_at(start - 1, suit).bit if start > 1 else 0
    high = JOKER.bit | card_at(end + 1, suit).bit if end < LAST_POSITION else 0
    return low, high


def sides(meld: TableMeld, card: Card, run_max: int) -> tuple[Side | None, ...]:
    """Returns where a card fits a meld: `None` for a set, the sides of a run, nothing if it does not fit (L24)."""
    low, high = openings(meld.cards, meld.start, run_max)
    if not meld.is_run:
        return (None,) if high & card.bit else ()
    return _SIDES[bool(low & card.bit), bool(high & card.bit)]


def _run_sides(start: int, end: int, suit: int, card: Card, run_max: int) -> tuple[Side, ...]:
    if end - start + 1 >= run_max:
        return ()
    low = start > 1 and card in (JOKER, card_at(start - 1, suit))
    high = end < LAST_POSITION and card in (JOKER, card_at(end + 1, suit))
    return _SIDES[low, high]


_SIDES: Final[dict[tuple[bool, bool], tuple[Side, ...]]] = {
    (False, False): (),
    (True, False): ("low",),
    (False, True): ("high",),
    (True, True): ("low", "high"),
}


def split_layoff(
    meld: TableMeld, some: Sequence[Card], side: Side | None, run_max: int
) -> tuple[tuple[Card, ...], tuple[Card, ...]] | Misfit:
    """Returns the cards of a lay-off as `events.LaidOff` names them (low, high), or what does not fit (L24)."""
    if not meld.is_run:
        strange = [card for card in some if not sides(meld, card, run_max)]
        return Misfit(strange[0], Reason.DOES_NOT_EXTEND) if strange else ((), tuple(some))
    ends: dict[Side, list[Card]] = {"low": [], "high": []}
    suit, start, end = suit_of(meld.cards), meld.start, meld.start + len(meld.cards) - 1
    for card in some:
        fitting = _run_sides(start - len(ends["low"]), end + len(ends["high"]), suit, card, run_max)
        if not fitting or (side and side not in fitting):
            return Misfit(card, Reason.DOES_NOT_EXTEND)
        if len(fitting) > 1 and not side:
            return Misfit(card, Reason.SIDE_REQUIRED)
        ends[side or fitting[0]].append(card)
    return tuple(ends["low"]), tuple(ends["high"])


# --- swaps -----------------------------------------------------------------------------------------------------------


def swap_index(meld: TableMeld, card: Card) -> int | None:
    """Returns the index of the joker that a natural replaces, the high one for an ace that fits both ends (L25)."""
    jokers = [index for index, one in enumerate(meld.cards) if one is JOKER]
    if not meld.is_run:
        return jokers[0] if jokers and card.rank == meld.cards[0].rank else None
    suit = suit_of(meld.cards)
    return next((index for index in reversed(jokers) if card_at(meld.start + index, suit) is card), None)


def replaceable(cards: Sequence[Card], start: int) -> int:
    """Returns which naturals can replace a joker of a meld, as a set (L25); `cards`, `start`: as in `TableMeld`."""
    if JOKER not in cards:
        return 0
    if not start:
        return rank_mask(cards[0].rank)
    suit = suit_of(cards)
    return mask_of([card_at(start + index, suit) for index, one in enumerate(cards) if one is JOKER])


# --- contracts -------------------------------------------------------------------------------------------------------


class Span(NamedTuple):
    """The positions that a run covers."""

    suit: int
    start: int
    end: int


def span_of(run: Sequence[Card], start: int) -> Span:
    """Returns the span of a run that begins at `start`."""
    return Span(suit_of(run), start, start + len(run) - 1)


def too_close(options: LiverpoolOptions, one: Span, other: Span) -> bool:
    """Tells whether two runs may not be laid in one contract (L22, `same_suit_runs`)."""
    if options.same_suit_runs == "any" or one.suit != other.suit:
        return False
    low, high = sorted((one, other))
    between = high.start - low.end - 1  # positions; negative: they overlap
    return between < 2 if options.same_suit_runs == "gap2" else between == 0
