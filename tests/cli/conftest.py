"""What the tests of the command line begin with."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.friday import played


@pytest.fixture(scope="session")
def friday_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(played(tmp_path_factory.mktemp("friday") / "arena.db"))


@pytest.fixture
def friday(friday_once: Path, tmp_path: Path) -> str:
    """A database with a tournament of four games, in which bot 1 exits in the middle of each."""
    with closing(sqlite3.connect(friday_once)) as one, closing(sqlite3.connect(tmp_path / "arena.db")) as copy:
        one.backup(copy)
    return str(tmp_path / "arena.db")
