"""What a tournament file would play is told without anything being started."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rummyarena_server.cli.plan import plan

HEAD = 'name = "Friday"\n'


def told(path: Path, capsys: pytest.CaptureFixture[str], head: str, bots: int, challengers: int = 0) -> list[str]:
    """The lines about a file with these keys and so many bots, of which the first are challengers."""
    lines = [HEAD + head]
    for number in range(bots):
        lines += ["[[bots]]", f'name = "bot {number}"', 'command = "./not-there"']
        lines += ["challenger = true"] if number < challengers else []
    path.joinpath("friday.toml").write_text("\n".join(lines))
    assert plan(path / "friday.toml") == 0
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def in_json(path: Path, capsys: pytest.CaptureFixture[str], head: str, bots: int, challengers: int = 0) -> Any:
    told(path, capsys, head, bots, challengers)
    assert plan(path / "friday.toml", as_json=True) == 0
    return json.loads(capsys.readouterr().out)


def test_a_round_robin_is_told_with_its_first_games_and_its_balance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = told(tmp_path, capsys, "trusted = true", 3)
    why = "the file says that all bots are your own (trusted = true)"
    assert lines == [
        "Friday: round-robin, thai 1, 2 seats, 3 bots",
        "6 games: 3 deal groups of 2 games",
        f"The games of a deal group are played on the same deals: {why}.",
        "",
        "game  group  bots in the order of the seats",
        "   0      0  bot 0, bot 2",
        "   1      0  bot 2, bot 0",
        "   2      1  bot 2, bot 1",
        "   3      1  bot 1, bot 2",
        "   4      2  bot 1, bot 0",
        "   5      2  bot 0, bot 1",
        "",
        "How even all 6 games are:",
        "         meetings",
        "any two         2",
        "Everybody sits in every seat equally often.",
    ]
    assert [one.name for one in tmp_path.iterdir()] == ["friday.toml"]


def test_a_gauntlet_is_even_between_challengers_and_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = told(tmp_path, capsys, 'format = "gauntlet"\nseats = 3', 6, challengers=2)
    assert lines[0] == "Friday: gauntlet, thai 1, 3 seats, 6 bots, against all others: bot 0, bot 1"
    assert lines[1] == "36 games: 12 deal groups of 3 games"
    assert lines[2].startswith("The games of a deal group have deals of their own: a bot could carry the cards")
    assert lines[-4:] == [
        "                          meetings  follow each other",
        "a challenger and another         9             3 to 6",
        "two others                       6                  3",
        "Everybody sits in every seat equally often.",
    ]


@pytest.mark.parametrize(
    ("head", "length"),
    [
        ('format = "swiss"\nrounds = 3', "12 games in 3 rounds of 2 tables: 6 deal groups of 2 games"),
        ('format = "ladder"\nrounds = 3', "60 games in 3 rounds of 10 tables: 30 deal groups of 2 games"),
        ('format = "ladder"', "games without end, in waves of 20: 10 deal groups of 2 games"),
    ],
)
def test_of_rounds_the_first_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], head: str, length: str
) -> None:
    lines = told(tmp_path, capsys, head, 5)
    assert lines[1] == length
    assert lines[-1] == "Later rounds follow from the results."


def test_of_a_million_games_the_first_are_looked_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = in_json(tmp_path, capsys, "cycles = 1000000", 3)
    assert found["games"] == 6_000_000
    assert found["balance"]["games"] == 6
    lines = told(tmp_path, capsys, "cycles = 1000000", 3)
    assert "How even the first 6 games are:" in lines


def test_programs_are_told_the_same_and_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = in_json(tmp_path, capsys, 'format = "gauntlet"\ntrusted = true', 3, challengers=1)
    first = found.pop("first_games")
    assert first[0] == {"index": 0, "group": 0, "rotation": 0, "bots": ["bot 0", "bot 2"]}
    assert found == {
        "name": "Friday",
        "format": "gauntlet",
        "variant": "thai 1, 2 seats",
        "seats": 2,
        "bots": [{"name": f"bot {one}", "challenger": one == 0} for one in range(3)],
        "games": 4,
        "rounds": None,
        "tables_a_round": None,
        "deals": "shared",
        "why": "the file says that all bots are your own (trusted = true)",
        "balance": {
            "games": 4,
            "meetings": [[0, 2, 2], [2, 0, 0], [2, 0, 0]],
            "seats": [[2, 2], [1, 1], [1, 1]],
            "followed": [[0, 2, 2], [2, 0, 0], [2, 0, 0]],
        },
        "evenness": [
            {
                "who": "a challenger and another",
                "meetings": {"least": 2, "most": 2},
                "neighbours": {"least": 2, "most": 2},
            }
        ],
    }
    swiss = in_json(tmp_path, capsys, 'format = "swiss"\nrounds = 2\ndeals = "own"', 4)
    assert (swiss["rounds"], swiss["tables_a_round"], swiss["balance"], swiss["why"]) == (
        2,
        2,
        None,
        "the file says so",
    )
