"""What docs/bot-authors.md says of the SDK is so: nothing is left out, and its programs run."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rummyarena
from rummyarena.v1 import play_pb2
from tests.sdk.dealt import asked, said
from tests.sdk.referee import HEARS, TOKEN, Referee, serving

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "bot-authors.md").read_text(encoding="utf-8")
SURFACE = PAGE.partition("## The SDK for Python")[2].partition("\n## ")[0]
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)

OF_THE_PAGE_ABOVE = {"Answer", "Bot", "DecidingBot", "__version__"}
"""Names for annotations, which the page describes in words, and the version."""


def test_every_name_of_the_sdk_is_on_the_page() -> None:
    words = set(re.findall(r"\w+", SURFACE))
    assert set(rummyarena.__all__) - words <= OF_THE_PAGE_ABOVE


@pytest.mark.parametrize(
    "kind",
    [
        *(rummyarena.Decision, rummyarena.View, rummyarena.Game, rummyarena.Event, rummyarena.Outcome),
        *(rummyarena.ThaiFacts, rummyarena.LiverpoolFacts, rummyarena.Rejection),
    ],
)
def test_everything_that_a_bot_is_given_is_on_the_page(kind: type[object]) -> None:
    words = set(re.findall(r"\w+", SURFACE))
    told = {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}
    in_words = {"again", "details", "game_id", "decision_seconds", "bank_seconds", "increment_seconds"}
    assert told - words <= in_words


@pytest.mark.parametrize("program", PROGRAMS)
def test_its_programs_run(program: str, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(program, encoding="utf-8")
    welcome = play_pb2.PlayResponse(welcome=play_pb2.Welcome(server_version=rummyarena.__version__))
    ends = play_pb2.PlayResponse(updates=[play_pb2.GameUpdate(game_id="g", over=play_pb2.GameOver(ranks=[1, 2]))])
    referee = Referee((HEARS, welcome, said(asked("g", "1", first=True)), HEARS, ends))
    with serving(referee) as address:
        done = subprocess.run(
            [sys.executable, str(tmp_path / "bot.py"), "--address", address, f"--token={TOKEN}"],
            env=os.environ,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(referee.heard[1].answers[0].moves) == 1
