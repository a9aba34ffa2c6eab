"""Reading JSON values: a reader takes a place and the value there, and returns it checked or says what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from rummyarena_rules.cards import JOKER, Card, cards


class ReadingError(ValueError):
    """A value that cannot be what it should be; the text names its place and what is expected there."""


Reader: TypeAlias = Callable[[str, object], Any]


def fail(place: str, value: object, expected: str) -> ReadingError:
    """Returns the error for a value that stands where something else is expected."""
    return ReadingError(f"{place}: {value!r} where {expected} is expected")


def an_object(place: str, value: object) -> Mapping[str, Any]:
    """Reads an object."""
    if not isinstance(value, Mapping):
        raise fail(place, value, "an object")
    return value


def a_text(place: str, value: object) -> str:
    """Reads a text."""
    if not isinstance(value, str):
        raise fail(place, value, "a text")
    return value


def whole(least: int | None = None, most: int | None = None) -> Reader:
    """Makes a reader of whole numbers in a range."""

    def read(place: str, value: object) -> int:
        if type(value) is not int or (least is not None and value < least) or (most is not None and value > most):
            bounds = "" if least is None else f" from {least}" + (f" to {most}" if most is not None else "")
            raise fail(place, value, f"a whole number{bounds}")
        return value

    return read


def one_of(*values: object) -> Reader:
    """Makes a reader of a few fixed values."""

    def read(place: str, value: object) -> object:
        if not any(value == one and type(value) is type(one) for one in values):
            raise fail(place, value, " or ".join("null" if one is None else repr(one) for one in values))
        return value

    return read


def optional(reader: Reader) -> Reader:
    """Makes a reader that also takes null."""

    def read(place: str, value: object) -> Any:
        return None if value is None else reader(place, value)

    return read


def list_of(item: Reader, length: int | None = None) -> Reader:
    """Makes a reader of lists, of one length if it is given."""

    def read(place: str, value: object) -> tuple[Any, ...]:
        if not isinstance(value, list) or (length is not None and len(value) != length):
            raise fail(place, value, "a list" if length is None else f"a list of {length}")
        return tuple(item(f"{place}[{at}]", one) for at, one in enumerate(value))

    return read


def by_seat(seats: int, item: Reader) -> Reader:
    """Makes a reader of objects whose keys are seats."""

    def read(place: str, value: object) -> dict[int, Any]:
        return {
            seat_of(f"{place}.{text}", seats, text): item(f"{place}.{text}", one)
            for text, one in an_object(place, value).items()
        }

    return read


def record_of(fields: Mapping[str, Reader], *, required: frozenset[str] = frozenset()) -> Reader:
    """Makes a reader of objects with known fields, of which some must be there."""

    def read(place: str, value: object) -> dict[str, Any]:
        given = an_object(place, value)
        for name in given:
            if name not in fields:
                raise ReadingError(f"{place}.{name}: no such field; there are {', '.join(sorted(fields))}")
        missing = sorted(required - given.keys())
        if missing:
            raise ReadingError(f"{place}: the field {missing[0]} is missing")
        return {name: fields[name](f"{place}.{name}", one) for name, one in given.items()}

    return read


def seat_of(place: str, seats: int, text: str) -> int:
    """Reads a seat that stands as the key of an object."""
    if not re.fullmatch("[0-9]", text) or int(text) >= seats:
        raise fail(place, text, f"a seat from 0 to {seats - 1}")
    return int(text)


def card_list(game: str) -> Reader:
    """Makes a reader of cards separated by blanks; jokers exist in liverpool only."""

    def read(place: str, value: object) -> tuple[Card, ...]:
        try:
            found = cards(a_text(place, value))
        except ReadingError:
            raise
        except ValueError as error:
            raise ReadingError(f"{place}: {error}") from None
        if game == "thai" and JOKER in found:
            raise ReadingError(f"{place}: there are no jokers in thai")
        return found

    return read


def one_card(game: str) -> Reader:
    """Makes a reader of one card."""

    def read(place: str, value: object) -> Card:
        found: tuple[Card, ...] = card_list(game)(place, value)
        if len(found) != 1:
            raise fail(place, value, "a card")
        return found[0]

    return read


def marked_cards(game: str, seats: int) -> Reader:
    """Makes a reader of cards, each with or without the mark `@seat`: gives (card, seat or `None`)."""

    def read(place: str, value: object) -> tuple[tuple[Card, int | None], ...]:
        found = []
        for word in a_text(place, value).split():
            text, mark, seat = word.partition("@")
            found.append((one_card(game)(place, text), seat_of(place, seats, seat) if mark else None))
        return tuple(found)

    return read
