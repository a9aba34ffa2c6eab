"""Ending a bot that plays, without losing the games it is in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Final, TypeAlias

from rummyarena.v1 import play_pb2

Outbox: TypeAlias = "SimpleQueue[play_pb2.PlayRequest | None]"
"""The messages of a stream to the server; `None` ends it."""

_DRAIN: Final = play_pb2.PlayRequest(drain=play_pb2.Drain())


class Stop:
    """Ends one `play`: the bot is given no more games, and those that it is in are played to their end.

    May be requested at any time, from any thread or from a handler of a signal.
    """

    def __init__(self) -> None:
        self.is_requested = False
        self._outbox: Outbox | None = None
        self._requests: SimpleQueue[None] = SimpleQueue()  # unlike an Event, it may be used in a handler of a signal

    def request(self) -> None:
        """Asks for the end, which comes when the last game is over; further requests change nothing."""
        if self.is_requested:
            return
        self.is_requested = True
        self._requests.put(None)
        outbox = self._outbox
        if outbox is not None:
            outbox.put(_DRAIN)

    @contextmanager
    def heard_by(self, outbox: Outbox) -> Iterator[None]:
        """Has the end asked for on a stream, whose Hello was put into the outbox, while the block runs."""
        self._outbox = outbox
        if self.is_requested:
            outbox.put(_DRAIN)
        try:
            yield
        finally:
            self._outbox = None

    def wait(self, seconds: float) -> None:
        """Waits, at most until an end is requested."""
        try:
            self._requests.get(timeout=seconds)
        except Empty:
            return
