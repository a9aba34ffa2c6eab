"""The judge of `liverpool`: one function tells whether a move is legal, from what its seat may see (L14 to L28)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Final

from rummyarena_rules.cards import JOKER, Card, text_of
from rummyarena_rules.events import Seat
from rummyarena_rules.fold import extended, swapped
from rummyarena_rules.liverpool.facts import LiverpoolPublic, LiverpoolView, owed_with
from rummyarena_rules.liverpool.melds import (
    Misfit,
    natural_count,
    set_or_run,
    span_of,
    split_layoff,
    swap_index,
    too_close,
)
from rummyarena_rules.liverpool.options import CONTRACTS, DEALS, Contract, LiverpoolOptions, shoe_size
from rummyarena_rules.moves import Buy, Cut, Discard, Down, Draw, LayOff, Move, Pass, Swap, TakeUpcard
from rummyarena_rules.ruleset import Reason, Refusal
from rummyarena_rules.table import Phase, TableMeld


def check(view: LiverpoolView, move: Move) -> Refusal | None:
    """Returns why a move of the view's seat is refused, or `None` if it is legal; the order of reasons is L14's."""
    return _state_refusal(view, move) or _CHECKS[type(move)](view, move)


def _state_refusal(view: LiverpoolView, move: Move) -> Refusal | None:
    public = view.public
    if not _is_well_formed(move):
        return Refusal(Reason.MALFORMED, "this is not a move of liverpool")
    if public.phase is Phase.OVER:
        if public.over:
            return Refusal(Reason.GAME_OVER, "the game is over")
        return Refusal(Reason.DEAL_OVER, "the deal is over and the next one has not begun")
    if type(move) in _ANSWERS and view.seat is not None:  # L14: for answers the two reasons below do not exist
        return None
    if view.seat != public.turn:
        return Refusal(Reason.NOT_YOUR_TURN, f"seat {public.turn} is on turn")
    if type(move) not in _MOVES[public.phase]:
        return Refusal(Reason.WRONG_PHASE, f"this move does not belong to the phase {public.phase}")
    return None


def _is_well_formed(move: Move) -> bool:
    match move:
        case Draw() | Pass() | TakeUpcard() | Buy() | Discard():
            return True
        case Down(groups):
            return bool(groups) and all(groups)
        case LayOff(meld, some):
            return meld >= 1 and bool(some)
        case Swap(meld):
            return meld >= 1
        case Cut(position):
            return position >= 1
        case _:
            return False


# --- cut, draw, buy --------------------------------------------------------------------------------------------------


def _check_cut(view: LiverpoolView, move: Cut) -> Refusal | None:
    most = shoe_size(view.public.options, view.public.seats) - 1
    if move.position > most:
        return Refusal(Reason.CUT_OUT_OF_RANGE, f"the shoe can be cut at 1 to {most}")
    return None


def may_use_pile(public: LiverpoolPublic, seat: Seat) -> bool:
    """Tells whether a seat may take or buy at all: it is not down, or the options allow it then (L15, L18)."""
    return public.options.down_may_use_pile or public.facts.down_turns[seat] is None


def may_buy(public: LiverpoolPublic, seat: Seat) -> bool:
    """Tells whether a window asks a seat that is not on turn (L18 c)."""
    most = public.options.max_buys_per_deal
    return may_use_pile(public, seat) and (most == 0 or public.facts.buys[seat] < most)


def _check_draw(_: LiverpoolView, __: Draw) -> Refusal | None:
    return None  # L33: a draw may be declared with any stock


def _check_take(view: LiverpoolView, _: TakeUpcard) -> Refusal | None:
    if not may_use_pile(view.public, view.public.turn):
        return _down_may_not_use_pile()
    if not view.public.discards:
        return Refusal(Reason.PILE_EMPTY, "there is no upcard to take")
    return None


def _check_answer(view: LiverpoolView, _: Buy | Pass) -> Refusal | None:
    public, seat = view.public, view.seat
    if public.phase is not Phase.BUY:
        return Refusal(Reason.BUY_NOT_OFFERED, "no upcard is offered now")
    if seat is None or seat == public.turn:
        return Refusal(Reason.ACTIVE_CANNOT_BUY, "the seat on turn has declared its draw and cannot buy")
    if view.answered:
        return Refusal(Reason.ALREADY_ANSWERED, "the seat has answered this window")
    if not may_use_pile(public, seat):
        return _down_may_not_use_pile()
    if not may_buy(public, seat):
        return Refusal(Reason.BUY_LIMIT, f"{public.facts.buys[seat]} purchases are all that a deal allows")
    return None


def _down_may_not_use_pile() -> Refusal:
    return Refusal(Reason.DOWN_MAY_NOT_USE_PILE, "a seat that is down may neither take nor buy the upcard")


# --- down ------------------------------------------------------------------------------------------------------------


def _check_down(view: LiverpoolView, move: Down) -> Refusal | None:
    public = view.public
    if public.facts.down_turns[public.turn] is not None:
        return Refusal(Reason.ALREADY_DOWN, "a seat goes down once in a deal")
    refusal = _check_in_hand(view, [card for group in move.groups for card in group])
    if refusal:
        return refusal
    starts = []
    for group in move.groups:
        start = set_or_run(group, public.options)
        if isinstance(start, Reason):
            return _no_meld(group, start, public.options)
        starts.append(start)
    left = len(hand_of(view)) - sum(map(len, move.groups))
    return (
        _check_contract(public, move.groups, starts)
        or _check_distances(public.options, move.groups, starts)
        or _check_left_over(public, left)
    )


def _no_meld(group: Sequence[Card], reason: Reason, options: LiverpoolOptions) -> Refusal:
    if reason is Reason.TOO_FEW_NATURALS:
        least = f"a set has at least {options.min_naturals_set}, a run {options.min_naturals_run}"
        return Refusal(reason, f"{text_of(group)}: {natural_count(group)} natural cards, but {least}")
    return Refusal(reason, f"{text_of(group)} is neither a set nor a run written low to high")


def contract_of(public: LiverpoolPublic) -> Contract:
    """Returns the contract of the deal that is on (L21)."""
    return CONTRACTS[public.deal - 1]


def is_last_deal(public: LiverpoolPublic) -> bool:
    """Tells whether the deal has the rules of L23: three runs of any length and at most one card left."""
    return public.deal == DEALS


def _check_contract(public: LiverpoolPublic, groups: Sequence[Sequence[Card]], starts: Sequence[int]) -> Refusal | None:
    contract = contract_of(public)
    if (starts.count(0), len(starts) - starts.count(0)) != contract:
        return Refusal(
            Reason.CONTRACT_MISMATCH, f"the contract is {contract.sets} sets and {contract.runs} runs, no more, no less"
        )
    if public.options.contract_size == "exact" and not is_last_deal(public):
        for group, start in zip(groups, starts, strict=True):
            if len(group) != (4 if start else 3):
                return Refusal(
                    Reason.CONTRACT_SIZE, f"{text_of(group)}: a set is laid with exactly 3 cards, a run with 4"
                )
    return None


def _check_distances(
    options: LiverpoolOptions, groups: Sequence[Sequence[Card]], starts: Sequence[int]
) -> Refusal | None:
    runs = [(group, span_of(group, start)) for group, start in zip(groups, starts, strict=True) if start]
    for (one, its_span), (other, other_span) in combinations(runs, 2):
        if too_close(options, its_span, other_span):
            return Refusal(
                Reason.RUNS_TOO_CLOSE, f"{text_of(one)} and {text_of(other)} are too close ({options.same_suit_runs})"
            )
    return None


def left_over(public: LiverpoolPublic) -> range:
    """Returns how many cards a down may leave in hand (L22, L23)."""
    least = 1 if public.options.go_out == "discard_required" else 0
    if not is_last_deal(public):
        return range(least, shoe_size(public.options, public.seats))
    return range(least, 2 if least or public.options.deal7_final_discard else 1)


def _check_left_over(public: LiverpoolPublic, left: int) -> Refusal | None:
    allowed = left_over(public)
    if left >= allowed.stop:
        return Refusal(Reason.MUST_EMPTY_HAND, f"{left} cards would be left, in this deal {allowed[-1]} at most")
    return _would_leave_no_card() if left < allowed.start else None


# --- lay-off, swap, discard ------------------------------------------------------------------------------------------


def may_lay_off(public: LiverpoolPublic) -> bool:
    """Tells whether the seat on turn is down and may lay off and swap in this turn (L24, L25)."""
    return _check_is_down(public) is None


def _check_is_down(public: LiverpoolPublic) -> Refusal | None:
    down_turn = public.facts.down_turns[public.turn]
    if down_turn is None:
        return Refusal(Reason.NOT_DOWN, "the seat has not gone down in this deal")
    if down_turn == public.turn_number and not public.options.layoff_same_turn:
        return Refusal(Reason.LAYOFF_IN_DOWN_TURN, "no lay-off and no swap in the turn of going down")
    return None


def _check_layoff(view: LiverpoolView, move: LayOff) -> Refusal | None:
    public = view.public
    refusal = _check_is_down(public) or _check_meld_exists(public, move.meld) or _check_in_hand(view, move.cards)
    if refusal:
        return refusal
    meld = public.melds[move.meld - 1]
    split = split_layoff(meld, move.cards, move.side, public.options.run_max)
    if isinstance(split, Misfit):
        return _misfit(move, meld, split)
    after = extended(meld, public.turn, *split)
    owed = public.facts.jokers_owed - move.cards.count(JOKER)
    return _check_card_left(public, move.meld, after, owed, len(hand_of(view)) - len(move.cards))


def _misfit(move: LayOff, meld: TableMeld, misfit: Misfit) -> Refusal:
    where = f"m{move.meld}: {text_of(meld.cards)}"
    if misfit.reason is Reason.SIDE_REQUIRED:
        return Refusal(misfit.reason, f"{misfit.card} fits both ends of {where}; write low or high")
    side = f" at the {move.side} end" if move.side and meld.is_run else ""
    return Refusal(misfit.reason, f"{misfit.card} does not fit{side} {where}")


def _check_swap(view: LiverpoolView, move: Swap) -> Refusal | None:
    public = view.public
    if public.options.joker_after_swap == "off":
        return Refusal(Reason.SWAP_OFF, "this game has no swaps")
    refusal = _check_is_down(public) or _check_meld_exists(public, move.meld) or _check_in_hand(view, (move.card,))
    if refusal:
        return refusal
    meld = public.melds[move.meld - 1]
    refusal = _check_replaces(public.options, move, meld)
    index = swap_index(meld, move.card)
    if refusal or index is None:
        return refusal or Refusal(Reason.WRONG_CARD, f"no joker of {text_of(meld.cards)} stands for {move.card}")
    duty = 1 if public.options.joker_after_swap == "must_replay" else 0
    after = swapped(meld, public.turn, move.card, index)
    return _check_card_left(public, move.meld, after, public.facts.jokers_owed + duty, len(hand_of(view)))


def _check_replaces(options: LiverpoolOptions, move: Swap, meld: TableMeld) -> Refusal | None:
    if move.card is JOKER:
        return Refusal(Reason.NEEDS_NATURAL, "a joker is swapped for a natural card")
    if JOKER not in meld.cards:
        return Refusal(Reason.NO_JOKER, f"there is no joker in m{move.meld}: {text_of(meld.cards)}")
    if not meld.is_run and not options.joker_swap_sets:
        return Refusal(Reason.NO_SWAP_IN_SETS, "the jokers of sets stay where they are")
    return None


def _check_card_left(public: LiverpoolPublic, number: int, after: TableMeld, owed: int, left: int) -> Refusal | None:
    """Refuses what leaves no more cards than jokers are owed with the meld as it is `after` the move (L28)."""
    if public.options.go_out != "discard_required":
        return None
    melds = [*public.melds[: number - 1], after, *public.melds[number:]]
    return _would_leave_no_card() if left <= owed_with(public.options, melds, owed) else None


def _check_discard(view: LiverpoolView, move: Discard) -> Refusal | None:
    refusal = _check_in_hand(view, (move.card,))
    if refusal:
        return refusal
    owed = view.public.facts.jokers_owed
    if owed:
        return Refusal(Reason.JOKER_MUST_BE_REPLAYED, f"first lay off {owed} joker{'s' * (owed > 1)}")
    return None


# --- shared parts ----------------------------------------------------------------------------------------------------


def hand_of(view: LiverpoolView) -> list[Card]:
    """Returns the hand of the view's seat; `ValueError` for a spectator, who has none."""
    if view.private is None:
        raise ValueError("a spectator has no hand")
    return view.private.hand


def _check_in_hand(view: LiverpoolView, some: Sequence[Card]) -> Refusal | None:
    hand = hand_of(view)
    if len(some) == 1 and some[0] in hand:  # what nearly every move comes to
        return None
    missing = Counter(some) - Counter(hand)
    if missing:
        return Refusal(Reason.NOT_IN_HAND, f"{text_of(missing.elements())}: not in the hand, or not that often")
    return None


def _check_meld_exists(public: LiverpoolPublic, number: int) -> Refusal | None:
    if number > len(public.melds):
        return Refusal(Reason.NO_SUCH_MELD, f"there is no meld m{number}")
    return None


def _would_leave_no_card() -> Refusal:
    return Refusal(Reason.WOULD_LEAVE_NO_CARD, "the last card has to be discarded, so one has to stay in hand")


_ANSWERS: Final[set[type[Move]]] = {Buy, Pass}

_MOVES: Final[dict[Phase, set[type[Move]]]] = {
    Phase.CUT: {Cut},
    Phase.DRAW: {Draw, TakeUpcard},
    Phase.BUY: _ANSWERS,
    Phase.PLAY: {Down, LayOff, Swap, Discard},
}

_CHECKS: Final[dict[type[Move], Callable[[LiverpoolView, Any], Refusal | None]]] = {
    Cut: _check_cut,
    Draw: _check_draw,
    TakeUpcard: _check_take,
    Buy: _check_answer,
    Pass: _check_answer,
    Down: _check_down,
    LayOff: _check_layoff,
    Swap: _check_swap,
    Discard: _check_discard,
}
