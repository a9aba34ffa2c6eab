"""What events do to Public, Private and State: the part that both games share.

A ruleset applies an event to its own facts first and then calls `evolve` or `observe`. Public and Private take redacted
events as well as full ones, so a view folded from what a seat receives equals the view projected from the state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from rummyarena_rules.cards import JOKER, Card
from rummyarena_rules.events import (
    CardsSetAside,
    CardTurnedUp,
    CutAsked,
    DealEnded,
    DealStarted,
    Discarded,
    DiscardsTaken,
    DrawDeclared,
    Event,
    HandDealt,
    JokerSwapped,
    Knocked,
    LaidOff,
    MeldLaid,
    Passed,
    PenaltyCharged,
    Seat,
    ShoeCut,
    StockDrawn,
    StockReshuffled,
    TurnStarted,
    UpcardBought,
    WindowClosed,
    WindowOpened,
)
from rummyarena_rules.table import (
    DealResult,
    DiscardedCard,
    Phase,
    Private,
    Public,
    State,
    TableMeld,
    View,
    add_cards,
    forget_cards,
    remove_cards,
)

_Public: TypeAlias = Public[Any, Any]
_State: TypeAlias = State[Any, Any]


def evolve(state: _State, event: Event) -> None:
    """Applies a full event to all of a state but the ruleset's facts."""
    kind = type(event)
    if kind in _HIDDEN:
        _HIDDEN[kind](state, event)
    if kind in _PRIVATE:
        _PRIVATE[kind](state.privates[_seat(event)], event)
    _PUBLIC[kind](state.public, event)


def observe(view: View[Any, Any], event: Event) -> None:
    """Applies an event, redacted for the view's viewer, to all of a view but the ruleset's facts."""
    kind = type(event)
    if view.private is not None:
        if kind is DealStarted:
            view.private = Private()
        elif kind in _PRIVATE and _seat(event) == view.seat:
            _PRIVATE[kind](view.private, event)
    _PUBLIC[kind](view.public, event)


def _seat(event: Any) -> Seat:
    """Returns whom an event of `_PRIVATE` is about; all kinds there have a seat."""
    return int(event.seat)


# --- public ----------------------------------------------------------------------------------------------------------


def _deal_started(public: _Public, event: DealStarted) -> None:
    public.deal, public.dealer, public.direction = event.deal, event.dealer, event.direction
    public.first = public.turn = event.first
    public.turn_number = 0
    public.phase = Phase.OVER
    public.stock_count = public.aside_count = 0
    public.discards, public.melds = [], []
    public.hand_counts = [0] * public.seats
    public.known = [[] for _ in range(public.seats)]
    public.result = None


def _cut_asked(public: _Public, event: CutAsked) -> None:
    public.turn = event.seat
    public.phase = Phase.CUT


def _hand_dealt(public: _Public, event: HandDealt) -> None:
    public.hand_counts[event.seat] = event.count


def _card_turned_up(public: _Public, event: CardTurnedUp) -> None:
    public.discards.append(DiscardedCard(event.card, None, 0))
    public.stock_count = event.stock_count


def _cards_set_aside(public: _Public, event: CardsSetAside) -> None:
    public.stock_count -= event.count
    public.aside_count = event.count


def _turn_started(public: _Public, event: TurnStarted) -> None:
    public.turn = event.seat
    public.turn_number += 1
    public.phase = Phase.DRAW


def _stock_drawn(public: _Public, event: StockDrawn) -> None:
    public.stock_count -= 1
    public.hand_counts[event.seat] += 1
    public.phase = Phase.PLAY


def _discards_taken(public: _Public, event: DiscardsTaken) -> None:
    del public.discards[len(public.discards) - len(event.cards) :]
    public.hand_counts[event.seat] += len(event.cards)
    add_cards(public.known[event.seat], event.cards)
    public.phase = Phase.PLAY


def _window_opened(public: _Public, _: WindowOpened) -> None:
    public.phase = Phase.BUY


def _window_closed(public: _Public, _: WindowClosed) -> None:
    public.phase = Phase.PLAY  # a draw that is still due follows at once


def _upcard_bought(public: _Public, event: UpcardBought) -> None:
    del public.discards[-1]
    public.stock_count -= event.penalty_count
    public.hand_counts[event.seat] += 1 + event.penalty_count
    add_cards(public.known[event.seat], (event.card,))


def _cards_shown(public: _Public, seat: int, some: Sequence[Card]) -> None:
    public.hand_counts[seat] -= len(some)
    if public.known[seat]:
        forget_cards(public.known[seat], some)


def _meld_laid(public: _Public, event: MeldLaid) -> None:
    public.melds.append(TableMeld(event.seat, event.cards, (event.seat,) * len(event.cards), event.start))
    _cards_shown(public, event.seat, event.cards)


def _laid_off(public: _Public, event: LaidOff) -> None:
    low, high, seat = event.low, event.high, event.seat
    public.melds[event.meld - 1] = extended(public.melds[event.meld - 1], seat, low, high)
    _cards_shown(public, seat, low + high)


def extended(meld: TableMeld, seat: int, low: tuple[Card, ...], high: tuple[Card, ...]) -> TableMeld:
    """Returns a meld with cards laid off on it, as `events.LaidOff` names them."""
    some = low[::-1] + meld.cards + high
    placers = (seat,) * len(low) + meld.placers + (seat,) * len(high)
    if meld.start:
        return TableMeld(meld.owner, some, placers, meld.start - len(low))
    return _sorted_set(meld.owner, some, placers)


def _sorted_set(owner: Seat, some: Sequence[Card], placers: Sequence[Seat]) -> TableMeld:
    order = sorted(range(len(some)), key=some.__getitem__)
    return TableMeld(owner, tuple(some[at] for at in order), tuple(placers[at] for at in order), 0)


def _joker_swapped(public: _Public, event: JokerSwapped) -> None:
    public.melds[event.meld - 1] = swapped(public.melds[event.meld - 1], event.seat, event.card, event.index)
    _cards_shown(public, event.seat, (event.card,))
    public.hand_counts[event.seat] += 1
    add_cards(public.known[event.seat], (JOKER,))


def swapped(meld: TableMeld, seat: Seat, card: Card, index: int) -> TableMeld:
    """Returns a meld with a natural card in the place of a joker, as `events.JokerSwapped` names them."""
    some = (*meld.cards[:index], card, *meld.cards[index + 1 :])
    placers = (*meld.placers[:index], seat, *meld.placers[index + 1 :])
    if meld.start:
        return TableMeld(meld.owner, some, placers, meld.start)
    return _sorted_set(meld.owner, some, placers)


def _discarded(public: _Public, event: Discarded) -> None:
    public.discards.append(DiscardedCard(event.card, event.seat, public.turn_number))
    _cards_shown(public, event.seat, (event.card,))


def _stock_reshuffled(public: _Public, event: StockReshuffled) -> None:
    del public.discards[: event.count]
    public.stock_count += event.count


def _deal_ended(public: _Public, event: DealEnded) -> None:
    public.phase = Phase.OVER
    public.result = DealResult(event.end, event.seat, event.knock_card, event.dark, event.hands, event.scores)
    public.totals = list(event.totals)
    public.over = event.over


def _nothing_shared(_public: _Public, _event: Event) -> None:
    """The event concerns only a ruleset's own facts or what is hidden."""


_PUBLIC: Final[dict[type[Event], Callable[[Any, Any], None]]] = {
    DealStarted: _deal_started,
    CutAsked: _cut_asked,
    HandDealt: _hand_dealt,
    CardTurnedUp: _card_turned_up,
    CardsSetAside: _cards_set_aside,
    TurnStarted: _turn_started,
    StockDrawn: _stock_drawn,
    DiscardsTaken: _discards_taken,
    WindowOpened: _window_opened,
    WindowClosed: _window_closed,
    UpcardBought: _upcard_bought,
    MeldLaid: _meld_laid,
    LaidOff: _laid_off,
    JokerSwapped: _joker_swapped,
    Discarded: _discarded,
    StockReshuffled: _stock_reshuffled,
    DealEnded: _deal_ended,
    DrawDeclared: _nothing_shared,
    Passed: _nothing_shared,
    PenaltyCharged: _nothing_shared,
    Knocked: _nothing_shared,
    ShoeCut: _nothing_shared,
}


# --- private ---------------------------------------------------------------------------------------------------------


def _remember_cut(private: Private, event: ShoeCut) -> None:
    private.cut = event.asked


def _receive_hand(private: Private, event: HandDealt) -> None:
    private.hand = sorted(event.cards or ())
    private.drawn = None


def _receive_stock_card(private: Private, event: StockDrawn) -> None:
    if event.card is not None:
        private.drawn = event.card
        add_cards(private.hand, (event.card,))


def _receive_discards(private: Private, event: DiscardsTaken) -> None:
    add_cards(private.hand, event.cards)


def _receive_purchase(private: Private, event: UpcardBought) -> None:
    add_cards(private.hand, (event.card, *(event.penalty_cards or ())))


def _lay_meld(private: Private, event: MeldLaid) -> None:
    remove_cards(private.hand, event.cards)


def _lay_off(private: Private, event: LaidOff) -> None:
    remove_cards(private.hand, event.low)
    remove_cards(private.hand, event.high)


def _swap(private: Private, event: JokerSwapped) -> None:
    private.hand.remove(event.card)
    add_cards(private.hand, (JOKER,))


def _put_down(private: Private, event: Discarded) -> None:
    private.hand.remove(event.card)
    private.drawn = None


_PRIVATE: Final[dict[type[Event], Callable[[Any, Any], None]]] = {
    ShoeCut: _remember_cut,
    HandDealt: _receive_hand,
    StockDrawn: _receive_stock_card,
    DiscardsTaken: _receive_discards,
    UpcardBought: _receive_purchase,
    MeldLaid: _lay_meld,
    LaidOff: _lay_off,
    JokerSwapped: _swap,
    Discarded: _put_down,
}


# --- hidden ----------------------------------------------------------------------------------------------------------


def _fill_stock(state: _State, event: DealStarted) -> None:
    state.privates = [Private() for _ in state.privates]
    state.stock = list(reversed(event.shoe or ()))
    state.aside = ()


def _cut_stock(state: _State, event: ShoeCut) -> None:
    kept = len(state.stock) - (event.position or 0)
    state.stock = state.stock[kept:] + state.stock[:kept]


def _deal_from_stock(state: _State, event: HandDealt) -> None:
    _remove_from_top(state.stock, event.cards or ())


def _turn_up(state: _State, event: CardTurnedUp) -> None:
    _remove_from_top(state.stock, (event.card,))


def _set_aside(state: _State, event: CardsSetAside) -> None:
    state.aside = tuple(reversed(state.stock[: event.count]))
    del state.stock[: event.count]


def _draw(state: _State, _: StockDrawn) -> None:
    state.stock.pop()


def _pay_penalty(state: _State, event: UpcardBought) -> None:
    del state.stock[len(state.stock) - event.penalty_count :]


def _restock(state: _State, event: StockReshuffled) -> None:
    state.stock = [*reversed(event.cards or ()), *state.stock]


def _remove_from_top(stock: list[Card], some: Sequence[Card]) -> None:
    # Copies of a face are equal (I5), so the copy nearest the top may stand for the one that was dealt.
    for one in some:
        del stock[len(stock) - 1 - stock[::-1].index(one)]


_HIDDEN: Final[dict[type[Event], Callable[[Any, Any], None]]] = {
    DealStarted: _fill_stock,
    ShoeCut: _cut_stock,
    HandDealt: _deal_from_stock,
    CardTurnedUp: _turn_up,
    CardsSetAside: _set_aside,
    StockDrawn: _draw,
    UpcardBought: _pay_penalty,
    StockReshuffled: _restock,
}
