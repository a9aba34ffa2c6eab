"""What is started as a bot, and in plain words why it could not be."""

from __future__ import annotations

import errno
import os
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
    """A bot that could not be started: one sentence for people, and whether this server is to blame."""

    sentence: str
    is_ours: bool


def explain(command: BotCommand, environment: Mapping[str, str], error: OSError | ValueError) -> StartFailure:
    """Says why starting a command gave this error, and what to do."""
    ours = _OUR_LIMITS.get(error.errno or 0) if isinstance(error, OSError) else None
    return _failure(command, ours or _reason(command, environment, error), is_ours=ours is not None)


def explain_log(command: BotCommand, folder: Path, error: OSError) -> StartFailure:
    """Says why there is no log for the output of a bot that was therefore not started."""
    no_place = f"no log can be written in {folder} ({error.strerror}); make room there or choose another folder"
    return _failure(command, _OUR_LIMITS.get(error.errno or 0, no_place), is_ours=True)


def _failure(command: BotCommand, reason: str, *, is_ours: bool) -> StartFailure:
    return StartFailure(f'The bot "{visible(command.name)}" cannot be started: {visible(reason)}.', is_ours)


def _reason(command: BotCommand, environment: Mapping[str, str], error: OSError | ValueError) -> str:
    if not isinstance(error, OSError):
        return f"its command or environment cannot be passed to a program ({error})"
    if not command.directory.is_dir():
        return f"its directory {command.directory} does not exist; create it or correct the path"
    if not os.access(command.directory, os.X_OK):
        return f"its directory {command.directory} may not be entered; change its permissions"
    return _reason_of_program(command, environment, error)


def _reason_of_program(command: BotCommand, environment: Mapping[str, str], error: OSError) -> str:
    word = command.words[0]
    if error.errno == errno.ENOENT and "/" not in word:
        return _reason_of_name(command, environment.get("PATH", ""))
    path = command.directory / word if "/" in word else Path(word)
    if error.errno == errno.ENOENT and path.exists():
        return f"the interpreter that {path} names in its first line does not exist; install it or correct the line"
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return f"there is no file {path}; build it or correct the path"
    if path.is_dir():
        return f"{path} is a directory; name a program in it"
    if error.errno == errno.EACCES:
        return f"{path} is not executable; allow it (chmod +x) or start it with its interpreter"
    if error.errno == errno.ENOEXEC:
        return f"{path} is no program for this machine; build it here, or begin it with a #! line if it is a script"
    return f"{path} does not start ({error.strerror})"


def _reason_of_name(command: BotCommand, path: str) -> str:
    word = command.words[0]
    if (command.directory / word).is_file():
        return f'there is no program "{word}" in PATH ({path}); write "./{word}" for the file in {command.directory}'
    return f'there is no program "{word}" in PATH ({path}); install it or write its full path'
