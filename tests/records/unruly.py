"""Games of bots that do everything a bot can do wrong, in virtual time."""

from __future__ import annotations

import random

import trio
import trio.testing

from rummyarena_rules.cards import CARDS
from rummyarena_rules.moves import Cut, Discard, Move
from rummyarena_rules.registry import RULESETS
from rummyarena_server.referee.clock import SECOND, TimeControl, now
from rummyarena_server.referee.outcome import GameOutcome
from rummyarena_server.referee.players import Question, Sitting
from tests.records.making import seated_at_origin
from tests.referee.helpers import Bot, Hall, hall

CLOCKS = (
    TimeControl(2 * SECOND, 10 * SECOND),
    TimeControl(1 * SECOND, 20 * SECOND, 3 * SECOND),
    TimeControl(0, 60 * SECOND),
)


def unruly_game(seed: int) -> GameOutcome:
    """Plays a game of either kind, in which bots are late, silent, wrong or gone more or less often."""
    draws = random.Random(seed)
    name = draws.choice(list(RULESETS))
    seats = draws.choice([one for one in RULESETS[name].seats if one <= 5])
    options: dict[str, object] = (
        {"max_deals": 2, "stock_exhausted": draws.choice(["last_turn", "reshuffle"])}
        if name == "thai"
        else {"max_turns_per_deal": 8, "cut_mode": draws.choice(["auto", "choose"])}
    )
    what = seated_at_origin(name, seats, options, draws.choice(CLOCKS))
    how_unruly = draws.choice([0.05, 0.2, 0.5])

    async def in_virtual_time() -> GameOutcome:
        async with hall() as room:
            return await room.play(what, *(Bot(_Unruly(draws, room, how_unruly).reply) for _ in range(seats)))

    return trio.run(in_virtual_time, clock=trio.testing.MockClock(autojump_threshold=0))


class _Unruly:
    """One of them; `how_unruly`: how often it does not simply play, from 0 to 1."""

    def __init__(self, draws: random.Random, room: Hall, how_unruly: float) -> None:
        self._draws = draws
        self._room = room
        self._how_unruly = how_unruly

    def reply(self, sitting: Sitting, question: Question) -> None:
        draws = self._draws
        if draws.random() > self._how_unruly:
            self._answer(sitting, question, self._legal(sitting, question))
            return
        match draws.choice(["wrong", "wrong", "silent", "gone", "gone soon"]):
            case "wrong":
                self._answer(sitting, question, [Discard(draws.choice(CARDS))])
            case "gone":
                sitting.forfeit(draws.choice(["exited", "gone", "misuse"]))
            case "gone soon":
                self._room.deadlines.at(now() + draws.randrange(4 * SECOND), lambda: sitting.forfeit("exited"))
                self._answer(sitting, question, self._legal(sitting, question))

    def _legal(self, sitting: Sitting, question: Question) -> list[Move]:
        """Returns a legal move, sometimes with others behind it that may not be."""
        moves = sitting.setup.ruleset.candidates(question.view, 64).moves
        first = self._draws.choice(moves) if moves else Cut(self._draws.randint(1, 50))
        return [first, *self._draws.sample(moves, min(2, len(moves)))] if self._draws.random() < 0.4 else [first]

    def _answer(self, sitting: Sitting, question: Question, moves: list[Move]) -> None:
        delay = self._draws.choice([0, 0, self._draws.randrange(3 * SECOND), self._draws.randrange(20 * SECOND)])
        self._room.deadlines.at(now() + delay, lambda: sitting.answer(question.decision_id, moves, now()))
