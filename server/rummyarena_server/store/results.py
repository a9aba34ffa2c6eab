"""The values that go into the store and come out of it; they are checked here, the tables are not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, TypeAlias, get_args

SeatForfeit: TypeAlias = Literal["faults", "exited", "gone", "misuse", "withdrawn"]
"""Why a seat was forfeited: as the referee says, or `withdrawn` where its bot had been before the game."""

GameStatus: TypeAlias = Literal["finished", "unplayed"]
TournamentStatus: TypeAlias = Literal["running", "finished"]

_SEED_BYTES: Final = 32


def canonical_json(value: object) -> str:
    """Returns the one text of a JSON value: sorted names, no blanks."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


# --- in --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EntrantPlan:
    """A bot that takes part: its name, its author's word for the version, and the words that start it.

    `pin`: what holds it to the version it has now, canonical JSON; empty until it is known.
    """

    name: str
    version: str = ""
    command: tuple[str, ...] = ()
    pin: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentPlan:
    """A tournament to be opened or resumed.

    `configuration`: all that must be the same for a resume, ready for JSON. `event_secret`: 32 bytes, used if the
    tournament is new; `secret_fixed`: it comes from the tournament file and must be the same for a resume.
    """

    name: str
    configuration: Mapping[str, object]
    schedule_seed: int
    event_secret: bytes = field(repr=False)
    secret_fixed: bool
    entrants: tuple[EntrantPlan, ...]

    def __post_init__(self) -> None:
        _must(len(self.event_secret) == _SEED_BYTES, "an event secret is 32 bytes")
        _must(len({one.name for one in self.entrants}) == len(self.entrants) >= 2, "two or more entrants, each once")


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatResult:
    """What a game brought to one seat.

    `entrant`: its number in the tournament. `rank`: 1 is best. `total`: over all finished deals; `points`: over those
    that count, the ones before the first forfeit. `thinking`: microseconds.
    """

    entrant: int
    rank: int
    total: int = 0
    points: int = 0
    forfeit: SeatForfeit | None = None
    thinking: int = 0
    faults: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRecordText:
    """The record of a game as text, and the version of its format."""

    format: int
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class GameResult:
    """A game of a tournament that is over.

    `index`, `group`, `rotation`, `attempt`, `seed`: as scheduled. `options`: those that differ from the defaults.
    `reason`: how it came to its end, in words, if not by the rules. `seats`: in the order of the seats. `status`:
    `unplayed` if it was decided by forfeits before it began; then there are no deals, times or record. `lag`: by how
    many microseconds the server was late at worst while it was played. `record`: `None` where it is not to be kept.
    """

    index: int
    group: int
    rotation: int
    seed: bytes = field(repr=False)
    ruleset: str
    rules_version: int
    seats: tuple[SeatResult, ...]
    attempt: int = 0
    options: Mapping[str, object] = field(default_factory=dict)
    status: GameStatus = "finished"
    reason: str = ""
    deals: int = 0
    counted_deals: int = 0
    rated: bool = True
    lag: int = 0
    started_at: datetime | None = None
    finished_at: datetime | None = None
    record: GameRecordText | None = None

    def __post_init__(self) -> None:
        _must(min(self.index, self.group, self.rotation, self.attempt) >= 0, "numbers count from 0")
        _must(len(self.seed) == _SEED_BYTES, "a game seed is 32 bytes")
        _must(self.status in get_args(GameStatus), f"no status is {self.status!r}")
        _must(0 <= self.counted_deals <= self.deals, "the deals that count are among the finished ones")
        _must(self.record is None or self.status != "unplayed", "a game has a record only if it was played")
        _must(self.lag >= 0, "nothing is early")
        self._check_seats()

    def _check_seats(self) -> None:
        entrants = [one.entrant for one in self.seats]
        _must(len(set(entrants)) == len(entrants) >= 2, "two or more seats, each of another entrant")
        _must(all(1 <= one.rank <= len(self.seats) for one in self.seats), "ranks are 1 .. seats")
        _must(not self.rated or any(one.rank == 1 for one in self.seats), "a rated game has a winner")
        _must(all(one.forfeit in (None, *get_args(SeatForfeit)) for one in self.seats), "an unknown kind of forfeit")
        _must(all(min(one.thinking, one.faults) >= 0 for one in self.seats), "times and faults are not negative")


# --- out -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTournament:
    """A tournament as it stands in the store; `event_secret` is not for files, logs or messages while it runs.

    `rated_games`: how many of its games, from the first, count for Elo. `imported`: it was played elsewhere.
    """

    id: int
    name: str
    configuration: str
    schedule_seed: int
    event_secret: bytes = field(repr=False)
    secret_fixed: bool
    status: TournamentStatus
    rated_games: int
    imported: bool
    opened_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentSummary:
    """What a tournament is and how far it has come.

    `variant`: whose Elo its games count for, if it is `rated`. `recorded`: of so many `games` in all, `None` if there
    is no end to them; the first `rated_games` count for Elo. `shares_deals`: whether the games of a deal group have one
    seed. `imported`: it was played elsewhere and read from a file.
    """

    id: int
    name: str
    imported: bool
    format: str
    ruleset: str
    variant: str
    seats: int
    shares_deals: bool
    bots: tuple[EntrantPlan, ...]
    status: TournamentStatus
    recorded: int
    games: int | None
    rated: bool
    rated_games: int
    opened_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatSummary:
    """What a recorded game brought to one seat; see `SeatResult`."""

    bot: str
    version: str
    rank: int
    total: int
    points: int
    forfeit: SeatForfeit | None
    faults: int
    thinking: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSummary:
    """A recorded game without its moves; `seats` in the order of the seats. `id`: as its bots were told it.

    `lag`: see `GameResult`.
    """

    id: str
    index: int
    group: int
    rotation: int
    attempt: int
    status: GameStatus
    reason: str
    deals: int
    counted_deals: int
    rated: bool
    lag: int
    started_at: datetime | None
    finished_at: datetime | None
    seats: tuple[SeatSummary, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredGame:
    """A game as it can be shown: its moves, or of one that was abandoned no more than its seed.

    `status`: `unplayed` and `abandoned` games have no record, and these alone no `summary`. `may_be_shown`: whether
    its cards may be seen: until every game on the same seed is recorded, neither `seed` nor `record` is for anybody.
    """

    id: str
    tournament: str
    index: int
    status: Literal["finished", "unplayed", "abandoned"]
    seed: bytes = field(repr=False)
    may_be_shown: bool
    summary: GameSummary | None
    record: GameRecordText | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What an entrant has done in a tournament, over its complete deal groups.

    `wins`: games in which it alone was first; `draws`: in which it shared the first place. `score`: for each rated game
    the share of its opponents that it beat, ties half. `deals`: those that count, `points` its own in them and
    `difference` its own less the mean of its opponents', turned round where the lowest total wins: more is better in
    every game. `thinking`: microseconds.
    """

    number: int
    name: str
    version: str
    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    score: float = 0.0
    deals: int = 0
    points: int = 0
    difference: float = 0.0
    forfeits: int = 0
    faults: int = 0
    thinking: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BotRating:
    """The Elo of a bot in a variant (see `variant_text`) and the rated games behind it."""

    variant: str
    bot: str
    elo: float
    games: int
    wins: int
    draws: int
    losses: int


@dataclass(frozen=True, slots=True)
class RatedGame:
    """A game that counts for ratings: its variant, and the bots' ids and ranks in the order of the seats."""

    variant: str
    bots: tuple[int, ...]
    ranks: tuple[int, ...]


def variant_text(ruleset: str, rules_version: int, seats: int, options: Mapping[str, object]) -> str:
    """Returns the text that names a variant, such as `thai 1, 2 seats, target_score=300`; each has its own Elo.

    `options`: those that differ from the defaults.
    """
    words = {name: value if isinstance(value, str) else json.dumps(value) for name, value in options.items()}
    changed = [f"{name}={words[name]}" for name in sorted(words)]
    return ", ".join([f"{ruleset} {rules_version}", f"{seats} seats", *changed])


def _must(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
