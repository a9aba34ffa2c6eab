"""The figures of a tournament: what its complete deal groups say of its entrants, of its seats and of luck."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, permutations
from operator import attrgetter
from typing import Final

import numpy as np
from sqlalchemy.orm import Session

from rummyarena_server.store.errors import StoreError
from rummyarena_server.store.standings import lowest_wins, rated_seats
from rummyarena_server.tournament.balance import Balance, Counts
from rummyarena_server.tournament.bars import Estimate
from rummyarena_server.tournament.fairness import SeatEffect, VarianceSaved, seat_effects, variance_saved
from rummyarena_server.tournament.games import FloatArray, Games, IntArray, add_up
from rummyarena_server.tournament.pairs import head_to_head, share
from rummyarena_server.tournament.points import points_a_deal
from rummyarena_server.tournament.strength import rate

_OF_A_SEAT: Final = ("deal_group", "number", "rank", "points", "deals")
_SEAT: Final = np.dtype([(name, np.int64) for name in _OF_A_SEAT])
_VALUES: Final = attrgetter(*_OF_A_SEAT)


@dataclass(frozen=True, slots=True)
class Figures:
    """What games say of the entrants, in the order of their numbers.

    `strength`: in Elo, relative to the mean of all. `points`: a deal, beyond the others', more is better; `None` where
    no deal counts. `superiority[i][j]`: the likelihood that i is stronger than j, 0 .. 1.
    """

    strength: tuple[Estimate, ...]
    points: tuple[Estimate | None, ...]
    superiority: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Meeting:
    """What a bot did against an opponent at the tables where both sat; both by their numbers.

    `wins`, `ties`, `losses`: how often its place was better than, equal to, or worse than the opponent's. `score`: the
    mean of its deal groups against the opponent, 0 .. 1, ties half.
    """

    bot: int
    opponent: int
    wins: int
    ties: int
    losses: int
    score: Estimate

    def turned_round(self) -> Meeting:
        """Returns the same as the opponent sees it."""
        score = Estimate(1 - self.score.value, 1 - self.score.high, 1 - self.score.low, self.score.groups)
        return Meeting(self.opponent, self.bot, self.losses, self.ties, self.wins, score)


@dataclass(frozen=True, slots=True)
class Statistics:
    """All that games say: of the entrants, of each two of them, and of the seats in their order.

    `groups`, `games`: how many there are. `balance`: how even these are. `meetings`: of each two entrants that met, the
    one of the lower number first, in the order of the numbers.
    """

    groups: int
    games: int
    balance: Balance
    figures: Figures
    meetings: tuple[Meeting, ...]
    seats: tuple[SeatEffect, ...]
    saved: VarianceSaved


def figures(session: Session, tournament_id: int, entrants: int, seats: int) -> Figures | None:
    """Returns what complete deal groups say of the entrants of a tournament, `None` if none of their games is rated."""
    games = _games(session, tournament_id, entrants, seats)
    return figures_of(games, lowest_wins(session, tournament_id)) if len(games) else None


def statistics(session: Session, tournament_id: int, entrants: int, seats: int) -> Statistics | None:
    """Returns all that complete deal groups of a tournament say, `None` if none of their games is rated."""
    games = _games(session, tournament_id, entrants, seats)
    return statistics_of(games, lowest_wins(session, tournament_id)) if len(games) else None


def figures_of(games: Games, lower_is_better: bool) -> Figures:
    """Returns what games say of the entrants; finite for any games, even none."""
    strengths = rate(games)
    return Figures(
        strength=strengths.elo,
        points=points_a_deal(games, lower_is_better),
        superiority=tuple(tuple(map(float, row)) for row in strengths.superiority),
    )


def statistics_of(games: Games, lower_is_better: bool) -> Statistics:
    """Returns all that games say; finite for any games, even none."""
    return Statistics(
        groups=len(np.unique(games.groups)),
        games=len(games),
        balance=balance_of(games),
        figures=figures_of(games, lower_is_better),
        meetings=tuple(meetings(games)),
        seats=seat_effects(games, lower_is_better),
        saved=variance_saved(games, lower_is_better),
    )


def balance_of(games: Games) -> Balance:
    """Returns the balance of games that were played."""
    once, seats = np.ones(len(games)), range(games.seats)
    nothing = np.zeros((games.entrants, games.entrants))
    met = sum((games.pair_sums(one, other, once) for one, other in permutations(seats, 2)), nothing)
    followed = sum((games.pair_sums(seat, (seat + 1) % games.seats, once) for seat in seats), nothing)
    seated = np.stack([add_up(once, games.tables[:, seat], games.entrants) for seat in seats], axis=1)
    return Balance(len(games), _counts(met), _counts(seated), _counts(followed))


def _counts(values: FloatArray) -> Counts:
    return tuple(tuple(map(int, row)) for row in values)


def meetings(games: Games) -> Iterator[Meeting]:
    """Yields the meetings of each two entrants, see `Statistics`; those that never met have none."""
    counts = head_to_head(games)
    pairs, scored, met = _group_scores(games)
    for first, last in pairwise([*np.flatnonzero(np.diff(pairs, prepend=-1)), len(pairs)]):
        bot, opponent = divmod(int(pairs[first]), games.entrants)
        theirs = slice(first, last)
        yield Meeting(
            bot,
            opponent,
            wins=int(counts.wins[bot, opponent]),
            ties=int(counts.ties[bot, opponent]),
            losses=int(counts.wins[opponent, bot]),
            score=share(scored[theirs] / met[theirs], float(met[theirs].mean())),
        )


def _group_scores(games: Games) -> tuple[IntArray, FloatArray, FloatArray]:
    """Returns for each two entrants of each group what the first scored in it against the other, and in how many games.

    They are in the order of the pairs: the number of an entrant * `games.entrants` + that of a later one.
    """
    played = games.memberships()
    span = int(np.unique(played.groups, return_counts=True)[1].max(initial=1))
    cells_in_all = len(played.groups) * span  # a membership, and one up to `span` further on that is of the same group
    scored, met = np.zeros((2, cells_in_all))
    for one, other, result in games.results():
        ahead = played.numbers[:, other] - played.numbers[:, one]
        in_order = ahead > 0
        cells = played.numbers[in_order, one] * span + ahead[in_order]
        scored += add_up(result[in_order], cells, cells_in_all)
        met += np.bincount(cells, minlength=cells_in_all)
    cells = np.flatnonzero(met)
    first, ahead = np.divmod(cells, span)
    pairs = played.members[first] * games.entrants + played.members[first + ahead]
    order = np.argsort(pairs, kind="stable")
    return pairs[order], scored[cells[order]], met[cells[order]]


def _games(session: Session, tournament_id: int, entrants: int, seats: int) -> Games:
    """Returns the rated games of complete deal groups; `StoreError` where seats of some are not there."""
    rows = np.fromiter(map(_VALUES, rated_seats(session, tournament_id)), _SEAT)
    if len(rows) % seats:
        raise StoreError("its games have other seats than they were played with; `rummyarena verify NAME` says which")
    rows = rows.reshape(-1, seats)
    return Games(
        entrants,
        groups=rows["deal_group"][:, 0],
        tables=rows["number"],
        ranks=rows["rank"],
        points=rows["points"],
        deals=rows["deals"][:, 0],
    )
