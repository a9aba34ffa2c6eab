"""Without Go what concerns it is left out and this is said, unless nothing may be left out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from _go import REQUIRED, why_missing
from tests.go.conftest import ROOT

THESE = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
GENERATE = ["scripts/generate", "--check"]
NO_GO = "there is no `go` on the PATH: install Go 1.25 or newer."


def without_go(words: Sequence[str], **changes: str) -> subprocess.CompletedProcess[str]:
    """Runs Python in the project with nothing on its PATH."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PATH", REQUIRED)}
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=environment | {"PATH": os.devnull} | changes,
        capture_output=True,
        text=True,
        check=False,
    )


def test_its_tests_are_left_out() -> None:
    done = without_go([*THESE, "tests/go", "tests/rules/test_shoe.py"])
    assert done.returncode == 0, done.stdout
    assert f"Left out: the tests of the Go SDK, for {NO_GO}\n" in done.stdout
    assert re.search(r"^[1-9]\d* passed", done.stdout, re.MULTILINE)  # those of the other file


def test_its_tests_fail_where_nothing_may_be_left_out() -> None:
    done = without_go([*THESE, "tests/go/test_sdk.py", "-k", "own_tests"], **{REQUIRED: "1"})
    assert done.returncode == 1
    assert f"Go is needed here, but {NO_GO}" in done.stdout


def test_its_generated_code_is_left_out() -> None:
    done = without_go(GENERATE)
    assert done.stderr.startswith(f"Left out: the generated code of sdk/go, for {NO_GO}\n")


def test_its_generated_code_is_missed_where_nothing_may_be_left_out() -> None:
    done = without_go(GENERATE, **{REQUIRED: "1"})
    assert done.returncode == 1
    assert done.stderr == f"The generated code of sdk/go is not looked at, for {NO_GO}\n"


def test_a_go_that_is_too_old_is_as_good_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "go"
    old.write_text("#!/bin/sh\necho 'go: go.mod requires go >= 1.25.0 (running go 1.19)' >&2\nexit 1\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    assert why_missing() == (
        "this Go does not do (go: go.mod requires go >= 1.25.0 (running go 1.19)): install Go 1.25 or newer"
    )
