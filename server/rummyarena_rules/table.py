"""What lies on a table and who knows it: Public, Private, State and View.

`State = Public + one Private a seat + stock + cards set aside + seed` and `View = Public + seat + that seat's Private`.
A view cannot leak: there is nothing else in it. `O` are a ruleset's options, `F` its own public facts.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, Protocol, Self, TypeVar

from rummyarena_rules.cards import Card
from rummyarena_rules.events import DealEnd, Seat


class Phase(StrEnum):
    """What is asked for now (notation.md 4); `OVER`: no deal is on."""

    CUT = "cut"
    DRAW = "draw"
    BUY = "buy"
    PLAY = "play"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class DiscardedCard:
    """A card among the discards (T7).

    `seat`: who discarded it, `None` for the card turned up at the deal or left by a reshuffle without a discarder.
    `turn`: the number of the turn in which it was discarded, 0 for the card turned up.
    """

    card: Card
    seat: Seat | None
    turn: int


@dataclass(frozen=True, slots=True)
class TableMeld:
    """A meld on the table.

    `cards`: a run low to high, a set in sorted order. `placers`: who put each card there, in the same order.
    `start`: position of the first card of a run (thai: 2 .. 12 for 2 .. Q, liverpool: 1 .. 11); 0: a set.
    """

    owner: Seat
    cards: tuple[Card, ...]
    placers: tuple[Seat, ...]
    start: int

    @property
    def is_run(self) -> bool:
        """Whether the meld is a run."""
        return self.start > 0


@dataclass(frozen=True, slots=True)
class DealResult:
    """How the last deal ended; the fields are those of `events.DealEnded`."""

    end: DealEnd
    seat: Seat | None
    knock_card: Card | None
    dark: bool
    hands: tuple[tuple[Card, ...], ...]
    scores: tuple[int, ...]


class Facts(Protocol):
    """A ruleset's own public facts."""

    def copy(self) -> Self:
        """Returns a copy that shares nothing that changes."""
        ...


O = TypeVar("O")  # noqa: E741 - options; as usual for a type variable, one letter
F = TypeVar("F", bound=Facts)


@dataclass(slots=True)
class Public(Generic[O, F]):
    """What everybody may see, seats and spectators alike.

    `turn` is the seat on turn, `turn_number` counts the turns of the deal from 1. `discards`: oldest first, so the
    newest card, in liverpool the upcard, stands last. Meld m1 is `melds[0]`. `known[s]`: the cards publicly known to be
    in the hand of seat s, sorted (I2). `result` is there between deals only; `over`: the game is over.
    """

    options: O
    seats: int
    facts: F
    deal: int = 0
    dealer: Seat = 0
    direction: int = 1
    first: Seat = 0
    turn: Seat = 0
    turn_number: int = 0
    phase: Phase = Phase.OVER
    stock_count: int = 0
    aside_count: int = 0
    discards: list[DiscardedCard] = field(default_factory=list)
    melds: list[TableMeld] = field(default_factory=list)
    hand_counts: list[int] = field(default_factory=list)
    known: list[list[Card]] = field(default_factory=list)
    totals: list[int] = field(default_factory=list)
    result: DealResult | None = None
    over: bool = False

    @classmethod
    def at_start(cls, options: O, seats: int, facts: F) -> Self:
        """Returns the table before the first deal."""
        return cls(options, seats, facts, hand_counts=[0] * seats, known=[[] for _ in range(seats)], totals=[0] * seats)

    def copy(self) -> Self:
        """Returns a copy that shares nothing that changes."""
        return type(self)(
            self.options,
            self.seats,
            self.facts.copy(),
            self.deal,
            self.dealer,
            self.direction,
            self.first,
            self.turn,
            self.turn_number,
            self.phase,
            self.stock_count,
            self.aside_count,
            self.discards.copy(),
            self.melds.copy(),
            self.hand_counts.copy(),
            [some.copy() for some in self.known],
            self.totals.copy(),
            self.result,
            self.over,
        )


@dataclass(slots=True)
class Private:
    """What one seat alone may see.

    `hand`: sorted. `drawn`: the card drawn from the stock or taken as upcard in this turn. `cut`: the position of the
    cut that this seat asked for in this deal.
    """

    hand: list[Card] = field(default_factory=list)
    drawn: Card | None = None
    cut: int | None = None

    def copy(self) -> Private:
        """Returns a copy that shares nothing that changes."""
        return Private(self.hand.copy(), self.drawn, self.cut)


@dataclass(slots=True)
class View(Generic[O, F]):
    """What `seat` may see, or a spectator (`seat` and `private` are `None`).

    A window on the live `Public`, valid until the next event; `copy` keeps it. `answered`: the seat has answered the
    open window of liverpool; only the seat itself knows (I3).
    """

    public: Public[O, F]
    seat: Seat | None
    private: Private | None
    answered: bool = False

    def copy(self) -> Self:
        """Returns a view that later events do not change."""
        private = self.private.copy() if self.private is not None else None
        return type(self)(self.public.copy(), self.seat, private, self.answered)


@dataclass(slots=True)
class State(Generic[O, F]):
    """The whole truth about a game: for the referee alone.

    `privates`: one a seat. `stock`: its top card last. `aside`: cards out of the deal. `seed`: 32 bytes.
    """

    public: Public[O, F]
    privates: list[Private]
    stock: list[Card]
    aside: tuple[Card, ...]
    seed: bytes

    def copy(self) -> Self:
        """Returns a copy that shares nothing that changes, for looking ahead."""
        return type(self)(
            self.public.copy(),
            [private.copy() for private in self.privates],
            self.stock.copy(),
            self.aside,
            self.seed,
        )


def add_cards(hand: list[Card], some: Iterable[Card]) -> None:
    """Puts cards into a sorted hand."""
    for one in some:
        insort(hand, one)


def remove_cards(hand: list[Card], some: Iterable[Card]) -> None:
    """Takes cards out of a hand; raises `ValueError` if one is missing, for then the events do not fit the state."""
    for one in some:
        hand.remove(one)


def forget_cards(known: list[Card], some: Iterable[Card]) -> None:
    """Takes cards out of the known cards of a hand where they are known: a lower bound that never goes below 0."""
    for one in some:
        if one in known:
            known.remove(one)


def ranks_of(totals: Sequence[int], *, high_wins: bool) -> tuple[int, ...]:
    """Ranks seats by total; equal totals share the better rank and the following ranks are skipped (T42, L32)."""
    ordered = sorted(totals, reverse=high_wins)
    return tuple(ordered.index(total) + 1 for total in totals)
