"""Public facts of `liverpool` beyond what both games share, and what events do to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from rummyarena_rules.cards import JOKER
from rummyarena_rules.events import (
    CutAsked,
    DealStarted,
    Event,
    JokerSwapped,
    LaidOff,
    MeldLaid,
    Seat,
    ShoeCut,
    StockReshuffled,
    TurnStarted,
    UpcardBought,
    WindowClosed,
    WindowOpened,
)
from rummyarena_rules.liverpool.melds import takes_joker
from rummyarena_rules.liverpool.options import LiverpoolOptions, shoe_size
from rummyarena_rules.table import Public, State, TableMeld, View


@dataclass(slots=True)
class LiverpoolFacts:
    """Public facts of a deal of `liverpool`.

    `down_turns[s]`: the turn in which seat s went down, 0 in a position for an earlier one, `None` while it is not
    down. `buys[s]`: its purchases in this deal. `asked`: the seats that the open window asks, nearest after the seat on
    turn first; empty while none is open. `jokers_owed`: how many jokers the seat on turn has to lay off before it may
    discard (L26). `reshuffles`: how often the pile became the stock in this deal.
    """

    down_turns: list[int | None]
    buys: list[int]
    asked: tuple[Seat, ...] = ()
    jokers_owed: int = 0
    reshuffles: int = 0

    @classmethod
    def at_start(cls, seats: int) -> LiverpoolFacts:
        """Returns the facts at the beginning of a deal."""
        return cls([None] * seats, [0] * seats)

    def copy(self) -> LiverpoolFacts:
        """Returns a copy that shares nothing that changes."""
        return LiverpoolFacts(self.down_turns.copy(), self.buys.copy(), self.asked, self.jokers_owed, self.reshuffles)


LiverpoolPublic: TypeAlias = Public[LiverpoolOptions, LiverpoolFacts]
LiverpoolView: TypeAlias = View[LiverpoolOptions, LiverpoolFacts]
LiverpoolState: TypeAlias = State[LiverpoolOptions, LiverpoolFacts]


def owed_with(options: LiverpoolOptions, melds: list[TableMeld], owed: int) -> int:
    """Returns how many jokers are owed on a table, for the duty lapses where no meld can take one (L26)."""
    return owed if owed > 0 and any(takes_joker(meld, options.run_max) for meld in melds) else 0


def note(public: LiverpoolPublic, event: Event) -> None:
    """Applies an event to the facts and what a cut means to the rest; to be called after `fold` has applied it."""
    handler = _NOTES.get(type(event))
    if handler:
        handler(public, event)


def _deal_started(public: LiverpoolPublic, _: DealStarted) -> None:
    public.facts = LiverpoolFacts.at_start(public.seats)


def _cut_asked(public: LiverpoolPublic, _: CutAsked) -> None:
    public.stock_count = shoe_size(public.options, public.seats)  # nothing is dealt yet


def _shoe_cut(public: LiverpoolPublic, event: ShoeCut) -> None:
    if event.exact:  # L5: at once, before the first turn
        public.totals[event.seat] -= public.options.cut_bonus


def _turn_started(public: LiverpoolPublic, _: TurnStarted) -> None:
    public.facts.jokers_owed = 0


def _window_opened(public: LiverpoolPublic, event: WindowOpened) -> None:
    public.facts.asked = event.seats


def _window_closed(public: LiverpoolPublic, _: WindowClosed) -> None:
    public.facts.asked = ()


def _upcard_bought(public: LiverpoolPublic, event: UpcardBought) -> None:
    public.facts.buys[event.seat] += 1


def _meld_laid(public: LiverpoolPublic, event: MeldLaid) -> None:
    public.facts.down_turns[event.seat] = public.turn_number


def _laid_off(public: LiverpoolPublic, event: LaidOff) -> None:
    if public.facts.jokers_owed:
        replayed = (event.low + event.high).count(JOKER)
        public.facts.jokers_owed = owed_with(public.options, public.melds, public.facts.jokers_owed - replayed)


def _joker_swapped(public: LiverpoolPublic, _: JokerSwapped) -> None:
    if public.options.joker_after_swap == "must_replay":
        public.facts.jokers_owed = owed_with(public.options, public.melds, public.facts.jokers_owed + 1)


def _stock_reshuffled(public: LiverpoolPublic, _: StockReshuffled) -> None:
    public.facts.reshuffles += 1


_NOTES: Final[dict[type[Event], Callable[[LiverpoolPublic, Any], None]]] = {
    DealStarted: _deal_started,
    CutAsked: _cut_asked,
    ShoeCut: _shoe_cut,
    TurnStarted: _turn_started,
    WindowOpened: _window_opened,
    WindowClosed: _window_closed,
    UpcardBought: _upcard_bought,
    MeldLaid: _meld_laid,
    LaidOff: _laid_off,
    JokerSwapped: _joker_swapped,
    StockReshuffled: _stock_reshuffled,
}
