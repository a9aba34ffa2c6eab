"""Generates the code of the SDKs from the .proto files and compares it with what is committed."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from _go import MODULE, build_generators, is_required, why_missing
from _setup import GENERATE, ROOT, SetupError, prepare, python_of

PYTHON_MADE = "*_pb2*.py*"
GO_MADE = "*.pb.go"

Generated = dict[Path, bytes]  # by path relative to the output folder


def main(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="generate", description="Generates the SDKs' code from proto/.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 where a file is not fresh")
    check: bool = parser.parse_args(arguments).check
    try:
        changes = _all_changes(ROOT / "proto")
    except SetupError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if not check:
        write(changes, ROOT)
    for path, content in sorted(changes.items()):
        sys.stdout.write(f"{'delete' if content is None else 'write'} {path}\n")
    if check and changes:
        sys.stderr.write("The generated code does not match proto/: run scripts/generate and commit what it writes.\n")
        return 1
    return 0


def _all_changes(proto: Path) -> dict[Path, bytes | None]:
    """Returns what differs in all SDKs, by path relative to the project's root."""
    environment = prepare(GENERATE)
    python = ROOT / "sdk" / "python"
    changes = _below(python, differences(generate(proto, environment), python))
    missing = why_missing()
    if missing is None:
        return changes | _below(MODULE, differences(generate_go(proto, environment), MODULE, GO_MADE))
    if is_required():
        raise SetupError(f"The generated code of sdk/go is not looked at, for {missing}.")
    sys.stderr.write(f"Left out: the generated code of sdk/go, for {missing}.\n")
    return changes


def _below(output: Path, changes: dict[Path, bytes | None]) -> dict[Path, bytes | None]:
    return {(output / path).relative_to(ROOT): content for path, content in changes.items()}


def generate(proto: Path, environment: Path) -> Generated:
    """Returns the Python code of every .proto file below a folder, made by the generators of an environment.

    Raises SetupError with the compiler's words where a file is not valid.
    """
    files = _contract(proto)
    services = [file for file in files if re.search(r"^service\s", file.read_text(encoding="utf-8"), re.MULTILINE)]
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder)
        _protoc(environment, proto, files, [f"--python_out={output}", f"--mypy_out={output}"])
        if services:  # other files would get an empty module of stubs
            _protoc(environment, proto, services, [f"--grpc_python_out={output}", f"--mypy_grpc_out={output}"])
        made = {path.relative_to(output): path.read_bytes() for path in output.rglob("*.py*") if path.is_file()}
    return made | {path.parent / "__init__.py": b"" for path in made}


def generate_go(proto: Path, environment: Path) -> Generated:
    """Returns the Go code of every .proto file below a folder; raises SetupError like `generate`.

    A file in rummyarena/v1 becomes part of the package rummyarena/v1 of the module rummyarena, whose root is sdk/go.
    """
    files = _contract(proto)
    with tempfile.TemporaryDirectory() as folder:
        plugins, output = Path(folder, "plugins"), Path(folder, "output")
        plugins.mkdir()
        output.mkdir()
        build_generators(plugins)
        for name in ("go", "go-grpc"):
            plugin = plugins / f"protoc-gen-{name}"
            options = [f"--{name}_opt={option}" for option in _go_options(proto, files)]
            _protoc(environment, proto, files, [f"--plugin={plugin}", f"--{name}_out={output}", *options])
        return {path.relative_to(output): path.read_bytes() for path in output.rglob(GO_MADE)}


def _go_options(proto: Path, files: Sequence[Path]) -> list[str]:
    """Returns which package each file belongs to: the contract itself names no package of Go."""
    packages = {file.relative_to(proto): file.relative_to(proto).parent for file in files}
    (module,) = {package.parts[0] for package in packages.values()}
    return [f"module={module}", *(f"M{file.as_posix()}={package.as_posix()}" for file, package in packages.items())]


def differences(generated: Generated, output: Path, made: str = PYTHON_MADE) -> dict[Path, bytes | None]:
    """Returns what must be written to make an output folder fresh, and with None what must be deleted from it.

    `made`: the pattern of the names that generated files have.
    """
    changes: dict[Path, bytes | None] = {
        path: content for path, content in generated.items() if _content(output / path) != content
    }
    for folder in {path.parent for path in generated}:
        stale = {path.relative_to(output) for path in (output / folder).glob(made)} - generated.keys()
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


def _contract(proto: Path) -> list[Path]:
    files = sorted(proto.rglob("*.proto"))
    if not files:
        raise SetupError(f"There is no .proto file below {proto}: restore it from the repository.")
    return files


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
