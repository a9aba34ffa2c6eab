"""What is started as a bot, and in plain words why it could not be."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rummyarena_server.hosting.output import visible

_OUR_LIMITS: Final = {
    errno.EAGAIN: "this user may start no more processes; raise the limit (ulimit -u) or run fewer bots",
    errno.EMFILE: "this server may open no more files; raise the limit (ulimit -n) or run fewer bots",
    errno.ENFILE: "this machine can open no more files; run fewer bots",
    errno.ENOMEM: "this machine has no memory left; run fewer bots",
}
_LONGEST_FIRST_LINE: Final = 256  # what Linux looks at
_PYTHON: Final = re.compile(r"python[0-9.]*")


@dataclass(frozen=True, slots=True)
class BotCommand:
    """How a bot is started: a program and its arguments, run in `directory`, never through a shell.

    A first word without a slash is looked up in the PATH that the bot is given, one with a slash from `directory` on.
    """

    name: str
    words: tuple[str, ...]
    directory: Path

    def __post_init__(self) -> None:
        if not self.words:
            raise ValueError("a bot's command has at least one word")


@dataclass(frozen=True, slots=True)
class StartFailure:
    """A bot that could not be started: its name, why and what to do, and whether this server is to blame."""

    bot: str
    reason: str
    is_ours: bool

    @property
    def sentence(self) -> str:
        """All of it as one sentence for people."""
        return f'The bot "{visible(self.bot)}" cannot be started: {self.reason}.'


def obstacle(command: BotCommand, environment: Mapping[str, str]) -> str | None:
    """Returns why a command could not be started and what to do, `None` if nothing of the kind is seen beforehand.

    It is seen whether the program is there and may be started, and whether the script that Python is to run is there.
    """
    error = _foreseen(command, environment)
    return _missing_script(command) if error is None else _reason(command, error)


def _foreseen(command: BotCommand, environment: Mapping[str, str]) -> OSError | None:
    """Returns the error that starting the program would give."""
    word = command.words[0]
    path = command.directory / word if "/" in word else shutil.which(word, path=environment.get("PATH", ""))
    if path is None or not os.access(path, os.F_OK):
        return OSError(errno.ENOENT, os.strerror(errno.ENOENT))
    if not (Path(path).is_file() and os.access(path, os.X_OK) and os.access(command.directory, os.X_OK)):
        return OSError(errno.EACCES, os.strerror(errno.EACCES))
    interpreter = _interpreter(Path(path))
    is_missing = interpreter is not None and not os.access(interpreter, os.F_OK)
    return OSError(errno.ENOENT, os.strerror(errno.ENOENT)) if is_missing else None


def _interpreter(program: Path) -> bytes | None:
    """Returns the interpreter that a script names in its first line."""
    try:
        with program.open("rb") as file:
            first_line = file.readline(_LONGEST_FIRST_LINE)
    except OSError:  # who may start a program need not be allowed to read it
        return None
    words = first_line.removeprefix(b"#!").split()
    return words[0] if first_line.startswith(b"#!") and words else None


def _missing_script(command: BotCommand) -> str | None:
    program, *words = command.words
    if _PYTHON.fullmatch(Path(program).name) is None or {"-c", "-m"} & set(words):
        return None
    script = next((command.directory / word for word in words if word.endswith(".py")), None)
    if script is None or os.access(script, os.F_OK):
        return None
    return f"there is no file {script}; correct the path"


def explain(command: BotCommand, error: OSError | ValueError) -> StartFailure:
    """Says why starting a command gave this error, and what to do."""
    ours = _OUR_LIMITS.get(error.errno or 0) if isinstance(error, OSError) else None
    return _failure(command, ours or _reason(command, error), is_ours=ours is not None)


def explain_log(command: BotCommand, folder: Path, error: OSError) -> StartFailure:
    """Says why there is no log for the output of a bot that was therefore not started."""
    no_place = f"no log can be written in {folder} ({error.strerror}); make room there or choose another folder"
    return _failure(command, _OUR_LIMITS.get(error.errno or 0, no_place), is_ours=True)


def _failure(command: BotCommand, reason: str, *, is_ours: bool) -> StartFailure:
    return StartFailure(command.name, visible(reason), is_ours)


def _reason(command: BotCommand, error: OSError | ValueError) -> str:
    if not isinstance(error, OSError):
        return f"its command or environment cannot be passed to a program ({error})"
    if not command.directory.is_dir():
        return f"its directory {command.directory} does not exist; create it or correct the path"
    if not os.access(command.directory, os.X_OK):
        return f"its directory {command.directory} may not be entered; change its permissions"
    return _reason_of_program(command, error)


def _reason_of_program(command: BotCommand, error: OSError) -> str:
    word = command.words[0]
    if error.errno == errno.ENOENT and "/" not in word:
        return _reason_of_name(command)
    path = command.directory / word if "/" in word else Path(word)
    if error.errno == errno.ENOENT and os.access(path, os.F_OK):
        return f"the interpreter that {path} names in its first line does not exist; install it or correct the line"
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return f"there is no file {path}; build it or correct the path"
    if os.access(path, os.F_OK) and path.is_dir():
        return f"{path} is a directory; name a program in it"
    if error.errno == errno.EACCES:
        return f"{path} is not executable; allow it (chmod +x) or start it with its interpreter"
    if error.errno == errno.ENOEXEC:
        return f"{path} is no program for this machine; build it here, or begin it with a #! line if it is a script"
    return f"{path} does not start ({error.strerror})"


def _reason_of_name(command: BotCommand) -> str:
    word = command.words[0]
    if os.access(command.directory / word, os.F_OK):
        return f'there is no program "{word}" in PATH; write "./{word}" for the file in {command.directory}'
    return f'there is no program "{word}" in PATH; install it or write its full path'
