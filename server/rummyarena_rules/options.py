"""Options of a ruleset: declared once as fields of a frozen dataclass, read from untrusted values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from difflib import get_close_matches
from typing import Any, TypeVar

from rummyarena_rules.reading import shown
from rummyarena_rules.ruleset import Reason, Refusal


@dataclass(frozen=True, slots=True)
class Allowed:
    """The values of an option: `words` says them to people, `accepts` tells them from others, `keep` freezes them."""

    words: str
    accepts: Callable[[object], bool]
    keep: Callable[[Any], Any] = lambda value: value


def choice(default: Any, *others: Any, meaning: str) -> Any:
    """Declares an option that is one of a few words or numbers, the default first."""
    values = (default, *others)
    words = ", ".join(str(value) for value in values[:-1]) + f" or {values[-1]}"
    return _option(default, meaning, Allowed(words, lambda value: type(value) in (str, int) and value in values))


def switch(*, meaning: str, default: bool = False) -> Any:
    """Declares an option that is true or false."""
    return _option(default, meaning, Allowed("true or false", lambda value: type(value) is bool))


def whole(default: int, *, least: int, most: int, meaning: str) -> Any:
    """Declares an option that is a whole number from `least` to `most`."""
    return _option(default, meaning, Allowed(f"a whole number {_range(least, most)}", _within(least, most)))


def auto_or_whole(*, least: int, most: int, meaning: str) -> Any:
    """Declares an option that is a whole number from `least` to `most` or, by default, the word `auto`."""
    is_number = _within(least, most)
    words = f"auto or a whole number {_range(least, most)}"
    return _option("auto", meaning, Allowed(words, lambda value: value == "auto" or is_number(value)))


def wholes(default: tuple[int, ...], *, least: int, most: int, meaning: str) -> Any:
    """Declares an option that is a list of as many whole numbers as its default has; it is kept as a tuple."""
    is_number = _within(least, most)

    def accepts(value: object) -> bool:
        return isinstance(value, list | tuple) and len(value) == len(default) and all(map(is_number, value))

    words = f"a list of {len(default)} whole numbers, each {_range(least, most)}"
    return _option(default, meaning, Allowed(words, accepts, tuple))


def _range(least: int, most: int) -> str:
    return f"from {least} to {most}"


def _within(least: int, most: int) -> Callable[[object], bool]:
    return lambda value: type(value) is int and least <= value <= most


T = TypeVar("T")


def read_options(kind: type[T], raw: Mapping[str, object]) -> T | list[Refusal]:
    """Returns the options with defaults for what is not named, or a refusal for each bad name and value."""
    declared = {one.name: one for one in option_fields(kind)}
    refusals = [_unknown(name, declared) for name in raw if name not in declared]
    refusals += [
        Refusal(Reason.BAD_OPTION, f"option {name} = {shown(raw[name])}: allowed is {allowed.words}")
        for name, allowed in ((name, one.metadata["allowed"]) for name, one in declared.items())
        if name in raw and not allowed.accepts(raw[name])
    ]
    return refusals or kind(**{name: declared[name].metadata["allowed"].keep(value) for name, value in raw.items()})


def option_fields(kind: type[Any]) -> tuple[Field[Any], ...]:
    """Returns the declared options: metadata `meaning` and `allowed`, and the default."""
    return fields(kind)


def changed_options(options: Any) -> dict[str, object]:
    """Returns the options that differ from their defaults, in the order of their declaration."""
    return {
        one.name: getattr(options, one.name)
        for one in option_fields(type(options))
        if getattr(options, one.name) != one.default
    }


def _option(default: Any, meaning: str, allowed: Allowed) -> Any:
    return field(default=default, metadata={"meaning": meaning, "allowed": allowed})


def _unknown(name: str, declared: Mapping[str, object]) -> Refusal:
    near = get_close_matches(name, declared, n=1)
    hint = f"did you mean {near[0]}?" if near else "the options are " + ", ".join(declared)
    return Refusal(Reason.BAD_OPTION, f"there is no option {shown(name)}: {hint}")
