"""Deal groups: which are complete, so that they count, and whose cards may be seen; functions as in `records`."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from rummyarena_server.store.models import GAME
from rummyarena_server.store.results import StoredTournament


def complete_groups(tournament_id: int, seats: int) -> Select[Any]:
    """Returns the query for the deal groups of which as many games are recorded as a table has seats."""
    return (
        select(GAME.c.deal_group)
        .where(GAME.c.tournament_id == tournament_id)
        .group_by(GAME.c.deal_group)
        .having(func.count() == seats)
    )


def shown_groups(session: Session, tournament: StoredTournament, groups: Collection[int]) -> set[int]:
    """Returns which of some deal groups anybody may see: those on whose cards no other game is to be played any more.

    Of a tournament that is over that is any, also one of which not all games were played.
    """
    said = json.loads(tournament.configuration)
    if tournament.status == "finished" or said["deals"] != "shared":
        return set(groups)
    complete = complete_groups(tournament.id, said["seats"]).where(GAME.c.deal_group.in_(groups))
    return set(session.execute(complete).scalars())
