"""A fake referee: a real gRPC server that speaks one transcript and notes what it hears."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeAlias

import grpc

from rummyarena.v1 import play_pb2, play_pb2_grpc

TOKEN = "secret"  # noqa: S105 - of a fake

HEARS = None
"""In a transcript: the referee waits for the bot's next message."""


Line: TypeAlias = play_pb2.PlayResponse | None
Ending: TypeAlias = tuple[grpc.StatusCode, str] | None


class Referee(play_pb2_grpc.PlayServiceServicer):
    """Says the lines of a transcript, hears the bot in between, and ends the stream, perhaps with an error.

    `then`: the transcripts and endings of the streams that follow; the last one is spoken again and again.
    """

    def __init__(
        self,
        transcript: Sequence[Line] = (),
        end: Ending = None,
        then: Sequence[tuple[Sequence[Line], Ending]] = (),
    ) -> None:
        self._streams = [(transcript, end), *then]
        self.heard: list[play_pb2.PlayRequest] = []

    def Play(  # noqa: N802 - the contract names it
        self, request_iterator: Iterator[play_pb2.PlayRequest], context: grpc.ServicerContext
    ) -> Iterator[play_pb2.PlayResponse]:
        if ("authorization", f"Bearer {TOKEN}") not in map(tuple, context.invocation_metadata()):
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "no such token")
        transcript, end = self._streams.pop(0) if len(self._streams) > 1 else self._streams[0]
        for line in transcript:
            if line is HEARS:
                heard = next(request_iterator, None)
                if heard is None:  # the bot has gone
                    return
                self.heard.append(heard)
            else:
                yield line
        if end is not None:
            context.abort(*end)


@contextmanager
def serving(referee: Referee | None, address: str = "127.0.0.1:0") -> Iterator[str]:
    """Serves on loopback and gives the address; without a referee the server offers nothing."""
    server = grpc.server(ThreadPoolExecutor(4), options=[("grpc.so_reuseport", 0)])
    if referee is not None:
        play_pb2_grpc.add_PlayServiceServicer_to_server(referee, server)
    port = server.add_insecure_port(address)
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()
