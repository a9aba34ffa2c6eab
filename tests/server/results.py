"""Tournaments and results for the tests of the store."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from rummyarena_server.store.results import EntrantPlan, GameRecordText, GameResult, SeatResult, TournamentPlan

NOW = datetime(2024, 5, 4, 12, 0, 0, 123456, tzinfo=UTC)
SECRET = bytes(range(32))


def plan(*names: str, name: str = "Friday", **changes: Any) -> TournamentPlan:
    values: dict[str, Any] = {
        "name": name,
        "configuration": {"ruleset": "thai", "seats": 2, "seed": 7, "bots": [{"name": one} for one in names]},
        "schedule_seed": 7,
        "event_secret": SECRET,
        "secret_fixed": False,
        "entrants": tuple(EntrantPlan(one, "1.0", ("./bot", one)) for one in names or ("Ann", "Bob")),
    }
    return TournamentPlan(**(values | changes))


def result(index: int, ranks: tuple[int, ...] = (1, 2), **changes: Any) -> GameResult:
    """A game of thai between entrants 0 and 1, who change seats from game to game; the winner has 40 points more."""
    table = (0, 1) if index % 2 == 0 else (1, 0)
    seats = tuple(
        SeatResult(entrant=entrant, rank=rank, total=100 - 40 * rank, points=90 - 40 * rank, thinking=1_500, faults=1)
        for entrant, rank in zip(table, ranks, strict=True)
    )
    values: dict[str, Any] = {
        "index": index,
        "group": index // 2,
        "rotation": index % 2,
        "seed": bytes([index % 256]) * 32,
        "ruleset": "thai",
        "rules_version": 1,
        "seats": seats,
        "deals": 3,
        "counted_deals": 2,
        "started_at": NOW,
        "finished_at": NOW,
        "record": GameRecordText(format=1, text=f'{{"game":{index}}}'),
    }
    return GameResult(**(values | changes))
