"""The golden games are played today as they were recorded; scripts/record_golden records them anew."""

from __future__ import annotations

import pytest

from tests.golden.games import FOLDER, GAMES, record


@pytest.mark.parametrize("name", GAMES)
def test_a_golden_game_is_what_it_was(name: str) -> None:
    assert record(GAMES[name]) == (FOLDER / f"{name}.txt").read_text()


def test_every_recorded_game_is_played() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} == set(GAMES)
