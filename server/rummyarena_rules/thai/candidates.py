"""Legal moves of `thai` worth offering, bounded and sound (notation.md 3, "Same move")."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from rummyarena_rules.cards import CARDS, Card, cards_in, mask_of
from rummyarena_rules.moves import Discard, Draw, LayOff, Meld, Move, Pass, Take, TakeOnto
from rummyarena_rules.ruleset import Candidates
from rummyarena_rules.table import Phase
from rummyarena_rules.thai.check import hand_of, is_born, may_lay_off, may_meld, must_draw
from rummyarena_rules.thai.facts import ThaiPublic, ThaiView
from rummyarena_rules.thai.knocks import knocks
from rummyarena_rules.thai.melds import extensions, melds_in
from rummyarena_rules.thai.scoring import VALUES

_MOST_MELDS: Final = 24  # of a limit of 64: knocks, lay-offs and every discard of a long hand keep their places


def candidates(view: ThaiView, limit: int) -> Candidates:
    """Returns at most `limit` legal moves of the seat on turn, those that lay cards first, dear discards first."""
    public = view.public
    if public.phase is Phase.OVER or view.seat != public.turn:
        return Candidates((), complete=True)
    found, complete = _draw_moves(view, limit) if public.phase is Phase.DRAW else _play_moves(view)
    return Candidates(tuple(found[:limit]), complete and len(found) <= limit)


def _draw_moves(view: ThaiView, limit: int) -> tuple[list[Move], bool]:
    public = view.public
    closing: list[Move] = [Pass()] if public.facts.last_turn else [Draw()]
    if must_draw(public):
        return closing, True
    most = max(limit - 1, 0)
    takes = list(islice(_takes(view), most + 1))
    return takes[:most] + closing, len(takes) <= most


def _takes(view: ThaiView) -> Iterator[Move]:
    """Yields every legal take, the shallow ones first."""
    public, in_hand = view.public, mask_of(hand_of(view))
    onto = is_born(view) and public.options.pickup_layoff
    available = in_hand
    for one in reversed(public.discards):
        target = one.card
        available |= target.bit
        if onto:
            yield from (TakeOnto(target, number) for number in _fitting(public, target))
        for meld in _melds_around(available, target):
            # T16: the target and a card of the hand are in the meld; T14: a card is left.
            if meld & target.bit and meld & in_hand and meld != available:
                yield Take(target, cards_in(meld))


def _melds_around(available: int, target: Card) -> list[int]:
    """Returns the melds among the cards that can stand in a meld with the target: its suit and its rank."""
    return melds_in(available & _AROUND[target])


def _around(target: Card) -> int:
    suit = mask_of(CARDS[13 * target.suit : 13 * target.suit + 13])
    return suit | mask_of(CARDS[target.rank : 52 : 13])


_AROUND: Final = tuple(map(_around, CARDS[:52]))


def _play_moves(view: ThaiView) -> tuple[list[Move], bool]:
    hand = hand_of(view)
    found: list[Move] = []
    knocking, complete = knocks(view)
    found += knocking
    if may_meld(view):
        melds = [Meld(cards_in(meld)) for meld in melds_in(mask_of(hand)) if meld.bit_count() < len(hand)]  # T14
        complete = complete and len(melds) <= _MOST_MELDS
        found += melds[:_MOST_MELDS]
    if may_lay_off(view) and len(hand) > 1:
        found += _layoffs(view.public, hand)
    found += [Discard(card) for card in sorted(hand, key=VALUES.__getitem__, reverse=True)]
    return found, complete


def _layoffs(public: ThaiPublic, hand: list[Card]) -> Iterator[LayOff]:
    """Yields single lay-offs; longer ones are reached by playing them one after another."""
    for number, meld in enumerate(public.melds, 1):
        fitting = extensions(meld.cards, meld.start)
        yield from (LayOff(number, (card,)) for card in hand if fitting & card.bit)


def _fitting(public: ThaiPublic, card: Card) -> Iterator[int]:
    for number, meld in enumerate(public.melds, 1):
        if extensions(meld.cards, meld.start) & card.bit:
            yield number
