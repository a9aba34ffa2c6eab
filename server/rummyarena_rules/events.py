"""What happens in a game, as one vocabulary for both games; secrecy stands on the field.

A game is its list of events: states, views, the wire, records and replays derive from it. A field that not everybody
may see is declared with `private_to` or `referee_only`, and `redact` is the one function that enforces it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, Final, Literal, TypeAlias, get_args

from rummyarena_rules.cards import Card

Seat: TypeAlias = int
DealEnd: TypeAlias = Literal["knock", "exhausted", "out", "blocked", "turn_limit"]


class Referee(Enum):
    """The viewer who sees everything."""

    REFEREE = "referee"


REFEREE: Final = Referee.REFEREE
Viewer: TypeAlias = Seat | Referee | None
"""Who looks: a seat, `None` for a spectator, or the referee."""


def private_to(owner: str) -> Any:
    """Declares a field that only the seat named by the field `owner` may see; the others get `None`."""
    return field(default=None, metadata={"private_to": owner})


def referee_only() -> Any:
    """Declares a field that nobody may see before every game on the same seed is over; viewers get `None`."""
    return field(default=None, metadata={"private_to": REFEREE})


@dataclass(slots=True)
class DealStarted:
    """A deal begins; everything of the deal before it is cleared away."""

    deal: int
    dealer: Seat
    direction: int
    first: Seat
    shoe: tuple[Card, ...] | None = referee_only()


@dataclass(slots=True)
class CutAsked:
    """The cutter is asked for the position of the cut (L4, `cut_mode` = choose)."""

    seat: Seat


@dataclass(slots=True)
class ShoeCut:
    """The shoe was cut; an exact cut brings its bonus at once (L4, L5).

    `asked`: the position the cutter named, if it was asked. `position`: cards that went to the bottom.
    """

    seat: Seat
    exact: bool
    asked: int | None = private_to("seat")
    position: int | None = referee_only()


@dataclass(slots=True)
class HandDealt:
    """A seat received its hand, here in sorted order (T5, L6)."""

    seat: Seat
    count: int
    cards: tuple[Card, ...] | None = private_to("seat")


@dataclass(slots=True)
class CardTurnedUp:
    """The head (thai) or the first upcard (liverpool) was turned up; the rest became the stock."""

    card: Card
    stock_count: int


@dataclass(slots=True)
class CardsSetAside:
    """Cards left the bottom of the stock face down (T6)."""

    count: int


@dataclass(slots=True)
class TurnStarted:
    """A seat is on turn, in the phase `draw`; `last`: the last turn of the deal (T26)."""

    seat: Seat
    last: bool = False


@dataclass(slots=True)
class DrawDeclared:
    """The seat on turn will draw and can no longer take the upcard (L16)."""

    seat: Seat


@dataclass(slots=True)
class StockDrawn:
    """The seat on turn drew the top card of the stock."""

    seat: Seat
    card: Card | None = private_to("seat")


@dataclass(slots=True)
class DiscardsTaken:
    """A seat gathered the newest cards of the discards, here oldest first, into its hand (T16, L15)."""

    seat: Seat
    cards: tuple[Card, ...]


@dataclass(slots=True)
class WindowOpened:
    """These seats are asked whether they buy the upcard (L18)."""

    seats: tuple[Seat, ...]


@dataclass(slots=True)
class WindowClosed:
    """All answers are in; who answered what stays sealed."""

    buyer: Seat | None


@dataclass(slots=True)
class UpcardBought:
    """A seat bought the upcard and took penalty cards from the stock (L19)."""

    seat: Seat
    card: Card
    penalty_count: int
    penalty_cards: tuple[Card, ...] | None = private_to("seat")


@dataclass(slots=True)
class Passed:
    """The seat on turn passed and so ended the last turn (T27)."""

    seat: Seat


@dataclass(slots=True)
class MeldLaid:
    """A new meld left the hand of its owner.

    `cards`: a run low to high, a set in sorted order; jokers stand for the card of their place.
    `start`: position of the first card of a run (thai: 2 .. 12, liverpool: 1 .. 11); 0: a set.
    """

    seat: Seat
    meld: int
    cards: tuple[Card, ...]
    start: int


@dataclass(slots=True)
class LaidOff:
    """Cards left a hand for a meld: those of `low` below a run, nearest first; all others in `high`."""

    seat: Seat
    meld: int
    low: tuple[Card, ...]
    high: tuple[Card, ...]


@dataclass(slots=True)
class JokerSwapped:
    """A natural card took the place `index` of a joker in a meld; the joker went to the hand (L25)."""

    seat: Seat
    meld: int
    card: Card
    index: int


@dataclass(slots=True)
class Discarded:
    """A card was discarded; the turn is over."""

    seat: Seat
    card: Card


@dataclass(slots=True)
class PenaltyCharged:
    """A seat was charged by a house rule (T45 to T49) or as foolish (T38); `rule` is `foolish` or the option's name."""

    seat: Seat
    rule: str
    card: Card


@dataclass(slots=True)
class Knocked:
    """A seat ended the deal; its last card lies face down until the deal is scored (T24)."""

    seat: Seat
    dark: bool
    card: Card | None = private_to("seat")


@dataclass(slots=True)
class StockReshuffled:
    """The `count` oldest discards became the new stock, here top first (T26, L17).

    All but the newest; while a purchase is carried out all but the upcard being bought and the one below it.
    """

    count: int
    cards: tuple[Card, ...] | None = referee_only()


@dataclass(slots=True)
class DealEnded:
    """The deal is scored; all hands are shown.

    `seat`: who knocked or is out, if anybody. `knock_card`: the last card of a knocker, which is not part of its hand.
    `scores`: of this deal; `totals`: with this deal. `over`: no other deal follows.
    """

    end: DealEnd
    seat: Seat | None
    knock_card: Card | None
    dark: bool
    hands: tuple[tuple[Card, ...], ...]
    scores: tuple[int, ...]
    totals: tuple[int, ...]
    over: bool


Event: TypeAlias = (
    DealStarted
    | CutAsked
    | ShoeCut
    | HandDealt
    | CardTurnedUp
    | CardsSetAside
    | TurnStarted
    | DrawDeclared
    | StockDrawn
    | DiscardsTaken
    | WindowOpened
    | WindowClosed
    | UpcardBought
    | Passed
    | MeldLaid
    | LaidOff
    | JokerSwapped
    | Discarded
    | PenaltyCharged
    | Knocked
    | StockReshuffled
    | DealEnded
)


EVENT_KINDS: Final[tuple[type[Any], ...]] = get_args(Event)

_FIELDS: Final = {kind: tuple(one.name for one in fields(kind)) for kind in EVENT_KINDS}
_SECRETS: Final = {
    kind: tuple((one.name, one.metadata["private_to"]) for one in fields(kind) if "private_to" in one.metadata)
    for kind in EVENT_KINDS
}


def redact(event: Event, viewer: Viewer) -> Event:
    """Returns the event as `viewer` may see it; the event itself where nothing is hidden from that viewer."""
    kind: type[Any] = type(event)
    secrets = _SECRETS[kind]
    if not secrets or viewer is REFEREE:
        return event
    hidden = [name for name, owner in secrets if owner is REFEREE or viewer is None or getattr(event, owner) != viewer]
    if not hidden:
        return event
    redacted: Event = kind(**{name: None if name in hidden else getattr(event, name) for name in _FIELDS[kind]})
    return redacted


def secret_fields(kind: type[Any]) -> tuple[tuple[str, str | Referee], ...]:
    """Returns (field, owner) of each secret field of a kind of event; the owner is a field's name or `REFEREE`."""
    return _SECRETS[kind]
