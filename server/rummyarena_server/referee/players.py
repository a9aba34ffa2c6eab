"""What a game needs of whoever sits at a seat, and what a player may do with the seat it sits at."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from rummyarena_rules.events import Event, Seat
from rummyarena_rules.moves import Move
from rummyarena_rules.ruleset import AnyView, Reason, Refusal
from rummyarena_server.referee.clock import Deadline, Deadlines, ThinkTime, now
from rummyarena_server.referee.outcome import GameOutcome
from rummyarena_server.referee.record import ForfeitReason, GameSetup

ATTEMPTS: Final = 3
"""How often a seat may have a move refused in a turn, or in a window of which it is not the seat on turn."""

FAULTS: Final = 3
"""How many faults forfeit a seat."""

_NO_MOVES: Final = Refusal(Reason.MALFORMED, "the answer has no moves")

Turn: TypeAlias = tuple[int, int]
"""What attempts are counted for: deal and turn; a turn has one window at most, and its own seat is not asked there."""


@dataclass(frozen=True, slots=True)
class Question:
    """An open decision as it is put to one seat.

    `decision_id`: made of public facts; a decision that stays open after a refusal keeps it, another never has it.
    `events`: how many came before it. `verbs`: of the moves that could be legal. `view`: a window on the live table,
    valid while the question is open. `random_seed`: from the number of the question, which counts what this seat was
    asked in this game from 1; moves of one answer that need no further question do not count, nor do fallbacks.
    """

    decision_id: str
    events: int
    verbs: tuple[str, ...]
    view: AnyView
    random_seed: int


@dataclass(frozen=True, slots=True)
class RefusedMove:
    """Why the move `index` (from 0) of an answer was refused, those before it having been played.

    `attempts_left`: 0 when the fallback is played now. With some left and `index` 0 the question is still open, else
    the next one follows.
    """

    decision_id: str
    index: int
    refusal: Refusal
    attempts_left: int


class Player(Protocol):
    """Whoever sits at seats: a bot on the wire, or a function in this process.

    The calls come from a game and must neither block nor raise. The player answers through the `Sitting`, from within
    `ask` or at any time later.
    """

    def begin(self, sitting: Sitting) -> None:
        """Takes a seat."""
        ...

    def tell(self, sitting: Sitting, sequence: int, events: Sequence[Event]) -> None:
        """Hears what happened, as that seat may see it; `sequence`: the number of the first event, gapless from 1."""
        ...

    def ask(self, sitting: Sitting, question: Question) -> None:
        """Is asked for an answer; the question stays open as long as it is `sitting.question`."""
        ...

    def reject(self, sitting: Sitting, refused: RefusedMove) -> None:
        """Hears that a move was refused."""
        ...

    def end(self, sitting: Sitting, outcome: GameOutcome | None, seed: bytes | None) -> None:
        """Leaves the seat.

        No outcome: the game was abandoned and counts for nobody. `seed`: the game seed, if it is revealed now.
        """
        ...


class Sitting:
    """One player at one seat of one game: where its answers go in and its account is kept."""

    def __init__(
        self, setup: GameSetup, seat: Seat, player: Player, deadlines: Deadlines, wake: Callable[[], None]
    ) -> None:
        self.setup = setup
        self.seat = seat
        self.player = player
        self.think = ThinkTime(setup.time_control)
        self.question: Question | None = None
        self.asked = 0
        self.faults = 0
        self.forfeited: ForfeitReason | None = None
        self.failure: Exception | None = None
        self.moves: deque[tuple[int, Move | Refusal]] = deque()  # of an answer, with their places in it
        self.is_late = False
        self.gave_up = False  # the rest of this turn is played by fallback
        self._attempts_left = ATTEMPTS
        self._answered_id = ""
        self._turn: Turn | None = None
        self._deadlines = deadlines
        self._deadline: Deadline | None = None
        self._wake = wake

    # --- what the player calls

    @property
    def owes_answer(self) -> bool:
        """Whether a question is open that was not answered, in time, by a player that is still there."""
        return self.question is not None and not (self.moves or self.is_late or self.forfeited)

    def sent(self, at: int) -> None:
        """Starts the clock: the question, or the refusal of an answer to it, was handed to the writer at `at`.

        Does nothing while the clock runs, and nothing without an open question that waits for an answer.
        """
        if not self.owes_answer or self.think.is_running:
            return
        self.think.start(at)
        late_at = self.think.late_at
        if late_at is not None:
            self._deadline = self._deadlines.at(late_at, self._time_out)

    def awaits(self, decision_id: str) -> bool:
        """Tells whether an answer to this decision would be taken, if it were not late."""
        return self.question is not None and self.question.decision_id == decision_id and self.think.is_running

    def answer(self, decision_id: str, moves: Sequence[Move | Refusal], at: int) -> bool:
        """Hands in an answer received at `at`; returns whether it was taken.

        A refusal among the moves stands for one that could not be read. An answer is stale and changes nothing unless
        it is the first to a question that is open and was sent; an answer that is late is not taken.
        """
        if not self.awaits(decision_id):
            return False
        self._stop_clock(at)
        if self.think.is_late:
            self.is_late = True
        else:
            self._answered_id = decision_id
            self.moves.extend(enumerate(moves or [_NO_MOVES]))
        self._wake()
        return not self.is_late

    def forfeit(self, reason: ForfeitReason) -> None:
        """Gives the seat up for good; what was handed in before is still played."""
        if self.forfeited is None:
            self.forfeited = reason
            self._stop_clock(now())
            self._wake()

    def fail(self, failure: Exception) -> None:
        """Ends the game by a failure of our own, which the game raises and nobody is blamed for."""
        self.failure = failure
        self._wake()

    # --- what the game calls

    def begin_turn(self, turn: Turn) -> None:
        """Gives the seat its attempts for a turn; does nothing in the same turn."""
        if turn != self._turn:
            self._turn = turn
            self._attempts_left = ATTEMPTS
            self.gave_up = False

    def ask(self, question: Question) -> None:
        """Puts a question to the player."""
        self.asked += 1
        self.question = question
        self.player.ask(self, question)

    def refuse(self, index: int, refusal: Refusal) -> bool:
        """Refuses a move of the answer and drops the rest of it; returns whether the seat may try again."""
        self._attempts_left -= 1
        self.moves.clear()
        self.player.reject(self, RefusedMove(self._answered_id, index, refusal, self._attempts_left))
        return self._attempts_left > 0

    def close_question(self) -> int:
        """Closes the open question, if there is one, and returns the microseconds of thinking it took."""
        if self.question is None:
            return 0
        self._stop_clock(now())
        self.question, self.is_late = None, False
        return self.think.close()

    def note_fault(self) -> int:
        """Books a fault, the third of which forfeits the seat; returns the microseconds of thinking."""
        self.faults += 1
        self.gave_up = True
        if self.faults >= FAULTS:
            self.forfeited = self.forfeited or "faults"
        return self.close_question()

    def _time_out(self) -> None:
        late_at = self.think.late_at
        if late_at is not None:
            self._stop_clock(late_at)  # not when our task came to it: the record says what was judged
            self.is_late = True
            self._wake()

    def _stop_clock(self, at: int) -> None:
        self.think.stop(at)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


Strategy: TypeAlias = Callable[[AnyView, int], Move | Sequence[Move | Refusal]]
"""Answers a view with the help of a random seed of 64 bits: one move, or several to be played in order."""


class LocalPlayer:
    """A function that plays in this process; it answers at once and takes no time."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy

    def begin(self, sitting: Sitting) -> None:
        """Takes a seat."""

    def tell(self, sitting: Sitting, sequence: int, events: Sequence[Event]) -> None:
        """Hears what happened and keeps nothing of it."""

    def ask(self, sitting: Sitting, question: Question) -> None:
        """Answers."""
        answer = self._strategy(question.view, question.random_seed)
        moves = answer if isinstance(answer, Sequence) else (answer,)
        at = now()
        sitting.sent(at)
        sitting.answer(question.decision_id, moves, at)

    def reject(self, sitting: Sitting, refused: RefusedMove) -> None:
        """Answers the same question again, if it is still open."""
        if refused.attempts_left and sitting.question is not None:
            self.ask(sitting, sitting.question)

    def end(self, sitting: Sitting, outcome: GameOutcome | None, seed: bytes | None) -> None:
        """Leaves the seat."""
