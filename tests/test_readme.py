"""Everything the README says to do is done here, and ends as it says."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from rummyarena_rules.cards import text_of
from rummyarena_rules.notation import parse_move
from rummyarena_rules.shoe import shuffled_shoe
from rummyarena_server.config import BotSettings, TournamentSettings

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
SECONDS = 600
RUMMYARENA = (sys.executable, str(ROOT / "scripts" / "rummyarena"))


def blocks(language: str, containing: str) -> list[str]:
    """The code blocks of the README in a language that contain a text."""
    return [text for text in re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL) if containing in text]


def block(language: str, containing: str) -> str:
    (found,) = blocks(language, containing)
    return found


def command(containing: str) -> list[str]:
    """A command of the README, to be run in another folder."""
    (line,) = block("sh", containing).splitlines()
    first, *rest = shlex.split(line)
    assert (ROOT / first).is_file()
    return [
        sys.executable,
        str(ROOT / first),
        *(str(ROOT / word) if (ROOT / word).is_file() else word for word in rest),
    ]


def run(words: list[str], folder: Path) -> str:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_demo_ends_in_the_tables_of_the_readme_and_standings_keep_them(tmp_path: Path) -> None:
    thai, liverpool = blocks("text", "random-legal")
    shown = run(command("rummyarena demo"), tmp_path)
    assert thai in shown
    assert shown.endswith(liverpool)
    assert (tmp_path / "rummyarena.db").is_file()
    kept = [line.split()[:3] for line in run([*RUMMYARENA, "standings"], tmp_path).splitlines()]
    assert kept[3:8] == [line.split()[:3] for line in liverpool.splitlines()[1:]]
    assert kept[10:15] == [line.split()[:3] for line in thai.splitlines()[1:]]
    # and what it says to look at afterwards is there
    assert 'tournament show "demo of thai"' in README
    assert "1.0.0" in run([*RUMMYARENA, "tournament", "show", "demo of thai"], tmp_path)
    assert "`replay 1.0.0`" in README
    assert "end of the deal" in run([*RUMMYARENA, "replay", "1.0.0"], tmp_path)
    run(command("rummyarena verify"), tmp_path)  # ends with 1 if anything is wrong


def test_a_game_can_be_looked_on_at(tmp_path: Path) -> None:
    assert "end of the deal" in run(command("rummyarena play"), tmp_path)


def test_a_new_version_of_a_bot_is_tested(tmp_path: Path) -> None:
    assert "Accepted: the new bot is better than its base." in run(command("rummyarena regress"), tmp_path)


def test_the_command_that_runs_the_tests_runs_tests(tmp_path: Path) -> None:
    words = command("scripts/test")
    assert "9 passed" in run([*words, "-q", "-p", "no:cacheprovider", str(ROOT / "tests/rules/test_shoe.py")], tmp_path)


def test_the_bot_has_ten_lines_and_plays_the_tournament(tmp_path: Path) -> None:
    bot, file = block("python", "run("), block("toml", "friday")
    assert len(bot.splitlines()) <= 12
    assert len([line for line in bot.splitlines() if line]) <= 10
    (tmp_path / "my_bot.py").write_text(bot)
    (tmp_path / "friday.toml").write_text(file)
    assert "run `./scripts/rummyarena tournament run friday.toml`" in README
    words = [*RUMMYARENA, "tournament", "run", "friday.toml"]
    for _ in range(2):
        shown = run(words, tmp_path).splitlines()
        assert sorted(" ".join(line.split()[1:-7]) for line in shown[-2:]) == ["also mine", "mine"]
        assert [line.split()[-1] for line in shown[-2:]] == ["0", "0"]  # no forfeits


def test_the_scenarios_pass(tmp_path: Path) -> None:
    assert run(command("rummyarena scenario"), tmp_path).splitlines()[-1] == "58 passed, 0 failed"


@pytest.mark.parametrize("page", ["README.md", *(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md"))])
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text()
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in link]
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []


def test_the_map_names_what_is_there() -> None:
    rows = [line.split("|")[1] for line in README.splitlines() if line.startswith("| `")]
    paths = [path for row in rows for path in re.findall("`([^`]+)`", row)]
    assert len(paths) > 10
    beside = ROOT / "server" / "rummyarena_server"
    assert [path for path in paths if not (ROOT / path).exists() and not (beside / path).exists()] == []


def test_the_page_on_tournament_files_names_every_key() -> None:
    page = (ROOT / "docs" / "tournament-files.md").read_text()
    keys = re.findall(r"^\| `(\w+)` ", page, re.MULTILINE)
    assert keys == sorted(TournamentSettings.model_fields, key=keys.index)
    assert all(f"`{key}`" in page for key in BotSettings.model_fields)
    shown = tomllib.loads(block("toml", "friday"))
    assert set(shown) <= set(keys)


@pytest.mark.parametrize("game", [path.stem for path in ROOT.glob("docs/games/*.md")])
def test_the_moves_on_the_page_of_a_game_are_moves_of_it(game: str) -> None:
    page = (ROOT / "docs" / "games" / f"{game}.md").read_text()
    moves = re.findall("`([a-z]+ [^`]+)`", page)
    assert len(moves) >= 5
    assert [text for text in moves if parse_move(game, text) is None] == []


def test_the_example_of_the_shuffle_is_true() -> None:
    page = (ROOT / "docs" / "shuffle.md").read_text()
    example = re.search(r"`00 01 02 .. 1f` gives deal 1 of `thai` a shoe that begins ([^.]+)\.", page)
    assert example
    assert text_of(shuffled_shoe(bytes(range(32)), 1)[:10]) == example[1]
