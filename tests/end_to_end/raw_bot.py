"""A bot on the bare stream, which says what no SDK would say; it is copied beside the bots that import it.

It plays first candidates, and each bot of `test_hostile_bots` and `test_untimely_bots` changes that in one place. What
it hears is kept for the test: a line in a file named after the bot for each refusal and for the end of each stream.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, TypeAlias

import grpc

from rummyarena.v1 import error_pb2, play_pb2

Options: TypeAlias = Sequence[tuple[str, int]]

HELLO: Final = play_pb2.Hello(max_concurrent_games=64, candidate_limit=64)
METHOD: Final = "/rummyarena.v1.PlayService/Play"
_WELL_ENDED: Final = (grpc.StatusCode.OK, grpc.StatusCode.UNAUTHENTICATED)


def note(line: str) -> None:
    """Keeps a line for the test."""
    with Path(sys.argv[0]).with_suffix(".notes").open("a") as file:
        print(line, file=file)


class Stream:
    """A stream on a connection of its own, greeted with Hello; what is sent may be no message at all."""

    def __init__(self, first: play_pb2.PlayRequest | bytes | None = None, options: Options = ()) -> None:
        self.code: grpc.StatusCode | None = None
        self._sent: SimpleQueue[bytes | None] = SimpleQueue()
        self._channel = grpc.insecure_channel(os.environ["RUMMYARENA_ADDRESS"], options=tuple(options))
        self.send(play_pb2.PlayRequest(hello=HELLO) if first is None else first)
        token = os.environ["RUMMYARENA_TOKEN"]
        open_stream: Any = self._channel.stream_stream(METHOD)  # of bytes, for it is told of no messages
        self._call: Iterator[bytes] = open_stream(
            iter(self._sent.get, None), metadata=(("authorization", f"Bearer {token}"),)
        )

    def send(self, message: play_pb2.PlayRequest | bytes) -> None:
        """Sends a message, or bytes as they are."""
        self._sent.put(message if isinstance(message, bytes) else message.SerializeToString())

    def answer(self, *answers: play_pb2.Answer) -> None:
        """Sends answers in one message."""
        self.send(play_pb2.PlayRequest(answers=answers))

    def updates(self) -> Iterator[play_pb2.GameUpdate]:
        """Yields the news of games until the stream ends."""
        try:
            for frame in self._call:
                response = play_pb2.PlayResponse.FromString(frame)
                for refused in response.rejections:
                    note(error_pb2.ErrorReason.Name(refused.rejection.reason))
                yield from response.updates
        except grpc.RpcError as error:
            self.code = error.code()
        else:
            self.code = grpc.StatusCode.OK
        note(self.code.name)

    def decisions(self) -> Iterator[play_pb2.GameUpdate]:
        """Yields the news that ask for an answer."""
        return (update for update in self.updates() if update.HasField("decision"))

    def half_close(self) -> None:
        """Says that nothing more will be sent."""
        self._sent.put(None)

    def close(self) -> None:
        """Drops the connection."""
        self.half_close()
        self._channel.close()


def named(update: play_pb2.GameUpdate, *, game_id: str = "", decision_id: str = "") -> play_pb2.Answer:
    """Returns the first candidate of a decision as an answer, to another game or decision if one is named."""
    return play_pb2.Answer(
        game_id=game_id or update.game_id,
        decision_id=decision_id or update.decision.decision_id,
        moves=update.decision.candidates[:1],
    )


def well(stream: Stream, update: play_pb2.GameUpdate) -> None:
    """Answers as one should."""
    stream.answer(named(update))


def play(decide: Callable[[Stream, play_pb2.GameUpdate], None], stream: Stream | None = None) -> None:
    """Answers all decisions until the server needs the bot no more; a stream that it ends is followed by another."""
    while True:
        stream = stream or Stream()
        for update in stream.decisions():
            decide(stream, update)
        stream.close()
        if stream.code in _WELL_ENDED:
            return
        stream = None
        time.sleep(0.05)
