"""Who forfeited how often, and why: a function of a session, as in `records`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from rummyarena_server.store.groups import complete_groups
from rummyarena_server.store.models import ENTRANT, GAME, SEAT
from rummyarena_server.store.results import SeatForfeit


def forfeits(session: Session, tournament_id: int, seats: int) -> Mapping[int, Mapping[SeatForfeit, int]]:
    """Returns how many games each entrant, by its number, forfeited for each reason; who forfeited none is absent.

    Like the standings it counts complete deal groups only. `seats`: at a table.
    """
    complete = complete_groups(tournament_id, seats)
    rows = session.execute(
        select(ENTRANT.c.number, SEAT.c.forfeit, func.count().label("games"))
        .join(GAME, GAME.c.id == SEAT.c.game_id)
        .join(ENTRANT, ENTRANT.c.id == SEAT.c.entrant_id)
        .where(GAME.c.tournament_id == tournament_id, SEAT.c.forfeit.is_not(None), GAME.c.deal_group.in_(complete))
        .group_by(ENTRANT.c.number, SEAT.c.forfeit)
        .order_by(ENTRANT.c.number, SEAT.c.forfeit)
    )
    found: defaultdict[int, dict[SeatForfeit, int]] = defaultdict(dict)
    for row in rows:
        found[row.number][row.forfeit] = row.games
    return found
