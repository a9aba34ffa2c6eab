"""Whether the clocks of a tournament's games can be trusted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from rummyarena_server.referee.clock import SECOND, TimeControl
from rummyarena_server.referee.lag import tolerable_lag
from rummyarena_server.store.models import GAME, TOURNAMENT


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
    control = _time_control(json.loads(session.execute(configuration).scalar_one()))
    if control is None:
        return None
    tolerable = tolerable_lag(control)
    games, doubtful, worst = session.execute(
        select(func.count(), func.count().filter(GAME.c.lag > tolerable), func.max(GAME.c.lag)).where(
            GAME.c.tournament_id == tournament_id, GAME.c.status == "finished"
        )
    ).one()
    return Timing(tolerable, worst or 0, games, doubtful)


def _time_control(said: Mapping[str, Any]) -> TimeControl | None:
    if said["clock"] == "off":
        return None
    seconds = (said["decision_seconds"], said["bank_seconds"], said["increment_seconds"])
    return TimeControl(*(round(one * SECOND) for one in seconds))
