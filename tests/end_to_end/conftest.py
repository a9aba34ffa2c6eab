"""What several modules look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.arena import Ended, play, write_samples


@pytest.fixture(scope="session")
def friday(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    """A tournament of sample bots that was played without a break: its folder, and how it ended."""
    folder = tmp_path_factory.mktemp("friday")
    write_samples(folder)
    return folder, play(folder)
