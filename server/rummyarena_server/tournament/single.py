"""One game outside of any tournament: its bots are started for it, or by hand; nothing is stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import trio

from rummyarena_rules.events import Seat
from rummyarena_server.hosting import BotCommand, BotProcess, Host, StartFailure, bot_environment, describe
from rummyarena_server.referee.game import Game, Observer
from rummyarena_server.referee.outcome import GameOutcome
from rummyarena_server.referee.record import GameSetup
from rummyarena_server.rpc.instances import Instance
from rummyarena_server.rpc.server import Server
from rummyarena_server.tournament.bots import STOP_SECONDS, HostError, Report, follow, trouble_with


class NoGameError(Exception):
    """A game that could not begin, because of a bot; the text names it and says what to do."""


@dataclass(frozen=True, slots=True)
class Invitation:
    """What a bot that is started by hand needs: the seat it is for, and where it connects with which token."""

    seat: Seat
    address: str
    token: str


@dataclass(frozen=True, slots=True)
class Watchers:
    """Who hears of a game: `events`, unredacted; `invite` for each bot awaited; `trouble` of bots that end early."""

    events: Observer
    invite: Callable[[Invitation], None]
    trouble: Report


@dataclass(frozen=True, slots=True)
class SingleGame:
    """A game and who plays it: a command for each seat, `None` where a bot is started by hand and waited for."""

    setup: GameSetup
    commands: tuple[BotCommand | None, ...]
    start_seconds: float = 20.0


async def play_single(game: SingleGame, server: Server, host: Host, watchers: Watchers) -> GameOutcome:
    """Plays a game to its end; `NoGameError` or `HostError`, perhaps in groups, if a bot could not be had."""
    faulty: set[Seat] = set()
    instances = [server.registry.register(bot.name) for bot in game.setup.bots]
    async with trio.open_nursery() as nursery:
        async with trio.open_nursery() as starting:
            for seat, instance in enumerate(instances):
                starting.start_soon(
                    nursery.start, partial(_attend, game, server, host, watchers, seat, instance, faulty)
                )
        try:
            with Game(game.setup, instances, server.deadlines, watchers.events) as table:
                outcome = await table.play()
                table.announce(outcome, reveal_seed=True)
            faulty.update(one.seat for one in outcome.forfeits if one.reason == "faults")
        finally:
            for instance in instances:  # also when the game is broken off: a bot started by hand is not to wait for it
                server.registry.remove(instance)
        nursery.cancel_scope.deadline = trio.current_time() + STOP_SECONDS
    return outcome


async def _attend(
    game: SingleGame,
    server: Server,
    host: Host,
    watchers: Watchers,
    seat: Seat,
    instance: Instance,
    faulty: set[Seat],
    task_status: trio.TaskStatus[None],
) -> None:
    """Brings a bot to its seat and, if it is ours, ends it in the end; it has started once the bot said Hello.

    `faulty`: the seats that were forfeited for their faults, once the game is over.
    """
    command = game.commands[seat]
    if command is None:
        watchers.invite(Invitation(seat, server.address, instance.token))
        await instance.wait_ready()
        task_status.started()
        await follow(instance, server.registry, watchers.trouble)
        return
    process = host.start(command, bot_environment(server.address, instance.token))
    if isinstance(process, StartFailure):
        raise HostError(process.sentence) if process.is_ours else NoGameError(process.sentence)
    try:
        await _wait_ready(game, process, instance)
        task_status.started()
        status = await process.wait()
        if instance.gave_up is None:
            watchers.trouble(trouble_with(process, describe(status)))
        instance.give_up("exited")
    finally:
        await process.stop(STOP_SECONDS)
        if seat in faulty:
            watchers.trouble(trouble_with(process, "was forfeited, for its answers were refused or late too often"))


async def _wait_ready(game: SingleGame, process: BotProcess, instance: Instance) -> None:
    """Waits until the bot said Hello; `NoGameError` if it ends instead, or takes too long."""
    failure = ""
    async with trio.open_nursery() as nursery:
        nursery.cancel_scope.deadline = trio.current_time() + game.start_seconds

        async def note_end() -> None:
            nonlocal failure
            failure = describe(await process.wait()) + " before it had connected"
            nursery.cancel_scope.cancel()

        nursery.start_soon(note_end)
        if await instance.wait_ready():
            nursery.cancel_scope.cancel()
    if not instance.is_ready:
        sentence = failure or f"did not connect within {game.start_seconds:g} seconds"
        raise NoGameError(trouble_with(process, sentence).told())
