"""The order of a tournament's table."""

from __future__ import annotations

from sqlalchemy.orm import Session

from rummyarena_server.store.results import Standing
from rummyarena_server.store.standings import configuration, standings


def ranked(session: Session, tournament_id: int) -> list[Standing]:
    """Returns the standings of a tournament, best first: by score a game, but in a ladder by strength.

    In a ladder everybody plays against equals, so that a score says little.
    """
    table, said = standings(session, tournament_id), configuration(session, tournament_id)
    if said.get("format") != "ladder":
        return table
    # Imported only here: numpy starts threads, which a server full of bots has no use for.
    from rummyarena_server.tournament.figures import figures

    found = figures(session, tournament_id, len(table), said["seats"])
    return table if found is None else sorted(table, key=lambda one: -found.strength[one.number].value)
