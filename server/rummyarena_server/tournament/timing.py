"""Whether the clocks of a tournament's games can be trusted."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from rummyarena_server.referee.lag import tolerable_lag
from rummyarena_server.store.models import GAME, TOURNAMENT
from rummyarena_server.store.written import time_control


@dataclass(frozen=True, slots=True)
class Timing:
    """How late the server was while a tournament's games were played, in microseconds.

    `tolerable`: beyond it a game is `doubtful`, as so many of the `games` played so far are. `worst`: of all.
    """

    tolerable: int
    worst: int
    games: int
    doubtful: int


def timing(session: Session, tournament_id: int) -> Timing | None:
    """Returns how late the server was in the recorded games of a tournament; `None` if they have no clock."""
    configuration = select(TOURNAMENT.c.configuration).where(TOURNAMENT.c.id == tournament_id)
    control = time_control(json.loads(session.execute(configuration).scalar_one()))
    if control is None:
        return None
    tolerable = tolerable_lag(control)
    games, doubtful, worst = session.execute(
        select(func.count(), func.count().filter(GAME.c.lag > tolerable), func.max(GAME.c.lag)).where(
            GAME.c.tournament_id == tournament_id, GAME.c.status == "finished"
        )
    ).one()
    return Timing(tolerable, worst or 0, games, doubtful)
