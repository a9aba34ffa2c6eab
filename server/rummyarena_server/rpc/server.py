"""The server as those who run games need it: an address, the bots that may connect, and the clock."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import trio

from rummyarena.version import __version__
from rummyarena_server.referee.clock import SECOND, Deadlines
from rummyarena_server.rpc.bridge import AddressError, open_pump, serve
from rummyarena_server.rpc.instances import Registry
from rummyarena_server.rpc.play import PLAY_METHOD, open_play


@dataclass(frozen=True, slots=True)
class Server:
    """A server that listens; `address`: as bots are to be told it, with the port that was bound."""

    address: str
    registry: Registry
    deadlines: Deadlines


@asynccontextmanager
async def open_server(address: str, *, reconnect: int = 30 * SECOND) -> AsyncIterator[Server]:
    """Serves bots at `127.0.0.1:PORT` (0: any) or `unix:/path` until the block is left.

    `reconnect`: for how many microseconds a bot may be without a stream. `AddressError` if the address cannot be had;
    what the block raises comes in a group, as from any nursery.
    """
    try:
        async with open_pump() as pump, trio.open_nursery() as nursery:
            deadlines = Deadlines(pump.settled)
            nursery.start_soon(deadlines.run)
            registry = Registry(deadlines, reconnect=reconnect, server_version=__version__)
            async with serve(pump, address, {PLAY_METHOD: partial(open_play, registry)}) as bound:
                yield Server(bound, registry, deadlines)
            nursery.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        failure = _leaf(group)
        if isinstance(failure, AddressError):
            raise failure from None
        raise


def _leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
