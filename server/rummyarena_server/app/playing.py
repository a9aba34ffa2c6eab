"""Opens store, server and host, and plays what the command line asks for."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import trio

from rummyarena_server.app.opening import Fork, held_versions, opened, planned
from rummyarena_server.config import TournamentFile
from rummyarena_server.hosting import BotCommand, Host, open_host
from rummyarena_server.referee.clock import SECOND
from rummyarena_server.referee.outcome import GameOutcome
from rummyarena_server.rpc.server import Server, open_server
from rummyarena_server.store.errors import StoreUnavailable
from rummyarena_server.store.results import BotRating, Standing
from rummyarena_server.store.standings import ladder, standings
from rummyarena_server.store.store import Store, open_store
from rummyarena_server.tournament.bots import (
    MOST_RUNNING,
    EventBot,
    EventBots,
    HostError,
    Report,
    connected,
    hosted,
    open_bots,
)
from rummyarena_server.tournament.event import Event, event_of
from rummyarena_server.tournament.pins import HeldVersion
from rummyarena_server.tournament.runner import Progress, Runner
from rummyarena_server.tournament.single import SingleGame, Watchers, play_single
from rummyarena_server.tournament.table import ranked
from rummyarena_server.tournament.timing import Timing, timing
from rummyarena_server.tournament.waves import CommittedWave

_ADDRESS = "127.0.0.1:0"  # hosted bots only: nobody else needs to find it
_TABLE_SECONDS = 1.0  # between two provisional tables


@dataclass(frozen=True, slots=True)
class Listeners:
    """Who hears how a tournament comes along.

    `opened` once, `progress` after each game, `trouble` about bots, `finishing` when a signal has asked it to stop and
    it only plays to their end the games that have begun, `wave` before the first deal of each wave of a ladder.
    `standings`: now and then the provisional table; `None` if nobody looks at it.
    """

    opened: Callable[[Event], None]
    progress: Callable[[Progress], None]
    trouble: Report
    finishing: Callable[[], None]
    wave: Callable[[CommittedWave], None]
    standings: Callable[[Sequence[Standing]], None] | None = None


@dataclass(frozen=True, slots=True)
class Door:
    """Where bots come in that are started elsewhere.

    `address`: to listen at. `token`: returns that of a bot by its name. `opened` hears of the address that was bound.
    """

    address: str
    token: Callable[[str], str]
    opened: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Table:
    """The end of a tournament: its standings, the Elo of all bots in all variants, and whether its clock was right.

    `timing`: `None` without a clock. `stopped_by`: the number of the signal that broke the tournament off; then the
    standings are provisional.
    """

    standings: tuple[Standing, ...]
    ladder: tuple[BotRating, ...]
    timing: Timing | None
    stopped_by: int | None = None


async def run_tournament(
    file: TournamentFile,
    database: str,
    logs: Path,
    listeners: Listeners,
    door: Door | None = None,
    fork: Fork | None = None,
) -> Table:
    """Plays a tournament, or what is left of it, and returns its table.

    `door`: for bots that are started elsewhere; without one, a tournament that has any is refused. `fork`: where a
    tournament of this name differs, bots included, it is kept under another name, and a new one begins.

    SIGINT or SIGTERM stops it: the first lets the games that have begun end, the second does not. What was recorded
    stays and running it again goes on. `logs`: the folder for what the bots print.

    Raises `ConfigError` for bots that cannot be started or pinned, before anything is opened, and `StoreError`,
    `AddressError`, `HostError`, `ChangedTournamentError`, `SecondRunnerError` or `GameFailedError`, alone or in groups
    as nurseries do.
    """
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        found = await planned(file, database, fork, has_door=door is not None)
        store = open_store(database)
        try:
            event = event_of(file.settings, await opened(store, found, fork))
            listeners.opened(event)
            stopping = Stopping(listeners.finishing)
            is_over = event.stored.status == "finished"
            if not is_over:
                async with stopping.heeding(signals):
                    is_over = await _play(event, file.directory, store, logs, listeners, stopping, door)
            return await _table(store, event, None if is_over else stopping.number)
        finally:
            store.close()


async def _table(store: Store, event: Event, stopped_by: int | None) -> Table:
    try:
        return Table(
            tuple(await store.read(ranked, event.stored.id)),
            tuple(await store.read(ladder)),
            await store.read(timing, event.stored.id),
            stopped_by,
        )
    except StoreUnavailable:
        if stopped_by is None:
            raise
        return Table((), (), None, stopped_by)  # it was told that the store is to be waited for, and who asks will see


async def play_game(
    game: SingleGame, logs: Path, watchers: Watchers, address: str = _ADDRESS, reconnect_seconds: float = 30.0
) -> GameOutcome:
    """Plays a game that belongs to no tournament and returns how it ended; nothing is stored but the bots' output.

    Raises `NoGameError`, `HostError` or `AddressError`, alone or in groups as nurseries do.
    """
    reconnect = round(reconnect_seconds * SECOND)
    async with open_host(_folder(logs)) as host, open_server(address, reconnect=reconnect) as server:
        return await play_single(game, server, host, watchers)


class Stopping:
    """What comes of the signals that ask a tournament to stop; `number`: the last of them."""

    def __init__(self, on_finishing: Callable[[], None]) -> None:
        self.number: int | None = None
        self._games = trio.CancelScope()
        self._on_finishing = on_finishing
        self._drain: Callable[[], None] | None = None

    @asynccontextmanager
    async def heeding(self, signals: AsyncIterator[int]) -> AsyncIterator[None]:
        """Has the games played in the block end when a signal comes: those that have begun only after a second one."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._heed, signals)
            with self._games:
                yield
            nursery.cancel_scope.cancel()

    def use(self, drain: Callable[[], None]) -> None:
        """Notes how games are begun no more; until then none has begun that could be finished.

        They may be asked for one after another: once a signal has come, none of those that follow begins any.
        """
        self._drain = drain
        if self.number is not None:
            drain()

    async def _heed(self, signals: AsyncIterator[int]) -> None:
        async for number in signals:
            is_first, self.number = self.number is None, number
            if is_first and self._drain is not None:
                self._drain()
                self._on_finishing()
            else:
                self._games.cancel()


async def _play(
    event: Event,
    directory: Path,
    store: Store,
    logs: Path,
    listeners: Listeners,
    stopping: Stopping,
    door: Door | None,
) -> bool:
    held = await held_versions(event, store, listeners.trouble)
    async with ready_bots(event, directory, logs, listeners.trouble, door, held) as (bots, server):
        runner = Runner(
            event, bots, store, server.deadlines, listeners.progress, listeners.trouble, on_wave=listeners.wave
        )
        stopping.use(runner.drain)
        async with _live_standings(event, store, listeners):
            return await runner.run()


@asynccontextmanager
async def ready_bots(
    event: Event,
    directory: Path,
    logs: Path,
    report: Report,
    door: Door | None = None,
    held: Mapping[int, HeldVersion] = {},
) -> AsyncIterator[tuple[EventBots, Server]]:
    """Has the bots of an event ready to run, and the server that they connect to, as long as the block lasts.

    `held`: the versions of those that are started elsewhere, by their numbers.
    """
    settings = event.settings
    reconnect, address = round(settings.reconnect_seconds * SECOND), door.address if door else _ADDRESS
    async with open_host(_folder(logs)) as host, open_server(address, reconnect=reconnect) as server:
        if door is not None:
            door.opened(server.address)
        bots = [
            _hosted_bot(event, number, directory, server, host)
            if door is None or number not in held
            else _connected_bot(event, number, server, door, held[number], report)
            for number in range(len(settings.bots))
        ]
        from_elsewhere = sum(bot.connected for bot in settings.bots)
        most_running = max(MOST_RUNNING, settings.concurrency * settings.seats) + from_elsewhere
        async with open_bots(bots, server.registry, report, most_running) as ready:
            yield ready, server


def _hosted_bot(event: Event, number: int, directory: Path, server: Server, host: Host) -> EventBot:
    bot = event.settings.bots[number]
    run_copy = hosted(BotCommand(bot.name, bot.command, directory), server, host, event.settings.start_seconds)
    return EventBot(number, bot.name, server.registry, run_copy)


def _connected_bot(
    event: Event, number: int, server: Server, door: Door, held: HeldVersion, report: Report
) -> EventBot:
    name = event.settings.bots[number].name
    run_copy = connected(event.settings.start_seconds, server.registry, report)
    return EventBot(number, name, server.registry, run_copy, door.token(name), held)


@asynccontextmanager
async def _live_standings(event: Event, store: Store, listeners: Listeners) -> AsyncIterator[None]:
    """Has the provisional table told as long as the block lasts, so seldom that making it costs next to nothing."""
    if listeners.standings is None:
        yield
        return
    tell = listeners.standings

    async def refresh() -> None:
        pause = _TABLE_SECONDS
        while True:
            await trio.sleep(pause)
            began = trio.current_time()
            with contextlib.suppress(StoreUnavailable):  # the next table will do
                tell(await store.read(standings, event.stored.id))
            pause = max(_TABLE_SECONDS, 20 * (trio.current_time() - began))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(refresh)
        yield
        nursery.cancel_scope.cancel()


def _folder(logs: Path) -> Path:
    """Returns the folder for what the bots print, made if it is not there."""
    try:
        logs.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise HostError(
            f"{logs.absolute()}, the folder for what the bots print, cannot be made: {why}; "
            "remove what is in its place or run this from another folder"
        ) from None
    return logs
