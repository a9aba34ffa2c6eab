"""The clock: deadlines in order, and verdicts exact to the microsecond."""

from __future__ import annotations

from functools import partial

import trio
import trio.testing

from rummyarena_server.referee.clock import SECOND, Deadlines, ThinkTime, TimeControl, now

FIVE_AND_SIXTY = TimeControl(decision=5 * SECOND, bank=60 * SECOND)


async def run_for(deadlines: Deadlines, seconds: float) -> None:
    with trio.move_on_after(seconds):
        await deadlines.run()


async def test_deadlines_fire_in_the_order_of_their_times(autojump_clock: trio.testing.MockClock) -> None:
    deadlines, fired = Deadlines(), list[object]()
    start = now()
    for seconds in (3, 1, 2):
        deadlines.at(start + seconds * SECOND, partial(fired.append, seconds))
    await run_for(deadlines, 2.5)
    assert fired == [1, 2]
    await run_for(deadlines, 1)
    assert fired == [1, 2, 3]


async def test_equal_times_fire_in_the_order_of_their_making(autojump_clock: trio.testing.MockClock) -> None:
    deadlines, fired = Deadlines(), list[object]()
    at = now() + SECOND
    for number in range(20):
        deadlines.at(at, partial(fired.append, number))
    await run_for(deadlines, 2)
    assert fired == list(range(20))


async def test_a_cancelled_deadline_never_fires(autojump_clock: trio.testing.MockClock) -> None:
    deadlines, fired = Deadlines(), list[object]()
    deadlines.at(now() + SECOND, lambda: fired.append("one")).cancel()
    two = deadlines.at(now() + 2 * SECOND, lambda: fired.append("two"))
    deadlines.at(now() + SECOND, two.cancel)
    await run_for(deadlines, 5)
    assert fired == []
    assert not two.is_open


async def test_a_nearer_deadline_wakes_a_sleeping_clock(autojump_clock: trio.testing.MockClock) -> None:
    deadlines, fired = Deadlines(), list[object]()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(deadlines.run)
        deadlines.at(now() + 100 * SECOND, lambda: fired.append("far"))
        await trio.testing.wait_all_tasks_blocked()
        deadlines.at(now() + SECOND, lambda: fired.append("near"))
        await trio.sleep(2)
        assert fired == ["near"]
        nursery.cancel_scope.cancel()


async def test_a_microsecond_is_kept_apart_from_the_next(autojump_clock: trio.testing.MockClock) -> None:
    deadlines, fired = Deadlines(), list[object]()
    start = now()
    for at in (start + 1, start + 2, start + 3):
        deadlines.at(at, lambda: fired.append(now()))
    await run_for(deadlines, 1)
    assert fired == [start + 1, start + 2, start + 3]


async def test_cancelled_deadlines_take_no_room() -> None:
    deadlines = Deadlines()
    for _ in range(10_000):
        deadlines.at(now() + 65 * SECOND, lambda: None).cancel()
    assert len(deadlines) < 100


async def test_what_arrived_in_time_is_handed_in_before_a_deadline_is_judged(
    autojump_clock: trio.testing.MockClock,
) -> None:
    # given: an answer that reached the process in time, but is delivered only when the socket is looked at once more
    async def settled() -> None:
        await trio.sleep(0.01)
        deadline.cancel()

    deadlines, fired = Deadlines(settled), list[object]()
    deadline = deadlines.at(now() + SECOND, lambda: fired.append("late"))
    await run_for(deadlines, 5)
    assert fired == []


def test_the_free_time_costs_nothing() -> None:
    think = ThinkTime(FIVE_AND_SIXTY)
    think.start(1000)
    think.stop(1000 + 5 * SECOND)
    assert (think.close(), think.bank) == (5 * SECOND, 60 * SECOND)


def test_beyond_the_free_time_the_bank_pays() -> None:
    think = ThinkTime(FIVE_AND_SIXTY)
    think.start(0)
    think.stop(7 * SECOND + 1)
    assert not think.is_late
    think.close()
    assert think.bank == 58 * SECOND - 1
    assert think.limit == 63 * SECOND - 1


def test_late_is_one_microsecond_beyond_the_limit() -> None:
    for beyond, late in ((-1, False), (0, False), (1, True)):
        think = ThinkTime(FIVE_AND_SIXTY)
        think.start(17)
        assert think.late_at == 17 + 65 * SECOND + 1
        think.stop(17 + 65 * SECOND + beyond)
        assert think.is_late is late
        think.close()
        assert think.bank == max(0, -beyond)


def test_the_increment_is_added_after_each_decision() -> None:
    think = ThinkTime(TimeControl(decision=SECOND, bank=SECOND, increment=3))
    for _ in range(4):
        think.start(0)
        think.stop(SECOND + 1)
        think.close()
    assert think.bank == SECOND + 4 * 2


def test_the_time_stands_while_the_bot_waits_for_us() -> None:
    think = ThinkTime(TimeControl(decision=10, bank=0))
    think.start(100)
    think.stop(104)  # an answer, which was refused
    think.start(1000)  # the refusal was sent
    assert think.late_at == 1000 + 6 + 1
    think.stop(1006)
    assert not think.is_late
    assert think.close() == 10


def test_no_time_is_ever_negative() -> None:
    think = ThinkTime(TimeControl(decision=10, bank=5))
    think.start(100)
    assert think.left(90) == 15
    assert think.left(1000) == 0
    think.stop(90)  # the receipt is a lower bound and may lie before the start
    assert think.close() == 0


def test_without_a_clock_nothing_is_late_and_time_is_measured_all_the_same() -> None:
    think = ThinkTime(None)
    think.start(0)
    assert think.late_at is None
    think.stop(10**12)
    assert not think.is_late
    assert (think.limit, think.bank, think.left(5)) == (None, None, None)
    assert think.close() == 10**12
