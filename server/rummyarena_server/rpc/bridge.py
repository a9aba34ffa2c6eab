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
import errno
import logging
import math
import selectors
import socket
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias, TypeVar

import grpc
import grpc.aio
import trio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

_LOGGER: Final = logging.getLogger(__name__)
_MOST_ROUNDS: Final = 8  # of asyncio a tick of trio, so that neither starves the other
_SETTLING_ROUNDS: Final = 4  # a frame that is there is found in the first and delivered two later
_QUIET_SECONDS: Final = 0.005  # in which gRPC's threads, also under load, carry a frame from its socket to asyncio
_LONGEST_SETTLING_SECONDS: Final = 0.1  # a bot that sends without end must not stop the clocks
_ENDING_SECONDS: Final = 1.0  # for streams that were cancelled, which takes them a few rounds of asyncio
_GONE_SECONDS: Final = 0.05  # within which gRPC tells of the end of a call that has ended, and is done with it

_LAST_PORT: Final = 65_535
MOST_FRAME_BYTES: Final = 16 * 1024 * 1024
"""The largest frame that is received; beyond it gRPC ends the stream itself, and no endpoint hears why."""

KEEPALIVE_SECONDS: Final = 30
"""How often both sides ping a silent connection, idle ones included; an answer is due within 20 seconds."""

_OPTIONS: Final = (
    ("grpc.keepalive_time_ms", KEEPALIVE_SECONDS * 1000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),  # clients may ping three times as often as agreed
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.max_receive_message_length", MOST_FRAME_BYTES),
    ("grpc.max_send_message_length", -1),
    ("grpc.so_reuseport", 0),  # a port that is taken is an error, not shared
)

T = TypeVar("T")


# --- the pump --------------------------------------------------------------------------------------------------------


class _Loop(asyncio.SelectorEventLoop):
    """A loop with one clock for both sides, so that what turns trio's by hand turns asyncio's timers with it."""

    def time(self) -> float:
        return trio.current_time()


class _PollingSelector(selectors.DefaultSelector):
    """Never blocks: when the asyncio loop would wait, it is stopped and hands control back to trio."""

    loop: asyncio.AbstractEventLoop
    timeout: float | None = None  # how long asyncio would have waited; None: for ever
    is_idle = False
    rounds = 0
    found = 0  # how often there was something

    def __init__(self) -> None:
        super().__init__()
        self.polls: deque[int] = deque([_monotonic()], maxlen=4)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        self.polls.append(_monotonic())
        self.found += bool(ready)
        if not ready and (timeout is None or timeout > 0):
            self.is_idle, self.timeout = True, timeout
            self.loop.stop()
        else:
            self.rounds += 1
            if self.rounds >= _MOST_ROUNDS:
                self.loop.stop()
        return ready

    def is_quiet(self) -> bool:
        """Returns whether all that came was delivered and nothing has come since."""
        return self.is_idle and not super().select(0)

    def forget_polls(self) -> None:
        """Has this moment stand for all looks before it."""
        self.polls.clear()
        self.polls.append(_monotonic())


def _monotonic() -> int:
    return round(time.perf_counter() * 1_000_000)


class _Waits(trio.abc.Instrument):
    """Looks at the sockets before trio waits: if they are quiet, what is found afterwards came during the wait."""

    def __init__(self, selector: _PollingSelector) -> None:
        self._selector = selector
        self._was_quiet = False

    def before_io_wait(self, timeout: float) -> None:  # noqa: ARG002 - trio's signature
        self._was_quiet = self._selector.is_quiet()

    def after_io_wait(self, timeout: float) -> None:  # noqa: ARG002 - trio's signature
        if self._was_quiet:
            self._selector.forget_polls()


class Pump:
    """Runs asyncio whenever it has something to do: its own I/O, its own timers, or a wake-up from trio."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._selector = _PollingSelector()
        self.loop = _Loop(self._selector)
        self._selector.loop = self.loop
        self._waits = _Waits(self._selector)
        self._sleeping: trio.CancelScope | None = None
        self._is_woken = False
        self._life = trio.CancelScope(shield=True)

    @staticmethod
    def now() -> int:
        """Returns whole microseconds of trio's clock, which tests may turn by hand."""
        return round(trio.current_time() * 1_000_000)

    def arrived(self) -> int:
        """Returns when a frame that asyncio delivers now had arrived, at the earliest, on the clock of `now`.

        The last four looks at the sockets are kept. A frame is delivered within three rounds of the look that found it,
        and the look before found it not there, so the oldest look that is kept never charges a bot for the time in
        which this thread was busy. Where asyncio had delivered all and a look just before a wait of trio found nothing,
        the wait's end stands for all looks before it: who answers while we are idle is charged to within the time in
        which the system wakes us. gRPC hands over a stream's frames one by one: a frame sent before the last was
        delivered counts as arrived after that.
        """
        return self.now() - (_monotonic() - self._selector.polls[0])

    def wake(self) -> None:
        """Has asyncio run within the next tick of trio; to be called after giving asyncio something to do."""
        self._is_woken = True
        if self._sleeping is not None:
            self._sleeping.cancel()

    async def call(self, function: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
        """Awaits an asyncio coroutine from a task of trio; a cancelled call cancels it and does not wait for it.

        `trio.ClosedResourceError` if the pump is closed meanwhile.
        """
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
        if task.cancelled():
            raise trio.ClosedResourceError("the pump was closed during a call")
        return task.result()

    async def settled(self) -> None:
        """Returns once the frames that had reached this machine at the call were delivered.

        gRPC's own threads carry a frame from its socket to asyncio, those of a stream one by one, so this waits until
        nothing has come for 5 milliseconds; for 100 at most, and a stream may have more frames than that on their way.
        """
        found = None
        with trio.move_on_after(_LONGEST_SETTLING_SECONDS):
            while found != self._selector.found:
                found = self._selector.found
                await trio.sleep(_QUIET_SECONDS)
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

        Ctrl-C is kept from asyncio, which would lose the callback it came in; trio delivers it elsewhere. What asyncio
        does not catch ends the pump's surroundings, not the pump: they still need it to be closed.
        """
        self._selector.is_idle, self._selector.rounds = False, 0
        try:
            self.loop.run_forever()  # returns at the next loop.stop(), see _PollingSelector
        except (KeyboardInterrupt, SystemExit) as error:
            self._nursery.start_soon(_raise, error)
        self._is_woken = False  # who called from within asyncio was heard there
        return self._selector.is_idle


async def _raise(error: BaseException) -> None:
    raise error


async def _rounds() -> None:
    for _ in range(_SETTLING_ROUNDS):
        await asyncio.sleep(0)


async def _end_all_tasks() -> None:
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    if rest:
        await asyncio.wait(rest, timeout=_GONE_SECONDS)  # gRPC logs a traceback of a call cancelled in its last steps
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)


@contextlib.asynccontextmanager
async def open_pump() -> AsyncIterator[Pump]:
    """Opens a pump; what the block raises comes in a group, as from any nursery."""
    async with trio.open_nursery() as nursery:
        pump = Pump(nursery)
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
        self.is_finishing = False
        self.aborted: asyncio.Future[Rejection] = pump.loop.create_future()

    def is_ending(self) -> bool:
        """Returns whether the end was declared, so that nothing more is received."""
        return self.is_finishing or self.aborted.done()

    def wake(self) -> None:
        """Has `Endpoint.next_frame` called as soon as the writer is free, at the latest in the next tick of trio."""
        if not self._pending.is_set():
            self._pending.set()
            self._pump.wake()

    def finish(self) -> None:
        """Ends the stream once what is pending is written, however slowly it is read; nothing more is received."""
        self.is_finishing = True
        self.wake()

    def abort(self, code: grpc.StatusCode, message: str) -> None:
        """Ends the stream at once with an error, also one that is finishing; the first abort counts.

        The endpoint hears of the end at once; a client that does not read learns the reason when it does.
        """
        if not self.aborted.done():
            self.aborted.set_result(Rejection(code, message))
            self._pump.wake()

    async def pending(self) -> None:
        """Waits, in asyncio, for the next `wake`."""
        await self._pending.wait()
        self._pending.clear()


Open: TypeAlias = Callable[[Mapping[str, str], Stream], Endpoint | Rejection]
"""Opens the endpoint of a stream, from the call's metadata (names in small letters)."""

_Context: TypeAlias = grpc.aio.ServicerContext[bytes, bytes]
_INTERNAL: Final = Rejection(grpc.StatusCode.INTERNAL, "an internal error of the server; its log says more")


class _StreamHandler:
    """Runs the streams of one method in asyncio."""

    def __init__(self, pump: Pump, open_endpoint: Open, running: set[asyncio.Task[Any]]) -> None:
        self._pump = pump
        self._open = open_endpoint
        self._running = running

    async def run(self, _requests: object, context: _Context) -> None:
        """Runs a stream from its call to its end, as gRPC wants it."""
        task = asyncio.current_task()
        if task is not None:
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        stream = Stream(self._pump)
        rejection = await self._serve(stream, context)
        if rejection is not None:
            await _abort(context, rejection)

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
        # Alone: an abort that cut it short in a batch with the first frame would send it again, which gRPC refuses.
        await context.send_initial_metadata(())
        reader = self._pump.loop.create_task(self._read(stream, endpoint, context))
        writer = self._pump.loop.create_task(self._write(stream, endpoint, context))
        try:
            await asyncio.wait((writer, stream.aborted), return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _cancelled(reader, writer)
        return stream.aborted.result() if stream.aborted.done() else None

    async def _read(self, stream: Stream, endpoint: Endpoint, context: _Context) -> None:
        while isinstance(frame := await context.read(), bytes) and not stream.is_ending():  # else it is EOF
            _guarded(stream, endpoint.receive, frame, self._pump.arrived())
        await asyncio.sleep(_GONE_SECONDS)  # who is gone has not half closed: this task is then cancelled meanwhile
        if not stream.is_ending():
            _guarded(stream, endpoint.half_closed)

    async def _write(self, stream: Stream, endpoint: Endpoint, context: _Context) -> None:
        while not stream.is_finishing:
            await stream.pending()
            while not stream.aborted.done() and (frame := _guarded(stream, endpoint.next_frame)) is not None:
                await context.write(frame)


async def _abort(context: _Context, reason: Rejection) -> None:
    try:
        await context.abort(reason.code, reason.message)
    except grpc.aio.InternalError as error:  # the client has gone without hearing it
        raise asyncio.CancelledError from error  # what gRPC takes for just that; else it logs a traceback


def _guarded(stream: Stream, function: Callable[..., T], *args: object) -> T | None:
    """Calls a function of an endpoint; what it raises would be swallowed by grpc.aio, so it is logged here."""
    try:
        return function(*args)
    except Exception:
        _LOGGER.exception("An endpoint failed.")
        stream.abort(_INTERNAL.code, _INTERNAL.message)
        return None


async def _cancelled(*tasks: asyncio.Task[None]) -> None:
    """Cancels tasks and waits for their end; that a stream broke under them is no news to anybody."""
    for task in tasks:
        task.cancel()
    for error in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(error, grpc.aio.BaseError):
            _LOGGER.debug("A stream broke: %s", error)
        elif isinstance(error, Exception):
            _LOGGER.error("A stream failed.", exc_info=error)


# --- the server ------------------------------------------------------------------------------------------------------


class AddressError(Exception):
    """An address that cannot be listened on; the text says which and what to do."""


@contextlib.asynccontextmanager
async def serve(pump: Pump, address: str, streams: Mapping[str, Open], grace: float = 1.0) -> AsyncIterator[str]:
    """Serves bidirectional streams, by method such as `/package.Service/Method`; yields the bound address.

    Health and reflection are served too; reflection describes the services whose generated code is imported.
    `address`: `127.0.0.1:0` (any free port) or `unix:/path`; `AddressError` if it cannot be had. Leaving gives open
    streams `grace` seconds, then cancels them.
    """
    with trio.CancelScope(shield=True):  # a start that is cut short could not be stopped
        methods = _Methods(pump, streams)
        server, bound = await pump.call(_start, address, methods)
    try:
        yield bound
    finally:
        with trio.CancelScope(shield=True):
            await pump.call(_stop, server, methods, grace)


async def _stop(server: grpc.aio.Server, methods: _Methods, grace: float) -> None:
    """Stops a server; gRPC may return before the calls that it cancelled have ended and their endpoints know it."""
    await server.stop(grace)
    if methods.running:
        await asyncio.wait(methods.running, timeout=_ENDING_SECONDS)


async def _start(address: str, methods: _Methods) -> tuple[grpc.aio.Server, str]:
    server = grpc.aio.server(options=_OPTIONS)
    server.add_generic_rpc_handlers((methods,))
    services = sorted({method.split("/")[1] for method in methods.names})
    await _add_health(server, services)
    reflection.enable_server_reflection([*services, health.SERVICE_NAME, reflection.SERVICE_NAME], server)
    bound = _bind(server, address)
    await server.start()
    return server, bound


def _bind(server: grpc.aio.Server, address: str) -> str:
    """Returns the address with the port that was bound."""
    scheme, _, path = address.partition(":")
    if scheme == "unix":
        if _is_listened_on(path):
            raise AddressError(f"cannot listen on {address}: another program does; choose another path")
        hint = "its directory has to exist and be writable, and the whole path be short (100 bytes)"
    else:
        number = address.rpartition(":")[2]
        if not (number.isascii() and number.isdigit() and int(number) <= _LAST_PORT):  # gRPC would take it modulo 2^16
            raise AddressError(f"cannot listen on {address}: write HOST:PORT with a port from 0 to {_LAST_PORT}")
        hint = "it may be taken by another program; choose another address, or port 0 for any that is free"
    try:
        port = server.add_insecure_port(address)
    except RuntimeError:
        port = 0
    if port == 0:
        raise AddressError(f"cannot listen on {address}: {hint}")
    return address if scheme == "unix" else f"{address.rpartition(':')[0]}:{port}"


def _is_listened_on(path: str) -> bool:
    """Returns whether a unix socket has a server; gRPC would take it away from it."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)
        try:
            return probe.connect_ex(path) in (0, errno.EAGAIN)
        except OSError:  # no possible path: gRPC refuses it
            return False


class _Methods(grpc.GenericRpcHandler):
    """Finds the handler of a method; messages pass as they are, without being parsed or built here.

    `running`: the tasks of all streams that are open.
    """

    def __init__(self, pump: Pump, streams: Mapping[str, Open]) -> None:
        self.names = tuple(streams)
        self.running: set[asyncio.Task[Any]] = set()
        self._handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            method: grpc.stream_stream_rpc_method_handler(_StreamHandler(pump, open_endpoint, self.running).run)
            for method, open_endpoint in streams.items()
        }

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Returns the handler, or `None` for a method that is not ours."""
        return self._handlers.get(handler_call_details.method)


async def _add_health(server: grpc.aio.Server, services: Sequence[str]) -> None:
    servicer = health.aio.HealthServicer()
    for service in ("", *services):
        await servicer.set(service, health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
