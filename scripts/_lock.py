"""Makes the three lock files with uv, which nothing else needs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence

from _setup import DEVELOP, GENERATE, ROOT, RUN

HEADER = "# Made by scripts/lock from pyproject.toml: change that, then run scripts/lock.\n"
# No index and no folder of packages is named in the files: each user's own pip settings choose them.
COMPILE = (
    "uv",
    "pip",
    "compile",
    "--universal",
    "--python-version=3.11",
    "--generate-hashes",
    "--no-header",
    "--fork-strategy=fewest",  # one version of a package for all versions of Python
)


def main(arguments: Sequence[str]) -> int:
    """Makes the lock files; returns the exit code."""
    if shutil.which("uv") is None:
        sys.stderr.write("uv is missing: install it (pip install uv), then run this again.\n")
        return 1
    # The project is installed without build isolation, so what builds it is locked as well.
    build = "\n".join(tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"])
    return (
        _lock(RUN.lock, ["pyproject.toml", "-", *arguments], build)
        # The development environment has the very versions that users run.
        or _lock(DEVELOP.lock, ["pyproject.toml", "-", "--extra=dev", f"--constraint={RUN.lock}", *arguments], build)
        or _lock(GENERATE.lock, ["--group=generate", *arguments], "")
    )


def _lock(file: str, arguments: Sequence[str], standard_input: str) -> int:
    # UV_SYSTEM_CERTS: uv trusts its own list of certificates otherwise, which fails behind an inspecting proxy.
    done = subprocess.run(
        [*COMPILE, "--quiet", f"--output-file={file}", *arguments],
        cwd=ROOT,
        env={"UV_SYSTEM_CERTS": "1", **os.environ},
        input=standard_input,
        stdout=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        path = ROOT / file
        path.write_text(HEADER + path.read_text().removeprefix(HEADER))
    return done.returncode
