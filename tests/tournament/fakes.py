"""Bots for tests of tournaments that are no processes, so that time is virtual and nothing is waited for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

import grpc
import trio

from rummyarena_server.hosting import BotCommand, BotProcess, Host, StartFailure
from rummyarena_server.referee.clock import Deadlines
from rummyarena_server.referee.players import Player
from rummyarena_server.rpc.instances import Instance, Registry
from rummyarena_server.rpc.server import Server
from rummyarena_server.tournament.bots import EventBot, EventBots, hosted
from rummyarena_server.wire import Hello

HELLO = Hello("", "", "", max_concurrent_games=4, candidate_limit=0, wants_view=True, wants_events=False)


class FakeProcess:
    """A bot that is connected as soon as it is started, reads all that it is told and goes when its stream ends."""

    def __init__(self, command: BotCommand, instance: Instance) -> None:
        self.command = command
        self.instance = instance
        self.status: int | None = None
        self.log = Path("nowhere")
        self._over = trio.Event()

    def connect(self) -> None:
        self.instance.connect(self)
        self.instance.greet(HELLO)

    def exit(self, status: int) -> None:
        if self.status is None:
            self.status = status
            self._over.set()

    async def wait(self) -> int:
        await self._over.wait()
        assert self.status is not None
        return self.status

    async def stop(self, grace: float) -> int:
        self.exit(-15)
        return await self.wait()

    def last_lines(self, count: int = 10) -> list[str]:
        return ["its last line"]

    # --- its stream

    def wake(self) -> None:
        self.instance.take()

    def finish(self) -> None:
        self.instance.disconnect(self)

    def abort(self, code: grpc.StatusCode, message: str) -> None:
        self.instance.disconnect(self)


class FakeHost:
    """Starts bots that are no processes; `begin` says what one does then, `started` names them in order."""

    def __init__(self, registry: Registry, begin: Callable[[FakeProcess], None] = FakeProcess.connect) -> None:
        self.started: list[str] = []
        self.processes: list[FakeProcess] = []
        self.most_at_once = 0
        self._registry = registry
        self._begin = begin

    def start(self, command: BotCommand, environment: Mapping[str, str]) -> BotProcess | StartFailure:
        instance = self._registry.instance(environment["RUMMYARENA_TOKEN"])
        assert instance is not None
        process = FakeProcess(command, instance)
        self.started.append(command.name)
        self.processes.append(process)
        self.most_at_once = max(self.most_at_once, len(self.running))
        self._begin(process)
        return cast("BotProcess", process)

    @property
    def running(self) -> list[str]:
        return [one.command.name for one in self.processes if one.status is None]

    def process(self, name: str) -> FakeProcess:
        return next(one for one in self.processes if one.command.name == name and one.status is None)


def event_bots(count: int, registry: Registry, host: FakeHost) -> list[EventBot]:
    """Returns the bots "0", "1" ..."""
    server = Server("127.0.0.1:1", registry, registry.deadlines)
    commands = [BotCommand(str(number), ("./bot",), Path("/")) for number in range(count)]
    return [
        EventBot(number, command.name, registry, hosted(command, server, cast("Host", host), 10.0))
        for number, command in enumerate(commands)
    ]


def a_registry() -> Registry:
    return Registry(Deadlines())


class AtHome:
    """Bots that play in this process and are always there, but for those that are withdrawn."""

    def __init__(self, players: Sequence[Player], withdrawn: Sequence[int] = ()) -> None:
        self._players = players
        self._withdrawn = withdrawn
        self.survivors: list[int] = []

    async def players(self, table: Sequence[int]) -> list[Player]:
        await trio.lowlevel.checkpoint()
        present = len(table) - len(self.withdrawn_seats(table))
        return [self._players[entrant] for entrant in table] if present > 1 else []

    def withdrawn_seats(self, table: Sequence[int]) -> list[int]:
        return [seat for seat, entrant in enumerate(table) if entrant in self._withdrawn]

    def note_finished_game(self, entrants: Sequence[int]) -> None:
        self.survivors += entrants

    @property
    def as_event_bots(self) -> EventBots:
        return cast("EventBots", self)
