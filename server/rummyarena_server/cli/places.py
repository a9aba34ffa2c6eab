"""Where the command line keeps things: the database it is told of, and files in the folder in which it is typed."""

from __future__ import annotations

import json
import os
import re
import secrets
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from rummyarena_server.cli.output import UsageError
from rummyarena_server.hosting import visible

DATABASE: Final = "sqlite:///rummyarena.db"
LOGS: Final = Path("rummyarena-logs")
TOKENS: Final = Path("rummyarena-tokens.json")

_PASSWORD: Final = re.compile(r"(?<=://)([^:/@]*:).*@")
_A_DATABASE: Final = "write the path of a file, or sqlite:/// and the path"

Database = Annotated[str, Parameter(name="--db", help="The database, as a URL or the path of a SQLite file.")]
AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Writes JSON, for programs.")]


def named(database: str) -> str:
    """Returns a database as it can be shown, without a password; `UsageError` if the text names none."""
    if not database.strip(" \t:"):
        raise UsageError(f"--db {visible(database)!r} names no database; {_A_DATABASE}")
    if re.match(r"sqlite(\+\w+)?:(?!//)", database):
        raise UsageError(f"--db {visible(database)}: the slashes of the URL are missing; {_A_DATABASE}")
    return harmless(database)


def harmless(line: str) -> str:
    """Returns a line as it can be shown: without the password of a URL, and with nothing that upsets a terminal."""
    return visible(_PASSWORD.sub(r"\1***@", line))


class Tokens:
    """The tokens of a tournament's bots that are started elsewhere, kept in a file that only its owner can read."""

    def __init__(self, tournament: str, path: Path = TOKENS) -> None:
        self._path = path
        self._tournament = tournament

    def of(self, bot: str) -> str:
        """Returns the token of a bot, drawn when it is asked for first; `UsageError` if the file cannot be used."""
        tokens = self._read()
        ours = tokens.setdefault(self._tournament, {})
        if bot not in ours:
            ours[bot] = secrets.token_urlsafe(32)
            self._write(tokens)
        return str(ours[bot])

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            tokens = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise UsageError(f"{self._path}, which keeps the tokens, cannot be read ({error}); move it away") from None
        if not isinstance(tokens, dict) or not all(isinstance(ours, dict) for ours in tokens.values()):
            raise UsageError(f"{self._path} is no file of tokens; move it away")
        return tokens

    def _write(self, tokens: dict[str, dict[str, Any]]) -> None:
        """Writes the file beside its place first, so that it is always whole."""
        draft = self._path.with_suffix(".new")
        try:
            draft.unlink(missing_ok=True)
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                json.dump(tokens, file, indent=2)
            draft.replace(self._path)
        except OSError as error:
            raise UsageError(f"{self._path}, which is to keep the tokens, cannot be written: {error}") from None
