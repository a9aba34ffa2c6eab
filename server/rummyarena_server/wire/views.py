"""Views, both ways: the public part is encoded once an event, and its discards and melds once in their life."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from rummyarena.v1 import view_pb2
from rummyarena_rules.cards import Card
from rummyarena_rules.ruleset import AnyPublic, AnyView
from rummyarena_rules.table import DealResult, DiscardedCard, Phase, Private, Public, TableMeld, View
from rummyarena_server.wire.events import DEAL_END_NUMBERS, read_deal_end
from rummyarena_server.wire.facts import discard_message, encode_facts, read_discard, read_facts
from rummyarena_server.wire.fields import (
    CARD_NUMBERS,
    card_list,
    card_numbers,
    cards_of_lists,
    known_card,
    known_cards,
    packed,
    repeated,
    tagged,
)

_PHASES: Final = {phase: view_pb2.Phase.Value(f"PHASE_{phase.name}") for phase in Phase}
_PHASE_OF_NUMBER: Final = {number: phase for phase, number in _PHASES.items()}


def encode_view(public: bytes, seat: int | None = None, private: bytes | None = None) -> bytes:
    """Returns a serialised `View` of parts that `encode_public` and `encode_private` gave; a spectator has only one."""
    looking = b"" if seat is None else view_pb2.View(seat=seat).SerializeToString()
    mine = b"" if private is None else tagged(view_pb2.View.PRIVATE_PART_FIELD_NUMBER, private)
    return tagged(view_pb2.View.PUBLIC_PART_FIELD_NUMBER, public) + looking + mine


def encode_public(public: AnyPublic) -> bytes:
    """Returns what everybody may see as a serialised `Public`."""
    return b"".join(
        (
            _small_fields(public).SerializeToString(),
            *map(_discard_field, public.discards),
            *map(_meld_field, public.melds),
            repeated(view_pb2.Public.KNOWN_FIELD_NUMBER, map(_encode_cards, public.known)),
            encode_facts(public.facts),
        )
    )


def encode_private(private: Private, *, answered: bool = False) -> bytes:
    """Returns what one seat alone may see as a serialised `Private`."""
    return view_pb2.Private(
        hand=card_numbers(private.hand),
        drawn=None if private.drawn is None else CARD_NUMBERS[private.drawn],
        cut=private.cut,
        answered=answered,
    ).SerializeToString()


def read_view(message: view_pb2.View, options: Any) -> AnyView:
    """Returns the rules' view, for looking ahead with them; `options`: as the ruleset's `configure` returned them.

    `ValueError` for what only a newer version of this program knows.
    """
    public = _read_public(message.public_part, options)
    if not message.HasField("seat"):
        return View(public, None, None)
    return View(public, message.seat, _read_private(message.private_part), message.private_part.answered)


# --- writing ---------------------------------------------------------------------------------------------------------


def _small_fields(public: AnyPublic) -> view_pb2.Public:
    return view_pb2.Public(
        deal=public.deal,
        dealer=public.dealer,
        direction=public.direction,
        first=public.first,
        turn=public.turn,
        turn_number=public.turn_number,
        phase=_PHASES[public.phase],
        stock_count=public.stock_count,
        aside_count=public.aside_count,
        hand_counts=public.hand_counts,
        totals=public.totals,
        result=None if public.result is None else _result(public.result),
        over=public.over,
    )


def _result(result: DealResult) -> view_pb2.DealResult:
    return view_pb2.DealResult(
        end=DEAL_END_NUMBERS[result.end],
        seat=result.seat,
        knock_card=None if result.knock_card is None else CARD_NUMBERS[result.knock_card],
        dark=result.dark,
        hands=map(card_list, result.hands),
        scores=result.scores,
    )


# A table keeps its discards and melds over many decisions, so each is written once, its tag included.


@lru_cache(1 << 14)
def _discard_field(one: DiscardedCard) -> bytes:
    return tagged(view_pb2.Public.DISCARDS_FIELD_NUMBER, discard_message(one).SerializeToString())


@lru_cache(1 << 14)
def _meld_field(meld: TableMeld) -> bytes:
    message = view_pb2.TableMeld(
        owner=meld.owner, cards=card_numbers(meld.cards), placers=meld.placers, start=meld.start
    )
    return tagged(view_pb2.Public.MELDS_FIELD_NUMBER, message.SerializeToString())


def _encode_cards(some: Sequence[Card]) -> bytes:
    return packed(1, card_numbers(some))


# --- reading ---------------------------------------------------------------------------------------------------------


def _read_public(message: view_pb2.Public, options: Any) -> AnyPublic:
    seats = len(message.totals)
    return Public(
        options=options,
        seats=seats,
        facts=read_facts(message, seats),
        deal=message.deal,
        dealer=message.dealer,
        direction=message.direction,
        first=message.first,
        turn=message.turn,
        turn_number=message.turn_number,
        phase=_read_phase(message.phase),
        stock_count=message.stock_count,
        aside_count=message.aside_count,
        discards=list(map(read_discard, message.discards)),
        melds=list(map(_read_meld, message.melds)),
        hand_counts=list(message.hand_counts),
        known=[list(some) for some in cards_of_lists(message.known)],
        totals=list(message.totals),
        result=_read_result(message.result) if message.HasField("result") else None,
        over=message.over,
    )


def _read_phase(number: view_pb2.Phase.ValueType) -> Phase:
    try:
        return _PHASE_OF_NUMBER[number]
    except KeyError:
        raise ValueError(f"{number} is not the number of a phase; the sender is newer than this program") from None


def _read_meld(message: view_pb2.TableMeld) -> TableMeld:
    return TableMeld(message.owner, known_cards(message.cards), tuple(message.placers), message.start)


def _read_result(message: view_pb2.DealResult) -> DealResult:
    return DealResult(
        end=read_deal_end(message.end),
        seat=message.seat if message.HasField("seat") else None,
        knock_card=known_card(message.knock_card) if message.HasField("knock_card") else None,
        dark=message.dark,
        hands=cards_of_lists(message.hands),
        scores=tuple(message.scores),
    )


def _read_private(message: view_pb2.Private) -> Private:
    return Private(
        hand=list(known_cards(message.hand)),
        drawn=known_card(message.drawn) if message.HasField("drawn") else None,
        cut=message.cut if message.HasField("cut") else None,
    )
