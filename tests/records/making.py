"""Games for the tests of records: played by bots that draw lots, written down as a tournament would."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import trio
import trio.testing

from rummyarena_rules.events import Seat
from rummyarena_rules.registry import RULESETS
from rummyarena_server.referee.clock import SECOND, TimeControl
from rummyarena_server.referee.outcome import GameOutcome
from rummyarena_server.referee.players import Player
from rummyarena_server.referee.record import (
    GameSetup,
    Origin,
    WrittenGame,
    WrittenResult,
    WrittenSeat,
    read_stored,
    to_json,
)
from rummyarena_server.tournament.seeds import game_seed
from tests.referee.helpers import Bot, hall, randomly, setup

NOW = datetime(2026, 3, 4, 5, 6, 7, 890, tzinfo=UTC)
SECRET = bytes(range(32))
CLOCK = TimeControl(10 * SECOND, 20 * SECOND, 1 * SECOND)
ORIGIN = Origin(
    tournament="Friday",
    index=17,
    group=8,
    rotation=1,
    attempt=0,
    shares_deals=False,
    secret_digest=sha256(SECRET).digest(),
    secret=SECRET,
)


def play(
    ruleset: str = "thai",
    seats: int = 2,
    options: Mapping[str, object] | None = None,
    players: Mapping[Seat, Player] | None = None,
    clock: TimeControl | None = CLOCK,
) -> GameOutcome:
    """Plays a game on the seed that `ORIGIN` says, in virtual time; who is not named among the players draws lots."""
    short = {"max_deals": 2} if ruleset == "thai" else {"max_turns_per_deal": 12}
    what = seated_at_origin(ruleset, seats, short if options is None else options, clock)
    at_table = [(players or {}).get(seat) or randomly(what.ruleset) for seat in range(seats)]

    async def in_virtual_time() -> GameOutcome:
        async with hall() as room:
            return await room.play(what, *at_table)

    return trio.run(in_virtual_time, clock=trio.testing.MockClock(autojump_threshold=0))


def seated_at_origin(ruleset: str, seats: int, options: Mapping[str, object], clock: TimeControl | None) -> GameSetup:
    """Returns the set-up of a game on the seed that `ORIGIN` says."""
    return replace(
        setup(seats, ruleset=RULESETS[ruleset], options=options, time_control=clock),
        game_id="1.17.0",
        seed=game_seed(SECRET, ORIGIN.group, ORIGIN.rotation),
    )


def late_at_1() -> Mapping[Seat, Player]:
    """Returns a bot at seat 1 that never answers."""
    return {1: Bot()}


def write(outcome: GameOutcome, *, withdrawn: Collection[Seat] = (), **changes: Any) -> WrittenGame:
    """Returns a game as it is written down, with its result."""
    record = replace(outcome.record, started_at=NOW, finished_at=NOW + timedelta(seconds=3))
    reasons: dict[Seat, Any] = {one.seat: one.reason for one in outcome.forfeits} | dict.fromkeys(
        withdrawn, "withdrawn"
    )
    result = WrittenResult(
        status="finished",
        reason="forfeits" if reasons else "",
        rated=outcome.rated,
        deals=len(outcome.deals),
        counted_deals=outcome.counted_deals,
        seats=tuple(
            WrittenSeat(
                rank=outcome.ranks[seat],
                total=outcome.totals[seat],
                points=outcome.points[seat],
                forfeit=reasons.get(seat),
                faults=outcome.faults[seat],
                thinking=outcome.thinking[seat],
            )
            for seat in range(len(outcome.ranks))
        ),
    )
    origin = replace(ORIGIN, index=ORIGIN.group * len(outcome.ranks) + ORIGIN.rotation)
    values: dict[str, Any] = {
        "digest": outcome.record.setup.seed_digest,
        "origin": origin,
        "result": result,
        "lag": 250,
    }
    return replace(read_stored(to_json(record)), **(values | changes))
