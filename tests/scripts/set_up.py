"""Sets an environment up as a process of its own, step by step, for test_setup.py: `set_up.py ROOT STEPS`.

It says "installing", waits for a line, installs next to nothing, says "ready" and the directory, and waits for the end
of its input. With STEPS = "child", a child process that reads ROOT/pipe does the waiting.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import _setup


def install(environment: _setup.Environment, root: Path, directory: Path, lock: int) -> None:
    """Stands in for venv and pip: leaves a half-made environment behind if it is killed while it waits."""
    directory.mkdir()
    (directory / "half").touch()
    print("installing", flush=True)
    if sys.argv[2] == "child":
        _setup._run([sys.executable, "-c", f"open({str(root / 'pipe')!r}).read()"], lock)
    else:
        sys.stdin.readline()
    (directory / "half").unlink()
    (directory / "bin").mkdir()
    (directory / "bin" / "python").symlink_to(sys.executable)


if __name__ == "__main__":
    print("ready", _setup.prepare(_setup.RUN, Path(sys.argv[1]), install), flush=True)
    sys.stdin.read()
