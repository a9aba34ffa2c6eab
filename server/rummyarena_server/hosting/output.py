"""What bots print: kept for their authors within limits, and shown to people without harm."""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import re
from pathlib import Path
from typing import IO, Final

import trio

_LOGGER: Final = logging.getLogger(__name__)
HEAD_BYTES: Final = 1024 * 1024
TAIL_BYTES: Final = 64 * 1024
_READ_BYTES: Final = 64 * 1024  # what a pipe holds
_FLOOD_PAUSE: Final = 0.001
_LONGEST_LINE: Final = 200
_LONGEST_NAME: Final = 40
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]+")


def visible(text: str) -> str:
    """Returns the text with everything that does not print (controls, direction marks, line breaks) as an escape."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


class OutputLog:
    """The output of one run of a bot: the first MiB goes to a file at once, the last 64 KiB at the end.

    Memory and file are bounded whatever comes. A file that cannot be written any more is given up with a warning, the
    last lines are still there; a file that stays empty is removed.
    """

    def __init__(self, path: Path, file: IO[bytes], head: int = HEAD_BYTES, tail: int = TAIL_BYTES) -> None:
        self.path = path
        self._file: IO[bytes] | None = file
        self._head = head
        self._tail_bytes = tail
        self._tail = bytearray()
        self._size = 0

    def keep(self, chunk: bytes) -> None:
        """Takes the next bytes of output."""
        if self._size < self._head:
            self._write(chunk[: self._head - self._size])
        self._size += len(chunk)
        self._tail += chunk
        del self._tail[: -self._tail_bytes]

    def last_lines(self, count: int) -> list[str]:
        """Returns the last non-empty lines, made visible and cut to 200 characters, for messages to people."""
        lines = (line.rstrip() for line in self._tail.decode(errors="backslashreplace").split("\n"))
        kept = [line for line in lines if line][-count:] if count > 0 else []
        return [_cut(visible(line.expandtabs(4))) for line in kept]

    def close(self) -> None:
        """Writes what the file has not yet of the tail, and how much was left out before it."""
        beyond = max(0, self._size - self._head)
        left_out = max(0, beyond - len(self._tail))
        if left_out:
            self._write(b"\n[... %d bytes of output are left out here ...]\n" % left_out)
        if beyond:
            self._write(bytes(self._tail[-beyond:]))
        self._give_up_file()
        if self._size == 0:
            with contextlib.suppress(OSError):  # an empty file too many does no harm
                self.path.unlink()

    def _write(self, data: bytes) -> None:
        if self._file is None:
            return
        try:
            self._file.write(data)
            self._file.flush()  # an author may be watching
        except OSError as error:
            _LOGGER.warning("The log %s is not continued: %s.", self.path, error.strerror)
            self._give_up_file()

    def _give_up_file(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):  # what a full disk did not take is tried again by close
                self._file.close()
            self._file = None


class OutputLogs:
    """A folder of logs, one for each run of a bot; no file that is there is ever written to.

    The folder is made; `OSError` where it cannot be.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._numbers = itertools.count(1)

    def open(self, name: str) -> OutputLog:
        """Opens a new log, named by what is safe in a bot's name and a number; `OSError` where none can be written."""
        safe = _UNSAFE.sub("_", name)[:_LONGEST_NAME].strip("_-") or "bot"
        for number in self._numbers:
            path = self.folder / f"{safe}-{number}.log"
            with contextlib.suppress(FileExistsError):
                return OutputLog(path, path.open("xb"))
        raise AssertionError("there is always another number")


async def drain(pipe: IO[bytes], log: OutputLog) -> None:
    """Hands everything that comes through the pipe to the log, until its end or until cancelled.

    A bot is never held up, but a flood is taken at 64 MB/s: without a pause it takes the processor from everybody's
    games. The pipe must not be blocking.
    """
    while True:
        await trio.lowlevel.wait_readable(pipe)
        chunk = os.read(pipe.fileno(), _READ_BYTES)
        if not chunk:
            return
        log.keep(chunk)
        if len(chunk) == _READ_BYTES:
            await trio.sleep(_FLOOD_PAUSE)


def drain_rest(pipe: IO[bytes], log: OutputLog) -> None:
    """Hands what stands in the pipe to the log; at most a MiB, for a process that left the group may write on."""
    with contextlib.suppress(BlockingIOError):
        for _ in range(HEAD_BYTES // _READ_BYTES):
            log.keep(os.read(pipe.fileno(), _READ_BYTES))


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 3]}..."
