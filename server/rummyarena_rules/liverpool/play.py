"""What follows a move of `liverpool`: the events up to the next decision or the end of the deal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from rummyarena_rules import fold
from rummyarena_rules.events import (
    CardTurnedUp,
    CutAsked,
    DealEnd,
    DealEnded,
    DealStarted,
    Discarded,
    DiscardsTaken,
    DrawDeclared,
    Event,
    HandDealt,
    JokerSwapped,
    LaidOff,
    MeldLaid,
    Seat,
    ShoeCut,
    StockDrawn,
    StockReshuffled,
    TurnStarted,
    UpcardBought,
    WindowClosed,
    WindowOpened,
)
from rummyarena_rules.liverpool import scoring
from rummyarena_rules.liverpool.check import may_buy
from rummyarena_rules.liverpool.facts import LiverpoolPublic, LiverpoolState, note
from rummyarena_rules.liverpool.melds import Misfit, set_or_run, split_layoff, swap_index
from rummyarena_rules.liverpool.options import decks, exact_cut, turn_limit
from rummyarena_rules.moves import Buy, Cut, Discard, Down, Draw, LayOff, Move, Swap, TakeUpcard
from rummyarena_rules.ruleset import NextDeal, Reason
from rummyarena_rules.shoe import Stream, reshuffled, shuffled_shoe
from rummyarena_rules.table import Phase

_Events: TypeAlias = Iterator[Event]


def evolve(state: LiverpoolState, event: Event) -> None:
    """Applies an event to a state."""
    fold.evolve(state, event)
    note(state.public, event)
    if isinstance(event, DiscardsTaken):  # L33: the fallback discards the upcard just taken
        state.privates[event.seat].drawn = event.cards[0]


def deal_events(state: LiverpoolState, opening: NextDeal) -> tuple[Event, ...]:
    """Returns the events that set a deal up, to the first decision (L4 to L6)."""
    return _carried_out(state, lambda ahead: _set_up(ahead, opening))


def resolve(state: LiverpoolState, answers: Mapping[Seat, Move | None]) -> tuple[Event, ...]:
    """Returns what follows when all seats that owe an answer have given a legal one."""
    public = state.public
    if public.phase is Phase.BUY:
        return _carried_out(state, lambda ahead: _close_window(ahead, answers))
    move = answers[public.turn]
    if public.phase is Phase.CUT:
        return _carried_out(state, lambda ahead: _cut_and_deal(ahead, move))
    if move is None:
        raise ValueError(f"the rules answer for a cutter only, not in the phase {public.phase}")
    follow = _FOLLOWERS[type(move)]
    return _carried_out(state, lambda ahead: follow(ahead, public.turn, move))


def _carried_out(state: LiverpoolState, follow: Callable[[LiverpoolState], _Events]) -> tuple[Event, ...]:
    """Runs a generator of events on a copy of the state to which each event is applied as soon as it is there."""
    ahead = state.copy()
    events = []
    for event in follow(ahead):
        evolve(ahead, event)
        events.append(event)
    return tuple(events)


# --- set-up ----------------------------------------------------------------------------------------------------------


def _set_up(state: LiverpoolState, opening: NextDeal) -> _Events:
    public, options = state.public, state.public.options
    shoe = shuffled_shoe(state.seed, opening.deal, decks(options, public.seats), options.jokers_per_deck)
    yield DealStarted(opening.deal, opening.dealer, opening.direction, opening.first, shoe)
    cutter = (opening.dealer - 1) % public.seats  # L3
    match options.cut_mode:
        case "choose":
            yield CutAsked(cutter)
        case "auto":
            yield _automatic_cut(state, cutter)
            yield from _deal_hands(state)
        case "none":
            yield from _deal_hands(state)


def _cut_and_deal(state: LiverpoolState, move: Move | None) -> _Events:
    cutter = state.public.turn
    yield _chosen_cut(state, cutter, move.position) if isinstance(move, Cut) else _automatic_cut(state, cutter)
    yield from _deal_hands(state)


def _automatic_cut(state: LiverpoolState, cutter: Seat) -> ShoeCut:
    position = 1 + _cut_stream(state).below(len(state.stock) - 1)
    return ShoeCut(cutter, _is_exact(state.public, position), None, position)


def _chosen_cut(state: LiverpoolState, cutter: Seat, asked: int) -> ShoeCut:
    noise = state.public.options.cut_noise
    position = asked + _cut_stream(state).below(2 * noise + 1) - noise
    position = min(max(position, 1), len(state.stock) - 1)
    return ShoeCut(cutter, _is_exact(state.public, position), asked, position)


def _cut_stream(state: LiverpoolState) -> Stream:
    return Stream(state.seed, f"cut/{state.public.deal}")


def _is_exact(public: LiverpoolPublic, position: int) -> bool:
    # Without a bonus nothing may tell that a cut was exact: its position is hidden (information.md 3).
    return public.options.cut_bonus > 0 and position == exact_cut(public.options, public.seats, public.deal)


def _deal_hands(state: LiverpoolState) -> _Events:
    public = state.public
    shoe = state.stock[::-1]
    dealt = exact_cut(public.options, public.seats, public.deal) - 1
    for turn in range(public.seats):  # L6: one at a time, beginning with the first seat
        hand = tuple(sorted(shoe[turn : dealt : public.seats]))
        yield HandDealt((public.first + turn) % public.seats, len(hand), hand)
    yield CardTurnedUp(shoe[dealt], len(shoe) - dealt - 1)
    yield TurnStarted(public.first)


# --- draw and buy ----------------------------------------------------------------------------------------------------


def _take(state: LiverpoolState, seat: Seat, _: TakeUpcard) -> _Events:
    yield DiscardsTaken(seat, (state.public.discards[-1].card,))


def _draw(state: LiverpoolState, seat: Seat, _: Draw) -> _Events:
    public = state.public
    yield DrawDeclared(seat)
    if public.stock_count == 0 and not _can_reshuffle(public):  # L17
        yield _ended(state, "blocked")
        return
    if public.options.buy_window == "after_draw":  # L20
        yield from _draw_card(state, seat)
        if asked := _asked(public, still_to_draw=0):
            yield WindowOpened(asked)
    elif asked := _asked(public, still_to_draw=1):
        yield WindowOpened(asked)
    else:
        yield from _draw_card(state, seat)


def _draw_card(state: LiverpoolState, seat: Seat) -> _Events:
    if not state.stock:
        yield _reshuffle(state, kept=1)
    yield StockDrawn(seat, state.stock[-1])


def _can_reshuffle(public: LiverpoolPublic) -> bool:
    return public.options.stock_empty == "reshuffle" and len(public.discards) > 1


def _reshuffle(state: LiverpoolState, kept: int) -> StockReshuffled:
    """Makes the pile but its `kept` newest cards the stock, or puts them below what is left of it (L17)."""
    public = state.public
    old = [one.card for one in public.discards[: len(public.discards) - kept]]
    return StockReshuffled(len(old), reshuffled(state.seed, public.deal, public.facts.reshuffles + 1, old))


def _asked(public: LiverpoolPublic, still_to_draw: int) -> tuple[Seat, ...]:
    """Returns the seats that a window asks, nearest after the seat on turn first; none if it is not open (L18)."""
    options, pile = public.options, len(public.discards)
    supply = public.stock_count + (max(0, pile - 2) if options.stock_empty == "reshuffle" else 0)
    if not pile or supply < options.buy_penalty_cards + still_to_draw:
        return ()
    following = [(public.turn + step) % public.seats for step in range(1, public.seats)]
    return tuple(seat for seat in following if may_buy(public, seat))


def _close_window(state: LiverpoolState, answers: Mapping[Seat, Move | None]) -> _Events:
    public = state.public
    buyer = next((seat for seat in public.facts.asked if isinstance(answers[seat], Buy)), None)  # L19
    yield WindowClosed(buyer)
    if buyer is not None:
        yield from _sell(state, buyer)
    if public.options.buy_window == "before_draw":
        yield from _draw_card(state, public.turn)


def _sell(state: LiverpoolState, buyer: Seat) -> _Events:
    penalty = state.public.options.buy_penalty_cards
    if len(state.stock) < penalty:
        yield _reshuffle(state, kept=2)  # L18 b: the upcard is the buyer's, the card below it the new top
    cards = tuple(state.stock[: -penalty - 1 : -1])
    yield UpcardBought(buyer, state.public.discards[-1].card, penalty, cards)


# --- play ------------------------------------------------------------------------------------------------------------


def _down(state: LiverpoolState, seat: Seat, move: Down) -> _Events:
    for number, group in enumerate(move.groups, len(state.public.melds) + 1):
        start = set_or_run(group, state.public.options)
        if isinstance(start, Reason):
            raise ValueError(f"a group that is no meld was not refused: {start}")
        yield MeldLaid(seat, number, group if start else tuple(sorted(group)), start)
    yield from _end_if_out(state, seat)


def _layoff(state: LiverpoolState, seat: Seat, move: LayOff) -> _Events:
    public = state.public
    split = split_layoff(public.melds[move.meld - 1], move.cards, move.side, public.options.run_max)
    if isinstance(split, Misfit):
        raise ValueError(f"a lay-off that does not fit was not refused: {split.card} on m{move.meld}")
    yield LaidOff(seat, move.meld, *split)
    yield from _end_if_out(state, seat)


def _swap(state: LiverpoolState, seat: Seat, move: Swap) -> _Events:
    index = swap_index(state.public.melds[move.meld - 1], move.card)
    if index is None:
        raise ValueError(f"a swap that does not fit was not refused: {move.card} in m{move.meld}")
    yield JokerSwapped(seat, move.meld, move.card, index)


def _discard(state: LiverpoolState, seat: Seat, move: Discard) -> _Events:
    public = state.public
    yield Discarded(seat, move.card)
    if public.facts.down_turns[seat] is not None and not state.privates[seat].hand:  # L28
        yield _ended(state, "out", seat)
    elif 0 < turn_limit(public.options, public.seats) <= public.turn_number:  # L29
        yield _ended(state, "turn_limit")
    else:
        yield TurnStarted((seat + 1) % public.seats)


# --- the end of the deal ---------------------------------------------------------------------------------------------


def _end_if_out(state: LiverpoolState, seat: Seat) -> _Events:
    if not state.privates[seat].hand:
        yield _ended(state, "out", seat)


def _ended(state: LiverpoolState, end: DealEnd, out: Seat | None = None) -> DealEnded:
    hands = tuple(tuple(private.hand) for private in state.privates)
    scores = tuple(scoring.hand_points(state.public.options, hand) for hand in hands)
    totals, over = scoring.settle(state.public, scores)
    return DealEnded(end, out, None, False, hands, scores, totals, over)


_FOLLOWERS: Final[dict[type[Move], Callable[[LiverpoolState, Seat, Any], _Events]]] = {
    TakeUpcard: _take,
    Draw: _draw,
    Down: _down,
    LayOff: _layoff,
    Swap: _swap,
    Discard: _discard,
}
