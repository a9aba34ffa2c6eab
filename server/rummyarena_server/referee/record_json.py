"""A game in a file of its own as JSON, format 2: a line a game, with all that is known of it.

The text form (`record_text`) has the same fields under the same names, so both are read here: as *parts*, each a value
with the place where it stands, which is what errors name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, NamedTuple, TypeAlias, get_args

from rummyarena_rules.notation import parse_move
from rummyarena_rules.reading import (
    Reader,
    ReadingError,
    a_text,
    an_object,
    fail,
    list_of,
    one_of,
    optional,
    printable,
    record_of,
    whole,
)
from rummyarena_rules.registry import RULESETS
from rummyarena_server.referee.clock import TimeControl
from rummyarena_server.referee.record import (
    Forfeit,
    ForfeitReason,
    Origin,
    SeatedBot,
    WrittenGame,
    WrittenMove,
    WrittenPlay,
    WrittenResult,
    WrittenSeat,
    hexadecimal,
    moment,
    written_forfeit,
    written_move,
)

FORMAT: Final = 2

MOST_SEATS: Final = 8
_LONGEST_TEXT: Final = 1000
_CHECKED: Final = re.compile(r'(.*),"checksum":"([0-9a-f]{64})"}', re.DOTALL)
_MOST: Final = 10**15  # so that no database or sum of a million overflows
_MOST_POINTS: Final = 10**12

Placed: TypeAlias = tuple[str, object]
"""A value that was read, behind the place where it stands."""


# --- writing ---------------------------------------------------------------------------------------------------------


def to_json(game: WrittenGame) -> str:
    """Returns a game as one line of JSON, its checksum last; `ValueError` for one without a result."""
    values = values_of(game)
    play = game.play
    values["seats"] = [seat_values(game, seat) for seat in range(len(game.bots))]
    values["moves"] = None if play is None else [_move(one) for one in play.moves]
    values["forfeits"] = None if play is None else [[one.seat, one.reason, one.moves] for one in play.forfeits]
    names = (*HEAD, "seats", "moves", "forfeits", *TAIL)
    text = json_text({name: values[name] for name in names}, compact=True).removesuffix("}")
    return f'{text},"checksum":"{checksum(text)}"}}'


def checksum(text: str) -> str:
    """Returns the checksum of what stands before it: its SHA-256, as hex digits."""
    return sha256(text.encode()).hexdigest()


def values_of(game: WrittenGame) -> dict[str, Any]:
    """Returns the values of all fields of `HEAD` and `TAIL`, ready for JSON."""
    origin, result, play, control = game.origin, game.result, game.play, game.time_control
    if result is None:
        raise ValueError(f"the result of game {game.id} is not known")
    return {
        "format": FORMAT,
        "id": game.id,
        "tournament": origin and origin.tournament,
        "index": origin and origin.index,
        "group": origin and origin.group,
        "rotation": origin and origin.rotation,
        "attempt": origin and origin.attempt,
        "shared_deals": origin and origin.shares_deals,
        "secret_digest": _hex(origin.secret_digest if origin else None),
        "secret": _hex(origin.secret if origin else None),
        "ruleset": game.ruleset,
        "rules_version": game.rules_version,
        "options": game.options,
        "clock": control and [control.decision, control.bank, control.increment],
        "digest": _hex(game.digest),
        "seed": _hex(game.seed),
        "status": result.status,
        "reason": result.reason,
        "rated": result.rated,
        "deals": result.deals,
        "counted_deals": result.counted_deals,
        "events": play and play.events,
        "started": _iso(game.started_at),
        "finished": _iso(game.finished_at),
        "lag": game.lag,
        "thinking": [one.thinking for one in result.seats],
        "thinking_by_move": play and list(play.thinking),
    }


def seat_values(game: WrittenGame, seat: int) -> dict[str, object]:
    """Returns who sat at a seat and what came of it, ready for JSON."""
    if game.result is None:
        raise ValueError(f"the result of game {game.id} is not known")
    bot, one = game.bots[seat], game.result.seats[seat]
    return {
        "bot": bot.name,
        "version": bot.version,
        "rank": one.rank,
        "total": one.total,
        "points": one.points,
        "faults": one.faults,
        "forfeit": one.forfeit,
    }


def json_text(value: object, *, compact: bool) -> str:
    """Writes JSON in which nothing stands for itself that does not print: no control, direction mark or line break."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":") if compact else (", ", ": "))
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(character: str) -> str:
    return character if character.isprintable() else json.dumps(character)[1:-1]


def _move(one: WrittenMove) -> list[object]:
    return [one.seat, one.text] if one.verdict == "played" else list(one)


def _hex(value: bytes | None) -> str | None:
    return None if value is None else value.hex()


def _iso(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()


# --- reading ---------------------------------------------------------------------------------------------------------


class Parts(NamedTuple):
    """What stands in a file of one game: its fields by name, then seats, moves and forfeits one by one.

    `where`: the game as errors name it. Moves and forfeits are written as in JSON, `None` if there are none to be had.
    `is_whole`: whether the checksum is right.
    """

    where: str
    fields: Mapping[str, Placed]
    seats: Sequence[Placed]
    moves: Sequence[Placed] | None
    forfeits: Sequence[Placed] | None
    is_whole: bool


def from_json(place: str, value: object, line: str) -> WrittenGame:
    """Returns the game that a JSON value of format 2 says; `ReadingError` names the place of what cannot be.

    `line`: the text of the value, whose checksum is right only if it is still as it was written.
    """
    fields = {name: (f"{place}, {printable(name)}", one) for name, one in an_object(place, value).items()}
    return game_of(
        Parts(
            place,
            {name: one for name, one in fields.items() if name not in ("seats", "moves", "forfeits", "checksum")},
            _each(fields, place, "seats") or (),
            _each(fields, place, "moves"),
            _each(fields, place, "forfeits"),
            _is_whole(line),
        )
    )


def _is_whole(line: str) -> bool:
    found = _CHECKED.fullmatch(line)
    return found is not None and checksum(found[1]) == found[2]


def _each(fields: Mapping[str, Placed], place: str, name: str) -> Sequence[Placed] | None:
    if name not in fields:
        raise ReadingError(f"{place}: the field {name} is missing")
    at, value = fields[name]
    if value is None and name != "seats":
        return None
    if not isinstance(value, list):
        raise fail(at, value, "a list")
    return [(f"{at}[{number}]", one) for number, one in enumerate(value)]


def game_of(parts: Parts) -> WrittenGame:
    """Returns the game that its parts say; `ReadingError` names the place of what cannot be."""
    for name, (place, _) in parts.fields.items():
        if name not in _FIELDS:
            raise ReadingError(f"{place}: there is no field of this name; there are {', '.join(_FIELDS)}")
    missing = [name for name in _FIELDS if name not in parts.fields]
    if missing:
        raise ReadingError(f"{parts.where}: the field {missing[0]} is missing")
    if not 2 <= len(parts.seats) <= MOST_SEATS:
        raise ReadingError(f"{parts.where}: {len(parts.seats)} seats; a table has 2 to {MOST_SEATS}")
    reading = _Reading(parts, {name: _FIELDS[name](*parts.fields[name]) for name in _FIELDS})
    return reading.game()


@dataclass(frozen=True, slots=True)
class _Reading:
    """The parts of a game whose fields have been read one by one, to be seen together."""

    parts: Parts
    read: Mapping[str, Any]

    def game(self) -> WrittenGame:
        read = self.read
        seats = [_SEAT(*one) for one in self.parts.seats]
        result = self._result(seats)
        return WrittenGame(
            id=read["id"],
            ruleset=read["ruleset"],
            rules_version=read["rules_version"],
            options=read["options"],
            seed=read["seed"],
            digest=read["digest"],
            bots=tuple(SeatedBot(one["bot"], one["version"]) for one in seats),
            time_control=None if read["clock"] is None else TimeControl(*read["clock"]),
            play=self._play(),
            started_at=read["started"],
            finished_at=read["finished"],
            lag=read["lag"],
            origin=self._origin(),
            result=result,
            is_whole=self.parts.is_whole,
        )

    def _origin(self) -> Origin | None:
        read = self.read
        if read["tournament"] is None:
            self._must("secret", read["secret"] is None, "a game of no tournament has none")
            return None
        for name in ("index", "group", "rotation", "attempt", "shared_deals"):
            self._must(name, read[name] is not None, "a game of a tournament has one")
        return Origin(
            tournament=read["tournament"],
            index=read["index"],
            group=read["group"],
            rotation=read["rotation"],
            attempt=read["attempt"],
            shares_deals=read["shared_deals"],
            secret_digest=read["secret_digest"],
            secret=read["secret"],
        )

    def _result(self, seats: Sequence[Mapping[str, Any]]) -> WrittenResult:
        read, thinking = self.read, self.read["thinking"]
        self._must("thinking", len(thinking) == len(seats), f"{len(thinking)} times for {len(seats)} seats")
        self._must("counted_deals", read["counted_deals"] <= read["deals"], "more than there were deals")
        names = ("rank", "total", "points", "forfeit", "faults")
        return WrittenResult(
            status=read["status"],
            reason=read["reason"],
            rated=read["rated"],
            deals=read["deals"],
            counted_deals=read["counted_deals"],
            seats=tuple(
                WrittenSeat(**{name: one[name] for name in names}, thinking=spent)
                for one, spent in zip(seats, thinking, strict=True)
            ),
        )

    def _play(self) -> WrittenPlay | None:
        parts, read = self.parts, self.read
        if parts.moves is None or parts.forfeits is None:
            for name, kept in (("events", read["events"]), ("thinking_by_move", read["thinking_by_move"])):
                self._must(name, kept is None, "there is one, but no moves")
            if parts.moves is not parts.forfeits:
                raise ReadingError(f"{parts.where}: moves and forfeits are kept together or not at all")
            return None
        self._must("status", read["status"] == "finished", "it has moves, though it was not played")
        self._must("events", read["events"] is not None, "there is none, though there are moves")
        thinking = read["thinking_by_move"]
        number = 0 if thinking is None else len(thinking)
        self._must("thinking_by_move", number == len(parts.moves), f"{number} times for {len(parts.moves)} moves")
        return WrittenPlay(
            moves=tuple(self._moves(parts.moves)),
            forfeits=tuple(self._forfeits(parts.forfeits, len(parts.moves))),
            events=read["events"],
            thinking=tuple(thinking or ()),
        )

    def _moves(self, moves: Iterable[Placed]) -> Iterable[WrittenMove]:
        """Yields the moves; those of rules that this program knows are judged here, where their places are known."""
        ruleset = RULESETS.get(self.read["ruleset"])
        known = ruleset is not None and ruleset.version == self.read["rules_version"]
        read_move = written_move(len(self.parts.seats))
        for place, value in moves:
            one = read_move(place, value)
            if known and one.text is not None and parse_move(self.read["ruleset"], one.text) is None:
                raise fail(place, one.text, f"a move of {self.read['ruleset']}")
            yield one

    def _forfeits(self, forfeits: Iterable[Placed], moves: int) -> Iterable[Forfeit]:
        read_forfeit = written_forfeit(len(self.parts.seats))
        for place, value in forfeits:
            one = read_forfeit(place, value)
            if one.moves > moves:
                raise ReadingError(f"{place}: it stands after {one.moves} moves; there are {moves}")
            yield one

    def _must(self, name: str, holds: bool, otherwise: str) -> None:
        if not holds:
            raise ReadingError(f"{self.parts.fields[name][0]}: {otherwise}")


def _a_line(place: str, value: object) -> str:
    text = a_text(place, value)
    if len(text) > _LONGEST_TEXT:
        raise ReadingError(f"{place}: {len(text)} characters; {_LONGEST_TEXT} are the most")
    if any("\ud800" <= one <= "\udfff" for one in text):
        raise ReadingError(f"{place}: half a character stands in it")
    return text


def _a_switch(place: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise fail(place, value, "true or false")
    return value


_NUMBER: Final = whole(0, _MOST)
_TIMES: Final = optional(list_of(_NUMBER))

_HEAD: Final[Mapping[str, Reader]] = {
    "format": one_of(FORMAT),
    "id": _a_line,
    "tournament": optional(_a_line),
    "index": optional(_NUMBER),
    "group": optional(_NUMBER),
    "rotation": optional(_NUMBER),
    "attempt": optional(whole(0, 10**9 - 1)),
    "shared_deals": optional(_a_switch),
    "secret_digest": optional(hexadecimal),
    "secret": optional(hexadecimal),
    "ruleset": _a_line,
    "rules_version": whole(1, 10**9),
    "options": an_object,
    "clock": optional(list_of(_NUMBER, 3)),
    "digest": hexadecimal,
    "seed": hexadecimal,
    "status": one_of("finished", "unplayed"),
    "reason": _a_line,
    "rated": _a_switch,
    "deals": whole(0, 10**9),
    "counted_deals": whole(0, 10**9),
    "events": optional(_NUMBER),
}
_TAIL: Final[Mapping[str, Reader]] = {
    "started": optional(moment),
    "finished": optional(moment),
    "lag": _NUMBER,
    "thinking": list_of(_NUMBER),
    "thinking_by_move": _TIMES,
}
_FIELDS: Final = {**_HEAD, **_TAIL}
_SEAT_FIELDS: Final[Mapping[str, Reader]] = {
    "bot": _a_line,
    "version": _a_line,
    "rank": whole(1, MOST_SEATS),
    "total": whole(-_MOST_POINTS, _MOST_POINTS),
    "points": whole(-_MOST_POINTS, _MOST_POINTS),
    "faults": whole(0, 10**9),
    "forfeit": optional(one_of(*get_args(ForfeitReason), "withdrawn")),
}
_SEAT: Final = record_of(_SEAT_FIELDS, required=frozenset(_SEAT_FIELDS))

HEAD: Final = tuple(_HEAD)
"""The fields that say what was played and what came of it."""

TAIL: Final = tuple(_TAIL)
"""The fields that differ from run to run."""
