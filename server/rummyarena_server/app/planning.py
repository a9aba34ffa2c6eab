"""What a tournament file would play, found out without starting or opening anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rummyarena_rules.registry import RULESETS
from rummyarena_server.config import TournamentSettings
from rummyarena_server.store.results import variant_text
from rummyarena_server.tournament.balance import MOST_GROUPS, Balance, Spread, balance, planned_tables
from rummyarena_server.tournament.formats import games_of, schedule_of
from rummyarena_server.tournament.gauntlet import Gauntlet
from rummyarena_server.tournament.rounds import Rounds
from rummyarena_server.tournament.schedule import RoundRobin, Schedule

_FIRST_GROUPS: Final = 4


@dataclass(frozen=True, slots=True)
class PlannedGame:
    """A game by its index, with the names of the bots in the order of the seats."""

    index: int
    group: int
    rotation: int
    bots: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evenness:
    """How often two bots meet, and how often one follows the other round the table, at least and at most.

    `who`: which two these are.
    """

    who: str
    meetings: Spread
    neighbours: Spread


@dataclass(frozen=True, slots=True)
class Plan:
    """What a tournament will play.

    `games`, `rounds`: `None` if there is no end to them; without rounds all games are known from the first,
    `tables_a_round` is 0 then. `why`: the deals are shared, or not. `balance`: of the first lap, or of as many deal
    groups as are looked at; `None` where tables follow from results.
    """

    settings: TournamentSettings
    variant: str
    games: int | None
    rounds: int | None
    tables_a_round: int
    why: str
    first: tuple[PlannedGame, ...]
    balance: Balance | None
    evenness: tuple[Evenness, ...]


def planned(settings: TournamentSettings) -> Plan:
    """Returns what a tournament will play; the work is bounded, however many games these are."""
    made = schedule_of(settings.configuration(), settings.seed, len(settings.bots))
    counted = None if isinstance(made, Rounds) else _balance(settings, made)
    return Plan(
        settings,
        variant=variant_text(settings.ruleset, RULESETS[settings.ruleset].version, settings.seats, settings.options),
        games=games_of(made),
        rounds=made.rounds if isinstance(made, Rounds) else None,
        tables_a_round=made.tables_a_round if isinstance(made, Rounds) else 0,
        why=_why(settings),
        first=_first_games(settings, made),
        balance=counted,
        evenness=() if counted is None else _evenness(made, counted),
    )


def _why(settings: TournamentSettings) -> str:
    if settings.deals is not None:
        return "the file says so" + (" and that all bots are your own" if settings.shares_deals else "")
    if settings.trusted:
        return "the file says that all bots are your own (trusted = true)"
    return "a bot could carry the cards from game to game; trusted = true would say that all bots are your own"


def _first_games(settings: TournamentSettings, made: Schedule | Rounds) -> tuple[PlannedGame, ...]:
    schedule = made.pairing().next_round() if isinstance(made, Rounds) else made
    if schedule is None:
        return ()
    games = [schedule.game(index) for index in range(min(_FIRST_GROUPS * settings.seats, len(schedule)))]
    return tuple(
        PlannedGame(game.index, game.group, game.rotation, tuple(settings.bots[one].name for one in game.table))
        for game in games
    )


def _balance(settings: TournamentSettings, schedule: Schedule) -> Balance:
    groups = schedule.groups_a_lap if isinstance(schedule, (RoundRobin, Gauntlet)) else MOST_GROUPS
    return balance(len(settings.bots), settings.seats, planned_tables(schedule, min(groups, MOST_GROUPS)))


def _evenness(made: Schedule | Rounds, counted: Balance) -> tuple[Evenness, ...]:
    if not isinstance(made, Gauntlet):
        everybody = range(len(counted.seats))
        return (Evenness("any two", counted.met(everybody), counted.neighbours(everybody)),)
    between = (made.challengers, made.field)
    found = [Evenness("a challenger and another", counted.met(*between), counted.neighbours(*between))]
    if made.seats > 2:
        found.append(Evenness("two others", counted.met(made.field), counted.neighbours(made.field)))
    return tuple(found)
