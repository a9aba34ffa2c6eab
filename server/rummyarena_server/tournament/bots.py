"""The hosted bots of an event: each kept running, started afresh when it exits, withdrawn when it keeps exiting."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import trio

from rummyarena_server.hosting import BotCommand, BotProcess, Host, StartFailure, bot_environment, describe
from rummyarena_server.rpc.instances import Instance
from rummyarena_server.rpc.server import Server

MOST_EXITS: Final = 3
"""A bot that exits this often without finishing a game in between is withdrawn."""

STOP_SECONDS: Final = 2.0
"""What a bot may take to end when it is asked to."""


class HostError(Exception):
    """This machine cannot start a bot; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that went wrong with a bot, for its author.

    `sentence`: what happened. `last_lines`: of its output, fit to be shown. `log`: the file with all of it, if any.
    """

    bot: str
    sentence: str
    last_lines: tuple[str, ...] = ()
    log: str = ""


Report: TypeAlias = Callable[[Trouble], None]


class EventBot:
    """One entrant as a process that is there whenever games need it."""

    def __init__(self, number: int, command: BotCommand, server: Server, host: Host, start_seconds: float) -> None:
        self.number = number
        self.command = command
        self.is_withdrawn = False
        self._server = server
        self._host = host
        self._start_seconds = start_seconds
        self._instance: Instance | None = None
        self._exits = 0
        self._is_over = False

    @property
    def free_instance(self) -> Instance | None:
        """The running copy, if it can take one more game now."""
        return self._instance if self._instance is not None and self._instance.free_places > 0 else None

    def note_finished_game(self) -> None:
        """Notes that the bot has brought a game to its end, which breaks a row of exits."""
        self._exits = 0

    async def run(self, report: Report) -> None:
        """Keeps the bot running until it is withdrawn, or has ended after `end`.

        `HostError` if this machine cannot start it, which is not the bot's fault.
        """
        while not self.is_withdrawn:
            trouble = await self._run_once()
            if self._is_over:
                return
            self._exits += 1
            self.is_withdrawn = self._exits >= MOST_EXITS
            report(trouble)
            if self.is_withdrawn:
                report(Trouble(self.command.name, f"is withdrawn after {MOST_EXITS} exits in a row"))
        self._server.registry.note_change()

    def end(self) -> None:
        """Tells the bot that it is needed no more, once it has read all that it was sent."""
        self._is_over = True
        if self._instance is not None:
            self._server.registry.remove(self._instance)

    async def _run_once(self) -> Trouble:
        """Runs one copy to its end and returns how that came."""
        instance = self._instance = self._server.registry.register(self.command.name)
        try:
            process = self._host.start(self.command, bot_environment(self._server.address, instance.token))
            if isinstance(process, StartFailure):
                if process.is_ours:
                    raise HostError(process.sentence)
                return Trouble(self.command.name, process.sentence)
            return await self._attend(instance, process)
        finally:
            self._instance = None
            instance.give_up("exited")
            self._server.registry.remove(instance)

    async def _attend(self, instance: Instance, process: BotProcess) -> Trouble:
        try:
            with trio.move_on_after(self._start_seconds) as starting:
                await _first(process.wait, instance.wait_ready)
            if starting.cancelled_caught:
                sentence = f"did not connect within {self._start_seconds:g} seconds of its start and was stopped"
            else:
                await _first(process.wait, instance.wait_given_up)
                sentence = _ending(instance, process)
        finally:
            await process.stop(STOP_SECONDS)
        log = str(process.log) if process.log.exists() else ""  # there is none if the bot printed nothing
        return Trouble(self.command.name, sentence, tuple(process.last_lines()), log)


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
