"""docs/first-bot.md, followed literally: its bot is written in thirty lines, and beats `random-legal`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = (ROOT / "docs" / "first-bot.md").read_text()
SECONDS: Final = 600


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def run(line: str, folder: Path) -> str:
    """Runs a command of the page in another folder, which has the bot."""
    script, *words = line.replace('"', "").split()
    command = [sys.executable, str(ROOT / script), *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_evening_ends_with_a_bot_that_beats_random(tmp_path: Path) -> None:
    watch, look, play = (text.strip() for text in blocks("sh"))
    first, better = blocks("python")
    (file,) = blocks("toml")
    (tmp_path / "sample_bots" / "python").mkdir(parents=True)
    (tmp_path / "sample_bots" / "python" / "random_legal.py").write_text(
        (ROOT / "sample_bots" / "python" / "random_legal.py").read_text()
    )

    assert "end of the deal" in run(watch, tmp_path)

    (tmp_path / "my_bot.py").write_text(first)
    shown = run(look, tmp_path)
    assert "seat 1 draws ?" in shown
    assert "seat 0 draws ?" not in shown

    assert len(better.splitlines()) <= 30
    (tmp_path / "my_bot.py").write_text(better)
    (tmp_path / "evening.toml").write_text(file)
    best, other = run(play, tmp_path).splitlines()[-2:]
    assert best.split()[1] == "evening"
    assert int(best.split()[2]) - int(other.split()[2]) > 250
