"""The play stream as transcripts: the bot says, the referee says; through a fake stream and in virtual time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
import trio
import trio.testing

from rummyarena.v1 import card_pb2, error_pb2, move_pb2, play_pb2
from rummyarena_rules.events import Event, redact
from rummyarena_rules.ruleset import Candidates
from rummyarena_rules.thai import Thai, ThaiView
from rummyarena_server.referee.clock import SECOND, Deadlines, TimeControl, now
from rummyarena_server.referee.game import Game
from rummyarena_server.referee.outcome import GameOutcome
from rummyarena_server.referee.players import Player
from rummyarena_server.referee.record import GameSetup, SeatedBot, replay
from rummyarena_server.rpc.bridge import Rejection
from rummyarena_server.rpc.instances import STALL, Instance, Registry
from rummyarena_server.rpc.play import MOST_IDLE_A_SECOND, PlaySession, open_play
from rummyarena_server.wire import read_event
from tests.referee.helpers import Bot, by_fallback, promptly

# In a fresh deal of thai with two seats, seat 1 is the first on turn (T4); the bot of these tests sits there.

DRAW = move_pb2.Move(draw=move_pb2.Draw())
PASS = move_pb2.Move(pass_move=move_pb2.Pass())


class FakeStream:
    """Notes what the endpoint does with its stream."""

    def __init__(self) -> None:
        self.woken = 0
        self.ended: str | grpc.StatusCode | None = None
        self.message = ""

    def wake(self) -> None:
        self.woken += 1

    def finish(self) -> None:
        self.ended = self.ended or "finished"

    def abort(self, code: grpc.StatusCode, message: str) -> None:
        self.ended, self.message = self.ended or code, self.message or message


class Line:
    """A bot on the line: says requests, hears responses; it reads only when it hears."""

    def __init__(self, registry: Registry, instance: Instance) -> None:
        self.stream = FakeStream()
        session = open_play(registry, {"authorization": f"Bearer {instance.token}"}, self.stream)
        assert isinstance(session, PlaySession), session
        self.session = session

    def say(self, request: play_pb2.PlayRequest) -> None:
        self.session.receive(request.SerializeToString(), now())

    def hello(
        self, games: int = 4, candidates: int = 64, wants: play_pb2.Wants.ValueType = play_pb2.WANTS_VIEW
    ) -> Line:
        self.say(
            play_pb2.PlayRequest(
                hello=play_pb2.Hello(
                    sdk_name="test", max_concurrent_games=games, candidate_limit=candidates, wants=wants
                )
            )
        )
        return self

    def answer(self, update: play_pb2.GameUpdate, *moves: move_pb2.Move) -> None:
        self.say(
            play_pb2.PlayRequest(
                answers=[play_pb2.Answer(game_id=update.game_id, decision_id=update.decision.decision_id, moves=moves)]
            )
        )

    def hear(self) -> play_pb2.PlayResponse:
        frame = self.session.next_frame()
        return play_pb2.PlayResponse() if frame is None else play_pb2.PlayResponse.FromString(frame)

    async def hears(self) -> play_pb2.PlayResponse:
        """Hears what is there when the games have done what they can."""
        await trio.testing.wait_all_tasks_blocked()
        return self.hear()

    async def update(self) -> play_pb2.GameUpdate:
        response = await self.hears()
        assert len(response.updates) == 1, response
        return response.updates[0]

    def endings(self) -> list[object]:
        """How the stream ended, if it did."""
        return [] if self.stream.ended is None else [self.stream.ended]

    def drop(self) -> None:
        self.session.closed()


class Place:
    """A server without a network: a registry, a clock and games."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.deadlines = Deadlines()
        self.registry = Registry(self.deadlines, server_version="1.2.3")
        self.outcomes: dict[str, GameOutcome] = {}
        self.failures: list[Exception] = []
        self.nursery = nursery
        nursery.start_soon(self.deadlines.run)

    def open(self, *players: Player, game_id: str = "g", **changes: Any) -> trio.CancelScope:
        """Has a game played; cancelling what it returns abandons the game."""
        scope = trio.CancelScope()
        self.nursery.start_soon(self._play, a_setup(len(players), game_id, **changes), players, scope)
        return scope

    async def _play(self, setup: GameSetup, players: Sequence[Player], scope: trio.CancelScope) -> None:
        try:
            with scope, Game(setup, players, self.deadlines) as game:
                outcome = await game.play()
                self.outcomes[setup.game_id] = outcome
                game.announce(outcome, reveal_seed=True)
        except RuntimeError as failure:
            self.failures.append(failure)


def a_setup(
    seats: int,
    game_id: str = "g",
    *,
    ruleset: Thai | None = None,
    deals: int = 1,
    time_control: TimeControl | None = None,
) -> GameSetup:
    ruleset = ruleset or Thai()
    options = ruleset.configure({"max_deals": deals}, seats)
    assert not isinstance(options, list)
    return GameSetup(
        game_id=game_id,
        ruleset=ruleset,
        options=options,
        seed=bytes(31) + b"\1",
        bots=tuple(SeatedBot(f"bot {seat}") for seat in range(seats)),
        time_control=time_control,
    )


@asynccontextmanager
async def a_place() -> AsyncIterator[Place]:
    async with trio.open_nursery() as nursery:
        yield Place(nursery)
        nursery.cancel_scope.cancel()


FIVE_AND_TEN = TimeControl(decision=5 * SECOND, bank=10 * SECOND)


# --- hello -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"authorization": ""},
        {"authorization": "Bearer"},
        {"authorization": "Bearer no"},
        {"authorization": "Basic x"},
    ],
)
async def test_who_has_no_token_is_told_where_to_get_one(metadata: dict[str, str]) -> None:
    async with a_place() as place:
        place.registry.register("bot")
        answer = open_play(place.registry, metadata, FakeStream())
        assert isinstance(answer, Rejection)
        assert answer.code is grpc.StatusCode.UNAUTHENTICATED
        assert "RUMMYARENA_TOKEN" in answer.message


async def test_hello_is_answered_by_welcome() -> None:
    async with a_place() as place:
        instance = place.registry.register("bot", capacity=3)
        line = Line(place.registry, instance)
        assert not instance.is_ready
        line.hello(games=4)
        assert line.stream.woken
        welcome = line.hear().welcome
        assert (welcome.server_version, welcome.max_concurrent_games) == ("1.2.3", 3)
        assert welcome.session_id
        assert (instance.is_ready, instance.capacity, instance.free_places) == (True, 3, 3)
        assert line.hear() == play_pb2.PlayResponse()


async def test_who_waits_for_hello_is_told_of_it(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        place.deadlines.at(now() + 7 * SECOND, lambda: Line(place.registry, instance).hello())
        with trio.fail_after(8):
            assert await instance.wait_ready()


async def test_the_first_message_says_hello() -> None:
    async with a_place() as place:
        line = Line(place.registry, place.registry.register("bot"))
        line.say(play_pb2.PlayRequest(drain=play_pb2.Drain()))
        assert line.stream.ended is grpc.StatusCode.FAILED_PRECONDITION
        assert line.stream.message == "the first message has to say Hello"
        line.hello()
        assert line.hear() == play_pb2.PlayResponse()


async def test_half_a_handshake_ends_the_stream() -> None:
    async with a_place() as place:
        line = Line(place.registry, place.registry.register("bot"))
        line.session.half_closed()
        assert line.stream.ended is grpc.StatusCode.FAILED_PRECONDITION


# --- decisions and answers -------------------------------------------------------------------------------------------


async def test_a_game_begins_with_its_setup_and_a_decision(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance, time_control=FIVE_AND_TEN)
        response = await line.hears()
        assert response.HasField("welcome")
        (update,) = response.updates
        assert (update.game_id, update.setup.seat, update.setup.seats) == ("g", 1, 2)
        assert list(update.setup.bot_names) == ["bot 0", "bot 1"]
        assert [(option.name, option.number) for option in update.setup.options] == [("max_deals", 1)]
        assert update.setup.seed_digest == a_setup(2).seed_digest
        assert update.setup.time_control.decision.seconds == 5
        assert len(update.view.private_part.hand) == 11
        assert update.view.public_part.turn == update.view.seat == 1
        assert update.decision.candidates
        assert (update.decision.time_left.seconds, update.decision.bank.seconds) == (15, 10)
        assert update.decision.random_seed
        assert not update.events


async def test_an_answer_leads_to_the_next_decision(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance)
        first = await line.update()
        line.answer(first, DRAW)
        second = await line.update()
        assert second.decision.decision_id != first.decision.decision_id
        assert len(second.view.private_part.hand) == 12
        assert not second.HasField("setup")


async def test_a_refused_move_is_explained_and_the_decision_stays_open(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance)
        update = await line.update()
        line.answer(update, PASS)
        response = await line.hears()
        (rejected,) = response.rejections
        assert not response.updates
        assert (rejected.game_id, rejected.decision_id) == ("g", update.decision.decision_id)
        assert rejected.rejection.reason == error_pb2.ERROR_REASON_PASS_NOT_ALLOWED
        assert (rejected.index, rejected.attempts_left) == (0, 2)
        line.answer(update, DRAW)
        assert (await line.update()).HasField("decision")


@pytest.mark.parametrize(
    "moves",
    [
        (),
        (move_pb2.Move(),),
        (move_pb2.Move(discard=move_pb2.Discard()),),
        (move_pb2.Move(discard=move_pb2.Discard(card=card_pb2.Card.ValueType(77))),),
    ],
)
async def test_what_is_no_move_is_refused_as_malformed(
    moves: tuple[move_pb2.Move, ...], autojump_clock: trio.testing.MockClock
) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance)
        line.answer(await line.update(), *moves)
        (rejected,) = (await line.hears()).rejections
        assert rejected.rejection.reason == error_pb2.ERROR_REASON_MALFORMED
        assert line.stream.ended is None


async def test_stale_answers_are_refused_and_change_nothing(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance)
        first = await line.update()
        line.answer(first, DRAW)
        for _ in range(1000):
            line.answer(first, DRAW)
        line.answer(play_pb2.GameUpdate(game_id="another", decision=first.decision), DRAW)
        response = await line.hears()
        assert len(response.rejections) == 1001
        assert {one.rejection.reason for one in response.rejections} == {error_pb2.ERROR_REASON_STALE_DECISION}
        assert {one.attempts_left for one in response.rejections} == {0}
        assert response.updates[0].HasField("decision")
        assert line.stream.ended is None


async def test_answers_of_many_games_come_and_go_together(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello(games=8)
        for number in range(8):
            place.open(Bot(), instance, game_id=f"g{number}")
        asked = (await line.hears()).updates
        assert sorted(update.game_id for update in asked) == [f"g{number}" for number in range(8)]
        answers = [
            play_pb2.Answer(game_id=one.game_id, decision_id=one.decision.decision_id, moves=[DRAW]) for one in asked
        ]
        line.say(play_pb2.PlayRequest(answers=answers))
        assert len((await line.hears()).updates) == 8


async def test_candidates_come_as_many_as_asked_for(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello(candidates=0)
        place.open(Bot(), instance)
        decision = (await line.update()).decision
        assert not decision.candidates
        assert not decision.complete
        assert decision.verbs


# --- events ----------------------------------------------------------------------------------------------------------


async def test_a_bot_that_wants_events_gets_them_without_a_gap(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello(wants=play_pb2.WANTS_EVENTS)
        place.open(Bot(promptly), instance)
        sequences = []
        while True:
            update = await line.update()
            sequences += [event.sequence for event in update.events]
            assert not update.HasField("view")
            if update.HasField("over"):
                break
            line.answer(update, update.decision.candidates[-1])
        assert sequences == list(range(1, place.outcomes["g"].record.events + 1))


async def test_a_bot_that_wants_no_events_hears_nothing_between_its_decisions(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_place() as place:
        instance, other = place.registry.register("bot"), Bot()
        line = Line(place.registry, instance).hello()
        place.open(other, instance)
        line.answer(await line.update(), DRAW)
        update = await line.update()
        line.answer(update, update.decision.candidates[-1])
        await trio.testing.wait_all_tasks_blocked()
        woken = line.stream.woken
        promptly(other.sitting, other.asked[-1])
        await trio.testing.wait_all_tasks_blocked()
        assert line.stream.woken == woken
        assert line.hear() == play_pb2.PlayResponse()


async def test_what_a_slow_reader_missed_comes_merged(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello(wants=play_pb2.WANTS_BOTH)
        await line.hears()
        # given: two others play on while the bot does not read
        place.open(by_fallback(Thai()), by_fallback(Thai()), instance, deals=1)
        update = await line.update()
        sequences = [event.sequence for event in update.events]
        assert sequences == list(range(1, len(sequences) + 1))
        assert len(sequences) > 8
        assert update.HasField("setup")
        assert update.view.public_part.turn == 2


async def test_each_seat_is_sent_the_events_as_it_may_see_them(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instances = [place.registry.register(name) for name in ("one", "two")]
        lines = [Line(place.registry, one).hello(wants=play_pb2.WANTS_EVENTS) for one in instances]
        place.open(*instances)
        heard: list[list[Event | None]] = [[], []]
        while "g" not in place.outcomes:
            for line, events in zip(lines, heard, strict=True):
                for update in (await line.hears()).updates:
                    events += map(read_event, update.events)
                    if update.HasField("decision"):
                        line.answer(update, update.decision.candidates[-1])
        for line, events in zip(lines, heard, strict=True):
            events += [read_event(one) for update in line.hear().updates for one in update.events]
    played = list(replay(place.outcomes["g"].record))
    assert heard == [[redact(event, seat) for event in played] for seat in (0, 1)]


# --- the clock -------------------------------------------------------------------------------------------------------


async def test_the_clock_starts_when_the_frame_is_handed_over(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(promptly), instance, time_control=FIVE_AND_TEN)
        await trio.sleep(0.9)
        update = await line.update()
        await trio.sleep(15)
        line.answer(update, DRAW)  # exactly at the limit
        following = await line.update()
        assert following.decision.decision_id != update.decision.decision_id
        assert (following.decision.time_left.seconds, following.decision.bank.seconds) == (5, 0)
        await trio.sleep(5.1)
        line.answer(following, DRAW)
        (rejected,) = (await line.hears()).rejections
        assert rejected.rejection.reason == error_pb2.ERROR_REASON_STALE_DECISION


async def test_who_does_not_read_loses_its_own_time_and_then_the_seat(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        line.hear()
        place.open(Bot(promptly), instance, deals=3, time_control=FIVE_AND_TEN)
        await trio.sleep(STALL / SECOND + 15.1)
        (sitting,) = [instance.sitting("g")]
        assert sitting is not None
        assert sitting.faults == 1
        with trio.fail_after(60):
            assert await instance.wait_given_up() == "gone"
        assert line.stream.ended is grpc.StatusCode.UNAUTHENTICATED
        await trio.testing.wait_all_tasks_blocked()
        assert place.outcomes["g"].winners == (0,)


async def test_who_reads_again_is_not_given_up(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(promptly), instance)
        await trio.sleep(20)
        assert (await line.update()).HasField("decision")
        await trio.sleep(1000)
        assert instance.is_ready


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


async def test_a_failure_of_our_own_is_not_booked_on_the_bot(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance, other = place.registry.register("bot"), Bot()
        line = Line(place.registry, instance).hello()
        place.open(other, instance, ruleset=Broken())
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(RuntimeError, match="a mistake of ours"):
            line.hear()
        await trio.testing.wait_all_tasks_blocked()
        assert [str(failure) for failure in place.failures] == ["a mistake of ours"]
        assert place.outcomes == {}
        assert other.ended
        assert other.outcome is None


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


# --- lost streams ----------------------------------------------------------------------------------------------------


async def test_a_second_stream_replaces_the_first(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance, time_control=FIVE_AND_TEN)
        before = await line.update()
        await trio.sleep(7)
        second = Line(place.registry, instance)
        assert line.stream.ended is grpc.StatusCode.ABORTED
        line.drop()
        assert instance.free_places == 0
        response = second.hello().hear()
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
        sitting = instance.sitting("g")
        assert sitting is not None
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
        sitting = instance.sitting("g")
        assert sitting is not None
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


# --- misuse ----------------------------------------------------------------------------------------------------------


def garbage(line: Line) -> None:
    line.session.receive(b"\xff\xff\xff\xff", now())


def second_hello(line: Line) -> None:
    line.hello()


def flood_of_answers(line: Line) -> None:
    answers = [play_pb2.Answer(game_id="g", decision_id="no")] * (MOST_IDLE_A_SECOND + 1)
    line.say(play_pb2.PlayRequest(answers=answers))


def flood_of_nothing(line: Line) -> None:
    for _ in range(MOST_IDLE_A_SECOND + 1):
        line.say(play_pb2.PlayRequest())


@pytest.mark.parametrize(
    ("misuse", "code"),
    [
        (garbage, grpc.StatusCode.INVALID_ARGUMENT),
        (second_hello, grpc.StatusCode.FAILED_PRECONDITION),
        (flood_of_answers, grpc.StatusCode.RESOURCE_EXHAUSTED),
        (flood_of_nothing, grpc.StatusCode.RESOURCE_EXHAUSTED),
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


async def test_what_is_not_read_is_bounded(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello(games=256, wants=play_pb2.WANTS_EVENTS)
        line.hear()
        # given: a bot that wants events of many long games of others, and does not read; each fault of its is its own
        control = TimeControl(decision=0, bank=0)
        for number in range(200):
            place.open(
                by_fallback(Thai()), by_fallback(Thai()), instance, game_id=str(number), deals=8, time_control=control
            )
        await trio.sleep(10)
        assert line.stream.ended is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "does not read" in line.stream.message
