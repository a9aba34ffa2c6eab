"""Moves: made by functions named like the verbs of the notation, or parsed from a text in notation."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from rummyarena.cards import Card, CardLike, CardsLike, card, cards, from_wire, text_of, to_wire
from rummyarena.v1 import card_pb2, move_pb2

Side: TypeAlias = Literal["low", "high"]


@dataclass(frozen=True, slots=True)
class Move:
    """What a seat plays; `str(move)` is its notation. A field that the verb does not use is empty.

    `card`: what is discarded, swapped in or kept by a knock, or the oldest card that a take gathers. `cards`: of a
    meld, a lay-off, or the meld of a take. `meld`: the number of a meld on the table, from 1. `groups`: of a down.
    `parts`: melds and lay-offs of a knock. `side`, `position`: of a lay-off and a cut (liverpool).
    """

    verb: str
    card: Card | None = None
    cards: tuple[Card, ...] = ()
    meld: int = 0
    groups: tuple[tuple[Card, ...], ...] = ()
    parts: tuple[Move, ...] = ()
    side: Side | None = None
    position: int = 0

    @classmethod
    def parse(cls, text: str) -> Move:
        """Returns the move written as `text`, such as `discard KD`; `ValueError` if it is none in either game."""
        for pattern, build in _GRAMMAR:
            match = pattern.fullmatch(text)
            if match:
                return build(*match.groups())
        raise ValueError(f"{text!r} is not a move: write it like {', '.join(_EXAMPLES)}")

    def __str__(self) -> str:
        return _TEXTS[self.verb](self)


def draw() -> Move:
    """Draws the top card of the stock."""
    return Move("draw")


def pass_() -> Move:
    """Declines: in thai the last turn of a deal, in liverpool the offer of the upcard."""
    return Move("pass")


def take(target: CardLike, meld: CardsLike) -> Move:
    """Gathers `target` and every newer card of the row and lays `meld`, which has `target` in it, at once (thai)."""
    return Move("take", card=card(target), cards=cards(meld))


def take_onto(target: CardLike, meld: int) -> Move:
    """Gathers `target` and every newer card of the row and lays `target` off (thai, option pickup_layoff)."""
    return Move("take_onto", card=card(target), meld=meld)


def take_upcard() -> Move:
    """Takes the upcard (liverpool)."""
    return Move("take")


def buy() -> Move:
    """Asks for the upcard out of turn (liverpool)."""
    return Move("buy")


def meld(some: CardsLike) -> Move:
    """Lays a new meld (thai); also a part of a knock."""
    return Move("meld", cards=cards(some))


def down(*groups: CardsLike) -> Move:
    """Lays the contract of the deal, one group a meld, runs written low to high (liverpool)."""
    return Move("down", groups=tuple(map(cards, groups)))


def layoff(meld: int, some: CardsLike, side: Side | None = None) -> Move:
    """Adds cards to the meld of that number; also a part of a knock."""
    return Move("layoff", meld=meld, cards=cards(some), side=side)


def swap(meld: int, natural: CardLike) -> Move:
    """Puts a natural card in the place of a joker on the table (liverpool)."""
    return Move("swap", meld=meld, card=card(natural))


def discard(one: CardLike) -> Move:
    """Discards a card and so ends the turn."""
    return Move("discard", card=card(one))


def knock(kept: CardLike, *parts: Move) -> Move:
    """Ends the deal: lays the parts, made by `meld` and `layoff`, and keeps one card (thai)."""
    return Move("knock", card=card(kept), parts=parts)


def cut(position: int) -> Move:
    """Asks for a cut after that many cards (liverpool)."""
    return Move("cut", position=position)


# --- notation --------------------------------------------------------------------------------------------------------

_CARD = "(?:[2-9TJQKA][CDHS]|JK)"
_CARDS = f"{_CARD}(?: {_CARD})*"
_MELD = "m[1-9][0-9]{0,8}"
_PART = f"(?:meld {_CARDS}|layoff {_MELD}: {_CARDS})"
_EXAMPLES: Final = (
    "draw",
    "take 7H: 7H 7C 7D",
    "meld 7C 7D 7H",
    "layoff m1: 9S TS",
    "discard KD",
    "knock 2D / meld ...",
)

_Builder: TypeAlias = Callable[..., Move]


def _rule(pattern: str, build: _Builder) -> tuple[re.Pattern[str], _Builder]:
    return re.compile(pattern), build


_GRAMMAR: Final = (
    _rule("draw", draw),
    _rule("pass", pass_),
    _rule("take", take_upcard),
    _rule("buy", buy),
    _rule(f"take ({_CARD}): ({_CARDS})", take),
    _rule(f"take ({_CARD}) onto ({_MELD})", lambda target, meld: take_onto(target, int(meld[1:]))),
    _rule(f"meld ({_CARDS})", meld),
    _rule(f"down ({_CARDS}(?: / {_CARDS})*)", lambda groups: down(*groups.split(" / "))),
    _rule(
        f"layoff ({_MELD})(?: (low|high))?: ({_CARDS})",
        lambda meld, side, some: layoff(int(meld[1:]), some, side),
    ),
    _rule(f"swap ({_MELD}): ({_CARD})", lambda meld, natural: swap(int(meld[1:]), natural)),
    _rule(f"discard ({_CARD})", discard),
    _rule(
        f"knock ({_CARD})((?: / {_PART})*)",
        lambda kept, parts: knock(kept, *map(Move.parse, parts.split(" / ")[1:])),
    ),
    _rule("cut ([1-9][0-9]{0,8})", lambda position: cut(int(position))),
)


def _take_text(move: Move) -> str:
    return f"take {move.card}: {text_of(move.cards)}" if move.card is not None else "take"


def _layoff_text(move: Move) -> str:
    return f"layoff m{move.meld}{f' {move.side}' if move.side else ''}: {text_of(move.cards)}"


_TEXTS: Final[dict[str, Callable[[Move], str]]] = {
    "draw": lambda _: "draw",
    "pass": lambda _: "pass",
    "take": _take_text,
    "take_onto": lambda move: f"take {move.card} onto m{move.meld}",
    "buy": lambda _: "buy",
    "meld": lambda move: f"meld {text_of(move.cards)}",
    "down": lambda move: f"down {' / '.join(map(text_of, move.groups))}",
    "layoff": _layoff_text,
    "swap": lambda move: f"swap m{move.meld}: {move.card}",
    "discard": lambda move: f"discard {move.card}",
    "knock": lambda move: " / ".join([f"knock {move.card}", *map(str, move.parts)]),
    "cut": lambda move: f"cut {move.position}",
}


# --- the wire --------------------------------------------------------------------------------------------------------


def move_to_wire(move: Move) -> move_pb2.Move:
    """Returns the message of a move."""
    return _TO_WIRE[move.verb](move)


def move_from_wire(message: move_pb2.Move) -> Move:
    """Returns the move of a message; `ValueError` for a kind that this SDK does not know."""
    kind = message.WhichOneof("kind")
    if kind is None:
        raise ValueError("a move of a kind that this SDK does not know")
    return _FROM_WIRE[kind](getattr(message, kind))


def _number(one: Card | None) -> card_pb2.Card.ValueType:
    return card_pb2.CARD_UNSPECIFIED if one is None else to_wire((one,))[0]


def _meld_to_wire(move: Move) -> move_pb2.Meld:
    return move_pb2.Meld(cards=to_wire(move.cards))


_SIDES: Final = {None: move_pb2.SIDE_UNSPECIFIED, "low": move_pb2.SIDE_LOW, "high": move_pb2.SIDE_HIGH}


def _layoff_to_wire(move: Move) -> move_pb2.LayOff:
    return move_pb2.LayOff(meld=move.meld, cards=to_wire(move.cards), side=_SIDES[move.side])


def _part_to_wire(part: Move) -> move_pb2.KnockPart:
    if part.verb == "meld":
        return move_pb2.KnockPart(meld=_meld_to_wire(part))
    return move_pb2.KnockPart(layoff=_layoff_to_wire(part))


def _take_to_wire(move: Move) -> move_pb2.Move:
    if move.card is None:
        return move_pb2.Move(take_upcard=move_pb2.TakeUpcard())
    return move_pb2.Move(take=move_pb2.Take(target=_number(move.card), cards=to_wire(move.cards)))


def _down_to_wire(move: Move) -> move_pb2.Move:
    groups = [card_pb2.CardList(cards=to_wire(group)) for group in move.groups]
    return move_pb2.Move(down=move_pb2.Down(groups=groups))


def _knock_to_wire(move: Move) -> move_pb2.Move:
    return move_pb2.Move(knock=move_pb2.Knock(card=_number(move.card), parts=map(_part_to_wire, move.parts)))


_TO_WIRE: Final[dict[str, Callable[[Move], move_pb2.Move]]] = {
    "draw": lambda _: move_pb2.Move(draw=move_pb2.Draw()),
    "pass": lambda _: move_pb2.Move(pass_move=move_pb2.Pass()),
    "take": _take_to_wire,
    "take_onto": lambda move: move_pb2.Move(take_onto=move_pb2.TakeOnto(target=_number(move.card), meld=move.meld)),
    "buy": lambda _: move_pb2.Move(buy=move_pb2.Buy()),
    "meld": lambda move: move_pb2.Move(meld=_meld_to_wire(move)),
    "down": _down_to_wire,
    "layoff": lambda move: move_pb2.Move(layoff=_layoff_to_wire(move)),
    "swap": lambda move: move_pb2.Move(swap=move_pb2.Swap(meld=move.meld, card=_number(move.card))),
    "discard": lambda move: move_pb2.Move(discard=move_pb2.Discard(card=_number(move.card))),
    "knock": _knock_to_wire,
    "cut": lambda move: move_pb2.Move(cut=move_pb2.Cut(position=move.position)),
}


def _card(number: int) -> Card | None:
    return next(iter(from_wire((number,))), None)


_SIDE_WORDS: Final[dict[int, Side]] = {move_pb2.SIDE_LOW: "low", move_pb2.SIDE_HIGH: "high"}


def _layoff_from_wire(message: move_pb2.LayOff) -> Move:
    return Move("layoff", meld=message.meld, cards=from_wire(message.cards), side=_SIDE_WORDS.get(message.side))


def _part_from_wire(part: move_pb2.KnockPart) -> Move:
    if part.WhichOneof("kind") == "meld":
        return Move("meld", cards=from_wire(part.meld.cards))
    return _layoff_from_wire(part.layoff)


def _knock_from_wire(message: move_pb2.Knock) -> Move:
    return Move("knock", card=_card(message.card), parts=tuple(map(_part_from_wire, message.parts)))


_FROM_WIRE: Final[dict[str, Callable[[Any], Move]]] = {
    "draw": lambda _: draw(),
    "pass_move": lambda _: pass_(),
    "take": lambda m: Move("take", card=_card(m.target), cards=from_wire(m.cards)),
    "take_onto": lambda m: Move("take_onto", card=_card(m.target), meld=m.meld),
    "take_upcard": lambda _: take_upcard(),
    "buy": lambda _: buy(),
    "meld": lambda m: Move("meld", cards=from_wire(m.cards)),
    "down": lambda m: Move("down", groups=tuple(from_wire(group.cards) for group in m.groups)),
    "layoff": _layoff_from_wire,
    "swap": lambda m: Move("swap", meld=m.meld, card=_card(m.card)),
    "discard": lambda m: Move("discard", card=_card(m.card)),
    "knock": _knock_from_wire,
    "cut": lambda m: cut(m.position),
}
