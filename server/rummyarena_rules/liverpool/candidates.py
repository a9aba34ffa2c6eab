"""Legal moves of `liverpool` worth offering, bounded and sound (notation.md 3, "Same move")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Final, TypeAlias

from rummyarena_rules.cards import CARDS, Card, cards_in
from rummyarena_rules.liverpool.check import check, hand_of, may_lay_off, may_use_pile
from rummyarena_rules.liverpool.downs import downs, names_every_down
from rummyarena_rules.liverpool.facts import LiverpoolPublic, LiverpoolView
from rummyarena_rules.liverpool.groups import Group
from rummyarena_rules.liverpool.melds import openings, replaceable
from rummyarena_rules.liverpool.options import exact_cut, shoe_size
from rummyarena_rules.liverpool.promise import dear_first, discards_in_order, is_down, purchase_helps, upcard_helps
from rummyarena_rules.liverpool.scoring import values
from rummyarena_rules.moves import Buy, Cut, Discard, Down, Draw, LayOff, Move, Pass, Swap, TakeUpcard
from rummyarena_rules.ruleset import Candidates
from rummyarena_rules.table import Phase

_MOST_DOWNS: Final = 24
_REMEMBERED: Final = 4096  # melds; those of some hundred tables

_Offers: TypeAlias = tuple[tuple[Card, tuple[Move, ...]], ...]
"""Cards, each with what can be done with it."""


def candidates(view: LiverpoolView, limit: int) -> Candidates:
    """Returns at most `limit` legal moves of the view's seat, the promising ones first."""
    public = view.public
    match public.phase:
        case Phase.BUY if view.seat in public.facts.asked and not view.answered:
            return _within(limit, [_answers(view, view.seat)], complete=True)
        case Phase.CUT if view.seat == public.turn:
            return _within(limit, [_cuts(public, limit)], complete=shoe_size(public.options, public.seats) <= limit)
        case Phase.DRAW if view.seat == public.turn:
            return _within(limit, [_draws(view)], complete=True)
        case Phase.PLAY if view.seat == public.turn:
            return _plays(view, limit)
    return Candidates((), complete=True)


def _within(limit: int, kinds: Sequence[Sequence[Move]], *, complete: bool) -> Candidates:
    """Puts kinds of moves in a row; where they are too many, each kind gives up its last ones as evenly as can be."""
    found = [*chain.from_iterable(kinds)]
    if len(found) <= limit:
        return Candidates(tuple(found), complete)
    shares = _shares(max(limit, 0), [len(moves) for moves in kinds])
    kept = [moves[:share] for moves, share in zip(kinds, shares, strict=True)]
    return Candidates(tuple(chain.from_iterable(kept)), complete=False)


def _shares(room: int, sizes: Sequence[int]) -> list[int]:
    """Divides too little room as if each kind in turn put in one move as long as it has any.

    So a kind has all its moves or `level` of them, and the first `rest` of those that have more have one more.
    """
    level = rest = 0
    left, kinds = room, len(sizes)
    for size in sorted(sizes):
        if size * kinds > left:
            level, rest = divmod(left, kinds)
            break
        left, kinds = left - size, kinds - 1
    shares = []
    for size in sizes:
        more = 1 if size > level and rest else 0
        rest -= more
        shares.append(min(size, level) + more)
    return shares


def _cuts(public: LiverpoolPublic, limit: int) -> list[Move]:
    """Returns the exact cut and others spread over the shoe."""
    size, exact = shoe_size(public.options, public.seats), exact_cut(public.options, public.seats, public.deal)
    step = -(-size // max(limit, 1))
    return [Cut(exact), *(Cut(position) for position in range(1, size, step) if position != exact)]


def _draws(view: LiverpoolView) -> list[Move]:
    public = view.public
    if not public.discards or not may_use_pile(public, public.turn):
        return [Draw()]
    return [TakeUpcard(), Draw()] if upcard_helps(view) else [Draw(), TakeUpcard()]


def _answers(view: LiverpoolView, seat: int) -> list[Move]:
    return [Buy(), Pass()] if purchase_helps(view, seat) else [Pass(), Buy()]


# --- the phase play --------------------------------------------------------------------------------------------------


def _plays(view: LiverpoolView, limit: int) -> Candidates:
    public = view.public
    laid, complete = ([], True) if is_down(public, public.turn) else _downs(view)
    layoffs, swaps = _on_the_table(view) if may_lay_off(public) else ([], [])
    discards = [] if public.facts.jokers_owed else [_DISCARDS[card] for card in discards_in_order(view)]
    return _within(limit, [laid, layoffs, swaps, discards], complete=complete)


def _downs(view: LiverpoolView) -> tuple[list[Move], bool]:
    """Returns contracts that can be laid, those with few jokers and many points first, and whether they are all."""
    found = list(islice(downs(view, hand_of(view)), _MOST_DOWNS + 1))
    worth = values(view.public.options)

    def promise(groups: tuple[Group, ...]) -> tuple[int, int]:
        points = sum([worth[card] for group in groups for card in group.cards])
        return sum([group.jokers for group in groups]), -points

    moves = [Down(tuple(group.cards for group in groups)) for groups in sorted(found, key=promise)]
    complete = not found or (names_every_down(view.public) and len(found) <= _MOST_DOWNS)
    return [*moves[:_MOST_DOWNS]], complete


def _on_the_table(view: LiverpoolView) -> tuple[list[Move], list[Move]]:
    """Returns single lay-offs and the swaps, dear cards first; longer lay-offs are reached one after another."""
    public, hand = view.public, hand_of(view)
    faces = dear_first(public.options, set(hand))
    layoffs = _fitting(faces, _layoffs_by_meld(public))
    swaps = _fitting(faces, _swaps_by_meld(public))
    if public.options.go_out == "discard_required" and len(hand) <= public.facts.jokers_owed + 1:
        # L28: whether enough cards are left is the judge's to say; with more cards in hand they always are.
        layoffs, swaps = ([move for move in some if not check(view, move)] for some in (layoffs, swaps))
    return layoffs, swaps


def _fitting(faces: Sequence[Card], offers: Iterable[_Offers]) -> list[Move]:
    """Returns the offers for some faces, ordered by face and then by meld."""
    by_face: dict[Card, list[Move]] = {card: [] for card in faces}
    for offer in offers:
        for card, moves in offer:
            if card in by_face:
                by_face[card] += moves
    return [*chain.from_iterable(by_face.values())]


def _layoffs_by_meld(public: LiverpoolPublic) -> Iterator[_Offers]:
    most = public.options.run_max
    return (_layoffs_on(number, meld.cards, meld.start, most) for number, meld in enumerate(public.melds, 1))


def _swaps_by_meld(public: LiverpoolPublic) -> Iterator[_Offers]:
    options = public.options
    if options.joker_after_swap == "off":
        return
    for number, meld in enumerate(public.melds, 1):
        if meld.is_run or options.joker_swap_sets:
            yield _swaps_on(number, meld.cards, meld.start)


# A meld stands unchanged over many decisions, so what it takes is worked out once; moves are frozen and can be shared.


@lru_cache(_REMEMBERED)
def _layoffs_on(number: int, cards: tuple[Card, ...], start: int, run_max: int) -> _Offers:
    """Returns every card that can be laid off on a meld with its lay-offs; arguments as in `TableMeld`."""
    low, high = openings(cards, start, run_max)
    return tuple([(card, _layoffs_of(number, card, low & high & card.bit)) for card in cards_in(low | high)])


def _layoffs_of(number: int, card: Card, fits_both: int) -> tuple[Move, ...]:
    if fits_both:
        return LayOff(number, (card,), "low"), LayOff(number, (card,), "high")
    return (LayOff(number, (card,)),)


@lru_cache(_REMEMBERED)
def _swaps_on(number: int, cards: tuple[Card, ...], start: int) -> _Offers:
    """Returns every card that can replace a joker of a meld with its swap; arguments as in `TableMeld`."""
    return tuple([(card, (Swap(number, card),)) for card in cards_in(replaceable(cards, start))])


_DISCARDS: Final = tuple(map(Discard, CARDS))
