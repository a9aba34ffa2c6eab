"""A signal ends what is played now, and what would have been begun after it."""

from __future__ import annotations

import signal

import trio
import trio.testing

from rummyarena_server.app.playing import Stopping


async def test_after_a_signal_no_games_that_follow_are_begun() -> None:
    said: list[str] = []
    stopping = Stopping(lambda: said.append("finishing"))
    send, signals = trio.open_memory_channel[int](1)

    async with stopping.heeding(signals):
        stopping.use(lambda: said.append("the first drains"))
        assert said == []
        await send.send(signal.SIGINT)
        await trio.testing.wait_all_tasks_blocked()
        assert said == ["the first drains", "finishing"]
        stopping.use(lambda: said.append("the second drains"))

    assert said == ["the first drains", "finishing", "the second drains"]
    assert stopping.number == signal.SIGINT
