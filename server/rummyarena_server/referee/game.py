"""One game, from the first deal to its end: deals, asks, judges, keeps the record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import NamedTuple, Self, TypeAlias

import trio

from rummyarena_rules.events import DealEnded, Event, Seat, redact
from rummyarena_rules.moves import Move
from rummyarena_rules.ruleset import AnyState, Decision, Refusal
from rummyarena_rules.shoe import bot_seed
from rummyarena_server.referee.clock import Deadlines
from rummyarena_server.referee.outcome import GameOutcome, ranks_with_forfeits
from rummyarena_server.referee.players import Player, Question, Sitting
from rummyarena_server.referee.record import Forfeit, GameRecord, GameSetup, RecordedMove, Verdict

Observer: TypeAlias = Callable[[Sequence[Event]], None]
"""Hears the events of a game as they are told to the players, unredacted; it must neither block nor raise."""


def _ignore(_events: Sequence[Event]) -> None:
    """Observes nothing."""


class _Answer(NamedTuple):
    """What a seat answers to a decision; `thinking` in microseconds."""

    move: Move | None
    verdict: Verdict
    thinking: int


class Game:
    """A game in progress, to be used as a context that frees its players.

    ::

        with Game(setup, players, deadlines) as game:
            outcome = await game.play()
            ...                            # record it
            game.announce(outcome)

    Leaving without `announce`, for whatever reason, tells the players that the game was abandoned. Results are recorded
    before anybody is told, so the events that end the game are told by `announce` too.
    """

    def __init__(
        self, setup: GameSetup, players: Sequence[Player], deadlines: Deadlines, observer: Observer = _ignore
    ) -> None:
        if len(players) != setup.seats:
            raise ValueError(f"{len(players)} players for {setup.seats} seats")
        self._setup = setup
        self._rules = setup.ruleset
        self._state: AnyState = self._rules.start(setup.options, setup.seats, setup.seed)
        self._sittings = [Sitting(setup, seat, player, deadlines, self._wake) for seat, player in enumerate(players)]
        self._observe = observer
        self._events = 0
        self._untold: tuple[Event, ...] = ()
        self._moves: list[RecordedMove] = []
        self._thinking: list[int] = []
        self._forfeits: list[Forfeit] = []
        self._deals: list[tuple[int, ...]] = []
        self._counted_deals = 0
        self._points: tuple[int, ...] = (0,) * setup.seats
        self._is_open = False
        self._task: trio.lowlevel.Task | None = None
        self._woken = False

    def __enter__(self) -> Self:
        self._is_open = True
        for sitting in self._sittings:
            sitting.player.begin(sitting)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end(None, None)

    async def play(self) -> GameOutcome:
        """Plays to the end; raises only for failures of our own, which are booked on nobody."""
        while not self._is_over():
            await self._step()
        return self._outcome()

    def announce(self, outcome: GameOutcome, *, reveal_seed: bool = False) -> None:
        """Tells the players how the game ended; `reveal_seed`: no other game uses its seed."""
        self._tell(self._untold)
        self._end(outcome, self._setup.seed if reveal_seed else None)

    # --- one decision after the other

    async def _step(self) -> None:
        decisions = self._rules.decisions(self._state)
        if not decisions:
            await trio.lowlevel.checkpoint()  # players in this process never wait: let others have their turn
            self._apply(self._rules.deal(self._state))
            return
        turn = self._state.public.deal, self._state.public.turn_number
        for seat in decisions:
            self._sittings[seat].begin_turn(turn)
        answers = await self._collect(decisions)
        if answers is None:
            return
        self._record(answers)
        events = self._rules.resolve(self._state, {seat: answer.move for seat, answer in answers.items()})
        self._apply(events)
        self._drop_rests(answers, events)

    async def _collect(self, decisions: Mapping[Seat, Decision]) -> dict[Seat, _Answer] | None:
        """Returns an answer for each decision, or `None` if the game ended by forfeits meanwhile."""
        answers: dict[Seat, _Answer] = {}
        while True:
            self._woken = False
            self._note_forfeits()
            for seat, decision in decisions.items():
                if seat not in answers:
                    answer = self._answer_of(self._sittings[seat], decision)
                    if answer is not None:
                        answers[seat] = answer
            if self._is_decided:
                return None
            if len(answers) == len(decisions):
                return {seat: answers[seat] for seat in decisions}  # whoever answered first, the order is the seats'
            if not self._woken:
                await self._park()

    def _answer_of(self, sitting: Sitting, decision: Decision) -> _Answer | None:
        """Returns the seat's answer, or asks for one and returns `None`."""
        if sitting.failure is not None:
            raise sitting.failure
        if sitting.moves:
            index, move = sitting.moves.popleft()
            refusal = self._refusal(sitting, move)
            if not isinstance(move, Refusal) and refusal is None:
                return _Answer(move, "played", sitting.close_question())
            if refusal is not None and not sitting.refuse(index, refusal):
                return self._fault(sitting, "refused")
        if sitting.forfeited:
            self._note_forfeit(sitting)  # not yet, if the last of what it handed in was just refused
            return self._fallback(sitting, "forfeited", sitting.close_question())
        if sitting.gave_up:
            return self._fallback(sitting, "rest", 0)
        if sitting.is_late:
            return self._fault(sitting, "late")
        if sitting.question is None:
            self._ask(sitting, decision)
        return None

    def _refusal(self, sitting: Sitting, move: Move | Refusal) -> Refusal | None:
        if isinstance(move, Refusal):
            return move
        return self._rules.check(self._rules.view(self._state, sitting.seat), move)

    def _fault(self, sitting: Sitting, verdict: Verdict) -> _Answer:
        thinking = sitting.note_fault()
        self._note_forfeit(sitting)
        return self._fallback(sitting, verdict, thinking)

    def _fallback(self, sitting: Sitting, verdict: Verdict, thinking: int) -> _Answer:
        return _Answer(self._rules.fallback(self._rules.view(self._state, sitting.seat)), verdict, thinking)

    def _ask(self, sitting: Sitting, decision: Decision) -> None:
        seat = sitting.seat
        sitting.ask(
            Question(
                # Each question of a seat follows other events, so this names it; a question asked again keeps its name.
                decision_id=f"{self._events}.{seat}",
                events=self._events,
                verbs=decision.verbs,
                view=self._rules.view(self._state, seat),
                random_seed=bot_seed(self._setup.seed, seat, sitting.asked + 1),
            )
        )

    def _drop_rests(self, answers: Mapping[Seat, _Answer], events: Sequence[Event]) -> None:
        """Drops what is left of an answer, unless its seat's turn goes on and showed it nothing hidden from others."""
        for seat in answers:
            moves = self._sittings[seat].moves
            if moves and not (
                [*self._rules.decisions(self._state)] == [seat]
                and all(redact(event, seat) == redact(event, None) for event in events)
            ):
                moves.clear()

    # --- events and the record

    def _apply(self, events: tuple[Event, ...]) -> None:
        for event in events:
            self._rules.evolve(self._state, event)
            if isinstance(event, DealEnded):
                self._note_deal(event)
        if self._state.public.over:
            self._untold = events
        else:
            self._tell(events)

    def _tell(self, events: tuple[Event, ...]) -> None:
        if events:
            first = self._events + 1
            self._events += len(events)
            for sitting in self._sittings:
                sitting.player.tell(sitting, first, [redact(event, sitting.seat) for event in events])
            self._observe(events)

    def _note_deal(self, event: DealEnded) -> None:
        self._deals.append(event.scores)
        if not self._forfeits:
            self._counted_deals, self._points = len(self._deals), event.totals

    def _record(self, answers: Mapping[Seat, _Answer]) -> None:
        for seat, answer in answers.items():
            self._moves.append(RecordedMove(seat, answer.move, answer.verdict))
            self._thinking.append(answer.thinking)

    # --- the end

    def _is_over(self) -> bool:
        if self._rules.result(self._state) is not None:  # and who is gone now has finished it
            return True
        self._note_forfeits()
        return self._is_decided

    @property
    def _is_decided(self) -> bool:
        """Whether at most one seat is left, which ends the game at once."""
        return self._setup.seats - len(self._forfeits) <= 1

    def _note_forfeits(self) -> None:
        for sitting in self._sittings:
            if not sitting.moves:  # what a bot handed in before it was gone is played first
                self._note_forfeit(sitting)

    def _note_forfeit(self, sitting: Sitting) -> None:
        if sitting.forfeited and all(one.seat != sitting.seat for one in self._forfeits):
            self._forfeits.append(Forfeit(sitting.seat, sitting.forfeited, len(self._moves)))

    def _outcome(self) -> GameOutcome:
        result = self._rules.result(self._state)
        forfeited = {one.seat for one in self._forfeits}
        ranks = ranks_with_forfeits(self._setup.seats, forfeited, result)
        thinking = [0] * self._setup.seats
        for move, spent in zip(self._moves, self._thinking, strict=True):
            thinking[move.seat] += spent
        return GameOutcome(
            ranks=ranks,
            winners=tuple(seat for seat, rank in enumerate(ranks) if rank == 1),
            totals=tuple(self._state.public.totals),
            deals=tuple(self._deals),
            counted_deals=self._counted_deals,
            points=self._points,
            forfeits=tuple(self._forfeits),
            faults=tuple(sitting.faults for sitting in self._sittings),
            thinking=tuple(thinking),
            rated=len(forfeited) < self._setup.seats,
            record=GameRecord(
                setup=self._setup,
                moves=tuple(self._moves),
                forfeits=tuple(self._forfeits),
                events=self._events + len(self._untold),
                thinking=tuple(self._thinking),
            ),
        )

    def _end(self, outcome: GameOutcome | None, seed: bytes | None) -> None:
        if self._is_open:
            self._is_open = False
            for sitting in self._sittings:
                sitting.close_question()
                sitting.player.end(sitting, outcome, seed)

    # --- waiting

    async def _park(self) -> None:
        self._task = trio.lowlevel.current_task()
        await trio.lowlevel.wait_task_rescheduled(self._stop_waiting)

    def _stop_waiting(self, _: object) -> trio.lowlevel.Abort:
        self._task = None
        return trio.lowlevel.Abort.SUCCEEDED

    def _wake(self) -> None:
        self._woken = True
        if self._task is not None:
            task, self._task = self._task, None
            trio.lowlevel.reschedule(task)
