"""Moves and melds as text, both ways (notation.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, Literal, TypeAlias

from rummyarena_rules.cards import JOKER, Card, card, cards, text_of
from rummyarena_rules.moves import (
    Buy,
    Cut,
    Discard,
    Down,
    Draw,
    Knock,
    LayOff,
    Meld,
    Move,
    Pass,
    Side,
    Swap,
    Take,
    TakeOnto,
    TakeUpcard,
)

GameName: TypeAlias = Literal["thai", "liverpool"]

_NUMBER_BEYOND_EVERY_RANGE: Final = 10**9


def parse_move(game: str, text: str) -> Move | None:
    """Returns the move written as `text` in a game, or `None` if it is malformed (T13, L14).

    Thai moves come back with their cards sorted, for their order is irrelevant; liverpool keeps the order written.
    """
    for pattern, build in _GRAMMARS[game]:
        match = pattern.fullmatch(text)
        if match:
            return build(match)
    return None


def move_text(move: Move) -> str:
    """Writes a move so that `parse_move` reads it back."""
    return _WRITERS[type(move)](move)


def verb(move: Move) -> str:
    """Returns the verb of a move: its first word in notation, with `take_onto` for `take X onto m`."""
    return _VERBS[type(move)]


def canonical(game: str, move: Move) -> Move:
    """Returns the one move that stands for all texts of the same move: thai sorts cards, liverpool sorts sets.

    In a liverpool `down` the groups are sorted too, for they may be written in any order. A group that could be a run
    under some options keeps the order written, which then says what its jokers stand for (L10, L11).
    """
    match move:
        case Take(target, some):
            return Take(target, _sorted(some))
        case Meld(some):
            return Meld(_sorted(some))
        case LayOff(meld, some, None) if game == "thai":
            return LayOff(meld, _sorted(some))
        case Knock(kept, parts):
            return Knock(kept, tuple(_canonical_part(part) for part in parts))
        case Down(groups):
            return Down(tuple(sorted(_sorted(group) if _is_surely_set(group) else group for group in groups)))
        case _:
            return move


def _canonical_part(part: Meld | LayOff) -> Meld | LayOff:
    if isinstance(part, Meld):
        return Meld(_sorted(part.cards))
    return LayOff(part.meld, _sorted(part.cards))


def _is_surely_set(group: tuple[Card, ...]) -> bool:
    naturals = [one for one in group if one is not JOKER]
    return len({one.rank for one in naturals}) == 1 and not _could_be_run(group, len(naturals))


def _could_be_run(group: tuple[Card, ...], naturals: int) -> bool:
    """Tells whether a group of one rank could be a run: of one natural, or A to A with jokers between (L7, L9)."""
    aces_at_both_ends = len(group) == 14 and naturals == 2 and group[0] is group[-1]
    return 4 <= len(group) <= 14 and (naturals == 1 or aces_at_both_ends)


def _sorted(some: Iterable[Card]) -> tuple[Card, ...]:
    return tuple(sorted(some))


def _number(text: str) -> int:
    """Reads digits; a number too long to matter is cut down, so that no text costs more than its length."""
    return int(text) if len(text) < 10 else _NUMBER_BEYOND_EVERY_RANGE


def _side(text: str | None) -> Side | None:
    return "low" if text == "low" else "high" if text == "high" else None


def _thai_part(text: str) -> Meld | LayOff:
    kind, _, rest = text.partition(" ")
    if kind == "meld":
        return Meld(_sorted(cards(rest)))
    meld, _, some = rest.partition(": ")
    return LayOff(_number(meld[1:]), _sorted(cards(some)))


def _knock(match: re.Match[str]) -> Move:
    kept, *parts = match[1].split(" / ")
    return Knock(card(kept), tuple(_thai_part(part) for part in parts))


def _down(match: re.Match[str]) -> Move:
    return Down(tuple(cards(group) for group in match[1].split(" / ")))


_NATURAL = "[2-9TJQKA][CDHS]"
_NATURALS = f"{_NATURAL}(?: {_NATURAL})*"
_ANY = f"(?:{_NATURAL}|JK)"
_ANYS = f"{_ANY}(?: {_ANY})*"
_MELD = "m([1-9][0-9]*)"
_PART = f"(?:meld {_NATURALS}|layoff m[1-9][0-9]*: {_NATURALS})"

_Rule: TypeAlias = tuple[re.Pattern[str], Callable[[re.Match[str]], Move]]


def _rule(pattern: str, build: Callable[[re.Match[str]], Move]) -> _Rule:
    return re.compile(pattern), build


_GRAMMARS: Final[dict[str, tuple[_Rule, ...]]] = {
    "thai": (
        _rule("draw", lambda _: Draw()),
        _rule("pass", lambda _: Pass()),
        _rule(f"discard ({_NATURAL})", lambda m: Discard(card(m[1]))),
        _rule(f"take ({_NATURAL}): ({_NATURALS})", lambda m: Take(card(m[1]), _sorted(cards(m[2])))),
        _rule(f"take ({_NATURAL}) onto {_MELD}", lambda m: TakeOnto(card(m[1]), _number(m[2]))),
        _rule(f"meld ({_NATURALS})", lambda m: Meld(_sorted(cards(m[1])))),
        _rule(f"layoff {_MELD}: ({_NATURALS})", lambda m: LayOff(_number(m[1]), _sorted(cards(m[2])))),
        _rule(f"knock ({_NATURAL}(?: / {_PART})*)", _knock),
    ),
    "liverpool": (
        _rule("draw", lambda _: Draw()),
        _rule("pass", lambda _: Pass()),
        _rule("take", lambda _: TakeUpcard()),
        _rule("buy", lambda _: Buy()),
        _rule(f"discard ({_ANY})", lambda m: Discard(card(m[1]))),
        _rule(f"down ({_ANYS}(?: / {_ANYS})*)", _down),
        _rule(
            f"layoff {_MELD}(?: (low|high))?: ({_ANYS})",
            lambda m: LayOff(_number(m[1]), cards(m[3]), _side(m[2])),
        ),
        _rule(f"swap {_MELD}: ({_ANY})", lambda m: Swap(_number(m[1]), card(m[2]))),
        _rule("cut ([1-9][0-9]*)", lambda m: Cut(_number(m[1]))),
    ),
}


def _write_layoff(move: LayOff) -> str:
    side = f" {move.side}" if move.side else ""
    return f"layoff m{move.meld}{side}: {text_of(move.cards)}"


_WRITERS: Final[dict[type[Move], Callable[..., str]]] = {
    Draw: lambda _: "draw",
    Pass: lambda _: "pass",
    Take: lambda m: f"take {m.target}: {text_of(m.cards)}",
    TakeOnto: lambda m: f"take {m.target} onto m{m.meld}",
    TakeUpcard: lambda _: "take",
    Buy: lambda _: "buy",
    Meld: lambda m: f"meld {text_of(m.cards)}",
    Down: lambda m: "down " + " / ".join(map(text_of, m.groups)),
    LayOff: _write_layoff,
    Swap: lambda m: f"swap m{m.meld}: {m.card}",
    Discard: lambda m: f"discard {m.card}",
    Knock: lambda m: " / ".join([f"knock {m.card}", *map(move_text, m.parts)]),
    Cut: lambda m: f"cut {m.position}",
}

_VERBS: Final[dict[type[Move], str]] = {
    Draw: "draw",
    Pass: "pass",
    Take: "take",
    TakeOnto: "take_onto",
    TakeUpcard: "take",
    Buy: "buy",
    Meld: "meld",
    Down: "down",
    LayOff: "layoff",
    Swap: "swap",
    Discard: "discard",
    Knock: "knock",
    Cut: "cut",
}
