"""The examples in the law's own text, played and scored by the second opinion."""

from __future__ import annotations

import pytest

from tests.second_opinion import liverpool, liverpool_accounts, thai, thai_accounts
from tests.second_opinion.liverpool_melds import kind_of, run_start


def nobody_shuffles(old: list[str]) -> list[str]:
    raise AssertionError(f"no shuffle is due of {old}")


def test_an_ordinary_knock() -> None:
    table = thai.table_of(
        {
            "turn": 3,
            "phase": "play",
            "hands": {"0": "KH 4H", "1": "AH 9D", "2": "2S", "3": "9S TS 2D"},
            "melds": [
                {"id": "m1", "owner": 0, "cards": "8C 9C TC JC"},
                {"id": "m2", "owner": 1, "cards": "5C 5D 5S"},
                {"id": "m3", "owner": 2, "cards": "JD QD KD"},
                {"id": "m4", "owner": 3, "cards": "6S 7S 8S"},
            ],
            "born": [0, 1, 2, 3],
        },
        4,
        {},
    )
    thai.apply(table, 3, "knock 2D / layoff m4: 9S TS", nobody_shuffles)
    assert table.scores == [15, -5, 25, 80]


def test_a_dark_knock_against_a_rotten_and_a_born_hand() -> None:
    table = thai.table_of(
        {
            "turn": 1,
            "phase": "play",
            "hands": {"0": "4D 5D TD JS AC 7H 2S", "1": "3S 4S 5S 9C 9D 9H 9S KD", "2": "2H"},
            "melds": [{"id": "m1", "owner": 2, "cards": "8C 8D 8H"}],
            "born": [2],
        },
        3,
        {},
    )
    thai.apply(table, 1, "knock KD / meld 3S 4S 5S / meld 9C 9D 9H 9S", nobody_shuffles)
    assert table.dark
    assert table.scores == [-110, 170, 10]


def test_a_foolish_discard_turns_the_direction_round() -> None:
    table = thai.table_of(
        {
            "turn": 0,
            "dealer": 0,
            "phase": "play",
            "hands": {"0": "AH 8S", "1": "6S 7S 4D", "2": "2D 3D", "3": "2H 3H"},
            "melds": [
                {"id": "m1", "owner": 0, "cards": "TC JC QC"},
                {"id": "m2", "owner": 1, "cards": "5C 5D 5H"},
            ],
            "born": [0, 1],
        },
        4,
        {},
    )
    thai.apply(table, 0, "discard 8S", nobody_shuffles)
    thai.apply(table, 1, "take 8S: 6S 7S 8S", nobody_shuffles)
    assert table.penalties == [(0, "foolish", "8S")]
    assert table.scores[:2] == [-35, 80]
    assert thai_accounts.next_opening(table) == (2, 3, -1, 2)  # T53


@pytest.mark.parametrize(
    ("card", "cards"),
    [("7C", "5C 6C 8C 9C 7D 7H 7S"), ("KD", "JD QD AD KC KH KS"), ("3S", "2S 4S 5S 3C 3D 3H")],
)
def test_neighbourhoods(card: str, cards: str) -> None:
    assert sorted(thai_accounts.neighbourhood(card)) == sorted(cards.split())


def test_thai_ranks() -> None:
    table = thai.new_game(4, {})
    table.totals = [515, 130, 130, -20]
    assert thai_accounts.ranks(table) == [1, 2, 2, 4]


@pytest.mark.parametrize(("hand", "points"), [("JK AS KD QH JC TS 9D 2C", 81), ("AD 2C", 17), ("JK QH", 25)])
def test_liverpool_hands(hand: str, points: int) -> None:
    table = liverpool.table_of({"hands": {"1": hand}}, 3, {})
    assert liverpool_accounts.score(table) == [0, points, 0]


@pytest.mark.parametrize(("seats", "deal", "stock"), [(3, 1, 77), (4, 1, 67), (4, 5, 59), (5, 1, 111)])
def test_liverpool_stocks(seats: int, deal: int, stock: int) -> None:
    table = liverpool.new_game(seats, {"cut_mode": "none"})
    shoe = liverpool_accounts.shoe(seats, {})
    liverpool.start_deal(table, liverpool_accounts.opening(table, deal, 0), shoe, None)
    assert len(table.stock) == stock


def test_an_exact_cut_lowers_the_total_before_the_hand_counts() -> None:
    table = liverpool.new_game(3, {})
    shoe = liverpool_accounts.shoe(3, {})
    liverpool.start_deal(table, liverpool_accounts.opening(table, 1, 0), shoe, 31)
    assert table.totals == [0, 0, -50]  # the cutter sits on the dealer's right
    table.hands = [[], [], ["AS", "KD", "QH", "JC", "TS", "6D"]]
    liverpool.end_deal(table, "out")
    assert table.totals == [0, 0, 61 - 50]


def test_liverpool_ranks() -> None:
    table = liverpool.new_game(4, {})
    table.totals = [232, 248, 247, 214]
    assert liverpool_accounts.ranks(table) == [2, 4, 3, 1]


@pytest.mark.parametrize(
    ("cards", "start"),
    [("JK 8S 9S TS", 7), ("8S 9S TS JK", 8), ("AS 2S 3S 4S", 1), ("JS QS KS AS", 11), ("QS KS AS 2S", 0)],
)
def test_where_a_run_starts(cards: str, start: int) -> None:
    assert run_start(cards.split(), 3, 14) == start


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({}, "too_few_naturals"),
        ({"min_naturals_set": 1}, "set"),
        ({"min_naturals_set": 1, "min_naturals_run": 1}, "run"),
    ],
)
def test_a_group_that_could_be_a_set_and_a_run_is_a_run(options: dict[str, int], kind: str) -> None:
    assert kind_of(["7H", "JK", "JK", "JK"], liverpool_accounts.DEFAULTS | options) == kind
