"""Legal moves of `liverpool` worth offering, bounded and sound (notation.md 3, "Same move")."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from rummyarena_rules.cards import JOKER, Card
from rummyarena_rules.liverpool.check import check, hand_of, may_lay_off, may_use_pile
from rummyarena_rules.liverpool.downs import downs, names_every_down
from rummyarena_rules.liverpool.facts import LiverpoolPublic, LiverpoolView
from rummyarena_rules.liverpool.groups import Group
from rummyarena_rules.liverpool.melds import sides, swap_index
from rummyarena_rules.liverpool.options import exact_cut, shoe_size
from rummyarena_rules.liverpool.promise import discards_in_order, is_down, purchase_helps, upcard_helps
from rummyarena_rules.liverpool.scoring import values
from rummyarena_rules.moves import Buy, Cut, Discard, Down, Draw, LayOff, Move, Pass, Swap, TakeUpcard
from rummyarena_rules.ruleset import Candidates
from rummyarena_rules.table import Phase

_MOST_DOWNS: Final = 24


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
    kept = [0] * len(kinds)
    room = max(limit, 0)
    while room and any(size < len(moves) for size, moves in zip(kept, kinds, strict=True)):
        for at, moves in enumerate(kinds):
            if room and kept[at] < len(moves):
                kept[at] += 1
                room -= 1
    moves = tuple(move for size, some in zip(kept, kinds, strict=True) for move in some[:size])
    return Candidates(moves, complete and len(moves) == sum(map(len, kinds)))


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
    layoffs: list[Move] = []
    swaps: list[Move] = []
    if may_lay_off(public):
        layoffs, swaps = list(_layoffs(view)), list(_swaps(view))
    if public.options.go_out == "discard_required":  # L28: whether enough cards are left is the judge's to say
        layoffs, swaps = ([move for move in some if not check(view, move)] for some in (layoffs, swaps))
    discards: list[Move] = [] if public.facts.jokers_owed else [Discard(card) for card in discards_in_order(view)]
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


def _layoffs(view: LiverpoolView) -> Iterator[LayOff]:
    """Yields single lay-offs, dear cards first; longer ones are reached by playing them one after another."""
    public = view.public
    for card in _faces(view):
        for number, meld in enumerate(public.melds, 1):
            fitting = sides(meld, card, public.options.run_max)
            if len(fitting) == 1:
                yield LayOff(number, (card,))
            else:
                yield from (LayOff(number, (card,), side) for side in fitting)


def _swaps(view: LiverpoolView) -> Iterator[Swap]:
    public = view.public
    if public.options.joker_after_swap == "off":
        return
    for card in _faces(view):
        for number, meld in enumerate(public.melds, 1):
            allowed = meld.is_run or public.options.joker_swap_sets
            if card is not JOKER and allowed and swap_index(meld, card) is not None:
                yield Swap(number, card)


def _faces(view: LiverpoolView) -> list[Card]:
    """Returns each face of the hand once, the dear ones first."""
    worth = values(view.public.options)
    return sorted(set(hand_of(view)), key=lambda card: (-worth[card], card))
