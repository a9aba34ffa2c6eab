"""Verifies what was played: the games of a file, one game of a database, or a whole tournament with its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from sqlalchemy.orm import Session

from rummyarena_server.app.archiving import GAMES_AT_ONCE, games_in
from rummyarena_server.app.reading import reading
from rummyarena_server.store.history import find_game
from rummyarena_server.store.records import find_tournament
from rummyarena_server.store.results import StoredTournament
from rummyarena_server.store.store import Store
from rummyarena_server.store.written import KeptGame
from rummyarena_server.tournament.accounts import (
    Schedules,
    check_complete,
    check_counted,
    check_ratings,
    check_rounds,
    check_standings,
)
from rummyarena_server.tournament.verification import Finding, check_game
from rummyarena_server.tournament.written import written_games

Tell: TypeAlias = Callable[[str, Sequence[Finding]], None]
"""Hears of each game, by its id, what was found."""

_HELD_BACK: Final = "other games are to be played on its deals, so it is not for anybody yet"


@dataclass(slots=True)
class Verified:
    """What was found of a number of games, and of the tables of a tournament.

    `right`, `wrong` and `unchecked`: how many games, by the check. `whys`: how often each reason for not checking was
    given. `wrong_games`: of which anything is wrong. `held_back`: which nobody may see yet; they were not checked.
    """

    games: int = 0
    held_back: int = 0
    wrong_games: int = 0
    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    unchecked: Counter[str] = field(default_factory=Counter)
    whys: Counter[tuple[str, str]] = field(default_factory=Counter)
    tables: tuple[Finding, ...] = ()

    @property
    def is_right(self) -> bool:
        """Whether nothing that could be checked is wrong."""
        return not self.wrong and all(one.right is not False for one in self.tables)

    @property
    def is_checked(self) -> bool:
        """Whether anything could be checked of a game, or is wrong with a table."""
        return bool(self.right or self.wrong) or any(one.right is False for one in self.tables)

    def note(self, findings: Sequence[Finding]) -> None:
        """Counts what was found of a game."""
        self.games += 1
        self.wrong_games += any(one.right is False for one in findings)
        for one in findings:
            {True: self.right, False: self.wrong, None: self.unchecked}[one.right][one.check] += 1
            if one.right is None:
                self.whys[one.check, one.found] += 1


def verify_file(path: Path, tell: Tell) -> Verified:
    """Verifies the games of a file; `GameFileError` where they cannot be read."""
    verified = Verified()
    with games_in(path) as games:
        for game in games:
            findings = tuple(check_game(game))
            verified.note(findings)
            tell(game.id, findings)
    return verified


async def verify_game(database: str, game_id: str, tell: Tell) -> Verified | None:
    """Verifies one game of a database, `None` if there is none of that id that is over."""
    async with reading(database) as store:
        stored = await store.read(find_game, game_id)
        if stored is None:
            return None
        verified = Verified()
        tournament = await store.read(find_tournament, stored.tournament)
        if stored.summary is None or tournament is None:
            findings: tuple[Finding, ...] = (Finding("moves", None, "it was abandoned and counts for nobody"),)
        elif not stored.may_be_shown:
            verified.held_back += 1
            findings = (Finding("moves", None, _HELD_BACK),)
        else:
            ((kept, schedule),) = await store.read(_page, tournament, stored.index - 1, 1)
            findings = (*_found(kept), schedule)
        verified.note(findings)
        tell(stored.id, findings)
        return verified


async def verify_tournament(database: str, name: str, tell: Tell) -> Verified | None:
    """Verifies all recorded games of a tournament, its standings, and Elo; `None` if there is none of that name."""
    async with reading(database) as store:
        tournament = await store.read(find_tournament, name)
        if tournament is None:
            return None
        verified = Verified()
        await _verify_games(store, tournament, verified, tell)
        verified.tables = (
            await store.read(check_complete, tournament),
            await store.read(check_rounds, tournament),
            await store.read(check_counted, tournament),
            await store.read(check_standings, tournament),
            await store.read(check_ratings),
        )
        return verified


async def _verify_games(store: Store, tournament: StoredTournament, verified: Verified, tell: Tell) -> None:
    last = -1
    while page := await store.read(_page, tournament, last, GAMES_AT_ONCE):
        for kept, schedule in page:
            last = kept.index
            if not kept.may_be_shown:
                verified.held_back += 1
                continue
            findings = (*_found(kept), schedule)
            verified.note(findings)
            tell(kept.game.id, findings)


def _page(session: Session, tournament: StoredTournament, after: int, limit: int) -> list[tuple[KeptGame, Finding]]:
    schedules = Schedules(session, tournament)
    return [(one, schedules.check(one)) for one in written_games(session, tournament, after, limit)]


def _found(kept: KeptGame) -> tuple[Finding, ...]:
    """Returns what is found of a game by itself, and whether its record says what the tables say."""
    if kept.contradictions:
        record = Finding("record", False, "; ".join(kept.contradictions))
    elif kept.game.play is None:
        record = Finding("record", None, "there is none")
    else:
        record = Finding("record", True, "it says what the tables say")
    findings = [one for one in check_game(kept.game) if one.check not in _OF_FILES]
    return (*findings, record)


_OF_FILES: Final = ("checksum", "digest")  # a database holds the seed itself
