"""What a bot answers to each message of the referee: the part of the client that knows no connection."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias, runtime_checkable

from rummyarena.decisions import STALE_DECISION, Answer, Decision, Rejection, moves_of, rejection_from
from rummyarena.games import NO_OUTCOME, Event, Game, Outcome, events_from, game_from, outcome_from
from rummyarena.moves import move_to_wire
from rummyarena.v1 import event_pb2, play_pb2
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
        """Is told everything that happened, as this seat may see it, before the decision that follows it.

        Nothing comes twice and nothing is left out, also when the connection was lost in between.
        """
        ...

    def game_over(self, game: Game, outcome: Outcome) -> None:
        """Is told the end of a game."""
        ...


Bot: TypeAlias = Callable[[Decision], Answer] | DecidingBot


@dataclass(slots=True)
class _Seat:
    """A game that is on.

    `rejection`: a refusal of which the bot has not been told yet. `last_sequence`: of the events it was told.
    """

    game: Game
    decision: Decision | None = None
    rejection: Rejection | None = None
    last_sequence: int = 0


def _decide_of(bot: Bot) -> Callable[[Decision], Answer]:
    if isinstance(bot, type):
        raise TypeError(f"{bot.__name__} is a class: pass one of its objects, {bot.__name__}()")
    if isinstance(bot, DecidingBot):
        return bot.decide
    if callable(bot):
        return bot
    raise TypeError(f"{bot!r} is no bot: pass a function of a decision, or an object with a method decide")


class Session:
    """The games of one bot; they outlive a stream that is lost."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._decide = _decide_of(bot)
        self._seats: dict[str, _Seat] = {}
        self.server_version: str | None = None

    @property
    def wants(self) -> play_pb2.Wants.ValueType:
        """What the bot wants to be told: events too if it has a method `observe`."""
        return play_pb2.WANTS_BOTH if hasattr(self._bot, "observe") else play_pb2.WANTS_VIEW

    @property
    def resumes(self) -> list[play_pb2.Resume]:
        """The games that are on, as a new stream is told them."""
        return [play_pb2.Resume(game_id=one, last_sequence=seat.last_sequence) for one, seat in self._seats.items()]

    def respond(self, response: play_pb2.PlayResponse) -> play_pb2.PlayRequest | None:
        """Returns the answers to all decisions of one message as one message, or `None` if nothing is owed.

        What the bot raises is passed on. Without a connection this is how to have a bot play in a test of its own.
        """
        answers = list(self.answers(response))
        return play_pb2.PlayRequest(answers=answers) if answers else None

    def answers(self, response: play_pb2.PlayResponse) -> Iterator[play_pb2.Answer]:
        """Yields the answers to all decisions of one message, each as soon as the bot has given it."""
        if response.HasField("welcome"):
            self._note_welcome(response.welcome)
        if response.HasField("going_away"):
            LOG.info("the server starts no more games: %s", response.going_away.message)
        at = time.monotonic()
        refused = [self._note_rejection(one) for one in response.rejections]
        owed = [self._note_update(one) for one in response.updates]
        asked = {one.game_id: one for one in (*refused, *owed) if one is not None}
        for one in asked.values():
            yield self._answer(one, at)

    def _note_welcome(self, welcome: play_pb2.Welcome) -> None:
        self.server_version = welcome.server_version
        LOG.info("session %s with a server of version %s", welcome.session_id, welcome.server_version)
        for game_id in welcome.gone_game_ids:
            seat = self._seats.pop(game_id, None)
            if seat is not None:
                LOG.warning("game %s ended while the connection was lost", game_id)
                self._tell("game_over", seat.game, NO_OUTCOME)

    def _note_rejection(self, message: play_pb2.MoveRejected) -> Decision | None:
        """Returns the decision that is asked again because of a refusal, if it is still open under its id."""
        rejection = rejection_from(message)
        # A decision that closes while it is answered is nobody's mistake: another seat may have ended the game.
        LOG.log(
            logging.DEBUG if rejection.reason == STALE_DECISION else logging.WARNING,
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
        if seat is None:
            seat = self._start(update)
        self._note_events(seat, update.events)
        if update.HasField("over"):
            del self._seats[update.game_id]
            self._tell("game_over", seat.game, outcome_from(update.over))
            return None
        if not update.HasField("decision"):
            return None
        return self._note_decision(seat, update)

    def _note_events(self, seat: _Seat, messages: Sequence[event_pb2.Event]) -> None:
        news = [one for one in messages if one.sequence > seat.last_sequence]
        if news:
            seat.last_sequence = news[-1].sequence
            self._tell("observe", seat.game, events_from(news))

    def _note_decision(self, seat: _Seat, update: play_pb2.GameUpdate) -> Decision:
        before, rejection = seat.decision, seat.rejection
        if before is not None and before.decision_id == update.decision.decision_id:  # sent again by a new stream
            rejection = before.rejection
        seat.decision = Decision(seat.game, update.decision, View(update.view), rejection)
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

    def _answer(self, decision: Decision, asked_at: float) -> play_pb2.Answer:
        moves = moves_of(self._decide(decision))
        spent = time.monotonic() - asked_at
        if decision.time_left is not None and spent > decision.time_left:
            LOG.warning(
                "game %s: answered after %.3f s, where %.3f s were left: the referee has played instead; think less, "
                "or play fewer games at once (max_concurrent_games)",
                decision.game_id,
                spent,
                decision.time_left,
            )
        return play_pb2.Answer(
            game_id=decision.game_id, decision_id=decision.decision_id, moves=map(move_to_wire, moves)
        )
