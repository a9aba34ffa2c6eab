"""The composition root: opens store, server and host, and runs what the command line asks for."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import trio

from rummyarena_server.config import TournamentFile
from rummyarena_server.hosting import BotCommand, open_host
from rummyarena_server.referee.clock import SECOND
from rummyarena_server.rpc.server import open_server
from rummyarena_server.store.records import open_tournament
from rummyarena_server.store.results import BotRating, Standing, StoredTournament
from rummyarena_server.store.standings import ladder, standings
from rummyarena_server.store.store import Store, open_store
from rummyarena_server.tournament.bots import STOP_SECONDS, EventBot, HostError, Report
from rummyarena_server.tournament.event import Event, event_of, plan
from rummyarena_server.tournament.runner import Progress, Runner

_ADDRESS = "127.0.0.1:0"  # hosted bots only: nobody else needs to find it


class ChangedTournamentError(Exception):
    """A tournament of this name is in the store and is not the one the file describes."""

    def __init__(self, name: str, differences: list[str]) -> None:
        super().__init__(
            f"the tournament {name!r} was begun with other settings:\n"
            + "\n".join(f"  {one}" for one in differences)
            + "\nUndo the change to go on with it, or give the file another name to begin a new tournament."
        )


@dataclass(frozen=True, slots=True)
class Listeners:
    """Who hears how a tournament comes along: `opened` once, `progress` after each game, `trouble` about bots."""

    opened: Callable[[Event], None]
    progress: Callable[[Progress], None]
    trouble: Report


@dataclass(frozen=True, slots=True)
class Table:
    """The end of a tournament: its standings, and the Elo of all bots in all variants."""

    standings: tuple[Standing, ...]
    ladder: tuple[BotRating, ...]


async def run_tournament(file: TournamentFile, database: str, logs: Path, listeners: Listeners) -> Table:
    """Plays a tournament, or what is left of it, and returns its table.

    `logs`: the folder for what the bots print. Raises `StoreError`, `AddressError`, `HostError`,
    `ChangedTournamentError` or `GameFailedError`, alone or in groups as nurseries do; what was recorded stays and
    running it again goes on.
    """
    store = open_store(database)
    try:
        event = event_of(file.settings, await _open(store, file))
        listeners.opened(event)
        if event.stored.status != "finished":
            await _play(event, file.directory, store, logs, listeners)
        return Table(
            tuple(await store.read(standings, event.stored.id)),
            tuple(await store.read(ladder)),
        )
    finally:
        store.close()


async def read_ladder(database: str) -> tuple[BotRating, ...]:
    """Returns the Elo of all bots in all variants."""
    store = open_store(database)
    try:
        return tuple(await store.read(ladder))
    finally:
        store.close()


async def _open(store: Store, file: TournamentFile) -> StoredTournament:
    stored = await store.write(open_tournament, plan(file.settings, secrets.token_bytes(32)), datetime.now(UTC))
    if isinstance(stored, list):
        raise ChangedTournamentError(file.settings.name, stored)
    return stored


async def _play(event: Event, directory: Path, store: Store, logs: Path, listeners: Listeners) -> None:
    settings = event.settings
    reconnect = round(settings.reconnect_seconds * SECOND)
    async with open_host(_folder(logs)) as host, open_server(_ADDRESS, reconnect=reconnect) as server:
        bots = [
            EventBot(number, BotCommand(bot.name, bot.command, directory), server, host, settings.start_seconds)
            for number, bot in enumerate(settings.bots)
        ]
        async with trio.open_nursery() as nursery:
            for bot in bots:
                nursery.start_soon(bot.run, listeners.trouble)
            runner = Runner(event, bots, store, server.registry, server.deadlines, listeners.progress)
            await runner.run()
            for bot in bots:
                bot.end()
            nursery.cancel_scope.deadline = trio.current_time() + STOP_SECONDS


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
