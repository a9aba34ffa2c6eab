"""Whether the tables of a database fit its games: each is worked out anew from them, or from the schedule."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isclose
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from rummyarena_server.store.history import games, recorded_counts
from rummyarena_server.store.models import ROUND
from rummyarena_server.store.records import recorded_indices
from rummyarena_server.store.results import BotRating, GameSummary, SeatSummary, StoredTournament
from rummyarena_server.store.rounds import played_games, round_tables
from rummyarena_server.store.standings import ladder, lowest_wins, standings
from rummyarena_server.store.written import KeptGame
from rummyarena_server.tournament.formats import games_of, schedule_of
from rummyarena_server.tournament.ladder import ratings_of_games
from rummyarena_server.tournament.rounds import Round, Rounds
from rummyarena_server.tournament.schedule import Schedule
from rummyarena_server.tournament.verification import Finding
from rummyarena_server.tournament.waves import Ladder

_GAMES_AT_ONCE: Final = 1000
_TOLERANCE: Final = 1e-6  # sums of floats depend on their order


# --- the schedule ----------------------------------------------------------------------------------------------------


class Schedules:
    """The schedule of one tournament, to compare its games with; `session`: to find the stored rounds."""

    def __init__(self, session: Session, tournament: StoredTournament) -> None:
        said = json.loads(tournament.configuration)
        self._session = session
        self._tournament = tournament
        bots = len(said["bots"])
        self._whole = None if tournament.imported else schedule_of(said, tournament.schedule_seed, bots)
        self._round: Round | None = None

    def check(self, kept: KeptGame) -> Finding:
        """Returns whether a game has the table, the deal group and the rotation that the schedule gives it."""
        origin = kept.game.origin
        if self._whole is None or origin is None:
            return Finding("schedule", None, "the tournament was imported without its schedule")
        try:
            schedule = self._schedule(origin.index)
        except (ValueError, TypeError):  # from tables that are no lists of entrants
            return Finding("schedule", False, f"the round that has game {origin.index} cannot be read")
        if schedule is None:
            return Finding("schedule", False, f"no round was stored that has a game {origin.index}")
        try:
            due = schedule.game(origin.index)
        except IndexError:
            return Finding("schedule", False, f"there is no game {origin.index} in it")
        played = (origin.group, origin.rotation, kept.entrants)
        if played != (due.group, due.rotation, due.table):
            return Finding(
                "schedule", False, f"{_place(*played)}; due was {_place(due.group, due.rotation, due.table)}"
            )
        return Finding("schedule", True, _place(*played))

    def _schedule(self, index: int) -> Schedule | None:
        if not isinstance(self._whole, Rounds):
            return self._whole
        if self._round is None or index not in self._round.indices:
            number = index // (self._whole.tables_a_round * self._whole.seats)
            tables = round_tables(self._session, self._tournament.id, number)
            self._round = Round(number, tables) if tables else None
        return self._round


def _place(group: int, rotation: int, table: Sequence[int]) -> str:
    return f"group {group}, rotation {rotation}, entrants {' '.join(map(str, table))}"


def check_rounds(session: Session, tournament: StoredTournament) -> Finding:
    """Returns whether each stored round is the one that follows from the results before it."""
    said = json.loads(tournament.configuration)
    if tournament.imported:
        return Finding("rounds", None, "the tournament was imported without its schedule")
    rounds = schedule_of(said, tournament.schedule_seed, len(said["bots"]))
    if not isinstance(rounds, Rounds):
        return Finding("rounds", None, "no table depends on results")
    try:
        return _check_each_round(session, tournament, rounds)
    except (ValueError, TypeError, LookupError) as error:  # from entrants and tables that there cannot be
        return Finding("rounds", False, f"what is stored of them cannot be: {error}")


def _check_each_round(session: Session, tournament: StoredTournament, rounds: Rounds) -> Finding:
    pairing, number, is_broken_off = rounds.pairing(), 0, False
    while tables := round_tables(session, tournament.id, number):
        stored, due = Round(number, tables), pairing.next_round()
        if stored != due:
            return Finding("rounds", False, f"round {number} is not the one that follows from the results before it")
        played = played_games(session, tournament.id, stored.indices)
        if len(played) < len(stored.indices):
            is_broken_off = True
            break
        pairing.note(stored, played)
        number += 1
    if tournament.status == "finished" and not is_broken_off and pairing.next_round() is not None:
        return Finding("rounds", False, f"the tournament is finished, but round {number}, which follows, is not there")
    return Finding("rounds", True, f"all follow from the results before them; {number} are complete")


# --- games -----------------------------------------------------------------------------------------------------------


def check_complete(session: Session, tournament: StoredTournament) -> Finding:
    """Returns whether all games of a tournament that is over are there."""
    said = json.loads(tournament.configuration)
    recorded = _recorded(session, tournament)
    if tournament.imported:
        return Finding("complete", None, "the tournament was imported without its schedule")
    if tournament.status != "finished":
        return Finding("complete", None, f"the tournament is not finished; {recorded} games are recorded")
    if _is_regression_test(said):
        return Finding("complete", None, f"a regression test ends with its verdict; {recorded} games are recorded")
    due = _due(session, tournament, said)
    told = f"of {due} games {recorded} are recorded"
    return Finding("complete", recorded == due, told)


def check_counted(session: Session, tournament: StoredTournament) -> Finding:
    """Returns whether as many games of a tournament count for Elo as are to: all in the end, of a ladder by waves."""
    said = json.loads(tournament.configuration)
    counted, due = tournament.rated_games, range(1)
    if not tournament.imported and said.get("rated", True):
        due = _countable(session, tournament, said)
    if counted in due:
        return Finding("counted", True, f"{counted} games count for Elo")
    return Finding("counted", False, f"{counted} games count for Elo; due were {' or '.join(map(str, due[-2:]))}")


def _recorded(session: Session, tournament: StoredTournament) -> int:
    return recorded_counts(session, tournament.id).get(tournament.id, 0)


def _is_regression_test(said: Mapping[str, Any]) -> bool:
    return not said.get("rated", True) and [bot["name"] for bot in said["bots"][:2]] == ["new", "base"]


def _due(session: Session, tournament: StoredTournament, said: Mapping[str, Any]) -> int | None:
    """Returns how many games a tournament has that is over; a ladder has those of the waves that were opened."""
    schedule = schedule_of(said, tournament.schedule_seed, len(said["bots"]))
    if not isinstance(schedule, Ladder):
        return games_of(schedule)
    opened = select(func.count()).select_from(ROUND).where(ROUND.c.tournament_id == tournament.id)
    return session.execute(opened).scalar_one() * schedule.tables_a_round * schedule.seats


def _countable(session: Session, tournament: StoredTournament, said: Mapping[str, Any]) -> range:
    """Returns the numbers of games of which one is that of the games that count for Elo, if any are to."""
    recorded = _recorded(session, tournament)
    if tournament.status == "finished":
        return range(recorded, recorded + 1)
    schedule = schedule_of(said, tournament.schedule_seed, len(said["bots"]))
    if not isinstance(schedule, Ladder):
        return range(1)
    gapless = next((one.stop for one in recorded_indices(session, tournament.id) if one.start == 0), 0)
    return range(0, gapless + 1, schedule.tables_a_round * schedule.seats)


# --- standings -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Sums:
    """What a bot has in one tournament so far; see `Standing`."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    score: float = 0.0
    deals: int = 0
    points: int = 0
    difference: float = 0.0
    forfeits: int = 0
    faults: int = 0
    thinking: int = 0

    def add(self, game: GameSummary, own: SeatSummary, sign: int) -> None:
        """Adds what a game brought to one of its seats; `sign`: -1 where the lowest total wins."""
        others = [one for one in game.seats if one is not own]
        ties = sum(one.rank == own.rank for one in others)
        beaten = sum(one.rank > own.rank for one in others)
        self.games += 1
        self.wins += own.rank == 1 and not ties
        self.draws += own.rank == 1 and ties > 0
        self.losses += own.rank != 1
        self.score += (beaten + ties / 2) / len(others) if game.rated else 0.0
        self.deals += game.counted_deals
        self.points += own.points
        self.difference += sign * (own.points - sum(one.points for one in others) / len(others))
        self.forfeits += own.forfeit is not None
        self.faults += own.faults
        self.thinking += own.thinking


def check_standings(session: Session, tournament: StoredTournament) -> Finding:
    """Returns whether the table of a tournament is the sum of the games of its complete deal groups."""
    sign = -1 if lowest_wins(session, tournament.id) else 1
    seats = json.loads(tournament.configuration)["seats"]
    sums: defaultdict[str, _Sums] = defaultdict(_Sums)
    counted = 0
    for _, group in groupby(_all_games(session, tournament.id), key=lambda one: one.group):
        played = list(group)
        if any(len(one.seats) != seats for one in played):
            return Finding("standings", False, f"there are games of group {played[0].group} without all {seats} seats")
        if len(played) == seats:
            counted += len(played)
            for game in played:
                for seat in game.seats:
                    sums[seat.bot].add(game, seat, sign)
    wrong = [
        f"{one.name}: {name} is {getattr(one, name)}, the games give {getattr(sums[one.name], name)}"
        for one in standings(session, tournament.id)
        for name in _SUMMED
        if not _same(getattr(one, name), getattr(sums[one.name], name))
    ]
    return Finding("standings", not wrong, wrong[0] if wrong else f"they are the sums of {counted} games")


_SUMMED: Final = tuple(_Sums.__slots__)


def _all_games(session: Session, tournament_id: int) -> Iterator[GameSummary]:
    last = -1
    while page := games(session, tournament_id, after=last, limit=_GAMES_AT_ONCE):
        yield from page
        last = page[-1].index


def _same(one: float, other: float) -> bool:
    return isclose(one, other, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)


# --- ratings ---------------------------------------------------------------------------------------------------------


def check_ratings(session: Session) -> Finding:
    """Returns whether every bot's Elo is the one that all games give that count for it, in their order."""
    try:
        due = {(one.variant, one.bot): one for _, one in ratings_of_games(session)}
    except (ValueError, AttributeError, LookupError) as error:  # from games without their seats, options or bots
        return Finding("ratings", False, f"the games of this database give no Elo: {error}")
    wrong = list(_wrong_ratings(due, ladder(session)))
    return Finding("ratings", not wrong, wrong[0] if wrong else "Elo is what the games of this database give")


def _wrong_ratings(due: dict[tuple[str, str], BotRating], stored: Sequence[BotRating]) -> Iterator[str]:
    for variant, bot in due.keys() - {(one.variant, one.bot) for one in stored}:
        yield f"{bot} has no Elo in {variant}"
    for one in stored:
        other = due.get((one.variant, one.bot))
        if other is None:
            yield f"{one.bot} has Elo in {one.variant}, but no game there"
            continue
        for name in _RATED:
            is_so, should_be = getattr(one, name), getattr(other, name)
            if not _same(is_so, should_be):
                yield f"{one.bot}: {name} in {one.variant} is {is_so}, the games give {should_be}"


_RATED: Final = ("elo", "games", "wins", "draws", "losses")
