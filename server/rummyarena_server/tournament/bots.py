"""The bots of an event: each runs while games need it, or is connected, and is withdrawn when it keeps exiting."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, TypeAlias

import trio

from rummyarena_rules.events import Event, Seat
from rummyarena_server.hosting import (
    BotCommand,
    BotProcess,
    Host,
    StartFailure,
    bot_environment,
    describe,
    visible,
)
from rummyarena_server.referee.outcome import GameOutcome
from rummyarena_server.referee.players import Player, Question, RefusedMove, Sitting
from rummyarena_server.rpc.instances import Instance, Registry, no_objection
from rummyarena_server.rpc.server import Server
from rummyarena_server.tournament.pins import HeldVersion

MOST_EXITS: Final = 3
"""A bot that exits this often without finishing a game in between is withdrawn."""

MOST_RUNNING: Final = 16
"""How many bots run at the same time, unless the games that are played at once need more: about 650 MB in Python."""

STOP_SECONDS: Final = 2.0
"""What a bot may take to end when it is asked to."""


class HostError(Exception):
    """This machine cannot start a bot; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that went wrong with a bot, for its author.

    `bot`: its name, or the tournament's, where the trouble is of that. `sentence`: what happened. `last_lines`: of its
    output, fit to be shown. `log`: the file with all of it, if any.
    """

    bot: str
    sentence: str
    last_lines: tuple[str, ...] = ()
    log: str = ""

    def told(self) -> str:
        """Returns all of it as lines that can be shown on a terminal."""
        lines = [visible(f"{self.bot} {self.sentence}"), *(f"  {line}" for line in self.last_lines)]
        return "\n".join([*lines, f"  its output is in {visible(self.log)}"] if self.log else lines)


def trouble_with(process: BotProcess, sentence: str) -> Trouble:
    """Returns what went wrong with a process, with the last of its output."""
    log = str(process.log) if process.log.exists() else ""  # there is none if the bot printed nothing
    return Trouble(process.command.name, sentence, tuple(process.last_lines()), log)


Report: TypeAlias = Callable[[Trouble], None]


RunCopy: TypeAlias = Callable[[Instance], Awaitable[Trouble]]
"""Brings a copy of a bot to its instance and returns how it came to its end."""


def hosted(command: BotCommand, server: Server, host: Host, start_seconds: float) -> RunCopy:
    """Returns how a bot is run as a process; it raises `HostError` where no process can be had."""

    async def run(instance: Instance) -> Trouble:
        process = host.start(command, bot_environment(server.address, instance.token))
        if isinstance(process, StartFailure):
            if process.is_ours:
                raise HostError(process.sentence)
            # It could be started before the first game; that it cannot now may be its own doing, and ends no event.
            return Trouble(instance.name, f"cannot be started: {process.reason}")
        return await _attend(instance, process, start_seconds)

    return run


async def follow(instance: Instance, registry: Registry, report: Report) -> None:
    """Reports whenever a bot that is started elsewhere comes or loses its connection, until it is given up."""
    was_there = False
    while instance.gave_up is None:
        if instance.is_ready != was_there:
            was_there = instance.is_ready
            report(Trouble(instance.name, "is connected" if was_there else "has lost its connection and is waited for"))
        await registry.changed()


def connected(start_seconds: float, registry: Registry, report: Report) -> RunCopy:
    """Returns how a bot is waited for that is started elsewhere: for ever at first, later for `start_seconds`."""
    patience = math.inf

    async def run(instance: Instance) -> Trouble:
        nonlocal patience
        with trio.move_on_after(patience) as waiting:
            await instance.wait_ready()
        if waiting.cancelled_caught:
            return Trouble(instance.name, f"has not come back within {start_seconds:g} seconds")
        patience = start_seconds
        await follow(instance, registry, report)
        return Trouble(instance.name, "is no longer connected")

    return run


class EventBot:
    """One entrant, of which a copy runs while games need it.

    `token`: of a bot that is connected from elsewhere; it can come at any time and is not stopped when it is idle.
    `held`: the version of such a bot, which its first game decides.
    """

    def __init__(
        self,
        number: int,
        name: str,
        registry: Registry,
        run_copy: RunCopy,
        token: str | None = None,
        held: HeldVersion | None = None,
    ) -> None:
        self.number = number
        self.name = name
        self.is_withdrawn = False
        self.is_stopping = False
        self._registry = registry
        self._run_copy = run_copy
        self._token = token
        self._held = held
        self._needed = self._need()
        self._instance: Instance | None = None
        self._exits = 0

    @property
    def is_running(self) -> bool:
        """Whether it has an instance, or will have one at once."""
        return self._needed.is_set()

    @property
    def is_idle(self) -> bool:
        """Whether it can be stopped: it waits for games and has heard the end of all that it was in."""
        instance = self._instance
        is_ours = self._token is None
        return is_ours and instance is not None and instance.is_ready and instance.free_places == instance.capacity

    @property
    def free_instance(self) -> Instance | None:
        """The running copy, if it can take one more game now."""
        return self._instance if self._instance is not None and self._instance.free_places > 0 else None

    @property
    def is_held(self) -> bool:
        """Whether no other version of it can come any more, and this is stored."""
        return self._held is None or self._held.is_kept

    async def hold(self) -> None:
        """Has it held to the version of the running copy."""
        if self._held is not None and self._instance is not None and self._instance.hello is not None:
            await self._held.hold(self._instance.hello.bot_version)

    def start(self) -> None:
        """Has a copy run; does nothing while there is one."""
        self._needed.set()

    def stop(self) -> None:
        """Ends the copy once it has read all that it was sent; this exit does not count."""
        self.is_stopping = True
        if self._instance is not None:
            self._registry.remove(self._instance)

    def note_finished_game(self) -> None:
        """Notes that the bot has brought a game to its end, which breaks a row of exits."""
        self._exits = 0

    async def run(self, report: Report) -> None:
        """Runs a copy whenever one is needed, until the bot is withdrawn.

        `HostError` if this machine cannot start it, which is not the bot's fault.
        """
        while not self.is_withdrawn:
            await self._needed.wait()
            trouble = await self._run_once()
            was_stopped, self.is_stopping = self.is_stopping, False
            if was_stopped:
                self._needed = trio.Event()
            else:
                self._note_exit(trouble, report)
                self._needed = self._need()
            self._registry.note_change()

    def _need(self) -> trio.Event:
        """Returns the event of being needed; who is connected from elsewhere always is, to be let in when it comes."""
        needed = trio.Event()
        if self._token is not None and not self.is_withdrawn:
            needed.set()
        return needed

    def _note_exit(self, trouble: Trouble, report: Report) -> None:
        self._exits += 1
        report(trouble)
        if self._exits >= MOST_EXITS:
            self.is_withdrawn = True
            report(Trouble(self.name, f"is withdrawn after {MOST_EXITS} exits in a row"))

    async def _run_once(self) -> Trouble:
        """Runs one copy to its end and returns how that came."""
        objection = no_objection if self._held is None else self._held.objection
        instance = self._instance = self._registry.register(self.name, token=self._token, objection=objection)
        try:
            return await self._run_copy(instance)
        finally:
            self._instance = None
            instance.give_up("exited")
            self._registry.remove(instance)


async def _attend(instance: Instance, process: BotProcess, start_seconds: float) -> Trouble:
    """Waits for the end of a process that was started for an instance, and returns how it came."""
    try:
        with trio.move_on_after(start_seconds) as starting:
            await _first(process.wait, instance.wait_ready)
        if starting.cancelled_caught:
            sentence = f"did not connect within {start_seconds:g} seconds of its start and was stopped"
        else:
            await _first(process.wait, instance.wait_given_up)
            sentence = _ending(instance, process)
    finally:
        await process.stop(STOP_SECONDS)
    return trouble_with(process, sentence)


class _Absent:
    """Sits for a bot that is withdrawn: its seat is forfeited as soon as the game begins."""

    def begin(self, sitting: Sitting) -> None:
        sitting.forfeit("exited")

    def tell(self, sitting: Sitting, sequence: int, events: Sequence[Event]) -> None:
        pass

    def ask(self, sitting: Sitting, question: Question) -> None:
        pass

    def reject(self, sitting: Sitting, refused: RefusedMove) -> None:
        pass

    def end(self, sitting: Sitting, outcome: GameOutcome | None, seed: bytes | None) -> None:
        pass


_ABSENT: Final[Player] = _Absent()


class EventBots:
    """The bots of an event, in the order of their numbers, of which those run that games need.

    At most `most_running` run at the same time, so that many bots do not need much memory; these must be as many as sit
    at all games that are played at once. To make room, of those that wait for games the one needed most recently is
    stopped: a round robin goes around, so its next turn is the furthest away. (Stopping the one needed longest ago, 20
    bots of which 16 run would each be started anew for every deal group; like this a third of them is.)
    """

    def __init__(self, bots: Sequence[EventBot], registry: Registry, most_running: int) -> None:
        self._bots = tuple(bots)
        self._registry = registry
        self._most_running = most_running
        self._by_need = list(bots)  # the one most recently needed last

    async def players(self, table: Sequence[int]) -> list[Player]:
        """Waits until every bot of a table can take a game, and returns who plays, in the order of the table.

        Withdrawn bots are played for, so that the others get their game; nobody is returned if at most one is left. Who
        waits begins the game before anybody else waits, so that no place is given twice.
        """
        bots = [self._bots[entrant] for entrant in table]
        self._by_need = [*(bot for bot in self._by_need if bot not in bots), *bots]
        while True:
            if len(self.withdrawn_seats(table)) >= len(table) - 1:
                return []
            players = [_ABSENT if bot.is_withdrawn else bot.free_instance for bot in bots]
            found = [player for player in players if player is not None]
            if len(found) == len(table):
                if all(bot.is_held for bot in bots if not bot.is_withdrawn):
                    return found
                await self._hold(bots)
                continue  # they may have changed meanwhile
            self._start(bots)
            await self._registry.changed()

    def withdrawn_seats(self, table: Sequence[int]) -> list[Seat]:
        """Returns the seats of a table whose bots are withdrawn."""
        return [seat for seat, entrant in enumerate(table) if self._bots[entrant].is_withdrawn]

    def note_finished_game(self, entrants: Iterable[int]) -> None:
        """Notes that these bots have brought a game to its end."""
        for entrant in entrants:
            self._bots[entrant].note_finished_game()

    async def stop(self) -> None:
        """Ends all that run, and waits for them."""
        for bot in self._bots:
            if bot.is_running:
                bot.stop()
        while any(bot.is_running for bot in self._bots):
            await self._registry.changed()

    async def _hold(self, bots: Sequence[EventBot]) -> None:
        for bot in bots:
            if not bot.is_held:
                await bot.hold()

    def _start(self, bots: Sequence[EventBot]) -> None:
        """Starts those that do not run; where there is no room for them, it is made first, which takes a while."""
        absent = [bot for bot in bots if not bot.is_running and not bot.is_withdrawn]
        room = self._most_running - sum(bot.is_running for bot in self._bots)
        for bot in absent[:room]:
            bot.start()
        missing = len(absent) - room - sum(bot.is_stopping for bot in self._bots)
        idle = [bot for bot in reversed(self._by_need) if bot.is_idle and bot not in bots]
        for bot in idle[: max(0, missing)]:
            bot.stop()


@asynccontextmanager
async def open_bots(
    bots: Sequence[EventBot], registry: Registry, report: Report, most_running: int
) -> AsyncIterator[EventBots]:
    """Has bots ready to run as long as the block lasts; afterwards those that run have `STOP_SECONDS` to end."""
    async with trio.open_nursery() as nursery:
        for bot in bots:
            nursery.start_soon(bot.run, report)
        ready = EventBots(bots, registry, most_running)
        yield ready
        with trio.move_on_after(STOP_SECONDS):
            await ready.stop()
        nursery.cancel_scope.cancel()


def _ending(instance: Instance, process: BotProcess) -> str:
    if process.status is not None:
        return describe(process.status)
    return "was no longer connected and was stopped" if instance.gave_up == "gone" else "was stopped"


async def _first(*waits: Callable[[], Awaitable[object]]) -> None:
    """Returns when the first of several waits does."""
    async with trio.open_nursery() as nursery:

        async def wait(function: Callable[[], Awaitable[object]]) -> None:
            await function()
            nursery.cancel_scope.cancel()

        for function in waits:
            nursery.start_soon(wait, function)
