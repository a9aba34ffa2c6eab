"""Events for readers: as text (which the golden games show in full) and as JSON."""

from __future__ import annotations

import json

import pytest

from rummyarena_rules.cards import card, cards
from rummyarena_rules.events import DealStarted, Discarded, HandDealt, redact
from rummyarena_rules.registry import RULESETS
from rummyarena_rules.transcript import event_json, event_text
from tests.rules.games import play, randomly, setups


def test_an_event_is_its_kind_and_its_fields_with_cards_in_notation() -> None:
    king = card("KD")
    assert event_json(Discarded(1, king)) == {"event": "discarded", "seat": 1, "card": "KD"}


def test_what_a_viewer_may_not_see_is_null_and_in_text_a_question_mark() -> None:
    dealt = HandDealt(0, 2, cards("7C 8C"))
    assert event_json(redact(dealt, 0))["cards"] == ["7C", "8C"]
    assert event_json(redact(dealt, 1)) == {"event": "hand_dealt", "seat": 0, "count": 2, "cards": None}
    assert event_text(redact(dealt, 1)) == "seat 0 is dealt 2: ?"


@pytest.mark.parametrize("ruleset", RULESETS)
def test_every_event_of_a_game_is_json(ruleset: str) -> None:
    for number, setup in enumerate(setups(ruleset, deals=1)):
        rules, state = setup.start()
        for event in play(rules, state, randomly(number)):
            written = event_json(event)
            assert json.loads(json.dumps(written)) == written
            assert isinstance(event, DealStarted) == (written["event"] == "deal_started")
