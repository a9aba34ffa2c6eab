"""What can go wrong with a database, in sentences for people."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy.exc import DBAPIError


class StoreError(Exception):
    """A database that cannot be used as it is; the text says what is wrong, where, and how to mend it."""


class StoreUnavailable(StoreError):  # noqa: N818 - a state that passes, not a mistake
    """A database that cannot be read or written at the moment; nothing was written, so the same can be tried again."""


_PASSING: Final = {
    sqlite3.SQLITE_BUSY: "another program keeps it locked; close that program or wait for it",
    sqlite3.SQLITE_LOCKED: "another program keeps it locked; close that program or wait for it",
    sqlite3.SQLITE_FULL: "the disk is full; make room on it",
    sqlite3.SQLITE_READONLY: (
        "it can only be read; make the file, those beside it that end in -wal and -shm, and its folder writable, or "
        "name another file"
    ),
    sqlite3.SQLITE_IOERR: "the disk could not be read or written; see whether a quota is used up, and the system's log",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened; see that its folder exists and that both are yours to write",
    sqlite3.SQLITE_PERM: "the file cannot be opened; see that its folder exists and that both are yours to write",
}
_LASTING: Final = {
    sqlite3.SQLITE_NOTADB: "it is not a database; name another file",
    sqlite3.SQLITE_CORRUPT: "it is damaged; go back to a copy of it or name another file",
}


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Turns what SQLite says about the file, the disk and other programs into `StoreError`; lets mistakes of ours pass.

    `where`: the database as its user named it.
    """
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        store_error = _store_error(where, error.orig if isinstance(error, DBAPIError) else error)
        if store_error is None:
            raise
        raise store_error from error


def _store_error(where: str, error: BaseException | None) -> StoreError | None:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # an extended code has its primary one in the lowest byte
    if code in _PASSING:
        return StoreUnavailable(f"database {where}: {_PASSING[code]} ({error})")
    if code in _LASTING:
        return StoreError(f"database {where}: {_LASTING[code]} ({error})")
    return None
