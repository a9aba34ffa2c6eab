"""The play stream: one bot instance on one stream, by the state machine of play.proto."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import grpc

from rummyarena.v1 import play_pb2
from rummyarena_server.referee.clock import SECOND
from rummyarena_server.rpc.bridge import Rejection
from rummyarena_server.rpc.desks import book_on_us
from rummyarena_server.rpc.instances import Instance, Outlet, Registry, ended_token
from rummyarena_server.wire import (
    encode_going_away,
    encode_probe_result,
    encode_stale_rejection,
    encode_welcome,
    parse_request,
    read_answer,
    read_hello,
    read_probe,
)

PLAY_METHOD: Final = "/rummyarena.v1.PlayService/Play"

MOST_REQUEST_BYTES: Final = 1024 * 1024
"""The largest message that a bot may send, many times what the answers of all its games take."""

MOST_IDLE_A_SECOND: Final = 5000
"""How many stale answers and probes and empty messages a bot may send in a second; far more than its mistakes make."""

MOST_OWED: Final = 10_000
"""How many refusals and judgements may wait for a bot that asks for them and does not read them."""

_log = logging.getLogger(__name__)


def open_play(registry: Registry, metadata: Mapping[str, str], outlet: Outlet) -> PlaySession | Rejection:
    """Returns the endpoint of a new stream, or why there is none."""
    scheme, _, token = metadata.get("authorization", "").partition(" ")
    instance = registry.instance(token) if scheme.lower() == "bearer" else None
    if instance is None:
        return Rejection(
            grpc.StatusCode.UNAUTHENTICATED,
            "this server knows no bot with this token: send the metadata 'authorization: Bearer TOKEN' with the token "
            "the bot was given (the SDKs read it from RUMMYARENA_TOKEN); a token ends with its tournament",
        )
    if instance.gave_up is not None:
        return Rejection(grpc.StatusCode.UNAUTHENTICATED, ended_token(instance.gave_up))
    return PlaySession(registry, instance, outlet)


class PlaySession:
    """One end of one stream of a bot; see play.proto for what may be sent when."""

    def __init__(self, registry: Registry, instance: Instance, outlet: Outlet) -> None:
        self._registry = registry
        self._instance = instance
        self._outlet = outlet
        self._id = secrets.token_hex(4)
        self._is_greeted = False
        self._is_over = False
        self._owed: list[bytes] = []  # what is not of a game: the welcome, refusals of stale answers
        self._has_told_going_away = False
        self._idle_since = 0
        self._idle = 0
        instance.connect(outlet)

    # --- what the bridge calls

    def receive(self, frame: bytes, at: int) -> None:
        """Takes a message of the bot that arrived at `at`."""
        if self._is_over:
            return
        if len(frame) > MOST_REQUEST_BYTES:
            said = f"a message of {len(frame)} bytes, where {MOST_REQUEST_BYTES} are the most"
            self._end_for_misuse(grpc.StatusCode.RESOURCE_EXHAUSTED, said)
            return
        with self._our_failures():
            request = parse_request(frame)
            if request is None:
                self._end_for_misuse(grpc.StatusCode.INVALID_ARGUMENT, "this is no PlayRequest of rummyarena.v1")
            elif request.HasField("hello") == self._is_greeted:
                said = "Hello was said before" if self._is_greeted else "the first message has to say Hello"
                self._end_for_misuse(grpc.StatusCode.FAILED_PRECONDITION, said)
            else:
                self._take(request, at)

    def next_frame(self) -> bytes | None:
        """Returns everything that is pending, and starts the clocks of the decisions in it."""
        if self._is_over or not self._is_greeted:
            return None
        with self._our_failures():
            if self._registry.going_away is not None and not self._has_told_going_away:
                self._has_told_going_away = True
                self._owed.append(encode_going_away(self._registry.going_away))
            owed, self._owed = self._owed, []
            frame = b"".join(owed + self._instance.take())
            if not frame and self._instance.is_done:  # not before all is written
                self._outlet.finish()
            return frame or None

    def half_closed(self) -> None:
        """Notes that the bot sends no more: no new games, and what it is asked from now on it cannot answer."""
        if self._is_over:
            return
        if not self._is_greeted:
            self._end_for_misuse(grpc.StatusCode.FAILED_PRECONDITION, "the first message has to say Hello")
        else:
            self._drain()
            if not self._instance.is_done:
                self._instance.expect_return()

    def closed(self) -> None:
        """Notes that the stream is over."""
        self._is_over = True
        self._owed.clear()
        _log.info("stream %s of bot %r is over", self._id, self._instance.name)
        self._instance.disconnect(self._outlet)

    # --- inside

    def _take(self, request: play_pb2.PlayRequest, at: int) -> None:
        if request.HasField("hello"):
            self._greet(request.hello)
            if self._is_over:
                return
        elif not (request.answers or request.probes or request.HasField("drain")):
            self._note_idle(at)
        for probe in request.probes:
            self._take_probe(probe, at)
            if self._is_over:
                return
        for answer in request.answers:
            self._take_answer(answer, at)
            if self._is_over:
                return
        if request.HasField("drain"):
            self._drain()

    def _take_answer(self, answer: play_pb2.Answer, at: int) -> None:
        desk = self._instance.desk(answer.game_id)
        if desk is None or not desk.sitting.awaits(answer.decision_id):
            self._refuse_stale(answer, at)
            return
        try:
            is_taken = desk.sitting.answer(answer.decision_id, read_answer(answer), at)
        except Exception as failure:
            book_on_us(desk.sitting, failure)
            return
        if not is_taken:
            self._refuse_stale(answer, at)  # too late by the clock, though the fallback is not yet played

    def _take_probe(self, probe: play_pb2.Probe, at: int) -> None:
        result, judged = encode_probe_result(probe.game_id, probe.decision_id, (), "stale_decision"), 0
        desk = self._instance.desk(probe.game_id)
        if desk is not None:
            try:
                result, judged = desk.probe(probe.decision_id, read_probe(probe))
            except Exception as failure:
                book_on_us(desk.sitting, failure)
        self._owe(result)
        if not judged:
            self._note_idle(at)

    def _drain(self) -> None:
        self._instance.drain()
        self._outlet.wake()

    def _greet(self, message: play_pb2.Hello) -> None:
        hello = read_hello(message)
        objection = self._instance.objection(hello)
        if objection is not None:  # no misuse: the games of the copy that was let in go on
            self._is_over = True
            _log.info("stream %s of bot %r is not let in: %s", self._id, self._instance.name, objection)
            self._outlet.abort(grpc.StatusCode.PERMISSION_DENIED, objection)
            return
        self._is_greeted = True
        gone = self._instance.greet(hello)
        self._owe(encode_welcome(self._id, self._registry.server_version, self._instance.capacity, gone))
        _log.info(
            "stream %s: bot %r says hello, SDK %s %s, version %r",
            self._id,
            self._instance.name,
            hello.sdk_name,
            hello.sdk_version,
            hello.bot_version,
        )

    def _refuse_stale(self, answer: play_pb2.Answer, at: int) -> None:
        self._owe(encode_stale_rejection(answer.game_id, answer.decision_id))
        self._note_idle(at)

    def _owe(self, field: bytes) -> None:
        self._owed.append(field)
        self._outlet.wake()
        if len(self._owed) > MOST_OWED:
            self._end_for_misuse(
                grpc.StatusCode.RESOURCE_EXHAUSTED, "the bot does not read the refusals and judgements it asks for"
            )

    def _note_idle(self, at: int) -> None:
        """Counts what a bot sends in vain, and ends the stream of one that floods us."""
        if at - self._idle_since >= SECOND:
            self._idle_since, self._idle = at, 0
        self._idle += 1
        if self._idle > MOST_IDLE_A_SECOND:
            self._end_for_misuse(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                f"more than {MOST_IDLE_A_SECOND} messages a second that concern no open decision",
            )

    def _end_for_misuse(self, code: grpc.StatusCode, message: str) -> None:
        if self._is_over:
            return
        self._is_over = True
        _log.warning("stream %s of bot %r is ended: %s", self._id, self._instance.name, message)
        self._instance.note_misuse()
        self._outlet.abort(code, message)

    @contextmanager
    def _our_failures(self) -> Iterator[None]:
        """Has the bot's games end by our failure, if there is one, so that nothing is booked on the bot."""
        try:
            yield
        except Exception as failure:
            self._instance.fail(failure)
            raise
