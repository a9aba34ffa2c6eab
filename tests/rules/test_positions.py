"""A state as a position and back: what a position says, and what it leaves out."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rummyarena_rules.cards import text_of
from rummyarena_rules.events import DealEnded, Seat
from rummyarena_rules.moves import Move
from rummyarena_rules.position import position_of, read_position, write_position
from rummyarena_rules.registry import RULESETS
from rummyarena_rules.ruleset import AnyState
from rummyarena_rules.table import DiscardedCard, Phase
from tests.rules.games import Setup, play, randomly
from tests.rules.random_options import random_options

EVENTS = 150


def through_json(name: str, state: AnyState) -> AnyState:
    """The state that is read from the position written as text."""
    text = json.dumps(write_position(name, position_of(state)))
    position = read_position(name, state.public.seats, "position", json.loads(text))
    again: AnyState = RULESETS[name].state_of(position, state.public.options, state.public.seats)
    return again


def without_history(state: AnyState, turn_number: int) -> AnyState:
    """The state with all that forgotten which a position leaves out, in a turn of another number."""
    left, public = state.copy(), state.public.copy()
    left.public, facts = public, public.facts
    earlier = public.turn_number - turn_number
    public.known = [[] for _ in range(public.seats)]
    public.first = (public.dealer + public.direction) % public.seats
    public.turn_number = turn_number
    if hasattr(facts, "birth_turns"):
        public.discards = [replace(one, turn=one.turn - earlier * (one.seat is not None)) for one in public.discards]
        facts.birth_turns = [None if turn is None else 0 for turn in facts.birth_turns]
        facts.gathered, facts.penalties, facts.reshuffles = (), [], 0
        facts.head = facts.head if any(one.seat is None for one in public.discards) else None
    else:
        public.discards = [DiscardedCard(one.card, None, 0) for one in public.discards]
        facts.down_turns = [None if turn is None else 0 for turn in facts.down_turns]
        facts.jokers_owed = facts.reshuffles = 0
    for private in left.privates:
        private.drawn = private.cut = None
    return left


@pytest.mark.parametrize("name", sorted(RULESETS))
@settings(max_examples=25, deadline=None)
@given(number=st.integers(0, 10**6))
def test_a_state_comes_back_as_every_seat_sees_it(name: str, number: int) -> None:
    ruleset, draws = RULESETS[name], random.Random(number)
    seats = draws.choice(ruleset.seats)
    raw = random_options(ruleset, seats, draws)
    if raw.get("min_naturals_run") == 1:
        raw["min_naturals_set"] = 2  # else a set of one natural and jokers can be taken for a run
    state = ruleset.start(ruleset.configure(raw, seats), seats, draws.randbytes(32))

    def compare(state: AnyState, _answers: dict[Seat, Move | None]) -> None:
        if state.public.phase in (Phase.DRAW, Phase.PLAY):
            again = through_json(name, state)
            expected = without_history(state, again.public.turn_number)
            for seat in range(seats):
                assert ruleset.view(again, seat) == ruleset.view(expected, seat)
            assert again.stock == expected.stock
            assert sorted(again.aside) == sorted(expected.aside)

    deal = 1 + number % 7 if name == "liverpool" else 1
    for event in ruleset.deal(state, ruleset.opening(state.public, deal, number % seats, 1)):
        ruleset.evolve(state, event)
    for at, event in enumerate(play(ruleset, state, randomly(number), compare)):
        if isinstance(event, DealEnded) or at > EVENTS:
            break


@pytest.mark.parametrize("name", sorted(RULESETS))
def test_a_position_is_of_a_turn(name: str) -> None:
    ruleset, state = Setup(name, 3, (("cut_mode", "choose"),) if name == "liverpool" else ()).start()
    with pytest.raises(ValueError, match="a position has the phase draw or play, not over"):
        position_of(state)
    for event in ruleset.deal(state):
        ruleset.evolve(state, event)
    if name == "liverpool":
        with pytest.raises(ValueError, match="not cut"):
            position_of(state)


def test_what_a_position_says() -> None:
    raw = {
        "turn": 1, "dealer": 0, "deal": 3, "direction": -1, "hands": {"1": "2C 3C"}, "discards": "7H* 9H@0 KC@0~3 4D@0",
        "stock": "AS 2D", "rest": "aside", "born": [0], "last_turn": True, "totals": [5, -5],
        "melds": [{"id": "m1", "owner": 0, "cards": "8C 9C TC@1"}],
    }  # fmt: skip
    ruleset = RULESETS["thai"]
    state = ruleset.state_of(read_position("thai", 2, "position", raw), ruleset.configure({}, 2), 2)
    assert write_position("thai", position_of(state)) == raw


@pytest.mark.parametrize(
    ("least_run", "least_set", "cards", "is_run"),
    [
        (1, 1, "5C JK JK JK", True),
        (2, 1, "5C JK JK JK", False),
        (3, 2, "JK 5C JK JK", True),
        (3, 2, "5C JK 7C JK", True),
    ],
)
def test_one_natural_and_jokers_on_the_table(least_run: int, least_set: int, cards: str, is_run: bool) -> None:
    """They are a run if they could have been laid as one, a set if only as that, and a run if as neither (L11)."""
    ruleset = RULESETS["liverpool"]
    options = ruleset.configure({"min_naturals_run": least_run, "min_naturals_set": least_set}, 3)
    raw = {"melds": [{"id": "m1", "owner": 0, "cards": cards}]}
    (meld,) = ruleset.state_of(read_position("liverpool", 3, "position", raw), options, 3).public.melds
    assert (meld.is_run, text_of(meld.cards)) == (is_run, cards)
