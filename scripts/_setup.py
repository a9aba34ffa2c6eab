"""Makes the virtual environments that the scripts run in: on first use, hash-locked, safe to interrupt and to repeat.

An environment's directory is named after everything it was made from. A changed lock file, Python or place therefore
makes a new one beside the old one, and whatever still runs from the old one keeps it. A directory is finished once its
stamp exists; without the stamp it is the remains of a set-up that was killed, and is made again.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

# subprocess and shutil are imported where a set-up needs them: the second start should cost next to nothing.

ROOT = Path(__file__).resolve().parent.parent
STAMP = ".complete"

# What pip needs to reach packages. Its other settings (user, target, require-virtualenv ...) would redirect or refuse
# the installation, so the caller's are left out.
PIP_NETWORK = (
    "PIP_CACHE_DIR",
    "PIP_CERT",
    "PIP_CLIENT_CERT",
    "PIP_CONFIG_FILE",
    "PIP_DEFAULT_TIMEOUT",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_INDEX_URL",
    "PIP_KEYRING_PROVIDER",
    "PIP_NO_CACHE_DIR",
    "PIP_NO_INDEX",
    "PIP_PROXY",
    "PIP_RETRIES",
    "PIP_TIMEOUT",
    "PIP_TRUSTED_HOST",
)
PIP_FIXED = {
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PIP_REQUIRE_VIRTUALENV": "0",  # these two also outdo a configuration file
    "PIP_USER": "0",
}
UNREACHABLE = (
    "ConnectTimeoutError",
    "NameResolutionError",
    "NewConnectionError",
    "ProxyError",
    "ReadTimeoutError",
    "Temporary failure in name resolution",
)


class SetupError(Exception):
    """An environment could not be made; the text says what is missing and how to supply it."""


class Environment(NamedTuple):
    """One kind of environment: what its directory is called, its lock file, whether the project is installed in it."""

    name: str
    lock: str
    with_project: bool


RUN = Environment("run", "requirements.lock", with_project=True)
DEVELOP = Environment("dev", "requirements-dev.lock", with_project=True)
GENERATE = Environment("generate", "requirements-proto.lock", with_project=False)

# Fills an empty directory: called with the environment, the project's root, the directory and the descriptor of the
# held lock, which child processes inherit so that it outlives a killed parent for as long as they still write.
Installer = Callable[[Environment, Path, Path, int], None]


def run_module(environment: Environment, module: str, arguments: Sequence[str]) -> NoReturn:
    """Becomes `python -m module arguments` in an environment, which is set up first where it is not."""
    try:
        directory = prepare(environment)
    except SetupError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.stderr.write("\nThe set-up was interrupted; the next run starts it again.\n")
        sys.exit(130)
    python = str(python_of(directory))
    # This very process becomes the program, so that signals and the exit code pass through. -P: a file in the caller's
    # folder must not stand in for a library.
    os.execve(python, [python, "-P", "-m", module, *arguments], activated(os.environ, directory))  # noqa: S606


def prepare(environment: Environment, root: Path = ROOT, install: Installer | None = None) -> Path:
    """Returns the directory of a finished environment, in use by this process until it ends; makes it where needed.

    Raises SetupError where that fails.
    """
    name = _directory_name(environment, root)
    candidates = [folder / name for folder in folders(root, os.environ)]
    for directory in candidates:
        if _use(directory):
            return directory
    directory, lock = _claim(environment, candidates)
    try:
        if not _use(directory):  # another process may have finished it while this one waited for the lock
            _make(environment, root, directory, lock, install or install_locked)
            _use(directory)
    except OSError as error:
        raise SetupError(f"The set-up in {directory} failed ({error}): repair that, then run this again.") from error
    finally:
        os.close(lock)
    return directory


def python_of(directory: Path) -> Path:
    """Returns the interpreter of an environment."""
    return directory / "bin" / "python"


def activated(variables: Mapping[str, str], directory: Path) -> dict[str, str]:
    """Returns variables as for a program in an environment: `python` is its interpreter, foreign paths are gone."""
    kept = {name: value for name, value in variables.items() if name not in ("PYTHONHOME", "PYTHONPATH")}
    path = os.pathsep.join([str(directory / "bin"), variables.get("PATH", os.defpath)])
    return kept | {"PATH": path, "VIRTUAL_ENV": str(directory)}


def folders(root: Path, variables: Mapping[str, str]) -> list[Path]:
    """Returns where environments may live: in the project, or in the user's cache where the project is read-only."""
    cache = variables.get("XDG_CACHE_HOME") or Path(variables.get("HOME") or "/", ".cache")
    key = hashlib.sha256(os.fsencode(root)).hexdigest()[:12]
    return [root / ".venv", Path(cache, "rummyarena", key)]


def install_locked(environment: Environment, root: Path, directory: Path, lock: int) -> None:
    """Makes a virtual environment and installs the locked requirements, then the project as it stands, into it."""
    import importlib.util

    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        raise SetupError(
            f"Python {_version()} came without its venv module: install it (on Debian and Ubuntu: "
            f"apt install python{_version()}-venv), then run this again."
        )
    _run([sys.executable, "-I", "-m", "venv", str(directory)], lock)
    pip = [str(python_of(directory)), "-I", "-m", "pip", "install", "--quiet"]
    # Wheels only: building from source would fetch build tools that no hash vouches for.
    _run([*pip, "--require-hashes", "--only-binary", ":all:", "--requirement", str(root / environment.lock)], lock)
    if environment.with_project:
        _run([*pip, "--no-index", "--no-build-isolation", "--no-deps", "--editable", str(root)], lock)


def _directory_name(environment: Environment, root: Path) -> str:
    # The project is installed as a path; a folder shared by several machines meets all their Pythons.
    made_from = [str(root), sys.version, sys.base_prefix, os.uname().machine, _read(root / environment.lock)]
    if environment.with_project:
        made_from.append(_packaging(root / "pyproject.toml"))
    digest = hashlib.sha256("\0".join(made_from).encode(errors="surrogateescape"))
    return f"{_family(environment)}-{digest.hexdigest()[:12]}"


def _family(environment: Environment) -> str:
    return f"{environment.name}-{sys.implementation.cache_tag}"


def _packaging(file: Path) -> str:
    """Returns what a pyproject.toml says about the installation; the settings of linters and tests are left out."""
    import tomllib

    try:
        content = tomllib.loads(_read(file))
    except tomllib.TOMLDecodeError as error:
        raise SetupError(f"{file} is no valid TOML ({error}): repair it, then run this again.") from error
    return repr([content.get("build-system"), content.get("project"), content.get("tool", {}).get("hatch")])


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise SetupError(f"Cannot read {file} ({error.strerror}): restore it from the repository.") from error


def _use(directory: Path) -> bool:
    """Marks a finished environment as used until this process ends, also through exec; False where there is none."""
    try:
        descriptor = os.open(directory / STAMP, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:  # it is being removed
        os.close(descriptor)
        return False
    except OSError:  # a file system without locks: removing what is in use cannot be ruled out there
        pass
    if os.fstat(descriptor).st_nlink == 0 or not python_of(directory).exists():
        os.close(descriptor)
        return False
    os.set_inheritable(descriptor, True)
    return True


def _claim(environment: Environment, candidates: Iterable[Path]) -> tuple[Path, int]:
    """Returns the first directory whose folder can be written, and the held lock of the folder's set-ups of a kind."""
    problems = []
    for directory in candidates:
        try:
            return directory, _lock(directory.parent / f"{_family(environment)}.lock")
        except OSError as error:
            problems.append(f"{directory.parent} ({error.strerror})")
    raise SetupError(
        f"No place for the virtual environment, neither {' nor '.join(problems)}: make one of them writable, "
        "or set XDG_CACHE_HOME to a folder that is."
    )


def _lock(file: Path) -> int:
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _say("Another set-up of Rummy Arena is under way; waiting for it to finish.")
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def _make(environment: Environment, root: Path, directory: Path, lock: int, install: Installer) -> None:
    import shutil

    _say(f"Setting up Rummy Arena in {directory}: once, takes up to a minute.")
    if directory.exists():
        shutil.rmtree(directory)
    install(environment, root, directory, lock)
    os.sync()  # after a power cut there must be no stamp without what it vouches for
    (directory / STAMP).touch()
    for other in directory.parent.glob(f"{_family(environment)}-*"):
        if other != directory and _retire(other / STAMP):
            shutil.rmtree(other, ignore_errors=True)


def _retire(stamp: Path) -> bool:
    """Takes the stamp off an environment that nobody uses; False where somebody does."""
    try:
        descriptor = os.open(stamp, os.O_RDONLY)
    except FileNotFoundError:  # the remains of a killed set-up: this process holds the lock, so none is under way
        return True
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        stamp.unlink()
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _run(command: Sequence[str], lock: int) -> None:
    import subprocess

    done = subprocess.run(
        command,
        env=_clean(os.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        pass_fds=[lock],
        check=False,
    )
    if done.returncode:
        raise SetupError(_explain(command, done.stdout))


def _clean(variables: Mapping[str, str]) -> dict[str, str]:
    """Returns variables without what would lead Python or pip elsewhere."""
    kept = {
        name: value
        for name, value in variables.items()
        if not name.startswith(("PIP_", "PYTHON", "VIRTUAL_ENV")) or name in PIP_NETWORK
    }
    return kept | PIP_FIXED


def _explain(command: Sequence[str], output: str) -> str:
    if any(word in output for word in UNREACHABLE):
        return (
            "The packages could not be downloaded because the package index cannot be reached: connect to the network "
            "(behind a proxy set https_proxy), then run this again."
        )
    tail = "\n".join(output.strip().splitlines()[-15:])
    if "(from versions: none)" in output:
        return (
            f"{tail}\nNothing that fits Python {_version()} on {sys.platform} was found: check that the package index "
            "can be reached, or run this with another Python."
        )
    return f"{tail}\nThe set-up failed in `{' '.join(command)}`: repair what is said above, then run this again."


def _version() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
