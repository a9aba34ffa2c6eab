"""The public facts of one ruleset only, both ways."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rummyarena.v1 import view_pb2
from rummyarena_rules.liverpool.facts import LiverpoolFacts
from rummyarena_rules.table import DiscardedCard
from rummyarena_rules.thai.facts import Penalty, ThaiFacts
from rummyarena_server.wire.events import PENALTY_RULE_NUMBERS, read_penalty_rule
from rummyarena_server.wire.fields import CARD_NUMBERS, known_card, tagged


def encode_facts(facts: Any) -> bytes:
    """Returns a ruleset's own facts as a field of a `Public`."""
    match facts:
        case ThaiFacts():
            return tagged(view_pb2.Public.THAI_FIELD_NUMBER, _thai(facts).SerializeToString())
        case LiverpoolFacts():
            return tagged(view_pb2.Public.LIVERPOOL_FIELD_NUMBER, _liverpool(facts).SerializeToString())
        case _:
            raise ValueError(f"{type(facts).__name__}: the wire does not know the facts of this ruleset")


def read_facts(message: view_pb2.Public, seats: int) -> ThaiFacts | LiverpoolFacts:
    """Returns a ruleset's own facts; `ValueError` for a ruleset or a value of a newer version."""
    match message.WhichOneof("facts"):
        case "thai":
            return _read_thai(message.thai, seats)
        case "liverpool":
            return _read_liverpool(message.liverpool, seats)
        case _:
            raise ValueError("the view is of a ruleset that this program does not know")


def discard_message(one: DiscardedCard) -> view_pb2.DiscardedCard:
    """Returns a card among the discards as a message."""
    return view_pb2.DiscardedCard(card=CARD_NUMBERS[one.card], seat=one.seat, turn=one.turn)


def read_discard(message: view_pb2.DiscardedCard) -> DiscardedCard:
    """Returns a card among the discards."""
    return DiscardedCard(known_card(message.card), message.seat if message.HasField("seat") else None, message.turn)


# --- thai ------------------------------------------------------------------------------------------------------------


def _thai(facts: ThaiFacts) -> view_pb2.ThaiFacts:
    return view_pb2.ThaiFacts(
        births=[view_pb2.Birth(seat=seat, turn=turn) for seat, turn in _named(facts.birth_turns)],
        head=None if facts.head is None else CARD_NUMBERS[facts.head],
        gathered=map(discard_message, facts.gathered),
        last_turn=facts.last_turn,
        reshuffles=facts.reshuffles,
        penalties=map(_penalty, facts.penalties),
    )


def _penalty(penalty: Penalty) -> view_pb2.Penalty:
    return view_pb2.Penalty(
        seat=penalty.seat,
        rule=PENALTY_RULE_NUMBERS[penalty.rule],
        card=CARD_NUMBERS[penalty.card],
        turn=penalty.turn,
    )


def _read_thai(facts: view_pb2.ThaiFacts, seats: int) -> ThaiFacts:
    return ThaiFacts(
        birth_turns=_turns(facts.births, seats),
        head=known_card(facts.head) if facts.HasField("head") else None,
        gathered=tuple(map(read_discard, facts.gathered)),
        last_turn=facts.last_turn,
        reshuffles=facts.reshuffles,
        penalties=[
            Penalty(one.seat, read_penalty_rule(one.rule), known_card(one.card), one.turn) for one in facts.penalties
        ],
    )


# --- liverpool -------------------------------------------------------------------------------------------------------


def _liverpool(facts: LiverpoolFacts) -> view_pb2.LiverpoolFacts:
    return view_pb2.LiverpoolFacts(
        downs=[view_pb2.GoneDown(seat=seat, turn=turn) for seat, turn in _named(facts.down_turns)],
        buys=facts.buys,
        asked=facts.asked,
        jokers_owed=facts.jokers_owed,
        reshuffles=facts.reshuffles,
    )


def _read_liverpool(facts: view_pb2.LiverpoolFacts, seats: int) -> LiverpoolFacts:
    return LiverpoolFacts(
        down_turns=_turns(facts.downs, seats),
        buys=list(facts.buys),
        asked=tuple(facts.asked),
        jokers_owed=facts.jokers_owed,
        reshuffles=facts.reshuffles,
    )


# --- both ------------------------------------------------------------------------------------------------------------


def _named(turns: Iterable[int | None]) -> list[tuple[int, int]]:
    """Returns (seat, turn) of the seats that have a turn."""
    return [(seat, turn) for seat, turn in enumerate(turns) if turn is not None]


def _turns(named: Iterable[view_pb2.Birth | view_pb2.GoneDown], seats: int) -> list[int | None]:
    turns: list[int | None] = [None] * seats
    for one in named:
        turns[one.seat] = one.turn
    return turns
