"""How games end on the play stream, for whatever reason, and how bots leave it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import grpc
import pytest
import trio
import trio.testing

from rummyarena.v1 import error_pb2, play_pb2
from rummyarena_rules.events import DealStarted, Event
from rummyarena_rules.ruleset import Candidates, NextDeal
from rummyarena_rules.thai import Thai, ThaiState, ThaiView
from rummyarena_server.referee.clock import now
from rummyarena_server.rpc.bridge import Rejection
from rummyarena_server.rpc.play import MOST_IDLE_A_SECOND, MOST_OWED, MOST_REQUEST_BYTES, open_play
from tests.referee.helpers import Bot, promptly
from tests.server.lines import DRAW, FakeStream, Line, a_place, a_setup, sitting_of

# --- the end of a game -----------------------------------------------------------------------------------------------


async def test_the_end_is_told_and_the_place_is_free_after_that(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance, other = place.registry.register("bot"), Bot()
        line = Line(place.registry, instance).hello(games=1)
        place.open(other, instance)
        await line.update()
        assert instance.free_places == 0
        other.sitting.forfeit("exited")
        await trio.testing.wait_all_tasks_blocked()
        assert instance.free_places == 0
        over = line.hear().updates[0].over
        assert list(over.ranks) == [2, 1]
        assert [(one.seat, one.reason) for one in over.forfeits] == [(0, play_pb2.FORFEIT_REASON_EXITED)]
        assert over.seed == a_setup(2).seed
        assert instance.free_places == 1


async def test_an_abandoned_game_counts_for_nobody(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        scope = place.open(Bot(), instance)
        update = await line.update()
        scope.cancel()
        over = await line.update()
        assert over.HasField("over")
        assert not over.over.ranks
        line.answer(update, DRAW)
        (rejected,) = (await line.hears()).rejections
        assert rejected.rejection.reason == error_pb2.ERROR_REASON_STALE_DECISION


class Broken(Thai):
    def candidates(self, view: ThaiView, limit: int) -> Candidates:
        raise RuntimeError("a mistake of ours")


class TooGreat(Thai):
    """Its final totals do not fit the wire."""

    def evolve(self, state: ThaiState, event: Event) -> None:
        super().evolve(state, event)
        if state.public.over:
            state.public.totals = [2**40, -(2**40)]


async def test_a_failure_of_our_own_ends_that_game_alone(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        # given: two games of a bot, one of which cannot be encoded
        instance, other = place.registry.register("bot"), Bot()
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance, game_id="sound")
        place.open(other, instance, game_id="broken", ruleset=Broken())
        update = await line.update()
        # then: the broken one is abandoned, and the bot knows nothing of it
        await trio.testing.wait_all_tasks_blocked()
        assert [str(failure) for failure in place.failures] == ["a mistake of ours"]
        assert other.ended
        assert other.outcome is None
        assert line.hear() == play_pb2.PlayResponse()
        # and the bot plays on in the other
        assert update.game_id == "sound"
        line.answer(update, DRAW)
        assert (await line.update()).HasField("decision")
        assert (line.endings(), instance.gave_up, instance.free_places) == ([], None, 3)
        assert place.outcomes == {}


async def test_a_failure_of_our_own_in_an_answer_ends_that_game_alone(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(_: play_pb2.Answer) -> None:
        raise RuntimeError("a mistake of ours")

    async with a_place() as place:
        instance, other = place.registry.register("bot"), Bot()
        line = Line(place.registry, instance).hello()
        place.open(other, instance)
        update = await line.update()
        monkeypatch.setattr("rummyarena_server.rpc.play.read_answer", read)
        line.answer(update, DRAW)
        over = await line.update()
        assert over.HasField("over")
        assert not over.over.ranks
        assert [str(failure) for failure in place.failures] == ["a mistake of ours"]
        assert (line.endings(), instance.gave_up, instance.free_places) == ([], None, 4)


async def test_events_that_cannot_be_sent_end_the_game_as_ours(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello(wants=play_pb2.WANTS_EVENTS)
        place.open(Bot(), instance, ruleset=BadDealer())
        assert line.hear().HasField("welcome")
        await trio.testing.wait_all_tasks_blocked()
        assert line.hear() == play_pb2.PlayResponse()
        assert [type(failure) for failure in place.failures] == [ValueError]
        assert (line.endings(), instance.gave_up, instance.free_places) == ([], None, 4)


class BadDealer(Thai):
    """The wire has no negative seats."""

    def deal(self, state: ThaiState, opening: NextDeal | None = None) -> tuple[Event, ...]:
        events = super().deal(state, opening)
        return tuple(replace(one, dealer=-1) if isinstance(one, DealStarted) else one for one in events)


async def test_an_end_that_cannot_be_sent_is_told_as_abandoned(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(promptly), instance, ruleset=TooGreat())
        while not (update := await line.update()).HasField("over"):
            line.answer(update, update.decision.candidates[-1])
        assert place.outcomes["g"].totals == (2**40, -(2**40))  # it was played and counts
        assert not update.over.ranks
        assert (line.endings(), instance.gave_up, instance.free_places) == ([], None, 4)


# --- leaving ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["drain", "half-close"])
async def test_who_leaves_gets_no_more_games_and_the_stream_ends_with_the_last(
    how: str, autojump_clock: trio.testing.MockClock
) -> None:
    async with a_place() as place:
        instance, other = place.registry.register("bot"), Bot()
        line = Line(place.registry, instance).hello()
        place.open(other, instance)
        await line.update()
        if how == "drain":
            line.say(play_pb2.PlayRequest(drain=play_pb2.Drain()))
        else:
            line.session.half_closed()
        assert instance.free_places == 0
        assert line.hear() == play_pb2.PlayResponse()
        assert line.endings() == []
        other.sitting.forfeit("exited")
        assert (await line.update()).HasField("over")
        assert line.hear() == play_pb2.PlayResponse()
        assert line.endings() == ["finished"]
        line.drop()
        assert await instance.wait_given_up() == "gone"


async def test_who_drains_plays_on(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance)
        update = await line.update()
        line.say(play_pb2.PlayRequest(drain=play_pb2.Drain()))
        line.answer(update, DRAW)
        assert (await line.update()).HasField("decision")


async def test_who_half_closes_in_a_game_is_given_up(autojump_clock: trio.testing.MockClock) -> None:
    # It can answer nothing any more, and without a clock the game would wait for ever.
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance)
        await line.update()
        line.session.half_closed()
        with trio.fail_after(31):
            assert await instance.wait_given_up() == "gone"
        await trio.testing.wait_all_tasks_blocked()
        assert place.outcomes["g"].ranks == (1, 2)


async def test_going_away_is_announced_once(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        line.hear()
        place.registry.go_away("the server is stopping")
        assert instance.free_places == 0
        assert line.hear().going_away.message == "the server is stopping"
        assert line.hear() == play_pb2.PlayResponse()


async def test_a_removed_instance_is_sent_its_news_and_its_token_ends(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.registry.remove(instance)
        assert line.stream.ended == "finished"
        line.drop()
        assert instance.gave_up == "gone"
        answer = open_play(place.registry, {"authorization": f"Bearer {instance.token}"}, FakeStream())
        assert isinstance(answer, Rejection)


# --- misuse ----------------------------------------------------------------------------------------------------------


def garbage(line: Line) -> None:
    line.session.receive(b"\xff\xff\xff\xff", now())


def second_hello(line: Line) -> None:
    line.hello()


def flood_of_answers(line: Line) -> None:
    answers = [play_pb2.Answer(game_id="g", decision_id="no")] * (MOST_IDLE_A_SECOND + 1)
    line.say(play_pb2.PlayRequest(answers=answers))


def flood_of_probes(line: Line) -> None:
    probes = [play_pb2.Probe(game_id="g", decision_id="no", moves=[DRAW])] * (MOST_IDLE_A_SECOND + 1)
    line.say(play_pb2.PlayRequest(probes=probes))


def probes_that_are_not_read(line: Line) -> None:
    question = sitting_of(line.session._instance).question
    assert question is not None
    probe = play_pb2.Probe(game_id="g", decision_id=question.decision_id)
    for _ in range(MOST_OWED // 100 + 1):
        line.session._idle = 0  # over many seconds
        line.say(play_pb2.PlayRequest(probes=[probe] * 100))


def flood_of_nothing(line: Line) -> None:
    for _ in range(MOST_IDLE_A_SECOND + 1):
        line.say(play_pb2.PlayRequest())


def too_long(line: Line) -> None:
    line.say(play_pb2.PlayRequest(answers=[play_pb2.Answer(game_id="g" * MOST_REQUEST_BYTES)]))


@pytest.mark.parametrize(
    ("misuse", "code"),
    [
        (too_long, grpc.StatusCode.RESOURCE_EXHAUSTED),
        (garbage, grpc.StatusCode.INVALID_ARGUMENT),
        (second_hello, grpc.StatusCode.FAILED_PRECONDITION),
        (flood_of_answers, grpc.StatusCode.RESOURCE_EXHAUSTED),
        (flood_of_nothing, grpc.StatusCode.RESOURCE_EXHAUSTED),
        (flood_of_probes, grpc.StatusCode.RESOURCE_EXHAUSTED),
        (probes_that_are_not_read, grpc.StatusCode.RESOURCE_EXHAUSTED),
    ],
)
async def test_misuse_ends_the_stream_and_forfeits_the_games(
    misuse: Any, code: grpc.StatusCode, autojump_clock: trio.testing.MockClock
) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance)
        await line.update()
        misuse(line)
        assert line.stream.ended is code
        await trio.testing.wait_all_tasks_blocked()
        assert [(one.seat, one.reason) for one in place.outcomes["g"].forfeits] == [(1, "misuse")]
        assert line.hear() == play_pb2.PlayResponse()
        line.drop()
        # it may come back for other games
        line = Line(place.registry, instance).hello()
        assert instance.free_places == 4
