"""The schedule of a tournament, or what makes it round by round, from what its file says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rummyarena_server.tournament.gauntlet import Gauntlet
from rummyarena_server.tournament.rounds import Rounds
from rummyarena_server.tournament.schedule import RoundRobin, Schedule
from rummyarena_server.tournament.seeds import wave_secret
from rummyarena_server.tournament.swiss import Swiss
from rummyarena_server.tournament.waves import Ladder


def schedule_of(configuration: Mapping[str, Any], seed: int, entrants: int) -> Schedule | Rounds:
    """Returns the schedule of a configuration, see `TournamentSettings.configuration`; it was checked before."""
    seats = configuration["seats"]
    match configuration.get("format", "round-robin"):
        case "gauntlet":
            bots = enumerate(configuration["bots"])
            challengers = tuple(number for number, bot in bots if bot.get("challenger", False))
            return Gauntlet(seed, entrants, challengers, seats, configuration["cycles"])
        case "swiss":
            return Swiss(seed, entrants, configuration["rounds"], seats)
        case "ladder":
            return Ladder(seed, entrants, seats, configuration.get("rounds"))
        case _:
            return RoundRobin(seed, entrants, seats, configuration["cycles"])


def games_of(schedule: Schedule | Rounds) -> int | None:
    """Returns how many games a tournament has in all, `None` if there is no end to them."""
    if not isinstance(schedule, Rounds):
        return len(schedule)
    return None if schedule.rounds is None else schedule.rounds * schedule.tables_a_round * schedule.seats


def secret_of(schedule: Schedule | Rounds, event_secret: bytes, group: int) -> bytes:
    """Returns the secret from which the seeds of a deal group's games are derived."""
    if not isinstance(schedule, Ladder):
        return event_secret
    return wave_secret(event_secret, group // schedule.tables_a_round)
