"""Finds Go, which the Go SDK and its tests alone need: where there is none, they are left out and the rest goes on."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from _setup import ROOT, SetupError

MODULE = ROOT / "sdk" / "go"
REQUIRED = "RUMMYARENA_REQUIRE_GO"
"""The variable that, set to anything, turns leaving out into failing, as in continuous integration."""

_ADVICE = "install Go 1.25 or newer"


def is_required() -> bool:
    """Returns whether nothing may be left out."""
    return bool(os.environ.get(REQUIRED))


def why_missing() -> str | None:
    """Returns what keeps Go from being used and how to mend it, as the end of a sentence; `None`: nothing does."""
    if shutil.which("go") is None:
        return f"there is no `go` on the PATH: {_ADVICE}"
    done = run_go("list", "-m")  # the least for which it reads go.mod, and with it the version that it asks for
    return None if done.returncode == 0 else f"this Go does not do ({' '.join(done.stderr.split())}): {_ADVICE}"


def run_go(*words: str, folder: Path = MODULE) -> subprocess.CompletedProcess[str]:
    """Runs `go` in a folder."""
    go = shutil.which("go") or "go"
    return subprocess.run([go, *words], cwd=folder, capture_output=True, text=True, check=False)


def build_generators(folder: Path) -> None:
    """Builds the plug-ins of protoc that sdk/go/go.mod pins into a folder; raises SetupError where that fails."""
    done = run_go("build", "-o", f"{folder}{os.sep}", "tool")
    if done.returncode:
        raise SetupError(
            f"{done.stderr.strip()}\nThe generators that sdk/go/go.mod names could not be built (the first time, they "
            "are downloaded): repair what is said above, then run this again."
        )
