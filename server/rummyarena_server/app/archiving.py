"""Hands games on in files and takes them in from there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Final

import trio

from rummyarena_rules.reading import printable
from rummyarena_server.app.reading import reading
from rummyarena_server.referee.record import RecordError, WrittenGame
from rummyarena_server.referee.record_files import read_games
from rummyarena_server.store.imports import (
    NO_GAMES,
    Imported,
    ImportRefusedError,
    free_name,
    import_games,
    open_spool,
    prepare,
)
from rummyarena_server.store.records import find_tournament
from rummyarena_server.store.store import open_store
from rummyarena_server.tournament.written import TournamentSecret, tournament_secret, written_games

GAMES_AT_ONCE: Final = 200
_LONGEST_PATH: Final = 4096


class GameFileError(Exception):
    """A file of games that cannot be read; the text names the file, the line and what is wrong there."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{printable(str(path), _LONGEST_PATH)}: {problem}")


@dataclass(frozen=True, slots=True)
class Exported:
    """How many games of a tournament were handed on.

    `without_moves`: of these, played but not kept. `unreadable`: of these, kept in records that cannot be read, so that
    their moves are missing too. `held_back`: as long as other games are to be played on their deals.
    """

    games: int
    without_moves: int
    unreadable: int
    held_back: int


@contextmanager
def games_in(path: Path) -> Iterator[Iterator[WrittenGame]]:
    """Has the games of a file read one at a time; `GameFileError` where they cannot be, also in the block."""
    try:
        with path.open("rb") as file:
            yield read_games(file)
    except RecordError as error:
        raise GameFileError(path, str(error)) from None
    except OSError as error:
        raise GameFileError(path, f"it cannot be read: {(error.strerror or str(error)).lower()}") from None


async def export_records(database: str, name: str, tell: Callable[[WrittenGame], object]) -> Exported | None:
    """Tells the recorded games of a tournament that may be shown, in the order of the schedule, a few at a time.

    `None` if there is no tournament of that name.
    """
    async with reading(database) as store:
        tournament = await store.read(find_tournament, name)
        if tournament is None:
            return None
        told = without_moves = unreadable = held_back = 0
        last = -1
        while page := await store.read(written_games, tournament, last, GAMES_AT_ONCE):
            for one in page:
                if one.may_be_shown:
                    tell(one.game)
                    told += 1
                    lacks_moves = one.game.play is None and one.game.started_at is not None
                    without_moves += lacks_moves and not one.contradictions
                    unreadable += lacks_moves and bool(one.contradictions)
                else:
                    held_back += 1
                last = one.index
        return Exported(told, without_moves, unreadable, held_back)


async def import_records(database: str, path: Path, name: str | None) -> Imported:
    """Takes in a file of games, all or none, as a tournament that is finished and counts for no Elo.

    `name`: of the tournament, if not that in which they were played. Raises `GameFileError` and `ImportRefusedError`.
    It may be cancelled at any time; then nothing was taken in.
    """
    with games_in(path) as games, open_spool() as spool:
        store = open_store(database)
        try:
            first = await trio.to_thread.run_sync(next, games, None)
            if first is None:
                raise ImportRefusedError(NO_GAMES)
            free = await store.read(free_name, name, first)
            prepared = await trio.to_thread.run_sync(prepare, _heeding(chain([first], games)), free, spool)
            return await store.write(import_games, prepared, datetime.now(UTC), trio.from_thread.check_cancelled)
        finally:
            store.close()


def _heeding(games: Iterator[WrittenGame]) -> Iterator[WrittenGame]:
    """Has a thread that reads games stop when it is interrupted."""
    for game in games:
        trio.from_thread.check_cancelled()
        yield game


async def read_secret(database: str, name: str) -> TournamentSecret | None:
    """Returns what may be told of a tournament's secret, `None` if there is no tournament of that name."""
    async with reading(database) as store:
        tournament = await store.read(find_tournament, name)
        return None if tournament is None else tournament_secret(tournament)
