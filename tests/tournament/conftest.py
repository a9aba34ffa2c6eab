"""A store for the tests of tournaments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rummyarena_server.store.store import Store, open_store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "arena.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = open_store(path, lock_seconds=0.05)
    yield store
    store.close()
