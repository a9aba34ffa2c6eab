"""The play stream as transcripts: the bot says, the referee says; through a fake stream and in virtual time."""

from __future__ import annotations

import grpc
import pytest
import trio
import trio.testing

from rummyarena.v1 import card_pb2, error_pb2, move_pb2, play_pb2
from rummyarena_rules.events import Event, redact
from rummyarena_rules.moves import Move
from rummyarena_rules.ruleset import Refusal
from rummyarena_rules.thai import Thai, ThaiView
from rummyarena_server.referee.clock import SECOND, now
from rummyarena_server.referee.record import replay
from rummyarena_server.rpc.bridge import Rejection
from rummyarena_server.rpc.instances import STALL
from rummyarena_server.rpc.play import open_play
from rummyarena_server.wire import read_event
from tests.referee.helpers import Bot, by_fallback, promptly
from tests.server.lines import DRAW, FIVE_AND_TEN, PASS, FakeStream, Line, a_place, a_setup, sitting_of

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


async def test_an_answer_has_at_most_a_hundred_moves(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance)
        line.answer(await line.update(), DRAW, *[PASS] * 100_000)  # a bot sees its card before it goes on
        update = await line.update()
        assert update.HasField("decision")
        # and what is no move is refused as long as it is read
        line.answer(update, *[move_pb2.Move()] * 100_000)
        assert (await line.hears()).rejections[0].index == 0


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


# --- probes ----------------------------------------------------------------------------------------------------------


async def test_a_probe_says_what_is_legal_and_changes_nothing(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance, other = place.registry.register("bot"), Bot()
        line = Line(place.registry, instance).hello()
        place.open(other, instance, time_control=FIVE_AND_TEN)
        update = await line.update()
        for _ in range(10):  # more often than there are attempts
            legal, early, malformed = line.probe(update, DRAW, PASS, move_pb2.Move()).judgements
            assert not legal.HasField("rejection")
            assert early.rejection.reason == error_pb2.ERROR_REASON_PASS_NOT_ALLOWED
            assert early.rejection.message
            assert malformed.rejection.reason == error_pb2.ERROR_REASON_MALFORMED
        assert line.hear() == play_pb2.PlayResponse()
        # the clock runs on, and the decision is still open
        await trio.sleep(14)
        line.answer(update, DRAW)
        following = await line.update()
        assert following.HasField("decision")
        assert following.decision.bank.seconds == 1
        assert other.asked == []


async def test_every_candidate_passes_a_probe(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(promptly), instance)
        while not (update := await line.update()).HasField("over"):
            result = line.probe(update, *update.decision.candidates)
            assert len(result.judgements) == len(update.decision.candidates)
            assert not any(one.HasField("rejection") for one in result.judgements)
            line.answer(update, update.decision.candidates[-1])


async def test_a_probe_of_a_decision_that_is_not_open_is_stale(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance)
        update = await line.update()
        line.answer(update, DRAW)
        elsewhere = play_pb2.GameUpdate(game_id="another", decision=update.decision)
        for closed in (update, elsewhere):
            result = line.probe(closed, DRAW, DRAW)
            assert (result.game_id, result.decision_id) == (closed.game_id, update.decision.decision_id)
            (stale,) = result.judgements
            assert stale.rejection.reason == error_pb2.ERROR_REASON_STALE_DECISION


async def test_probes_of_a_decision_are_bounded(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance)
        update = await line.update()
        assert len(line.probe(update, *[DRAW] * 200).judgements) == 200
        result = line.probe(update, *[DRAW] * 1000)
        assert len(result.judgements) == 57
        assert result.judgements[-1].rejection.reason == error_pb2.ERROR_REASON_TOO_MANY_PROBES
        assert "256" in result.judgements[-1].rejection.message
        (refused,) = line.probe(update, DRAW).judgements
        assert refused.rejection.reason == error_pb2.ERROR_REASON_TOO_MANY_PROBES
        # the next decision has probes of its own
        line.answer(update, DRAW)
        assert len(line.probe(await line.update(), *[DRAW] * 256).judgements) == 256


class Unjudged(Thai):
    def check(self, view: ThaiView, move: Move) -> Refusal | None:
        raise RuntimeError("a mistake of ours")


async def test_a_failure_of_our_own_in_a_probe_ends_that_game_alone(autojump_clock: trio.testing.MockClock) -> None:
    async with a_place() as place:
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello()
        place.open(Bot(), instance, ruleset=Unjudged())
        update = await line.update()
        line.probe(update, DRAW)
        assert (await line.update()).HasField("over")
        assert [str(failure) for failure in place.failures] == ["a mistake of ours"]
        assert (line.endings(), instance.gave_up) == ([], None)


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


async def test_what_a_slow_reader_missed_comes_in_frames_of_bounded_size(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rummyarena_server.rpc.instances.FULL_FRAME_BYTES", 1000)
    async with a_place() as place:
        # given: a bot that does not read while others play on in its games
        instance = place.registry.register("bot")
        line = Line(place.registry, instance).hello(games=20, wants=play_pb2.WANTS_EVENTS)
        line.hear()
        for number in range(20):
            place.open(by_fallback(Thai()), by_fallback(Thai()), instance, game_id=str(number))
        # when: it reads again
        frames = [await line.hears()]
        while (frame := line.hear()).updates:
            frames.append(frame)
        # then: each game came whole and once, and no frame took another game when it was full
        assert sorted(update.game_id for frame in frames for update in frame.updates) == sorted(map(str, range(20)))
        assert len(frames) > 2
        assert all(sum(one.ByteSize() for one in frame.updates[:-1]) < 1000 for frame in frames)
        for frame in frames:
            for update in frame.updates:
                assert [event.sequence for event in update.events] == list(range(1, len(update.events) + 1))


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
        sitting = sitting_of(instance)
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
