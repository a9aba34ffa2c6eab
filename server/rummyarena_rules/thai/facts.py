"""Public facts of `thai` beyond what both games share, and what events do to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from rummyarena_rules.cards import Card
from rummyarena_rules.events import (
    CardTurnedUp,
    DealStarted,
    DiscardsTaken,
    Event,
    PenaltyCharged,
    StockReshuffled,
    TurnStarted,
)
from rummyarena_rules.table import DiscardedCard, Public, State, View
from rummyarena_rules.thai.options import ThaiOptions

FOOLISH: Final = "foolish"


@dataclass(frozen=True, slots=True)
class Penalty:
    """A charge against a seat (T45 to T49, or `foolish`), with the turn of the deal in which it was made."""

    seat: int
    rule: str
    card: Card
    turn: int


@dataclass(slots=True)
class ThaiFacts:
    """Public facts of a deal of `thai`.

    `birth_turns[s]`: the turn in which seat s was born, 0 in a position for an earlier one, `None` while unborn.
    `head`: the card turned up first, while it is not an ordinary card (T26). `gathered`: what the seat on turn took
    from the row in this turn. `last_turn`: T27. `reshuffles`: how often the row became the stock in this deal.
    """

    birth_turns: list[int | None]
    head: Card | None = None
    gathered: tuple[DiscardedCard, ...] = ()
    last_turn: bool = False
    reshuffles: int = 0
    penalties: list[Penalty] = field(default_factory=list)

    def copy(self) -> ThaiFacts:
        """Returns a copy that shares nothing that changes."""
        return ThaiFacts(
            self.birth_turns.copy(), self.head, self.gathered, self.last_turn, self.reshuffles, self.penalties.copy()
        )


ThaiPublic: TypeAlias = Public[ThaiOptions, ThaiFacts]
ThaiView: TypeAlias = View[ThaiOptions, ThaiFacts]
ThaiState: TypeAlias = State[ThaiOptions, ThaiFacts]


def note(public: ThaiPublic, event: Event) -> None:
    """Applies an event to the facts; to be called before the event changes the rest of `public`."""
    handler = _NOTES.get(type(event))
    if handler:
        handler(public, event)


def _deal_started(public: ThaiPublic, _: DealStarted) -> None:
    public.facts = ThaiFacts([None] * public.seats)


def _card_turned_up(public: ThaiPublic, event: CardTurnedUp) -> None:
    public.facts.head = event.card


def _turn_started(public: ThaiPublic, event: TurnStarted) -> None:
    public.facts.gathered = ()
    public.facts.last_turn = event.last


def _discards_taken(public: ThaiPublic, event: DiscardsTaken) -> None:
    facts = public.facts
    facts.gathered = tuple(public.discards[len(public.discards) - len(event.cards) :])
    if facts.birth_turns[event.seat] is None:  # T16: born by the take
        facts.birth_turns[event.seat] = public.turn_number


def _penalty_charged(public: ThaiPublic, event: PenaltyCharged) -> None:
    public.facts.penalties.append(Penalty(event.seat, event.rule, event.card, public.turn_number))


def _stock_reshuffled(public: ThaiPublic, _: StockReshuffled) -> None:
    public.facts.reshuffles += 1
    if any(one.card is public.facts.head for one in public.discards[:-1]):
        public.facts.head = None  # T26: the head, if among them, is an ordinary card from then on


_NOTES: Final[dict[type[Event], Callable[[ThaiPublic, Any], None]]] = {
    DealStarted: _deal_started,
    CardTurnedUp: _card_turned_up,
    TurnStarted: _turn_started,
    DiscardsTaken: _discards_taken,
    PenaltyCharged: _penalty_charged,
    StockReshuffled: _stock_reshuffled,
}
