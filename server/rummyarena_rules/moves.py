"""The moves of both games, named by the verbs of notation.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from rummyarena_rules.cards import Card

Side: TypeAlias = Literal["low", "high"]


@dataclass(frozen=True, slots=True)
class Draw:
    """Draws the top card of the stock (T15, L16)."""


@dataclass(frozen=True, slots=True)
class Pass:
    """Declines: the last turn of thai (T27), the offer of the upcard in liverpool (L18)."""


@dataclass(frozen=True, slots=True)
class Take:
    """Gathers `target` and every newer card of the row and lays `cards` as a new meld (T16)."""

    target: Card
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class TakeOnto:
    """Gathers `target` and every newer card of the row and lays `target` off on a meld (T17)."""

    target: Card
    meld: int


@dataclass(frozen=True, slots=True)
class TakeUpcard:
    """Takes the upcard (L15)."""


@dataclass(frozen=True, slots=True)
class Buy:
    """Asks for the upcard out of turn (L18)."""


@dataclass(frozen=True, slots=True)
class Meld:
    """Lays a new meld (T18); also a part of a knock."""

    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Down:
    """Lays the contract of the deal, one group a meld (L22); a run is written low to high."""

    groups: tuple[tuple[Card, ...], ...]


@dataclass(frozen=True, slots=True)
class LayOff:
    """Adds cards to a meld (T19, L24); also a part of a knock. `side` exists in liverpool only."""

    meld: int
    cards: tuple[Card, ...]
    side: Side | None = None


@dataclass(frozen=True, slots=True)
class Swap:
    """Puts a natural card in the place of a joker on the table (L25)."""

    meld: int
    card: Card


@dataclass(frozen=True, slots=True)
class Discard:
    """Discards a card and so ends the turn (T21, L27)."""

    card: Card


@dataclass(frozen=True, slots=True)
class Knock:
    """Lays the parts in the order written and keeps `card` face down (T22)."""

    card: Card
    parts: tuple[Meld | LayOff, ...] = ()


@dataclass(frozen=True, slots=True)
class Cut:
    """Asks for a cut after `position` cards (L4)."""

    position: int


Move: TypeAlias = Draw | Pass | Take | TakeOnto | TakeUpcard | Buy | Meld | Down | LayOff | Swap | Discard | Knock | Cut
