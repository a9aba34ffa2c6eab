"""Building blocks: cards as wire numbers, and fields of messages as bytes that are joined instead of rebuilt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from rummyarena.v1 import card_pb2
from rummyarena_rules.cards import CARDS, Card

CARD_NUMBERS: Final = tuple(card_pb2.Card.values()[1:])
"""The wire's number of a card, at the card's place in `CARDS`."""

CARD_OF_NUMBER: Final = dict(zip(CARD_NUMBERS, CARDS, strict=True))


def card_numbers(some: Iterable[Card]) -> list[card_pb2.Card.ValueType]:
    """Returns cards as the wire's numbers."""
    return [CARD_NUMBERS[one] for one in some]


def known_card(number: card_pb2.Card.ValueType) -> Card:
    """Returns the card of a number that the server itself wrote; `ValueError` if there is none."""
    try:
        return CARD_OF_NUMBER[number]
    except KeyError:
        raise ValueError(f"{number} is not the number of a card; the sender is newer than this program") from None


def known_cards(numbers: Iterable[card_pb2.Card.ValueType]) -> tuple[Card, ...]:
    """Returns the cards of numbers that the server itself wrote."""
    return tuple(map(known_card, numbers))


@lru_cache(1 << 10)
def card_list(some: tuple[Card, ...]) -> card_pb2.CardList:
    """Returns a shared message with these cards; it is copied where it is set, so nobody may change it."""
    return card_pb2.CardList(cards=card_numbers(some))


def cards_of_lists(lists: Iterable[card_pb2.CardList]) -> tuple[tuple[Card, ...], ...]:
    """Returns the cards of each list."""
    return tuple(known_cards(one.cards) for one in lists)


def tagged(number: int, message: bytes) -> bytes:
    """Returns a serialised message as the field `number` (1 .. 2047) of the message around it."""
    return _tag(number) + varint(len(message)) + message


def repeated(number: int, messages: Iterable[bytes]) -> bytes:
    """Returns serialised messages as one repeated field."""
    return b"".join([tagged(number, one) for one in messages])


def packed(number: int, values: Sequence[int]) -> bytes:
    """Returns numbers from 0 to 127 as one packed field; a card's number is one of them."""
    return tagged(number, bytes(values)) if values else b""


@lru_cache(None)
def _tag(number: int) -> bytes:
    return varint(number << 3 | 2)  # 2: a length and bytes follow


def varint(value: int) -> bytes:
    """Returns a number from 0 on in the wire's variable length."""
    if value < 0x80:
        return _SMALL[value]
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


_SMALL: Final = tuple(bytes((value,)) for value in range(0x80))
