"""The SDK for bots of Rummy Arena.

A whole bot::

    from rummyarena import Decision, Move, run

    def bot(decision: Decision) -> Move:
        return decision.candidates[0]

    run(bot)

A bot is asked for a `Decision` and returns a `Move`, its notation such as `"discard KD"`, or a list of them that are
played in order within the turn. `decision.view` is all that the seat may see, `decision.candidates` are legal moves.
"""

from __future__ import annotations

from rummyarena.cards import CARDS, JOKER, Card, card, cards
from rummyarena.client import ConnectionFailedError, play, run
from rummyarena.decisions import Answer, Decision, Rejection
from rummyarena.games import Event, Game, Outcome
from rummyarena.moves import (
    Move,
    buy,
    cut,
    discard,
    down,
    draw,
    knock,
    layoff,
    meld,
    pass_,
    swap,
    take,
    take_onto,
    take_upcard,
)
from rummyarena.session import Bot, DecidingBot, Observer
from rummyarena.settings import Settings, SettingsError
from rummyarena.stopping import Stop
from rummyarena.version import __version__
from rummyarena.views import DealResult, DiscardedCard, LiverpoolFacts, Penalty, TableMeld, ThaiFacts, View

__all__ = [
    "CARDS",
    "JOKER",
    "Answer",
    "Bot",
    "Card",
    "ConnectionFailedError",
    "DealResult",
    "DecidingBot",
    "Decision",
    "DiscardedCard",
    "Event",
    "Game",
    "LiverpoolFacts",
    "Move",
    "Observer",
    "Outcome",
    "Penalty",
    "Rejection",
    "Settings",
    "SettingsError",
    "Stop",
    "TableMeld",
    "ThaiFacts",
    "View",
    "__version__",
    "buy",
    "card",
    "cards",
    "cut",
    "discard",
    "down",
    "draw",
    "knock",
    "layoff",
    "meld",
    "pass_",
    "play",
    "run",
    "swap",
    "take",
    "take_onto",
    "take_upcard",
]
