"""How a game ended: places, points and what is booked on whom."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rummyarena_rules.events import Seat
from rummyarena_rules.ruleset import Result
from rummyarena_server.referee.record import Forfeit, GameRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class GameOutcome:
    """The end of a game; sequences have one entry a seat unless they say otherwise.

    `ranks`: 1 is best; forfeited seats share the last place. `winners`: the seats that won, empty if nobody is left.
    `totals`: by the rules, over all finished deals. `deals`: the scores of each finished deal. `counted_deals`: how
    many of them were finished before the first forfeit; `points`: the totals over these alone. `faults`: time-outs and
    used-up attempts. `thinking`: microseconds in all. `rated`: false if every seat was forfeited.
    """

    ranks: tuple[int, ...]
    winners: tuple[Seat, ...]
    totals: tuple[int, ...]
    deals: tuple[tuple[int, ...], ...]
    counted_deals: int
    points: tuple[int, ...]
    forfeits: tuple[Forfeit, ...]
    faults: tuple[int, ...]
    thinking: tuple[int, ...]
    rated: bool
    record: GameRecord


def ranks_with_forfeits(seats: int, forfeited: Collection[Seat], result: Result | None) -> tuple[int, ...]:
    """Ranks the seats that are left by the rules' result and gives all forfeited ones the last place.

    `result`: `None` if the game ended because at most one seat was left. With nobody left all are last and none first.
    """
    standing = [seat for seat in range(seats) if seat not in forfeited]
    by_rules: Sequence[int] = result.ranks if result else (1,) * seats
    last = len(standing) + 1 if standing else seats

    def rank(seat: Seat) -> int:
        if seat in forfeited:
            return last
        return 1 + sum(by_rules[other] < by_rules[seat] for other in standing)

    return tuple(map(rank, range(seats)))
