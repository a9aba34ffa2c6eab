"""Candidates against brute force, for each ruleset."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rummyarena_rules.events import Seat
from rummyarena_rules.registry import RULESETS
from rummyarena_rules.ruleset import AnyPublic, AnyState, AnyView
from rummyarena_rules.table import Phase
from tests.rules.offers_liverpool import compare_liverpool, near_the_contract
from tests.rules.offers_thai import compare_thai

COMPARERS: Mapping[str, Callable[[Any], bool]] = {"thai": compare_thai, "liverpool": compare_liverpool}

PHASES = {"thai": ("draw", "play"), "liverpool": ("cut", "draw", "buy", "play", "play in deal 7")}


def phase_of(public: AnyPublic) -> str:
    """The phase as `PHASES` names it: deal 7 of liverpool has rules of its own for going down (L23)."""
    return "play in deal 7" if public.phase is Phase.PLAY and _is_last_of_seven(public) else str(public.phase)


def _is_last_of_seven(public: AnyPublic) -> bool:
    return hasattr(public.facts, "down_turns") and public.deal == 7


def views_to_compare(name: str, state: AnyState, seat: Seat, draws: random.Random) -> Iterator[AnyView]:
    """What a seat sees, and in liverpool before it is down also how that would be with a hand near the contract."""
    yield RULESETS[name].view(state, seat)
    public = state.public
    if name == "liverpool" and public.phase is Phase.PLAY and public.facts.down_turns[seat] is None:
        yield near_the_contract(state, draws)
