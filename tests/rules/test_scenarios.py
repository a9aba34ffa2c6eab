"""Every scenario of the law passes, and files that are not scenarios are refused with their place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rummyarena_rules.reading import ReadingError
from rummyarena_rules.registry import RULESETS
from rummyarena_rules.scenario import Scenario, read_scenarios, run

FOLDER = Path(__file__).parent / "scenarios"
SCENARIOS = [
    scenario
    for file in sorted(FOLDER.glob("*.json"))
    if json.loads(file.read_text())["game"] in RULESETS
    for scenario in read_scenarios(file.read_text())
]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: f"{one.game}-{one.id}")
def test_scenario(scenario: Scenario) -> None:
    assert run(scenario) == []


def file_with(**changes: object) -> str:
    scenario = {
        "id": "X1",
        "title": "a seat draws",
        "seats": 2,
        "position": {"turn": 1, "hands": {"1": "2C 3C"}, "discards": "7H*", "stock": "9C"},
        "moves": [{"seat": 1, "move": "draw", "expect": "ok"}],
        "expect": {"hands": {"1": "2C 3C 9C"}},
    }
    return json.dumps({"format": 1, "game": "thai", "scenarios": [scenario | changes]})


def ledger(totals: list[int], scores: list[int]) -> dict[str, object]:
    return {"ledger": {"totals": totals, "deals": [{"scores": scores}]}}


def test_a_small_file_passes() -> None:
    (scenario,) = read_scenarios(file_with())
    assert run(scenario) == []


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"expect": {"hands": {"1": "2C 3C"}}}, "hands: seat 1 expected 2C 3C, got 2C 3C 9C"),
        ({"expect": {"phase": "draw", "turn": 0}}, "phase: expected draw, got play"),
        ({"expect": {"end": "knock"}}, "end: expected knock, got null"),
        ({"expect": {"stock_count": 1}}, "stock_count: expected 1, got 48"),
        ({"expect": {"melds": {"m1": {"owner": 0, "cards": "2C 2D 2H"}}}}, "melds: there is no m1"),
        ({"expect": {"penalties": [{"seat": 0, "rule": "foolish", "card": "2C"}]}}, "penalties: expected"),
        ({"expect": {"offered": {"yes": ["pass"], "no": ["discard 2C"]}}}, 'offered: "pass" must be legal, "discard'),
        ({"expect": {"fallback": ["discard 2C"]}}, 'fallback: expected ["discard 2C"], got ["discard 9C"]'),
        ({"expect": {"setup": "bad_option"}}, "setup: expected bad_option, got ok"),
        (
            {"moves": [{"seat": 1, "move": "draw", "expect": "stock_empty"}]},
            'moves[0] "draw": expected stock_empty, got ok',
        ),
        ({"moves": [{"seat": 0, "move": "draw", "expect": "ok"}]}, 'moves[0] "draw": expected ok, got not_your_turn'),
        ({"moves": [{"seat": 1, "move": "draw!", "expect": "ok"}]}, 'moves[0] "draw!": expected ok, got malformed'),
        ({"seats": 5, "expect": {}}, "setup: expected ok, got bad_seats: thai is for 2 to 4 seats, not 5"),
        ({"options": {"target": 1}}, 'setup: expected ok, got bad_option: there is no option "target"'),
        (
            {"options": {"head_card": None}, "expect": {"setup": "bad_seats"}},
            "setup: expected bad_seats, got bad_option: option head_card = null: allowed is true or false",
        ),
        ({"expect": {"melds": {"\x1b[2J": {"owner": 0, "cards": "2C"}}}}, "melds: there is no \\x1b[2J"),
        ({"expect": {"next": None, "dark": True}}, 'next: expected null, got {"deal": 2,'),
        ({"expect": {"offered": {"yes": ["?" * 400]}}}, f'offered: "{"?" * 79}... (402 characters) must be legal'),
        (
            {"position": {"phase": "play"}, "moves": [], "expect": {"fallback": []}},
            "fallback: seat 0 has no card, so there is nothing it could discard",
        ),
        (
            {"position": ledger([10**4299, 0], [9 * 10**4299, 0]), "moves": [], "expect": {"totals": [1, 0]}},
            "totals: expected [1, 0], got a value too long to be shown",
        ),
        ({"position": {"hands": {"0": "2C"}, "stock": "2C"}}, "position: 2C stands in it more often than the deck"),
        ({"position": {"turn": 1, "discards": "7H* 8H@1"}}, "position.discards[1]: seat 1 was not on turn 1 turns ago"),
        ({"position": {"melds": [{"id": "m1", "owner": 0, "cards": "2C 3C"}]}}, "position.melds[0]: 2C 3C is neither"),
    ],
)
def test_a_difference_is_told(changes: dict[str, object], difference: str) -> None:
    (scenario,) = read_scenarios(file_with(**changes))
    assert run(scenario)
    assert run(scenario)[0].startswith(difference)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{", "line 1, column 2: not JSON"),
        ("[]", "file: [] where an object is expected"),
        ('{"format": 1, "game": "thai"}', "file: the field scenarios is missing"),
        ('{"format": 2, "game": "thai", "scenarios": []}', "file.format: 2 where 1 is expected"),
        ('{"format": 1, "game": "go", "scenarios": []}', 'file.game: "go" where "thai"'),
        (file_with(seat=1), "scenarios[0].seat: no such field"),
        (file_with(**{"\x1b\n": 1}), "scenarios[0].\\x1b\\n: no such field"),
        (file_with(seats=-1), "scenarios[0].seats: -1 where a whole number from 1 is expected"),
        (file_with(seats=True), "scenarios[0].seats: true where a whole number from 1 is expected"),
        (file_with(moves=None), "scenarios[0].moves: null where a list is expected"),
        (file_with().replace('"9C"', '"9C", "stock": ""'), "scenarios[0].position.stock: the field stands there twice"),
        (file_with(id=[1] * 100), f"scenarios[0].id: [{'1, ' * 26}1... (300 characters) where a text is expected"),
        (file_with().replace('"seats": 2', f'"seats": {"9" * 5000}'), "file: a number in it is too long"),
        ("[" * 100_000, "file: nested too deeply"),
        (file_with(moves=[{"seat": 2, "move": "draw", "expect": "ok"}]), "scenarios[0].moves[0].seat: 2 where a whole"),
        (file_with(moves=[{"seat": 1, "move": "draw", "expect": "no"}]), 'scenarios[0].moves[0].expect: "no" where'),
        (file_with(moves=[{"seat": 1, "expect": "ok"}]), "scenarios[0].moves[0]: the field move is missing"),
        (file_with(position={"hands": {"1": "2C XX"}}), 'scenarios[0].position.hands.1: "XX" is not a card'),
        (file_with(position={"hands": {"7": "2C"}}), 'scenarios[0].position.hands.7: "7" where a seat from 0 to 1'),
        (file_with(position={"discards": "7H@5"}), 'scenarios[0].position.discards[0]: "7H@5" where a card'),
        (file_with(position={"discards": "JK"}), "scenarios[0].position.discards[0]: there are no jokers in thai"),
        (file_with(position={"born": 1}), "scenarios[0].position.born: 1 where a list"),
        (file_with(position={"fresh": {"dealer": 9}}), "scenarios[0].position.fresh.dealer: 9 where"),
        (
            file_with(position={"fresh": {"deal": 8}}, seats=3).replace('"thai"', '"liverpool"'),
            "scenarios[0].position.fresh.deal: 8 where a whole number from 1 to 7",
        ),
        (file_with(position={"ledger": {"deals": [{}]}}), "scenarios[0].position.ledger.deals[0]: the field scores"),
        (
            file_with(position={"ledger": {"deals": [{"scores": [1, 2], "exact_cut": True}]}}),
            "scenarios[0].position.ledger.deals[0].exact_cut: no such field; there are foolish, knocker, scores",
        ),
        (file_with(expect={"hand": {}}), "scenarios[0].expect.hand: no such field"),
        (file_with(expect={"melds": {"m1": {"owner": 0, "cards": "@1"}}}), 'scenarios[0].expect.melds.m1.cards: ""'),
    ],
)
def test_a_file_that_is_no_scenario_file_is_refused_with_its_place(text: str, error: str) -> None:
    with pytest.raises(ReadingError) as caught:
        read_scenarios(text)
    assert str(caught.value).startswith(error)


@pytest.mark.parametrize(("game", "seats", "end"), [("thai", 2, "exhausted"), ("liverpool", 3, "blocked")])
def test_a_deal_of_a_ledger_ends_without_a_seat_in_a_way_its_game_has(game: str, seats: int, end: str) -> None:
    changes = {"seats": seats, "moves": [], "expect": {"end": end}}
    text = file_with(position=ledger([0] * seats, [5] * seats), **changes).replace('"thai"', f'"{game}"')
    assert [run(scenario) for scenario in read_scenarios(text)] == [[]]


def test_two_scenarios_of_one_id_are_refused() -> None:
    raw = json.loads(file_with())
    raw["scenarios"] *= 2
    with pytest.raises(ReadingError, match=r'scenarios\[1\]\.id: "X1" where an id that no other'):
        read_scenarios(json.dumps(raw))
