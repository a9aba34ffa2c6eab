"""A game in a file of its own as text, format 2: lines for people to read and for programs to compare.

    format: 2
    id: "1.17.0"
    ...
    seat 0: {"bot": "first", "version": "1.0", "rank": 1, "total": 80, "points": 80, "faults": 0, "forfeit": null}
    seat 1: {"bot": "second", "version": "", "rank": 2, "total": -30, "points": -30, "faults": 1, "forfeit": null}
    moves: 57
    0: draw
    0: discard KD
    1: draw [late]
    ...
    started: "2026-01-02T03:04:05+00:00"
    ...
    checksum: "cf2df58afb82a7cff6b23ed5862e4d89b04d4fc3bbeec3a5a2b36c06bb16ee3c"

Each field is a line of its name and its value as JSON writes it, both as in `record_json`. A move is the seat, the move
in notation, and in brackets the verdict if it is not the bot's own; `-` where the rules answered. A forfeit, such as
`1 forfeits: exited`, stands behind the moves that had been carried out by then. What differs from run to run stands
below the moves. The last line has the SHA-256 of those above it, each with the line feed that ends it. A blank line or
the next `format:` ends a game; lines that begin with `#` say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final

from rummyarena_rules.reading import ReadingError, printable, read_json, whole
from rummyarena_server.referee.record import Forfeit, WrittenGame, WrittenMove, WrittenPlay
from rummyarena_server.referee.record_json import (
    HEAD,
    MOST_SEATS,
    TAIL,
    Parts,
    Placed,
    checksum,
    game_of,
    json_text,
    seat_values,
    values_of,
)

_FIELD: Final = re.compile(r"([a-z_]+): (.*)")
_SEAT: Final = re.compile(r"seat ([0-9]): (.*)")
_MOVE: Final = re.compile(r"([0-9]): ([^\[\]]+?)(?: \[([a-z]+)\])?")
_FORFEIT: Final = re.compile(r"([0-9]) forfeits: ([a-z]+)")
_CHECKSUM: Final = re.compile(r'checksum: "([0-9a-f]{64})"')
_BY_THE_RULES: Final = "-"


# --- writing ---------------------------------------------------------------------------------------------------------


def to_text(game: WrittenGame) -> str:
    """Returns the lines of a game, without the blank one that ends it; `ValueError` for one without a result."""
    values = values_of(game)
    lines = [_field(name, values[name]) for name in HEAD]
    lines += [_field(f"seat {seat}", seat_values(game, seat)) for seat in range(len(game.bots))]
    lines.append(_field("moves", None if game.play is None else len(game.play.moves)))
    if game.play is not None:
        lines += _play_lines(game.play)
    lines += [_field(name, values[name]) for name in TAIL]
    text = "".join(f"{line}\n" for line in lines)
    return f"{text}{_field('checksum', checksum(text))}\n"


def _field(name: str, value: object) -> str:
    return f"{name}: {json_text(value, compact=False)}"


def _play_lines(play: WrittenPlay) -> Iterator[str]:
    for number in range(len(play.moves) + 1):
        yield from (_forfeit_line(one) for one in play.forfeits if one.moves == number)
        if number < len(play.moves):
            yield _move_line(play.moves[number])


def _move_line(one: WrittenMove) -> str:
    text = _BY_THE_RULES if one.text is None else one.text
    return f"{one.seat}: {text}" + ("" if one.verdict == "played" else f" [{one.verdict}]")


def _forfeit_line(one: Forfeit) -> str:
    return f"{one.seat} forfeits: {one.reason}"


# --- reading ---------------------------------------------------------------------------------------------------------


def from_lines(lines: Iterable[tuple[int, str]]) -> WrittenGame:
    """Returns the game that its lines, each with its number in the file, say; `ReadingError` names the line."""
    reading = _Lines()
    for number, line in lines:
        reading.take(number, line)
    return game_of(reading.parts())


class _Lines:
    """The lines of one game, as far as they have been read."""

    def __init__(self) -> None:
        self._first: int | None = None
        self._sum = sha256()
        self._is_whole: bool | None = None  # as soon as its checksum is there
        self._fields: dict[str, Placed] = {}
        self._seats: list[Placed] = []
        self._moves: list[Placed] = []
        self._forfeits: list[Placed] = []
        self._most_moves: int | None = None  # until their number is said, no line can be a move

    def take(self, number: int, line: str) -> None:
        """Takes the next line."""
        if self._first is None:
            self._first = number
        place = f"line {number}"
        if self._is_whole is not None:
            raise ReadingError(f"{place}: it stands behind the checksum, which is the last line of a game")
        if checked := _CHECKSUM.fullmatch(line):
            self._is_whole = checked[1] == self._sum.hexdigest()
            return
        self._sum.update(f"{line}\n".encode())
        if move := _MOVE.fullmatch(line):
            self._take_move(place, int(move[1]), move[2], move[3])
        elif forfeit := _FORFEIT.fullmatch(line):
            self._forfeits.append((place, [int(forfeit[1]), forfeit[2], len(self._moves)]))
        elif seat := _SEAT.fullmatch(line):
            self._take_seat(f"{place}, seat {seat[1]}", int(seat[1]), seat[2])
        elif field := _FIELD.fullmatch(line):
            self._take_field(f"{place}, {field[1]}", field[1], field[2])
        else:
            raise ReadingError(f"{place}: {printable(line)!r} is neither a field nor a move")

    def parts(self) -> Parts:
        """Returns what was read; `ReadingError` if moves are missing."""
        where = f"the game that begins in line {self._first}"
        if "moves" not in self._fields:
            raise ReadingError(f"{where}: the field moves is missing")
        if self._is_whole is None:
            raise ReadingError(f"{where}: the field checksum is missing")
        place, expected = self._fields.pop("moves")
        if expected is None:
            if self._moves or self._forfeits:
                raise ReadingError(f"{place}: null, though there are some")
            return Parts(where, self._fields, self._seats, None, None, self._is_whole)
        if len(self._moves) != expected:
            raise ReadingError(f"{place}: {expected} are said to be there, here are {len(self._moves)}")
        return Parts(where, self._fields, self._seats, self._moves, self._forfeits, self._is_whole)

    def _take_move(self, place: str, seat: int, text: str, verdict: str | None) -> None:
        if self._most_moves is None:
            raise ReadingError(
                f"{place}: a move stands before the line that says how many there are, such as moves: 57"
            )
        if len(self._moves) == self._most_moves:
            raise ReadingError(f"{place}: there are more than the {self._most_moves} moves that are said to be there")
        written = None if text == _BY_THE_RULES else text
        self._moves.append((place, [seat, written] if verdict is None else [seat, written, verdict]))

    def _take_seat(self, place: str, seat: int, text: str) -> None:
        if seat != len(self._seats) or seat >= MOST_SEATS:
            raise ReadingError(f"{place}: seats are listed in order, from 0; seat {len(self._seats)} is due")
        self._seats.append((place, _value(place, text)))

    def _take_field(self, place: str, name: str, text: str) -> None:
        if name in self._fields:
            raise ReadingError(f"{place}: the field stands there twice")
        value = _value(place, text)
        if name == "moves" and value is not None:
            self._most_moves = whole(0)(place, value)
        self._fields[name] = place, value


def _value(place: str, text: str) -> object:
    try:
        return read_json(text)
    except ReadingError as error:
        why = str(error).removeprefix("line 1, ").removeprefix("file: ")
        raise ReadingError(f"{place}: {why}; the value is written as JSON") from None
