"""The warden: a process beside the server that kills the bots of a server that was killed.

Run as a script, and on the standard library alone, so that it is up in 10 ms. Its input are lines: `?MARK` before a bot
is started that has this mark in its environment, then `+123` for its process group, or `!` if it could not be started;
`-123` for a group that is gone. The input ends when the server does, whatever ended it. A bot that was being started
just then has no number yet; where there is a `/proc` it is found by its mark, elsewhere it has to find out by itself
that nobody answers.

Why not a parent-death signal: it has to be set in the child, by code that runs between fork and exec of a process full
of grpc's threads or by a launcher in front of every bot; it follows the thread that started the child; it ends the
child alone, so that the bot behind `npm start` or `go run` lives on; and macOS has none.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterable
from typing import Final

_SEARCH_SECONDS: Final = 2.0  # for a bot whose program is not even loaded yet, so that it has no environment of its own
_LOOK_SECONDS: Final = 0.05  # between two looks


def left(lines: Iterable[bytes]) -> tuple[set[int], bytes]:
    """Returns what there is when the lines end: the groups watched over, the mark of a bot that is being started."""
    groups: set[int] = set()
    mark = b""
    for line in lines:
        kind, rest = line[:1], line[1:].rstrip()
        if kind == b"-":
            groups.discard(int(rest))
            continue
        mark = rest if kind == b"?" else b""
        if kind == b"+":
            groups.add(int(rest))
    return groups, mark


def groups_with(mark: bytes) -> set[int]:
    """Returns the groups of the processes that have a mark in their environment; none where there is no `/proc`."""
    groups = set()
    with contextlib.suppress(FileNotFoundError):
        for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - pathlib takes as long to load as the rest
            with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as environment:  # noqa: PTH123 - as above
                if mark in environment.read():
                    groups.add(os.getpgid(int(name)))
    return groups


def main() -> None:
    """Watches over the process groups named on standard input until it ends, then kills what is left."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # it ends after the server, never before
    groups, mark = left(sys.stdin.buffer)
    _kill(groups)
    deadline = time.monotonic() + _SEARCH_SECONDS
    while mark and time.monotonic() < deadline:
        if found := groups_with(mark):
            _kill(found)
            return
        time.sleep(_LOOK_SECONDS)


def _kill(groups: set[int]) -> None:
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
