"""The store opens what is its own, says clearly what is wrong with anything else, and loses nothing half-way."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
import trio
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Engine, create_engine, event, insert, select, text
from sqlalchemy.exc import IntegrityError, StatementError
from sqlalchemy.orm import Session

import rummyarena_server
from rummyarena_server.store.database import open_engine, writing
from rummyarena_server.store.errors import StoreError, StoreUnavailable
from rummyarena_server.store.lock import FileLock, Holder
from rummyarena_server.store.models import BOT, SEAT, Table
from rummyarena_server.store.records import (
    find_tournament,
    finish_tournament,
    open_tournament,
    record_game,
    recorded_indices,
)
from rummyarena_server.store.results import StoredTournament
from rummyarena_server.store.store import Store, open_store
from tests.server.results import NOW, plan, result

FIRST_VERSION = Path(__file__).parent / "first_version.sql"
"""A database as the first version of the tables had it, with a tournament in it, as text."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "arena.db"


@pytest.fixture
def engine(path: Path) -> Iterator[Engine]:
    engine = open_engine(path)
    yield engine
    engine.dispose()


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = open_store(path, lock_seconds=0.05)
    yield store
    store.close()


async def opened(store: Store) -> StoredTournament:
    tournament = await store.write(open_tournament, plan(), NOW)
    assert isinstance(tournament, StoredTournament)
    return tournament


# --- opening ---------------------------------------------------------------------------------------------------------


def test_a_new_database_has_the_tables_of_the_models(engine: Engine) -> None:
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        assert compare_metadata(context, Table.metadata) == []


def test_constraints_have_the_names_of_the_models(engine: Engine, tmp_path: Path) -> None:
    # Without their names no later migration could change them; comparing metadata does not look at checks.
    def constraints(connection: sqlite3.Connection) -> set[str]:
        schema = " ".join(row[0] for row in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"))
        return set(re.findall(r"\b(?:uq|ck|fk|pk)_\w+", schema))

    with closing(sqlite3.connect(str(engine.url.database))) as migrated:
        names = constraints(migrated) - {"pk_alembic_version"}
    made = create_engine(f"sqlite:///{tmp_path / 'made.db'}")
    Table.metadata.create_all(made)
    with closing(sqlite3.connect(tmp_path / "made.db")) as modelled:
        assert names == constraints(modelled)
    made.dispose()
    assert {"ck_game_status", "uq_game_tournament_id_schedule_index", "fk_seat_entrant_id_entrant"} <= names


def test_a_database_can_be_opened_again(path: Path) -> None:
    for _ in range(2):
        open_engine(f"sqlite:///{path}").dispose()
    open_engine(str(path)).dispose()


def test_a_path_may_hold_what_means_something_in_a_url(tmp_path: Path) -> None:
    path = tmp_path / "100% sure? #1.db"
    open_engine(path).dispose()
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_two_processes_may_make_a_database_at_once(path: Path) -> None:
    makers = [start("open_engine(path, lock_seconds=300).dispose(); print('made')", path) for _ in range(4)]
    for maker in makers:
        go(maker)
    assert [maker.communicate(timeout=300)[0].strip() for maker in makers] == ["made"] * 4


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("mysql://somebody:password@host/x", r"mysql is not supported; write sqlite:/// and the path of a file"),
        ("://x", "this is no URL"),
        ("sqlite://somebody:password@host/x", "a SQLite file has no host"),
        ("sqlite://arena.db", "a SQLite file has no host"),
        ("sqlite://", "a database in memory would forget all results"),
        ("sqlite:///:memory:", "a database in memory would forget all results"),
        ("nowhere/arena.db", "there is no folder nowhere; make it or name another file"),
        ("sqlite:///arena.db?mode=ro", "a URL with a question mark is not supported; write sqlite:/// and the path"),
        ("sqlite:///file:arena.db?mode=ro&uri=true", "a URL with a question mark is not supported"),
        ("sqlite:///arena.db?password=password", "a URL with a question mark is not supported"),
        (300 * "x", "name too long; name another file"),
        ("sqlite:///" + 300 * "x", "name too long; name another file"),
        (300 * "x" + "/arena.db", "name too long; name another file"),
        ("arena\0.db", r"'arena\\x00.db': no file has a null character"),
    ],
)
def test_what_is_no_place_for_a_database_is_refused(url: str, sentence: str) -> None:
    with pytest.raises(StoreError, match=sentence) as caught:
        open_engine(url)
    assert "password" not in str(caught.value)


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="this is a folder; name a file in it"):
        open_engine(tmp_path)


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(path: Path) -> None:
    path.write_text("my diary\n" * 1000)
    with pytest.raises(StoreError, match="it is not a database; name another file") as caught:
        open_engine(path)
    assert str(path) in str(caught.value)
    assert path.read_text() == "my diary\n" * 1000


def test_a_database_of_another_program_is_refused_and_left_as_it_is(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE recipes (name)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="it belongs to another program"):
        open_engine(path)
    assert path.read_bytes() == before


def test_a_database_of_a_newer_version_is_refused(path: Path) -> None:
    open_engine(path).dispose()
    with closing(sqlite3.connect(path)) as newer, newer:
        newer.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreError, match=r"probably a newer one, .* revision 9999\); update Rummy Arena"):
        open_engine(path)


def test_a_damaged_database_is_refused(path: Path) -> None:
    open_engine(path).dispose()
    content = bytearray(path.read_bytes())
    content[100:4096] = bytes(3996)  # the first page, which says where everything is
    path.write_bytes(content)
    with pytest.raises(StoreError, match="it is damaged; go back to a copy"):
        open_engine(path)


def test_who_only_reads_makes_no_database(path: Path) -> None:
    with pytest.raises(StoreError, match="nothing has been played there yet; name the file that was played with"):
        open_store(path, must_exist=True)
    assert not path.exists()
    path.touch()
    with pytest.raises(StoreError, match="nothing has been played there yet"):
        open_store(path, must_exist=True)
    assert path.read_bytes() == b""


def test_who_only_reads_opens_what_is_there(path: Path) -> None:
    open_engine(path).dispose()
    open_store(path, must_exist=True).close()


def test_tables_of_an_older_version_are_brought_up_to_date(path: Path) -> None:
    with closing(sqlite3.connect(path)) as old:
        old.executescript(FIRST_VERSION.read_text())
    engine = open_engine(path, must_exist=True)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Table.metadata) == []
        assert connection.scalar(text("SELECT name FROM tournament")) == "Friday"
    engine.dispose()


@pytest.mark.parametrize(("status", "counting"), [("running", 0), ("finished", 1)])
def test_the_games_of_what_was_finished_before_still_count_for_elo(path: Path, status: str, counting: int) -> None:
    with closing(sqlite3.connect(path)) as old:
        old.executescript(FIRST_VERSION.read_text())
        old.execute("UPDATE tournament SET status = ?", (status,))
        old.commit()
    engine = open_engine(path, must_exist=True)
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT rated_games FROM tournament")) == counting
    engine.dispose()


def test_a_database_that_another_process_locks_is_refused_for_now(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreUnavailable, match="another program keeps it locked"):
            open_engine(path, lock_seconds=0.05)
    open_engine(path, lock_seconds=0.05).dispose()


# --- what holds in it ------------------------------------------------------------------------------------------------


def test_what_belongs_to_nothing_is_refused(engine: Engine) -> None:
    orphan = {"game_id": 1, "seat": 0, "entrant_id": 1, "rank": 1, "total": 0, "points": 0, "thinking": 0, "faults": 0}
    with Session(writing(engine)) as session, pytest.raises(IntegrityError, match="FOREIGN KEY"):
        session.execute(insert(SEAT).values(orphan))


def test_readers_and_the_writer_do_not_wait_for_each_other(engine: Engine) -> None:
    with engine.connect() as connection:
        assert connection.scalar(text("PRAGMA journal_mode")) == "wal"
        assert connection.scalar(text("PRAGMA synchronous")) == 2


def test_times_are_aware_and_in_utc(engine: Engine) -> None:
    elsewhere = datetime(2024, 5, 4, 19, 0, 0, 5, tzinfo=timezone(timedelta(hours=7)))
    with Session(writing(engine)) as session:
        session.execute(insert(BOT).values(name="Ann", created_at=elsewhere))
        read = session.execute(select(BOT.c.created_at)).scalar_one()
    assert read == elsewhere
    assert read.tzinfo is UTC


def test_a_time_without_a_zone_is_refused(engine: Engine) -> None:
    with Session(writing(engine)) as session, pytest.raises(StatementError, match="has no time zone"):
        session.execute(insert(BOT).values(name="Ann", created_at=NOW.replace(tzinfo=None)))


# --- as trio uses it -------------------------------------------------------------------------------------------------


async def test_what_was_written_is_read(store: Store) -> None:
    tournament = await opened(store)
    assert await store.write(record_game, tournament.id, result(0), NOW)
    assert await store.read(recorded_indices, tournament.id) == (range(1),)


async def test_a_function_that_fails_leaves_nothing_behind(store: Store) -> None:
    tournament = await opened(store)

    def fail(session: Session) -> None:
        record_game(session, tournament.id, result(0), NOW)
        raise RuntimeError("half-way")

    with pytest.raises(RuntimeError, match="half-way"):
        await store.write(fail)
    assert await store.read(recorded_indices, tournament.id) == ()


async def test_many_tasks_write_and_read_at_once(store: Store) -> None:
    tournament = await opened(store)
    async with trio.open_nursery() as nursery:
        for index in range(40):
            nursery.start_soon(store.write, record_game, tournament.id, result(index), NOW)
            nursery.start_soon(store.read, recorded_indices, tournament.id)
    assert await store.read(recorded_indices, tournament.id) == (range(40),)


async def test_a_write_that_has_begun_is_not_cancelled(store: Store) -> None:
    tournament = await opened(store)

    def finish(session: Session) -> None:
        trio.from_thread.run_sync(scope.cancel)  # cancelled from within, so that it is under way for certain
        finish_tournament(session, tournament.id, NOW)

    with trio.CancelScope() as scope:
        await store.write(finish)
    assert await store.read(lambda session: session.scalar(text("SELECT status FROM tournament"))) == "finished"


async def test_a_lock_of_another_process_loses_nothing(store: Store, path: Path) -> None:
    tournament = await opened(store)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="another program keeps it locked") as caught:
            await store.write(record_game, tournament.id, result(0), NOW)
        assert str(path) in str(caught.value)
        assert await store.read(recorded_indices, tournament.id) == ()  # readers do not mind
    assert await store.write(record_game, tournament.id, result(0), NOW)


async def test_a_writer_has_the_lock_before_it_reads(store: Store, path: Path) -> None:
    # else what it read could be out of date when it writes, and SQLite would refuse that at once
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="another program keeps it locked"):
            await store.write(find_tournament, "Friday")


async def test_a_full_disk_loses_nothing(path: Path) -> None:
    engine = open_engine(path)
    store = Store(engine)
    tournament = await opened(store)
    engine.dispose()  # the next connections are new ones, of a disk with no more room than is taken
    limit = 1

    @event.listens_for(engine, "connect")
    def fill(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {limit}")

    def much(session: Session) -> bool:
        return all(record_game(session, tournament.id, result(index), NOW) for index in range(500))

    with pytest.raises(StoreUnavailable, match="the disk is full; make room on it"):
        await store.write(much)
    assert await store.read(recorded_indices, tournament.id) == ()
    limit = 1_000_000
    engine.dispose()
    assert await store.write(much)
    store.close()


async def test_a_database_that_can_only_be_read_shows_what_is_in_it(store: Store, path: Path) -> None:
    tournament = await opened(store)
    await store.write(record_game, tournament.id, result(0), NOW)
    engine = open_engine(path)
    engine.dispose()  # the next connections are new ones

    @event.listens_for(engine, "connect")
    def protect(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute("PRAGMA query_only = ON")  # what SQLite says then is what it says of a protected file

    looking = Store(engine)
    assert await looking.read(recorded_indices, tournament.id) == (range(1),)
    with pytest.raises(StoreUnavailable, match="it can only be read; make the file, those beside it"):
        await looking.write(record_game, tournament.id, result(1), NOW)
    looking.close()


# --- other processes -------------------------------------------------------------------------------------------------


_CHILD = """
import sys
from pathlib import Path
from sqlalchemy.orm import Session
from rummyarena_server.store.database import open_engine, writing
from rummyarena_server.store.records import find_tournament, record_game
from tests.server.results import NOW, result
path = Path(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
"""


def start(script: str, path: Path) -> subprocess.Popen[str]:
    """Starts a process that says it is ready, waits for `go` and then runs the script with the database's path."""
    roots = [Path(rummyarena_server.__file__).parents[1], Path(__file__).parents[2]]
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", _CHILD + script, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, roots))},
    )


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.stdin.write("\n")
    process.stdin.flush()


_RECORD_ALL = """
engine = open_engine(path, lock_seconds=300)
for index in range(60):
    with Session(writing(engine)) as session, session.begin():
        print(int(record_game(session, find_tournament(session, "Friday").id, result(index, reason=sys.argv[0]), NOW)))
engine.dispose()
"""


async def test_of_two_processes_that_record_a_game_one_wins(store: Store, path: Path) -> None:
    tournament = await opened(store)
    writers = [start(_RECORD_ALL, path) for _ in range(2)]
    for writer in writers:
        go(writer)
    won = [list(map(int, writer.communicate(timeout=60)[0].split())) for writer in writers]
    assert [sum(both) for both in zip(*won, strict=True)] == [1] * 60
    assert await store.read(recorded_indices, tournament.id) == (range(60),)
    assert await store.read(lambda session: session.scalar(text("SELECT count(*) FROM seat"))) == 120


_HALF = """
engine = open_engine(path)
with Session(writing(engine)) as session, session.begin():
    assert record_game(session, find_tournament(session, "Friday").id, result(0), NOW)
    if {commit}:
        session.commit()
    print("recorded", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.parametrize("commit", [False, True])
async def test_a_killed_process_leaves_whole_games_only(store: Store, path: Path, commit: bool) -> None:
    tournament = await opened(store)
    writer = start(_HALF.format(commit=commit), path)
    go(writer)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "recorded\n"
    writer.send_signal(signal.SIGKILL)
    writer.communicate(timeout=60)
    recorded = (range(1),) if commit else ()
    assert await store.read(recorded_indices, tournament.id) == recorded
    assert await store.write(record_game, tournament.id, result(0), NOW) is not commit
    assert await store.read(lambda session: session.scalar(text("PRAGMA integrity_check"))) == "ok"
    assert await store.read(lambda session: session.scalar(text("SELECT count(*) FROM seat"))) == 2


# --- the right to play -----------------------------------------------------------------------------------------------


def taken(store: Store, tournament_id: int) -> FileLock:
    lock = store.claim(tournament_id)
    assert isinstance(lock, FileLock), lock
    return lock


def test_one_plays_a_tournament_at_a_time(store: Store, path: Path) -> None:
    other = open_store(path.parent / "." / path.name)
    with taken(store, 1):
        assert other.claim(1) == Holder(os.getpid())
        with taken(other, 2):
            assert store.claim(2) == Holder(os.getpid())
    with taken(other, 1):
        assert store.claim(1) == Holder(os.getpid())
    other.close()


def test_nothing_is_left_beside_the_database(store: Store, path: Path) -> None:
    before = sorted(path.parent.iterdir())
    with taken(store, 1):
        assert path.with_name("arena.db-playing-1") in path.parent.iterdir()
    assert sorted(path.parent.iterdir()) == before


def test_a_lock_that_cannot_be_made_says_why(store: Store, path: Path) -> None:
    path.with_name("arena.db-playing-1").mkdir()
    with pytest.raises(StoreUnavailable, match=r"arena.db-playing-1, which marks .* is a directory; make its folder"):
        store.claim(1)


_PLAY = """
from rummyarena_server.store.store import open_store
with open_store(path).claim(1):
    print("playing", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_right_ends_with_its_process(store: Store, path: Path, number: signal.Signals) -> None:
    player = start(_PLAY, path)
    go(player)
    assert player.stdout is not None
    assert player.stdout.readline() == "playing\n"
    assert store.claim(1) == Holder(player.pid)

    player.send_signal(number)
    player.communicate(timeout=60)

    with taken(store, 1):
        pass


_COUNT = """
import time
from rummyarena_server.store.lock import FileLock, take
won = 0
while won < 200:
    lock = take(path)
    if isinstance(lock, FileLock):
        with lock:
            inside = path.with_name("inside")
            inside.touch(exist_ok=False)  # fails if two are inside
            inside.unlink()
            won += 1
print("won", flush=True)
"""


def test_two_processes_never_have_the_right_at_once(tmp_path: Path) -> None:
    players = [start(_COUNT, tmp_path / "lock") for _ in range(3)]
    for player in players:
        go(player)
    assert [player.communicate(timeout=60)[0] for player in players] == ["won\n"] * 3
