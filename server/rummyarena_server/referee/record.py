"""What remains of a game: the record that gives all its events again, as values and as canonical JSON.

The JSON is format 1, which a database keeps beside the result. `game` says what was played and how it was judged; equal
games have equal texts there. `times` holds what differs from run to run: thinking times and timestamps. Its moves are
written as in notation.md. A game in a file of its own has more to say: see `record_files`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from rummyarena_rules.events import Event, Seat
from rummyarena_rules.moves import Down, Move
from rummyarena_rules.notation import canonical, move_text, parse_move
from rummyarena_rules.options import changed_options
from rummyarena_rules.reading import (
    Reader,
    ReadingError,
    a_text,
    an_object,
    fail,
    list_of,
    one_of,
    optional,
    read_json,
    shown,
    whole,
)
from rummyarena_rules.reading import record_of as object_of
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


class UnknownRulesError(RecordError):
    """A record of rules that are not known here; nothing need be wrong with it."""


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


# --- as it is written ------------------------------------------------------------------------------------------------


class WrittenMove(NamedTuple):
    """A move as it is written; no text: the rules answered."""

    seat: Seat
    text: str | None
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenPlay:
    """What was played in a game, readable without its rules; see `GameRecord`."""

    moves: tuple[WrittenMove, ...]
    forfeits: tuple[Forfeit, ...]
    events: int
    thinking: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where in a tournament a game was played.

    `secret_digest`: SHA-256 of the secret from which the game's seed follows, by `group` where `shares_deals`, else by
    group, rotation and attempt; `secret`: that secret itself, `None` where it is not revealed.
    """

    tournament: str
    index: int
    group: int
    rotation: int
    attempt: int
    shares_deals: bool
    secret_digest: bytes | None
    secret: bytes | None = field(repr=False)

    def fits(self, seats: int) -> bool:
        """Tells whether index, group and rotation belong together; a group has as many games as its table has seats."""
        return (self.group, self.rotation) == divmod(self.index, seats) if seats else False


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSeat:
    """What a game brought to one seat; `forfeit`: a `ForfeitReason`, or `withdrawn` if its bot was so before it."""

    rank: int
    total: int
    points: int
    forfeit: ForfeitReason | Literal["withdrawn"] | None
    faults: int
    thinking: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenResult:
    """How a game ended; `unplayed`: decided by forfeits before it began. See `GameOutcome` for the rest."""

    status: Literal["finished", "unplayed"]
    reason: str
    rated: bool
    deals: int
    counted_deals: int
    seats: tuple[WrittenSeat, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenGame:
    """A game as it is written down, readable without its rules.

    `play`: `None` where the moves were not kept, or none were played. `origin` and `result`: `None` in format 1.
    `digest`: what was published of the seed, as the file says; `lag`: by how many microseconds the server was late.
    `is_whole`: whether the checksum of the file that it was read from is right, `None` if there is none.
    """

    id: str
    ruleset: str
    rules_version: int
    options: Mapping[str, object]
    seed: bytes = field(repr=False)
    digest: bytes | None = None
    bots: tuple[SeatedBot, ...]
    time_control: TimeControl | None
    play: WrittenPlay | None
    started_at: datetime | None
    finished_at: datetime | None
    lag: int = 0
    origin: Origin | None = None
    result: WrittenResult | None = None
    is_whole: bool | None = field(default=None, compare=False)


# --- replay ----------------------------------------------------------------------------------------------------------


class Replay:
    """A recorded game as it is carried out again; `state` is where it stands, `moves` and `events` how far it is."""

    def __init__(self, record: GameRecord) -> None:
        setup = record.setup
        self.record = record
        self.state: AnyState = setup.ruleset.start(setup.options, setup.seats, setup.seed)
        self.moves = self.events = 0

    @property
    def is_at_end(self) -> bool:
        """Whether as many events are there as are recorded."""
        return self.events >= self.record.events

    def due(self) -> tuple[RecordedMove, ...]:
        """Returns the recorded moves that come next, one for each seat that owes an answer; none before a deal.

        `RecordError` if they are not of these seats.
        """
        seats = tuple(self.record.setup.ruleset.decisions(self.state))
        moves = self.record.moves[self.moves : self.moves + len(seats)]
        if tuple(one.seat for one in moves) != seats:
            theirs = _seats(one.seat for one in moves) if moves else "nobody: the record ends here"
            raise RecordError(f"move {self.moves}: an answer of {_seats(seats)} is due, not of {theirs}")
        return moves

    def advance(self) -> tuple[Event, ...]:
        """Carries out the moves that are due, or deals, and returns the events; `RecordError` if the rules refuse."""
        ruleset, moves = self.record.setup.ruleset, self.due()
        if moves:
            for number, one in enumerate(moves, self.moves):
                self._check(number, one)
            events = ruleset.resolve(self.state, {one.seat: one.move for one in moves})
        elif ruleset.result(self.state) is not None:
            raise RecordError(f"the game is over after {self.events} events, but {self.record.events} are recorded")
        else:
            events = ruleset.deal(self.state)
        for event in events:
            ruleset.evolve(self.state, event)
        self.moves += len(moves)
        self.events += len(events)
        return events

    def finish(self) -> None:
        """Raises `RecordError` unless all that is recorded, and nothing else, was carried out."""
        moves, events = len(self.record.moves), self.record.events
        if (self.moves, self.events) != (moves, events):
            raise RecordError(
                f"{self.moves} moves gave {self.events} events; recorded are {moves} moves and {events} events"
            )

    def _check(self, number: int, one: RecordedMove) -> None:
        ruleset = self.record.setup.ruleset
        view = ruleset.view(self.state, one.seat)
        if one.move is None:
            if ruleset.fallback(view) is not None:
                raise RecordError(f"move {number}: the rules do not answer for seat {one.seat} here")
            return
        refusal = ruleset.check(view, one.move)
        if refusal is not None:
            raise RecordError(f"move {number}: seat {one.seat} cannot play it here: {refusal.message}")


def replay(record: GameRecord) -> Iterator[Event]:
    """Yields the events of a recorded game, unredacted, as they were; `RecordError` where the record does not fit."""
    game = Replay(record)
    while not game.is_at_end:
        yield from game.advance()
    game.finish()


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
    # The groups of a `down` get the numbers of their melds in the order written, so that order is kept.
    move = one.move if one.move is None or isinstance(one.move, Down) else canonical(game, one.move)
    text = None if move is None else move_text(move)
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
    return record_of(read_stored(text), rulesets)


def read_stored(text: str) -> WrittenGame:
    """Returns what `to_json` wrote, whatever rules it needs; `RecordError` names the place of what cannot be."""
    try:
        return from_document("record", read_json(text))
    except ReadingError as error:
        raise RecordError(str(error)) from None


def from_document(place: str, document: object) -> WrittenGame:
    """Returns what a JSON value of format 1 says; `ReadingError` names the place of what cannot be."""
    read = _DOCUMENT(place, document)
    game, times = read["game"], read["times"]
    seats = len(game["bots"])
    return WrittenGame(
        id=game["id"],
        ruleset=game["ruleset"],
        rules_version=game["rules_version"],
        options=game["options"],
        seed=game["seed"],
        bots=tuple(SeatedBot(*bot) for bot in game["bots"]),
        time_control=None if game["clock"] is None else TimeControl(*game["clock"]),
        play=WrittenPlay(
            moves=list_of(written_move(seats))(f"{place}.game.moves", game["moves"]),
            forfeits=list_of(written_forfeit(seats))(f"{place}.game.forfeits", game["forfeits"]),
            events=game["events"],
            thinking=times["thinking"],
        ),
        started_at=times["started"],
        finished_at=times["finished"],
    )


def written_move(seats: int) -> Reader:
    """Makes a reader of moves at a table of so many seats: [seat, move] or [seat, move, verdict]."""

    def read(place: str, value: object) -> WrittenMove:
        if not isinstance(value, list) or len(value) not in (2, 3):
            raise fail(place, value, "[seat, move] or [seat, move, verdict]")
        seat = whole(0, seats - 1)(f"{place}[0]", value[0])
        text = optional(a_text)(f"{place}[1]", value[1])
        return WrittenMove(seat, text, "played" if len(value) == 2 else VERDICT(f"{place}[2]", value[2]))

    return read


def written_forfeit(seats: int) -> Reader:
    """Makes a reader of forfeits at a table of so many seats: [seat, reason, number of moves]."""

    def read(place: str, value: object) -> Forfeit:
        if not isinstance(value, list) or len(value) != 3:
            raise fail(place, value, "[seat, reason, number of moves]")
        return Forfeit(
            whole(0, seats - 1)(f"{place}[0]", value[0]),
            FORFEIT_REASON(f"{place}[1]", value[1]),
            whole(0)(f"{place}[2]", value[2]),
        )

    return read


def record_of(game: WrittenGame, rulesets: Mapping[str, Ruleset[Any]] = RULESETS) -> GameRecord:
    """Returns the record of a written game, by whose rules it can be replayed; `RecordError` says why it cannot be."""
    if game.play is None:
        raise RecordError("its moves were not kept")
    setup, play = setup_of(game, rulesets), game.play
    if len(play.thinking) != len(play.moves):
        raise RecordError(f"there are {len(play.thinking)} thinking times for {len(play.moves)} moves")
    return GameRecord(
        setup=setup,
        moves=tuple(_recorded(setup.ruleset.name, number, one) for number, one in enumerate(play.moves)),
        forfeits=play.forfeits,
        events=play.events,
        thinking=play.thinking,
        started_at=game.started_at,
        finished_at=game.finished_at,
    )


def setup_of(game: WrittenGame, rulesets: Mapping[str, Ruleset[Any]] = RULESETS) -> GameSetup:
    """Returns what was fixed before a written game began; `RecordError` if its rules do not allow that.

    `UnknownRulesError` if they are not known here.
    """
    ruleset = rulesets.get(game.ruleset)
    if ruleset is None:
        raise UnknownRulesError(f"there is no ruleset {shown(game.ruleset)}; there are {', '.join(rulesets)}")
    if game.rules_version != ruleset.version:
        raise UnknownRulesError(
            f"the record is of version {game.rules_version} of the rules of {ruleset.name}, this program plays version "
            f"{ruleset.version}; replay it with the version of Rummy Arena that wrote it"
        )
    options = ruleset.configure(game.options, len(game.bots))
    if isinstance(options, list):
        raise RecordError("; ".join(refusal.message for refusal in options))
    return GameSetup(
        game_id=game.id,
        ruleset=ruleset,
        options=options,
        seed=game.seed,
        bots=game.bots,
        time_control=game.time_control,
    )


def _recorded(game: str, number: int, one: WrittenMove) -> RecordedMove:
    move = None if one.text is None else parse_move(game, one.text)
    if one.text is not None and move is None:
        raise RecordError(f"move {number}: {shown(one.text)} is no move of {game}")
    return RecordedMove(one.seat, move, one.verdict)


def _anything(_place: str, value: object) -> object:
    """Reads what is read later, when the number of seats is known."""
    return value


def hexadecimal(place: str, value: object) -> bytes:
    """Reads 32 bytes from hexadecimal digits."""
    text = a_text(place, value)
    try:
        read = bytes.fromhex(text) if len(text) == 2 * SEED_BYTES else b""
    except ValueError:
        read = b""
    if len(read) != SEED_BYTES:
        raise fail(place, value, f"{2 * SEED_BYTES} hexadecimal digits")
    return read


def moment(place: str, value: object) -> datetime:
    """Reads a moment, as aware UTC."""
    text = a_text(place, value)
    try:
        read = datetime.fromisoformat(text)
        if read.tzinfo is not None:
            return read.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise fail(place, value, "a date and time of ISO 8601 with its offset from UTC")


def _all_of(**readers: Any) -> Any:
    return object_of(readers, required=frozenset(readers))


VERDICT: Final = one_of(*get_args(Verdict))
FORFEIT_REASON: Final = one_of(*get_args(ForfeitReason))

_DOCUMENT: Final = _all_of(
    format=one_of(FORMAT),
    game=_all_of(
        id=a_text,
        ruleset=a_text,
        rules_version=whole(1),
        options=an_object,
        seed=hexadecimal,
        bots=list_of(list_of(a_text, 2)),
        clock=optional(list_of(whole(0), 3)),
        moves=_anything,
        forfeits=_anything,
        events=whole(0),
    ),
    times=_all_of(thinking=list_of(whole(0)), started=optional(moment), finished=optional(moment)),
)
