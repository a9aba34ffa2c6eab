"""The sample bot in Go, a program of its own, in games with Python bots and as its users meet it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.end_to_end.arena import Played, games, play, write_sample, write_tournament


def played_with(first: Sequence[str], ruleset: str, folder: Path) -> list[Played]:
    """Plays a bot against Python bots at the smallest tables of a game, several games at once."""
    random = write_sample(folder, "random_legal")
    others = {"random": random} | ({"also random": random} if ruleset == "liverpool" else {})
    file = write_tournament(folder, {"first": first, **others}, ruleset=ruleset, cycles=2)
    if ruleset == "liverpool":
        file.write_text(file.read_text().replace("max_deals = 1\n", ""))  # an option of thai
    play(folder)
    return games(folder)


@pytest.mark.parametrize(("ruleset", "number"), [("thai", 4), ("liverpool", 6)])
def test_it_plays_the_very_games_that_its_twin_in_python_plays(
    ruleset: str, number: int, first_candidate: Sequence[str], tmp_path: Path
) -> None:
    folders = (tmp_path / "in_go", tmp_path / "in_python")
    for folder in folders:
        folder.mkdir()

    in_go = played_with(first_candidate, ruleset, folders[0])
    in_python = played_with(write_sample(folders[1], "first_candidate"), ruleset, folders[1])

    assert len(in_go) == number
    assert {one for game in in_go for one in (*game.forfeits, *game.faults)} == {None, 0}
    assert [game.game_text for game in in_go] == [game.game_text for game in in_python]


def test_without_a_server_it_says_so_in_a_sentence(first_candidate: Sequence[str]) -> None:
    done = subprocess.run(first_candidate, env={}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith(" no address: pass --address HOST:PORT or set RUMMYARENA_ADDRESS\n")
