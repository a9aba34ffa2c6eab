"""A Swiss tournament and a ladder are played round by round, and go on after an interruption as if there was none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from rummyarena_rules.thai import THAI
from rummyarena_server.referee.players import Player
from rummyarena_server.store.models import ROUND, TOURNAMENT
from rummyarena_server.store.results import GameResult
from rummyarena_server.store.rounds import add_round, played_games, round_tables
from rummyarena_server.store.standings import ladder
from rummyarena_server.store.store import Store
from rummyarena_server.tournament.archive import tournament
from rummyarena_server.tournament.event import Event
from rummyarena_server.tournament.rounds import Round, Rounds, resumed
from rummyarena_server.tournament.runner import Progress, SecondRunnerError
from rummyarena_server.tournament.seeds import game_seed, wave_secret
from rummyarena_server.tournament.swiss import SwissPairing
from rummyarena_server.tournament.waves import CommittedWave, last_wave
from tests.referee.helpers import Bot, promptly, randomly
from tests.server.results import NOW
from tests.tournament.events import (
    SECRET,
    Run,
    StopsAt,
    break_off,
    open_event,
    play,
    recorded,
    records,
    running_clock,
    settings,
)

SWISS: dict[str, Any] = {"format": "swiss", "rounds": 3}
LADDER: dict[str, Any] = {"format": "ladder", "rounds": 2}


async def rounds_of(event: Event, store: Store) -> list[Round]:
    """The rounds as they were stored."""
    found: list[Round] = []
    while tables := await store.read(round_tables, event.stored.id, len(found)):
        found.append(Round(len(found), tables))
    return found


def prompt(bots: int) -> list[Player]:
    """Bots whose games do not depend on which of them plays, so that a game again is the same game."""
    return [StopsAt(10**6, print).bot if one == 0 else randomly(THAI) for one in range(bots)]


def enough_after(games: int) -> Callable[[GameResult], bool]:
    played = []

    def is_enough(result: GameResult) -> bool:
        played.append(result)
        return len(played) >= games

    return is_enough


async def play_so_many(event: Event, store: Store, games: int, players: list[Player] | None = None) -> Run:
    """Plays until so many games are recorded, and finishes those that have begun."""
    async with running_clock() as deadlines:
        run = Run(event, store, players or prompt(len(event.settings.bots)), deadlines, is_enough=enough_after(games))
        assert not await run.runner.run()
    return run


# --- a round as a schedule -------------------------------------------------------------------------------------------


def test_a_round_knows_its_own_games() -> None:
    one = Round(2, ((3, 1, 0), (5, 2, 4)))
    assert (one.seats, one.indices, len(one)) == (3, range(12, 18), 18)
    games = [one.game(index) for index in one.indices]
    assert [(game.index, game.group, game.rotation, game.table) for game in games] == [
        (12, 4, 0, (3, 1, 0)),
        (13, 4, 1, (1, 0, 3)),
        (14, 4, 2, (0, 3, 1)),
        (15, 5, 0, (5, 2, 4)),
        (16, 5, 1, (2, 4, 5)),
        (17, 5, 2, (4, 5, 2)),
    ]


@pytest.mark.parametrize("index", [-1, 0, 11, 18])
def test_a_round_knows_no_other_games(index: int) -> None:
    with pytest.raises(IndexError, match=f"game {index} of round 2"):
        Round(2, ((3, 1, 0), (5, 2, 4))).game(index)


# --- to the end ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bots", "said", "rounds", "games"),
    [
        (5, SWISS, 3, 12),
        (5, SWISS | {"seats": 3}, 3, 9),
        (4, SWISS | {"seats": 4, "trusted": False}, 3, 12),
        (3, LADDER, 2, 24),
        (4, LADDER | {"seats": 3, "trusted": False}, 2, 30),
    ],
)
async def test_every_round_is_stored_and_every_game_played_once(
    store: Store, bots: int, said: dict[str, Any], rounds: int, games: int
) -> None:
    event = await open_event(store, settings(bots, **said))

    run = await play(event, store)

    assert [one.number for one in await rounds_of(event, store)] == list(range(rounds))
    found = await store.read(played_games, event.stored.id, range(10**6))
    tables = [one.game(index).table for one in await rounds_of(event, store) for index in one.indices]
    assert [game.table for game in found] == tables
    assert run.progress == [Progress(number, games) for number in range(games + 1)]
    summary = await store.read(tournament, "Friday")
    assert summary is not None
    assert (summary.status, summary.recorded, summary.games) == ("finished", games, games)
    assert sum(one.games for one in await store.read(ladder)) == games * event.settings.seats


async def test_a_round_is_stored_before_its_first_game(store: Store) -> None:
    event = await open_event(store, settings(4, **SWISS, concurrency=1))
    stored: list[int] = []

    class Looks(Bot):
        def begin(self, sitting: Any) -> None:
            super().begin(sitting)
            with Session(store._engine) as session:
                rounds = len(session.execute(select(ROUND)).all())
            index = int(sitting.setup.game_id.split(".")[1])
            stored.append(rounds - index // 4)

    await play(event, store, *(Looks(promptly) for _ in range(4)))
    assert set(stored) == {1}


@pytest.mark.parametrize("said", [SWISS, LADDER, SWISS | {"seats": 3}])
async def test_the_games_do_not_depend_on_how_many_are_played_at_once(store: Store, said: dict[str, Any]) -> None:
    event = await open_event(store, settings(5, **said, concurrency=1))
    other = await open_event(store, settings(5, **said, concurrency=12, name="Saturday"))
    await play(event, store)
    await play(other, store)
    assert await rounds_of(event, store) == await rounds_of(other, store)
    one, another = await records(event, store), await records(other, store)
    assert [text.replace('"id":"2.', '"id":"1.') for text in another] == one


async def test_the_seeds_of_a_ladder_come_from_its_waves_secrets(store: Store) -> None:
    event = await open_event(store, settings(2, format="ladder", rounds=2))
    told: list[bytes | None] = []

    class Hears(Bot):
        def end(self, sitting: Any, outcome: Any, seed: bytes | None) -> None:
            told.append(seed)

    await play(event, store, Hears(promptly), Bot(promptly))
    seeds = [game_seed(wave_secret(SECRET, group // 4), group) for group in range(8)]
    assert [seed for seed in told if seed is not None] == seeds
    assert told.count(None) == 8


async def test_the_digest_of_a_waves_secret_is_told_before_its_first_deal(store: Store) -> None:
    # given: waves of eight games
    event = await open_event(store, settings(2, format="ladder", rounds=3, concurrency=1))
    told: list[CommittedWave] = []
    told_before: list[int] = []

    class Looks(Bot):
        def begin(self, sitting: Any) -> None:
            super().begin(sitting)
            told_before.append(len(told))

    async with running_clock() as deadlines:
        run = Run(event, store, [Looks(promptly), Bot(promptly)], deadlines, on_wave=told.append)
        assert await run.runner.run()

    digests = [sha256(wave_secret(SECRET, number)).digest() for number in range(3)]
    assert told == [CommittedWave(number, digest) for number, digest in enumerate(digests)]
    assert told_before == [1] * 8 + [2] * 8 + [3] * 8
    assert await store.read(last_wave, event.stored) == told[-1]


async def test_a_wave_that_goes_on_is_told_again_and_no_other(store: Store) -> None:
    event = await open_event(store, settings(2, format="ladder", rounds=2, concurrency=1))
    assert await store.read(last_wave, event.stored) is None
    await play_so_many(event, store, 11)
    told: list[CommittedWave] = []

    async with running_clock() as deadlines:
        run = Run(event, store, prompt(2), deadlines, on_wave=told.append)
        assert await run.runner.run()

    assert [one.number for one in told] == [1]


async def test_a_swiss_tournament_has_no_waves(store: Store) -> None:
    event = await open_event(store, settings(4, **SWISS))
    told: list[CommittedWave] = []

    async with running_clock() as deadlines:
        run = Run(event, store, prompt(4), deadlines, on_wave=told.append)
        assert await run.runner.run()

    assert told == []


# --- how a round is opened -------------------------------------------------------------------------------------------


async def test_bots_and_signals_are_heeded_while_a_round_is_made(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    made_in: set[int] = set()
    next_round = SwissPairing.next_round

    def make(pairing: SwissPairing) -> Round | None:
        made_in.add(threading.get_ident())
        return next_round(pairing)

    monkeypatch.setattr(SwissPairing, "next_round", make)
    await play(await open_event(store, settings(4, **SWISS)), store)

    assert made_in
    assert threading.get_ident() not in made_in


async def test_a_round_is_stored_once_and_with_the_same_tables(store: Store) -> None:
    event = await open_event(store, settings(4, **SWISS))

    async def stored_with(*tables: tuple[int, ...]) -> bool:
        return await store.write(add_round, event.stored.id, 0, tables, NOW)

    assert await stored_with((0, 1), (2, 3))
    assert await stored_with((0, 1), (2, 3))
    assert not await stored_with((0, 2), (1, 3))
    assert await store.read(round_tables, event.stored.id, 0) == ((0, 1), (2, 3))


async def test_a_round_that_another_process_has_opened_otherwise_is_not_played(store: Store) -> None:
    # given: a round of four games, in the last of which another process opens the next one
    event = await open_event(store, settings(4, **SWISS, concurrency=1))
    played: list[GameResult] = []

    def look(result: GameResult) -> bool:
        played.append(result)
        if len(played) == 4:
            with Session(store._engine) as session, session.begin():
                add_round(session, event.stored.id, 1, [(0, 0), (0, 0)], NOW)
        return False

    async with running_clock() as deadlines:
        run = Run(event, store, prompt(4), deadlines, is_enough=look)
        with pytest.raises(SecondRunnerError, match="round 1 of the tournament 'Friday' was opened by another process"):
            await run.runner.run()

    assert len(await recorded(event, store)) == 4


# --- broken off and resumed ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("said", [SWISS, LADDER])
@pytest.mark.parametrize("games", [1, 4, 7])
async def test_what_was_drained_goes_on_as_if_it_had_not_been(store: Store, said: dict[str, Any], games: int) -> None:
    event = await open_event(store, settings(4, **said, concurrency=1))
    whole = await open_event(store, settings(4, **said, concurrency=1, name="Saturday"))
    await play(whole, store, *prompt(4))

    await play_so_many(event, store, games)
    before = await recorded(event, store)
    assert len(before) < len(await recorded(whole, store))
    await play(event, store, *prompt(4))

    assert (await recorded(event, store))[: len(before)] == before
    assert await rounds_of(event, store) == await rounds_of(whole, store)
    one, another = await records(event, store), await records(whole, store)
    assert [text.replace('"id":"2.', '"id":"1.') for text in another] == one


@pytest.mark.parametrize("said", [SWISS | {"rounds": 4}, LADDER])
@pytest.mark.parametrize("game", [0, 3, 6])
async def test_what_was_broken_off_in_a_game_goes_on_as_if_it_had_not_been(
    store: Store, said: dict[str, Any], game: int
) -> None:
    event = await open_event(store, settings(2, **said, concurrency=1))
    whole = await open_event(store, settings(2, **said, concurrency=1, name="Saturday"))
    await break_off(event, store, game=game)
    assert len(await recorded(event, store)) == game

    await play(event, store, *prompt(2))

    await play(whole, store, *prompt(2))
    assert await rounds_of(event, store) == await rounds_of(whole, store)
    one, another = await records(event, store), await records(whole, store)
    assert [text.replace('"id":"2.', '"id":"1.') for text in another] == one


async def test_what_was_recorded_makes_the_next_round_whatever_the_order_of_recording(store: Store) -> None:
    # given: a round whose games were recorded, and nothing after it was stored
    event = await open_event(store, settings(4, **SWISS, concurrency=12))
    await play(event, store)
    stored = await rounds_of(event, store)
    assert isinstance(event.schedule, Rounds)
    pairing, opened = await store.read(resumed, event.stored.id, event.schedule)
    assert opened is None
    assert pairing.next_round() is None
    # then: each round follows from the games of those before
    pairing = event.schedule.pairing()
    for one in stored:
        assert pairing.next_round() == one
        pairing.note(one, await store.read(played_games, event.stored.id, one.indices))


# --- a ladder without end --------------------------------------------------------------------------------------------


async def test_a_ladder_without_end_goes_on_until_it_is_stopped(store: Store) -> None:
    event = await open_event(store, settings(3, format="ladder", concurrency=1))
    run = await play_so_many(event, store, 30)
    assert run.progress == [Progress(number, None) for number in range(31)]
    summary = await store.read(tournament, "Friday")
    assert summary is not None
    assert (summary.status, summary.recorded, summary.games) == ("running", 30, None)
    again = await play_so_many(event, store, 3)
    assert again.progress == [Progress(number, None) for number in range(30, 34)]


async def test_its_complete_waves_count_for_elo_when_it_is_stopped(store: Store) -> None:
    # given: waves of twelve games
    event = await open_event(store, settings(3, format="ladder", concurrency=1))
    await play_so_many(event, store, 11)
    assert await store.read(ladder) == []
    for games, counting in ((1, 12), (20, 24), (2, 24)):
        await play_so_many(await open_event(store, event.settings), store, games)
        assert sum(one.games for one in await store.read(ladder)) == 2 * counting
        summary = await store.read(tournament, "Friday")
        assert summary is not None
        assert summary.rated_games == counting


async def test_its_ratings_are_made_again_the_more_seldom_the_more_games_there_are(store: Store) -> None:
    # given: waves of eight games
    event = await open_event(store, settings(2, format="ladder", concurrency=1))
    counting: list[int] = []

    def look(_result: GameResult) -> bool:
        with Session(store._engine) as session:
            counting.append(session.execute(select(TOURNAMENT.c.rated_games)).scalar_one())
        return len(counting) == 8 * 18

    async with running_clock() as deadlines:
        run = Run(event, store, [Bot(promptly), Bot(promptly)], deadlines, is_enough=look)
        assert not await run.runner.run()

    # then: after each wave as long as it is a tenth of all, then after every second one
    assert sorted(set(counting)) == [*range(0, 89, 8), 104, 120, 136]


async def test_a_wave_that_adds_less_than_a_tenth_counts_too_when_a_ladder_is_stopped(store: Store) -> None:
    # given: waves of eight games, of which the first 104 count; the next wave would wait for one more
    event = await open_event(store, settings(2, format="ladder", concurrency=1))

    await play_so_many(event, store, 113, [Bot(promptly), Bot(promptly)])

    summary = await store.read(tournament, "Friday")
    assert summary is not None
    assert summary.rated_games == 112
    assert sum(one.games for one in await store.read(ladder)) == 2 * 112


async def test_what_is_not_rated_counts_for_nothing(store: Store) -> None:
    event = await open_event(store, settings(3, **LADDER, rated=False))
    await play(event, store)
    assert await store.read(ladder) == []
    summary = await store.read(tournament, "Friday")
    assert summary is not None
    assert (summary.status, summary.rated_games) == ("finished", 0)


async def test_a_ladder_ends_when_too_few_of_its_bots_are_left(store: Store) -> None:
    event = await open_event(store, settings(3, format="ladder"))

    async with running_clock() as deadlines:
        run = Run(event, store, [randomly(THAI)] * 3, deadlines, withdrawn=[0, 2])
        assert await run.runner.run()

    summary = await store.read(tournament, "Friday")
    assert summary is not None
    assert (summary.status, summary.recorded, summary.games) == ("finished", 12, 12)
    assert {game.status for game in await recorded(event, store)} == {"unplayed"}
