"""Connects a bot to a server and plays until no game is left."""

from __future__ import annotations

import random
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from queue import SimpleQueue
from types import FrameType
from typing import Final, NoReturn

import grpc

from rummyarena.session import LOG, Bot, Session
from rummyarena.settings import Settings, SettingsError, find_place
from rummyarena.v1 import play_pb2, play_pb2_grpc
from rummyarena.version import __version__

LARGEST_MESSAGE: Final = 64 * 1024 * 1024
"""Bytes; a message holds the news of all games of the stream."""

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
) -> None:
    """Plays with `bot` until the server has no more games for it; meant to be the last line of a program.

    `bot`: a function from a `Decision` to a move, or an object with a method `decide` and perhaps those of `Observer`.
    Address and token are taken from here, from `--address` and `--token`, or from the variables RUMMYARENA_ADDRESS and
    RUMMYARENA_TOKEN. Time runs for all open decisions of `max_concurrent_games` at once.

    Ends the program with code 1 and the traceback if the bot raises (its games are forfeited), with code 2 and a
    sentence if there is nobody to play with, and quietly with code 0 on Ctrl-C or SIGTERM.
    """
    _end_quietly_on_sigterm()
    try:
        settings = Settings(
            *find_place(address, token, sys.argv[1:]),
            bot_version=bot_version,
            max_concurrent_games=max_concurrent_games,
            candidate_limit=candidate_limit,
        )
        play(bot, settings)
    except (SettingsError, ConnectionFailedError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(0)
    except Exception:  # whatever the bot raises: a crash
        traceback.print_exc()
        sys.exit(1)


def play(bot: Bot, settings: Settings) -> None:
    """Plays with `bot` until the server has no more games for it; raises what the bot raises.

    `ConnectionFailedError` if the server cannot be reached within `settings.patience`, refuses the bot, or is lost.
    """
    deadline = time.monotonic() + settings.patience
    for attempt, delay in enumerate(_delays()):
        try:
            _play_once(bot, settings)
            break
        except _StreamError as error:
            if not error.is_unreachable or time.monotonic() >= deadline:
                raise ConnectionFailedError(_advice(error, settings.address)) from None
        if attempt == 0:
            LOG.warning("nobody answers at %s yet; trying for %.0f s", settings.address, settings.patience)
        time.sleep(delay)


def _delays() -> Iterator[float]:
    """Yields ever longer delays in seconds, with jitter: bots that lost a server do not come back all at once."""
    jitter = random.Random()  # noqa: S311 - spreads load; of its own, so that what a bot draws stays undisturbed
    delay = 0.1
    while True:
        yield jitter.uniform(0.5, 1.0) * delay
        delay = min(2.0, 2 * delay)


def _play_once(bot: Bot, settings: Settings) -> None:
    session = Session(bot)
    requests: SimpleQueue[play_pb2.PlayRequest | None] = SimpleQueue()
    requests.put(_hello(session, settings))
    with grpc.insecure_channel(settings.address, _options(settings.address)) as channel:
        call = play_pb2_grpc.PlayServiceStub(channel).Play(
            iter(requests.get, None), metadata=(("authorization", f"Bearer {settings.token}"),)
        )
        try:
            for response in _received(call, session):
                request = session.respond(response)
                if request is not None:
                    requests.put(request)
        finally:
            requests.put(None)  # ends the thread of grpcio that waits for the next request


class _StreamError(Exception):
    """The stream ended with an error: of its own type, so that what a bot raises is never taken for it."""

    def __init__(self, error: grpc.RpcError, server_version: str | None) -> None:
        super().__init__()
        self.code: Final[grpc.StatusCode] = error.code()
        self.details: Final[str] = error.details() or "no reason given"
        self.server_version: Final = server_version

    @property
    def is_unreachable(self) -> bool:
        """Whether nobody has answered yet: alone worth another attempt."""
        return self.code is grpc.StatusCode.UNAVAILABLE and self.server_version is None


def _received(call: Iterator[play_pb2.PlayResponse], session: Session) -> Iterator[play_pb2.PlayResponse]:
    try:
        yield from call
    except grpc.RpcError as error:
        raise _StreamError(error, session.server_version) from None


def _hello(session: Session, settings: Settings) -> play_pb2.PlayRequest:
    return play_pb2.PlayRequest(
        hello=play_pb2.Hello(
            sdk_name="python",
            sdk_version=__version__,
            bot_version=settings.bot_version,
            max_concurrent_games=settings.max_concurrent_games,
            candidate_limit=settings.candidate_limit,
            wants=session.wants,
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
    grpc.StatusCode.UNAVAILABLE: "the server at {address} has stopped, or the connection was lost",
}


def _advice(error: _StreamError, address: str) -> str:
    """Returns a sentence that says what happened and what to do."""
    advice = _ADVICE.get(error.code, "the server at {address} ended the stream with {code}")
    if error.is_unreachable:
        advice = "nobody answers at {address}: start the server first, or check the address"
    server = error.server_version or "unknown"
    sentence = advice.format(address=address, sdk=__version__, server=server, code=error.code.name)
    return f"{sentence} ({error.details})"


def _end_quietly_on_sigterm() -> None:
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _exit)


def _exit(_signal: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(0)
