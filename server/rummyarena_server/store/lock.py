"""The right to play a tournament, which one process has at a time: a lock of the operating system on a file.

A lock and not a row in the database, for it must end with its process however that ends: after a kill nothing stale is
left. The file is only there to be locked, and to say who has it. A database on a server would lend a lock that ends
with a connection instead, as PostgreSQL does with `pg_try_advisory_lock(tournament id)`.
"""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from rummyarena_server.store.errors import StoreUnavailable


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has a lock: the number of its process, `None` if it did not get to say so yet."""

    process: int | None


class FileLock:
    """A lock that this process has, until the block is left or the process ends; bots do not inherit it."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._path.unlink(missing_ok=True)  # while it is locked: who opened it meanwhile sees that it is another file
        os.close(self._descriptor)


def take(path: Path) -> FileLock | Holder:
    """Locks a file, which is made if need be, or returns at once who has it; `StoreUnavailable` if it cannot be made.

    Two locks of one process exclude each other as well.
    """
    while True:
        descriptor = _opened(path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _holder(descriptor)
            os.close(descriptor)
            return holder
        if _is_there(path, descriptor):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
            return FileLock(path, descriptor)
        os.close(descriptor)  # its holder has removed it since it was opened


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise StoreUnavailable(
            f"{path}, which marks that a tournament is being played, cannot be made: "
            f"{(error.strerror or str(error)).lower()}; make its folder writable, or play with a database elsewhere"
        ) from None


def _holder(descriptor: int) -> Holder:
    written = os.pread(descriptor, 20, 0).strip()
    return Holder(int(written) if written.isdigit() else None)


def _is_there(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
