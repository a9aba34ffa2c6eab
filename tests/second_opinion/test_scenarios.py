"""The second opinion passes the scenarios of the law too (notation.md 5)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.second_opinion import liverpool, liverpool_accounts, thai, thai_accounts
from tests.second_opinion.words import DECK, JOKER, sorted_cards

Table: TypeAlias = thai.ThaiTable | liverpool.LiverpoolTable

FOLDER = Path(__file__).parents[1] / "rules" / "scenarios"
FILES = {file.stem: json.loads(file.read_text()) for file in sorted(FOLDER.glob("*.json"))}
SCENARIOS = [
    pytest.param(file["game"], scenario, id=f"{name}-{scenario['id']}")
    for name, file in FILES.items()
    for scenario in file["scenarios"]
]


def any_shuffle(old: list[str]) -> list[str]:
    return random.Random(1).sample(old, len(old))


# --- Playing ----------------------------------------------------------------------------------------------------------


def judge(table: Table, seat: int, text: str) -> str | None:
    if isinstance(table, thai.ThaiTable):
        return thai.judge(table, seat, text)
    return liverpool.judge(table, seat, text)


def apply(table: Table, seat: int, text: str) -> None:
    if isinstance(table, thai.ThaiTable):
        thai.apply(table, seat, text, any_shuffle)
    else:
        cut = int(text.removeprefix("cut ")) if text.startswith("cut") else None
        liverpool.apply(table, seat, text, any_shuffle, cut)


def opening_of(table: Table, given: dict[str, Any]) -> Any:
    deal, dealer = given.get("deal", 1), given.get("dealer", 0)
    if isinstance(table, thai.ThaiTable):
        return thai_accounts.opening(table, deal, dealer, given.get("direction", 1), None)
    return liverpool_accounts.opening(table, deal, dealer)


def next_opening(table: Table) -> Any:
    accounts: Any = thai_accounts if isinstance(table, thai.ThaiTable) else liverpool_accounts
    return accounts.next_opening(table)


def new_game(game: str, seats: int, options: dict[str, Any]) -> Table:
    return thai.new_game(seats, options) if game == "thai" else liverpool.new_game(seats, options)


def set_up(game: str, scenario: dict[str, Any]) -> Table:
    seats, options, position = scenario["seats"], scenario.get("options", {}), scenario["position"]
    if "fresh" not in position:
        if game == "thai":
            return thai.table_of(position, seats, options)
        return liverpool.table_of(position, seats, options)
    table = new_game(game, seats, options)
    opening = opening_of(table, position["fresh"])
    if isinstance(table, thai.ThaiTable):
        thai.start_deal(table, opening, any_shuffle(DECK))
    else:
        liverpool.start_deal(table, opening, any_shuffle(liverpool_accounts.shoe(seats, options)), 1)
    return table


# --- Ledgers ----------------------------------------------------------------------------------------------------------


def check_ledger(game: str, scenario: dict[str, Any]) -> None:
    ledger, expected = scenario["position"]["ledger"], scenario["expect"]
    table = new_game(game, scenario["seats"], scenario.get("options", {}))
    table.totals = ledger.get("totals", table.totals)
    opening = opening_of(table, ledger)
    for deal, wanted in zip(ledger["deals"], expected.get("deals", [{}] * len(ledger["deals"])), strict=True):
        assert opening is not None, "the game is over before this deal"
        keep_account(table, opening, deal)
        facts = opening._asdict() | {"totals": table.totals}
        facts["order"] = [(opening.first + opening.direction * step) % table.seats for step in range(table.seats)]
        if isinstance(table, liverpool.LiverpoolTable):
            facts |= {"cutter": liverpool_accounts.cutter(table), "cut_needed": liverpool_accounts.cut_needed(table)}
        assert {name: facts[name] for name in wanted} == wanted
        opening = next_opening(table)
    accounts: Any = thai_accounts if game == "thai" else liverpool_accounts
    facts = {"over": table.over, "winners": accounts.winners(table), "ranks": accounts.ranks(table)}
    facts["totals"] = table.totals
    check_next(table, expected.get("next", next_facts(table)))
    plain = {name: value for name, value in expected.items() if name not in ("deals", "next")}
    assert {name: facts[name] for name in plain} == plain


def next_facts(table: Table) -> dict[str, int] | None:
    opening: thai_accounts.Opening | liverpool_accounts.Opening | None = next_opening(table)
    return opening and opening._asdict() | {"cutter": (opening.dealer - 1) % table.seats}


def check_next(table: Table, wanted: dict[str, int] | None) -> None:
    facts = next_facts(table)
    assert (facts and wanted and {name: facts[name] for name in wanted}) == wanted


def keep_account(table: Table, opening: Any, deal: dict[str, Any]) -> None:
    table.deal, table.dealer, table.first = opening.deal, opening.dealer, opening.first
    if isinstance(table, thai.ThaiTable):
        table.direction, table.knocker = opening.direction, deal.get("knocker")
        table.penalties = [(0, "foolish", "7H")] if deal.get("foolish") else []
        thai_accounts.settle(table, deal["scores"])
    else:
        if deal.get("exact_cut"):
            liverpool_accounts.give_cut_bonus(table)
        liverpool_accounts.settle(table, deal["scores"])


# --- Expectations -----------------------------------------------------------------------------------------------------


def check(table: Table, expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        if name == "offered":
            refused = {text: judge(table, table.turn, text) for text in value.get("yes", [])}
            assert not any(refused.values()), refused
            assert all(judge(table, table.turn, text) for text in value.get("no", []))
        elif name == "hands":
            assert {seat: sorted_cards(table.hands[int(seat)]) for seat in value} == {
                seat: sorted_cards(hand.split()) for seat, hand in value.items()
            }
        elif name == "hand_counts":
            assert {seat: len(table.hands[int(seat)]) for seat in value} == value
        elif name == "melds":
            check_melds(table, value)
        elif name == "stock":
            assert table.stock[: len(value.split())] == value.split()
        elif name == "penalties":
            assert isinstance(table, thai.ThaiTable)
            assert sorted(table.penalties) == sorted((one["seat"], one["rule"], one["card"]) for one in value)
        elif name == "next":
            check_next(table, value)
        else:
            assert (name, plain_fact(table, name)) == (name, value)


def plain_fact(table: Table, name: str) -> Any:
    facts: dict[str, Callable[[], Any]] = {
        "discards": lambda: " ".join(discards_of(table)),
        "discards_count": lambda: len(discards_of(table)),
        "stock_count": lambda: len(table.stock),
        "aside_count": lambda: len(table.aside),
        "deck_count": lambda: len(placed(table)),
        "joker_count": lambda: placed(table).count(JOKER),
    }
    if isinstance(table, liverpool.LiverpoolTable):
        facts |= {
            "cutter": lambda: liverpool_accounts.cutter(table),
            "cut_needed": lambda: liverpool_accounts.cut_needed(table),
        }
    return facts[name]() if name in facts else getattr(table, name)


def discards_of(table: Table) -> list[str]:
    return [one.card for one in table.row] if isinstance(table, thai.ThaiTable) else table.pile


def placed(table: Table) -> list[str]:
    if isinstance(table, thai.ThaiTable):
        return thai.placed(table)
    return table.shoe if table.phase == "cut" else liverpool.placed(table)


def check_melds(table: Table, expected: dict[str, Any]) -> None:
    for number, wanted in expected.items():
        meld = table.melds[int(number[1:]) - 1]
        assert meld.owner == wanted["owner"]
        words = wanted["cards"].split()
        if isinstance(meld, thai.Meld):
            assert meld.placers == {word[:2]: int(word[3:] or meld.owner) for word in words}
        elif meld.start:
            assert meld.cards == words
        else:
            assert sorted_cards(meld.cards) == sorted_cards(words)


def fallbacks(table: Table) -> list[str]:
    """What the referee plays until the turn is over; the other seats decline to buy."""
    seat, played = table.turn, []
    while table.turn == seat and table.end is None:
        if isinstance(table, liverpool.LiverpoolTable) and table.phase == "buy":
            for other in list(table.asked):
                apply(table, other, "pass")
            continue
        if isinstance(table, thai.ThaiTable):
            text = thai.fallback(table, seat)
        else:
            text = liverpool.fallback(table, seat) or ""
        apply(table, seat, text)
        played.append(text)
    return played


@pytest.mark.parametrize(("game", "scenario"), SCENARIOS)
def test_scenario(game: str, scenario: dict[str, Any]) -> None:
    seats, options, expected = scenario["seats"], scenario.get("options", {}), scenario["expect"]
    accounts: Any = thai_accounts if game == "thai" else liverpool_accounts
    refused = accounts.refused_at_setup(seats, options)
    assert refused == ({expected["setup"]} if "setup" in expected else set())
    if refused:
        return
    if "ledger" in scenario["position"]:
        check_ledger(game, scenario)
        return
    table = set_up(game, scenario)
    for move in scenario.get("moves", []):
        reason = judge(table, move["seat"], move["move"])
        assert (move["move"], reason or "ok") == (move["move"], move["expect"])
        if reason is None:
            apply(table, move["seat"], move["move"])
    check(table, {name: value for name, value in expected.items() if name != "fallback"})
    if "fallback" in expected:
        assert fallbacks(table) == expected["fallback"]
