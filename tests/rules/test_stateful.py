"""Games as hypothesis plays them: any setup, any candidate, any text, and every invariant after each step."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from rummyarena_rules.cards import CARDS
from rummyarena_rules.events import Event, Seat
from rummyarena_rules.moves import Move
from rummyarena_rules.notation import move_text, parse_move
from rummyarena_rules.registry import RULESETS
from rummyarena_rules.ruleset import AnyState, Reason, Ruleset
from rummyarena_rules.shoe import SEED_BYTES
from tests.rules.games import CANDIDATE_LIMIT
from tests.rules.invariants import Conserved, Folded, Unleaked, check_counts, check_offers, check_twin
from tests.rules.random_options import random_options

texts = st.one_of(
    st.sampled_from(["draw", "pass", "take", "buy", "cut 7", "knock 2C", "discard JK"]),
    st.builds("discard {}".format, st.sampled_from(CARDS)),
    st.builds(
        "{}{}".format,
        st.sampled_from(
            ["meld ", "down ", "layoff m1: ", "layoff m2 low: ", "swap m1: ", "take 7H: ", "knock 2C / meld "]
        ),
        st.lists(st.sampled_from(CARDS), min_size=1, max_size=5).map(lambda some: " ".join(map(str, some))),
    ),
)


seeds = st.binary(min_size=SEED_BYTES, max_size=SEED_BYTES)


class GameMachine(RuleBasedStateMachine):
    """A game in which every seat that owes an answer gives one, until it is over."""

    ruleset: Ruleset[Any]
    state: AnyState

    @initialize(name=st.sampled_from(sorted(RULESETS)), number=st.integers(0, 10**6), seed=seeds)
    def start(self, name: str, number: int, seed: bytes) -> None:
        self.draws = random.Random(number)
        self.ruleset = RULESETS[name]
        seats = self.draws.choice(self.ruleset.seats)
        options = self.ruleset.configure(random_options(self.ruleset, seats, self.draws), seats)
        self.state = self.ruleset.start(options, seats, seed)
        self.checks = (Conserved(), Folded(self.ruleset, self.state), Unleaked(self.state))
        self.log: list[Event] = []
        self.answers: dict[Seat, Move | None] = {}
        self.begin = self.state.copy()

    def apply(self, events: tuple[Event, ...]) -> None:
        assert events
        for event in events:
            self.ruleset.evolve(self.state, event)
            self.log.append(event)
            for one in self.checks:
                one.check(self.state, event)

    def open_seat(self) -> Seat | None:
        """A seat that still owes an answer."""
        return next((seat for seat in self.ruleset.decisions(self.state) if seat not in self.answers), None)

    def resolve_if_complete(self) -> None:
        if self.open_seat() is None:
            answers, self.answers = self.answers, {}
            self.apply(self.ruleset.resolve(self.state, answers))

    def must_deal(self) -> bool:
        return not self.ruleset.decisions(self.state) and self.ruleset.result(self.state) is None

    @precondition(lambda self: self.must_deal())
    @rule()
    def deal(self) -> None:
        self.apply(self.ruleset.deal(self.state))

    @precondition(lambda self: self.open_seat() is not None)
    @rule(choice=st.integers(0, CANDIDATE_LIMIT - 1))
    def play_a_candidate(self, choice: int) -> None:
        seat = self.open_seat()
        assert seat is not None
        view = self.ruleset.view(self.state, seat)
        moves = check_offers(self.ruleset, view).moves
        self.answers[seat] = moves[choice % len(moves)] if moves else self.ruleset.fallback(view)
        self.resolve_if_complete()

    @precondition(lambda self: self.open_seat() is not None)
    @rule(text=texts)
    def try_a_text(self, text: str) -> None:
        """A move that passes the judge is played, whatever was offered; any other leaves the state as it was."""
        seat = self.open_seat()
        move = parse_move(self.ruleset.name, text)
        assert seat is not None
        before = self.state.copy()
        if move is None or self.ruleset.check(self.ruleset.view(self.state, seat), move) is not None:
            assert self.state == before
            return
        assert parse_move(self.ruleset.name, move_text(move)) == move
        self.answers[seat] = move
        self.resolve_if_complete()

    @precondition(lambda self: self.open_seat() is not None)
    @rule()
    def look_at_a_twin(self) -> None:
        seat = self.open_seat()
        assert seat is not None
        offered = self.ruleset.candidates(self.ruleset.view(self.state, seat), CANDIDATE_LIMIT)
        check_twin(self.ruleset, self.state, seat, self.draws, offered)

    @precondition(lambda self: not self.must_deal() and self.open_seat() is None)
    @rule(seat=st.integers(0, 1), text=texts)
    def try_a_text_when_the_game_is_over(self, seat: Seat, text: str) -> None:
        result = self.ruleset.result(self.state)
        assert result is not None
        assert min(result.ranks) == 1
        move = parse_move(self.ruleset.name, text)
        if move is not None:
            refusal = self.ruleset.check(self.ruleset.view(self.state, seat), move)
            assert refusal is not None
            assert refusal.reason in (Reason.GAME_OVER, Reason.MALFORMED)  # a text may name no meld that can be

    @invariant()
    def counts_are_true(self) -> None:
        if hasattr(self, "state"):
            check_counts(self.state)

    def teardown(self) -> None:
        """The log gives the state again."""
        if hasattr(self, "state"):
            for event in self.log:
                self.ruleset.evolve(self.begin, event)
            assert self.begin == self.state


TestGame = GameMachine.TestCase
TestGame.settings = settings(max_examples=60, stateful_step_count=120, deadline=None)
