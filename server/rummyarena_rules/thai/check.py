"""The judge of `thai`: one function tells whether a move is legal, from what its seat may see (T12 to T23)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from rummyarena_rules.cards import JOKER, Card, mask_of, text_of
from rummyarena_rules.moves import Discard, Draw, Knock, LayOff, Meld, Move, Pass, Take, TakeOnto
from rummyarena_rules.ruleset import Reason, Refusal
from rummyarena_rules.table import Phase, TableMeld
from rummyarena_rules.thai.facts import ThaiPublic, ThaiView
from rummyarena_rules.thai.melds import MELD_STARTS, split_layoff


def check(view: ThaiView, move: Move) -> Refusal | None:
    """Returns why a move of the view's seat is refused, or `None` if it is legal; the order of reasons is T13's."""
    return _state_refusal(view, move) or _CHECKS[type(move)](view, move)


def _state_refusal(view: ThaiView, move: Move) -> Refusal | None:
    public = view.public
    if not _is_well_formed(move):
        return Refusal(Reason.MALFORMED, "this is not a move of thai")
    if public.phase is Phase.OVER:  # T28
        if public.over:
            return Refusal(Reason.GAME_OVER, "the game is over")
        return Refusal(Reason.DEAL_OVER, "the deal is over and the next one has not begun")
    if view.seat != public.turn:
        return Refusal(Reason.NOT_YOUR_TURN, f"seat {public.turn} is on turn")
    if (type(move) in _DRAW_MOVES) != (public.phase is Phase.DRAW):
        return Refusal(Reason.WRONG_PHASE, f"this move does not belong to the phase {public.phase}")
    return None


def _is_well_formed(move: Move) -> bool:
    match move:
        case Draw() | Pass():
            return True
        case Discard(card):
            return card is not JOKER
        case Take(target, some):
            return target is not JOKER and _are_naturals(some)
        case TakeOnto(target, meld):
            return target is not JOKER and meld >= 1
        case Meld() | LayOff():
            return _is_well_formed_part(move)
        case Knock(card, parts):
            return card is not JOKER and all(map(_is_well_formed_part, parts))
        case _:
            return False


def _is_well_formed_part(part: Meld | LayOff) -> bool:
    if isinstance(part, LayOff) and (part.side is not None or part.meld < 1):
        return False
    return _are_naturals(part.cards)


def _are_naturals(some: Sequence[Card]) -> bool:
    return bool(some) and JOKER not in some


# --- the phase draw --------------------------------------------------------------------------------------------------


def _check_draw(view: ThaiView, _: Draw) -> Refusal | None:
    if view.public.stock_count == 0 or view.public.facts.last_turn:  # T15, T27
        return Refusal(Reason.STOCK_EMPTY, "the stock is empty: take from the row or pass")
    return None


def _check_pass(view: ThaiView, _: Pass) -> Refusal | None:
    if not view.public.facts.last_turn:  # T27
        return Refusal(Reason.PASS_NOT_ALLOWED, "a pass is allowed in the last turn only")
    return None


def must_draw(public: ThaiPublic) -> bool:
    """Tells whether a take is refused because this is the first turn of the deal (T16)."""
    return public.options.first_turn_must_draw and public.turn_number == 1


def row_index(public: ThaiPublic, target: Card) -> int | None:
    """Returns where a card lies in the row, 0 for the oldest."""
    for at, one in enumerate(public.discards):
        if one.card is target:
            return at
    return None


def _check_take(view: ThaiView, move: Take) -> Refusal | None:
    public, hand = view.public, hand_of(view)
    if must_draw(public):
        return Refusal(Reason.MUST_DRAW, "the first turn of a deal has to draw")
    at = row_index(public, move.target)
    if at is None:
        return Refusal(Reason.NOT_IN_ROW, f"{move.target} is not in the row")
    if move.target not in move.cards:
        return Refusal(Reason.TARGET_NOT_IN_MELD, f"{move.target} has to be in the meld laid at once")
    gathered = mask_of(one.card for one in public.discards[at:])
    in_hand, meld = mask_of(hand), mask_of(move.cards)
    if meld & ~(gathered | in_hand) or meld.bit_count() != len(move.cards):
        return Refusal(Reason.NOT_AVAILABLE, "a card of the meld is neither gathered nor in hand, or is named twice")
    if not meld & in_hand:
        return Refusal(Reason.NEEDS_HAND_CARD, "at least one card of the meld has to come from the hand")
    if meld not in MELD_STARTS:
        return _not_a_meld(move.cards)
    if (gathered | in_hand) == meld:  # T14
        return _leaves_no_card()
    return None


def _check_take_onto(view: ThaiView, move: TakeOnto) -> Refusal | None:
    public = view.public
    if not public.options.pickup_layoff:
        return Refusal(Reason.PICKUP_LAYOFF_OFF, "the option pickup_layoff is off")
    if must_draw(public):
        return Refusal(Reason.MUST_DRAW, "the first turn of a deal has to draw")
    if not is_born(view):
        return _not_born()
    if row_index(public, move.target) is None:
        return Refusal(Reason.NOT_IN_ROW, f"{move.target} is not in the row")
    return _check_extension(public.melds, move.meld, (move.target,))


# --- the phase play --------------------------------------------------------------------------------------------------


def may_meld(view: ThaiView) -> bool:
    """Tells whether the seat on turn is born and past its birth turn, or the options do not ask for that (T18, T20)."""
    return is_born(view) and not (in_birth_turn(view) and view.public.options.birth_turn_plays != "all")


def may_lay_off(view: ThaiView) -> bool:
    """Tells whether the seat on turn is born and may lay off in this turn (T19, T20)."""
    return is_born(view) and not (in_birth_turn(view) and view.public.options.birth_turn_plays == "none")


def _check_meld(view: ThaiView, move: Meld) -> Refusal | None:
    if not is_born(view):
        return _not_born()
    if not may_meld(view):
        return Refusal(Reason.MELD_IN_BIRTH_TURN, "no further meld in the turn of being born, except by a knock")
    return (
        _check_in_hand(view, move.cards)
        or _check_is_meld(move.cards)
        or (_leaves_no_card() if len(move.cards) == len(hand_of(view)) else None)
    )


def _check_layoff(view: ThaiView, move: LayOff) -> Refusal | None:
    if not is_born(view):
        return _not_born()
    if not may_lay_off(view):
        return Refusal(Reason.LAYOFF_IN_BIRTH_TURN, "no lay-off in the turn of being born, except by a knock")
    return (
        _check_in_hand(view, move.cards)
        or (_leaves_no_card() if len(move.cards) == len(hand_of(view)) else None)
        or _check_extension(view.public.melds, move.meld, move.cards)
    )


def _check_discard(view: ThaiView, move: Discard) -> Refusal | None:
    return _check_in_hand(view, (move.card,))


def _check_knock(view: ThaiView, move: Knock) -> Refusal | None:
    laid = tuple(card for part in move.parts for card in part.cards)
    refusal = _check_in_hand(view, laid)
    if refusal:
        return refusal
    if sorted((*laid, move.card)) != hand_of(view):
        return Refusal(Reason.NOT_ONE_CARD_LEFT, "a knock has to use all cards of the hand but the one it keeps")
    melds = view.public.melds.copy()
    for part in move.parts:
        refusal = _check_knock_part(view, melds, part)
        if refusal:
            return refusal
    return None


def _check_knock_part(view: ThaiView, melds: list[TableMeld], part: Meld | LayOff) -> Refusal | None:
    """Judges one part of a knock and, if it is legal, lays it on `melds`, for later parts may use it (T22)."""
    seat = view.public.turn
    if isinstance(part, Meld):
        refusal = _check_is_meld(part.cards)
        if not refusal:
            some = tuple(sorted(part.cards))
            melds.append(TableMeld(seat, some, (seat,) * len(some), MELD_STARTS[mask_of(some)]))
        return refusal
    if not is_born(view) and not view.public.options.dark_knock_layoffs:
        return _not_born()
    refusal = _check_extension(melds, part.meld, part.cards)
    if not refusal:
        melds[part.meld - 1] = _after_layoff(melds[part.meld - 1], part.cards)
    return refusal


def _after_layoff(meld: TableMeld, some: tuple[Card, ...]) -> TableMeld:
    together = tuple(sorted(meld.cards + some))
    return TableMeld(meld.owner, together, (meld.owner,) * len(together), MELD_STARTS[mask_of(together)])


# --- shared parts ----------------------------------------------------------------------------------------------------


def hand_of(view: ThaiView) -> list[Card]:
    """Returns the hand of the view's seat; `ValueError` for a spectator, who has none."""
    if view.private is None:
        raise ValueError("a spectator has no hand")
    return view.private.hand


def is_born(view: ThaiView) -> bool:
    """Tells whether the seat on turn has taken from the row in this deal."""
    return view.public.facts.birth_turns[view.public.turn] is not None


def in_birth_turn(view: ThaiView) -> bool:
    """Tells whether the seat on turn was born in this very turn."""
    return view.public.facts.birth_turns[view.public.turn] == view.public.turn_number


def _check_in_hand(view: ThaiView, some: tuple[Card, ...]) -> Refusal | None:
    hand = hand_of(view)
    missing = [one for at, one in enumerate(some) if one not in hand or one in some[:at]]
    if missing:
        return Refusal(Reason.NOT_IN_HAND, f"{text_of(missing)}: not in the hand, or named twice")
    return None


def _check_is_meld(some: tuple[Card, ...]) -> Refusal | None:
    return None if mask_of(some) in MELD_STARTS and len(set(some)) == len(some) else _not_a_meld(some)


def _check_extension(melds: Sequence[TableMeld], meld: int, some: tuple[Card, ...]) -> Refusal | None:
    if meld > len(melds):
        return Refusal(Reason.NO_SUCH_MELD, f"there is no meld m{meld}")
    if split_layoff(melds[meld - 1], some) is None:
        return Refusal(
            Reason.DOES_NOT_EXTEND, f"{text_of(some)} does not fit m{meld}: {text_of(melds[meld - 1].cards)}"
        )
    return None


def _not_born() -> Refusal:
    return Refusal(Reason.NOT_BORN, "the seat has not taken from the row in this deal")


def _not_a_meld(some: Sequence[Card]) -> Refusal:
    return Refusal(Reason.NOT_A_MELD, f"{text_of(some)} is neither a set nor a run")


def _leaves_no_card() -> Refusal:
    return Refusal(Reason.WOULD_LEAVE_NO_CARD, "one card has to stay in hand")


_DRAW_MOVES: Final = {Draw, Pass, Take, TakeOnto}

_CHECKS: Final[dict[type[Move], Callable[[ThaiView, Any], Refusal | None]]] = {
    Draw: _check_draw,
    Pass: _check_pass,
    Take: _check_take,
    TakeOnto: _check_take_onto,
    Meld: _check_meld,
    LayOff: _check_layoff,
    Discard: _check_discard,
    Knock: _check_knock,
}
