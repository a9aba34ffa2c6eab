"""Reading JSON values: a reader takes a place and the value there, and returns it checked or says what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from rummyarena_rules.cards import JOKER, Card, card

_LONGEST_SHOWN: Final = 80


class ReadingError(ValueError):
    """A value that cannot be what it should be; the text names its place and what is expected there."""


Reader: TypeAlias = Callable[[str, object], Any]


def fail(place: str, value: object, expected: str) -> ReadingError:
    """Returns the error for a value that stands where something else is expected."""
    return ReadingError(f"{place}: {shown(value)} where {expected} is expected")


def shown(value: object, longest: int = _LONGEST_SHOWN) -> str:
    """Returns a value as JSON writes it, fit to be read in a line: it prints, and what is long is cut."""
    try:
        return printable(json.dumps(value, ensure_ascii=False, default=str), longest)
    except (ValueError, RecursionError):  # thousands of digits, or lists in lists in lists
        return "a value too long to be shown"


def printable(text: str, longest: int = _LONGEST_SHOWN) -> str:
    """Returns a text with an escape for each character that does not print, cut where it is long."""
    escaped = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text[: longest + 1])
    if len(escaped) <= longest:
        return escaped
    return f"{escaped[:longest]}... ({len(text)} characters)"


def inside(place: str, name: str) -> str:
    """Returns the place of a field of an object."""
    return f"{place}.{printable(name)}"


class _JsonObject(dict[str, Any]):
    """An object that remembers a name that stood in it twice; of the two values the later one is kept."""

    doubled: str | None = None


def _json_object(pairs: Sequence[tuple[str, Any]]) -> _JsonObject:
    found = _JsonObject(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        found.doubled = next(name for name in names if names.count(name) > 1)
    return found


def read_json(text: str) -> object:
    """Returns what a JSON text says; readers refuse its objects in which a name stands twice."""
    try:
        return json.loads(text, object_pairs_hook=_json_object)
    except json.JSONDecodeError as error:
        raise ReadingError(f"line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None
    except ValueError:  # a number with more digits than Python reads
        raise ReadingError("file: a number in it is too long") from None
    except RecursionError:
        raise ReadingError("file: nested too deeply to be read") from None


def an_object(place: str, value: object) -> Mapping[str, Any]:
    """Reads an object."""
    if not isinstance(value, Mapping):
        raise fail(place, value, "an object")
    if isinstance(value, _JsonObject) and value.doubled is not None:
        raise ReadingError(f"{inside(place, value.doubled)}: the field stands there twice")
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
            raise fail(place, value, " or ".join(map(shown, values)))
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
            seat_of(inside(place, text), seats, text): item(inside(place, text), one)
            for text, one in an_object(place, value).items()
        }

    return read


def record_of(fields: Mapping[str, Reader], *, required: frozenset[str] = frozenset()) -> Reader:
    """Makes a reader of objects with known fields, of which some must be there."""

    def read(place: str, value: object) -> dict[str, Any]:
        given = an_object(place, value)
        for name in given:
            if name not in fields:
                raise ReadingError(f"{inside(place, name)}: no such field; there are {', '.join(sorted(fields))}")
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
        found = tuple(_card(place, word) for word in a_text(place, value).split())
        if game == "thai" and JOKER in found:
            raise ReadingError(f"{place}: there are no jokers in thai")
        return found

    return read


def _card(place: str, word: str) -> Card:
    try:
        return card(word)
    except ValueError:
        raise ReadingError(
            f"{place}: {shown(word)} is not a card: write a rank and a suit, such as TH, or JK for a joker"
        ) from None


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
