"""Playing games for tests: random legal moves from the candidates, or the fallback."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rummyarena_rules.events import Event, Seat
from rummyarena_rules.moves import Move
from rummyarena_rules.registry import RULESETS
from rummyarena_rules.ruleset import AnyState, AnyView, Ruleset

CANDIDATE_LIMIT = 64

Chooser = Callable[[Ruleset[Any], AnyView], Move | None]


@dataclass(frozen=True)
class Setup:
    ruleset: str
    seats: int
    options: tuple[tuple[str, object], ...] = ()
    seed: int = 0

    def start(self) -> tuple[Ruleset[Any], AnyState]:
        ruleset = RULESETS[self.ruleset]
        options = ruleset.configure(dict(self.options), self.seats)
        assert not isinstance(options, list), options
        return ruleset, ruleset.start(options, self.seats, self.seed.to_bytes(32, "big"))

    def __str__(self) -> str:
        words = [self.ruleset, f"{self.seats} seats", *(f"{name}={value}" for name, value in self.options)]
        return ", ".join(words)


def setups(ruleset_name: str, deals: int) -> list[Setup]:
    """A short game for every number of seats, and for every preset: all pairs in thai, in turn in liverpool."""
    ruleset = RULESETS[ruleset_name]
    presets = list(ruleset.presets.values())
    if ruleset_name == "thai":
        pairs = [(seats, options | {"max_deals": deals}) for seats in ruleset.seats for options in map(dict, presets)]
    else:
        caps = {seats: {"max_turns_per_deal": 12 * seats} for seats in ruleset.seats}
        pairs = [(seats, {**presets[seats % len(presets)], **caps[seats]}) for seats in ruleset.seats]
    return [Setup(ruleset_name, seats, tuple(options.items()), seed=seats) for seats, options in pairs]


def randomly(seed: int) -> Chooser:
    draws = random.Random(seed)

    def choose(ruleset: Ruleset[Any], view: AnyView) -> Move | None:
        moves = ruleset.candidates(view, CANDIDATE_LIMIT).moves
        return draws.choice(moves) if moves else ruleset.fallback(view)

    return choose


def by_fallback(ruleset: Ruleset[Any], view: AnyView) -> Move | None:
    return ruleset.fallback(view)


def play(
    ruleset: Ruleset[Any],
    state: AnyState,
    choose: Chooser,
    on_decision: Callable[[AnyState, dict[Seat, Move | None]], None] = lambda _state, _answers: None,
) -> Iterator[Event]:
    """Plays a game to its end and yields each event after it was applied."""
    while True:
        decisions = ruleset.decisions(state)
        if decisions:
            answers = {seat: choose(ruleset, ruleset.view(state, seat)) for seat in decisions}
            on_decision(state, answers)
            events = ruleset.resolve(state, answers)
        elif ruleset.result(state) is None:
            events = ruleset.deal(state)
        else:
            return
        for event in events:
            ruleset.evolve(state, event)
            yield event
