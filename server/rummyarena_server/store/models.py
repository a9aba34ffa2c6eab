"""The tables; storage only: values are checked where they come in (`results`).

The texts `configuration`, `options` and `command` are canonical JSON. Times are aware and in UTC. Thinking times are
whole microseconds. A change here needs a migration; a test compares the two.
"""

# No `from __future__ import annotations`: SQLModel reads the annotations when the classes are made.

from datetime import UTC, datetime
from typing import Any, ClassVar, Final

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    DateTime,
    Dialect,
    MetaData,
    TypeDecorator,
    UniqueConstraint,
    false,
    text,
)
from sqlmodel import Field, SQLModel

NAMING: Final = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
"""Names of constraints, without which a migration could not change them."""


class UtcDateTime(TypeDecorator[datetime]):
    """A moment; aware and in UTC on both sides, also where the database knows no time zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Returns what is stored; `ValueError` for a time without a zone."""
        if value is not None and value.tzinfo is None:
            raise ValueError(f"{value} has no time zone")
        return value and value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - as above
        """Returns the stored moment as aware UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Table(SQLModel):
    """What all tables share; not a table itself."""

    metadata: ClassVar[MetaData] = MetaData(naming_convention=NAMING)


class Bot(Table, table=True):
    """A bot under the name by which its Elo is kept across tournaments and versions."""

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    created_at: datetime = Field(sa_type=UtcDateTime)


class Tournament(Table, table=True):
    """An event; ids rise in the order of opening and are never used again. `event_secret` stays in this table.

    `rated_games`: how many of its games, from the first, count for Elo. `imported`: it was played elsewhere.
    """

    __table_args__: ClassVar[Any] = (
        CheckConstraint("status IN ('running', 'finished')", name="status"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    configuration: str
    schedule_seed: int = Field(sa_type=BigInteger)
    event_secret: bytes = Field(repr=False)
    secret_fixed: bool
    status: str = "running"
    rated_games: int = Field(default=0, sa_type=BigInteger, sa_column_kwargs={"server_default": "0"})
    imported: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    opened_at: datetime = Field(sa_type=UtcDateTime)
    finished_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class Entrant(Table, table=True):
    """A bot, in one version, as it takes part in one tournament; `number` counts from 0.

    `pin`: what holds it to that version, canonical JSON; empty until it is known.
    """

    __table_args__: ClassVar[Any] = (UniqueConstraint("tournament_id", "number"),)

    id: int | None = Field(default=None, primary_key=True)
    tournament_id: int = Field(foreign_key="tournament.id")
    number: int
    bot_id: int = Field(foreign_key="bot.id", index=True)
    version: str
    command: str
    pin: str = Field(default="", sa_column_kwargs={"server_default": text("''")})


class Round(Table, table=True):
    """A round whose tables depend on results, stored before its first game; `tables`: lists of entrants, as JSON."""

    tournament_id: int = Field(primary_key=True, foreign_key="tournament.id")
    number: int = Field(primary_key=True)
    tables: str
    opened_at: datetime = Field(sa_type=UtcDateTime)


class Game(Table, table=True):
    """A recorded game; `schedule_index` and its tournament are the key under which it is recorded exactly once.

    `attempt`: how many times it was begun and abandoned before. `counted_deals`: those finished before a forfeit.
    `lag`: by how many microseconds this server was late at worst while it was played.
    """

    __table_args__: ClassVar[Any] = (
        UniqueConstraint("tournament_id", "schedule_index"),
        CheckConstraint("status IN ('finished', 'unplayed')", name="status"),
    )

    id: int | None = Field(default=None, primary_key=True)
    tournament_id: int = Field(foreign_key="tournament.id")
    schedule_index: int = Field(sa_type=BigInteger)
    deal_group: int = Field(sa_type=BigInteger)
    rotation: int
    attempt: int
    seed: bytes = Field(repr=False)
    ruleset: str
    rules_version: int
    options: str
    status: str
    reason: str
    deals: int
    counted_deals: int
    rated: bool
    lag: int = Field(default=0, sa_type=BigInteger, sa_column_kwargs={"server_default": "0"})
    started_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    finished_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    recorded_at: datetime = Field(sa_type=UtcDateTime)


class Seat(Table, table=True):
    """What a game brought an entrant; `total` over all finished deals, `points` over the counted ones."""

    game_id: int = Field(primary_key=True, foreign_key="game.id")
    seat: int = Field(primary_key=True)
    entrant_id: int = Field(foreign_key="entrant.id", index=True)
    rank: int
    total: int
    points: int
    forfeit: str | None = None
    thinking: int = Field(sa_type=BigInteger)
    faults: int


class Record(Table, table=True):
    """The record of a game, compressed; `format`: the version of the text inside."""

    game_id: int = Field(primary_key=True, foreign_key="game.id")
    format: int
    codec: str
    content: bytes = Field(repr=False)


class Attempt(Table, table=True):
    """A game with deals of its own that was begun and is not recorded: in play, or abandoned, which reveals its seed.

    `abandoned_at`: `None` while it may be in play; after a kill it stays so until the tournament is resumed.
    """

    tournament_id: int = Field(primary_key=True, foreign_key="tournament.id")
    schedule_index: int = Field(primary_key=True, sa_type=BigInteger)
    attempt: int = Field(primary_key=True)
    seed: bytes = Field(repr=False)
    started_at: datetime = Field(sa_type=UtcDateTime)
    abandoned_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class Rating(Table, table=True):
    """The Elo of a bot in a variant: a cache that can be made again from the games."""

    variant: str = Field(primary_key=True)
    bot_id: int = Field(primary_key=True, foreign_key="bot.id")
    elo: float
    games: int
    wins: int
    draws: int
    losses: int
    updated_at: datetime = Field(sa_type=UtcDateTime)


_TABLES: Final = Table.metadata.tables
BOT: Final = _TABLES["bot"]
TOURNAMENT: Final = _TABLES["tournament"]
ENTRANT: Final = _TABLES["entrant"]
ROUND: Final = _TABLES["round"]
GAME: Final = _TABLES["game"]
SEAT: Final = _TABLES["seat"]
RECORD: Final = _TABLES["record"]
ATTEMPT: Final = _TABLES["attempt"]
RATING: Final = _TABLES["rating"]
