"""Moves, both ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from rummyarena.v1 import card_pb2, move_pb2
from rummyarena_rules.cards import Card
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
from rummyarena_rules.ruleset import Reason, Refusal
from rummyarena_server.wire.fields import CARD_NUMBERS, CARD_OF_NUMBER, card_list, card_numbers

MOST_CARDS: Final = 200
"""More cards than any shoe has; a longer list, or more groups or parts, is no move and costs nobody any work."""


def encode_move(move: Move) -> bytes:
    """Returns a move as a serialised `Move`."""
    return _WRITERS[type(move)](move).SerializeToString()


def read_move(message: move_pb2.Move) -> Move | Refusal:
    """Returns the move that a bot sent, or why it is malformed; whether it is legal is for the rules to say."""
    kind = message.WhichOneof("kind")
    if kind is None:
        return Refusal(Reason.MALFORMED, "the move is empty, or of a kind that this server does not know")
    try:
        return _READERS[kind](getattr(message, kind))
    except _MalformedError as error:
        return Refusal(Reason.MALFORMED, f"{kind}: {error}")


def read_verb(number: move_pb2.Verb.ValueType) -> str | None:
    """Returns the verb of notation.md, or `None` for one of a newer version."""
    return _VERBS.get(number)


VERB_NUMBERS: Final = {
    name.removeprefix("VERB_").lower(): number for name, number in move_pb2.Verb.items() if number != 0
}
_VERBS: Final = {number: verb for verb, number in VERB_NUMBERS.items()}


# --- writing ---------------------------------------------------------------------------------------------------------


_SIDES: Final[dict[Side | None, move_pb2.Side.ValueType]] = {
    None: move_pb2.SIDE_UNSPECIFIED,
    "low": move_pb2.SIDE_LOW,
    "high": move_pb2.SIDE_HIGH,
}


def _meld(meld: Meld) -> move_pb2.Meld:
    return move_pb2.Meld(cards=card_numbers(meld.cards))


def _layoff(layoff: LayOff) -> move_pb2.LayOff:
    return move_pb2.LayOff(meld=layoff.meld, cards=card_numbers(layoff.cards), side=_SIDES[layoff.side])


def _part(part: Meld | LayOff) -> move_pb2.KnockPart:
    if isinstance(part, Meld):
        return move_pb2.KnockPart(meld=_meld(part))
    return move_pb2.KnockPart(layoff=_layoff(part))


def _take(take: Take) -> move_pb2.Move:
    return move_pb2.Move(take=move_pb2.Take(target=CARD_NUMBERS[take.target], cards=card_numbers(take.cards)))


def _take_onto(take: TakeOnto) -> move_pb2.Move:
    return move_pb2.Move(take_onto=move_pb2.TakeOnto(target=CARD_NUMBERS[take.target], meld=take.meld))


def _down(down: Down) -> move_pb2.Move:
    return move_pb2.Move(down=move_pb2.Down(groups=map(card_list, down.groups)))


def _knock(knock: Knock) -> move_pb2.Move:
    return move_pb2.Move(knock=move_pb2.Knock(card=CARD_NUMBERS[knock.card], parts=map(_part, knock.parts)))


_WRITERS: Final[dict[type[Move], Callable[[Any], move_pb2.Move]]] = {
    Draw: lambda _: move_pb2.Move(draw=move_pb2.Draw()),
    Pass: lambda _: move_pb2.Move(pass_move=move_pb2.Pass()),
    Take: _take,
    TakeOnto: _take_onto,
    TakeUpcard: lambda _: move_pb2.Move(take_upcard=move_pb2.TakeUpcard()),
    Buy: lambda _: move_pb2.Move(buy=move_pb2.Buy()),
    Meld: lambda m: move_pb2.Move(meld=_meld(m)),
    Down: _down,
    LayOff: lambda m: move_pb2.Move(layoff=_layoff(m)),
    Swap: lambda m: move_pb2.Move(swap=move_pb2.Swap(meld=m.meld, card=CARD_NUMBERS[m.card])),
    Discard: lambda m: move_pb2.Move(discard=move_pb2.Discard(card=CARD_NUMBERS[m.card])),
    Knock: _knock,
    Cut: lambda m: move_pb2.Move(cut=move_pb2.Cut(position=m.position)),
}


# --- reading ---------------------------------------------------------------------------------------------------------


class _MalformedError(ValueError):
    """What a bot sent is no move; the text says where."""


def _read_card(number: card_pb2.Card.ValueType) -> Card:
    card = CARD_OF_NUMBER.get(number)
    if card is None:
        raise _MalformedError("a card is missing" if number == 0 else f"there is no card number {number}")
    return card


def _read_cards(numbers: Sequence[card_pb2.Card.ValueType]) -> tuple[Card, ...]:
    if not 1 <= len(numbers) <= MOST_CARDS:
        raise _MalformedError(f"a list of {len(numbers)} cards, where 1 to {MOST_CARDS} can be")
    return tuple(map(_read_card, numbers))


def _read_number(value: int, what: str) -> int:
    if value < 1:
        raise _MalformedError(f"{what} count from 1")
    return value


def _read_side(number: move_pb2.Side.ValueType) -> Side | None:
    for side, known in _SIDES.items():
        if number == known:
            return side
    raise _MalformedError(f"there is no side number {number}")


def _read_take(message: move_pb2.Take) -> Move:
    return Take(_read_card(message.target), _read_cards(message.cards))


def _read_take_onto(message: move_pb2.TakeOnto) -> Move:
    return TakeOnto(_read_card(message.target), _read_number(message.meld, "melds"))


def _read_meld(message: move_pb2.Meld) -> Meld:
    return Meld(_read_cards(message.cards))


def _read_down(message: move_pb2.Down) -> Move:
    if not 1 <= len(message.groups) <= MOST_CARDS:
        raise _MalformedError(f"{len(message.groups)} groups, where 1 to {MOST_CARDS} can be")
    return Down(tuple(_read_cards(group.cards) for group in message.groups))


def _read_layoff(message: move_pb2.LayOff) -> LayOff:
    return LayOff(_read_number(message.meld, "melds"), _read_cards(message.cards), _read_side(message.side))


def _read_swap(message: move_pb2.Swap) -> Move:
    return Swap(_read_number(message.meld, "melds"), _read_card(message.card))


def _read_part(message: move_pb2.KnockPart) -> Meld | LayOff:
    match message.WhichOneof("kind"):
        case "meld":
            return _read_meld(message.meld)
        case "layoff":
            return _read_layoff(message.layoff)
        case _:
            raise _MalformedError("a part is empty, or of a kind that this server does not know")


def _read_knock(message: move_pb2.Knock) -> Move:
    if len(message.parts) > MOST_CARDS:
        raise _MalformedError(f"{len(message.parts)} parts, where up to {MOST_CARDS} can be")
    return Knock(_read_card(message.card), tuple(map(_read_part, message.parts)))


_READERS: Final[dict[str, Callable[[Any], Move]]] = {
    "draw": lambda _: Draw(),
    "pass_move": lambda _: Pass(),
    "take": _read_take,
    "take_onto": _read_take_onto,
    "take_upcard": lambda _: TakeUpcard(),
    "buy": lambda _: Buy(),
    "meld": _read_meld,
    "down": _read_down,
    "layoff": _read_layoff,
    "swap": _read_swap,
    "discard": lambda m: Discard(_read_card(m.card)),
    "knock": _read_knock,
    "cut": lambda m: Cut(_read_number(m.position, "positions")),
}
