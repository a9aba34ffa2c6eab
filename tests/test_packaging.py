"""Tests of how the project is packaged and how its parts may depend on each other."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
SERVER = ROOT / "server"
SDK = ROOT / "sdk" / "python"
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-proto.lock")

# The rooms of the server by height: a module may import its own room and lower ones.
HEIGHTS = {
    "rummyarena_rules": 0,
    "config": 1,
    "wire": 2,
    "referee": 2,
    "rpc": 3,
    "hosting": 3,
    "store": 3,
    "tournament": 4,
    "app": 5,
    "cli": 6,
    "__main__": 7,
}
# Rooms that know nothing of gRPC and protobuf.
SPEAK_RULES = ("config", "referee", "hosting", "store", "tournament")


def project(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text())


def pins(lock: str) -> dict[str, str]:
    found = re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / lock).read_text(), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


# Lock files


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_host_and_no_place(lock: str) -> None:
    text = (ROOT / lock).read_text()

    assert "://" not in text
    assert re.findall(r"^\s*-(?!-hash=sha256:[0-9a-f]{64}\b).*", text, re.MULTILINE) == []


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_hashes(lock: str) -> None:
    entries = re.split(r"^(?=\w)", (ROOT / lock).read_text(), flags=re.MULTILINE)[1:]

    assert len(entries) == len(pins(lock)) > 0
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


def required(lock: str) -> list[str]:
    content = project(ROOT)
    runtime: list[str] = content["project"]["dependencies"] + content["build-system"]["requires"]
    wanted: dict[str, list[str]] = {
        "requirements.lock": runtime,
        "requirements-dev.lock": runtime + content["project"]["optional-dependencies"]["dev"],
        "requirements-proto.lock": content["dependency-groups"]["generate"],
    }
    return wanted[lock]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_what_the_project_asks_for(lock: str) -> None:
    pinned = pins(lock)
    requirements = [Requirement(text) for text in required(lock)]

    assert requirements != []
    for requirement in requirements:
        version = pinned.get(canonicalize_name(requirement.name))
        assert version is not None, f"{lock} lacks {requirement}: run scripts/lock"
        assert requirement.specifier.contains(version), f"{lock} has {version} for {requirement}: run scripts/lock"


def test_developers_run_the_versions_that_users_run() -> None:
    assert pins("requirements.lock").items() <= pins("requirements-dev.lock").items()


# Distributions


def test_the_light_distribution_asks_for_nothing_but_the_runtime_of_generated_code() -> None:
    light = {Requirement(text).name: Requirement(text) for text in project(SDK)["project"]["dependencies"]}
    full = {Requirement(text).name: Requirement(text) for text in project(ROOT)["project"]["dependencies"]}

    assert light.keys() == {"grpcio", "protobuf"}
    assert light == {name: full[name] for name in light}


@pytest.mark.parametrize("key", ["version", "requires-python", "license", "authors"])
def test_both_distributions_agree(key: str) -> None:
    assert project(SDK)["project"][key] == project(ROOT)["project"][key]


def test_both_distributions_carry_the_licence() -> None:
    licence = (ROOT / "LICENSE").read_text()

    assert licence.startswith("MIT License\n\nCopyright (c) 2026 The Rummy Arena developers\n")
    assert (SDK / "LICENSE").read_text() == licence


def test_every_package_is_marked_as_typed_and_distributed() -> None:
    packages = project(ROOT)["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]

    assert [str(path.parent.relative_to(ROOT)) for path in sorted(ROOT.glob("s*/**/py.typed"))] == sorted(packages)


def test_the_light_distribution_holds_the_sdk_alone(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=SDK,
        check=True,
        capture_output=True,
    )

    (wheel,) = tmp_path.glob("rummyarena_sdk-*-py3-none-any.whl")
    listing = subprocess.check_output([sys.executable, "-m", "zipfile", "-l", str(wheel)], text=True)
    files = [line.split()[0] for line in listing.splitlines()[1:]]
    assert {file.split("/")[0].split("-")[0] for file in files} == {"rummyarena", "rummyarena_sdk"}
    assert "rummyarena/py.typed" in files
    assert "rummyarena/v1/play_pb2.py" in files


def test_the_generated_code_is_fresh() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "generate", "--check"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr


# Who may import whom


def name_of(path: Path, base: Path) -> str:
    parts = path.relative_to(base).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules(base: Path, package: str) -> dict[str, Path]:
    return {name_of(path, base): path for path in sorted((base / package).rglob("*.py"))}


def imports(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """Yields the full name of every module that a file imports, wherever in the file; of known ones the submodule."""
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute here"
            assert node.module is not None
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                yield submodule if submodule in known else node.module


RULES_MODULES = modules(SERVER, "rummyarena_rules")
SERVER_MODULES = modules(SERVER, "rummyarena_server")
SDK_MODULES = modules(SDK, "rummyarena")
ALL_MODULES = RULES_MODULES | SERVER_MODULES | SDK_MODULES


def room(module: str) -> str:
    """Returns the room of a module of ours: the rules, the SDK, the server's own package, or a part of the server."""
    package, _, rest = module.partition(".")
    return rest.split(".")[0] if package == "rummyarena_server" and rest else package


def test_the_imports_of_this_project_are_found() -> None:
    assert RULES_MODULES.keys() >= {"rummyarena_rules", "rummyarena_rules.cards", "rummyarena_rules.thai.check"}
    assert SERVER_MODULES.keys() >= {"rummyarena_server", "rummyarena_server.wire"}
    assert SDK_MODULES.keys() >= {"rummyarena", "rummyarena.v1.play_pb2"}
    assert "rummyarena_rules.cards" in imports(RULES_MODULES["rummyarena_rules.moves"], ALL_MODULES)


def test_the_rules_import_the_standard_library_and_themselves_only() -> None:
    allowed = sys.stdlib_module_names | {"rummyarena_rules"}

    strangers = [
        f"{module} imports {imported}"
        for module, path in RULES_MODULES.items()
        for imported in imports(path, ALL_MODULES)
        if imported.split(".")[0] not in allowed
    ]

    assert strangers == []


@pytest.mark.parametrize("forbidden", ["asyncio", "datetime", "os", "random", "secrets", "socket", "time"])
def test_the_rules_have_no_clock_no_chance_and_no_outside(forbidden: str) -> None:
    users = [
        module
        for module, path in RULES_MODULES.items()
        if forbidden in {imported.split(".")[0] for imported in imports(path, ALL_MODULES)}
    ]

    assert users == []


def test_imports_of_the_server_only_go_down() -> None:
    climbs = [
        f"{module} imports {imported}"
        for module, path in SERVER_MODULES.items()
        for imported in imports(path, ALL_MODULES)
        if imported in RULES_MODULES | SERVER_MODULES and not may_import(room(module), room(imported))
    ]

    assert climbs == []


def may_import(upper: str, lower: str) -> bool:
    if "rummyarena_server" in (upper, lower):  # the package itself: importable by all, imports none of its rooms
        return upper != "rummyarena_server"
    unknown = {upper, lower} - HEIGHTS.keys()
    assert not unknown, f"give {unknown} a place in HEIGHTS"
    return upper == lower or HEIGHTS[upper] > HEIGHTS[lower]


@pytest.mark.parametrize(
    ("upper", "lower"),
    [
        ("referee", "rpc"),
        ("store", "tournament"),
        ("rpc", "store"),
        ("tournament", "app"),
        ("rummyarena_rules", "wire"),
    ],
)
def test_an_import_that_climbs_would_be_found(upper: str, lower: str) -> None:
    assert not may_import(upper, lower)


@pytest.mark.parametrize("part", SPEAK_RULES)
def test_only_the_edges_know_grpc_and_protobuf(part: str) -> None:
    rooms = {module: path for module, path in SERVER_MODULES.items() if room(module) == part}
    assert rooms != {}

    speakers = [
        f"{module} imports {imported}"
        for module, path in rooms.items()
        for imported in imports(path, ALL_MODULES)
        if imported.split(".")[0] in ("grpc", "grpc_health", "rummyarena") or imported.startswith("google.protobuf")
    ]

    assert speakers == []


def test_the_sdk_imports_neither_server_nor_rules() -> None:
    strangers = [
        f"{module} imports {imported}"
        for module, path in SDK_MODULES.items()
        for imported in imports(path, ALL_MODULES)
        if imported.split(".")[0] not in sys.stdlib_module_names | {"rummyarena", "grpc", "google"}
    ]

    assert strangers == []


@pytest.mark.parametrize("known", [RULES_MODULES, SERVER_MODULES, SDK_MODULES], ids=["rules", "server", "sdk"])
def test_there_is_no_cycle_of_imports(known: dict[str, Path]) -> None:
    graph = {
        module: {imported for imported in imports(path, known) if imported in known and imported != module}
        for module, path in known.items()
    }

    TopologicalSorter(graph).prepare()  # raises CycleError, which names the cycle
