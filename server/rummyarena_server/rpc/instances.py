"""Running copies of bots as the referee's players: what each is still to be told, and whether it is there.

News waits here until the bot's writer is free and then goes out in one frame, so a slow reader costs bounded memory:
a decision is written when it is sent, from the view as it is then, and events are kept only for bots that want them.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Final, Protocol

import grpc
import trio

from rummyarena_rules.events import Event
from rummyarena_rules.ruleset import Candidates
from rummyarena_server.referee.clock import SECOND, Deadline, Deadlines, now
from rummyarena_server.referee.outcome import GameOutcome
from rummyarena_server.referee.players import Question, RefusedMove, Sitting
from rummyarena_server.referee.record import ForfeitReason, GameSetup
from rummyarena_server.wire import (
    Hello,
    encode_decision,
    encode_event,
    encode_game_over,
    encode_game_setup,
    encode_private,
    encode_public,
    encode_rejection,
    encode_update,
    encode_view,
)

MOST_GAMES: Final = 256
MOST_PENDING_BYTES: Final = 1 << 20
STALL: Final = SECOND
"""After this long without a free writer the time of pending decisions runs: who does not read loses its own time."""


class Outlet(Protocol):
    """The sending end of a stream, as the bridge gives it."""

    def wake(self) -> None:
        """Says that something is pending."""
        ...

    def finish(self) -> None:
        """Ends the stream normally after what is pending."""
        ...

    def abort(self, code: grpc.StatusCode, message: str) -> None:
        """Ends the stream with an error."""
        ...


def ended_token(reason: ForfeitReason) -> str:
    """Returns the sentence for a bot whose instance has given up."""
    return f"this token has ended, for its bot was given up ({reason})"


class Table:
    """Serialised parts of one game that several of its seats are sent, made once."""

    def __init__(self) -> None:
        self._first = 0
        self._events: dict[int, tuple[Event, bytes]] = {}
        self._public = (-1, b"")

    def events(self, first: int, events: Sequence[Event]) -> list[bytes]:
        """Returns events, the first with the number `first`, as serialised messages; public ones are shared."""
        if first != self._first:
            self._first, self._events = first, {}
        return [self._event(sequence, event) for sequence, event in enumerate(events, first)]

    def _event(self, sequence: int, event: Event) -> bytes:
        kept = self._events.get(sequence)
        if kept is not None and kept[0] is event:  # what is redacted is another object
            return kept[1]
        encoded = encode_event(sequence, event)
        self._events[sequence] = event, encoded
        return encoded

    def public(self, question: Question) -> bytes:
        """Returns the public part of a question's view."""
        if self._public[0] != question.events:
            self._public = question.events, encode_public(question.view.public)
        return self._public[1]


class Desk:
    """What is pending for one game of an instance."""

    def __init__(self, sitting: Sitting, table: Table) -> None:
        self.sitting = sitting
        self.table = table
        self.owes_setup = True
        self.question: Question | None = None
        self.events: list[bytes] = []
        self.rejections: list[bytes] = []
        self.over: bytes | None = None

    def take(self, hello: Hello) -> list[bytes]:
        """Returns what is pending as fields of a frame; nothing is pending then."""
        fields, self.rejections = self.rejections, []
        is_open = self.question is self.sitting.question and self.sitting.owes_answer
        question, self.question = self.question if is_open else None, None
        if question or self.owes_setup or self.events or self.over is not None:
            fields.append(self._update(hello, question))
        self.owes_setup = False
        return fields

    def _update(self, hello: Hello, question: Question | None) -> bytes:
        events, self.events = self.events, []
        return encode_update(
            self.sitting.setup.game_id,
            setup=_setup(self.sitting) if self.owes_setup else None,
            events=events,
            view=_view(question, self.table) if question and hello.wants_view else None,
            decision=_decision(self.sitting, question, hello.candidate_limit) if question else None,
            over=self.over,
        )


class Instance:
    """One running copy of a bot, with its own token, stream and process; it sits at one seat of a game at most.

    `hello`: what the bot asked for, `None` before. `gave_up`: why it plays no more, `None` while it may; `gone` also if
    it left of its own accord.
    """

    def __init__(self, registry: Registry, name: str, capacity: int) -> None:
        self.name = name
        self.token = secrets.token_urlsafe(32)
        self.hello: Hello | None = None
        self.gave_up: ForfeitReason | None = None
        self.is_draining = False
        self._registry = registry
        self._capacity = capacity
        self._outlet: Outlet | None = None
        self._is_greeted = False
        self._desks: dict[str, Desk] = {}
        self._pending: dict[str, Desk] = {}
        self._pending_bytes = 0
        self._lost: Deadline | None = None
        self._stalled: Deadline | None = None
        self._is_stalled = False

    # --- for who runs the games

    @property
    def is_ready(self) -> bool:
        """Whether the bot has a stream on which it said Hello."""
        return self._is_greeted and self.gave_up is None

    @property
    def capacity(self) -> int:
        """How many games the bot is given at once at most; 0 before Hello."""
        return min(self._capacity, self.hello.max_concurrent_games) if self.hello else 0

    @property
    def free_places(self) -> int:
        """How many more games the bot can be given now; a game counts until its end was sent."""
        if not self.is_ready or self.is_draining or self._registry.going_away is not None:
            return 0
        return max(0, self.capacity - len(self._desks))

    async def wait_ready(self) -> bool:
        """Waits for Hello; returns false if the bot gave up instead."""
        while not self.is_ready and self.gave_up is None:
            await self._registry.changed()
        return self.is_ready

    async def wait_given_up(self) -> ForfeitReason:
        """Waits until the bot will play no more, and returns why."""
        while self.gave_up is None:
            await self._registry.changed()
        return self.gave_up

    def give_up(self, reason: ForfeitReason) -> None:
        """Ends the instance for good and forfeits the games it is in: `exited` when its process has ended."""
        if self.gave_up is None:
            self.gave_up = reason
            self._cancel_deadlines()
            self._forfeit_games(reason)
            if self._outlet is not None:
                self._outlet.abort(grpc.StatusCode.UNAUTHENTICATED, ended_token(reason))
            self._registry.note_change()

    # --- the referee's player

    def begin(self, sitting: Sitting) -> None:
        """Takes a seat."""
        if self.gave_up is not None:
            sitting.forfeit(self.gave_up)
            return
        setup = sitting.setup
        self._desks[setup.game_id] = Desk(sitting, self._registry.table(setup))
        self._wake(self._desks[setup.game_id])

    def tell(self, sitting: Sitting, sequence: int, events: Sequence[Event]) -> None:
        """Keeps events for a bot that wants them."""
        desk = self._desks.get(sitting.setup.game_id)
        if desk is not None and self.hello is not None and self.hello.wants_events:
            encoded = desk.table.events(sequence, events)
            desk.events += encoded
            self._wake(desk, sum(map(len, encoded)))

    def ask(self, sitting: Sitting, question: Question) -> None:
        """Has the question sent as soon as the writer is free; without a stream its time runs at once."""
        desk = self._desks.get(sitting.setup.game_id)
        if desk is not None:
            desk.question = question
            self._wake(desk)
            self._run_clock_if_unread(sitting)

    def reject(self, sitting: Sitting, refused: RefusedMove) -> None:
        """Has a refusal sent."""
        desk = self._desks.get(sitting.setup.game_id)
        if desk is not None:
            encoded = encode_rejection(
                sitting.setup.game_id, refused.decision_id, refused.index, refused.refusal, refused.attempts_left
            )
            desk.rejections.append(encoded)
            self._wake(desk, len(encoded))
            self._run_clock_if_unread(sitting)

    def end(self, sitting: Sitting, outcome: GameOutcome | None, seed: bytes | None) -> None:
        """Has the end sent; the place is free after that."""
        desk = self._desks.get(sitting.setup.game_id)
        self._registry.forget_table(sitting.setup)
        if desk is not None:
            desk.over = _over(outcome, seed)
            self._wake(desk, len(desk.over))

    # --- for its stream

    def connect(self, outlet: Outlet) -> None:
        """Takes a stream, which replaces the one there was."""
        before, self._outlet = self._outlet, outlet
        if before is not None:
            self._note_lost()
            before.abort(grpc.StatusCode.ABORTED, "another stream with the same token has replaced this one")

    def greet(self, hello: Hello) -> None:
        """Notes that the bot is there; a bot that is back is sent its games anew, with their open decisions."""
        self.hello = hello
        self._is_greeted = True
        self.is_draining = False
        self._cancel_deadlines()
        for desk in self._desks.values():
            desk.owes_setup, desk.question = True, desk.sitting.question
            desk.rejections.clear()
            self._wake(desk)
        self._registry.note_change()

    def take(self) -> list[bytes]:
        """Returns all that is pending as fields of a frame, handed to the writer now."""
        if self.hello is None or not self._is_greeted:
            return []
        self._cancel_stall()
        pending, self._pending, self._pending_bytes = self._pending, {}, 0
        fields = [field for desk in pending.values() for field in desk.take(self.hello)]
        at = now()
        for game_id, desk in pending.items():
            desk.sitting.sent(at)
            if desk.over is not None:
                del self._desks[game_id]
                self._registry.note_change()
        return fields

    def sitting(self, game_id: str) -> Sitting | None:
        """Returns the seat that this bot has in a game."""
        desk = self._desks.get(game_id)
        return None if desk is None else desk.sitting

    def drain(self) -> None:
        """Gives the bot no more games."""
        self.is_draining = True
        self._registry.note_change()

    @property
    def is_done(self) -> bool:
        """Whether a bot that wants no more games has none left."""
        return self.is_draining and not self._desks

    def dismiss(self) -> None:
        """Ends the stream of a bot that is needed no more."""
        self.is_draining = True
        if self._outlet is None:
            self.give_up("gone")
        else:
            self._outlet.finish()

    def note_misuse(self) -> None:
        """Forfeits the games of a bot that broke the protocol; it may come back for others."""
        self._forfeit_games("misuse")

    def wake(self) -> None:
        """Says that there is something to be told that is not of a game."""
        if self._outlet is not None:
            self._outlet.wake()

    def fail(self, failure: Exception) -> None:
        """Ends the bot's games by a failure of our own."""
        for desk in self._desks.values():
            desk.sitting.fail(failure)

    def disconnect(self, outlet: Outlet) -> None:
        """Notes that a stream is over."""
        if outlet is self._outlet:
            self._outlet = None
            if self.is_done:
                self.give_up("gone")
            else:
                self._note_lost()

    def expect_return(self) -> None:
        """Gives the bot up unless it says Hello within `reconnect`."""
        if self._lost is None and self.gave_up is None:
            self._lost = self._registry.deadlines.at(now() + self._registry.reconnect, self._give_up_gone)

    # --- inside

    def _note_lost(self) -> None:
        if self._is_greeted:
            self._is_greeted = False
            self._cancel_stall()
            self._run_clocks()
            self.expect_return()
            self._registry.note_change()

    def _forfeit_games(self, reason: ForfeitReason) -> None:
        desks, self._desks = self._desks, {}
        self._pending.clear()
        for desk in desks.values():
            desk.sitting.forfeit(reason)

    def _run_clock_if_unread(self, sitting: Sitting) -> None:
        if not self._is_greeted or self._is_stalled:
            sitting.sent(now())

    def _run_clocks(self) -> None:
        at = now()
        for desk in self._pending.values():
            desk.sitting.sent(at)

    def _wake(self, desk: Desk, size: int = 0) -> None:
        self._pending[desk.sitting.setup.game_id] = desk
        self._pending_bytes += size
        if self._pending_bytes > MOST_PENDING_BYTES:
            self._shed()
        if self._outlet is not None and self._is_greeted:
            self._outlet.wake()
            if self._stalled is None:
                self._stalled = self._registry.deadlines.at(now() + STALL, self._note_stall)

    def _note_stall(self) -> None:
        self._is_stalled = True
        self._run_clocks()
        self._stalled = self._registry.deadlines.at(now() + self._registry.reconnect, self._give_up_gone)

    def _give_up_gone(self) -> None:
        self.give_up("gone")

    def _shed(self) -> None:
        """Drops the news of a bot that does not read; with its next stream it gets a fresh view."""
        self._pending_bytes = 0
        for desk in self._desks.values():
            desk.events.clear()
            desk.rejections.clear()
        if self._outlet is not None:
            self._outlet.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "the bot does not read what it is sent")

    def _cancel_stall(self) -> None:
        self._is_stalled = False
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _cancel_deadlines(self) -> None:
        self._cancel_stall()
        if self._lost is not None:
            self._lost.cancel()
            self._lost = None


class Registry:
    """The instances that may connect, by their tokens.

    `reconnect`: for how many microseconds a bot may be without a stream before it is given up.
    """

    def __init__(self, deadlines: Deadlines, *, reconnect: int = 30 * SECOND, server_version: str = "") -> None:
        self.deadlines = deadlines
        self.reconnect = reconnect
        self.server_version = server_version
        self.going_away: str | None = None
        self._instances: dict[str, Instance] = {}
        self._tables: dict[str, Table] = {}
        self._waiting = trio.lowlevel.ParkingLot()

    def register(self, name: str, *, capacity: int = MOST_GAMES) -> Instance:
        """Returns a new instance of the bot `name`, to be started with its token; `capacity`: games at once at most."""
        instance = Instance(self, name, capacity)
        self._instances[instance.token] = instance
        return instance

    def remove(self, instance: Instance) -> None:
        """Makes a token worthless and ends the stream of its instance, which plays no more, once all news is sent."""
        self._instances.pop(instance.token, None)
        instance.dismiss()

    def go_away(self, message: str) -> None:
        """Announces to all bots that no more games start; `message` says why, for people."""
        self.going_away = message
        for instance in self._instances.values():
            instance.wake()
        self.note_change()

    def instance(self, token: str) -> Instance | None:
        """Returns whose token this is."""
        return self._instances.get(token)

    async def changed(self) -> None:
        """Waits until an instance is ready, is lost, has a place more or gives up."""
        await self._waiting.park()

    def note_change(self) -> None:
        """Wakes who waits for a change."""
        self._waiting.unpark_all()

    def table(self, setup: GameSetup) -> Table:
        """Returns what the seats of a game share."""
        return self._tables.setdefault(setup.game_id, Table())

    def forget_table(self, setup: GameSetup) -> None:
        """Forgets what the seats of a game shared."""
        self._tables.pop(setup.game_id, None)


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


def _over(outcome: GameOutcome | None, seed: bytes | None) -> bytes:
    if outcome is None:
        return encode_game_over(ranks=(), totals=())
    return encode_game_over(
        ranks=outcome.ranks,
        totals=outcome.totals,
        deals=outcome.deals,
        forfeits=[(one.seat, one.reason) for one in outcome.forfeits],
        seed=seed,
    )
