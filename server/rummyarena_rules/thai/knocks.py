"""The search for knocks: which cards can be kept while all others are melded or laid off (T22)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from rummyarena_rules.cards import cards_in, mask_of
from rummyarena_rules.moves import Knock, LayOff, Meld
from rummyarena_rules.table import TableMeld
from rummyarena_rules.thai.check import hand_of, is_born
from rummyarena_rules.thai.facts import ThaiView
from rummyarena_rules.thai.melds import extensions, melds_in

_MOST_STEPS: Final = 3000

_Part: TypeAlias = tuple[int, int]
"""A group of cards and where it goes: the number of a meld on the table, 0 for a new meld."""


def knocks(view: ThaiView) -> tuple[list[Knock], bool]:
    """Returns one knock for each card that can be kept, and whether the search was finished.

    A lay-off on a meld of the same knock need not be tried: the longer meld is a meld itself. What goes onto one end of
    a run on the table is a block beginning beside that end, so two blocks of one end exclude each other and the
    question is an exact cover of all cards but one by melds and blocks.
    """
    hand = mask_of(hand_of(view))
    parts = [(meld, 0) for meld in melds_in(hand)]
    if is_born(view) or view.public.options.dark_knock_layoffs:
        parts += _blocks(hand, view.public.melds)
    reach = 0
    for group, _ in parts:
        reach |= group
    stuck = hand & ~reach
    if stuck.bit_count() > 1 or hand.bit_count() < 2:
        return [], True
    search = _Cover(parts)
    kept = [card for card in cards_in(hand) if not stuck or stuck == card.bit]
    covers = ((card, search.cover(hand & ~card.bit)) for card in kept)
    found = [Knock(card, _parts(cover)) for card, cover in covers if cover is not None]
    return found, search.steps <= _MOST_STEPS


def _blocks(hand: int, melds: Sequence[TableMeld]) -> list[_Part]:
    blocks = []
    for number, meld in enumerate(melds, 1):
        for end in cards_in(extensions(meld.cards, meld.start) & hand):
            if not meld.is_run:
                blocks.append((end.bit, number))
                continue
            blocks += [(block, number) for block in _end_blocks(hand, end.bit, below=end < meld.cards[0])]
    return blocks


def _end_blocks(hand: int, end: int, *, below: bool) -> list[int]:
    """Returns the blocks of cards in hand that go onto an end of a run, beginning with the card `end`."""
    blocks = []
    block, card = 0, end
    while card & hand:
        block |= card
        blocks.append(block)
        at_border = (card.bit_length() - 1) % 13 == (0 if below else 12)
        if at_border:
            break
        card = card >> 1 if below else card << 1
    return blocks


class _Cover:
    """Exact covers of sets of cards by given groups, remembered between calls."""

    def __init__(self, parts: Sequence[_Part]) -> None:
        self.steps = 0
        self._parts = parts
        self._known: dict[int, tuple[_Part, ...] | None] = {0: ()}

    def cover(self, cards: int) -> tuple[_Part, ...] | None:
        """Returns groups that make up `cards`, or `None` if there are none or the search was given up."""
        if cards in self._known:
            return self._known[cards]
        self.steps += 1
        if self.steps > _MOST_STEPS:
            return None
        lowest = cards & -cards
        found = None
        for part in self._parts:
            group = part[0]
            if group & lowest and not group & ~cards:
                rest = self.cover(cards ^ group)
                if rest is not None:
                    found = (part, *rest)
                    break
        self._known[cards] = found
        return found


def _parts(cover: Sequence[_Part]) -> tuple[Meld | LayOff, ...]:
    return tuple(LayOff(number, cards_in(group)) if number else Meld(cards_in(group)) for group, number in cover)
