"""A game for readers: each event as a line of text, or as JSON, cards in notation."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final

from rummyarena_rules.cards import Card, text_of
from rummyarena_rules.events import (
    CardsSetAside,
    CardTurnedUp,
    CutAsked,
    DealEnded,
    DealStarted,
    Discarded,
    DiscardsTaken,
    DrawDeclared,
    Event,
    HandDealt,
    JokerSwapped,
    Knocked,
    LaidOff,
    MeldLaid,
    Passed,
    PenaltyCharged,
    ShoeCut,
    StockDrawn,
    StockReshuffled,
    TurnStarted,
    UpcardBought,
    WindowClosed,
    WindowOpened,
)


def event_text(event: Event) -> str:
    """Writes an event as one line; what its viewer may not see is written as `?`."""
    return _WRITERS[type(event)](event)


def event_json(event: Event) -> dict[str, object]:
    """Returns an event as JSON: its kind under `event`, then its fields; what its viewer may not see is null."""
    kind = _INNER_CAPITAL.sub("_", type(event).__name__).lower()
    return {"event": kind} | {one.name: _plain(getattr(event, one.name)) for one in fields(event)}


_INNER_CAPITAL: Final = re.compile(r"(?<!^)(?=[A-Z])")


def _plain(value: object) -> object:
    if isinstance(value, Card):
        return str(value)
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def _hidden(some: tuple[Card, ...] | Card | int | None) -> str:
    if some is None:
        return "?"
    return text_of(some) if isinstance(some, tuple) else str(some)


def _deal_started(event: DealStarted) -> str:
    turn = "clockwise" if event.direction == 1 else "anticlockwise"
    return f"deal {event.deal}: dealer {event.dealer}, {turn}, first seat {event.first}, shoe {_hidden(event.shoe)}"


def _shoe_cut(event: ShoeCut) -> str:
    exact = ", exactly" if event.exact else ""
    return f"seat {event.seat} cuts at {_hidden(event.position)} (asked {_hidden(event.asked)}){exact}"


def _meld_laid(event: MeldLaid) -> str:
    return f"seat {event.seat} lays m{event.meld}: {text_of(event.cards)}"


def _laid_off(event: LaidOff) -> str:
    below = f"{text_of(event.low)} below" if event.low else ""
    return f"seat {event.seat} lays off on m{event.meld}: {', '.join(filter(None, (below, text_of(event.high))))}"


def _deal_ended(event: DealEnded) -> str:
    lines = [f"end of the deal: {event.end}" + ("" if event.seat is None else f" by seat {event.seat}")]
    if event.knock_card is not None:
        lines.append(f"  knock card {event.knock_card}{', dark' if event.dark else ''}")
    lines += [
        f"  seat {seat}: score {event.scores[seat]}, total {event.totals[seat]}, hand {text_of(hand) or 'empty'}"
        for seat, hand in enumerate(event.hands)
    ]
    return "\n".join([*lines, "  the game is over"] if event.over else lines)


_WRITERS: Final[dict[type[Event], Callable[[Any], str]]] = {
    DealStarted: _deal_started,
    CutAsked: lambda e: f"seat {e.seat} is asked for the cut",
    ShoeCut: _shoe_cut,
    HandDealt: lambda e: f"seat {e.seat} is dealt {e.count}: {_hidden(e.cards)}",
    CardTurnedUp: lambda e: f"turned up: {e.card}, stock {e.stock_count}",
    CardsSetAside: lambda e: f"{e.count} cards are set aside",
    TurnStarted: lambda e: f"seat {e.seat} is on turn{' for the last time' if e.last else ''}",
    DrawDeclared: lambda e: f"seat {e.seat} will draw",
    StockDrawn: lambda e: f"seat {e.seat} draws {_hidden(e.card)}",
    DiscardsTaken: lambda e: f"seat {e.seat} takes {text_of(e.cards)}",
    WindowOpened: lambda e: f"the upcard is offered to {' '.join(map(str, e.seats))}",
    WindowClosed: lambda e: "nobody buys" if e.buyer is None else f"seat {e.buyer} buys",
    UpcardBought: lambda e: (
        f"seat {e.seat} gets {e.card} and {e.penalty_count} from the stock: {_hidden(e.penalty_cards)}"
    ),
    Passed: lambda e: f"seat {e.seat} passes",
    MeldLaid: _meld_laid,
    LaidOff: _laid_off,
    JokerSwapped: lambda e: f"seat {e.seat} swaps {e.card} for the joker in m{e.meld}",
    Discarded: lambda e: f"seat {e.seat} discards {e.card}",
    PenaltyCharged: lambda e: f"seat {e.seat} is charged: {e.rule} ({e.card})",
    Knocked: lambda e: f"seat {e.seat} knocks{' dark' if e.dark else ''}, keeping {_hidden(e.card)}",
    StockReshuffled: lambda e: f"{e.count} discards become the stock: {_hidden(e.cards)}",
    DealEnded: _deal_ended,
}
