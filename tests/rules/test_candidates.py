"""Positions that once upset the search for candidates."""

from __future__ import annotations

import pytest

from rummyarena_rules.liverpool import LIVERPOOL
from rummyarena_rules.moves import Down
from rummyarena_rules.position import read_position


@pytest.mark.parametrize(("deal", "hand"), [(3, "4D 5D 6D 7D JK JK JK JK 9D"), (2, "4D JK JK JK JK JK 4C 9C 9S")])
def test_runs_of_one_natural_are_found(deal: int, hand: str) -> None:
    options = LIVERPOOL.configure({"min_naturals_run": 1, "contract_size": "at_least", "jokers_per_deck": 4}, 3)
    assert not isinstance(options, list)
    raw = {"deal": deal, "phase": "play", "hands": {"0": hand}}
    state = LIVERPOOL.state_of(read_position("liverpool", 3, "position", raw), options, 3)
    view = LIVERPOOL.view(state, 0)
    downs = [move for move in LIVERPOOL.candidates(view, 64).moves if isinstance(move, Down)]
    assert downs
    assert [move for move in downs if LIVERPOOL.check(view, move)] == []
