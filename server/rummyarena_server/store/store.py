"""The store as trio's tasks use it: each call is a transaction of its own in a worker thread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, TypeVar

import trio
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from rummyarena_server.store.database import file_of, name_of, open_engine, writing
from rummyarena_server.store.errors import translated
from rummyarena_server.store.lock import FileLock, Holder, take

P = ParamSpec("P")
T = TypeVar("T")

_READERS: Final = 4


class Store:
    """An open database; to be closed by who opened it.

    Functions of a session run in it: `await store.write(record_game, tournament_id, result, now)`. They must neither
    commit nor hand out rows. One writes at a time; readers see what was committed before.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writing = writing(engine)
        self._writer = trio.CapacityLimiter(1)
        self._readers = trio.CapacityLimiter(_READERS)

    async def write(self, function: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Returns what the function returns once all that it wrote is safe, or none of it is and an error is raised.

        `StoreUnavailable` if the database is locked, the disk full or the like: the same call may be tried again.
        Once begun it is not cancelled half-way.
        """
        return await trio.to_thread.run_sync(lambda: self._write(function, *args, **kwargs), limiter=self._writer)

    async def read(self, function: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Returns what the function returns from one state of the database; `StoreUnavailable` as for `write`."""
        return await trio.to_thread.run_sync(lambda: self._read(function, *args, **kwargs), limiter=self._readers)

    def claim(self, tournament_id: int) -> FileLock | Holder:
        """Takes the right to play a tournament, to be given back by leaving a block, or returns at once who has it.

        The lock's file stands beside the database. `StoreUnavailable` if it cannot be made.
        """
        database = file_of(self._engine)
        return take(database.with_name(f"{database.name}-playing-{tournament_id}"))

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()

    def _write(self, function: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        with translated(name_of(self._engine)), Session(self._writing) as session, session.begin():
            return function(session, *args, **kwargs)

    def _read(self, function: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        with translated(name_of(self._engine)), Session(self._engine) as session:
            return function(session, *args, **kwargs)


def open_store(url: str | Path, lock_seconds: float = 5.0, *, must_exist: bool = False) -> Store:
    """Opens a database as `open_engine` does."""
    return Store(open_engine(url, lock_seconds, must_exist=must_exist))
