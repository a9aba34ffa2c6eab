"""Players for tests of the referee, and a way to have games played in virtual time."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import trio

from rummyarena_rules.events import Event
from rummyarena_rules.moves import Move
from rummyarena_rules.ruleset import AnyView, Refusal, Ruleset
from rummyarena_rules.thai import THAI
from rummyarena_server.referee.clock import SECOND, Deadlines, TimeControl, now
from rummyarena_server.referee.game import Game
from rummyarena_server.referee.outcome import GameOutcome
from rummyarena_server.referee.players import LocalPlayer, Player, Question, RefusedMove, Sitting
from rummyarena_server.referee.record import GameSetup, SeatedBot

TEN_SECONDS = TimeControl(decision=10 * SECOND, bank=0)

Reply = Callable[[Sitting, Question], None]


def silence(_sitting: Sitting, _question: Question) -> None:
    """Never answers, though the clock runs."""


class Bot:
    """Keeps all that it is told, and answers as `reply` says once the question was sent."""

    def __init__(self, reply: Reply = silence, *, reads: bool = True) -> None:
        self.reply = reply
        self.reads = reads
        self.told: list[tuple[int, Event]] = []
        self.asked: list[Question] = []
        self.rejected: list[RefusedMove] = []
        self.ended = False
        self.outcome: GameOutcome | None = None
        self.seed: bytes | None = None

    def begin(self, sitting: Sitting) -> None:
        self.sitting = sitting

    def tell(self, sitting: Sitting, sequence: int, events: Sequence[Event]) -> None:
        self.told += enumerate(events, sequence)

    def ask(self, sitting: Sitting, question: Question) -> None:
        self.asked.append(question)
        self._hear(sitting, question)

    def reject(self, sitting: Sitting, refused: RefusedMove) -> None:
        self.rejected.append(refused)
        if refused.attempts_left and sitting.question is not None:
            self._hear(sitting, sitting.question)

    def _hear(self, sitting: Sitting, question: Question) -> None:
        if self.reads:
            sitting.sent(now())
        self.reply(sitting, question)

    def end(self, sitting: Sitting, outcome: GameOutcome | None, seed: bytes | None) -> None:
        self.ended, self.outcome, self.seed = True, outcome, seed

    def answer(self, *moves: Move | Refusal) -> bool:
        """Answers the open question now."""
        assert self.sitting.question is not None
        return self.sitting.answer(self.sitting.question.decision_id, moves, now())


def fallback_of(sitting: Sitting, question: Question) -> Move:
    move: Move | None = sitting.setup.ruleset.fallback(question.view)
    assert move is not None
    return move


def promptly(sitting: Sitting, question: Question) -> None:
    sitting.answer(question.decision_id, [fallback_of(sitting, question)], now())


def after(deadlines: Deadlines, *delays: int) -> Reply:
    """Answers by the fallback after so many microseconds, the last delay again and again."""
    left = list(delays)

    def reply(sitting: Sitting, question: Question) -> None:
        delay = left.pop(0) if len(left) > 1 else left[0]
        move = fallback_of(sitting, question)
        deadlines.at(now() + delay, lambda: sitting.answer(question.decision_id, [move], now()))

    return reply


def randomly(ruleset: Ruleset[Any]) -> LocalPlayer:
    """Returns a player that draws among its candidates, from the decision's random seed alone."""

    def choose(view: AnyView, seed: int) -> Move:
        return random.Random(seed).choice(ruleset.candidates(view, 64).moves)

    return LocalPlayer(choose)


def by_fallback(ruleset: Ruleset[Any]) -> LocalPlayer:
    def choose(view: AnyView, _seed: int) -> Move:
        move: Move | None = ruleset.fallback(view)
        assert move is not None
        return move

    return LocalPlayer(choose)


def setup(
    seats: int = 2,
    *,
    ruleset: Ruleset[Any] = THAI,
    options: Mapping[str, object] | None = None,
    seed: int = 1,
    time_control: TimeControl | None = None,
) -> GameSetup:
    default = {"max_deals": 2} if ruleset is THAI else {}
    configured = ruleset.configure(default if options is None else options, seats)
    assert not isinstance(configured, list), configured
    return GameSetup(
        game_id="game",
        ruleset=ruleset,
        options=configured,
        seed=seed.to_bytes(32, "big"),
        bots=tuple(SeatedBot(f"bot {seat}", "1") for seat in range(seats)),
        time_control=time_control,
    )


class Hall:
    """Games under way, with their clock."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.deadlines = Deadlines()
        self._nursery = nursery
        nursery.start_soon(self.deadlines.run)

    async def play(self, what: GameSetup, *players: Player) -> GameOutcome:
        """Plays a game to its end."""
        with Game(what, players, self.deadlines) as game:
            outcome = await game.play()
            game.announce(outcome)
            return outcome

    async def open(self, what: GameSetup, *players: Player) -> None:
        """Has a game played beside the test, up to the point where it waits for somebody."""
        self._nursery.start_soon(self.play, what, *players)
        await trio.testing.wait_all_tasks_blocked()


@asynccontextmanager
async def hall() -> AsyncIterator[Hall]:
    async with trio.open_nursery() as nursery:
        yield Hall(nursery)
        nursery.cancel_scope.cancel()
