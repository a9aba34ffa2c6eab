"""The tournament "Friday" on disk, to be changed, handed on and taken in."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from rummyarena_rules.thai import THAI
from rummyarena_server.cli.exports import export
from rummyarena_server.referee.record_files import Form
from rummyarena_server.store.store import open_store
from tests.records.example import Leaving
from tests.referee.helpers import randomly
from tests.tournament.events import break_off, open_event, settings
from tests.tournament.events import play as play_event

RECORDS = Path(__file__).resolve().parents[1] / "records"
DIGEST = "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd"  # of SECRET


def played(path: Path, *, broken_off: int | None = None, **changes: Any) -> str:
    """Plays the tournament "Friday" of two bots and returns its database; `broken_off`: in the middle of this game."""

    async def in_virtual_time() -> None:
        store = open_store(path)
        event = await open_event(store, settings(**{"bots": 2, "cycles": 2} | changes))
        if broken_off is not None:
            await break_off(event, store, broken_off)
        else:
            await play_event(event, store, *[randomly(THAI)] * (len(event.settings.bots) - 1), Leaving(9))
        store.close()

    trio.run(in_virtual_time, clock=trio.testing.MockClock(autojump_threshold=0))
    return str(path)


def change(database: str, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        assert connection.execute(statement, values).rowcount


def change_record(database: str, edit: Callable[[dict[str, Any]], object]) -> None:
    """Changes the record of the first game."""
    with closing(sqlite3.connect(database)) as connection, connection:
        (content,) = connection.execute("SELECT content FROM record WHERE game_id = 1").fetchone()
        document = json.loads(zlib.decompress(content))
        edit(document)
        text = zlib.compress(json.dumps(document).encode())
        connection.execute("UPDATE record SET content = ? WHERE game_id = 1", (text,))


def as_json(
    capsys: pytest.CaptureFixture[str], command: Callable[..., int], *words: Any, **flags: Any
) -> tuple[int, Any]:
    capsys.readouterr()
    status = command(*words, as_json=True, **flags)
    return status, json.loads(capsys.readouterr().out)


def a_file(friday: str, tmp_path: Path, form: Form = "text") -> Path:
    path = tmp_path / f"friday.{form}"
    assert export("Friday", "records", as_format=form, out=path, db=friday) == 0
    return path
