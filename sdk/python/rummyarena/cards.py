"""Cards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from rummyarena.v1 import card_pb2

_RANKS: Final = "23456789TJQKA"
_SUITS: Final = "CDHS"


class Card(int):
    """A face of a card: an int from 0 (2C) to 51 (AS) and 52 (the joker), in the sorted order of hands.

    Copies of a face are equal. Take cards from a view, from `CARDS`, or from `card("7H")`.
    """

    __slots__ = ()

    @property
    def text(self) -> str:
        """The card as text, such as `7H`, `TC` or `JK`; the same as `str(card)`."""
        return _TEXTS[self]

    @property
    def rank(self) -> int:
        """The rank: 2 to 10, 11 jack, 12 queen, 13 king, 14 ace; 0 for the joker."""
        return 0 if self == 52 else self % 13 + 2

    @property
    def suit(self) -> str:
        """The suit: `C`, `D`, `H` or `S`; empty for the joker."""
        return "" if self == 52 else _SUITS[self // 13]

    def __str__(self) -> str:
        return _TEXTS[self]

    def __repr__(self) -> str:
        return f"Card({_TEXTS[self]})"


_TEXTS: Final = (*(rank + suit for suit in _SUITS for rank in _RANKS), "JK")
CARDS: Final = tuple(Card(number) for number in range(53))
JOKER: Final = CARDS[52]
_BY_TEXT: Final = dict(zip(_TEXTS, CARDS, strict=True))

CardLike: TypeAlias = Card | str
"""A card, or its text."""

CardsLike: TypeAlias = Iterable[Card] | str
"""Cards, or their text with blanks in between."""


def card(one: CardLike) -> Card:
    """Returns the card written as `one`, such as `7H` or `JK`; `ValueError` for any other text."""
    if isinstance(one, Card):
        return one
    try:
        return _BY_TEXT[one]
    except KeyError:
        raise ValueError(
            f"{one!r} is not a card: write a rank {_RANKS} and a suit {_SUITS}, such as TH, or JK for a joker"
        ) from None


def cards(some: CardsLike) -> tuple[Card, ...]:
    """Returns the cards written as `some`, such as `7C 7D 7H`."""
    return tuple(map(card, some.split() if isinstance(some, str) else some))


def text_of(some: Iterable[Card]) -> str:
    """Writes cards in the order given, with blanks in between."""
    return " ".join([_TEXTS[one] for one in some])


_NUMBERS: Final = tuple(card_pb2.Card.values()[1:])


def to_wire(some: Iterable[Card]) -> list[card_pb2.Card.ValueType]:
    """Returns cards as the numbers of the contract."""
    return [_NUMBERS[one] for one in some]


def from_wire(numbers: Sequence[int]) -> tuple[Card, ...]:
    """Returns the cards of numbers of the contract; a number that this SDK does not know is left out."""
    return tuple([CARDS[number - 1] for number in numbers if 1 <= number <= 53])
