"""Connects a bot to a server and plays until no game is left."""

from __future__ import annotations

import random
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from queue import SimpleQueue
from types import FrameType
from typing import Final

import grpc

from rummyarena.session import LOG, Bot, Session
from rummyarena.settings import Settings, SettingsError, find_place
from rummyarena.stopping import Outbox, Stop
from rummyarena.v1 import play_pb2, play_pb2_grpc
from rummyarena.version import __version__

LARGEST_MESSAGE: Final = 64 * 1024 * 1024
"""Bytes; a message holds the news of all games of the stream."""

_LONGEST_HOLD: Final = 0.005
"""Seconds after which an answer waits no longer for others to go out in the same message."""

_STABLE: Final = 5.0
"""Seconds; when a stream that has lasted longer is lost, the server's time to come back begins anew."""

_OPTIONS: Final = (
    # Half-open connections are found within a minute; the server permits a ping every 30 s.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.max_receive_message_length", LARGEST_MESSAGE),
)
_LOCAL: Final = ("127.0.0.1:", "localhost:", "[::1]:", "unix:")


class ConnectionFailedError(Exception):
    """The server cannot be played with; the text tells a bot's author what to do."""


def run(
    bot: Bot,
    *,
    address: str | None = None,
    token: str | None = None,
    bot_version: str = "",
    max_concurrent_games: int = 4,
    candidate_limit: int = 64,
    arguments: Sequence[str] | None = None,
) -> None:
    """Plays with `bot` until the server has no more games for it; meant to be the last line of a program.

    `bot`: a function from a `Decision` to a move, or an object with a method `decide` and perhaps those of `Observer`.
    Address and token are taken from here, from `--address` and `--token`, or from the variables RUMMYARENA_ADDRESS and
    RUMMYARENA_TOKEN. `arguments`: the words of the command line in which these flags are looked for, by default those
    of the program; others are left alone. Time runs for all open decisions of `max_concurrent_games` at once.

    Ends the program with code 1 and the traceback if the bot raises (its games are forfeited), with code 2 and a
    sentence if there is nobody to play with, and quietly with code 0 on Ctrl-C. SIGTERM has the bot play its games to
    the end and then ends it with code 0; a second one does so at once.
    """
    stop = Stop()
    _heed_sigterm(stop)
    try:
        settings = Settings(
            *find_place(address, token, sys.argv[1:] if arguments is None else arguments),
            bot_version=bot_version,
            max_concurrent_games=max_concurrent_games,
            candidate_limit=candidate_limit,
        )
        play(bot, settings, stop)
    except (SettingsError, ConnectionFailedError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(0)
    except Exception:  # whatever the bot raises: a crash
        traceback.print_exc()
        sys.exit(1)


def play(bot: Bot, settings: Settings, stop: Stop | None = None) -> None:
    """Plays with `bot` until the server has no more games for it, or `stop` asks for an end.

    Raises what the bot raises. A lost connection is made again, and the games go on where they were.
    `ConnectionFailedError` if the server cannot be reached within `settings.patience`, or refuses the bot.
    """
    session, stop = Session(bot), stop or Stop()
    outage = _Outage(settings)
    while True:
        began = time.monotonic()
        try:
            _play_once(session, settings, stop)
            return
        except _StreamError as error:
            if stop.is_requested and error.is_worth_a_retry and not session.resumes:
                return
            outage.note(error, lasted=time.monotonic() - began)
        stop.wait(outage.next_delay())


class _Outage:
    """How long there has been no server, and when to try again."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._begin()

    def _begin(self) -> None:
        self._deadline = time.monotonic() + self._settings.patience
        self._delays = _delays()
        self._is_told = False

    def note(self, error: _StreamError, lasted: float) -> None:
        """Notes the end of a stream; `ConnectionFailedError` if there is no use or no time for another."""
        address, patience = self._settings.address, self._settings.patience
        if error.was_greeted and lasted > _STABLE:
            self._begin()
        if not error.is_worth_a_retry or time.monotonic() >= self._deadline:
            raise ConnectionFailedError(_advice(error, address)) from None
        if not self._is_told:
            self._is_told = True
            what = "the connection to %s was lost" if error.was_greeted else "nobody answers at %s yet"
            LOG.warning(what + "; trying again for %.0f s (%s)", address, patience, error.details)

    def next_delay(self) -> float:
        """Returns how many seconds to wait before the next attempt."""
        return next(self._delays)


def _delays() -> Iterator[float]:
    """Yields ever longer delays in seconds, with jitter: bots that lost a server do not come back all at once."""
    jitter = random.Random()  # noqa: S311 - spreads load; of its own, so that what a bot draws stays undisturbed
    delay = 0.1
    while True:
        yield jitter.uniform(0.5, 1.0) * delay
        delay = min(2.0, 2 * delay)


def _play_once(session: Session, settings: Settings, stop: Stop) -> None:
    outbox: Outbox = SimpleQueue()
    outbox.put(_hello(session, settings))
    with grpc.insecure_channel(settings.address, _options(settings.address)) as channel, stop.heard_by(outbox):
        call = play_pb2_grpc.PlayServiceStub(channel).Play(
            iter(outbox.get, None), metadata=(("authorization", f"Bearer {settings.token}"),)
        )
        try:
            for response in _received(call, session):
                for request in batches(session.answers(response)):
                    outbox.put(request)
        finally:
            outbox.put(None)  # ends the thread of grpcio that waits for the next request


def batches(answers: Iterable[play_pb2.Answer]) -> Iterator[play_pb2.PlayRequest]:
    """Yields answers in messages: many in one while they come fast, and none that waits for a slow one."""
    batch: list[play_pb2.Answer] = []
    since = time.monotonic()
    for answer in answers:
        batch.append(answer)
        if time.monotonic() - since > _LONGEST_HOLD:
            yield play_pb2.PlayRequest(answers=batch)
            batch, since = [], time.monotonic()
    if batch:
        yield play_pb2.PlayRequest(answers=batch)


class _StreamError(Exception):
    """The stream ended with an error: of its own type, so that what a bot raises is never taken for it."""

    def __init__(self, error: grpc.RpcError, server_version: str | None, *, was_greeted: bool) -> None:
        super().__init__()
        self.code: Final[grpc.StatusCode] = error.code()
        self.details: Final[str] = error.details() or "no reason given"
        self.server_version: Final = server_version
        self.was_greeted: Final = was_greeted

    @property
    def is_worth_a_retry(self) -> bool:
        """Whether another attempt may succeed: nobody is there, or not any more."""
        return self.code is grpc.StatusCode.UNAVAILABLE


def _received(call: Iterator[play_pb2.PlayResponse], session: Session) -> Iterator[play_pb2.PlayResponse]:
    was_greeted = False
    try:
        for response in call:
            was_greeted = True
            yield response
    except grpc.RpcError as error:
        raise _StreamError(error, session.server_version, was_greeted=was_greeted) from None


def _hello(session: Session, settings: Settings) -> play_pb2.PlayRequest:
    return play_pb2.PlayRequest(
        hello=play_pb2.Hello(
            sdk_name="python",
            sdk_version=__version__,
            bot_version=settings.bot_version,
            max_concurrent_games=settings.max_concurrent_games,
            candidate_limit=settings.candidate_limit,
            wants=session.wants,
            resumes=session.resumes,
        )
    )


def _options(address: str) -> list[tuple[str, int]]:
    # A proxy named in the environment is for other hosts.
    return [*_OPTIONS, *([("grpc.enable_http_proxy", 0)] if address.startswith(_LOCAL) else [])]


_UPGRADE: Final = "upgrade the older of server (version {server}) and SDK (version {sdk})"
_ADVICE: Final = {
    grpc.StatusCode.UNAUTHENTICATED: "the server at {address} does not know this token: "
    "pass the one it gave to this bot by --token or RUMMYARENA_TOKEN",
    grpc.StatusCode.UNIMPLEMENTED: "the program at {address} does not offer rummyarena.v1.PlayService: "
    "it is no server of Rummy Arena, or " + _UPGRADE,
    grpc.StatusCode.FAILED_PRECONDITION: "the server at {address} expected another message: " + _UPGRADE,
    grpc.StatusCode.INVALID_ARGUMENT: "the server at {address} could not read a message: " + _UPGRADE,
    grpc.StatusCode.RESOURCE_EXHAUSTED: "the server at {address} was sent too much: "
    "answer each decision once, with few moves",
    grpc.StatusCode.ABORTED: "another stream with this token has replaced this one: "
    "a token is for one running copy of a bot",
    grpc.StatusCode.PERMISSION_DENIED: "the server at {address} does not let this copy of the bot play",
    grpc.StatusCode.UNAVAILABLE: "the server at {address} has stopped, or the connection was lost",
}


def _advice(error: _StreamError, address: str) -> str:
    """Returns a sentence that says what happened and what to do."""
    advice = _ADVICE.get(error.code, "the server at {address} ended the stream with {code}")
    if error.is_worth_a_retry and error.server_version is None:
        advice = "nobody answers at {address}: start the server first, or check the address"
    server = error.server_version or "unknown"
    sentence = advice.format(address=address, sdk=__version__, server=server, code=error.code.name)
    return f"{sentence} ({error.details})"


def _heed_sigterm(stop: Stop) -> None:
    if threading.current_thread() is not threading.main_thread():
        return

    def end(_signal: int, _frame: FrameType | None) -> None:
        if stop.is_requested:
            sys.exit(0)
        stop.request()

    signal.signal(signal.SIGTERM, end)
