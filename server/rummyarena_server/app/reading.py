"""Reads what is stored, for people and programs to look at."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rummyarena_server.app.playing import Table
from rummyarena_server.store.forfeits import forfeits
from rummyarena_server.store.history import game_record, games
from rummyarena_server.store.records import find_tournament
from rummyarena_server.store.results import BotRating, GameSummary, SeatForfeit, StoredGame, TournamentSummary
from rummyarena_server.store.standings import ladder
from rummyarena_server.store.store import Store, open_store
from rummyarena_server.tournament.archive import tournament, tournaments
from rummyarena_server.tournament.table import ranked
from rummyarena_server.tournament.timing import timing
from rummyarena_server.tournament.waves import CommittedWave, last_wave

if TYPE_CHECKING:
    from rummyarena_server.tournament.figures import Figures, Statistics

_GAMES_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class Shown:
    """A stored tournament with its table, provisional if it is not finished, its figures, and a page of its games.

    `wave`: of a ladder the last that was opened; `None` if there is none, or it was played elsewhere.
    """

    summary: TournamentSummary
    table: Table
    figures: Figures | None
    games: tuple[GameSummary, ...]
    wave: CommittedWave | None


@dataclass(frozen=True, slots=True)
class InDetail:
    """A stored tournament with all that its complete deal groups say; `None` if none of their games is rated.

    `forfeits`: how many games each bot, by its number, forfeited for each reason; who forfeited none is absent.
    """

    summary: TournamentSummary
    statistics: Statistics | None
    forfeits: Mapping[int, Mapping[SeatForfeit, int]]


@dataclass(frozen=True, slots=True)
class Ladder:
    """The Elo of all bots in all variants, and the tournaments that are not finished, whose games are not in it yet.

    Tournaments that are to count for no Elo are not among these.
    """

    ratings: tuple[BotRating, ...]
    unfinished: tuple[TournamentSummary, ...]


async def read_ladder(database: str) -> Ladder:
    """Returns the Elo of all bots in all variants; `StoreError` where there is no such database."""
    async with reading(database) as store:
        stored = await store.read(tournaments)
        unfinished = tuple(one for one in stored if one.rated and one.status != "finished")
        return Ladder(tuple(await store.read(ladder)), unfinished)


async def read_tournaments(database: str) -> tuple[TournamentSummary, ...]:
    """Returns all tournaments in the order of opening; `StoreError` where there is no such database."""
    async with reading(database) as store:
        return tuple(await store.read(tournaments))


async def read_tournament(database: str, name: str, games_after: int, most_games: int) -> Shown | None:
    """Returns a tournament with its table and a page of its games, `None` if there is none of that name.

    `games_after`: the index before the first game of the page, -1 for the first page.
    """
    async with reading(database) as store:
        summary = await store.read(tournament, name)
        if summary is None:
            return None
        table = Table(
            tuple(await store.read(ranked, summary.id)),
            tuple(await store.read(ladder)),
            await store.read(timing, summary.id),
        )
        # Imported only here: numpy starts threads, which a server full of bots has no use for.
        from rummyarena_server.tournament.figures import figures

        found = await store.read(figures, summary.id, len(summary.bots), summary.seats)
        page = await store.read(games, summary.id, after=games_after, limit=most_games)
        return Shown(summary, table, found, tuple(page), await _wave(store, summary))


async def _wave(store: Store, summary: TournamentSummary) -> CommittedWave | None:
    stored = await store.read(find_tournament, summary.name) if summary.format == "ladder" else None
    return None if stored is None else await store.read(last_wave, stored)


async def read_statistics(database: str, name: str) -> InDetail | None:
    """Returns a tournament with all that its complete deal groups say, `None` if there is none of that name."""
    async with reading(database) as store:
        summary = await store.read(tournament, name)
        if summary is None:
            return None
        # Imported only here, for numpy: see above.
        from rummyarena_server.tournament.figures import statistics

        found = await store.read(statistics, summary.id, len(summary.bots), summary.seats)
        return InDetail(summary, found, await store.read(forfeits, summary.id, summary.seats))


async def read_summary(database: str, name: str) -> TournamentSummary | None:
    """Returns what a tournament is and how far it has come, `None` if there is none of that name."""
    async with reading(database) as store:
        return await store.read(tournament, name)


async def read_games(database: str, tournament_id: int, tell: Callable[[GameSummary], None]) -> None:
    """Tells all recorded games of a tournament in the order of the schedule, without holding them all at once.

    All that were recorded when it began are among them, and perhaps some that were recorded since.
    """
    async with reading(database) as store:
        last = -1
        while page := await store.read(games, tournament_id, after=last, limit=_GAMES_AT_ONCE):
            for game in page:
                tell(game)
            last = page[-1].index


async def read_game(database: str, game_id: str) -> StoredGame | None:
    """Returns a game that is over by its id, `None` if there is none; see `StoredGame.may_be_shown`."""
    async with reading(database) as store:
        return await store.read(game_record, game_id)


@asynccontextmanager
async def reading(database: str) -> AsyncIterator[Store]:
    """Has a database open that must be there; `StoreError` if it is not."""
    store = open_store(database, must_exist=True)
    try:
        yield store
    finally:
        store.close()
