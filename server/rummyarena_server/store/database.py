"""Opening a database: from a URL to an engine whose tables are up to date."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from stat import S_ISDIR
from typing import Any, Final

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError

from rummyarena_server.store.errors import StoreError, translated

IMMEDIATE: Final = "rummyarena_immediate"
"""The execution option of a connection whose transactions take SQLite's write lock when they begin."""

_LOCK_PAUSE_SECONDS: Final = 0.01
_MIGRATIONS: Final = Path(__file__).parent / "migrations"


def open_engine(url: str | Path, lock_seconds: float = 5.0, *, must_exist: bool = False) -> Engine:
    """Opens a database, makes it if there is none, and brings its tables up to date.

    `url`: a file's path, or `sqlite:///FILE`. `lock_seconds`: how long to wait for a lock that another process holds.
    `must_exist`: for who only reads; a database that is not there, or has no tables, is not made but refused.
    Raises `StoreError` if the database cannot be used, `StoreUnavailable` among them if that may pass.
    """
    address = _address(url)
    if must_exist and not Path(str(address.database)).exists():
        raise _nothing_there(str(address.database))
    engine = _engine(address, lock_seconds)
    try:
        with translated(name_of(engine)):
            scripts = ScriptDirectory(str(_MIGRATIONS))
            revision = _revision(engine, scripts)
            if must_exist and revision is None:
                raise _nothing_there(name_of(engine))
            if revision != scripts.get_current_head():
                _use_wal(engine, lock_seconds)
                _migrate(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def name_of(engine: Engine) -> str:
    """Returns the database as its user named it."""
    return str(engine.url.database)


def file_of(engine: Engine) -> Path:
    """Returns the database's file, the same path whatever way it was named."""
    return Path(name_of(engine)).resolve()


def writing(engine: Engine) -> Engine:
    """Returns the same engine for transactions that write: they wait for their turn when they begin, never later."""
    return engine.execution_options(**{IMMEDIATE: True})


def _address(url: str | Path) -> URL:
    address = _parsed(url) if isinstance(url, str) else _file(url)
    if address.get_backend_name() != "sqlite":
        raise StoreError(
            f"database {address.render_as_string()}: {address.get_backend_name()} is not supported; "
            "write sqlite:/// and the path of a file"
        )
    if address.host or address.username:
        raise StoreError(
            f"database {address.render_as_string()}: a SQLite file has no host; write sqlite:/// (three slashes) and "
            "the path of a file"
        )
    if address.database in (None, "", ":memory:"):
        raise StoreError("a database in memory would forget all results; write sqlite:/// and the path of a file")
    if address.query:
        raise StoreError(
            f"database {address.set(query={}).render_as_string()}: a URL with a question mark is not supported; write "
            "sqlite:/// and the path of a file alone, or just the path if there is a question mark in it"
        )
    _check_path(Path(str(address.database)))
    return address


def _file(path: Path) -> URL:
    return URL.create("sqlite", database=str(path))


def _parsed(url: str) -> URL:
    if "://" not in url:
        return _file(Path(url))
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        raise StoreError(f"database {url!r}: this is no URL; write sqlite:/// and the path of a file") from None


def _check_path(path: Path) -> None:
    if "\0" in str(path):
        raise StoreError(f"database {str(path)!r}: no file has a null character in its name; name another file")
    if _is_folder(path):
        raise StoreError(f"database {path}: this is a folder; name a file in it")
    if not _is_folder(path.parent):
        raise StoreError(f"database {path}: there is no folder {path.parent}; make it or name another file")


def _is_folder(path: Path) -> bool:
    try:
        return S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:  # the name is too long, or a folder is closed to us
        why = (error.strerror or str(error)).lower()
        raise StoreError(f"database {path}: {why}; name another file") from None


def _nothing_there(path: str) -> StoreError:
    return StoreError(f"database {path}: nothing has been played there yet; name the file that was played with")


def _engine(address: URL, lock_seconds: float) -> Engine:
    engine = create_engine(address.set(drivername="sqlite+pysqlite"), connect_args={"timeout": lock_seconds})

    @event.listens_for(engine, "connect")
    def _connect(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # transactions are begun below, not by the driver
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")  # what was told after its commit survives a power cut as well

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        immediate = connection.get_execution_options().get(IMMEDIATE)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine


def _revision(engine: Engine, scripts: ScriptDirectory) -> str | None:
    """Returns the revision of the tables, `None` if there are none.

    Refuses a database of another program, or of a newer version of this one, before anything in it is changed.
    """
    with engine.connect() as connection:
        tables = inspect(connection).get_table_names()
        if tables and "alembic_version" not in tables:
            raise StoreError(f"database {name_of(engine)}: it belongs to another program; name another file")
        revision = connection.scalar(text("SELECT version_num FROM alembic_version")) if tables else None
    if revision is not None and revision not in {script.revision for script in scripts.walk_revisions()}:
        raise StoreError(
            f"database {name_of(engine)}: another version of Rummy Arena, probably a newer one, wrote it (its tables "
            f"are of revision {revision}); update Rummy Arena or name another file"
        )
    return revision


def _use_wal(engine: Engine, lock_seconds: float) -> None:
    """Has readers and the writer not wait for each other; SQLite itself does not wait for other processes here."""
    deadline = time.monotonic() + lock_seconds
    with closing(engine.raw_connection()) as raw:  # no transaction is begun on it, which this pragma needs
        while True:
            try:
                raw.cursor().execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(_LOCK_PAUSE_SECONDS)
            else:
                return


def _migrate(engine: Engine) -> None:
    with writing(engine).begin() as connection:  # the write lock: of two processes, one makes the tables
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
        command.upgrade(config, "head")
