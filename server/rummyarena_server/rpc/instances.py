"""Running copies of bots as the referee's players: whether each is there, and which games it has news of.

News waits until the bot's writer is free and then goes out in one frame, so whoever reads slowly costs no memory and
sees the newest state of things.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeAlias

import grpc
import trio

from rummyarena_rules.events import Event
from rummyarena_server.referee.clock import SECOND, Deadline, Deadlines, now
from rummyarena_server.referee.outcome import GameOutcome
from rummyarena_server.referee.players import Question, RefusedMove, Sitting
from rummyarena_server.referee.record import ForfeitReason, GameSetup
from rummyarena_server.rpc.desks import Desk, Table
from rummyarena_server.wire import Hello

MOST_GAMES: Final = 256
FULL_FRAME_BYTES: Final = 1 << 20
"""A frame of this size takes no more games; what is left goes into the next."""

STALL: Final = SECOND
"""After this long without a free writer the time of pending decisions runs: who does not read loses its own time."""

_REPLACED: Final = "another stream with the same token has replaced this one"


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


Objection: TypeAlias = Callable[[Hello], str | None]
"""Says why a copy of a bot is not let in with its Hello, or `None` if it is."""


def no_objection(_hello: Hello) -> None:
    """Lets every copy in."""


def ended_token(reason: ForfeitReason) -> str:
    """Returns the sentence for a bot whose instance has given up."""
    return f"this token has ended, for its bot was given up ({reason})"


class Instance:
    """One running copy of a bot, with its own token, stream and process; it sits at one seat of a game at most.

    `objection`: asked before a stream is let in. `hello`: what the bot asked for, `None` before. `gave_up`: why it
    plays no more, `None` while it may; `gone` also if it left of its own accord.
    """

    def __init__(
        self,
        registry: Registry,
        name: str,
        capacity: int,
        token: str | None = None,
        objection: Objection = no_objection,
    ) -> None:
        self.name = name
        self.token = token or secrets.token_urlsafe(32)
        self.objection = objection
        self.hello: Hello | None = None
        self.gave_up: ForfeitReason | None = None
        self.is_draining = False
        self._registry = registry
        self._capacity = capacity
        self._outlet: Outlet | None = None
        self._at_door: Outlet | None = None  # a stream on which nobody has said Hello yet
        self._is_greeted = False
        self._desks: dict[str, Desk] = {}
        self._pending: dict[str, Desk] = {}
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
            for outlet in (self._outlet, self._at_door):
                if outlet is not None:
                    outlet.abort(grpc.StatusCode.UNAUTHENTICATED, ended_token(reason))
            self._registry.note_change()

    # --- the referee's player

    def begin(self, sitting: Sitting) -> None:
        """Takes a seat."""
        if self.gave_up is not None:
            sitting.forfeit(self.gave_up)
            return
        desk = Desk(sitting, self._registry.table(sitting.setup), self.hello)
        self._desks[desk.game_id] = desk
        self._wake(desk)

    def tell(self, sitting: Sitting, sequence: int, events: Sequence[Event]) -> None:
        """Has events sent to a bot that wants them."""
        desk = self.desk(sitting.setup.game_id)
        if desk is not None and desk.tell(sequence, events):
            self._wake(desk)

    def ask(self, sitting: Sitting, question: Question) -> None:
        """Has the question sent as soon as the writer is free; without a stream its time runs at once."""
        desk = self.desk(sitting.setup.game_id)
        if desk is not None:
            desk.ask(question)
            self._wake(desk)
            self._run_clock_if_unread(sitting)

    def reject(self, sitting: Sitting, refused: RefusedMove) -> None:
        """Has a refusal sent."""
        desk = self.desk(sitting.setup.game_id)
        if desk is not None:
            desk.reject(refused)
            self._wake(desk)
            self._run_clock_if_unread(sitting)

    def end(self, sitting: Sitting, outcome: GameOutcome | None, seed: bytes | None) -> None:
        """Has the end sent; the place is free after that."""
        desk = self.desk(sitting.setup.game_id)
        self._registry.forget_table(sitting.setup)
        if desk is not None:
            desk.end(outcome, seed)
            self._wake(desk)

    # --- for its stream

    def connect(self, outlet: Outlet) -> None:
        """Takes a stream that may say Hello, instead of another one that did not yet."""
        before, self._at_door = self._at_door, outlet
        if before is not None:
            before.abort(grpc.StatusCode.ABORTED, _REPLACED)

    def greet(self, hello: Hello) -> list[str]:
        """Lets the stream in that said Hello, instead of the one there was; returns which resumed games are gone.

        A bot that is back is sent what it missed of its games, with their open decisions.
        """
        before, self._outlet, self._at_door = self._outlet, self._at_door, None
        if before is not None:
            self._note_lost()
            before.abort(grpc.StatusCode.ABORTED, _REPLACED)
        self.hello = hello
        self._is_greeted = True
        self.is_draining = False
        self._cancel_deadlines()
        for desk in self._desks.values():
            desk.resume(hello)
            self._wake(desk)
        self._registry.note_change()
        return [game_id for game_id in hello.resumes if game_id not in self._desks]

    def take(self) -> list[bytes]:
        """Returns what is pending, up to a full frame, as fields of a frame that is handed to the writer now."""
        if self.hello is None or not self._is_greeted:
            return []
        self._cancel_stall()
        fields: list[bytes] = []
        size, at = 0, now()
        while self._pending and size < FULL_FRAME_BYTES:
            desk = self._pending.pop(next(iter(self._pending)))
            for field in desk.take(self.hello):
                fields.append(field)
                size += len(field)
            self._note_sent(desk, at)
        return fields

    def desk(self, game_id: str) -> Desk | None:
        """Returns what this bot has in hand of a game."""
        return self._desks.get(game_id)

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
        if self._at_door is not None:
            self._at_door.finish()
            self._at_door = None
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
        if outlet is self._at_door:
            self._at_door = None
        elif outlet is self._outlet:
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

    def _note_sent(self, desk: Desk, at: int) -> None:
        desk.sitting.sent(at)
        if desk.is_over:
            del self._desks[desk.game_id]
            self._registry.note_change()

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

    def _wake(self, desk: Desk) -> None:
        self._pending[desk.game_id] = desk
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

    def register(
        self,
        name: str,
        *,
        capacity: int = MOST_GAMES,
        token: str | None = None,
        objection: Objection = no_objection,
    ) -> Instance:
        """Returns a new instance of the bot `name`.

        `capacity`: games at once at most. `token`: the one that the bot has already; otherwise a new one is drawn.
        `objection`: what keeps a copy out.
        """
        instance = Instance(self, name, capacity, token, objection)
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
