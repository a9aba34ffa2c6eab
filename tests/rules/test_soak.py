"""The first random games of scripts/soak, with all invariants on."""

from __future__ import annotations

import pytest

from rummyarena_rules.registry import RULESETS
from tests.rules.invariants import soak_game

GAMES = {"thai": 18, "liverpool": 6}


@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name in sorted(RULESETS) for number in range(GAMES[name])]
)
def test_all_invariants_hold_in_a_random_game(name: str, number: int) -> None:
    decisions, deals = soak_game(name, number)
    assert decisions > deals > 0
