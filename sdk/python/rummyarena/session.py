"""What a bot answers to each message of the referee: the part of the client that knows no connection."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias, runtime_checkable

from rummyarena.decisions import Answer, Decision, Rejection, moves_of, rejection_from
from rummyarena.games import Event, Game, Outcome, events_from, game_from, outcome_from
from rummyarena.moves import move_to_wire
from rummyarena.v1 import play_pb2
from rummyarena.views import View

LOG: Final = logging.getLogger("rummyarena")


@runtime_checkable
class DecidingBot(Protocol):
    """A bot that is an object; besides `decide` it may have any of the methods of `Observer`."""

    def decide(self, decision: Decision) -> Answer:
        """Returns what to play."""
        ...


class Observer(Protocol):
    """What an object may have to be told more; each method is optional."""

    def game_started(self, game: Game) -> None:
        """Is told before the first decision of a game."""
        ...

    def observe(self, game: Game, events: Sequence[Event]) -> None:
        """Is told everything that happened, as this seat may see it, before the decision that follows it."""
        ...

    def game_over(self, game: Game, outcome: Outcome) -> None:
        """Is told the end of a game."""
        ...


Bot: TypeAlias = Callable[[Decision], Answer] | DecidingBot


@dataclass(slots=True)
class _Seat:
    """A game that is on: its open decision, and a refusal of which the bot has not been told yet."""

    game: Game
    decision: Decision | None = None
    rejection: Rejection | None = None


def _decide_of(bot: Bot) -> Callable[[Decision], Answer]:
    if isinstance(bot, DecidingBot):
        return bot.decide
    if callable(bot):
        return bot
    raise TypeError(f"{bot!r} is no bot: pass a function of a decision, or an object with a method decide")


class Session:
    """The games of one stream."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._decide = _decide_of(bot)
        self._seats: dict[str, _Seat] = {}
        self.server_version: str | None = None

    @property
    def wants(self) -> play_pb2.Wants.ValueType:
        """What the bot wants to be told: events too if it has a method `observe`."""
        return play_pb2.WANTS_BOTH if hasattr(self._bot, "observe") else play_pb2.WANTS_VIEW

    def respond(self, response: play_pb2.PlayResponse) -> play_pb2.PlayRequest | None:
        """Returns the answers to all decisions of one message as one message, or `None` if nothing is owed.

        What the bot raises is passed on.
        """
        if response.HasField("welcome"):
            self.server_version = response.welcome.server_version
        if response.HasField("going_away"):
            LOG.info("the server starts no more games: %s", response.going_away.message)
        refused = [self._note_rejection(one) for one in response.rejections]
        owed = [self._note_update(one) for one in response.updates]
        asked = {one.game_id: one for one in (*refused, *owed) if one is not None}
        if not asked:
            return None
        return play_pb2.PlayRequest(answers=[self._answer(one) for one in asked.values()])

    def _note_rejection(self, message: play_pb2.MoveRejected) -> Decision | None:
        """Returns the decision that is asked again because of a refusal, if it is still open under its id."""
        rejection = rejection_from(message)
        LOG.warning(
            "game %s: move %d of the answer was refused (%s): %s",
            message.game_id,
            rejection.index + 1,
            rejection.reason,
            rejection.message,
        )
        seat = self._seats.get(message.game_id)
        if seat is None or rejection.attempts_left == 0:
            return None
        if rejection.index > 0 or seat.decision is None or seat.decision.decision_id != message.decision_id:
            seat.rejection = rejection  # the moves before it stand; the decision that follows comes as an update
            return None
        seat.decision = seat.decision.again(rejection)
        return seat.decision

    def _note_update(self, update: play_pb2.GameUpdate) -> Decision | None:
        """Tells the bot the news of a game and returns the decision that is owed, if any."""
        seat = self._seats.get(update.game_id)
        if seat is None or update.HasField("setup"):
            seat = self._start(update)
        if update.events:
            self._tell("observe", seat.game, events_from(update.events))
        if update.HasField("over"):
            del self._seats[update.game_id]
            self._tell("game_over", seat.game, outcome_from(update.over))
            return None
        if not update.HasField("decision"):
            return None
        seat.decision = Decision(seat.game, update.decision, View(update.view), seat.rejection)
        seat.rejection = None
        return seat.decision

    def _start(self, update: play_pb2.GameUpdate) -> _Seat:
        seat = _Seat(game_from(update.game_id, update.setup))
        self._seats[update.game_id] = seat
        self._tell("game_started", seat.game)
        return seat

    def _tell(self, method: str, *news: object) -> None:
        listener = getattr(self._bot, method, None)
        if listener is not None:
            listener(*news)

    def _answer(self, decision: Decision) -> play_pb2.Answer:
        moves = moves_of(self._decide(decision))
        return play_pb2.Answer(
            game_id=decision.game_id, decision_id=decision.decision_id, moves=map(move_to_wire, moves)
        )
