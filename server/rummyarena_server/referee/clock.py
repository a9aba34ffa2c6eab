"""Time as the referee counts it: whole microseconds of trio's clock, one heap of deadlines, a seat's think time."""

from __future__ import annotations

import heapq
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import trio

SECOND: Final = 1_000_000
_FEWEST_CANCELLED_TO_SWEEP: Final = 64


def now() -> int:
    """Returns the time in whole microseconds of trio's monotonic clock, which tests make virtual."""
    return round(trio.current_time() * SECOND)


class Deadline:
    """A callback that is due at a time unless it is cancelled before."""

    __slots__ = ("_callback", "_deadlines", "at")

    def __init__(self, deadlines: Deadlines, at: int, callback: Callable[[], object]) -> None:
        self.at = at
        self._deadlines = deadlines
        self._callback: Callable[[], object] | None = callback

    @property
    def is_open(self) -> bool:
        """Whether the callback is still to come."""
        return self._callback is not None

    def cancel(self) -> None:
        """Drops the callback; does nothing if it was called or dropped before."""
        if self._callback is not None:
            self._callback = None
            self._deadlines.note_cancelled()

    def fire(self) -> None:
        """Calls the callback, unless it was called or dropped before."""
        callback, self._callback = self._callback, None
        if callback is not None:
            callback()


class Deadlines:
    """All deadlines of a server on one heap with one task, for a cancel scope per decision halves the throughput.

    `settled`: returns once everything that had reached this process when it was called has been handed in; it is
    awaited between the moment a deadline passes and its callback, so that our own lag makes nobody late.
    """

    def __init__(self, settled: Callable[[], Awaitable[object]] = trio.lowlevel.checkpoint) -> None:
        self._settled = settled
        self._heap: list[tuple[int, int, Deadline]] = []
        self._count = 0
        self._cancelled = 0
        self._sleep: trio.CancelScope | None = None

    def __len__(self) -> int:
        return len(self._heap)

    def at(self, microseconds: int, callback: Callable[[], object]) -> Deadline:
        """Has `callback` called as soon as `now()` is at least `microseconds`; it must not raise."""
        deadline = Deadline(self, microseconds, callback)
        self._count += 1  # equal times: first come, first served
        heapq.heappush(self._heap, (microseconds, self._count, deadline))
        if self._sleep is not None and self._heap[0][2] is deadline:
            self._sleep.deadline = microseconds / SECOND
        return deadline

    async def run(self) -> None:
        """Calls what is due, until cancelled; to be started once, in the nursery that everything timed lives in."""
        while True:
            await self._until_next()
            passed = now()
            if self._next() <= passed:
                await self._settled()
                self._fire(passed)

    def note_cancelled(self) -> None:
        """Counts a cancelled deadline; they are swept out before they outweigh the open ones."""
        self._cancelled += 1
        if self._cancelled > max(_FEWEST_CANCELLED_TO_SWEEP, len(self._heap) // 2):
            self._heap = [entry for entry in self._heap if entry[2].is_open]
            heapq.heapify(self._heap)
            self._cancelled = 0

    async def _until_next(self) -> None:
        with trio.CancelScope(deadline=self._next() / SECOND) as self._sleep:
            await trio.sleep_forever()
        self._sleep = None

    def _next(self) -> float:
        """Returns the time of the next open deadline, and drops the cancelled ones before it."""
        while self._heap and not self._heap[0][2].is_open:
            heapq.heappop(self._heap)
            self._cancelled -= 1
        return self._heap[0][0] if self._heap else math.inf

    def _fire(self, passed: int) -> None:
        while self._next() <= passed:
            heapq.heappop(self._heap)[2].fire()


@dataclass(frozen=True, slots=True)
class TimeControl:
    """The clock of a game, in whole microseconds.

    `decision`: free in every decision. `bank`: what a seat has for the whole game beyond that. `increment`: what is
    added to the bank after each decision.
    """

    decision: int
    bank: int
    increment: int = 0


class ThinkTime:
    """The account of one seat in a game; it may have no clock and then only measures.

    A decision's time runs while the bot has it: from the moment its frame is handed to the writer to the receipt of an
    answer, and again from the moment a refusal is handed to the writer.
    """

    def __init__(self, control: TimeControl | None) -> None:
        self._control = control
        self._bank = control.bank if control else 0
        self._spent = 0
        self._since: int | None = None

    @property
    def is_running(self) -> bool:
        """Whether the bot has the decision now."""
        return self._since is not None

    @property
    def is_late(self) -> bool:
        """Whether the time spent on the open decision exceeds what there is."""
        limit = self.limit
        return limit is not None and self._spent > limit

    @property
    def limit(self) -> int | None:
        """What the open decision may take, the bank included; `None` without a clock."""
        return self._control.decision + self._bank if self._control else None

    @property
    def bank(self) -> int | None:
        """What is left in the bank, from 0; `None` without a clock."""
        return self._bank if self._control else None

    @property
    def late_at(self) -> int | None:
        """The first microsecond at which a running decision is late; `None` without a clock or while it stands."""
        if self._since is None or self.limit is None:
            return None
        return self._since + self.limit - self._spent + 1

    def left(self, at: int) -> int | None:
        """Returns what is left of the open decision's limit, from 0; `None` without a clock."""
        limit = self.limit
        return None if limit is None else max(0, limit - self._spent - self._running(at))

    def start(self, at: int) -> None:
        """Lets the time run; does nothing while it runs."""
        if self._since is None:
            self._since = at

    def stop(self, at: int) -> None:
        """Stops the time; a receipt noted before the start costs nothing."""
        self._spent += self._running(at)
        self._since = None

    def close(self) -> int:
        """Books the open decision to the bank and returns what it took."""
        spent, self._spent, self._since = self._spent, 0, None
        if self._control:
            beyond = max(0, spent - self._control.decision)
            self._bank = max(0, self._bank - beyond) + self._control.increment
        return spent

    def _running(self, at: int) -> int:
        return 0 if self._since is None else max(0, at - self._since)
