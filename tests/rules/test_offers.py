"""What is offered is what brute force finds, in positions of random deals; scripts/soak --offers looks at more."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from rummyarena_rules.events import DealEnded, Seat
from rummyarena_rules.liverpool import LIVERPOOL
from rummyarena_rules.moves import Down, Move
from rummyarena_rules.position import read_position
from rummyarena_rules.registry import RULESETS
from rummyarena_rules.ruleset import AnyState
from tests.rules.games import play, randomly
from tests.rules.offers import COMPARERS, PHASES, phase_of, views_to_compare
from tests.rules.offers_liverpool import every_down
from tests.rules.random_options import random_options

DEALS = {"thai": 8, "liverpool": 28}
MOST_EVENTS = 150  # of a deal
MOSTLY_COMPLETE = {"thai": ("draw", "play"), "liverpool": ("draw", "buy", "play", "play in deal 7")}


@pytest.mark.parametrize("name", sorted(RULESETS))
def test_what_is_offered_is_what_brute_force_finds(name: str) -> None:
    positions, complete = Counter[str](), Counter[str]()
    for number in range(DEALS[name]):
        for phase, is_complete in compared(name, number):
            positions[phase] += 1
            complete[phase] += is_complete
    assert set(positions) == set(PHASES[name])
    for phase in MOSTLY_COMPLETE[name]:
        assert complete[phase] > positions[phase] * 2 / 3, phase


def compared(name: str, number: int) -> list[tuple[str, bool]]:
    """Compares the decisions of a random deal; gives the phase of each, and whether its candidates were complete."""
    ruleset, draws, found = RULESETS[name], random.Random(f"offers/{number}"), list[tuple[str, bool]]()
    seats = ruleset.seats[number % len(ruleset.seats)]
    options = ruleset.configure(random_options(ruleset, seats, draws), seats)
    state = ruleset.start(options, seats, draws.randbytes(32))
    opening = ruleset.opening(state.public, 1 + number % 7 if name == "liverpool" else 1, 0, 1)
    for event in ruleset.deal(state, opening):
        ruleset.evolve(state, event)

    def compare(state: AnyState, answers: dict[Seat, Move | None]) -> None:
        views = (view for seat in answers for view in views_to_compare(name, state, seat, draws))
        found.extend((phase_of(state.public), COMPARERS[name](view)) for view in views)

    for at, event in enumerate(play(ruleset, state, randomly(number), compare)):
        if isinstance(event, DealEnded) or at > MOST_EVENTS:
            break
    return found


def test_the_search_finds_every_down() -> None:
    raw = {"deal": 2, "phase": "play", "hands": {"0": "7C 7D 7H 3S 4S 5S 6S 7S"}}
    options = LIVERPOOL.configure({}, 3)
    assert not isinstance(options, list)
    view = LIVERPOOL.view(LIVERPOOL.state_of(read_position("liverpool", 3, "position", raw), options, 3), 0)
    # The run is 3-6 or 4-7; with 3-6 the set is any three of four sevens, with 4-7 the three others.
    assert len({move for move in every_down(view) if isinstance(move, Down)}) == 4 + 1
