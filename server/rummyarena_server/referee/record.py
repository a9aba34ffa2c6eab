"""What remains of a game: the record that gives all its events again, as values and as canonical JSON.

The text has two parts. `game` says what was played and how it was judged; equal games have equal texts there. `times`
holds what differs from run to run: thinking times and timestamps. Its moves are written as in notation.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, Literal, TypeAlias, get_args

from rummyarena_rules.events import Event, Seat
from rummyarena_rules.moves import Move
from rummyarena_rules.notation import canonical, move_text, parse_move
from rummyarena_rules.options import changed_options
from rummyarena_rules.reading import (
    ReadingError,
    a_text,
    an_object,
    fail,
    list_of,
    one_of,
    optional,
    record_of,
    whole,
)
from rummyarena_rules.registry import RULESETS
from rummyarena_rules.ruleset import AnyState, Ruleset
from rummyarena_rules.shoe import SEED_BYTES
from rummyarena_server.referee.clock import TimeControl

FORMAT: Final = 1

Verdict: TypeAlias = Literal["played", "late", "refused", "rest", "forfeited"]
"""How a move came about: the bot's own, or the fallback because the bot was late, had used up its attempts, had done
one of the two earlier in this turn, or had been forfeited."""

ForfeitReason: TypeAlias = Literal["faults", "exited", "gone", "misuse"]


class RecordError(ValueError):
    """A record that cannot be read or does not fit its own rules; the text names the place and what is wrong."""


@dataclass(frozen=True, slots=True)
class SeatedBot:
    """Who sits at a seat: the bot's name and its version in its author's own words."""

    name: str
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSetup:
    """What is fixed before a game begins.

    `options`: as the ruleset's `configure` returned them. `seed`: the game seed, 32 bytes, secret until every game on
    it is recorded. `bots`: one a seat. `time_control`: `None` without a clock.
    """

    game_id: str
    ruleset: Ruleset[Any]
    options: Any
    seed: bytes
    bots: tuple[SeatedBot, ...]
    time_control: TimeControl | None = None

    @property
    def seats(self) -> int:
        """The number of seats."""
        return len(self.bots)

    @property
    def seed_digest(self) -> bytes:
        """What is published of the seed before the first deal: its SHA-256."""
        return sha256(self.seed).digest()


@dataclass(frozen=True, slots=True)
class RecordedMove:
    """A move that was carried out; `move` is `None` where the rules answered (the automatic cut)."""

    seat: Seat
    move: Move | None
    verdict: Verdict = "played"


@dataclass(frozen=True, slots=True)
class Forfeit:
    """A seat that its bot no longer plays; `moves`: how many moves of the game had been carried out by then."""

    seat: Seat
    reason: ForfeitReason
    moves: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRecord:
    """All that is needed to have a game again without judging it again; records are equal if the games are.

    `moves`: in the order in which they were carried out, the answers to one window in the order of seats. `events`: how
    many events the game had. `thinking`: microseconds for each move, 0 where the bot was not asked.
    """

    setup: GameSetup
    moves: tuple[RecordedMove, ...]
    forfeits: tuple[Forfeit, ...]
    events: int
    thinking: tuple[int, ...] = field(compare=False)
    started_at: datetime | None = field(default=None, compare=False)
    finished_at: datetime | None = field(default=None, compare=False)


def replay(record: GameRecord) -> Iterator[Event]:
    """Yields the events of a recorded game, unredacted, as they were; `RecordError` where the record does not fit."""
    setup = record.setup
    state = setup.ruleset.start(setup.options, setup.seats, setup.seed)
    played = yielded = 0
    while yielded < record.events:
        decisions = setup.ruleset.decisions(state)
        if decisions:
            moves = record.moves[played : played + len(decisions)]
            events = setup.ruleset.resolve(state, _answers(setup.ruleset, state, tuple(decisions), moves, played))
            played += len(moves)
        elif setup.ruleset.result(state) is not None:
            raise RecordError(f"the game is over after {yielded} events, but {record.events} are recorded")
        else:
            events = setup.ruleset.deal(state)
        for event in events:
            setup.ruleset.evolve(state, event)
        yield from events
        yielded += len(events)
    if (yielded, played) != (record.events, len(record.moves)):
        raise RecordError(
            f"{played} moves gave {yielded} events; recorded are {len(record.moves)} moves and {record.events} events"
        )


def _answers(
    ruleset: Ruleset[Any], state: AnyState, seats: tuple[Seat, ...], moves: tuple[RecordedMove, ...], at: int
) -> dict[Seat, Move | None]:
    if tuple(one.seat for one in moves) != seats:
        raise RecordError(f"move {at}: an answer of {_seats(seats)} is due, not of {_seats(one.seat for one in moves)}")
    for number, one in enumerate(moves, at):
        refusal = ruleset.check(ruleset.view(state, one.seat), one.move) if one.move is not None else None
        if refusal is not None:
            raise RecordError(f"move {number}: seat {one.seat} cannot play it here: {refusal.message}")
    return {one.seat: one.move for one in moves}


def _seats(seats: Any) -> str:
    return "seat " + ", ".join(map(str, seats))


# --- JSON ------------------------------------------------------------------------------------------------------------


def to_json(record: GameRecord) -> str:
    """Returns a record as canonical JSON: sorted names, no blanks; equal games have equal texts but for `times`."""
    document = {"format": FORMAT, "game": _game(record), "times": _times(record)}
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _game(record: GameRecord) -> dict[str, object]:
    setup, control = record.setup, record.setup.time_control
    return {
        "id": setup.game_id,
        "ruleset": setup.ruleset.name,
        "rules_version": setup.ruleset.version,
        "options": changed_options(setup.options),
        "seed": setup.seed.hex(),
        "bots": [[bot.name, bot.version] for bot in setup.bots],
        "clock": [control.decision, control.bank, control.increment] if control else None,
        "moves": [_written(setup.ruleset.name, one) for one in record.moves],
        "forfeits": [[one.seat, one.reason, one.moves] for one in record.forfeits],
        "events": record.events,
    }


def _written(game: str, one: RecordedMove) -> list[object]:
    text = None if one.move is None else move_text(canonical(game, one.move))
    return [one.seat, text] if one.verdict == "played" else [one.seat, text, one.verdict]


def _times(record: GameRecord) -> dict[str, object]:
    started, finished = record.started_at, record.finished_at
    return {
        "thinking": list(record.thinking),
        "started": None if started is None else started.isoformat(),
        "finished": None if finished is None else finished.isoformat(),
    }


def from_json(text: str, rulesets: Mapping[str, Ruleset[Any]] = RULESETS) -> GameRecord:
    """Returns the record that `to_json` wrote; `RecordError` names the place of what cannot be."""
    try:
        document = _DOCUMENT("record", json.loads(text))
        setup = _read_setup(document["game"], rulesets)
        return _read_record(document["game"], document["times"], setup)
    except json.JSONDecodeError as error:
        raise RecordError(f"record: not JSON: {error}") from None
    except ReadingError as error:
        raise RecordError(str(error)) from None


def _read_setup(game: Mapping[str, Any], rulesets: Mapping[str, Ruleset[Any]]) -> GameSetup:
    name, bots = game["ruleset"], game["bots"]
    if name not in rulesets:
        raise RecordError(f"record.game.ruleset: there is no ruleset {name!r}; there are {', '.join(rulesets)}")
    ruleset = rulesets[name]
    if game["rules_version"] != ruleset.version:
        raise RecordError(
            f"record.game.rules_version: the record is of version {game['rules_version']} of the rules of {name}, this "
            f"program plays version {ruleset.version}; replay it with the version of Rummy Arena that wrote it"
        )
    options = ruleset.configure(game["options"], len(bots))
    if isinstance(options, list):
        raise RecordError("record.game.options: " + "; ".join(refusal.message for refusal in options))
    return GameSetup(
        game_id=game["id"],
        ruleset=ruleset,
        options=options,
        seed=game["seed"],
        bots=tuple(SeatedBot(*bot) for bot in bots),
        time_control=None if game["clock"] is None else TimeControl(*game["clock"]),
    )


def _read_record(game: Mapping[str, Any], times: Mapping[str, Any], setup: GameSetup) -> GameRecord:
    moves = tuple(_read_move(f"record.game.moves[{at}]", setup, written) for at, written in enumerate(game["moves"]))
    if len(times["thinking"]) != len(moves):
        raise RecordError(f"record.times.thinking: {len(times['thinking'])} times for {len(moves)} moves")
    return GameRecord(
        setup=setup,
        moves=moves,
        forfeits=tuple(
            _read_forfeit(f"record.game.forfeits[{at}]", setup, one) for at, one in enumerate(game["forfeits"])
        ),
        events=game["events"],
        thinking=times["thinking"],
        started_at=times["started"],
        finished_at=times["finished"],
    )


def _read_move(place: str, setup: GameSetup, written: object) -> RecordedMove:
    if not isinstance(written, list) or len(written) not in (2, 3):
        raise fail(place, written, "[seat, move] or [seat, move, verdict]")
    seat = whole(0, setup.seats - 1)(f"{place}[0]", written[0])
    text = optional(a_text)(f"{place}[1]", written[1])
    move = None if text is None else parse_move(setup.ruleset.name, text)
    if text is not None and move is None:
        raise fail(f"{place}[1]", text, f"a move of {setup.ruleset.name}")
    verdict: Verdict = "played" if len(written) == 2 else one_of(*get_args(Verdict))(f"{place}[2]", written[2])
    return RecordedMove(seat, move, verdict)


def _read_forfeit(place: str, setup: GameSetup, written: object) -> Forfeit:
    if not isinstance(written, list) or len(written) != 3:
        raise fail(place, written, "[seat, reason, number of moves]")
    return Forfeit(
        whole(0, setup.seats - 1)(f"{place}[0]", written[0]),
        one_of(*get_args(ForfeitReason))(f"{place}[1]", written[1]),
        whole(0)(f"{place}[2]", written[2]),
    )


def _anything(_place: str, value: object) -> object:
    """Reads what is read later, when the set-up is known."""
    return value


def _seed(place: str, value: object) -> bytes:
    try:
        seed = bytes.fromhex(a_text(place, value))
    except ReadingError:
        raise
    except ValueError:
        seed = b""
    if len(seed) != SEED_BYTES:
        raise fail(place, value, f"{2 * SEED_BYTES} hexadecimal digits")
    return seed


def _timestamp(place: str, value: object) -> datetime:
    try:
        return datetime.fromisoformat(a_text(place, value))
    except ReadingError:
        raise
    except ValueError:
        raise fail(place, value, "a date and time of ISO 8601") from None


def _all_of(**readers: Any) -> Any:
    return record_of(readers, required=frozenset(readers))


_DOCUMENT: Final = _all_of(
    format=one_of(FORMAT),
    game=_all_of(
        id=a_text,
        ruleset=a_text,
        rules_version=whole(1),
        options=an_object,
        seed=_seed,
        bots=list_of(list_of(a_text, 2)),
        clock=optional(list_of(whole(0), 3)),
        moves=list_of(_anything),
        forfeits=list_of(_anything),
        events=whole(0),
    ),
    times=_all_of(thinking=list_of(whole(0)), started=optional(_timestamp), finished=optional(_timestamp)),
)
