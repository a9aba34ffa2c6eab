"""The figures of a tournament: strength and points a deal with their bars, and who is likely ahead of whom."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from sqlalchemy.orm import Session

from rummyarena_server.store.standings import lowest_wins, rated_seats
from rummyarena_server.tournament.bars import Estimate
from rummyarena_server.tournament.games import Game, in_columns
from rummyarena_server.tournament.points import points_a_deal
from rummyarena_server.tournament.strength import rate


@dataclass(frozen=True, slots=True)
class Figures:
    """What the complete deal groups of a tournament say of its entrants, in the order of their numbers.

    `strength`: in Elo, relative to the mean of all. `points`: a deal, beyond the others', more is better; `None` where
    no deal counts. `superiority[i][j]`: the likelihood that i is stronger than j, 0 .. 1.
    """

    strength: tuple[Estimate, ...]
    points: tuple[Estimate | None, ...]
    superiority: tuple[tuple[float, ...], ...]


def figures(session: Session, tournament_id: int, entrants: int, seats: int) -> Figures | None:
    """Returns the figures of a tournament of so many entrants, `None` before a deal group is complete."""
    games = []
    for _, rows in groupby(rated_seats(session, tournament_id), key=attrgetter("game_id")):
        table = list(rows)
        games.append(
            Game(
                group=table[0].deal_group,
                table=tuple(one.number for one in table),
                ranks=tuple(one.rank for one in table),
                points=tuple(one.points for one in table),
                deals=table[0].deals,
            )
        )
    if not games:
        return None
    columns = in_columns(entrants, seats, games)
    strengths = rate(columns)
    return Figures(
        strength=strengths.elo,
        points=points_a_deal(columns, lowest_wins(session, tournament_id)),
        superiority=tuple(tuple(map(float, row)) for row in strengths.superiority),
    )
