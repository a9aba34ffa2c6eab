"""How a process ends: waiting for it in trio without reaping it, and telling people about it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from typing import Final

import trio

_POLL_SECONDS: Final = 0.02


def describe(status: int) -> str:
    """Returns what an exit status means, to follow a bot's name; a negative one is the number of a signal."""
    if status >= 0:
        return f"exited with code {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"


def open_pidfd(pid: int) -> int | None:
    """Opens a descriptor that is readable once the child has ended; `None` where the system has no such thing."""
    opener: Callable[[int], int] | None = getattr(os, "pidfd_open", None)  # Linux, if Python was built to know it
    if opener is None:
        return None
    try:
        return opener(pid)
    except OSError:  # a kernel before 5.3, a container that forbids the call, or no descriptor is left
        return None


async def until_exit(process: subprocess.Popen[bytes], pidfd: int | None) -> None:
    """Returns as soon as the child has ended.

    With a descriptor the child is left unreaped, and its number and its group's belong to nobody else. Without one it
    is asked for every 20 ms and reaped; no thread waits and no handler of SIGCHLD is taken from anybody.
    """
    if pidfd is not None:
        await trio.lowlevel.wait_readable(pidfd)
        return
    while process.poll() is None:  # noqa: ASYNC110 - the system has no event to wait for
        await trio.sleep(_POLL_SECONDS)
