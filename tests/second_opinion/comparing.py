"""Random games in which the core and the second opinion must agree at every step."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rummyarena_rules.cards import Card
from rummyarena_rules.events import Event, Seat, StockReshuffled
from rummyarena_rules.moves import Move
from rummyarena_rules.notation import canonical, move_text, parse_move
from rummyarena_rules.ruleset import AnyState, AnyView, Candidates, Ruleset

CANDIDATE_LIMIT = 64
JUNK: list[object] = [None, True, False, 0, 1, -1, 5, 5.0, "5", "", "all", "auto", [], [10] * 7, {}, 10**30]
LAW = Path(__file__).parents[2] / "docs" / "rules"


@dataclass
class Tally:
    """What the games met: verdicts of moves tried, events, and the places where the two opinions differ."""

    verdicts: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


class Difference(Exception):  # noqa: N818 - two opinions are no error until the law was read
    """The core and the second opinion differ."""


def agree(what: str, core: object, second: object) -> None:
    if core != second:
        raise Difference(f"{what}: the core says {core}, the second opinion {second}")


def verdict(ruleset: Ruleset[Any], view: AnyView, text: str) -> str | None:
    """The core's judgement of a text."""
    move = parse_move(ruleset.name, text)
    if move is None:
        return "malformed"
    refusal = ruleset.check(view, move)
    return str(refusal.reason) if refusal else None


def chosen(draws: random.Random, candidates: Candidates, legal: list[str]) -> str | None:
    """A legal move: a kind of move first, then one of that kind, so that rare kinds are played too."""
    texts = [move_text(move) for move in candidates.moves] + legal
    if not texts:
        return None
    verb = draws.choice(sorted({text.partition(" ")[0] for text in texts}))
    return draws.choice([text for text in texts if text.partition(" ")[0] == verb])


class RecordedShuffles:
    """Shuffles as the core did: hands out the new stocks of its events and checks that they were due."""

    def __init__(self, events: tuple[Event, ...]) -> None:
        self._stocks = [texts(event.cards or ()) for event in events if isinstance(event, StockReshuffled)]

    def __call__(self, old: list[str]) -> list[str]:
        if not self._stocks:
            raise Difference(f"the core did not shuffle {old}")
        agree("cards shuffled", sorted(self._stocks[0]), sorted(old))
        return self._stocks.pop(0)

    def all_used(self) -> None:
        agree("shuffles too many", self._stocks, [])


def texts(some: Iterable[Card]) -> list[str]:
    return [str(one) for one in some]


def random_value(draws: random.Random, values: Any) -> Any:
    """One of the values, or a number not far above the least."""
    return draws.choice(values) if isinstance(values, list) else values + draws.choice([0, 1, 2, 7, 40, 60])


def evolve(ruleset: Ruleset[Any], state: AnyState, events: tuple[Event, ...]) -> None:
    for event in events:
        ruleset.evolve(state, event)


def parsed(ruleset: Ruleset[Any], text: str) -> Move:
    move = parse_move(ruleset.name, text)
    assert move is not None, text
    return move


def is_named(ruleset: Ruleset[Any], candidates: Candidates, text: str) -> bool:
    """Whether the candidates name a move, in any order of its cards."""
    return canonical(ruleset.name, parsed(ruleset, text)) in {
        canonical(ruleset.name, move) for move in candidates.moves
    }


def random_seat(draws: random.Random, turn: Seat, seats: int) -> Seat:
    """The seat on turn, mostly."""
    return turn if draws.random() < 0.93 else draws.randrange(seats)


def reasons_of(game: str) -> set[str]:
    """The law's closed list of the reasons for which a move is refused."""
    (section,) = (part for part in (LAW / f"{game}.md").read_text().split("## ") if "(closed list)" in part)
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return {name for cell in cells for name in re.findall("`(.*?)`", cell)} - {"bad_seats", "bad_option"}
