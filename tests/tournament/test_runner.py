"""An event is played by one runner, each game is recorded once, and what was broken off goes on as if nothing was."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from rummyarena_rules.thai import THAI
from rummyarena_server.referee.players import Player, Question, Sitting
from rummyarena_server.store.history import game_record
from rummyarena_server.store.store import Store, open_store
from rummyarena_server.tournament.archive import tournament
from rummyarena_server.tournament.bots import Trouble
from rummyarena_server.tournament.runner import GameFailedError, Progress, SecondRunnerError
from rummyarena_server.tournament.seeds import game_seed
from tests.referee.helpers import Bot, promptly, randomly
from tests.tournament.events import (
    SECRET,
    Run,
    StopsAt,
    attempts,
    break_off,
    open_event,
    play,
    recorded,
    records,
    running_clock,
    settings,
)

# --- to the end ------------------------------------------------------------------------------------------------------


async def test_every_game_is_played_once_and_the_event_is_closed(store: Store) -> None:
    event = await open_event(store, settings(cycles=2))

    run = await play(event, store)

    assert [one.index for one in await recorded(event, store)] == list(range(12))
    assert run.progress == [Progress(number, 12) for number in range(13)]
    summary = await store.read(tournament, "Friday")
    assert summary is not None
    assert (summary.status, summary.recorded, summary.games) == ("finished", 12, 12)
    assert run.troubles == []
    assert sorted(run.bots.survivors) == sorted([0, 1, 2] * 8)


async def test_the_games_do_not_depend_on_how_many_are_played_at_once(store: Store) -> None:
    event = await open_event(store, settings(cycles=2, concurrency=1))
    other = await open_event(store, settings(cycles=2, concurrency=12, name="Saturday"))
    await play(event, store)
    await play(other, store)
    one, another = await records(event, store), await records(other, store)
    assert [text.replace('"id":"2.', '"id":"1.') for text in another] == one


# --- one runner ------------------------------------------------------------------------------------------------------


async def test_a_second_runner_is_refused_and_the_first_not_disturbed(store: Store, path: Path) -> None:
    event = await open_event(store, settings())
    second_store = open_store(path)
    asked = trio.Event()
    async with running_clock() as deadlines:
        bots: list[Player] = [StopsAt(0, lambda _: asked.set()).bot, randomly(THAI), randomly(THAI)]
        first, second = Run(event, store, bots, deadlines), Run(event, second_store, bots, deadlines)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(first.runner.run)
            await asked.wait()
            with pytest.raises(SecondRunnerError, match=rf"'Friday' is being played by process {os.getpid()} already"):
                await second.runner.run()
            assert len(first.progress) < 7  # it was still at it
    assert first.progress[-1] == Progress(6, 6)
    assert second.progress == []
    second_store.close()


async def test_two_events_in_one_database_are_played_at_once(store: Store) -> None:
    friday = await open_event(store, settings())
    saturday = await open_event(store, settings(name="Saturday"))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(play, friday, store)
        nursery.start_soon(play, saturday, store)
    assert len(await recorded(friday, store)) == len(await recorded(saturday, store)) == 6


async def test_nothing_is_left_of_the_right_to_play(store: Store, path: Path) -> None:
    await play(await open_event(store, settings()), store)
    assert not list(path.parent.glob("*playing*"))


# --- broken off and resumed ------------------------------------------------------------------------------------------


async def test_with_shared_deals_a_resumed_event_is_as_if_it_had_not_been_broken_off(store: Store) -> None:
    # given: two bots that play four games
    event = await open_event(store, settings(2, cycles=2, concurrency=1))
    whole = await open_event(store, settings(2, cycles=2, concurrency=1, name="Saturday"))
    await break_off(event, store, game=2)
    before = await recorded(event, store)
    assert [one.index for one in before] == [0, 1]

    stops = StopsAt(99, print)
    await play(event, store, stops.bot, randomly(THAI))

    await play(whole, store, StopsAt(99, print).bot, randomly(THAI))
    assert (await recorded(event, store))[:2] == before
    one, another = await records(event, store), await records(whole, store)
    assert [text.replace('"id":"2.', '"id":"1.') for text in another] == one
    assert await attempts(store) == []


async def test_with_deals_of_their_own_a_game_that_was_begun_is_dealt_other_cards(store: Store) -> None:
    event = await open_event(store, settings(2, cycles=2, concurrency=1, trusted=False))
    await break_off(event, store, game=2)
    assert await attempts(store) == [(2, 0, False)]
    assert await store.read(game_record, "1.2.0") is None  # it might still be in play: its seed is nobody's business

    await play(event, store)

    assert [(one.index, one.attempt) for one in await recorded(event, store)] == [(0, 0), (1, 0), (2, 1), (3, 0)]
    assert await attempts(store) == [(2, 0, True)]
    played, abandoned = await store.read(game_record, "1.2.1"), await store.read(game_record, "1.2.0")
    assert played is not None
    assert abandoned is not None
    assert played.seed == game_seed(SECRET, 1, 0, 1)
    assert (abandoned.seed, abandoned.status, abandoned.may_be_shown) == (game_seed(SECRET, 1, 0), "abandoned", True)
    assert (abandoned.record, abandoned.summary) == (None, None)


async def test_an_attempt_is_noted_before_its_first_deal(store: Store, path: Path) -> None:
    event = await open_event(store, settings(2, trusted=False, concurrency=1))
    noted: list[tuple[str, int]] = []

    class Looks(Bot):
        def begin(self, sitting: Sitting) -> None:
            super().begin(sitting)
            with closing(sqlite3.connect(path)) as reader:
                rows = reader.execute("SELECT schedule_index FROM attempt WHERE abandoned_at IS NULL").fetchall()
            noted.extend((sitting.setup.game_id, index) for (index,) in rows)

    await play(event, store, Looks(promptly), randomly(THAI))

    assert noted == [("1.0.0", 0), ("1.1.0", 1)]
    assert await attempts(store) == []


@pytest.mark.parametrize("trusted", [True, False])
async def test_a_fault_of_ours_is_booked_on_nobody_and_the_game_is_played_again(
    store: Store, trusted: bool, caplog: pytest.LogCaptureFixture
) -> None:
    event = await open_event(store, settings(2, trusted=trusted, concurrency=1))
    stops = StopsAt(1, lambda sitting: sitting.fail(RuntimeError("ours")))

    await play(event, store, stops.bot, randomly(THAI))

    found = await recorded(event, store)
    assert [(one.index, one.attempt) for one in found] == [(0, 0), (1, 1)]
    assert {seat.forfeit for one in found for seat in one.seats} == {None}
    assert await attempts(store) == ([] if trusted else [(1, 0, True)])
    assert "Game 1 failed by a fault of ours" in caplog.text


async def test_a_game_that_we_fail_again_and_again_ends_the_event_and_is_not_recorded(store: Store) -> None:
    event = await open_event(store, settings(2, concurrency=1))

    def fail(sitting: Sitting, _question: Question) -> None:
        sitting.fail(RuntimeError("ours"))

    with pytest.raises(ExceptionGroup) as caught:
        await play(event, store, Bot(fail), randomly(THAI))
    assert caught.group_contains(GameFailedError, match="game 0 failed 3 times by a fault of ours")
    assert await recorded(event, store) == []


# --- no more games ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trusted", [True, False])
async def test_a_drained_event_finishes_the_games_that_have_begun_and_can_be_resumed(
    store: Store, trusted: bool
) -> None:
    event = await open_event(store, settings(2, cycles=3, concurrency=2, trusted=trusted))
    async with running_clock() as deadlines:
        stops = StopsAt(2, lambda _: run.runner.drain())
        run = Run(event, store, [stops.bot, randomly(THAI)], deadlines)
        assert not await run.runner.run()
    begun = len(await recorded(event, store))
    assert 3 <= begun <= 4  # the one in which it was asked, and what was begun beside
    summary = await store.read(tournament, "Friday")
    assert summary is not None
    assert (summary.status, summary.recorded) == ("running", begun)

    await play(event, store)

    assert len(await recorded(event, store)) == 6


async def test_an_event_that_is_drained_before_it_begins_plays_nothing(store: Store) -> None:
    event = await open_event(store, settings())
    async with running_clock() as deadlines:
        run = Run(event, store, [randomly(THAI)] * 3, deadlines)
        run.runner.drain()
        assert not await run.runner.run()
    assert await recorded(event, store) == []


# --- a store that cannot be written ----------------------------------------------------------------------------------


async def test_while_the_database_is_locked_the_event_waits_and_loses_nothing(
    store: Store, path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    event = await open_event(store, settings(concurrency=6))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:

        def lock(_sitting: Sitting) -> None:
            other.execute("BEGIN IMMEDIATE")

        def unlock_when_told(trouble: Trouble) -> None:
            run.troubles.append(trouble)
            if other.in_transaction:
                other.execute("ROLLBACK")

        async with running_clock() as deadlines:
            run = Run(event, store, [StopsAt(1, lock).bot, randomly(THAI), randomly(THAI)], deadlines)
            run.on_trouble = unlock_when_told
            assert await run.runner.run()
    assert [one.bot for one in run.troubles] == ["Friday", "Friday"]
    assert "waits, and nothing is lost: database" in run.troubles[0].sentence
    assert "another program keeps it locked" in run.troubles[0].sentence
    assert run.troubles[1].sentence.startswith("goes on")
    assert len(await recorded(event, store)) == 6


# --- more than two seats ---------------------------------------------------------------------------------------------


async def test_at_a_table_of_three_the_seed_is_told_after_the_last_game_of_the_group(store: Store) -> None:
    event = await open_event(store, settings(seats=3, concurrency=1))
    told: list[bytes | None] = []

    class Hears(Bot):
        def end(self, sitting: Sitting, outcome: Any, seed: bytes | None) -> None:
            told.append(seed)

    await play(event, store, Hears(promptly), Bot(promptly), Bot(promptly))
    assert told == [None, None, game_seed(SECRET, 0)]


@pytest.mark.parametrize("withdrawn", [[1], [1, 2], [0, 1, 2]])
async def test_at_a_table_of_three_the_others_get_their_game_while_two_are_left(
    store: Store, withdrawn: list[int]
) -> None:
    event = await open_event(store, settings(seats=3))

    class Gone(Bot):
        def begin(self, sitting: Sitting) -> None:
            sitting.forfeit("exited")

    players: list[Player] = [Gone() if one in withdrawn else randomly(THAI) for one in range(3)]
    async with running_clock() as deadlines:
        run = Run(event, store, players, deadlines, withdrawn)
        assert await run.runner.run()
    for game in await recorded(event, store):
        assert game.status == ("finished" if len(withdrawn) == 1 else "unplayed")
        assert game.rated == (len(withdrawn) < 3)
        for seat in game.seats:
            is_withdrawn = seat.bot in [f"bot {one}" for one in withdrawn]
            assert seat.forfeit == ("withdrawn" if is_withdrawn else None)
            assert (seat.rank > 3 - len(withdrawn)) == is_withdrawn
    assert sorted(set(run.bots.survivors)) == ([0, 2] if withdrawn == [1] else [])
