"""What is offered is what brute force finds, in positions of random games; scripts/soak --offers looks at more."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from rummyarena_rules.events import Seat
from rummyarena_rules.moves import Move
from rummyarena_rules.registry import RULESETS
from rummyarena_rules.ruleset import AnyState
from tests.rules.games import play, randomly
from tests.rules.offers import compare_thai
from tests.rules.random_options import random_options

GAMES = 8


@pytest.mark.parametrize("number", range(GAMES))
def test_thai_offers_what_brute_force_finds(number: int) -> None:
    ruleset = RULESETS["thai"]
    draws = random.Random(f"offers/{number}")
    seats = ruleset.seats[number % 3]
    options = ruleset.configure({**random_options(ruleset, seats, draws), "max_deals": 2}, seats)
    state = ruleset.start(options, seats, draws.randbytes(32))
    complete: Counter[bool] = Counter()

    def compare(state: AnyState, answers: dict[Seat, Move | None]) -> None:
        for seat in answers:
            complete[compare_thai(ruleset.view(state, seat))] += 1

    for _ in play(ruleset, state, randomly(number), compare):
        pass
    assert complete[True] > 20 * complete[False]
