"""The bridge over real sockets: streams of plain bytes, and all the ways in which they end."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import grpc
import grpc.aio
import pytest
import trio
import trio.testing
from grpc_health.v1 import health_pb2

from rummyarena_server.rpc.bridge import (
    MOST_FRAME_BYTES,
    AddressError,
    Endpoint,
    Pump,
    Rejection,
    Stream,
    open_pump,
    serve,
)

ROOT = Path(__file__).parents[2]
METHOD = "/test.Talk/Talk"
WHOLE_TEST = 20  # seconds, a limit for what hangs
CHUNK = bytes(64 * 1024)
MANY_CHUNKS = 400  # 25 MB, more than gRPC and the kernel keep for a client that does not read


class Talker:
    """An endpoint that notes what it hears and says what it is told; it echoes unless it is quiet."""

    def __init__(self, stream: Stream, *, echoes: bool = True) -> None:
        self.stream = stream
        self.received: list[bytes] = []
        self.arrivals: list[int] = []
        self.half_closes = 0
        self.closes = 0
        self.pulls = 0
        self.over = trio.Event()
        self._echoes = echoes
        self._pending: list[bytes] = []
        self._news = trio.lowlevel.ParkingLot()

    def say(self, *frames: bytes) -> None:
        self._pending += frames
        self.stream.wake()

    async def heard(self, messages: int = 1) -> None:
        while len(self.received) < messages:
            await self._news.park()

    async def heard_half_close(self) -> None:
        while not self.half_closes:
            await self._news.park()

    def receive(self, frame: bytes, at: int) -> None:
        self.received.append(frame)
        self.arrivals.append(at)
        self._news.unpark_all()
        if self._echoes:
            self.say(frame)

    def next_frame(self) -> bytes | None:
        self.pulls += 1
        frames, self._pending = self._pending, []
        return b"".join(frames) or None

    def half_closed(self) -> None:
        self.half_closes += 1
        self._news.unpark_all()

    def closed(self) -> None:
        self.closes += 1
        self.over.set()


class Chunks(Talker):
    """Has so much to say that a client must read to get it all."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream, echoes=False)
        self.left = MANY_CHUNKS
        stream.wake()

    def next_frame(self) -> bytes | None:
        if not self.left:
            return None
        self.left -= 1
        return CHUNK


class Client:
    """A stream's other end, on the same loop."""

    def __init__(self, pump: Pump, channel: grpc.aio.Channel, call: grpc.aio.StreamStreamCall[bytes, bytes]) -> None:
        self._pump = pump
        self._channel = channel
        self._call = call

    async def send(self, frame: bytes) -> None:
        await self._pump.call(self._call.write, frame)

    async def receive(self) -> bytes | None:
        """Returns the next message, or `None` at the end, be it good or bad."""
        try:
            frame = await self._pump.call(self._call.read)
        except grpc.aio.AioRpcError:
            return None
        return frame if isinstance(frame, bytes) else None

    async def receive_all(self) -> list[bytes]:
        frames = []
        while (frame := await self.receive()) is not None:
            frames.append(frame)
        return frames

    async def half_close(self) -> None:
        await self._pump.call(self._call.done_writing)

    async def cancel(self) -> None:
        self._call.cancel()
        await self._pump.call(self._channel.close, None)

    async def status(self) -> tuple[grpc.StatusCode, str | None]:
        """Reads to the end, for only there it is told."""
        await self.receive_all()
        return await self._pump.call(self._call.code), await self._pump.call(self._call.details)


class Server:
    """A server of one method, with the endpoints it has opened."""

    def __init__(self, pump: Pump, open_endpoint: Callable[[Stream], Endpoint | Rejection]) -> None:
        self.pump = pump
        self.address = ""
        self.talkers: list[Talker] = []
        self.metadata: Mapping[str, str] = {}
        self._open = open_endpoint

    def open(self, metadata: Mapping[str, str], stream: Stream) -> Endpoint | Rejection:
        self.metadata = metadata
        endpoint = self._open(stream)
        if isinstance(endpoint, Talker):
            self.talkers.append(endpoint)
        return endpoint

    async def connect(self, *metadata: tuple[str, str], method: str = METHOD) -> Client:
        async def start() -> Client:
            channel = grpc.aio.insecure_channel(self.address, options=[("grpc.use_local_subchannel_pool", 1)])
            call: grpc.aio.StreamStreamCall[bytes, bytes] = channel.stream_stream(method)(metadata=metadata)
            return Client(self.pump, channel, call)

        return await self.pump.call(start)

    async def talk(self) -> tuple[Client, Talker]:
        """Connects and says hello; returns both ends."""
        client = await self.connect()
        await client.send(b"hello")
        while not self.talkers:
            await self.pump.settled()
        talker = self.talkers[-1]
        await talker.heard()
        return client, talker


@asynccontextmanager
async def a_server(
    open_endpoint: Callable[[Stream], Endpoint | Rejection] = Talker, address: str = "127.0.0.1:0", grace: float = 0
) -> AsyncIterator[Server]:
    with trio.fail_after(WHOLE_TEST):
        async with open_pump() as pump:
            server = Server(pump, open_endpoint)
            async with serve(pump, address, {METHOD: server.open}, grace=grace) as server.address:
                yield server


def quiet(stream: Stream) -> Talker:
    return Talker(stream, echoes=False)


# --- messages --------------------------------------------------------------------------------------------------------


async def test_a_message_goes_there_and_back() -> None:
    async with a_server() as server:
        client, _ = await server.talk()
        assert await client.receive() == b"hello"


async def test_many_messages_go_both_ways_in_order() -> None:
    numbers = [number.to_bytes(2, "big") for number in range(2000)]
    async with a_server() as server, trio.open_nursery() as nursery:
        client = await server.connect()

        async def send_all() -> None:
            for number in numbers:
                await client.send(number)
            await client.half_close()

        nursery.start_soon(send_all)
        received = b""
        while len(received) < 2 * len(numbers):
            received += await client.receive() or b""
        assert received == b"".join(numbers)
        assert server.talkers[0].received == numbers


async def test_what_is_said_in_one_tick_goes_into_one_message() -> None:
    async with a_server(quiet) as server:
        client, talker = await server.talk()
        for _ in range(100):
            talker.say(b"x")
        assert await client.receive() == 100 * b"x"


async def test_an_endpoint_is_asked_only_when_it_has_something() -> None:
    async with a_server(quiet) as server:
        _, talker = await server.talk()
        assert talker.pulls == 0
        talker.say(b"x")
        await server.pump.settled()
        assert talker.pulls == 2  # the frame, and that there is no more


async def test_metadata_are_handed_over_by_names_in_small_letters() -> None:
    async with a_server() as server:
        client = await server.connect(("authorization", "Bearer me"))
        await client.send(b"hello")
        await client.receive()
        assert server.metadata["authorization"] == "Bearer me"


async def test_a_unix_socket_serves_as_well(tmp_path: Path) -> None:
    address = f"unix:{tmp_path / 'socket'}"
    async with a_server(address=address) as server:
        client, _ = await server.talk()
        assert await client.receive() == b"hello"
        assert server.address == address


async def test_it_says_that_it_is_healthy() -> None:
    async with a_server() as server:

        async def check(service: str) -> int:
            async with grpc.aio.insecure_channel(server.address) as channel:
                ask = channel.unary_unary(
                    "/grpc.health.v1.Health/Check",
                    request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
                    response_deserializer=health_pb2.HealthCheckResponse.FromString,
                )
                answer: health_pb2.HealthCheckResponse = await ask(health_pb2.HealthCheckRequest(service=service))
                return answer.status

        for service in ("", "test.Talk"):
            assert await server.pump.call(check, service) == health_pb2.HealthCheckResponse.SERVING


async def test_there_is_no_other_method() -> None:
    async with a_server() as server:
        client = await server.connect(method="/test.Talk/Shout")
        assert (await client.status())[0] is grpc.StatusCode.UNIMPLEMENTED


async def test_a_frame_of_sixteen_mebibytes_is_the_largest() -> None:
    async with a_server() as server:
        client, talker = await server.talk()
        await client.send(bytes(MOST_FRAME_BYTES))
        await talker.heard(2)
        await client.send(bytes(MOST_FRAME_BYTES + 1))
        assert (await client.status())[0] is grpc.StatusCode.RESOURCE_EXHAUSTED
        await talker.over.wait()
        assert [len(frame) for frame in talker.received] == [5, MOST_FRAME_BYTES]


# --- ends ------------------------------------------------------------------------------------------------------------


async def test_a_rejected_stream_tells_why() -> None:
    async with a_server(lambda _: Rejection(grpc.StatusCode.UNAUTHENTICATED, "who are you?")) as server:
        client = await server.connect()
        assert await client.status() == (grpc.StatusCode.UNAUTHENTICATED, "who are you?")


async def test_finishing_sends_what_is_pending_first() -> None:
    async with a_server(quiet) as server:
        client, talker = await server.talk()
        talker.say(b"bye")
        talker.stream.finish()
        assert await client.receive() == b"bye"
        assert (await client.status())[0] is grpc.StatusCode.OK
        assert talker.closes == 1


async def test_finishing_waits_for_a_slow_reader() -> None:
    async with a_server(Chunks) as server:
        client, talker = await server.talk()
        talker.stream.finish()
        assert len(await client.receive_all()) == MANY_CHUNKS
        assert (await client.status())[0] is grpc.StatusCode.OK
        assert talker.closes == 1


async def test_an_endpoint_may_finish_when_it_is_asked_for_more() -> None:
    class Last(Talker):
        def next_frame(self) -> bytes | None:
            frame = super().next_frame()
            if frame is None:
                self.stream.finish()
            return frame

    async with a_server(Last) as server:
        client, talker = await server.talk()
        assert await client.receive() == b"hello"
        assert (await client.status())[0] is grpc.StatusCode.OK
        assert talker.closes == 1


async def test_nothing_is_received_after_the_end_was_declared() -> None:
    async with a_server(Chunks) as server:
        client, talker = await server.talk()
        talker.stream.finish()
        await client.send(b"one more thing")
        await client.half_close()
        await client.receive_all()
        assert (talker.received, talker.half_closes) == ([b"hello"], 0)


async def test_aborting_tells_code_and_reason() -> None:
    async with a_server(quiet) as server:
        client, talker = await server.talk()
        talker.stream.abort(grpc.StatusCode.ABORTED, "another one came, größer and better")
        assert await client.status() == (grpc.StatusCode.ABORTED, "another one came, größer and better")
        assert talker.closes == 1


async def test_the_first_message_may_be_the_reason_to_abort() -> None:
    class Strict(Talker):
        def receive(self, frame: bytes, at: int) -> None:
            self.stream.abort(grpc.StatusCode.INVALID_ARGUMENT, "that is no hello")

    async with a_server(Strict) as server:
        client = await server.connect()
        await client.send(b"\xff")
        assert await client.status() == (grpc.StatusCode.INVALID_ARGUMENT, "that is no hello")


async def test_the_first_reason_to_abort_counts() -> None:
    async with a_server(quiet) as server:
        client, talker = await server.talk()
        talker.stream.abort(grpc.StatusCode.ABORTED, "first")
        talker.stream.abort(grpc.StatusCode.INTERNAL, "second")
        assert await client.status() == (grpc.StatusCode.ABORTED, "first")


@pytest.mark.parametrize("finishes_before", [False, True])
async def test_aborting_does_not_wait_for_a_slow_reader(finishes_before: bool) -> None:
    async with a_server(Chunks) as server:
        # given: a client that does not read, so that a message is being written
        client, talker = await server.talk()
        assert isinstance(talker, Chunks)
        await server.pump.settled()
        if finishes_before:
            talker.stream.finish()
            await server.pump.settled()
        # when
        talker.stream.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "read!")
        # then: the endpoint hears of the end at once, the client once it reads
        await talker.over.wait()
        left = talker.left
        assert left > 0
        assert len(await client.receive_all()) == MANY_CHUNKS - left
        assert await client.status() == (grpc.StatusCode.RESOURCE_EXHAUSTED, "read!")
        assert talker.closes == 1


async def test_aborting_may_follow_on_the_heels_of_the_first_message() -> None:
    class Abrupt(Talker):
        def next_frame(self) -> bytes | None:
            self.stream.abort(grpc.StatusCode.ABORTED, "on second thoughts")
            return super().next_frame()

    async with a_server(Abrupt) as server:
        for _ in range(20):
            client, _ = await server.talk()
            assert await client.status() == (grpc.StatusCode.ABORTED, "on second thoughts")


async def test_who_sends_no_more_may_still_listen() -> None:
    async with a_server(quiet) as server:
        client, talker = await server.talk()
        await client.half_close()
        await talker.heard_half_close()
        assert talker.closes == 0
        talker.say(b"still here?")
        assert await client.receive() == b"still here?"
        talker.stream.finish()
        assert (await client.status())[0] is grpc.StatusCode.OK
        assert (talker.half_closes, talker.closes) == (1, 1)


async def test_a_client_may_cancel() -> None:
    async with a_server() as server:
        client, talker = await server.talk()
        await client.cancel()
        await talker.over.wait()
        talker.say(b"anybody?")  # harms nothing
        talker.stream.finish()
        talker.stream.abort(grpc.StatusCode.ABORTED, "too late")
        await server.pump.settled()
        assert talker.closes == 1


async def test_a_client_may_cancel_while_it_is_written_to() -> None:
    async with a_server(Chunks) as server:
        client, talker = await server.talk()
        await client.cancel()
        await talker.over.wait()
        assert talker.closes == 1


LISTENER = """
import sys, threading, grpc
def requests():
    yield b"hello"
    threading.Event().wait()
channel = grpc.insecure_channel(sys.argv[1])
for _ in channel.stream_stream(sys.argv[2])(requests()):
    pass
"""


@contextmanager
def a_process(source: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", source, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,  # from where the tests can be imported too
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


async def test_a_killed_client_is_missed_within_a_second() -> None:
    async with a_server() as server:
        for _ in range(10):
            with a_process(LISTENER, server.address, METHOD) as process:
                before = len(server.talkers)
                while len(server.talkers) == before:
                    await server.pump.settled()
                talker = server.talkers[-1]
                await talker.heard()
                process.send_signal(signal.SIGKILL)
                with trio.fail_after(1):
                    await talker.over.wait()
            await server.pump.settled()
            # then: it is gone, which is something else than having nothing more to say
            assert (talker.half_closes, talker.closes) == (0, 1)


@pytest.mark.parametrize("aborts", [False, True])
async def test_a_broken_stream_is_no_news(aborts: bool, caplog: pytest.LogCaptureFixture) -> None:
    async with a_server(Chunks) as server:
        for _ in range(20):
            client, talker = await server.talk()
            if aborts:
                talker.stream.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "read!")
                await talker.over.wait()
            await client.cancel()
            await talker.over.wait()
            server.talkers.clear()
    assert not caplog.records


async def test_what_a_slow_reader_leaves_stays_with_the_endpoint() -> None:
    async with a_server(Chunks) as server:
        # given: a client that does not read
        client, talker = await server.talk()
        assert isinstance(talker, Chunks)
        left = None
        while talker.left != left:
            left = talker.left
            await trio.sleep(0.05)
        # then: the endpoint has kept most; and the client gets all once it reads
        assert talker.left > MANY_CHUNKS // 2
        talker.stream.finish()
        assert len(await client.receive_all()) == MANY_CHUNKS


async def test_a_slow_reader_holds_up_nobody_else() -> None:
    async with a_server(Chunks) as server:
        await server.talk()
        other = await server.connect()
        assert await other.receive() == CHUNK


@pytest.mark.parametrize("failing", ["receive", "next_frame", "half_closed"])
async def test_an_endpoint_that_fails_ends_its_stream_alone(failing: str, caplog: pytest.LogCaptureFixture) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("something went wrong")

    def open_endpoint(stream: Stream) -> Talker:
        talker = Talker(stream)
        if streams.pop():
            setattr(talker, failing, fail)
        return talker

    streams = [False, True]  # whether the endpoint is to fail, the first last
    async with a_server(open_endpoint) as server:
        # given: two streams, the endpoint of the first fails
        client = await server.connect()
        await client.send(b"hello")
        await client.half_close()
        # then: its client is told, without particulars; the log tells them
        code, details = await client.status()
        assert code is grpc.StatusCode.INTERNAL
        assert details is not None
        assert "went wrong" not in details
        assert "something went wrong" in caplog.text
        assert server.talkers[0].closes == 1
        # and: the server lives
        other, _ = await server.talk()
        assert await other.receive() == b"hello"


async def test_an_endpoint_that_fails_while_it_finishes_is_no_success(caplog: pytest.LogCaptureFixture) -> None:
    class Breaking(Chunks):
        def next_frame(self) -> bytes | None:
            if self.left == MANY_CHUNKS // 2:
                raise RuntimeError("something went wrong")
            return super().next_frame()

    async with a_server(Breaking) as server:
        client, talker = await server.talk()
        talker.stream.finish()
        await client.receive_all()
        assert (await client.status())[0] is grpc.StatusCode.INTERNAL
        assert "something went wrong" in caplog.text


async def test_an_endpoint_that_fails_at_the_end_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    class Last(Talker):
        def closed(self) -> None:
            super().closed()
            raise RuntimeError("something went wrong")

    async with a_server(Last) as server:
        client, talker = await server.talk()
        talker.stream.finish()
        assert (await client.status())[0] is grpc.StatusCode.OK
        assert "something went wrong" in caplog.text


async def test_an_endpoint_that_cannot_be_opened_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def fail(stream: Stream) -> Talker:
        raise RuntimeError("something went wrong")

    async with a_server(fail) as server:
        client = await server.connect()
        assert (await client.status())[0] is grpc.StatusCode.INTERNAL
        assert "something went wrong" in caplog.text


async def test_dropped_streams_leave_nothing_behind() -> None:
    async with a_server() as server:
        # given: what there is for the first stream
        client, talker = await server.talk()
        await client.cancel()
        await talker.over.wait()
        await server.pump.settled()
        tasks = len(asyncio.all_tasks(server.pump.loop))
        # when
        gone: list[weakref.ref[object]] = []
        for _ in range(200):
            client, talker = await server.talk()
            gone += [weakref.ref(talker), weakref.ref(talker.stream)]
            await client.cancel()
            await talker.over.wait()
            server.talkers.clear()
        del talker
        await server.pump.settled()
        gc.collect()
        # then
        assert not [one for one in gone if one() is not None]
        assert len(asyncio.all_tasks(server.pump.loop)) == tasks


# --- the server ------------------------------------------------------------------------------------------------------


@contextmanager
def expecting(error: type[BaseException], match: str) -> Iterator[None]:
    """Expects an error that comes out of nurseries."""
    with pytest.raises(BaseExceptionGroup) as caught:
        yield
    assert re.search(match, str(leaf(caught.value)))
    assert isinstance(leaf(caught.value), error)


def leaf(group: BaseException) -> BaseException:
    while isinstance(group, BaseExceptionGroup):
        (group,) = group.exceptions
    return group


async def test_a_port_that_is_taken_is_an_error_that_names_it() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        with expecting(AddressError, address):
            async with a_server(address=address):
                pytest.fail("two servers on one port")


@pytest.mark.parametrize("address", ["127.0.0.1:65536", "127.0.0.1:99999", "127.0.0.1", "127.0.0.1:", "127.0.0.1:http"])
async def test_a_port_that_is_none_is_refused(address: str) -> None:
    with expecting(AddressError, "port from 0 to 65535"):
        async with a_server(address=address):
            pytest.fail("a port that is none")


async def test_a_unix_socket_is_not_taken_away_from_another_server(tmp_path: Path) -> None:
    address = f"unix:{tmp_path / 'socket'}"
    async with a_server(address=address) as server:
        async with open_pump() as pump:
            with pytest.raises(AddressError, match=address):
                async with serve(pump, address, {}):
                    pytest.fail("two servers on one socket")
        client, _ = await server.talk()
        assert await client.receive() == b"hello"


async def test_a_unix_socket_that_a_dead_server_left_is_used_again(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
        dead.listen()
    async with a_server(address=f"unix:{path}") as server:
        client, _ = await server.talk()
        assert await client.receive() == b"hello"


async def test_a_unix_socket_needs_its_directory(tmp_path: Path) -> None:
    with expecting(AddressError, "directory"):
        async with a_server(address=f"unix:{tmp_path / 'nowhere' / 'socket'}"):
            pytest.fail("a socket without a directory")


async def test_when_the_server_is_stopped_all_streams_are_closed() -> None:
    with trio.fail_after(WHOLE_TEST):
        async with open_pump() as pump:
            server = Server(pump, Talker)
            async with serve(pump, "127.0.0.1:0", {METHOD: server.open}, grace=0) as server.address:
                both = [await server.talk() for _ in range(20)]
            assert [talker.closes for _, talker in both] == 20 * [1]
            for client, _ in both:
                assert (await client.status())[0] is not grpc.StatusCode.OK


async def test_streams_may_end_by_themselves_while_the_server_stops() -> None:
    with trio.fail_after(WHOLE_TEST):
        async with open_pump() as pump, trio.open_nursery() as nursery:
            server = Server(pump, Talker)

            async def finish_later(talker: Talker) -> None:
                await trio.sleep(0.1)
                talker.stream.finish()

            async with serve(pump, "127.0.0.1:0", {METHOD: server.open}, grace=WHOLE_TEST) as server.address:
                client, talker = await server.talk()
                nursery.start_soon(finish_later, talker)
            assert (await client.status())[0] is grpc.StatusCode.OK


async def test_cancelling_all_around_closes_all() -> None:
    with trio.CancelScope() as scope:
        async with a_server() as server:
            _, talker = await server.talk()
            scope.cancel()
            await trio.sleep_forever()
    assert talker.closes == 1


async def test_a_failure_all_around_closes_all() -> None:
    with expecting(ZeroDivisionError, "division"):
        async with a_server() as server:
            _, talker = await server.talk()
            _ = 1 / 0
    assert talker.closes == 1


async def test_cancelling_before_anything_ran_closes_all() -> None:
    with trio.CancelScope() as scope:
        scope.cancel()
        async with a_server():
            await trio.lowlevel.checkpoint()
    assert scope.cancelled_caught


async def test_what_ends_the_program_ends_it_from_an_endpoint_too() -> None:
    class Deadly(Talker):
        def receive(self, frame: bytes, at: int) -> None:
            super().receive(frame, at)
            raise SystemExit(3)

    opened: list[Talker] = []
    with expecting(SystemExit, "3"):
        async with a_server(Deadly) as server:
            opened = server.talkers
            await server.talk()
            await trio.sleep(WHOLE_TEST)
    assert [talker.closes for talker in opened] == [1]


INTERRUPTED = """
import os, signal, sys
import trio
from rummyarena_server.rpc.bridge import open_pump, serve
from tests.server.test_bridge import METHOD, Server, Talker

class Interrupting(Talker):
    def receive(self, frame, at):
        super().receive(frame, at)
        if sys.argv[1] == "asyncio":
            os.kill(os.getpid(), signal.SIGINT)

async def main():
    async with open_pump() as pump:
        server = Server(pump, Interrupting)
        async with serve(pump, "127.0.0.1:0", {METHOD: server.open}) as server.address:
            client, talker = await server.talk()
            print("ready", flush=True)
            try:
                await trio.sleep_forever()
            finally:
                with trio.CancelScope(shield=True):
                    await client.cancel()
                    await talker.over.wait()
                print("closed", flush=True)

try:
    trio.run(main)
except* KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("where", ["asyncio", "trio"])
def test_ctrl_c_ends_trio_wherever_it_comes(where: str) -> None:
    with a_process(INTERRUPTED, where) as process:
        assert process.stdout is not None
        said = process.stdout.readline() if where == "trio" else ""
        if where == "trio":
            process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=WHOLE_TEST)
    assert (said + rest).split()[-1] == "interrupted"
    assert (errors, process.returncode) == ("", 0)


# --- the pump --------------------------------------------------------------------------------------------------------


async def test_a_call_returns_what_the_coroutine_returns() -> None:
    async def answer(number: int) -> int:
        await asyncio.sleep(0)
        return number + 1

    async with open_pump() as pump:
        assert await pump.call(answer, 41) == 42


async def test_a_call_raises_what_the_coroutine_raises() -> None:
    async def fail() -> None:
        raise KeyError("where is it?")

    async with open_pump() as pump:
        with pytest.raises(KeyError, match="where"):
            await pump.call(fail)


async def test_cancelling_a_call_cancels_the_coroutine() -> None:
    cancelled = trio.Event()

    async def wait() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async with open_pump() as pump:
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(pump.call, wait)
                await pump.settled()
                scope.cancel()
        with trio.fail_after(WHOLE_TEST):
            await cancelled.wait()


async def test_closing_the_pump_ends_its_calls() -> None:
    async def wait() -> None:
        await asyncio.get_running_loop().create_future()

    async def call(pump: Pump) -> None:
        with pytest.raises(trio.ClosedResourceError):
            await pump.call(wait)

    async with trio.open_nursery() as nursery, open_pump() as pump:
        nursery.start_soon(call, pump)
        await pump.settled()


async def test_asyncio_has_the_clock_of_trio(autojump_clock: trio.testing.MockClock) -> None:
    async with open_pump() as pump:
        before = pump.now()
        await pump.call(asyncio.sleep, 3600)
        assert pump.now() - before == pytest.approx(3_600_000_000, abs=1000)


async def test_now_is_whole_microseconds_of_the_clock_of_trio(mock_clock: trio.testing.MockClock) -> None:
    before = Pump.now()
    mock_clock.jump(2.5)
    assert Pump.now() - before == 2_500_000


async def test_an_idle_server_sleeps() -> None:
    class Ticks(trio.abc.Instrument):
        count = 0

        def before_io_wait(self, timeout: float) -> None:
            self.count += 1

    async with a_server() as server:
        await server.talk()
        await server.pump.settled()
        ticks = Ticks()
        trio.lowlevel.add_instrument(ticks)
        await trio.sleep(0.3)
        assert ticks.count < 10


async def test_pumps_run_one_after_another() -> None:
    for _ in range(5):
        async with a_server() as server:
            client, _ = await server.talk()
            assert await client.receive() == b"hello"


# --- time of arrival -------------------------------------------------------------------------------------------------


class ThreadedClient:
    """A client that goes on sending while the thread of trio is busy; a batch is sent for each `go`."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._go = threading.Semaphore(0)
        self._batches: list[list[bytes]] = []
        self._is_over = threading.Event()
        self.sent = threading.Event()
        self.sent_at = 0.0

    def run(self) -> None:
        with grpc.insecure_channel(self._address) as channel:
            talk: grpc.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(METHOD)
            call = talk(self._requests())
            self._is_over.wait()
            call.cancel()

    def go(self, *batch: bytes) -> None:
        self.sent.clear()
        self._batches.append(list(batch))
        self._go.release()

    def stop(self) -> None:
        self._is_over.set()
        self.go()

    def _requests(self) -> Iterator[bytes]:
        yield b"hello"
        while self._go.acquire() and not self._is_over.is_set():
            self.sent_at = time.perf_counter()
            yield from self._batches.pop(0)
            self.sent.set()


@asynccontextmanager
async def a_threaded_client() -> AsyncIterator[tuple[Server, ThreadedClient, Talker]]:
    async with a_server(quiet) as server, trio.open_nursery() as nursery:
        client = ThreadedClient(server.address)
        nursery.start_soon(trio.to_thread.run_sync, client.run)
        try:
            while not server.talkers:
                await server.pump.settled()
            await server.talkers[0].heard()
            yield server, client, server.talkers[0]
        finally:
            client.stop()


def be_busy_until(client: ThreadedClient) -> None:
    """Blocks the thread of trio until the client has sent all it was told to, and for long enough that it has come."""
    assert client.sent.wait(WHOLE_TEST)
    end = time.perf_counter() + 0.1
    while time.perf_counter() < end:
        pass


def on_the_clock_of(pump: Pump, perf_counter: float) -> int:
    return pump.now() - round((time.perf_counter() - perf_counter) * 1_000_000)


async def test_what_came_while_we_were_busy_counts_as_come_before() -> None:
    async with a_threaded_client() as (server, client, talker):
        await trio.sleep(0.1)
        started = server.pump.now()
        client.go(b"answer")
        be_busy_until(client)
        await talker.heard(2)
        assert talker.arrivals[1] <= started


async def test_a_busy_time_within_asyncio_is_not_charged_either() -> None:
    async with a_threaded_client() as (server, client, talker):

        async def be_busy() -> int:
            started = server.pump.now()
            client.go(b"answer")
            be_busy_until(client)
            return started

        started = await server.pump.call(be_busy)
        await talker.heard(2)
        assert talker.arrivals[1] <= started


async def test_what_came_while_we_were_idle_is_charged_in_full() -> None:
    async with a_threaded_client() as (server, client, talker):
        await trio.sleep(0.5)
        client.go(b"answer")
        await talker.heard(2)
        # then: about when it was sent, not when we had last looked half a second before
        assert talker.arrivals[1] > on_the_clock_of(server.pump, client.sent_at) - 100_000
        assert talker.arrivals[1] <= server.pump.now()


async def test_a_trio_that_never_waits_does_not_give_time_away() -> None:
    async with a_threaded_client() as (server, client, talker), trio.open_nursery() as nursery:

        async def spin() -> None:
            while True:
                await trio.lowlevel.checkpoint()

        nursery.start_soon(spin)
        await trio.sleep(0.5)
        client.go(b"answer")
        await talker.heard(2)
        assert talker.arrivals[1] > on_the_clock_of(server.pump, client.sent_at) - 100_000
        nursery.cancel_scope.cancel()


async def test_settled_means_that_what_had_come_is_delivered(autojump_clock: trio.testing.MockClock) -> None:
    # given: what is handed over piece by piece, 3 ms after one another, as gRPC may do with a stream's frames
    ours, theirs = socket.socketpair()
    taken: list[bytes] = []

    async def hand_over() -> None:
        for _ in range(20):
            theirs.send(b"x")
            await trio.sleep(0.003)

    with ours, theirs:
        async with open_pump() as pump, trio.open_nursery() as nursery:
            pump.loop.add_reader(ours, lambda: taken.append(ours.recv(1)))
            pump.wake()
            nursery.start_soon(hand_over)
            await pump.settled()
            assert len(taken) == 20
            pump.loop.remove_reader(ours)


async def test_settled_waits_for_what_the_threads_of_grpc_have_on_their_way() -> None:
    # Not in every case, for on a busy machine they may be slower than is waited for.
    async with a_threaded_client() as (server, client, talker):
        delivered = 0
        for number in range(20):
            client.go(*(b"answer" for _ in range(5)))
            be_busy_until(client)
            await server.pump.settled()
            delivered += len(talker.received) == 1 + 5 * (number + 1)
            await talker.heard(1 + 5 * (number + 1))
        assert delivered > 10


async def test_a_flood_does_not_keep_us_from_settling() -> None:
    async with a_server(quiet) as server, trio.open_nursery() as nursery:
        client, _ = await server.talk()

        async def flood() -> None:
            while True:
                await client.send(b"x")

        nursery.start_soon(flood)
        for _ in range(3):
            await server.pump.settled()
        nursery.cancel_scope.cancel()
        await client.cancel()
