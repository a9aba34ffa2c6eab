"""The warden: a process beside the server that kills the bots of a server that was killed.

Run as a script, and on the standard library alone, so that it is up in 10 ms. Its input are lines, `+123` for a process
group to watch over and `-123` for one that is gone; the input ends when the server does, whatever ended it.

Why not a parent-death signal: it has to be set in the child, by code that runs between fork and exec of a process full
of grpc's threads or by a launcher in front of every bot; it follows the thread that started the child; it ends the
child alone, so that the bot behind `npm start` or `go run` lives on; and macOS has none.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterable


def groups_left(lines: Iterable[bytes]) -> set[int]:
    """Returns the process groups still watched over when the lines end."""
    groups: set[int] = set()
    for line in lines:
        number = int(line[1:])
        if line.startswith(b"+"):
            groups.add(number)
        else:
            groups.discard(number)
    return groups


def main() -> None:
    """Watches over the process groups named on standard input until it ends, then kills what is left."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # it ends after the server, never before
    for group in groups_left(sys.stdin.buffer):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
