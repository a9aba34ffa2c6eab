"""The SDK's view shows what the rules' view shows."""

from __future__ import annotations

from typing import Any

import pytest

import rummyarena
from rummyarena import View
from rummyarena.v1 import view_pb2
from rummyarena_rules.liverpool.facts import LiverpoolFacts
from rummyarena_rules.ruleset import AnyView
from rummyarena_rules.thai import THAI, ThaiFacts
from rummyarena_server import wire
from tests.rules.games import Setup, play, randomly


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
    assert mine.cut == private.cut
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
    match theirs.public.facts:
        case ThaiFacts() as facts:
            assert mine.liverpool is None
            assert mine.thai is not None
            compare_thai(mine.thai, facts)
        case LiverpoolFacts() as facts:
            assert mine.thai is None
            assert mine.liverpool is not None
            compare_liverpool(mine.liverpool, facts)
        case other:
            pytest.fail(f"facts of no game: {other}")


def named(turns: list[int | None]) -> dict[int, int]:
    return {seat: turn for seat, turn in enumerate(turns) if turn is not None}


def compare_thai(mine: rummyarena.ThaiFacts, facts: ThaiFacts) -> None:
    assert mine.births == named(facts.birth_turns)
    assert (mine.head, mine.last_turn, mine.reshuffles) == (facts.head, facts.last_turn, facts.reshuffles)
    assert [int(one.card) for one in mine.gathered] == [int(one.card) for one in facts.gathered]
    assert [(one.seat, one.rule, int(one.card), one.turn) for one in mine.penalties] == [
        (one.seat, one.rule, int(one.card), one.turn) for one in facts.penalties
    ]


def compare_liverpool(mine: rummyarena.LiverpoolFacts, facts: LiverpoolFacts) -> None:
    assert mine.downs == named(facts.down_turns)
    assert (plain(mine.buys), mine.asked) == (facts.buys, facts.asked)
    assert (mine.jokers_owed, mine.reshuffles) == (facts.jokers_owed, facts.reshuffles)


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


GAMES = [
    Setup("thai", 3, tuple({**THAI.presets["modern"], "max_deals": 3}.items()), seed=1),
    Setup("thai", 2, (("max_deals", 3),), seed=2),
    Setup("liverpool", 3, (("max_turns_per_deal", 36),), seed=3),
    Setup("liverpool", 5, (("cut_mode", "choose"), ("max_turns_per_deal", 40)), seed=4),
]


@pytest.mark.parametrize("setup", GAMES, ids=str)
def test_the_sdk_shows_what_the_rules_say(setup: Setup) -> None:
    ruleset, state = setup.start()
    for _ in play(ruleset, state, randomly(setup.seed)):
        for seat in range(setup.seats):
            view = ruleset.view(state, seat)
            compare(shown(view), view)


def test_words_of_the_future_are_unknown() -> None:
    message = view_pb2.View(public_part=view_pb2.Public(phase=view_pb2.Phase.ValueType(99)))
    assert View(message).phase == "unknown"
    assert View(message).thai is None
    assert View(message).liverpool is None
    assert View(message).result is None
