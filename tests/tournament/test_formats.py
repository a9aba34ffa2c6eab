"""A file says which format is played; what cannot be is refused in its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from rummyarena_server.store.records import record_game
from rummyarena_server.store.results import SeatResult
from rummyarena_server.store.standings import standings
from rummyarena_server.store.store import Store
from rummyarena_server.tournament.formats import games_of, schedule_of, secret_of
from rummyarena_server.tournament.gauntlet import Gauntlet
from rummyarena_server.tournament.rounds import Rounds
from rummyarena_server.tournament.schedule import RoundRobin, Schedule
from rummyarena_server.tournament.seeds import wave_secret
from rummyarena_server.tournament.swiss import Swiss
from rummyarena_server.tournament.table import ranked
from rummyarena_server.tournament.waves import Ladder
from tests.server.results import NOW, result
from tests.tournament.events import SECRET, open_event, play, recorded, settings


def refused(**said: Any) -> list[tuple[str, str]]:
    """What is wrong with a file: key and sentence."""
    with pytest.raises(ValidationError) as caught:
        settings(**said)
    return [(str(one["loc"][0]), one["msg"]) for one in caught.value.errors()]


@pytest.mark.parametrize(
    ("said", "schedule", "games"),
    [
        ({}, RoundRobin(0, 5, 2, 1), 20),
        ({"seed": 3, "seats": 3, "cycles": 2}, RoundRobin(3, 5, 3, 2), 60),
        (
            {"format": "gauntlet", "challengers": (1, 3), "seats": 3, "cycles": 2, "seed": 9},
            Gauntlet(9, 5, (1, 3), 3, 2),
            36,
        ),
        ({"format": "swiss", "rounds": 3, "seats": 4}, Swiss(0, 5, 3, 4), 12),
        ({"format": "ladder", "rounds": 2}, Ladder(0, 5, 2, 2), 40),
        ({"format": "ladder"}, Ladder(0, 5, 2, None), None),
    ],
)
def test_what_a_file_says_is_what_is_played(
    said: dict[str, Any], schedule: Schedule | Rounds, games: int | None
) -> None:
    made = settings(5, **said)
    assert schedule_of(made.configuration(), made.seed, len(made.bots)) == schedule
    assert games_of(schedule) == games


def test_each_wave_of_a_ladder_has_a_secret_of_its_own() -> None:
    assert secret_of(RoundRobin(0, 5), SECRET, 7) == secret_of(Swiss(0, 5, 3), SECRET, 7) == SECRET
    ladder = Ladder(0, 5)  # of ten tables a wave
    assert secret_of(ladder, SECRET, 9) == wave_secret(SECRET, 0)
    assert secret_of(ladder, SECRET, 10) == wave_secret(SECRET, 1)


@pytest.mark.parametrize("plays", ["round-robin", "gauntlet"])
def test_who_meets_everybody_has_cycles_and_no_rounds(plays: str) -> None:
    challengers = (0,) if plays == "gauntlet" else ()
    assert refused(format=plays, rounds=3, challengers=challengers) == [
        ("rounds", f"a {plays} has no rounds; cycles says how often everybody meets everybody")
    ]


@pytest.mark.parametrize("plays", ["swiss", "ladder"])
def test_who_is_paired_by_results_has_rounds_and_no_cycles(plays: str) -> None:
    assert refused(format=plays, rounds=3, cycles=2) == [
        ("cycles", f"a {plays} tournament has no cycles; rounds says how long it is")
    ]


def test_a_swiss_tournament_needs_its_number_of_rounds() -> None:
    assert refused(format="swiss") == [
        ("rounds", "a swiss tournament needs a number of rounds; 7 tell the best of 64 bots, 10 tell more")
    ]


@pytest.mark.parametrize(
    ("bots", "seats", "challengers", "why"),
    [
        (4, 2, (), "a gauntlet needs a challenger: write challenger = true in its [[bots]] table"),
        (4, 2, (0, 1, 2, 3), "a challenger at a table of 2 seats needs 1 that are no challengers; here are 0"),
        (4, 4, (0, 1), "a challenger at a table of 4 seats needs 3 that are no challengers; here are 2"),
    ],
)
def test_a_gauntlet_needs_challengers_and_a_field(bots: int, seats: int, challengers: Sequence[int], why: str) -> None:
    assert refused(format="gauntlet", bots=bots, seats=seats, challengers=challengers) == [("bots", why)]


@pytest.mark.parametrize("said", [{}, {"format": "swiss", "rounds": 3}, {"format": "ladder"}])
def test_only_a_gauntlet_has_challengers(said: dict[str, Any]) -> None:
    ((key, why),) = refused(**said, challengers=(1,))
    assert key == "bots"
    assert why == f"bots[1] is a challenger, but a {said.get('format', 'round-robin')} has none"


def test_a_ladder_is_for_bots_that_are_started_here() -> None:
    bots = [{"name": "first", "command": "./bot"}, {"name": "second", "connected": True}]
    with pytest.raises(
        ValidationError, match=r"a ladder is for bots that are started here, and bots\[1\] is connected"
    ):
        type(settings()).model_validate({"name": "Friday", "format": "ladder", "bots": bots})


@pytest.mark.parametrize("said", [{"format": "swiss", "rounds": 3}, {"format": "ladder"}])
def test_rounds_at_larger_tables_are_for_many_bots(said: dict[str, Any]) -> None:
    assert len(settings(1000, seats=3, **said).bots) == 1000
    assert refused(bots=65, seats=3) == [("bots", "at tables of 3 seats 64 bots are the most; here are 65")]


# --- a gauntlet from end to end --------------------------------------------------------------------------------------


async def test_in_a_gauntlet_only_challengers_and_field_meet(store: Store) -> None:
    event = await open_event(store, settings(4, format="gauntlet", challengers=(1, 2)))
    await play(event, store)
    tables = [tuple(seat.bot for seat in game.seats) for game in await recorded(event, store)]
    assert len(tables) == 8
    assert {len({"bot 1", "bot 2"} & set(table)) for table in tables} == {1}


async def test_a_table_is_sorted_by_score_a_game(store: Store) -> None:
    # given: the challenger wins four games of six, the first of the field its two, the others none
    event = await open_event(store, settings(4, format="gauntlet", challengers=(3,)))
    for index in range(6):
        table = event.schedule.game(index).table if not isinstance(event.schedule, Rounds) else ()
        winner = 0 if 0 in table else 3
        seats = tuple(SeatResult(entrant=one, rank=1 if one == winner else 2) for one in table)
        await store.write(record_game, event.stored.id, result(index, seats=seats), NOW)
    # then
    table_of_all = await store.read(standings, event.stored.id)
    assert [(one.name, one.games, one.score) for one in table_of_all] == [
        ("bot 0", 2, 2.0),
        ("bot 3", 6, 4.0),
        ("bot 1", 2, 0.0),
        ("bot 2", 2, 0.0),
    ]


async def test_the_table_of_a_ladder_is_sorted_by_strength(store: Store) -> None:
    # given: 3 beats 2, 2 beats 1, and again and again 0 and 1 draw
    event = await open_event(store, settings(4, format="ladder"))
    tables = [(0, 1), (2, 3), (1, 2), (0, 1), (0, 1), (0, 1), (0, 1), (0, 1)]
    ranks = [(1, 1), (2, 1), (2, 1), (1, 1), (1, 1), (1, 1), (1, 1), (1, 1)]
    for group, (table, places) in enumerate(zip(tables, ranks, strict=True)):
        for rotation in (0, 1):
            pairs = list(zip(table, places, strict=True))[:: 1 - 2 * rotation]
            seats = tuple(SeatResult(entrant=one, rank=rank) for one, rank in pairs)
            game = result(2 * group + rotation, seats=seats)
            await store.write(record_game, event.stored.id, game, NOW)
    # then: 2 has half the score, as 0 has, but against others
    by_score = await store.read(standings, event.stored.id)
    assert [one.score / one.games for one in by_score] == pytest.approx([1.0, 0.5, 0.5, 6 / 14])
    assert [one.name for one in await store.read(ranked, event.stored.id)] == ["bot 3", "bot 2", "bot 0", "bot 1"]
