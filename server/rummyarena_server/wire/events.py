"""Events, both ways, by a table: messages and their fields are named like the rules' events and theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final, NamedTuple, TypeVar

from google.protobuf.message import Message

from rummyarena.v1 import event_pb2
from rummyarena_rules.events import (
    EVENT_KINDS,
    CardTurnedUp,
    DealEnd,
    DealEnded,
    DealStarted,
    Discarded,
    DiscardsTaken,
    Event,
    HandDealt,
    JokerSwapped,
    Knocked,
    LaidOff,
    MeldLaid,
    PenaltyCharged,
    ShoeCut,
    StockDrawn,
    StockReshuffled,
    UpcardBought,
    WindowClosed,
    WindowOpened,
)
from rummyarena_server.wire.fields import (
    CARD_NUMBERS,
    card_list,
    card_numbers,
    cards_of_lists,
    known_card,
    known_cards,
    tagged,
    varint,
)

DEAL_END_NUMBERS: Final[Mapping[DealEnd, event_pb2.DealEnd.ValueType]] = {
    "knock": event_pb2.DEAL_END_KNOCK,
    "exhausted": event_pb2.DEAL_END_EXHAUSTED,
    "out": event_pb2.DEAL_END_OUT,
    "blocked": event_pb2.DEAL_END_BLOCKED,
    "turn_limit": event_pb2.DEAL_END_TURN_LIMIT,
}
PENALTY_RULE_NUMBERS: Final = {
    name.removeprefix("PENALTY_RULE_").lower(): number for name, number in event_pb2.PenaltyRule.items() if number != 0
}
_DEAL_ENDS: Final = {number: end for end, number in DEAL_END_NUMBERS.items()}
_PENALTY_RULES: Final = {number: rule for rule, number in PENALTY_RULE_NUMBERS.items()}


def encode_event(sequence: int, event: Event) -> bytes:
    """Returns an event, redacted for its receiver, as a serialised `Event`; sequence numbers count from 1."""
    layout = _LAYOUTS[type(event)]
    values = {name: field.write(value) for name, field in layout.fields if (value := getattr(event, name)) is not None}
    return _SEQUENCE_TAG + varint(sequence) + tagged(layout.arm, layout.message(**values).SerializeToString())


def read_event(message: event_pb2.Event) -> Event | None:
    """Returns the event, or `None` for a kind of a newer version; `ValueError` for a value of a newer version."""
    arm = message.WhichOneof("kind")
    if arm is None:
        return None
    layout, inner = _LAYOUTS_BY_ARM[arm], getattr(message, arm)
    event: Event = layout.kind(**{name: field.read_from(inner, name) for name, field in layout.fields})
    return event


N = TypeVar("N")
V = TypeVar("V")


def read_deal_end(number: event_pb2.DealEnd.ValueType) -> DealEnd:
    """Returns the end of a deal; `ValueError` for one of a newer version."""
    return _known(_DEAL_ENDS, number, "end of a deal")


def read_penalty_rule(number: event_pb2.PenaltyRule.ValueType) -> str:
    """Returns the rule; `ValueError` for one of a newer version."""
    return _known(_PENALTY_RULES, number, "rule that charges")


def _known(table: Mapping[N, V], number: N, what: str) -> V:
    try:
        return table[number]
    except KeyError:
        raise ValueError(f"{number} is not the number of a {what}; the sender is newer than this program") from None


# --- the table -------------------------------------------------------------------------------------------------------


class _Field(NamedTuple):
    """How one field of an event is written and read; `optional`: `None` is an absent field."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]
    optional: bool = False

    def read_from(self, message: Message, name: str) -> Any:
        if self.optional and not message.HasField(name):
            return None
        return self.read(getattr(message, name))


class _Layout(NamedTuple):
    """One kind of event on the wire; `arm`: its number in the oneof."""

    kind: type[Any]
    message: type[Message]
    arm: int
    fields: tuple[tuple[str, _Field], ...]


def _same(value: Any) -> Any:
    return value


_PLAIN: Final = _Field(_same, _same)
_OPTIONAL: Final = _Field(_same, _same, optional=True)
_NUMBERS: Final = _Field(_same, tuple)
_CARD: Final = _Field(CARD_NUMBERS.__getitem__, known_card)
_OPTIONAL_CARD: Final = _CARD._replace(optional=True)
_CARDS: Final = _Field(card_numbers, known_cards)
_HIDDEN_CARDS: Final = _Field(card_list, lambda message: known_cards(message.cards), optional=True)
_HANDS: Final = _Field(lambda hands: list(map(card_list, hands)), cards_of_lists)
_DEAL_END: Final = _Field(DEAL_END_NUMBERS.__getitem__, read_deal_end)
_RULE: Final = _Field(PENALTY_RULE_NUMBERS.__getitem__, read_penalty_rule)

_SPECIAL: Final[dict[type[Any], dict[str, _Field]]] = {
    DealStarted: {"shoe": _HIDDEN_CARDS},
    ShoeCut: {"asked": _OPTIONAL, "position": _OPTIONAL},
    HandDealt: {"cards": _HIDDEN_CARDS},
    CardTurnedUp: {"card": _CARD},
    StockDrawn: {"card": _OPTIONAL_CARD},
    DiscardsTaken: {"cards": _CARDS},
    WindowOpened: {"seats": _NUMBERS},
    WindowClosed: {"buyer": _OPTIONAL},
    UpcardBought: {"card": _CARD, "penalty_cards": _HIDDEN_CARDS},
    MeldLaid: {"cards": _CARDS},
    LaidOff: {"low": _CARDS, "high": _CARDS},
    JokerSwapped: {"card": _CARD},
    Discarded: {"card": _CARD},
    PenaltyCharged: {"rule": _RULE, "card": _CARD},
    Knocked: {"card": _OPTIONAL_CARD},
    StockReshuffled: {"cards": _HIDDEN_CARDS},
    DealEnded: {
        "end": _DEAL_END,
        "seat": _OPTIONAL,
        "knock_card": _OPTIONAL_CARD,
        "hands": _HANDS,
        "scores": _NUMBERS,
        "totals": _NUMBERS,
    },
}
"""The fields that are not plain numbers and switches."""

_ARMS: Final = {
    arm.message_type.name: arm
    for arm in event_pb2.Event.DESCRIPTOR.oneofs_by_name["kind"].fields
    if arm.message_type is not None
}
_SEQUENCE_TAG: Final = varint(event_pb2.Event.SEQUENCE_FIELD_NUMBER << 3)


def _layout(kind: type[Any]) -> _Layout:
    special = _SPECIAL.get(kind, {})
    named = tuple((one.name, special.get(one.name, _PLAIN)) for one in fields(kind))
    return _Layout(kind, getattr(event_pb2, kind.__name__), _ARMS[kind.__name__].number, named)


_LAYOUTS: Final[dict[type[Event], _Layout]] = {kind: _layout(kind) for kind in EVENT_KINDS}
_LAYOUTS_BY_ARM: Final = {_ARMS[layout.kind.__name__].name: layout for layout in _LAYOUTS.values()}
