"""Decisions of several seats at once: answers are sealed, in any order, and each seat answers for itself."""

from __future__ import annotations

import itertools

import pytest
import trio
import trio.testing

from rummyarena_rules.events import StockDrawn, WindowClosed, WindowOpened
from rummyarena_rules.moves import Buy, Draw, Pass
from rummyarena_rules.ruleset import Reason, Refusal
from rummyarena_server.referee.clock import SECOND
from rummyarena_server.referee.record import replay
from tests.referee.helpers import TEN_SECONDS, Bot, Hall, hall, promptly, setup
from tests.referee.toy import TOY

# In the toy game seat 0 is on turn first; its draw asks all others.


async def window(room: Hall, *bots: Bot, clock: bool = False) -> None:
    """Opens the first window."""
    await room.open(setup(len(bots), ruleset=TOY, time_control=TEN_SECONDS if clock else None), *bots)
    bots[0].answer(Draw())
    await trio.testing.wait_all_tasks_blocked()


async def settle() -> None:
    await trio.testing.wait_all_tasks_blocked()


async def test_all_seats_of_a_window_are_asked_at_once(autojump_clock: trio.testing.MockClock) -> None:
    bots = [Bot(), Bot(), Bot(), Bot()]
    async with hall() as room:
        await window(room, *bots)
        assert [len(bot.asked) for bot in bots] == [1, 1, 1, 1]
        assert bots[0].sitting.question is None
        assert len({bot.asked[0].decision_id for bot in bots[1:]}) == 3


@pytest.mark.parametrize("order", list(itertools.permutations((1, 2, 3))))
async def test_the_order_of_the_answers_changes_nothing(
    order: tuple[int, ...], autojump_clock: trio.testing.MockClock
) -> None:
    bots = [Bot(), Bot(), Bot(), Bot()]
    async with hall() as room:
        await window(room, *bots)
        for seat in order:
            bots[seat].answer(Pass() if seat == 1 else Buy())
            await settle()
        assert bots[0].told[-2][1] == WindowClosed(2), "the nearest that buys after the seat on turn"
        for bot in bots:
            bot.sitting.forfeit("exited")
        await settle()
    assert bots[0].outcome is not None
    assert [move.seat for move in bots[0].outcome.record.moves] == [0, 1, 2, 3]


async def test_answers_are_sealed(autojump_clock: trio.testing.MockClock) -> None:
    bots = [Bot(), Bot(), Bot(), Bot()]
    async with hall() as room:
        await window(room, *bots)
        told = [list(bot.told) for bot in bots]
        bots[3].answer(Buy())
        await settle()
        assert [bot.told for bot in bots] == told
        # and cannot be taken back
        assert not bots[3].sitting.answer(bots[3].asked[0].decision_id, [Pass()], 0)
        bots[1].answer(Pass())
        bots[2].answer(Pass())
        await settle()
        assert bots[0].told[-2][1] == WindowClosed(3)


async def test_attempts_of_a_buyer_count_for_the_window(autojump_clock: trio.testing.MockClock) -> None:
    bots = [Bot(), Bot(), Bot(promptly)]
    async with hall() as room:
        await window(room, *bots)
        for left in (2, 1, 0):
            bots[1].answer(Draw())
            await settle()
            assert bots[1].rejected[-1].attempts_left == left
            assert bots[1].rejected[-1].index == 0
        assert bots[1].sitting.faults == 1
        assert bots[0].told[-2][1] == WindowClosed(None), "the fallback passes"
        # its own turn, the next, begins with new attempts and is its own
        bots[0].answer(TOY.fallback(bots[0].asked[-1].view))
        await settle()
        bots[1].answer(Pass())
        await settle()
        assert bots[1].rejected[-1].attempts_left == 2


async def test_what_follows_the_answer_to_a_window_is_dropped(autojump_clock: trio.testing.MockClock) -> None:
    bots = [Bot(), Bot()]
    async with hall() as room:
        await window(room, *bots)
        bots[1].answer(Buy(), Buy(), Draw())
        await settle()
        assert bots[1].rejected == []
        assert bots[0].told[-2][1] == WindowClosed(1)


async def test_what_follows_a_draw_that_asks_others_is_dropped(autojump_clock: trio.testing.MockClock) -> None:
    bots = [Bot(), Bot()]
    async with hall() as room:
        await room.open(setup(2, ruleset=TOY), *bots)
        bots[0].answer(Draw(), Draw())
        await settle()
        assert isinstance(bots[0].told[-1][1], WindowOpened)
        bots[1].answer(Pass())
        await settle()
        assert bots[0].rejected == []
        assert len(bots[0].asked) == 2


async def test_all_that_are_late_at_once_are_booked_each(autojump_clock: trio.testing.MockClock) -> None:
    bots = [Bot(promptly), Bot(), Bot(), Bot(promptly)]
    async with hall() as room:
        outcome = await room.play(
            setup(4, ruleset=TOY, options={"turns": 1, "deals": 2}, time_control=TEN_SECONDS), *bots
        )
    assert outcome.faults == (0, 2, 2, 0)
    assert [(move.seat, move.verdict) for move in outcome.record.moves[1:4]] == [
        (1, "late"),
        (2, "late"),
        (3, "played"),
    ]
    assert outcome.record.thinking[1:4] == (10 * SECOND + 1, 10 * SECOND + 1, 0)


async def test_nobody_wins_if_the_last_two_are_forfeited_by_the_same_window(
    autojump_clock: trio.testing.MockClock,
) -> None:
    # given: seats 1 and 2 never answer, seat 0 exits before the third window
    class ExitsInDealThree(Bot):
        def tell(self, sitting: object, sequence: int, events: object) -> None:
            if len(self.asked) == 4:
                self.sitting.forfeit("exited")

    bots = [ExitsInDealThree(promptly), Bot(), Bot()]
    async with hall() as room:
        outcome = await room.play(
            setup(3, ruleset=TOY, options={"turns": 1, "deals": 9}, time_control=TEN_SECONDS), *bots
        )
    assert [(one.seat, one.reason) for one in outcome.forfeits] == [(0, "exited"), (1, "faults"), (2, "faults")]
    assert (outcome.ranks, outcome.winners, outcome.rated) == ((3, 3, 3), (), False)


async def test_a_sealed_answer_stands_though_its_bot_is_gone(autojump_clock: trio.testing.MockClock) -> None:
    bots = [Bot(), Bot(), Bot(), Bot()]
    async with hall() as room:
        await window(room, *bots)
        bots[2].answer(Buy())
        await settle()
        bots[2].sitting.forfeit("exited")
        bots[1].answer(Pass())
        bots[3].answer(Buy())
        await settle()
        assert bots[0].told[-2][1] == WindowClosed(2)


async def test_a_bot_that_is_gone_declines(autojump_clock: trio.testing.MockClock) -> None:
    bots = [Bot(), Bot(), Bot(), Bot()]
    async with hall() as room:
        await window(room, *bots)
        bots[2].sitting.forfeit("gone")
        bots[1].answer(Refusal(Reason.MALFORMED, "no move"))
        bots[3].answer(Pass())
        await settle()
        assert bots[1].rejected[-1].attempts_left == 2
        bots[1].answer(Pass())
        await settle()
        assert isinstance(bots[0].told[-1][1], StockDrawn)


async def test_a_game_with_windows_is_replayed(autojump_clock: trio.testing.MockClock) -> None:
    bots = [Bot(promptly) for _ in range(5)]
    async with hall() as room:
        outcome = await room.play(setup(5, ruleset=TOY, options={"turns": 10, "deals": 3}), *bots)
    assert len(list(replay(outcome.record))) == outcome.record.events == len(bots[0].told)
