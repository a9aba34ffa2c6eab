"""Generates Python code from the .proto files and compares it with what is committed."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from _setup import GENERATE, ROOT, SetupError, prepare, python_of

Generated = dict[Path, bytes]  # by path relative to the output folder


def main(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="generate", description="Generates the SDK's Python code from proto/.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 where a file is not fresh")
    check: bool = parser.parse_args(arguments).check
    proto, output = ROOT / "proto", ROOT / "sdk" / "python"
    try:
        changes = differences(generate(proto, prepare(GENERATE)), output)
    except SetupError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if not check:
        write(changes, output)
    for path, content in sorted(changes.items()):
        sys.stdout.write(f"{'delete' if content is None else 'write'} {(output / path).relative_to(ROOT)}\n")
    if check and changes:
        sys.stderr.write("The generated code does not match proto/: run scripts/generate and commit what it writes.\n")
        return 1
    return 0


def generate(proto: Path, environment: Path) -> Generated:
    """Returns the code of every .proto file below a folder, made by the generators of an environment.

    Raises SetupError with the compiler's words where a file is not valid.
    """
    files = sorted(proto.rglob("*.proto"))
    if not files:
        raise SetupError(f"There is no .proto file below {proto}: restore it from the repository.")
    services = [file for file in files if re.search(r"^service\s", file.read_text(encoding="utf-8"), re.MULTILINE)]
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder)
        _protoc(environment, proto, files, [f"--python_out={output}", f"--mypy_out={output}"])
        if services:  # other files would get an empty module of stubs
            _protoc(environment, proto, services, [f"--grpc_python_out={output}", f"--mypy_grpc_out={output}"])
        made = {path.relative_to(output): path.read_bytes() for path in output.rglob("*.py*") if path.is_file()}
    return made | {path.parent / "__init__.py": b"" for path in made}


def differences(generated: Generated, output: Path) -> dict[Path, bytes | None]:
    """Returns what must be written to make an output folder fresh, and with None what must be deleted from it."""
    changes: dict[Path, bytes | None] = {
        path: content for path, content in generated.items() if _content(output / path) != content
    }
    for folder in {path.parent for path in generated}:
        stale = {path.relative_to(output) for path in (output / folder).glob("*_pb2*.py*")} - generated.keys()
        changes |= dict.fromkeys(stale)
    return changes


def write(changes: dict[Path, bytes | None], output: Path) -> None:
    """Brings an output folder up to date."""
    for path, content in changes.items():
        target = output / path
        if content is None:
            target.unlink()
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _protoc(environment: Path, proto: Path, files: Sequence[Path], outputs: Sequence[str]) -> None:
    plugins = [f"--plugin={name}={environment / 'bin' / name}" for name in ("protoc-gen-mypy", "protoc-gen-mypy_grpc")]
    command = [str(python_of(environment)), "-I", "-m", "grpc_tools.protoc", f"-I{proto}", *plugins, *outputs]
    done = subprocess.run(
        [*command, *map(str, files)], env={**os.environ, "PYTHONPATH": ""}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SetupError(f"{done.stderr.strip()}\nprotoc refuses the files above: correct them, then run this again.")
