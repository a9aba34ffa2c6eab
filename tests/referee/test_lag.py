"""A server that is late knows by how much, and since when."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from rummyarena_server.referee.clock import SECOND, TimeControl, now
from rummyarena_server.referee.lag import LagMeter, open_lag_meter, tolerable_lag

MILLISECOND = SECOND // 1000


@asynccontextmanager
async def a_meter() -> AsyncIterator[LagMeter]:
    """A meter that wakes every 50 milliseconds, in a time in which nobody is late unless it is jumped."""
    async with open_lag_meter(TimeControl(decision=SECOND, bank=0)) as meter:
        assert meter is not None
        await trio.testing.wait_all_tasks_blocked()
        yield meter


async def stand_still(clock: trio.testing.MockClock, milliseconds: int) -> None:
    """Lets time pass in which no task runs."""
    clock.jump(milliseconds / 1000)
    await trio.testing.wait_all_tasks_blocked()


async def test_who_wakes_in_time_is_not_late(autojump_clock: trio.testing.MockClock) -> None:
    async with a_meter() as meter:
        await trio.sleep(1)
        assert meter.worst_since(0) == 0


async def test_a_standstill_is_seen_but_for_the_time_between_two_wakes(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_meter() as meter:
        for milliseconds in (200, 500, 3000):
            before = now()
            await stand_still(autojump_clock, milliseconds)
            await trio.sleep(0.07)
            assert (milliseconds - 50) * MILLISECOND <= meter.worst_since(before) <= milliseconds * MILLISECOND


async def test_the_worst_counts_of_all_since_a_time(autojump_clock: trio.testing.MockClock) -> None:
    async with a_meter() as meter:
        begun = []
        for milliseconds in (1050, 350, 650, 150):  # 50 of which pass before the wake
            begun.append(now())
            await stand_still(autojump_clock, milliseconds)
        await trio.sleep(0.2)
        begun.append(now())
        await trio.sleep(0.2)
        assert [meter.worst_since(one) // MILLISECOND for one in begun] == [1000, 600, 600, 100, 0]


async def test_who_asks_before_the_meter_has_woken_hears_of_a_standstill(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_meter() as meter:
        autojump_clock.jump(0.550)
        assert meter.worst_since(0) == 500 * MILLISECOND
        await trio.testing.wait_all_tasks_blocked()
        assert meter.worst_since(0) == 500 * MILLISECOND  # and for who asks afterwards, once


@pytest.mark.parametrize(
    ("control", "milliseconds"),
    [
        (TimeControl(decision=5 * SECOND, bank=60 * SECOND, increment=SECOND), 500),
        (TimeControl(decision=0, bank=60 * SECOND, increment=SECOND), 100),
        (TimeControl(decision=0, bank=60 * SECOND), 6_000),
        (TimeControl(decision=100 * MILLISECOND, bank=0), 10),
    ],
)
def test_a_tenth_of_what_a_decision_may_take_is_tolerable(control: TimeControl, milliseconds: int) -> None:
    assert tolerable_lag(control) == milliseconds * MILLISECOND


async def test_without_a_clock_nothing_is_measured(autojump_clock: trio.testing.MockClock) -> None:
    async with open_lag_meter(None) as meter:
        autojump_clock.jump(10)
        assert meter is None


async def test_what_is_kept_does_not_grow(autojump_clock: trio.testing.MockClock) -> None:
    async with a_meter() as meter:
        await trio.sleep(60)
        assert len(meter._seen) == 1
