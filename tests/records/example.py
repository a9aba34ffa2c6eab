"""The game that docs/verification.md shows."""

from __future__ import annotations

from dataclasses import replace

from rummyarena_server.referee.players import Question, Sitting
from rummyarena_server.referee.record import ForfeitReason, SeatedBot, WrittenGame
from tests.records.making import play, write
from tests.referee.helpers import Bot, promptly

BOTS = (SeatedBot("Ann", "2.1"), SeatedBot("Bob"), SeatedBot("Cid", "beta"))


class Leaving(Bot):
    """Answers so many questions, then its seat is forfeited while it is asked, or at once."""

    def __init__(self, answers: int, reason: ForfeitReason = "exited") -> None:
        super().__init__(self._leave)
        self._answers = answers
        self._reason = reason

    def begin(self, sitting: Sitting) -> None:
        super().begin(sitting)
        if self._answers == 0:
            sitting.forfeit(self._reason)

    def _leave(self, sitting: Sitting, question: Question) -> None:
        if len(self.asked) > self._answers:
            sitting.forfeit(self._reason)
        else:
            promptly(sitting, question)


def example() -> WrittenGame:
    """Returns a game of three, of whom one exits and one never answers."""
    return replace(write(play("thai", 3, {"max_deals": 1}, {1: Leaving(3), 2: Bot()})), bots=BOTS)
