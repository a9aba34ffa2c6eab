"""A machine that is too busy for the clock of a tournament: its games are marked, and it is told once."""

from __future__ import annotations

from typing import Any

import trio
import trio.testing

from rummyarena_rules.thai import THAI
from rummyarena_server.referee.players import Question, Sitting
from rummyarena_server.store.store import Store
from rummyarena_server.tournament.event import Event
from rummyarena_server.tournament.timing import Timing, timing
from tests.referee.helpers import Bot, promptly, randomly
from tests.tournament.events import Run, open_event, recorded, running_clock, settings


def holding_up(clock: trio.testing.MockClock, *games: int, seconds: float) -> Bot:
    """A bot in whose games of these numbers, from 0, the whole machine stands still for a while; it plays the rest."""
    begun: list[str] = []

    def reply(sitting: Sitting, question: Question) -> None:
        if sitting.setup.game_id not in begun:
            begun.append(sitting.setup.game_id)
            if len(begun) - 1 in games:
                clock.jump(seconds)
        promptly(sitting, question)

    return Bot(reply)


async def play(store: Store, bot: Bot, **changes: Any) -> tuple[Event, Run]:
    """Plays eight games of two bots one after the other, with a tenth of a second for each decision."""
    clock = {"clock": "on", "decision_seconds": 0.1, "bank_seconds": 60.0}
    event = await open_event(store, settings(2, cycles=4, concurrency=1, **clock | changes))
    async with running_clock() as deadlines:
        run = Run(event, store, [bot, randomly(THAI)], deadlines)
        assert await run.runner.run()
    return event, run


async def lags(event: Event, store: Store) -> list[int]:
    """The lag of each game in milliseconds."""
    return [one.lag // 1000 for one in await recorded(event, store)]


async def test_games_played_while_the_machine_was_late_are_marked(
    store: Store, mock_clock: trio.testing.MockClock
) -> None:
    event, _ = await play(store, holding_up(mock_clock, 2, 5, seconds=0.085))  # it is seen 25 ms shorter

    assert await lags(event, store) == [0, 0, 60, 0, 0, 60, 0, 0]
    assert await store.read(timing, event.stored.id) == Timing(tolerable=10_000, worst=60_000, games=8, doubtful=2)


async def test_that_the_machine_is_late_is_told_once(store: Store, mock_clock: trio.testing.MockClock) -> None:
    _, run = await play(store, holding_up(mock_clock, 2, 5, seconds=0.085))

    (trouble,) = run.troubles
    assert trouble.told().startswith(
        "Friday is not timed reliably: this machine was late by 60 ms while game 2 was played, and more than 10 ms are "
        "too much for its clock"
    )


async def test_a_little_lag_is_recorded_and_not_told(store: Store, mock_clock: trio.testing.MockClock) -> None:
    event, run = await play(store, holding_up(mock_clock, 2, seconds=0.035))

    assert await lags(event, store) == [0, 0, 10, 0, 0, 0, 0, 0]
    assert await store.read(timing, event.stored.id) == Timing(tolerable=10_000, worst=10_000, games=8, doubtful=0)
    assert run.troubles == []


async def test_games_that_were_not_played_are_not_counted(store: Store, mock_clock: trio.testing.MockClock) -> None:
    event = await open_event(store, settings(3, cycles=1, clock="on"))
    async with running_clock() as deadlines:
        assert await Run(event, store, [randomly(THAI)] * 3, deadlines, withdrawn=[2]).runner.run()
    assert len(await recorded(event, store)) == 6
    found = await store.read(timing, event.stored.id)
    assert found is not None
    assert found.games == 2


async def test_without_a_clock_nothing_is_measured(store: Store, mock_clock: trio.testing.MockClock) -> None:
    event, run = await play(store, holding_up(mock_clock, 2, seconds=10), clock="off")

    assert await lags(event, store) == [0] * 8
    assert await store.read(timing, event.stored.id) is None
    assert run.troubles == []
