"""Files of games, any number in each, read one game at a time.

A file is text (`record_text`), or JSON with a line a game (`record_json`); records of format 1, as databases keep them,
are read too, but say neither the result nor the tournament.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import BinaryIO, Final, Literal, TypeAlias

from rummyarena_rules.reading import ReadingError, read_json
from rummyarena_server.referee import record, record_json
from rummyarena_server.referee.record import RecordError, WrittenGame
from rummyarena_server.referee.record_text import from_lines, to_text

Form: TypeAlias = Literal["text", "json"]

MOST_BYTES: Final = 16 * 1024 * 1024
"""The most that one game may take in a file, far beyond any that was played."""

_TOO_LONG: Final = f"is longer than {MOST_BYTES // 1024**2} MiB, which no game is"
_Line: TypeAlias = tuple[int, str]


def written(game: WrittenGame, form: Form) -> str:
    """Returns a game as it stands in a file, with all that ends it; files may be put together by appending."""
    return f"{to_text(game)}\n" if form == "text" else f"{record_json.to_json(game)}\n"


def read_games(file: BinaryIO) -> Iterator[WrittenGame]:
    """Yields the games of a file of either form; `RecordError` names the line and the place of what cannot be.

    However large the file is, no more of it is held than one game.
    """
    try:
        for lines in _games(_lines(file)):
            number, first = lines[0]
            yield _of_json(f"line {number}", first) if first.startswith("{") else from_lines(lines)
    except ReadingError as error:
        raise RecordError(str(error)) from None


def _games(lines: Iterator[_Line]) -> Iterator[list[_Line]]:
    """Yields the lines of one game after the other."""
    game: list[_Line] = []
    size = 0
    for number, line in lines:
        if game and (not line or line.startswith(("format:", "{")) or game[0][1].startswith("{")):
            yield game
            game, size = [], 0
        if line and not line.startswith("#"):
            game.append((number, line))
            size += len(line)
            if size > MOST_BYTES:
                raise ReadingError(f"line {number}: the game that begins in line {game[0][0]} {_TOO_LONG}")
    if game:
        yield game


def _lines(file: BinaryIO) -> Iterator[_Line]:
    """Yields the lines of a file with their numbers, from 1, without what ends them."""
    number = 0
    while data := file.readline(MOST_BYTES + 1):
        number += 1
        if len(data) > MOST_BYTES:
            raise ReadingError(f"line {number} {_TOO_LONG}")
        if number == 1:
            data = data.removeprefix(BOM_UTF8)
        try:
            yield number, data.decode().rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise ReadingError(f"line {number}: byte {error.start} of it is no UTF-8 text") from None


def _of_json(place: str, line: str) -> WrittenGame:
    try:
        value = read_json(line)
    except ReadingError as error:
        why = str(error).removeprefix("line 1, ").removeprefix("file: ")
        raise ReadingError(f"{place}: {why}") from None
    if isinstance(value, dict) and value.get("format") == record.FORMAT:
        return record.from_document(place, value)
    return record_json.from_json(place, value, line)
