"""The only meeting point of grpcio and trio: a stock asyncio loop pumped inside trio's thread.

grpcio has asyncio, the games have trio. `Pump` runs an asyncio loop in the thread of `trio.run`, whenever the loop has
something to do, and never lets it block: when it would wait, it is stopped, and trio waits on its behalf. There is no
second thread and no hand-off, so both sides may call each other's plain functions.

`serve` puts a gRPC server on the loop. Its streams are pulled: whatever is pending when the writer is free goes into
one message, so batches form by themselves, and what a slow reader leaves stays with the `Endpoint`, which bounds it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import selectors
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias, TypeVar

import grpc
import grpc.aio
import trio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

_LOGGER: Final = logging.getLogger(__name__)
_MOST_ROUNDS: Final = 8  # of asyncio a tick of trio, so that neither starves the other
_SETTLING_ROUNDS: Final = 4  # a frame that is there is found in the first and delivered two later
_BLOCKED_SECONDS: Final = 0.0002  # a wait shorter than this found something that may have been there before

MOST_REQUEST_BYTES: Final = 1024 * 1024
KEEPALIVE_SECONDS: Final = 30
"""How often both sides ping a silent connection, idle ones included; an answer is due within 20 seconds."""

_OPTIONS: Final = (
    ("grpc.keepalive_time_ms", KEEPALIVE_SECONDS * 1000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),  # clients may ping three times as often as agreed
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.max_receive_message_length", MOST_REQUEST_BYTES),
    ("grpc.max_send_message_length", -1),
    ("grpc.so_reuseport", 0),  # a port that is taken is an error, not shared
)

T = TypeVar("T")


# --- the pump --------------------------------------------------------------------------------------------------------


class _PollingSelector(selectors.DefaultSelector):
    """Never blocks: when the asyncio loop would wait, it is stopped and hands control back to trio."""

    loop: asyncio.AbstractEventLoop
    timeout: float | None = None  # how long asyncio would have waited; None: for ever
    is_idle = False
    rounds = 0

    def __init__(self) -> None:
        super().__init__()
        self.polls: deque[int] = deque([_monotonic()], maxlen=4)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        self.polls.append(_monotonic())
        if not ready and (timeout is None or timeout > 0):
            self.is_idle, self.timeout = True, timeout
            self.loop.stop()
        else:
            self.rounds += 1
            if self.rounds >= _MOST_ROUNDS:
                self.loop.stop()
        return ready


def _monotonic() -> int:
    return round(time.perf_counter() * 1_000_000)


class _Waits(trio.abc.Instrument):
    """Notes when trio really waited: what is found afterwards had not come before."""

    def __init__(self, polls: deque[int]) -> None:
        self._polls = polls
        self._since = 0.0

    def before_io_wait(self, timeout: float) -> None:  # noqa: ARG002 - trio's signature
        self._since = time.perf_counter()

    def after_io_wait(self, timeout: float) -> None:  # noqa: ARG002 - trio's signature
        if time.perf_counter() - self._since > _BLOCKED_SECONDS:
            self._polls.clear()
            self._polls.append(_monotonic())


class Pump:
    """Runs asyncio whenever it has something to do: its own I/O, its own timers, or a wake-up from trio."""

    def __init__(self) -> None:
        self._selector = _PollingSelector()
        self.loop = asyncio.SelectorEventLoop(self._selector)
        self._selector.loop = self.loop
        self._waits = _Waits(self._selector.polls)
        self._sleeping: trio.CancelScope | None = None
        self._is_woken = False
        self._life = trio.CancelScope(shield=True)

    @staticmethod
    def now() -> int:
        """Returns whole microseconds of trio's clock, which tests may turn by hand."""
        return round(trio.current_time() * 1_000_000)

    def arrived(self) -> int:
        """Returns when a frame that asyncio delivers now had arrived, at the earliest, on the clock of `now`.

        The last four looks at the sockets are kept, and whenever trio waited for the network that wait's end stands for
        all before it. A frame is delivered within three rounds of the look that found it, and the look before found it
        not there: the oldest look that is kept is a bound that never charges a bot for the time in which this thread
        was busy, and is off by that time at most.
        """
        return self.now() - (_monotonic() - self._selector.polls[0])

    def wake(self) -> None:
        """Has asyncio run within the next tick of trio; to be called after giving asyncio something to do."""
        self._is_woken = True
        if self._sleeping is not None:
            self._sleeping.cancel()

    async def call(self, function: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
        """Awaits an asyncio coroutine from a task of trio; a cancelled call cancels it and does not wait for it."""
        done = trio.Event()
        task = self.loop.create_task(function(*args))
        task.add_done_callback(lambda _: done.set())
        self.wake()
        try:
            await done.wait()
        except trio.Cancelled:
            task.cancel()
            self.wake()
            raise
        return task.result()

    async def settled(self) -> None:
        """Returns once all frames that had reached this process at the call were delivered."""
        await self.call(_rounds)

    async def run(self) -> None:
        """Pumps until `close`; outer cancellation does not stop it, for what is being closed needs it."""
        trio.lowlevel.add_instrument(self._waits)
        try:
            with self._life:
                while True:
                    if self._run_asyncio() and not self._is_woken:
                        await self._sleep()
                    else:
                        await trio.lowlevel.checkpoint()
        finally:
            trio.lowlevel.remove_instrument(self._waits)
            self.loop.close()

    async def close(self) -> None:
        """Ends what is left in asyncio, then the pump. Stop the gRPC server first."""
        with trio.CancelScope(shield=True):
            await self.call(_end_all_tasks)
        self._life.cancel()

    async def _sleep(self) -> None:
        timeout = self._selector.timeout
        deadline = math.inf if timeout is None else trio.current_time() + timeout
        with trio.CancelScope(deadline=deadline) as self._sleeping:
            await trio.lowlevel.wait_readable(self._selector.fileno())
        self._sleeping = None

    @trio.lowlevel.enable_ki_protection
    def _run_asyncio(self) -> bool:
        """Returns whether asyncio has nothing left to do now.

        Ctrl-C is kept from asyncio, which would lose the callback it came in; trio delivers it elsewhere.
        """
        self._is_woken = False
        self._selector.is_idle, self._selector.rounds = False, 0
        self.loop.run_forever()  # returns at the next loop.stop(), see _PollingSelector
        return self._selector.is_idle


async def _rounds() -> None:
    for _ in range(_SETTLING_ROUNDS):
        await asyncio.sleep(0)


async def _end_all_tasks() -> None:
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)


@contextlib.asynccontextmanager
async def open_pump() -> AsyncIterator[Pump]:
    """Opens a pump; what the block raises comes in a group, as from any nursery."""
    pump = Pump()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(pump.run)
        try:
            yield pump
        finally:
            await pump.close()


# --- streams ---------------------------------------------------------------------------------------------------------


class Endpoint(Protocol):
    """The end of a stream that the caller implements: plain functions that must not block.

    What one of them raises is logged and ends the stream with INTERNAL.
    """

    def receive(self, frame: bytes, at: int) -> None:
        """Takes a message; `at`: when it arrived, see `Pump.arrived`."""
        ...

    def next_frame(self) -> bytes | None:
        """Returns the next message, everything pending in one, or `None`; called when the writer is free."""
        ...

    def half_closed(self) -> None:
        """Hears that nothing more will be received."""
        ...

    def closed(self) -> None:
        """Hears that the stream is over, exactly once, whoever ended it."""
        ...


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a stream is not opened."""

    code: grpc.StatusCode
    message: str


class Stream:
    """A stream as its endpoint sees it."""

    def __init__(self, pump: Pump) -> None:
        self._pump = pump
        self._pending = asyncio.Event()
        self.ending: asyncio.Future[Rejection | None] = pump.loop.create_future()

    def wake(self) -> None:
        """Has `Endpoint.next_frame` called as soon as the writer is free, at the latest in the next tick of trio."""
        if not self._pending.is_set():
            self._pending.set()
            self._pump.wake()

    def finish(self) -> None:
        """Ends the stream once what is pending is written; nothing more is received."""
        self._end(None)

    def abort(self, code: grpc.StatusCode, message: str) -> None:
        """Ends the stream at once with an error; nothing more is received."""
        self._end(Rejection(code, message))

    async def pending(self) -> None:
        """Waits, in asyncio, for the next `wake`."""
        await self._pending.wait()
        self._pending.clear()

    def _end(self, reason: Rejection | None) -> None:
        if not self.ending.done():
            self.ending.set_result(reason)
            self._pump.wake()


Open: TypeAlias = Callable[[Mapping[str, str], Stream], Endpoint | Rejection]
"""Opens the endpoint of a stream, from the call's metadata (names in small letters)."""

_Context: TypeAlias = grpc.aio.ServicerContext[bytes, bytes]


class _StreamHandler:
    """Runs the streams of one method in asyncio."""

    def __init__(self, pump: Pump, open_endpoint: Open) -> None:
        self._pump = pump
        self._open = open_endpoint

    async def __call__(self, _requests: object, context: _Context) -> None:
        stream = Stream(self._pump)
        rejection = await self._serve(stream, context)
        if rejection is not None:
            await context.abort(rejection.code, rejection.message)

    async def _serve(self, stream: Stream, context: _Context) -> Rejection | None:
        metadata = {name: str(value) for name, value in context.invocation_metadata() or ()}
        try:
            endpoint = self._open(metadata, stream)
        except Exception:
            _LOGGER.exception("A stream could not be opened.")
            return _INTERNAL
        if isinstance(endpoint, Rejection):
            return endpoint
        try:
            return await self._converse(stream, endpoint, context)
        finally:
            _guarded(stream, endpoint.closed)

    async def _converse(self, stream: Stream, endpoint: Endpoint, context: _Context) -> Rejection | None:
        """Reads and writes until one side ends the stream."""
        reader = self._pump.loop.create_task(self._read(stream, endpoint, context))
        writer = self._pump.loop.create_task(self._write(stream, endpoint, context))
        try:
            await asyncio.wait((reader, writer, stream.ending), return_when=asyncio.FIRST_COMPLETED)
            while not (stream.ending.done() or writer.done()):  # the bot will send no more, but still listens
                await asyncio.wait((writer, stream.ending), return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _cancelled(reader)
            rejection = stream.ending.result() if stream.ending.done() else None
            await _cancelled(writer)
        if rejection is None:
            await _write_pending(stream, endpoint, context)
        return stream.ending.result() if stream.ending.done() else None

    async def _read(self, stream: Stream, endpoint: Endpoint, context: _Context) -> None:
        while isinstance(frame := await context.read(), bytes) and not stream.ending.done():  # else it is EOF
            _guarded(stream, endpoint.receive, frame, self._pump.arrived())
        if not stream.ending.done():
            _guarded(stream, endpoint.half_closed)

    async def _write(self, stream: Stream, endpoint: Endpoint, context: _Context) -> None:
        while True:
            await stream.pending()
            await _write_pending(stream, endpoint, context)


async def _write_pending(stream: Stream, endpoint: Endpoint, context: _Context) -> None:
    while (frame := _guarded(stream, endpoint.next_frame)) is not None:
        await context.write(frame)


_INTERNAL: Final = Rejection(grpc.StatusCode.INTERNAL, "an internal error of the server; its log says more")


def _guarded(stream: Stream, function: Callable[..., T], *args: object) -> T | None:
    """Calls a function of an endpoint; what it raises would be swallowed by grpc.aio, so it is logged here."""
    try:
        return function(*args)
    except Exception:
        _LOGGER.exception("An endpoint failed.")
        stream.abort(_INTERNAL.code, _INTERNAL.message)
        return None


async def _cancelled(task: asyncio.Task[None]) -> None:
    """Cancels a task and waits for its end; that a stream broke under it is no news to anybody."""
    task.cancel()
    await asyncio.wait((task,))
    if not task.cancelled() and (error := task.exception()) is not None:
        _LOGGER.debug("A stream broke: %s", error)


# --- the server ------------------------------------------------------------------------------------------------------


class AddressError(Exception):
    """An address that cannot be listened on; the text says which and what to do."""


@contextlib.asynccontextmanager
async def serve(pump: Pump, address: str, streams: Mapping[str, Open], grace: float = 1.0) -> AsyncIterator[str]:
    """Serves bidirectional streams, by method such as `/package.Service/Method`, and health; yields the bound address.

    `address`: `127.0.0.1:0` (any free port) or `unix:/path`; `AddressError` if it cannot be had. Leaving gives open
    streams `grace` seconds, then cancels them.
    """
    server, bound = await pump.call(_start, pump, address, streams)
    try:
        yield bound
    finally:
        with trio.CancelScope(shield=True):
            await pump.call(server.stop, grace)


async def _start(pump: Pump, address: str, streams: Mapping[str, Open]) -> tuple[grpc.aio.Server, str]:
    server = grpc.aio.server(options=_OPTIONS)
    handlers = {method: _StreamHandler(pump, open_endpoint) for method, open_endpoint in streams.items()}
    server.add_generic_rpc_handlers((_Methods(handlers),))
    await _add_health(server, streams)
    try:
        port = server.add_insecure_port(address)
    except RuntimeError:
        port = 0
    if port == 0:
        raise AddressError(f"cannot listen on {address}: it may be taken by another program; choose another address")
    await server.start()
    return server, address if address.startswith("unix:") else f"{address.rpartition(':')[0]}:{port}"


class _Methods(grpc.GenericRpcHandler):
    """Finds the handler of a method; messages pass as they are, without being parsed or built here."""

    def __init__(self, handlers: Mapping[str, Callable[..., Awaitable[None]]]) -> None:
        self._handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            method: grpc.stream_stream_rpc_method_handler(_as_function(handler)) for method, handler in handlers.items()
        }

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Returns the handler, or `None` for a method that is not ours."""
        return self._handlers.get(handler_call_details.method)


def _as_function(handler: Callable[..., Awaitable[None]]) -> Callable[..., Coroutine[Any, Any, None]]:
    async def handle(requests: object, context: object) -> None:  # grpc.aio tells coroutine functions by their kind
        await handler(requests, context)

    return handle


async def _add_health(server: grpc.aio.Server, streams: Mapping[str, Open]) -> None:
    servicer = health.aio.HealthServicer()
    for service in ("", *{method.split("/")[1] for method in streams}):
        await servicer.set(service, health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
