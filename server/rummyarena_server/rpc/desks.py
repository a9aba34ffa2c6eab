"""What a bot is still to be told of one game, and what the seats of a game share of it.

Nothing is written before it is sent: a decision from the view as it is then, events from the one log of their game. So
a bot that does not read costs no memory, and one that comes back is told what it missed.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from rummyarena_rules.events import Event, Seat, redact
from rummyarena_rules.moves import Move
from rummyarena_rules.ruleset import Candidates, Refusal
from rummyarena_server.referee.clock import now
from rummyarena_server.referee.outcome import GameOutcome
from rummyarena_server.referee.players import Question, RefusedMove, Sitting
from rummyarena_server.wire import (
    MOST_PROBES,
    Hello,
    ProtocolWord,
    encode_decision,
    encode_event,
    encode_game_over,
    encode_game_setup,
    encode_private,
    encode_probe_result,
    encode_public,
    encode_rejection,
    encode_update,
    encode_view,
)

_log = logging.getLogger(__name__)


def book_on_us(sitting: Sitting, failure: Exception) -> None:
    """Ends a game by a failure of our own: no bot is blamed, and no other game of the bot suffers."""
    setup, seat = sitting.setup, sitting.seat
    _log.error("game %s, seat %d: a failure of our own ends the game", setup.game_id, seat, exc_info=failure)
    sitting.fail(failure)


class Table:
    """What the seats of one game share, serialised once: the public part of the view, and the events."""

    def __init__(self) -> None:
        self._public = (-1, b"")
        self._events: list[bytes] = []  # as everybody may see them
        self._own: dict[tuple[int, Seat], bytes] = {}  # as the one seat sees them that may see more
        self._first = 1

    def public(self, question: Question) -> bytes:
        """Returns the public part of a question's view."""
        if self._public[0] != question.events:
            self._public = question.events, encode_public(question.view.public)
        return self._public[1]

    def keep(self, seat: Seat, first: int, events: Sequence[Event]) -> None:
        """Keeps events, as a seat may see them, that follow what it had kept; `first`: the number of the first."""
        if not self._events:
            self._first = first
        for sequence, event in enumerate(events, first):
            public = redact(event, None)
            if sequence == self.last + 1:
                self._events.append(encode_event(sequence, public))
            if public != event:
                self._own[sequence, seat] = encode_event(sequence, event)

    @property
    def last(self) -> int:
        """The number of the last event that was kept."""
        return self._first + len(self._events) - 1

    def events(self, seat: Seat, after: int) -> list[bytes]:
        """Returns the events that follow the number `after` as a seat may see them."""
        start = max(0, after + 1 - self._first)
        return [
            self._own.get((sequence, seat), public)
            for sequence, public in enumerate(self._events[start:], self._first + start)
        ]


class Desk:
    """What is pending for one seat of a bot.

    `hello`: what the bot asked for when the game began, which says what it is told of it.
    """

    def __init__(self, sitting: Sitting, table: Table, hello: Hello | None) -> None:
        self.sitting = sitting
        self.game_id = sitting.setup.game_id
        self._table = table
        self._wants = hello
        self._owes_setup = True
        self._is_known = False  # to the bot, on whatever stream
        self._told = 0  # the number of the last event that was sent
        self._question: Question | None = None
        self._rejections: list[bytes] = []
        self._over: bytes | None = None
        self._probed = ("", 0)  # a decision, and how many moves of it were probed

    # --- what comes from the game

    def tell(self, first: int, events: Sequence[Event]) -> bool:
        """Keeps events if the bot wants them, and returns whether it does."""
        wants_events = self._wants is None or self._wants.wants_events
        if wants_events:
            try:
                self._table.keep(self.sitting.seat, first, events)
            except Exception as failure:
                book_on_us(self.sitting, failure)
        return wants_events

    def ask(self, question: Question) -> None:
        """Has a question sent."""
        self._question = question

    def reject(self, refused: RefusedMove) -> None:
        """Has a refusal sent."""
        try:
            rejection = encode_rejection(
                self.game_id, refused.decision_id, refused.index, refused.refusal, refused.attempts_left
            )
        except Exception as failure:
            book_on_us(self.sitting, failure)
        else:
            self._rejections.append(rejection)

    def end(self, outcome: GameOutcome | None, seed: bytes | None) -> None:
        """Has the end sent; an end that cannot be sent is told as that of a game that was abandoned."""
        self._over = _ABANDONED
        if outcome is not None:
            try:
                self._over = _over(outcome, seed)
            except Exception as failure:
                book_on_us(self.sitting, failure)

    # --- what comes from the bot

    def resume(self, hello: Hello) -> None:
        """Has everything sent that a bot with a new stream has missed."""
        if self._wants is None:
            self._wants = hello
        known_to = hello.resumes.get(self.game_id)
        self._owes_setup = known_to is None
        self._told = min(known_to or 0, self._table.last)
        self._question = self.sitting.question
        if known_to is None:
            self._rejections.clear()

    def probe(self, decision_id: str, moves: Sequence[Move | Refusal]) -> tuple[bytes, int]:
        """Returns the judgements of moves as a field of a frame, and how many moves were judged."""
        question = self.sitting.question
        if question is None or not self.sitting.awaits(decision_id):
            return encode_probe_result(self.game_id, decision_id, (), "stale_decision"), 0
        probed = self._probed[1] if self._probed[0] == decision_id else 0
        judged = moves[: MOST_PROBES - probed]
        self._probed = decision_id, probed + len(judged)
        check, view = self.sitting.setup.ruleset.check, question.view
        judgements = [one if isinstance(one, Refusal) else check(view, one) for one in judged]
        rest: ProtocolWord | None = "too_many_probes" if len(judged) < len(moves) else None
        return encode_probe_result(self.game_id, decision_id, judgements, rest), len(judged)

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be told when what is pending is sent."""
        return self._over is not None

    # --- for the frame

    def take(self, hello: Hello) -> list[bytes]:
        """Returns what is pending as fields of a frame; nothing is pending then."""
        if self.sitting.failure is None:
            try:
                return self._news(hello)
            except Exception as failure:
                book_on_us(self.sitting, failure)
        return self._last_news()

    def _last_news(self) -> list[bytes]:
        """Returns the end of a game that failed, if the bot knows of the game."""
        if self._over is None or not self._is_known:
            return []
        return [encode_update(self.game_id, over=self._over)]

    def _news(self, hello: Hello) -> list[bytes]:
        fields, self._rejections = self._rejections, []
        is_open = self._question is self.sitting.question and self.sitting.owes_answer
        question, self._question = self._question if is_open else None, None
        events = self._untold()
        if question or self._owes_setup or events or self._over is not None:
            fields.append(self._update(hello, question, events))
        self._owes_setup, self._is_known = False, True
        return fields

    def _untold(self) -> list[bytes]:
        if self._wants is None or not self._wants.wants_events:
            return []
        events = self._table.events(self.sitting.seat, self._told)
        self._told = self._table.last
        return events

    def _update(self, hello: Hello, question: Question | None, events: Sequence[bytes]) -> bytes:
        wants_view = self._wants is not None and self._wants.wants_view
        return encode_update(
            self.game_id,
            setup=_setup(self.sitting) if self._owes_setup else None,
            events=events,
            view=_view(question, self._table) if question and wants_view else None,
            decision=_decision(self.sitting, question, hello.candidate_limit) if question else None,
            over=self._over,
        )


# --- messages --------------------------------------------------------------------------------------------------------


def _setup(sitting: Sitting) -> bytes:
    setup, control = sitting.setup, sitting.setup.time_control
    return encode_game_setup(
        ruleset=setup.ruleset.name,
        rules_version=setup.ruleset.version,
        options=setup.options,
        seats=setup.seats,
        seat=sitting.seat,
        bot_names=[bot.name for bot in setup.bots],
        seed_digest=setup.seed_digest,
        time_control=(control.decision, control.bank, control.increment) if control else None,
    )


def _view(question: Question, table: Table) -> bytes:
    view = question.view
    private = None if view.private is None else encode_private(view.private, answered=view.answered)
    return encode_view(table.public(question), view.seat, private)


def _decision(sitting: Sitting, question: Question, candidate_limit: int) -> bytes:
    left, bank = sitting.think.left(now()), sitting.think.bank
    return encode_decision(
        question.decision_id,
        question.verbs,
        _candidates(sitting, question, candidate_limit),
        question.random_seed,
        time_left=left,
        bank=None if left is None or bank is None else min(left, bank),
    )


def _candidates(sitting: Sitting, question: Question, limit: int) -> Candidates:
    if limit == 0:
        return Candidates((), complete=False)
    return sitting.setup.ruleset.candidates(question.view, limit)


_ABANDONED: Final = encode_game_over(ranks=(), totals=())


def _over(outcome: GameOutcome, seed: bytes | None) -> bytes:
    return encode_game_over(
        ranks=outcome.ranks,
        totals=outcome.totals,
        deals=outcome.deals,
        forfeits=[(one.seat, one.reason) for one in outcome.forfeits],
        seed=seed,
    )
