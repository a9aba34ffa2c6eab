"""Tournaments as they stand in a database, made by the store's functions, for the commands that look back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from sqlalchemy.orm import Session

from rummyarena_server.config import TournamentSettings
from rummyarena_server.store.database import open_engine, writing
from rummyarena_server.store.records import finish_tournament, open_tournament, record_game
from rummyarena_server.store.results import GameResult, SeatForfeit, SeatResult, StoredTournament
from tests.server.results import NOW, plan, result


def store(path: Path, bots: Sequence[str], games: Iterable[GameResult], *, finished: bool = True) -> str:
    """Makes a database with the tournament "Friday", and returns its name as `--db` takes it.

    `bots`: names of any kind, also those that no tournament file may have.
    """
    entered = [{"name": f"bot {number}", "command": "bot"} for number in range(len(bots))]
    settings = TournamentSettings.model_validate({"name": "Friday", "trusted": True, "bots": entered})
    engine = open_engine(path)
    with Session(writing(engine)) as session, session.begin():
        made = open_tournament(session, plan(*bots, configuration=settings.configuration()), NOW)
        assert isinstance(made, StoredTournament)
        for one in games:
            record_game(session, made.id, one, NOW)
        if finished:
            finish_tournament(session, made.id, NOW)
    engine.dispose()
    return str(path)


def group(
    number: int, table: Sequence[int], *ranks: Sequence[int], forfeits: Sequence[SeatForfeit | None] = ()
) -> list[GameResult]:
    """Returns the games of a deal group, the bots moved on by a seat from one to the next.

    `table`: the entrants at first. `ranks`: those of each game, in the order of that table. `forfeits`: of its first
    bots, in all games.
    """
    games = []
    seats = len(table)
    for rotation, places in enumerate(ranks):
        at_the_table = [
            SeatResult(
                entrant=one,
                rank=rank,
                total=100 - 40 * rank,
                points=90 - 40 * rank,
                forfeit=forfeits[at] if at < len(forfeits) else None,
            )
            for at, (one, rank) in enumerate(zip(table, places, strict=True))
        ]
        turned = tuple(at_the_table[rotation:] + at_the_table[:rotation])
        index = number * seats + rotation
        games.append(result(index, group=number, rotation=rotation, seats=turned, rated=1 in places))
    return games
