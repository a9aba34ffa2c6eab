"""Bots that are started elsewhere: let in whenever they come, waited for, withdrawn if they keep going away."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import grpc
import trio
import trio.testing

from rummyarena_server.rpc.instances import Instance, Registry
from rummyarena_server.tournament.bots import EventBot, EventBots, Trouble, connected, open_bots
from tests.tournament.fakes import HELLO, a_registry

TOKENS: Final = ("token of 0", "token of 1")
START_SECONDS: Final = 20.0


class Stream:
    """A bot's stream that reads all it is sent."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        instance.connect(self)
        instance.greet(HELLO)

    def wake(self) -> None:
        self._instance.take()

    def finish(self) -> None:
        self._instance.disconnect(self)

    def abort(self, code: grpc.StatusCode, message: str) -> None:
        self._instance.disconnect(self)

    def leave(self) -> None:
        """Closes the stream as a bot does that wants no more games."""
        self._instance.drain()
        self._instance.disconnect(self)


class Lobby:
    """Two bots that are started elsewhere, and what is heard of them."""

    def __init__(self, bots: EventBots, registry: Registry, troubles: list[Trouble]) -> None:
        self.bots = bots
        self.troubles = troubles
        self._registry = registry

    @property
    def sentences(self) -> list[str]:
        return [f"{one.bot} {one.sentence}" for one in self.troubles]

    async def come(self, number: int) -> Stream:
        """Has a bot come in with its token, which it must be let in with at any time."""
        await trio.testing.wait_all_tasks_blocked()
        instance = self._registry.instance(TOKENS[number])
        assert instance is not None
        return Stream(instance)


@asynccontextmanager
async def a_lobby() -> AsyncIterator[Lobby]:
    registry, troubles = a_registry(), list[Trouble]()
    run_copies = [connected(START_SECONDS, registry, troubles.append) for _ in TOKENS]
    two = [EventBot(at, str(at), registry, run_copies[at], token) for at, token in enumerate(TOKENS)]
    async with open_bots(two, registry, troubles.append, most_running=2) as bots:
        yield Lobby(bots, registry, troubles)


async def test_a_game_waits_until_its_bots_have_come(autojump_clock: trio.testing.MockClock) -> None:
    async with a_lobby() as lobby, trio.open_nursery() as nursery:
        players: list[object] = []

        async def seat() -> None:
            players.extend(await lobby.bots.players((0, 1)))

        nursery.start_soon(seat)
        await lobby.come(0)
        await trio.sleep(3600)  # however long that takes
        assert players == []
        await lobby.come(1)
        await trio.testing.wait_all_tasks_blocked()
        assert [player.name for player in players if isinstance(player, Instance)] == ["0", "1"]
        assert lobby.sentences == ["0 is connected", "1 is connected"]


async def test_a_bot_that_went_away_may_come_back_with_its_token(autojump_clock: trio.testing.MockClock) -> None:
    async with a_lobby() as lobby:
        await lobby.come(1)
        (await lobby.come(0)).leave()
        await lobby.come(0)
        assert len(await lobby.bots.players((0, 1))) == 2
        await trio.testing.wait_all_tasks_blocked()
        assert lobby.sentences[-1] == "0 is connected"
        assert lobby.sentences.count("0 is no longer connected") == 1


async def test_a_bot_that_stays_away_is_withdrawn(autojump_clock: trio.testing.MockClock) -> None:
    async with a_lobby() as lobby:
        await lobby.come(1)
        (await lobby.come(0)).leave()
        assert await lobby.bots.players((0, 1)) == []
        assert [one for one in lobby.sentences if one != "1 is connected"] == [
            "0 is no longer connected",
            "0 has not come back within 20 seconds",
            "0 has not come back within 20 seconds",
            "0 is withdrawn after 3 exits in a row",
        ]


async def test_a_bot_from_elsewhere_is_never_stopped_to_make_room(autojump_clock: trio.testing.MockClock) -> None:
    async with a_lobby() as lobby:
        await lobby.come(0)
        await lobby.come(1)
        for _ in range(3):
            assert len(await lobby.bots.players((0, 1))) == 2
        await trio.sleep(100)
        assert lobby.sentences == ["0 is connected", "1 is connected"]


async def test_a_bot_whose_connection_is_lost_is_waited_for(autojump_clock: trio.testing.MockClock) -> None:
    async with a_lobby() as lobby:
        stream = await lobby.come(0)
        await trio.testing.wait_all_tasks_blocked()
        stream.abort(grpc.StatusCode.UNAVAILABLE, "the network is down")
        await lobby.come(0)
        await trio.testing.wait_all_tasks_blocked()
        assert lobby.sentences == ["0 is connected", "0 has lost its connection and is waited for", "0 is connected"]
