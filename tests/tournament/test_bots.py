"""The bots of an event run when games need them, as few at a time as will do, and are given up if they keep exiting."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio.testing

from rummyarena_server.referee.game import Game
from rummyarena_server.referee.players import Player
from rummyarena_server.rpc.instances import Registry
from rummyarena_server.tournament.bots import EventBots, Trouble, open_bots
from tests.referee.helpers import by_fallback, setup
from tests.tournament.fakes import FakeHost, FakeProcess, a_registry, event_bots


class Event:
    """Bots of an event, their host, and what is heard of them."""

    def __init__(self, bots: EventBots, host: FakeHost, registry: Registry, troubles: list[Trouble]) -> None:
        self.bots = bots
        self.host = host
        self.registry = registry
        self.troubles = troubles

    @property
    def sentences(self) -> list[str]:
        return [f"{one.bot} {one.sentence}" for one in self.troubles]

    def begin(self, players: list[Player], seed: int) -> Game:
        game = setup(len(players), seed=seed)
        return Game(game, players, self.registry.deadlines).__enter__()


@asynccontextmanager
async def an_event(count: int, most_running: int = 16, host: FakeHost | None = None) -> AsyncIterator[Event]:
    registry = a_registry() if host is None else host._registry
    host = host or FakeHost(registry)
    troubles: list[Trouble] = []
    async with open_bots(event_bots(count, registry, host), registry, troubles.append, most_running) as bots:
        yield Event(bots, host, registry, troubles)


def exits(status: int) -> FakeHost:
    """A host whose bots exit at once, before they are connected."""
    return FakeHost(a_registry(), lambda process: process.exit(status))


# --- when they run ---------------------------------------------------------------------------------------------------


async def test_a_bot_is_started_when_a_game_needs_it() -> None:
    async with an_event(4) as event:
        assert event.host.started == []

        players = await event.bots.players((2, 0))

        assert sorted(event.host.started) == ["0", "2"]
        assert [one.instance for one in (event.host.process("2"), event.host.process("0"))] == players


async def test_a_bot_that_runs_is_not_started_again() -> None:
    async with an_event(3) as event:
        first = await event.bots.players((0, 1))
        await event.bots.players((1, 2))
        assert await event.bots.players((0, 1)) == first
        assert sorted(event.host.started) == ["0", "1", "2"]


async def test_who_was_needed_last_makes_room_for_it_is_needed_last_again() -> None:
    async with an_event(6, most_running=4) as event:
        for table in ((0, 1), (2, 3), (3, 4)):
            await event.bots.players(table)
        assert sorted(event.host.running) == ["0", "1", "3", "4"]
        await event.bots.players((5, 0))
        assert sorted(event.host.running) == ["0", "1", "3", "5"]
        assert event.host.most_at_once == 4
    assert event.troubles == []


async def test_who_plays_is_not_stopped_however_long_ago_it_was_needed() -> None:
    async with an_event(6, most_running=4) as event:
        event.begin(await event.bots.players((0, 1)), seed=1)
        for table in ((2, 3), (4, 5), (2, 3)):
            await event.bots.players(table)
            assert set(event.host.running) >= {"0", "1"}
        assert event.host.started.count("0") == event.host.started.count("1") == 1
        assert event.host.started.count("2") == 2


async def test_who_heard_the_end_of_its_games_can_be_stopped() -> None:
    async with an_event(4, most_running=2) as event:
        game = event.begin(await event.bots.players((0, 1)), seed=1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(event.bots.players, (2, 3))
            await trio.testing.wait_all_tasks_blocked()
            assert sorted(event.host.running) == ["0", "1"]
            game.__exit__(None, None, None)
        assert sorted(event.host.running) == ["2", "3"]


async def test_at_the_end_all_are_stopped() -> None:
    async with an_event(3) as event:
        await event.bots.players((0, 1, 2))
        assert len(event.host.running) == 3
    assert event.host.running == []
    assert event.troubles == []


# --- who exits -------------------------------------------------------------------------------------------------------


async def test_after_three_exits_in_a_row_a_bot_is_withdrawn() -> None:
    async with an_event(2, host=exits(3)) as event:
        assert await event.bots.players((0, 1)) == []
        assert "0" in event.host.started
        assert event.sentences[-1].endswith("is withdrawn after 3 exits in a row")
        withdrawn = event.sentences[-1][0]
        assert event.sentences.count(f"{withdrawn} exited with code 3") == event.host.started.count(withdrawn) == 3
        assert event.bots.withdrawn_seats((0, 1)) != []


async def test_being_stopped_to_make_room_is_no_exit() -> None:
    async with an_event(4, most_running=2) as event:
        for _ in range(5):
            await event.bots.players((0, 1))
            await event.bots.players((2, 3))
        assert event.host.started.count("0") == 5
        assert event.bots.withdrawn_seats((0, 1, 2, 3)) == []
    assert event.troubles == []


async def test_a_finished_game_breaks_the_row() -> None:
    async with an_event(2) as event:
        for _ in range(4):
            await event.bots.players((0, 1))
            event.bots.note_finished_game([0])
            event.host.process("0").exit(1)
            await trio.testing.wait_all_tasks_blocked()
        assert event.bots.withdrawn_seats((0, 1)) == []
        assert event.sentences == ["0 exited with code 1"] * 4


async def test_a_bot_that_exits_while_nobody_needs_it_is_started_when_somebody_does() -> None:
    async with an_event(2) as event:
        await event.bots.players((0, 1))
        event.host.process("0").exit(0)
        await trio.testing.wait_all_tasks_blocked()
        assert event.host.running == ["1"]

        await event.bots.players((0, 1))

        assert sorted(event.host.running) == ["0", "1"]


async def test_a_withdrawn_bot_is_played_for_while_two_others_are_left() -> None:
    # given: a table of three, of which bot 1 exits whenever it is started
    registry = a_registry()

    def begin(process: FakeProcess) -> None:
        if process.command.name == "1":
            process.exit(1)
        else:
            process.connect()

    async with an_event(3, host=FakeHost(registry, begin)) as event:
        players = await event.bots.players((0, 1, 2))
        assert event.bots.withdrawn_seats((0, 1, 2)) == [1]
        # then: its seat is forfeited from the start, and the others play
        players[0] = players[2] = by_fallback(setup(3).ruleset)
        outcome = await Game(setup(3), players, registry.deadlines).__enter__().play()
    assert [(one.seat, one.reason, one.moves) for one in outcome.forfeits] == [(1, "exited", 0)]
    assert outcome.ranks[1] == 3
    assert {outcome.ranks[0], outcome.ranks[2]} <= {1, 2}
