"""Tests of the set-up: nothing is downloaded, processes are real."""

from __future__ import annotations

import ast
import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import _python
import _setup
from _setup import RUN, Environment, SetupError, install_locked, prepare, python_of

SCRIPTS = Path(_setup.__file__).parent
SET_UP = Path(__file__).with_name("set_up.py")
EMPTY = Environment("empty", "requirements.lock", with_project=False)

Process = subprocess.Popen[str]
Start = Callable[..., Process]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def root(tmp_path: Path, cache: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "requirements.lock").write_text("")
    (root / "pyproject.toml").write_text('[project]\nname = "example"\n')
    return root


@pytest.fixture
def start(root: Path) -> Iterator[Start]:
    started: list[Process] = []

    def start(steps: str = "") -> Process:
        process = subprocess.Popen(
            [sys.executable, str(SET_UP), str(root), steps],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def says(process: Process) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: Process) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def set_up(start: Start) -> Path:
    """Lets a process set up an environment and end; returns the directory."""
    process = start()
    output, _ = process.communicate("\n")
    assert process.returncode == 0
    return Path(output.split()[-1])


def install_nothing(environment: Environment, root: Path, directory: Path, lock: int) -> None:
    (directory / "bin").mkdir(parents=True)
    python_of(directory).symlink_to(sys.executable)


def install_never(environment: Environment, root: Path, directory: Path, lock: int) -> None:
    pytest.fail("a finished environment was made again")


# The interpreter that starts the scripts


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 6, 15), (3, 10, 13)])
def test_an_old_python_is_refused_in_one_sentence(version: tuple[int, ...]) -> None:
    with pytest.raises(SystemExit, match=r"needs Python 3\.11 or newer and this is Python (2\.7|3\.6|3\.10)\.\d+: "):
        _python.require(version)


def test_a_python_that_is_new_enough_is_not_refused() -> None:
    _python.require((3, 11, 0), "posix")
    _python.require((4, 0), "posix")


def test_windows_is_told_what_to_use_instead() -> None:
    with pytest.raises(SystemExit, match="Windows Subsystem for Linux"):
        _python.require((3, 13, 0), "nt")


@pytest.mark.parametrize("name", ["_python.py", "generate", "lock", "rummyarena", "test"])
def test_an_old_python_can_read_what_refuses_it(name: str) -> None:
    tree = ast.parse((SCRIPTS / name).read_text(), feature_version=(3, 7))

    for node in ast.walk(tree):
        assert not isinstance(node, ast.JoinedStr | ast.AnnAssign), f"{name}:{node.lineno} needs Python 3.6"
        assert not (isinstance(node, ast.arg) and node.annotation), f"{name}: Python 2 knows no annotations"
        assert not (isinstance(node, ast.ImportFrom) and node.module == "__future__")
    at_once = {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    assert at_once == {"os", "sys"}


# First use, second use


def test_the_first_use_sets_up_and_the_second_does_not(root: Path) -> None:
    first = prepare(RUN, root, install_nothing)

    assert first.parent == root / ".venv"
    assert prepare(RUN, root, install_never) == first


def test_each_kind_of_environment_has_a_directory_of_its_own(root: Path) -> None:
    assert prepare(RUN, root, install_nothing) != prepare(EMPTY, root, install_nothing)


@pytest.mark.parametrize(
    ("file", "text"),
    [("requirements.lock", "# changed"), ("pyproject.toml", '[project]\nname = "example"\nversion = "2"\n')],
)
def test_a_changed_lock_or_project_is_set_up_anew(root: Path, file: str, text: str) -> None:
    first = prepare(RUN, root, install_nothing)
    (root / file).write_text(text)

    assert prepare(RUN, root, install_nothing) != first


def test_settings_of_linters_are_no_reason_to_set_up_anew(root: Path) -> None:
    first = prepare(RUN, root, install_nothing)
    with (root / "pyproject.toml").open("a") as file:
        file.write("[tool.ruff]\nline-length = 100\n")

    assert prepare(RUN, root, install_never) == first


def test_a_moved_project_is_set_up_anew(root: Path) -> None:
    prepare(RUN, root, install_nothing)
    moved = root.rename(root.with_name("moved"))

    directory = prepare(RUN, moved, install_nothing)

    assert [path for path in (moved / ".venv").iterdir() if path.is_dir() and path != directory] != []
    assert directory.parent == moved / ".venv"


def test_an_environment_whose_python_is_gone_is_set_up_anew(root: Path) -> None:
    python = python_of(prepare(RUN, root, install_nothing))
    python.unlink()
    python.symlink_to("/nowhere/python3")

    prepare(RUN, root, install_nothing)

    assert python.exists()


@pytest.mark.parametrize("file", ["requirements.lock", "pyproject.toml"])
def test_a_missing_file_is_named(root: Path, file: str) -> None:
    (root / file).unlink()

    with pytest.raises(SetupError, match=f"Cannot read .*{file} .*: restore it"):
        prepare(RUN, root, install_nothing)


def test_a_broken_pyproject_is_named(root: Path) -> None:
    (root / "pyproject.toml").write_text("[project")

    with pytest.raises(SetupError, match=r"pyproject\.toml is no valid TOML"):
        prepare(RUN, root, install_nothing)


# Several set-ups, and killed ones


def test_a_set_up_that_was_killed_half_way_is_made_again(start: Start) -> None:
    killed = start()
    assert says(killed) == "installing"
    killed.kill()
    killed.wait()

    directory = set_up(start)

    assert python_of(directory).exists()
    assert not (directory / "half").exists()


def test_a_second_set_up_says_that_it_waits_and_uses_what_the_first_made(start: Start) -> None:
    first = start()
    assert says(first) == "installing"
    second = start()
    assert second.stderr is not None
    assert "waiting" in second.stderr.readline()

    tell(first)

    assert says(first).startswith("ready")
    assert says(second).startswith("ready")


def test_a_second_set_up_takes_over_where_the_first_is_killed(start: Start) -> None:
    first = start()
    assert says(first) == "installing"
    second = start()
    assert second.stderr is not None
    assert "waiting" in second.stderr.readline()

    first.kill()

    assert says(second) == "installing"
    tell(second)
    assert says(second).startswith("ready")


def test_the_lock_outlives_a_killed_set_up_while_its_child_still_writes(root: Path, start: Start) -> None:
    pipe = root / "pipe"
    os.mkfifo(pipe)
    killed = start("child")
    assert says(killed) == "installing"
    with pipe.open("w"):  # opened: the child reads
        killed.kill()
        killed.wait()
        (lock,) = (root / ".venv").glob("*.lock")
        with lock.open("w") as descriptor, pytest.raises(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with lock.open("w") as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # free as soon as the child has ended


def test_an_environment_in_use_is_kept_and_an_unused_one_removed(root: Path, start: Start) -> None:
    user = start()
    assert says(user) == "installing"
    tell(user)
    used = Path(says(user).split()[-1])
    (root / "requirements.lock").write_text("# second")
    unused = set_up(start)
    (root / "requirements.lock").write_text("# third")

    set_up(start)

    assert python_of(used).exists()
    assert not unused.exists()


def test_the_remains_of_a_killed_set_up_of_an_older_lock_are_removed(root: Path, start: Start) -> None:
    killed = start()
    assert says(killed) == "installing"
    killed.kill()
    killed.wait()
    (remains,) = (path for path in (root / ".venv").iterdir() if path.is_dir())
    (root / "requirements.lock").write_text("# second")

    set_up(start)

    assert not remains.exists()


# Places


def test_a_project_that_cannot_be_written_is_set_up_in_the_users_cache(root: Path, cache: Path) -> None:
    (root / ".venv").write_text("a file: not even the superuser makes a folder here")

    directory = prepare(RUN, root, install_nothing)

    assert directory.is_relative_to(cache / "rummyarena")
    assert prepare(RUN, root, install_never) == directory


def test_permissions_decide_where_a_project_is_set_up(root: Path, cache: Path) -> None:
    root.chmod(0o555)
    place = root if os.access(root, os.W_OK) else cache  # the superuser may write everywhere

    assert prepare(RUN, root, install_nothing).is_relative_to(place)
    root.chmod(0o755)


def test_two_projects_do_not_share_a_place_in_the_cache(root: Path) -> None:
    places = [_setup.folders(root / name, {"HOME": "/home/somebody"})[1] for name in ("first", "second")]

    assert places[0] != places[1]
    assert {place.parent for place in places} == {Path("/home/somebody/.cache/rummyarena")}


def test_where_no_place_can_be_written_both_are_named(root: Path, cache: Path) -> None:
    (root / ".venv").touch()
    cache.touch()

    with pytest.raises(
        SetupError, match=rf"neither {root}/\.venv .* nor {cache}/rummyarena/.*: make one of them writable"
    ):
        prepare(RUN, root, install_nothing)


# What the real installation does


def test_a_real_environment_is_made_whatever_the_caller_has_set(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "trap").mkdir()
    (root / "trap" / "pip.py").write_text("raise SystemExit('this is not pip')")
    monkeypatch.setenv("PIP_REQUIRE_VIRTUALENV", "1")
    monkeypatch.setenv("PIP_TARGET", str(root / "elsewhere"))
    monkeypatch.setenv("PIP_USER", "1")
    monkeypatch.setenv("PYTHONPATH", str(root / "trap"))
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    monkeypatch.setenv("VIRTUAL_ENV", "/nowhere")

    directory = prepare(EMPTY, root)

    code = "import sys, pip; print(sys.prefix, pip.__file__)"
    told = subprocess.check_output([python_of(directory), "-I", "-c", code], text=True).split()
    assert told[0] == str(directory)
    assert Path(told[1]).is_relative_to(directory)


def test_without_a_network_the_set_up_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "requirements.lock").write_text(f"example==1.0 --hash=sha256:{'0' * 64}\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/")  # nobody listens on the discard port
    monkeypatch.setenv("PIP_RETRIES", "1")

    with pytest.raises(SetupError, match="index cannot be reached: connect to the network"):
        prepare(EMPTY, root)


@pytest.mark.parametrize(
    ("words", "explanation"),
    [
        ("No space left on device", r"No space left on device\nThe set-up failed in `.*`: repair what is said above"),
        (
            "example==1.0 (from versions: none)",
            r"none\)\nNothing that fits Python 3\.\d+ on .* was found: .* another Python",
        ),
    ],
)
def test_what_a_step_says_is_shown_where_it_fails(words: str, explanation: str) -> None:
    with pytest.raises(SetupError, match=explanation):
        _setup._run([sys.executable, "-c", f"raise SystemExit({words!r})"], sys.stderr.fileno())


@pytest.mark.parametrize("module", ["ensurepip", "venv"])
def test_a_python_without_venv_is_told_what_to_install(
    root: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # how Python itself marks a module that cannot be imported

    with pytest.raises(SetupError, match=r"came without its venv module: .*apt install python3\.\d+-venv"):
        install_locked(EMPTY, root, root / "environment", 0)


# The two commands


@pytest.fixture
def project(root: Path) -> Path:
    """A project with the real scripts; in its environments `python` tells what it was called with and exits with 7."""
    shutil.copytree(SCRIPTS, root / "scripts")
    (root / "requirements-dev.lock").write_text("")

    def install_parrot(environment: Environment, root: Path, directory: Path, lock: int) -> None:
        (directory / "bin").mkdir(parents=True)
        python_of(directory).write_text(
            '#!/bin/sh\npwd; echo "$PYTHONPATH:$VIRTUAL_ENV"; command -v python; echo "$@"; exit 7\n'
        )
        python_of(directory).chmod(0o755)

    for environment in (RUN, _setup.DEVELOP):
        prepare(environment, root.resolve(), install_parrot)
    return root.resolve()


@pytest.mark.parametrize(
    ("script", "directory", "folder", "words"),
    [
        ("rummyarena", "run-", ".", "-P -m rummyarena_server demo --games 3"),
        ("test", "dev-", "project", "-P -m pytest demo --games 3"),
    ],
)
def test_a_command_becomes_its_program(
    project: Path, tmp_path: Path, script: str, directory: str, folder: str, words: str
) -> None:
    foreign = os.environ | {"PYTHONPATH": "/nowhere", "VIRTUAL_ENV": "/nowhere", "PYTHONSAFEPATH": "1"}

    done = subprocess.run(
        [sys.executable, project / "scripts" / script, "demo", "--games", "3"],
        cwd=tmp_path,
        env=foreign,
        capture_output=True,
        text=True,
        check=False,
    )

    where, variables, python, called = done.stdout.splitlines()
    assert done.returncode == 7
    assert done.stderr == ""
    assert Path(where) == (tmp_path / folder).resolve()
    assert variables.startswith(f":{project}/.venv/{directory}")
    assert python.startswith(f"{project}/.venv/{directory}")
    assert called == words


def test_a_command_whose_set_up_fails_says_why_and_fails(project: Path) -> None:
    (project / "requirements.lock").unlink()

    done = subprocess.run(
        [sys.executable, project / "scripts" / "rummyarena"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert done.stderr.startswith("Cannot read ")
    assert len(done.stderr.splitlines()) == 1


def test_an_interrupted_set_up_says_so_and_leaves_nothing_that_looks_finished(project: Path) -> None:
    (project / "requirements.lock").write_text("# changed")
    process = subprocess.Popen(
        [sys.executable, project / "scripts" / "rummyarena"], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("Setting up")

    os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does

    _, errors = process.communicate()
    assert process.returncode == 130
    assert errors.endswith("The set-up was interrupted; the next run starts it again.\n")
    assert len(list(project.glob(".venv/run-*/" + _setup.STAMP))) == 1  # that of the unchanged lock


def test_a_command_can_be_called_through_a_link(project: Path, tmp_path: Path) -> None:
    (tmp_path / "arena").symlink_to(project / "scripts" / "rummyarena")

    done = subprocess.run([tmp_path / "arena"], capture_output=True, text=True, check=False)

    assert done.returncode == 7
