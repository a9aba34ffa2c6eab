"""The tournaments of a database at a glance: what is stored of them, with the length of their schedules."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy.orm import Session

from rummyarena_server.store.history import all_tournaments, entrants, recorded_counts
from rummyarena_server.store.records import find_tournament
from rummyarena_server.store.results import EntrantPlan, StoredTournament, TournamentSummary, variant_text
from rummyarena_server.tournament.formats import games_of, schedule_of


def tournaments(session: Session) -> list[TournamentSummary]:
    """Returns all tournaments in the order of opening."""
    recorded = recorded_counts(session)
    return [_summary(one, entrants(session, one.id), recorded.get(one.id, 0)) for one in all_tournaments(session)]


def tournament(session: Session, name: str) -> TournamentSummary | None:
    """Returns the tournament of this name."""
    stored = find_tournament(session, name)
    if stored is None:
        return None
    return _summary(stored, entrants(session, stored.id), recorded_counts(session, stored.id).get(stored.id, 0))


def _summary(stored: StoredTournament, bots: tuple[EntrantPlan, ...], recorded: int) -> TournamentSummary:
    said: dict[str, Any] = json.loads(stored.configuration)
    is_over = stored.status == "finished"  # perhaps before its time, as a ladder of which too few bots are left
    return TournamentSummary(
        id=stored.id,
        name=stored.name,
        imported=stored.imported,
        format=said.get("format", "round-robin"),
        ruleset=said["ruleset"],
        variant=variant_text(said["ruleset"], said["rules_version"], said["seats"], said["options"]),
        seats=said["seats"],
        shares_deals=said["deals"] == "shared",
        bots=bots,
        status=stored.status,
        recorded=recorded,
        rated=said.get("rated", True),
        rated_games=stored.rated_games,
        games=recorded if is_over else games_of(schedule_of(said, stored.schedule_seed, len(bots))),
        opened_at=stored.opened_at,
        finished_at=stored.finished_at,
    )
