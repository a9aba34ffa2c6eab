"""Candidates of thai against brute force: every move there could be is put to the judge."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain, combinations

from rummyarena_rules.cards import CARDS, Card, cards_in
from rummyarena_rules.moves import Discard, Draw, Knock, LayOff, Meld, Move, Pass, Take, TakeOnto
from rummyarena_rules.table import Phase
from rummyarena_rules.thai import THAI, ThaiView
from rummyarena_rules.thai.melds import MELD_STARTS
from tests.rules.games import CANDIDATE_LIMIT

MELDS = tuple(cards_in(meld) for meld in MELD_STARTS)  # the table itself is checked in test_thai.py


def compare_thai(view: ThaiView) -> bool:
    """Compares what a seat is offered with all that is legal; returns whether the candidates said to be complete."""
    offered = THAI.candidates(view, CANDIDATE_LIMIT)
    legal = {move for move in _every_move(view) if THAI.check(view, move) is None}
    knocks = {move for move in offered.moves if isinstance(move, Knock)}
    assert set(offered.moves) - knocks <= legal
    for kind in (Take, TakeOnto, Meld, LayOff, Discard, Draw, Pass):
        assert any(isinstance(move, kind) for move in legal) == any(isinstance(move, kind) for move in offered.moves)
    if view.public.phase is Phase.PLAY:
        kept = {move.card for move in knocks}
        assert kept == _cards_a_knock_can_keep(view)
    if offered.complete:
        assert set(offered.moves) - knocks == legal
    return offered.complete


def _every_move(view: ThaiView) -> Iterator[Move]:
    yield Draw()
    yield Pass()
    numbers = range(1, len(view.public.melds) + 1)
    for one in view.public.discards:
        yield from (Take(one.card, meld) for meld in MELDS if one.card in meld)
        yield from (TakeOnto(one.card, number) for number in numbers)
    yield from map(Meld, MELDS)
    for card in CARDS[:52]:
        yield Discard(card)
        yield from (LayOff(number, (card,)) for number in numbers)


def _cards_a_knock_can_keep(view: ThaiView) -> set[Card]:
    assert view.private is not None
    hand = tuple(view.private.hand)
    laying_off = view.public.facts.birth_turns[view.public.turn] is not None or view.public.options.dark_knock_layoffs
    table = tuple(meld.cards for meld in view.public.melds) if laying_off else ()
    return {card for card in hand if can_knock_keeping(hand, table, card)}


def is_meld(some: tuple[Card, ...]) -> bool:
    """T8 and T9, written a second time over texts."""
    ranks = sorted("23456789TJQKA".index(str(one)[0]) for one in some)
    suits = {str(one)[1] for one in some}
    if len(some) < 3 or len(set(some)) < len(some):
        return False
    is_set = len(set(ranks)) == 1 and len(suits) == len(some)
    return is_set or (len(suits) == 1 and ranks == list(range(ranks[0], ranks[0] + len(ranks))))


_known_meld = cache(is_meld)


def can_knock_keeping(hand: tuple[Card, ...], table: tuple[tuple[Card, ...], ...], kept: Card) -> bool:
    """T22 by plain search: every way of laying a meld or one card on a meld of the table, in any order."""
    return _can_lay_all(tuple(one for one in hand if one is not kept), table, set())


def _can_lay_all(left: tuple[Card, ...], melds: tuple[tuple[Card, ...], ...], seen: set[object]) -> bool:
    if not left:
        return True
    if (left, melds) in seen:
        return False
    seen.add((left, melds))
    for number, meld in enumerate(melds):
        for card in left:
            together = tuple(sorted((*meld, card)))
            if _known_meld(together):
                after = (*melds[:number], together, *melds[number + 1 :])
                if _can_lay_all(tuple(one for one in left if one is not card), after, seen):
                    return True
    groups = chain.from_iterable(combinations(left, size) for size in range(3, min(len(left), 13) + 1))
    return any(
        _can_lay_all(tuple(one for one in left if one not in group), (*melds, group), seen)
        for group in groups
        if _known_meld(group)
    )
