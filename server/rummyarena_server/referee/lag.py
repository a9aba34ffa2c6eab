"""How late this server itself is while games are played, by which it is known whether their clocks can be trusted.

No bot is charged for a delay that the server knows to be its own. But where a machine has more to do than it can, the
bots wait for it too, and nobody can tell how long: then the server's own delay is what gives the load away.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import trio

from rummyarena_server.referee.clock import SECOND, TimeControl, now

_SHARE: Final = 10
_SHORTEST_TICK: Final = SECOND // 40  # which costs half a percent of a core
_LONGEST_TICK: Final = SECOND // 4


def tolerable_lag(control: TimeControl) -> int:
    """Returns by how many microseconds a server may be late and its clocks still be trusted.

    It is a tenth of the free time of a decision; where there is none, of what is added after each, or else of the bank.
    """
    return (control.decision or control.increment or control.bank) // _SHARE


class LagMeter:
    """Measures the lag of the tasks in this thread by one of them that wakes at set times.

    `tolerable`: the microseconds from which on lag matters. It wakes twice in that time, but not more often than every
    25 ms; a delay is seen shorter than it was by up to the time between two wakes.
    """

    def __init__(self, tolerable: int) -> None:
        self.tolerable = tolerable
        self._tick = min(max(tolerable // 2, _SHORTEST_TICK), _LONGEST_TICK)
        self._due: int | None = None
        self._seen: list[tuple[int, int]] = []  # when and how much; a lag drops the smaller ones before it, so few stay

    async def run(self) -> None:
        """Measures until cancelled."""
        while True:
            self._due = now() + self._tick
            await trio.sleep_until(self._due / SECOND)
            self._look()

    def worst_since(self, at: int) -> int:
        """Returns the worst lag in microseconds that was seen after a time, up to this moment."""
        self._look()
        first = bisect_left(self._seen, (at + 1, 0))
        return self._seen[first][1] if first < len(self._seen) else 0

    def _look(self) -> None:
        """Notes how long the wake is overdue that is to come, or has just come."""
        at = now()
        lag = 0 if self._due is None else max(0, at - self._due)
        while self._seen and self._seen[-1][1] <= lag:
            self._seen.pop()
        self._seen.append((at, lag))


@asynccontextmanager
async def open_lag_meter(control: TimeControl | None) -> AsyncIterator[LagMeter | None]:
    """Measures as long as the block lasts; `None` where games have no clock and lag harms nobody."""
    if control is None:
        yield None
        return
    meter = LagMeter(tolerable_lag(control))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(meter.run)
        yield meter
        nursery.cancel_scope.cancel()
