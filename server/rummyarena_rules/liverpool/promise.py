"""How promising cards are for a seat: a plain judgement by which candidates are put in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from rummyarena_rules.cards import CARDS, JOKER, Card
from rummyarena_rules.liverpool.check import contract_of, hand_of, is_last_deal
from rummyarena_rules.liverpool.downs import can_go_down
from rummyarena_rules.liverpool.facts import LiverpoolPublic, LiverpoolView
from rummyarena_rules.liverpool.melds import sides
from rummyarena_rules.liverpool.options import Contract, LiverpoolOptions
from rummyarena_rules.liverpool.scoring import values

_GOOD_COMPANY: Final = 2  # with two more cards the upcard is a set, or half a run

_NEAR: Final = tuple(
    sum(1 << other for other in range(13) if 0 < min(abs(rank - other), 13 - abs(rank - other)) <= 3)
    for rank in range(13)
)
"""For each rank those within reach of a run of four, as bits; the ace is as near to the two as to the king."""


class Company:
    """Counts which cards of a hand go together under a contract."""

    def __init__(self, hand: Sequence[Card], contract: Contract) -> None:
        self._contract = contract
        self._rank_counts = [0] * 13
        self._suit_ranks = [0] * 4
        for card in hand:
            if card is not JOKER:
                self._rank_counts[card.rank] += 1
                self._suit_ranks[card.suit] |= 1 << card.rank

    def of(self, card: Card) -> int:
        """Returns how many naturals of the hand, `card` not counted, could be in one set or run with it.

        A card of the hand itself counts one too many as its own companion in a set; that is the same for all of them.
        """
        in_sets = self._rank_counts[card.rank] if self._contract.sets else 0
        in_runs = (self._suit_ranks[card.suit] & _NEAR[card.rank]).bit_count() if self._contract.runs else 0
        return in_sets + in_runs


def discards_in_order(view: LiverpoolView) -> list[Card]:
    """Returns the faces of a hand as they are best discarded: the lonely and dear ones first, jokers last."""
    public, hand = view.public, hand_of(view)
    faces = set(hand)
    has_joker = JOKER in faces
    faces.discard(JOKER)
    order = dear_first(public.options, faces)
    if not is_down(public, public.turn):
        order.sort(key=Company(hand, contract_of(public)).of)
    return [*order, JOKER] if has_joker else order


def dear_first(options: LiverpoolOptions, faces: Iterable[Card]) -> list[Card]:
    """Sorts faces by their value, the dearest first."""
    return sorted(faces, key=_dearness(options).__getitem__)


@cache
def _dearness(options: LiverpoolOptions) -> tuple[int, ...]:
    """Returns the place of each card, by its number, among all cards sorted by value."""
    worth = values(options)
    order = sorted(CARDS, key=lambda card: (-worth[card], card))
    return tuple([order.index(card) for card in CARDS])


def is_down(public: LiverpoolPublic, seat: int) -> bool:
    """Tells whether a seat has laid its contract in this deal."""
    return public.facts.down_turns[seat] is not None


def upcard_helps(view: LiverpoolView) -> bool:
    """Tells whether the seat on turn had better take the upcard than draw."""
    public, card = view.public, view.public.discards[-1].card
    if is_down(public, public.turn):
        return any(sides(meld, card, public.options.run_max) for meld in public.melds)
    if card is JOKER:
        return True
    return Company(hand_of(view), contract_of(public)).of(card) >= _GOOD_COMPANY or can_go_down(view, card)


def purchase_helps(view: LiverpoolView, seat: int) -> bool:
    """Tells whether a seat had better buy the upcard: it costs a card more in hand, which deal 7 does not forgive."""
    public, card = view.public, view.public.discards[-1].card
    if is_down(public, seat) or is_last_deal(public):
        return False
    return card is JOKER or (not can_go_down(view, JOKER) and can_go_down(view, card))
