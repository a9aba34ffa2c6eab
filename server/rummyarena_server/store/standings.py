"""Standings of a tournament, and the games and ratings of the ladder: functions of a session, as in `records`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, Select, Subquery, case, delete, func, insert, select
from sqlalchemy.orm import Session

from rummyarena_rules.registry import RULESETS
from rummyarena_server.store.groups import complete_groups
from rummyarena_server.store.models import BOT, ENTRANT, GAME, RATING, SEAT, TOURNAMENT
from rummyarena_server.store.results import BotRating, RatedGame, Standing, variant_text

_ROWS_AT_ONCE: Final = 1000


def standings(session: Session, tournament_id: int) -> list[Standing]:
    """Returns the entrants of a tournament, best first: by score a game, then by difference a deal.

    They may have played different numbers of games, as in a gauntlet or where there are byes; no games count as 0. Only
    deal groups whose games are all recorded count, so that a table before the end does not favour bots whose wins are
    quick.
    """
    query = _sums(complete_games(session, tournament_id), lowest_wins(session, tournament_id))
    sums = {row["number"]: row for row in session.execute(query).mappings()}
    entrants = session.execute(
        select(ENTRANT.c.number, BOT.c.name, ENTRANT.c.version)
        .join(BOT, BOT.c.id == ENTRANT.c.bot_id)
        .where(ENTRANT.c.tournament_id == tournament_id)
    )
    found = [Standing(**{**row, **sums.get(row["number"], {})}) for row in entrants.mappings()]
    found.sort(key=lambda one: (-one.score / (one.games or 1), -one.difference / (one.deals or 1), one.number))
    return found


def complete_games(session: Session, tournament_id: int) -> ColumnElement[bool]:
    """Returns the condition for the games of a tournament whose deal groups are complete."""
    seats = configuration(session, tournament_id)["seats"]
    return (GAME.c.tournament_id == tournament_id) & GAME.c.deal_group.in_(complete_groups(tournament_id, seats))


def lowest_wins(session: Session, tournament_id: int) -> bool:
    """Tells whether the lowest total wins in a tournament's game."""
    return RULESETS[configuration(session, tournament_id)["ruleset"]].lowest_wins


def configuration(session: Session, tournament_id: int) -> dict[str, Any]:
    """Returns what was fixed of a tournament when it was opened, see `TournamentPlan`."""
    said = session.execute(select(TOURNAMENT.c.configuration).where(TOURNAMENT.c.id == tournament_id)).scalar_one()
    found: dict[str, Any] = json.loads(said)
    return found


def rated_seats(session: Session, tournament_id: int) -> Iterator[Row[Any]]:
    """Yields the seats of a tournament's rated games whose deal groups are complete, in order of the schedule.

    Each row has game_id, deal_group, number (of the entrant), rank, points, and deals (those that count).
    """
    return iter(
        session.execute(
            select(
                SEAT.c.game_id,
                GAME.c.deal_group,
                ENTRANT.c.number,
                SEAT.c.rank,
                SEAT.c.points,
                GAME.c.counted_deals.label("deals"),
            )
            .join(GAME, GAME.c.id == SEAT.c.game_id)
            .join(ENTRANT, ENTRANT.c.id == SEAT.c.entrant_id)
            .where(GAME.c.rated, complete_games(session, tournament_id))
            .order_by(GAME.c.schedule_index, SEAT.c.seat)
            .execution_options(yield_per=_ROWS_AT_ONCE)
        )
    )


def rated_games(session: Session) -> Iterator[RatedGame]:
    """Yields the games that count for Elo: tournaments in the order of opening, their games in that of the schedule."""
    variant = (GAME.c.ruleset, GAME.c.rules_version, GAME.c.options)
    rows = session.execute(
        select(GAME.c.id, *variant, ENTRANT.c.bot_id, SEAT.c.rank)
        .join(SEAT, SEAT.c.game_id == GAME.c.id)
        .join(ENTRANT, ENTRANT.c.id == SEAT.c.entrant_id)
        .join(TOURNAMENT, TOURNAMENT.c.id == GAME.c.tournament_id)
        .where(GAME.c.rated, GAME.c.schedule_index < TOURNAMENT.c.rated_games)
        .order_by(GAME.c.tournament_id, GAME.c.schedule_index, SEAT.c.seat)
        .execution_options(yield_per=_ROWS_AT_ONCE)
    )
    for _, rows_of_game in groupby(rows, key=attrgetter("id")):
        table = list(rows_of_game)
        game = table[0]
        yield RatedGame(
            variant=variant_text(game.ruleset, game.rules_version, len(table), json.loads(game.options)),
            bots=tuple(row.bot_id for row in table),
            ranks=tuple(row.rank for row in table),
        )


def replace_ratings(session: Session, ratings: Iterable[tuple[int, BotRating]], now: datetime) -> None:
    """Puts these ratings, each with the id of its bot, in the place of all that there are."""
    session.execute(delete(RATING))
    rows = []
    for bot_id, one in ratings:
        values = asdict(one)
        del values["bot"]
        rows.append(values | {"bot_id": bot_id, "updated_at": now})
    if rows:
        session.execute(insert(RATING), rows)


def ladder(session: Session) -> list[BotRating]:
    """Returns the ratings of all bots, by variant and there the best first."""
    columns = (one for one in RATING.c if one.name not in ("bot_id", "updated_at"))
    rows = session.execute(
        select(BOT.c.name.label("bot"), *columns)
        .join(RATING, RATING.c.bot_id == BOT.c.id)
        .order_by(RATING.c.variant, RATING.c.elo.desc(), BOT.c.name)
    )
    return [BotRating(**row) for row in rows.mappings()]


def bot_names(session: Session) -> dict[int, str]:
    """Returns the names of all bots by their ids."""
    return {row.id: row.name for row in session.execute(select(BOT.c.id, BOT.c.name))}


# --- queries ---------------------------------------------------------------------------------------------------------


def _sums(complete: ColumnElement[bool], lowest_wins: bool) -> Select[Any]:
    """Returns the query for what stands behind each entrant's standing."""
    sign = -1 if lowest_wins else 1
    seat = _compared_seats(complete)
    first = seat.c.rank == 1
    beaten = (seat.c.beaten + seat.c.tied / 2.0) / seat.c.others
    return (
        select(
            ENTRANT.c.number,
            func.count().label("games"),
            _times(first & (seat.c.tied == 0)).label("wins"),
            _times(first & (seat.c.tied > 0)).label("draws"),
            _times(~first).label("losses"),
            func.sum(case((seat.c.rated, beaten), else_=0.0)).label("score"),
            func.sum(seat.c.deals).label("deals"),
            func.sum(seat.c.points).label("points"),
            func.sum(sign * (seat.c.points - seat.c.points_of_others)).label("difference"),
            _times(seat.c.forfeit.is_not(None)).label("forfeits"),
            func.sum(seat.c.faults).label("faults"),
            func.sum(seat.c.thinking).label("thinking"),
        )
        .join(seat, seat.c.entrant_id == ENTRANT.c.id)
        .group_by(ENTRANT.c.number)
    )


def _compared_seats(complete: ColumnElement[bool]) -> Subquery:
    """Returns the query for each seat of the games that count, compared with the others of its table."""
    other = SEAT.alias()
    return (
        select(
            SEAT,
            GAME.c.rated,
            GAME.c.counted_deals.label("deals"),
            func.count().label("others"),
            _times(other.c.rank > SEAT.c.rank).label("beaten"),
            _times(other.c.rank == SEAT.c.rank).label("tied"),
            func.avg(other.c.points).label("points_of_others"),
        )
        .select_from(GAME)
        .join(SEAT, SEAT.c.game_id == GAME.c.id)
        .join(other, (other.c.game_id == GAME.c.id) & (other.c.seat != SEAT.c.seat))
        .where(complete)
        .group_by(GAME.c.id, SEAT.c.game_id, SEAT.c.seat)
        .subquery()
    )


def _times(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0))
