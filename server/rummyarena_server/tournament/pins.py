"""Pins: what holds each bot of a tournament to the version with which it began.

A pin is canonical JSON: `{"version": ...}` where a bot names its version, else `{"command": ..., "files": {...}}` with
the SHA-256 of the command's words, written as a JSON list, and of the contents of each file that the bot is made of.
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import file_digest, sha256
from itertools import islice, takewhile
from pathlib import Path, PurePath
from typing import Final

from rummyarena_rules.reading import printable
from rummyarena_server.config import BotSettings
from rummyarena_server.store.results import TournamentPlan, canonical_json
from rummyarena_server.wire import Hello

MOST_FILES: Final = 10_000
"""Of a bot; more are a pattern that matches what nobody meant."""

_LONGEST_SHOWN: Final = 200
_WILD: Final = frozenset("*?[")
_INSTEAD: Final = 'or give the bot a version = "...", which is what holds it then'


class PinError(Exception):
    """Files of a bot that cannot be pinned; the text says which, why, and what to do."""


# --- bots that are started here --------------------------------------------------------------------------------------


def pin_of(bot: BotSettings, directory: Path, known: dict[Path, str] | None = None) -> str:
    """Returns the pin of a bot as it is now, reading all its files; empty for one that is started elsewhere.

    `directory`: that of the tournament file. `known`: the digests of files that were read before; those that are read
    now are added, so that many bots may share files. Raises `PinError`.
    """
    if bot.connected:
        return ""
    if bot.version:
        return version_pin(bot.version)
    known = {} if known is None else known
    digests = {name: _digest(name, path, known) for name, path in _files(bot, directory).items()}
    return canonical_json({"command": sha256(canonical_json(bot.command).encode()).hexdigest(), "files": digests})


def pinned(plan: TournamentPlan, pins: Sequence[str]) -> TournamentPlan:
    """Returns a plan with the pins of its entrants."""
    return replace(plan, entrants=tuple(replace(one, pin=pin) for one, pin in zip(plan.entrants, pins, strict=True)))


def _files(bot: BotSettings, directory: Path) -> dict[str, Path]:
    """Returns the files that a bot is made of by the names under which they are pinned."""
    found: dict[str, Path] = {}
    for word in _paths(bot.command):
        if is_file(directory / word):
            found[_name(directory / word, word, directory)] = directory / word
    for pattern in bot.files:
        matches = {_name(path, pattern, directory): path for path in _matches(pattern, directory)}
        if not matches:
            raise PinError(f'no file in {directory} matches "{_shown(pattern)}"; correct the pattern in its files')
        found |= matches
        if len(found) > MOST_FILES:
            raise PinError(f"its files are more than {MOST_FILES}; narrow the patterns, {_INSTEAD}")
    return found


def _paths(command: Sequence[str]) -> Sequence[str]:
    """Returns the words that may be paths: not a program that is looked up in the PATH, such as `python`."""
    return command if "/" in command[0] else command[1:]


def _matches(pattern: str, directory: Path) -> Iterator[Path]:
    """Returns the files that a pattern matches, one more than may be at most.

    `**` does not go into links to folders, where it might go round for ever. What Python keeps of modules that it has
    compiled is left out: it comes and changes with them, and with Python.
    """
    parts = PurePath(pattern).parts
    fixed = list(takewhile(lambda part: not _WILD & set(part), parts))
    start, rest = directory.joinpath(*fixed), parts[len(fixed) :]
    if rest and rest[-1] == "**":  # what it means at the end depends on Python's version
        rest = (*rest, "*")
    candidates = start.glob(str(PurePath(*rest))) if rest else [start]
    files = (path for path in candidates if path.parent.name != "__pycache__" and is_file(path))
    return islice(files, MOST_FILES + 1)


def is_file(path: Path) -> bool:
    """Tells whether there is a file that may be seen, also of words that were never meant as a path."""
    try:
        return path.is_file()
    except OSError:  # a word that is too long for a path, or a folder that may not be entered, by the bot neither
        return False


def _name(path: Path, said: str, directory: Path) -> str:
    """Returns the name of a file in a pin: from the tournament's folder on, unless it is said from the root on."""
    name = os.path.normpath(path) if PurePath(said).is_absolute() else os.path.relpath(path, directory)
    try:
        name.encode()
    except UnicodeEncodeError:
        raise PinError(f"the name of its file {_shown(name)} is no UTF-8 text; rename it, {_INSTEAD}") from None
    return name


def _digest(name: str, path: Path, known: dict[Path, str]) -> str:
    if path not in known:
        try:
            with path.open("rb") as file:
                known[path] = file_digest(file, "sha256").hexdigest()
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise PinError(f"its file {_shown(name)} cannot be read: {why}; mend that, {_INSTEAD}") from None
    return known[path]


def _shown(text: str) -> str:
    return printable(text, _LONGEST_SHOWN)


# --- bots that are started elsewhere ---------------------------------------------------------------------------------


def version_pin(version: str) -> str:
    """Returns the pin of a bot that is held to a version in its author's own words, perhaps none."""
    return canonical_json({"version": version})


def version_of(pin: str) -> str | None:
    """Returns the version that a pin holds a bot to, `None` if it is not known or the pin is one of files."""
    version = json.loads(pin).get("version") if pin else None
    return None if version is None else str(version)


class HeldVersion:
    """The version of a bot that is started elsewhere: from its first game on no other is let in.

    `version`: `None` before that game. `keep` stores it; `report` hears when a copy of another version came.
    """

    def __init__(
        self, version: str | None, keep: Callable[[str], Awaitable[None]], report: Callable[[str], None]
    ) -> None:
        self.is_kept = version is not None
        self._version = version
        self._keep = keep
        self._report = report
        self._refused: str | None = None

    async def hold(self, version: str) -> None:
        """Lets no other version in from now on, and returns once it is stored."""
        if self._version is None:
            self._version = version
        await self._keep(self._version)
        self.is_kept = True

    def objection(self, hello: Hello) -> str | None:
        """Returns why a copy that says this is not let in, `None` if it is; reports once of each that is not."""
        said = hello.bot_version
        if self._version is None or said == self._version:
            self._refused = None
            return None
        held, other = _version_words(self._version), _version_words(said)
        if said != self._refused:
            self._refused = said
            self._report(f"has come as {other} and is not let in: {held}, which has played here, is waited for")
        return f"this bot plays this tournament as {held}, and this copy is {other}; start the copy that is {held}"


def _version_words(version: str) -> str:
    return f'version "{version}"' if version else "one without a version"
