"""Cards: 52 faces and the joker, interned, ordered and usable as bit numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

RANKS: Final = "23456789TJQKA"
SUITS: Final = "CDHS"
FACES: Final = 53


class Card(int):
    """A face: its number in the sorted order of notation.md, from 0 (2C) to 51 (AS) and 52 (the joker).

    Cards carry no identity beyond rank and suit (I5): all copies of a face are the one object in `CARDS`, so a card
    may be compared, sorted, hashed and used as a bit number at the speed of an int.
    """

    __slots__ = ()

    @property
    def suit(self) -> int:
        """The suit: 0 clubs, 1 diamonds, 2 hearts, 3 spades; 4 for the joker."""
        return self // 13

    @property
    def rank(self) -> int:
        """The rank: 0 (two) to 12 (ace); 0 for the joker."""
        return self % 13

    @property
    def bit(self) -> int:
        """The set of this card alone, as an int with one bit set."""
        return 1 << self

    def __str__(self) -> str:
        return _TEXTS[self]

    def __repr__(self) -> str:
        return f"Card({_TEXTS[self]})"

    def __copy__(self) -> Card:
        return self

    def __deepcopy__(self, memo: object) -> Card:
        return self

    def __reduce__(self) -> tuple[object, tuple[int]]:
        return _interned, (int(self),)


def _interned(number: int) -> Card:
    return CARDS[number]


_TEXTS: Final = (*(rank + suit for suit in SUITS for rank in RANKS), "JK")
CARDS: Final = tuple(Card(number) for number in range(FACES))
JOKER: Final = CARDS[52]
STANDARD_DECK: Final = CARDS[:52]
_BY_TEXT: Final = dict(zip(_TEXTS, CARDS, strict=True))


def card(text: str) -> Card:
    """Returns the card written as `text`, such as `7H` or `JK`; raises `ValueError` for any other text."""
    try:
        return _BY_TEXT[text]
    except KeyError:
        raise ValueError(
            f"{text!r} is not a card: write a rank {RANKS} and a suit {SUITS}, such as TH, or JK for a joker"
        ) from None


def cards(text: str) -> tuple[Card, ...]:
    """Returns the cards of a list separated by blanks; an empty text is the empty list."""
    return tuple(map(card, text.split()))


def face(rank: int, suit: int) -> Card:
    """Returns the card of a rank (0 .. 12) and a suit (0 .. 3)."""
    return CARDS[13 * suit + rank]


def text_of(some: Iterable[Card]) -> str:
    """Writes cards in the order given, separated by single blanks."""
    return " ".join([_TEXTS[one] for one in some])


def mask_of(some: Iterable[Card]) -> int:
    """Returns the set of faces among `some` as an int: bit i is set if `CARDS[i]` occurs."""
    mask = 0
    for one in some:
        mask |= 1 << one
    return mask


def cards_in(mask: int) -> tuple[Card, ...]:
    """Returns the cards of a set of faces in sorted order; the inverse of `mask_of`."""
    return tuple(_bits(mask))


def _bits(mask: int) -> Iterator[Card]:
    while mask:
        lowest = mask & -mask
        yield CARDS[lowest.bit_length() - 1]
        mask ^= lowest
