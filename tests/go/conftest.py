"""Leaves these tests out where there is no Go, and says so; where nothing may be left out, they fail instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest

from _go import is_required, run_go, why_missing

Go: TypeAlias = Callable[..., str]

ROOT = Path(__file__).resolve().parents[2]
MISSING = why_missing()

collect_ignore_glob = ["test_*.py"] if MISSING and not is_required() else []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if collect_ignore_glob:
        terminalreporter.write_line(f"Left out: the tests of the Go SDK, for {MISSING}.", yellow=True)


def use_go(folder: str, *words: str) -> str:
    """Runs `go` in a folder of the project and returns what it prints; what it refuses is a failure."""
    done = run_go(*words, folder=ROOT / folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def go() -> Go:
    if MISSING:
        pytest.fail(f"Go is needed here, but {MISSING}.")
    return use_go


@pytest.fixture(scope="session")
def first_candidate(go: Go, tmp_path_factory: pytest.TempPathFactory) -> Sequence[str]:
    """The words that start the sample bot."""
    program = tmp_path_factory.mktemp("go") / "first_candidate"
    go("sample_bots/go", "build", "-o", str(program), "./first_candidate")
    return [str(program)]
