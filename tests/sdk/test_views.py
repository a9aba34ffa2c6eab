"""The SDK's view shows what the rules' view shows."""

from __future__ import annotations

import random
from typing import Any

import pytest

from rummyarena import View
from rummyarena.v1 import view_pb2
from rummyarena_rules.ruleset import AnyView
from rummyarena_rules.thai import THAI, ThaiOptions
from rummyarena_server import wire


def shown(view: AnyView) -> View:
    assert view.private is not None
    private = wire.encode_private(view.private, answered=view.answered)
    return View(view_pb2.View.FromString(wire.encode_view(wire.encode_public(view.public), view.seat, private)))


def plain(value: Any) -> Any:
    """Values of either side as plain ones: cards are ints in both."""
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value


SAME = (
    *("deal", "dealer", "direction", "first", "turn", "turn_number", "phase", "stock_count", "aside_count"),
    *("hand_counts", "known", "totals"),
)


def compare(mine: View, theirs: AnyView) -> None:
    public, private = theirs.public, theirs.private
    assert private is not None
    for name in SAME:
        assert plain(getattr(mine, name)) == plain(getattr(public, name)), name
    assert (mine.seat, plain(mine.hand), mine.drawn) == (theirs.seat, plain(private.hand), private.drawn)
    assert [(int(one.card), one.seat, one.turn) for one in mine.discards] == [
        (int(one.card), one.seat, one.turn) for one in public.discards
    ]
    assert plain(mine.row) == [int(one.card) for one in public.discards]
    assert plain(mine.upcard) == (int(public.discards[-1].card) if public.discards else None)
    assert [(one.number, one.owner, plain(one.cards), one.placers, one.start, one.is_run) for one in mine.melds] == [
        (number, one.owner, plain(one.cards), one.placers, one.start, one.is_run)
        for number, one in enumerate(public.melds, 1)
    ]
    compare_facts(mine, theirs)
    compare_result(mine, theirs)


def compare_facts(mine: View, theirs: AnyView) -> None:
    facts, mine_facts = theirs.public.facts, mine.thai
    assert mine_facts is not None
    assert mine_facts.births == {seat: turn for seat, turn in enumerate(facts.birth_turns) if turn is not None}
    assert (mine_facts.head, mine_facts.last_turn, mine_facts.reshuffles) == (
        facts.head,
        facts.last_turn,
        facts.reshuffles,
    )
    assert [one.card for one in mine_facts.gathered] == [one.card for one in facts.gathered]
    assert [(one.seat, one.rule, one.card, one.turn) for one in mine_facts.penalties] == [
        (one.seat, one.rule, one.card, one.turn) for one in facts.penalties
    ]


def compare_result(mine: View, theirs: AnyView) -> None:
    result, mine_result = theirs.public.result, mine.result
    if result is None or mine_result is None:
        assert result is None
        assert mine_result is None
        return
    assert (mine_result.end, mine_result.seat, mine_result.knock_card, mine_result.dark) == (
        result.end,
        result.seat,
        result.knock_card,
        result.dark,
    )
    assert (plain(mine_result.hands), mine_result.scores) == (plain(result.hands), result.scores)


@pytest.mark.parametrize("seed", range(4))
def test_the_sdk_shows_what_the_rules_say(seed: int) -> None:
    dice = random.Random(seed)
    options = THAI.configure({**THAI.presets["modern"], "max_deals": 3}, 3)
    assert isinstance(options, ThaiOptions)
    state = THAI.start(options, 3, bytes([seed]) * 32)
    while not state.public.over:
        owed = THAI.decisions(state)
        moves = {seat: dice.choice(THAI.candidates(THAI.view(state, seat), 16).moves) for seat in owed}
        for event in THAI.resolve(state, moves) if owed else THAI.deal(state):
            THAI.evolve(state, event)
        for seat in range(3):
            view = THAI.view(state, seat)
            compare(shown(view), view)


def test_words_of_the_future_are_unknown() -> None:
    message = view_pb2.View(public_part=view_pb2.Public(phase=view_pb2.Phase.ValueType(99)))
    assert View(message).phase == "unknown"
    assert View(message).thai is None
    assert View(message).result is None
