"""The server's end of the pipe to its warden."""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO, Final, cast

import trio

from rummyarena_server.hosting.exits import open_pidfd, until_exit

_LOGGER: Final = logging.getLogger(__name__)
_WARDEN: Final = Path(__file__).with_name("warden.py")
_FAREWELL_SECONDS: Final = 5.0


class Lifeline:
    """Tells the warden which process groups are to end with this server.

    Before a bot is started its mark is told, then its group or that there is none; the warden finds it by its mark if
    this server is killed in between.
    """

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        os.set_blocking(pipe.fileno(), False)  # a warden that does not read must not stop the server
        self._is_held = True

    def expect(self, mark: str) -> None:
        """Announces a bot that is about to be started, with a text that nothing else has in its environment."""
        self._tell(b"?%s\n" % mark.encode())

    def give_up(self) -> None:
        """Takes back what was announced: the bot could not be started."""
        self._tell(b"!\n")

    def watch(self, group: int) -> None:
        """Puts a process group into the warden's care."""
        self._tell(b"+%d\n" % group)

    def release(self, group: int) -> None:
        """Takes a process group out of it; to be called before the number can belong to somebody else."""
        self._tell(b"-%d\n" % group)

    def _tell(self, line: bytes) -> None:
        if not self._is_held:
            return
        with contextlib.suppress(BrokenPipeError):
            if self._pipe.write(line) == len(line):
                return
        self._is_held = False
        _LOGGER.error("The process that guards the bots is gone: should this server be killed, its bots will live on.")


@contextlib.asynccontextmanager
async def open_lifeline() -> AsyncIterator[Lifeline]:
    """Starts a warden, and ends it with whatever is still in its care."""
    warden = _start_warden()
    pipe = cast("IO[bytes]", warden.stdin)  # it was started with one
    try:
        yield Lifeline(pipe)
    finally:
        pipe.close()
        await _until_gone(warden)


def _start_warden() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        (sys.executable, "-I", "-S", str(_WARDEN)),
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # a Ctrl-C at the terminal is meant for the server
    )


async def _until_gone(warden: subprocess.Popen[bytes]) -> None:
    pidfd = open_pidfd(warden.pid)
    with trio.move_on_after(_FAREWELL_SECONDS, shield=True):
        await until_exit(warden, pidfd)
    if pidfd is not None:
        os.close(pidfd)
    if warden.poll() is None:  # somebody has stopped it (SIGSTOP)
        warden.kill()
        warden.wait()
