"""Streams that are lost, and bots that come back."""

from __future__ import annotations

import grpc
import pytest
import trio
import trio.testing

from rummyarena.v1 import error_pb2, play_pb2
from rummyarena_server.referee.clock import SECOND
from rummyarena_server.rpc.bridge import Rejection
from rummyarena_server.rpc.instances import STALL, Instance
from rummyarena_server.rpc.play import open_play
from tests.referee.helpers import Bot, promptly
from tests.server.lines import DRAW, FIVE_AND_TEN, FakeStream, Line, Place, a_place, sitting_of

# --- coming back -----------------------------------------------------------------------------------------------------


async def a_lost_stream(place: Place, instance: Instance, other: Bot) -> tuple[play_pb2.GameUpdate, list[int]]:
    """Has a bot that wants everything play a turn of a game and lose its stream; returns the last it heard, and all."""
    line = Line(place.registry, instance).hello(wants=play_pb2.WANTS_BOTH)
    place.open(other, instance, deals=2)
    first = await line.update()
    line.answer(first, DRAW)
    second = await line.update()
    line.answer(second, second.decision.candidates[-1])
    await trio.testing.wait_all_tasks_blocked()
    last = line.hear()
    line.drop()
    heard = [*first.events, *second.events, *(event for update in last.updates for event in update.events)]
    assert [one.sequence for one in heard] == list(range(1, len(heard) + 1))
    for _ in range(2):  # the other draws and discards
        promptly(other.sitting, other.asked[-1])
        await trio.testing.wait_all_tasks_blocked()
    return second, [one.sequence for one in heard]


async def test_who_resumes_a_game_is_told_what_it_missed(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        _, heard = await a_lost_stream(place, instance, Bot())
        line = Line(place.registry, instance).hello(wants=play_pb2.WANTS_BOTH, resumes={"g": heard[-1]})
        response = line.hear()
        assert list(response.welcome.gone_game_ids) == []
        (update,) = response.updates
        assert not update.HasField("setup")
        assert update.HasField("view")
        assert update.HasField("decision")
        missed = [one.sequence for one in update.events]
        assert missed == list(range(heard[-1] + 1, heard[-1] + 1 + len(missed)))
        assert {one.WhichOneof("kind") for one in update.events} >= {"stock_drawn", "discarded", "turn_started"}
        # and the game goes on without a gap
        line.answer(update, DRAW)
        assert (await line.update()).events[0].sequence == missed[-1] + 1


async def test_who_resumes_nothing_is_told_everything(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        _, heard = await a_lost_stream(place, instance, Bot())
        (update,) = Line(place.registry, instance).hello(wants=play_pb2.WANTS_BOTH).hear().updates
        assert update.HasField("setup")
        assert [one.sequence for one in update.events][: len(heard)] == heard
        # its own hand and the cards it drew are in what it is told again, those of the other are not
        drawn = [one.stock_drawn for one in update.events if one.HasField("stock_drawn")]
        assert [(one.seat, one.HasField("card")) for one in drawn] == [(1, True), (0, False)]
        dealt = [one.hand_dealt for one in update.events if one.HasField("hand_dealt")]
        assert {one.seat: one.HasField("cards") for one in dealt} == {0: False, 1: True}


@pytest.mark.parametrize("last", [2**32 - 1, 0])
async def test_a_bot_that_resumes_from_nowhere_harms_nobody(last: int, autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        _, heard = await a_lost_stream(place, instance, Bot())
        (update,) = Line(place.registry, instance).hello(resumes={"g": last}).hear().updates
        assert [one.sequence for one in update.events][: len(heard)] == ([] if last else heard)
        assert update.HasField("decision")


async def test_a_bot_that_wants_views_alone_resumes_without_the_setup(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance)
        before = await line.update()
        line.drop()
        (update,) = Line(place.registry, instance).hello(resumes={"g": 0}).hear().updates
        assert not update.HasField("setup")
        assert not update.events
        assert (update.view, update.decision) == (before.view, before.decision)


async def test_the_games_that_are_gone_are_named(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance, other = place.registry.register("bot"), Bot()
        line = Line(place.registry, instance).hello()
        place.open(other, instance)
        place.open(Bot(), instance, game_id="goes on")
        await line.hears()
        other.sitting.forfeit("exited")
        assert (await line.update()).HasField("over")  # handed to the writer, and lost on the way
        line.drop()
        response = Line(place.registry, instance).hello(resumes={"g": 3, "never was": 0, "goes on": 0}).hear()
        assert list(response.welcome.gone_game_ids) == ["g", "never was"]
        assert [one.game_id for one in response.updates] == ["goes on"]


async def test_a_game_that_ended_meanwhile_is_told_to_its_end(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance, other = place.registry.register("bot"), Bot()
        _, heard = await a_lost_stream(place, instance, other)
        other.sitting.forfeit("exited")
        await trio.testing.wait_all_tasks_blocked()
        resumed = Line(place.registry, instance).hello(wants=play_pb2.WANTS_BOTH, resumes={"g": heard[-1]}).hear()
        (update,) = resumed.updates
        assert update.HasField("over")
        assert [one.sequence for one in update.events][:1] == [heard[-1] + 1]
        assert list(resumed.welcome.gone_game_ids) == []
        assert instance.free_places == 4


async def test_what_a_bot_wants_holds_for_the_games_that_begin_then(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello(wants=play_pb2.WANTS_VIEW)
        place.open(Bot(), instance)
        await line.update()
        line.drop()
        line = Line(place.registry, instance).hello(wants=play_pb2.WANTS_EVENTS)
        place.open(Bot(), instance, game_id="new")
        updates = {one.game_id: one for one in (await line.hears()).updates}
        assert (updates["g"].HasField("view"), bool(updates["g"].events)) == (True, False)
        assert (updates["new"].HasField("view"), bool(updates["new"].events)) == (False, True)


# --- lost streams ----------------------------------------------------------------------------------------------------


async def test_a_second_stream_replaces_the_first(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance, time_control=FIVE_AND_TEN)
        before = await line.update()
        await trio.sleep(7)
        second = Line(place.registry, instance)
        assert line.endings() == []  # who has not said Hello displaces nobody
        response = second.hello().hear()
        assert line.stream.ended is grpc.StatusCode.ABORTED
        line.drop()
        assert instance.is_ready
        assert response.HasField("welcome")
        (update,) = response.updates
        # a fresh view, the same open decision with the same seed, and the clock ran on
        assert update.HasField("setup")
        assert update.view == before.view
        assert update.decision.decision_id == before.decision.decision_id
        assert update.decision.random_seed == before.decision.random_seed
        assert (update.decision.time_left.seconds, update.decision.bank.seconds) == (8, 8)
        woken = second.stream.woken
        second.answer(update, DRAW)
        assert (await second.update()).HasField("decision")
        assert second.stream.woken > woken
        # what the first stream still brings is nobody's
        line.answer(update, DRAW)
        assert line.hear() == play_pb2.PlayResponse()
        assert instance.is_ready


async def test_only_one_stream_stands_at_the_door() -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        first, second, third = (Line(place.registry, instance) for _ in range(3))
        assert first.stream.ended is second.stream.ended is grpc.StatusCode.ABORTED
        assert third.stream.ended is None
        third.hello()
        assert instance.is_ready


@pytest.mark.parametrize(("end", "how"), [("remove", "finished"), ("give up", grpc.StatusCode.UNAUTHENTICATED)])
async def test_who_stands_at_the_door_hears_that_it_is_over(end: str, how: object) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        inside = Line(place.registry, instance).hello()
        outside = Line(place.registry, instance)
        if end == "remove":
            place.registry.remove(instance)
        else:
            instance.give_up("gone")
        assert inside.stream.ended == outside.stream.ended == how


async def test_who_is_back_in_time_plays_on(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance)
        await line.update()
        line.drop()
        assert not instance.is_ready
        await trio.sleep(29.9)
        line = Line(place.registry, instance).hello()
        (update,) = line.hear().updates
        await trio.sleep(100)
        line.answer(update, DRAW)
        assert (await line.update()).HasField("decision")
        assert instance.is_ready


async def test_a_question_that_was_never_read_runs_when_the_stream_is_lost(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance, time_control=FIVE_AND_TEN)
        await trio.testing.wait_all_tasks_blocked()
        line.drop()
        await trio.sleep(15.1)
        sitting = sitting_of(instance)
        assert sitting.faults == 1
        # what is no longer asked is not sent
        (update,) = Line(place.registry, instance).hello().hear().updates
        assert update.HasField("setup")
        assert not update.HasField("decision")


async def test_a_question_that_was_closed_unread_is_not_sent(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance, time_control=FIVE_AND_TEN)
        await trio.sleep(STALL / SECOND + 15.1)
        update = await line.update()
        assert update.HasField("setup")
        assert not update.HasField("decision")


async def test_who_drained_and_comes_anew_is_given_games_again(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance)
        await line.update()
        line.say(play_pb2.PlayRequest(drain=play_pb2.Drain()))
        line.drop()
        Line(place.registry, instance).hello(games=4)
        assert instance.free_places == 3


async def test_who_is_not_back_in_time_is_gone(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance)
        await line.update()
        line.drop()
        Line(place.registry, instance)  # a stream without Hello is none
        with trio.fail_after(30.1):
            assert await instance.wait_given_up() == "gone"
        await trio.testing.wait_all_tasks_blocked()
        assert [one.reason for one in place.outcomes["g"].forfeits] == ["gone"]
        answer = open_play(place.registry, {"authorization": f"Bearer {instance.token}"}, FakeStream())
        assert isinstance(answer, Rejection)


async def test_the_clock_runs_while_the_stream_is_lost(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance, other = place.registry.register("bot"), Bot()
        line = Line(place.registry, instance).hello()
        place.open(other, instance, deals=2, time_control=FIVE_AND_TEN)
        update = await line.update()
        await trio.sleep(1)
        line.drop()
        await trio.sleep(14.1)
        sitting = sitting_of(instance)
        assert sitting.faults == 1
        # and for a decision that comes while there is no stream
        promptly(other.sitting, other.asked[-1])
        await trio.testing.wait_all_tasks_blocked()
        promptly(other.sitting, other.asked[-1])
        await trio.testing.wait_all_tasks_blocked()
        await trio.sleep(5.1)
        assert sitting.faults == 2
        line = Line(place.registry, instance).hello()
        line.answer(update, DRAW)
        (rejected,) = line.hear().rejections
        assert rejected.rejection.reason == error_pb2.ERROR_REASON_STALE_DECISION


async def test_an_exit_forfeits_at_once(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance, game_id="one")
        place.open(Bot(), instance, game_id="two")
        await line.hears()
        instance.give_up("exited")
        await trio.testing.wait_all_tasks_blocked()
        assert {game: one.ranks for game, one in place.outcomes.items()} == {"one": (1, 2), "two": (1, 2)}
        assert not await instance.wait_ready()
        place.open(Bot(), instance, game_id="three")
        await trio.testing.wait_all_tasks_blocked()
        assert place.outcomes["three"].forfeits[0].reason == "exited"
