"""Games in virtual time: what is asked, what stands, what is refused, and what is booked on whom."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from rummyarena_rules.events import DealEnded, Discarded, Event, StockDrawn, TurnStarted, redact
from rummyarena_rules.moves import Discard, Draw, Move, Pass, Take
from rummyarena_rules.ruleset import Reason, Refusal, Result
from rummyarena_rules.shoe import bot_seed
from rummyarena_rules.table import Phase
from rummyarena_rules.thai import THAI, ThaiView
from rummyarena_server.referee.clock import SECOND, TimeControl, now
from rummyarena_server.referee.game import Game
from rummyarena_server.referee.outcome import ranks_with_forfeits
from rummyarena_server.referee.players import LocalPlayer, Question, Sitting
from rummyarena_server.referee.record import ForfeitReason, replay
from tests.referee.helpers import (
    TEN_SECONDS,
    Bot,
    Hall,
    after,
    by_fallback,
    fallback_of,
    hall,
    promptly,
    randomly,
    setup,
)

# In a fresh deal of thai with two seats, seat 1 is the first on turn (T4).


def last_card(bot: Bot) -> Discard:
    private = bot.sitting.question and bot.sitting.question.view.private
    assert private
    return Discard(private.hand[-1])


# --- whole games -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", THAI.seats)
async def test_random_bots_play_to_the_end_by_the_rules(seats: int, autojump_clock: trio.testing.MockClock) -> None:
    async with hall() as room:
        outcome = await room.play(setup(seats), *(randomly(THAI) for _ in range(seats)))
    assert outcome.rated
    assert (outcome.forfeits, outcome.faults) == ((), (0,) * seats)
    assert len(outcome.deals) == outcome.counted_deals == 2
    assert outcome.points == outcome.totals == tuple(map(sum, zip(*outcome.deals, strict=True)))
    assert min(outcome.ranks) == 1
    assert outcome.winners == tuple(seat for seat, total in enumerate(outcome.totals) if total == max(outcome.totals))


async def test_every_seat_is_told_every_event_once_as_it_may_see_it(autojump_clock: trio.testing.MockClock) -> None:
    bots = [Bot(promptly), Bot(promptly), Bot(promptly)]
    async with hall() as room:
        outcome = await room.play(setup(3), *bots)
    events = list(replay(outcome.record))
    for seat, bot in enumerate(bots):
        assert bot.told == [(number, redact(event, seat)) for number, event in enumerate(events, 1)]


async def test_the_view_asked_with_shows_the_seat_its_own_hand(autojump_clock: trio.testing.MockClock) -> None:
    bots = [Bot(promptly), Bot(promptly)]
    async with hall() as room:
        await room.play(setup(), *bots)
    assert {question.view.seat for question in bots[1].asked} == {1}
    assert {question.view.seat for question in bots[0].asked} == {0}


async def test_the_end_is_told_only_by_announcing(autojump_clock: trio.testing.MockClock) -> None:
    bots = [Bot(promptly), Bot(promptly)]
    async with hall() as room:
        with Game(setup(options={"max_deals": 1}), bots, room.deadlines) as game:
            outcome = await game.play()
            assert not any(isinstance(event, DealEnded) for _, event in bots[0].told)
            assert not bots[0].ended
            game.announce(outcome, reveal_seed=True)
    assert isinstance(bots[0].told[-1][1], DealEnded)
    assert bots[0].outcome == bots[1].outcome == outcome
    assert bots[0].seed == outcome.record.setup.seed
    assert len(bots[0].told) == outcome.record.events


async def test_an_observer_hears_everything_face_up_and_the_end_when_it_is_announced(
    autojump_clock: trio.testing.MockClock,
) -> None:
    heard: list[Event] = []
    async with hall() as room:
        with Game(setup(), [by_fallback(THAI), by_fallback(THAI)], room.deadlines, heard.extend) as game:
            outcome = await game.play()
            told_before = len(heard)
            game.announce(outcome)
    events = list(replay(outcome.record))
    assert heard == events
    assert not any(isinstance(event, DealEnded) and event.over for event in events[:told_before])


async def test_a_game_that_is_not_announced_was_abandoned(autojump_clock: trio.testing.MockClock) -> None:
    bots = [Bot(), Bot()]
    async with hall() as room:
        with trio.move_on_after(3):
            await room.play(setup(), *bots)
    assert all(bot.ended and bot.outcome is None for bot in bots)
    assert not bots[1].sitting.answer(bots[1].asked[0].decision_id, [Draw()], now())


async def test_players_and_seats_have_to_agree() -> None:
    async with hall() as room:
        with pytest.raises(ValueError, match="3 players for 2 seats"):
            Game(setup(2), [Bot(), Bot(), Bot()], room.deadlines)


# --- questions -------------------------------------------------------------------------------------------------------


async def test_each_question_has_its_own_name_and_seed(autojump_clock: trio.testing.MockClock) -> None:
    bots = [Bot(promptly), Bot(promptly)]
    async with hall() as room:
        outcome = await room.play(setup(), *bots)
    seed = outcome.record.setup.seed
    for seat, bot in enumerate(bots):
        assert [question.random_seed for question in bot.asked] == [
            bot_seed(seed, seat, number) for number in range(1, len(bot.asked) + 1)
        ]
    names = [question.decision_id for bot in bots for question in bot.asked]
    assert len(set(names)) == len(names)


async def test_a_refused_answer_leaves_the_same_question_open(autojump_clock: trio.testing.MockClock) -> None:
    bot = Bot()
    async with hall() as room:
        await room.open(setup(), Bot(), bot)
        assert bot.answer(last_card(bot))
        await trio.testing.wait_all_tasks_blocked()
        assert [(one.index, one.refusal.reason, one.attempts_left) for one in bot.rejected] == [
            (0, Reason.WRONG_PHASE, 2)
        ]
        assert bot.rejected[0].decision_id == bot.asked[0].decision_id
        assert bot.sitting.question is bot.asked[0]
        assert len(bot.asked) == 1
        assert bot.answer(Draw())
        await trio.testing.wait_all_tasks_blocked()
        assert len(bot.asked) == 2
        assert bot.asked[1].random_seed == bot_seed((1).to_bytes(32, "big"), 1, 2)


async def test_used_up_attempts_are_one_fault_and_the_rest_of_the_turn(autojump_clock: trio.testing.MockClock) -> None:
    bot = Bot()
    async with hall() as room:
        await room.open(setup(), Bot(), bot)
        bot.answer(Draw())
        await trio.testing.wait_all_tasks_blocked()
        # Attempts count for the whole turn, not for a decision.
        for left in (2, 1, 0):
            bot.answer(Draw())
            await trio.testing.wait_all_tasks_blocked()
            assert bot.rejected[-1].attempts_left == left
        assert bot.sitting.faults == 1
        assert [type(event) for _, event in bot.told[-2:]] == [Discarded, TurnStarted]
        assert len(bot.asked) == 2


async def test_the_fallback_goes_on_until_the_turn_is_over(autojump_clock: trio.testing.MockClock) -> None:
    bot, other = Bot(), Bot()
    async with hall() as room:
        await room.open(setup(), other, bot)
        for _ in range(3):  # refused in the phase draw: the fallback draws and discards
            bot.answer(Refusal(Reason.MALFORMED, "no move"))
            await trio.testing.wait_all_tasks_blocked()
        assert bot.rejected[-1].refusal == Refusal(Reason.MALFORMED, "no move")
        assert [type(event) for _, event in bot.told[-3:]] == [StockDrawn, Discarded, TurnStarted]
        assert other.sitting.question is not None
        # and the next turn is its own again, with new attempts
        other.answer(Draw())
        await trio.testing.wait_all_tasks_blocked()
        other.answer(last_card(other))
        await trio.testing.wait_all_tasks_blocked()
        bot.answer(Refusal(Reason.MALFORMED, "no move"))
        await trio.testing.wait_all_tasks_blocked()
        assert bot.rejected[-1].attempts_left == 2


# --- several moves in one answer -------------------------------------------------------------------------------------


async def test_what_follows_an_unseen_card_is_dropped(autojump_clock: trio.testing.MockClock) -> None:
    bot = Bot()
    async with hall() as room:
        await room.open(setup(), Bot(), bot)
        bot.answer(Draw(), last_card(bot))
        await trio.testing.wait_all_tasks_blocked()
        assert bot.rejected == []
        assert len(bot.asked) == 2
        assert bot.sitting.question is not None
        assert bot.sitting.question.view.public.phase is Phase.PLAY


async def test_what_follows_the_end_of_the_turn_is_dropped(autojump_clock: trio.testing.MockClock) -> None:
    bot, other = Bot(), Bot()
    async with hall() as room:
        await room.open(setup(), other, bot)
        bot.answer(Draw())
        await trio.testing.wait_all_tasks_blocked()
        bot.answer(last_card(bot), Draw(), Draw())
        await trio.testing.wait_all_tasks_blocked()
        assert bot.rejected == []
        assert other.sitting.question is not None


class TakesAndMelds:
    """Takes whenever it can, and tries `rest` with the same answer."""

    def __init__(self, rest: Move) -> None:
        self.rest = rest
        self.tried = False

    def __call__(self, sitting: Sitting, question: Question) -> None:
        moves: list[Move] = [THAI.candidates(question.view, 64).moves[0]]
        if not isinstance(moves[0], Draw | Discard) and not self.tried:
            self.tried = True
            moves.append(self.rest)
        sitting.answer(question.decision_id, moves, now())


async def test_what_follows_a_refused_move_is_dropped(autojump_clock: trio.testing.MockClock) -> None:
    bot = Bot()
    async with hall() as room:
        await room.open(setup(), Bot(), bot)
        told = len(bot.told)
        bot.answer(last_card(bot), Draw(), last_card(bot))
        await trio.testing.wait_all_tasks_blocked()
        assert [(one.index, one.attempts_left) for one in bot.rejected] == [(0, 2)]
        assert len(bot.told) == told
        assert bot.answer(Draw())


async def test_moves_before_a_refused_one_stand_and_the_next_question_follows(
    autojump_clock: trio.testing.MockClock,
) -> None:
    # given: a bot that takes from the row and draws in the same answer, which belongs to another phase
    bot = Bot(TakesAndMelds(Draw()))
    async with hall() as room:
        outcome = await room.play(setup(), Bot(promptly), bot)
    assert [(one.index, one.refusal.reason, one.attempts_left) for one in bot.rejected] == [(1, Reason.WRONG_PHASE, 2)]
    names = [question.decision_id for question in bot.asked]
    refused = names.index(bot.rejected[0].decision_id)
    assert names[refused + 1] != names[refused]
    assert outcome.faults == (0, 0)


async def test_moves_of_one_answer_are_played_in_order(autojump_clock: trio.testing.MockClock) -> None:
    # given: a bot that takes from the row and discards at once, asked for the one and not for the other
    def take_and_discard(sitting: Sitting, question: Question) -> None:
        view: ThaiView = question.view
        taking = THAI.candidates(view, 64).moves[0]
        moves: list[Move] = [taking]
        if isinstance(taking, Take) and view.private is not None:
            kept = [card for card in view.private.hand if card not in taking.cards]
            moves.append(Discard(kept[-1]))
            took.append(question.decision_id)
        sitting.answer(question.decision_id, moves, now())

    took: list[str] = []
    bot = Bot(take_and_discard)
    async with hall() as room:
        await room.play(setup(seed=3), Bot(promptly), bot)
    assert took, "no take in this game: choose another seed"
    assert bot.rejected == []
    names = [question.decision_id for question in bot.asked]
    following = [bot.asked[names.index(name) + 1] for name in took if name != names[-1]]
    assert following
    assert all(question.verbs[0] == "take" for question in following), (
        "the discards were played without being asked for"
    )


# --- answers that change nothing -------------------------------------------------------------------------------------


async def test_stale_and_repeated_answers_change_nothing(autojump_clock: trio.testing.MockClock) -> None:
    bot, other = Bot(), Bot()
    async with hall() as room:
        await room.open(setup(), other, bot)
        first = bot.asked[0].decision_id
        assert bot.answer(Draw())
        for _ in range(1000):  # while the first is not even looked at
            assert not bot.sitting.answer(first, [Draw()], now())
        await trio.testing.wait_all_tasks_blocked()
        told = len(bot.told)
        assert not bot.sitting.answer(first, [Draw()], now())
        assert not bot.sitting.answer("no such decision", [Draw()], now())
        await trio.testing.wait_all_tasks_blocked()
        assert (len(bot.told), bot.rejected, bot.sitting.faults) == (told, [], 0)


async def test_news_sent_after_the_answer_does_not_open_the_question_again(
    autojump_clock: trio.testing.MockClock,
) -> None:
    bot = Bot()
    async with hall() as room:
        await room.open(setup(), Bot(), bot)
        assert bot.answer(Draw())
        bot.sitting.sent(now())
        assert not bot.answer(Draw())


async def test_a_seat_cannot_answer_for_another(autojump_clock: trio.testing.MockClock) -> None:
    bot, other = Bot(), Bot()
    async with hall() as room:
        await room.open(setup(), other, bot)
        assert not other.sitting.answer(bot.asked[0].decision_id, [Draw()], now())
        await trio.testing.wait_all_tasks_blocked()
        assert bot.sitting.question is bot.asked[0]


async def test_an_answer_before_the_question_was_sent_is_refused(autojump_clock: trio.testing.MockClock) -> None:
    bot = Bot(reads=False)
    async with hall() as room:
        await room.open(setup(), Bot(), bot)
        assert not bot.answer(Draw())
        bot.sitting.sent(now())
        assert bot.answer(Draw())


# --- the clock -------------------------------------------------------------------------------------------------------


async def test_an_answer_exactly_at_the_limit_is_in_time(autojump_clock: trio.testing.MockClock) -> None:
    async with hall() as room:
        bot = Bot(after(room.deadlines, 10 * SECOND))
        outcome = await room.play(setup(options={"max_deals": 1}, time_control=TEN_SECONDS), Bot(promptly), bot)
    assert outcome.faults == (0, 0)
    assert set(outcome.record.thinking) == {0, 10 * SECOND}


async def test_an_answer_one_microsecond_later_is_a_fault(autojump_clock: trio.testing.MockClock) -> None:
    async with hall() as room:
        bot = Bot(after(room.deadlines, 10 * SECOND + 1, 0))
        outcome = await room.play(setup(options={"max_deals": 1}, time_control=TEN_SECONDS), Bot(promptly), bot)
    assert outcome.faults == (0, 1)
    assert outcome.forfeits == ()
    assert [move.verdict for move in outcome.record.moves[:3]] == ["late", "rest", "played"]
    assert outcome.record.thinking[0] == 10 * SECOND + 1


async def test_a_late_answer_that_comes_before_the_clock_is_late_too(autojump_clock: trio.testing.MockClock) -> None:
    # given: our own task is behind, so an answer comes in whose receipt lies beyond the limit
    bot = Bot()
    async with hall() as room:
        await room.open(setup(time_control=TEN_SECONDS), Bot(), bot)
        assert not bot.sitting.answer(bot.asked[0].decision_id, [Draw()], now() + 10 * SECOND + 1)
        await trio.testing.wait_all_tasks_blocked()
        assert bot.sitting.faults == 1


async def test_the_bank_pays_and_runs_out(autojump_clock: trio.testing.MockClock) -> None:
    control = TimeControl(decision=SECOND, bank=3 * SECOND)
    async with hall() as room:
        bot = Bot(after(room.deadlines, 2 * SECOND, 3 * SECOND, SECOND, SECOND + 1, 0))
        outcome = await room.play(setup(options={"max_deals": 1}, time_control=control), Bot(promptly), bot)
    # 1 s and 2 s from the bank; after that a decision has its free second and no more
    verdicts = [move.verdict for move in outcome.record.moves if move.seat == 1]
    assert verdicts[:4] == ["played", "played", "played", "late"]
    assert outcome.faults == (0, 1)


async def test_the_increment_fills_the_bank(autojump_clock: trio.testing.MockClock) -> None:
    control = TimeControl(decision=SECOND, bank=0, increment=SECOND)
    async with hall() as room:
        bot = Bot(after(room.deadlines, 0, 2 * SECOND))  # the first answer earns the first second
        outcome = await room.play(setup(options={"max_deals": 1}, time_control=control), Bot(promptly), bot)
    assert outcome.faults == (0, 0)


async def test_time_stands_until_the_question_is_sent(autojump_clock: trio.testing.MockClock) -> None:
    bot = Bot(reads=False)
    async with hall() as room:
        await room.open(setup(time_control=TEN_SECONDS), Bot(), bot)
        await trio.sleep(1000)
        assert bot.sitting.faults == 0
        bot.sitting.sent(now())
        await trio.sleep(10)
        assert bot.sitting.faults == 0
        await trio.sleep(0.1)
        assert bot.sitting.faults == 1


async def test_an_attempt_costs_the_time_of_the_same_decision(autojump_clock: trio.testing.MockClock) -> None:
    bot = Bot()
    async with hall() as room:
        await room.open(setup(time_control=TEN_SECONDS), Bot(), bot)
        await trio.sleep(6)
        bot.answer(Refusal(Reason.MALFORMED, "no move"))
        await trio.sleep(3.9)
        assert bot.sitting.faults == 0
        await trio.sleep(0.2)
        assert bot.sitting.faults == 1


async def test_three_faults_forfeit(autojump_clock: trio.testing.MockClock) -> None:
    bot = Bot()
    async with hall() as room:
        outcome = await room.play(setup(3, time_control=TEN_SECONDS), Bot(promptly), bot, Bot(promptly))
    assert outcome.faults == (0, 3, 0)
    assert [(one.seat, one.reason) for one in outcome.forfeits] == [(1, "faults")]
    assert outcome.ranks[1] == 3
    verdicts = [move.verdict for move in outcome.record.moves if move.seat == 1]
    assert verdicts[:5] == ["late", "rest", "late", "rest", "late"]
    assert set(verdicts[5:]) == {"forfeited"}
    assert len(bot.asked) == 3
    assert len(bot.told) == outcome.record.events  # it may still watch


async def test_the_third_fault_ends_a_game_of_two_at_once(autojump_clock: trio.testing.MockClock) -> None:
    async with hall() as room:
        outcome = await room.play(setup(time_control=TEN_SECONDS), Bot(promptly), Bot())
    assert (outcome.faults, outcome.winners) == ((0, 3), (0,))
    # nothing is played for the seat after that, not even the fallback of its third fault
    assert [move.verdict for move in outcome.record.moves if move.seat == 1] == ["late", "rest"] * 2


async def test_without_a_clock_nobody_is_ever_late(autojump_clock: trio.testing.MockClock) -> None:
    async with hall() as room:
        bot = Bot(after(room.deadlines, 10**6 * SECOND, 0))
        outcome = await room.play(setup(options={"max_deals": 1}), Bot(promptly), bot)
    assert outcome.faults == (0, 0)


# --- forfeits --------------------------------------------------------------------------------------------------------


async def test_the_last_seat_left_wins_at_once(autojump_clock: trio.testing.MockClock) -> None:
    bot, other = Bot(), Bot()
    async with hall() as room:
        await room.open(setup(), other, bot)
        bot.sitting.forfeit("exited")
        await trio.testing.wait_all_tasks_blocked()
    outcome = other.outcome
    assert outcome is not None
    assert (outcome.ranks, outcome.winners, outcome.rated) == ((1, 2), (0,), True)
    assert [(one.seat, one.reason, one.moves) for one in outcome.forfeits] == [(1, "exited", 0)]
    assert (outcome.deals, outcome.counted_deals, outcome.points) == ((), 0, (0, 0))


async def test_the_seat_that_is_not_on_turn_can_be_forfeited_too(autojump_clock: trio.testing.MockClock) -> None:
    bot, other = Bot(), Bot()
    async with hall() as room:
        await room.open(setup(), other, bot)
        other.sitting.forfeit("gone")
        await trio.testing.wait_all_tasks_blocked()
    assert bot.outcome is not None
    assert (bot.outcome.ranks, bot.outcome.winners) == ((2, 1), (1,))


async def test_nobody_wins_if_all_are_gone(autojump_clock: trio.testing.MockClock) -> None:
    bots = [Bot(), Bot(), Bot()]
    async with hall() as room:
        await room.open(setup(3), *bots)
        for bot in bots:
            bot.sitting.forfeit("exited")
        await trio.testing.wait_all_tasks_blocked()
    outcome = bots[0].outcome
    assert outcome is not None
    assert (outcome.ranks, outcome.winners, outcome.rated) == ((3, 3, 3), (), False)


async def test_a_seat_may_be_forfeited_before_the_first_deal(autojump_clock: trio.testing.MockClock) -> None:
    class Gone(Bot):
        def begin(self, sitting: Sitting) -> None:
            super().begin(sitting)
            sitting.forfeit("gone")

    other = Bot()
    async with hall() as room:
        outcome = await room.play(setup(), Gone(), other)
    assert (outcome.ranks, other.told, outcome.record.events) == ((2, 1), [], 0)
    assert list(replay(outcome.record)) == []


@pytest.mark.parametrize("reason", ["exited", "gone", "misuse"])
async def test_the_others_get_their_game(reason: ForfeitReason, autojump_clock: trio.testing.MockClock) -> None:
    bot = Bot()
    async with hall() as room:
        with Game(setup(3), [Bot(promptly), bot, Bot(promptly)], room.deadlines) as game:
            bot.sitting.forfeit(reason)
            outcome = await game.play()
    assert outcome.ranks[1] == 3
    assert sorted(outcome.ranks) in ([1, 2, 3], [1, 1, 3])
    assert len(outcome.deals) == 2
    assert (outcome.counted_deals, outcome.points) == (0, (0, 0, 0))
    assert bot.asked == []


async def test_exits_at_every_moment_of_a_deal(autojump_clock: trio.testing.MockClock) -> None:
    # given: a game of three; then seat 1 exits after each number of events that there are in its first deal
    plain = setup(3, options={"max_deals": 1})
    async with hall() as room:
        whole = await room.play(plain, *(by_fallback(THAI) for _ in range(3)))
        for moment in range(1, whole.record.events + 1):

            class Exits(Bot):
                def tell(self, sitting: Sitting, sequence: int, events: object, moment: int = moment) -> None:
                    if sequence >= moment:
                        sitting.forfeit("exited")

            outcome = await room.play(plain, by_fallback(THAI), Exits(promptly), by_fallback(THAI))
            assert outcome.totals == whole.totals, "all play by fallback, so nothing else changes"
            exited_in_time = bool(outcome.forfeits)
            assert outcome.counted_deals == (0 if exited_in_time else 1)
            assert outcome.ranks[1] == (3 if exited_in_time else whole.ranks[1])
            assert list(replay(outcome.record)) == list(replay(whole.record))


async def test_an_answer_handed_in_before_the_exit_is_played(autojump_clock: trio.testing.MockClock) -> None:
    bot, third = Bot(), Bot()
    async with hall() as room:
        await room.open(setup(3), Bot(), bot, third)
        bot.answer(Draw())
        bot.sitting.forfeit("exited")
        await trio.testing.wait_all_tasks_blocked()
        # the draw was its own, the discard is the fallback's
        assert [type(event) for _, event in third.told[-3:]] == [StockDrawn, Discarded, TurnStarted]
        assert bot.sitting.faults == 0


async def test_who_exits_after_an_illegal_answer_is_forfeited_before_the_next_move(
    autojump_clock: trio.testing.MockClock,
) -> None:
    bot, other = Bot(), Bot()
    async with hall() as room:
        await room.open(setup(), other, bot)
        bot.answer(Pass())  # T12: nobody passes instead of drawing
        bot.sitting.forfeit("exited")
        await trio.testing.wait_all_tasks_blocked()
    outcome = other.outcome
    assert outcome is not None
    assert [(one.seat, one.moves) for one in outcome.forfeits] == [(1, 0)]
    assert outcome.record.moves == ()


async def test_who_exits_after_the_last_action_of_the_game_has_finished_it(
    autojump_clock: trio.testing.MockClock,
) -> None:
    # given: a deal that nobody wins, ended by the pass of a seat that exits at once
    def pass_and_exit(sitting: Sitting, question: Question) -> None:
        promptly(sitting, question)
        if "pass" in question.verbs:
            sitting.forfeit("exited")

    bots = [Bot(pass_and_exit), Bot(pass_and_exit)]
    async with hall() as room:
        outcome = await room.play(setup(options={"max_deals": 1}), *bots)
    assert {bot.sitting.forfeited for bot in bots} == {None, "exited"}
    assert outcome.forfeits == ()
    assert len(outcome.deals) == outcome.counted_deals == 1


async def test_points_count_the_deals_before_the_first_forfeit(autojump_clock: trio.testing.MockClock) -> None:
    class ExitsInDealTwo(Bot):
        def tell(self, sitting: Sitting, sequence: int, events: object) -> None:
            if sitting.question is None and self.deals_told(events):
                sitting.forfeit("exited")

        def deals_told(self, events: object) -> bool:
            assert isinstance(events, list)
            return any(isinstance(event, DealEnded) for event in events)

    async with hall() as room:
        outcome = await room.play(
            setup(3, options={"max_deals": 3}), randomly(THAI), ExitsInDealTwo(promptly), randomly(THAI)
        )
    assert len(outcome.deals) == 3
    assert outcome.counted_deals == 1
    assert outcome.points == outcome.deals[0]
    assert outcome.totals == tuple(map(sum, zip(*outcome.deals, strict=True)))


@pytest.mark.parametrize(
    ("forfeited", "ranks", "expected"),
    [
        ((), (2, 1, 3, 3), (2, 1, 3, 3)),
        ((1,), (2, 1, 3, 3), (1, 4, 2, 2)),  # the best of all is forfeited
        ((0, 3), (2, 1, 3, 3), (3, 1, 2, 3)),
        ((0, 2, 3), None, (2, 1, 2, 2)),
        ((0, 1, 2, 3), None, (4, 4, 4, 4)),
        ((0, 1, 2, 3), (2, 1, 3, 3), (4, 4, 4, 4)),
    ],
)
def test_forfeited_seats_share_the_last_place(
    forfeited: tuple[int, ...], ranks: tuple[int, ...] | None, expected: tuple[int, ...]
) -> None:
    result = None if ranks is None else Result(ranks, (0, 0, 0, 0), ())
    assert ranks_with_forfeits(4, forfeited, result) == expected


# --- our own failures ------------------------------------------------------------------------------------------------


async def test_a_failure_of_our_own_is_raised_and_booked_on_nobody(autojump_clock: trio.testing.MockClock) -> None:
    def fail(_view: object, _seed: int) -> Move:
        raise RuntimeError("a mistake of ours")

    bot = Bot(promptly)
    async with hall() as room:
        with pytest.raises(RuntimeError, match="a mistake of ours"):
            await room.play(setup(), LocalPlayer(fail), bot)
    assert bot.ended
    assert bot.outcome is None


async def test_a_player_can_report_a_failure_of_our_own(autojump_clock: trio.testing.MockClock) -> None:
    bot, other = Bot(), Bot()
    async with hall() as room:
        failure = RuntimeError("could not be encoded")
        room.deadlines.at(now() + SECOND, lambda: bot.sitting.fail(failure))
        with pytest.raises(RuntimeError, match="could not be encoded"):
            await room.play(setup(), other, bot)
    assert other.ended
    assert other.outcome is None


# --- determinism -----------------------------------------------------------------------------------------------------


async def played_together(number: int) -> list[object]:
    outcomes: dict[int, object] = {}
    async with hall() as room, trio.open_nursery() as nursery:

        async def one(seed: int, room: Hall = room) -> None:
            delays = Bot(lambda sitting, question: think(room, sitting, question))
            outcomes[seed] = (await room.play(setup(seed=seed), randomly(THAI), delays)).record

        for seed in range(number):
            nursery.start_soon(one, seed)
    return [outcomes[seed] for seed in range(number)]


def think(room: Hall, sitting: Sitting, question: Question) -> None:
    """Answers after a while that differs from question to question, as the seed says."""
    moves = THAI.candidates(question.view, 64).moves
    move, delay = moves[question.random_seed % len(moves)], question.random_seed % 1000
    room.deadlines.at(now() + delay, lambda: sitting.answer(question.decision_id, [move], now()))


async def test_the_same_seeds_and_bots_give_the_same_games_at_any_concurrency(
    autojump_clock: trio.testing.MockClock,
) -> None:
    together = await played_together(8)
    alone = [(await played_together(seed + 1))[seed] for seed in (0, 3, 7)]
    assert alone == [together[seed] for seed in (0, 3, 7)]
    assert len({repr(record) for record in together}) == 8


async def test_the_fallback_is_the_rules_own(autojump_clock: trio.testing.MockClock) -> None:
    seen: list[Move] = []

    def note(sitting: Sitting, question: Question) -> None:
        seen.append(fallback_of(sitting, question))

    async with hall() as room:
        bot = Bot(note)
        outcome = await room.play(setup(3, time_control=TEN_SECONDS), Bot(promptly), bot, Bot(promptly))
    late = [move.move for move in outcome.record.moves if move.verdict == "late"]
    assert late == seen
