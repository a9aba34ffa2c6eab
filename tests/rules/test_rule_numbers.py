"""Whoever looks for a rule by its number finds it in the code and in a test."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAST = {"thai": 54, "liverpool": 33}


def rules_of(game: str) -> set[str]:
    """The numbers of the rules as the law heads them, such as T7."""
    text = (ROOT / "docs/rules" / f"{game}.md").read_text(encoding="utf-8")
    return set(re.findall(rf"^\*\*({game[0].upper()}\d+)\b", text, re.MULTILINE))


def cited(texts: Iterable[str]) -> set[str]:
    """The numbers that stand in texts, alone or within `T46 to T49`."""
    found = set()
    for text in texts:
        for letter, first, last in re.findall(r"\b([TL])([1-9]\d?)(?: to \1(\d+))?\b", text):
            found |= {f"{letter}{number}" for number in range(int(first), int(last or first) + 1)}
    return found


def sources(folder: str) -> Iterator[str]:
    files = (ROOT / folder).rglob("*.py")
    return (file.read_text(encoding="utf-8") for file in files if file != Path(__file__))


def scenario_words() -> Iterator[str]:
    """Titles and notes; an id such as T31 is no citation."""
    for file in (ROOT / "tests/rules/scenarios").glob("*.json"):
        for scenario in json.loads(file.read_text(encoding="utf-8"))["scenarios"]:
            yield f"{scenario['title']} {scenario.get('note', '')}"


@pytest.mark.parametrize("game", LAST)
def test_the_law_numbers_its_rules_without_gaps(game: str) -> None:
    assert rules_of(game) == {f"{game[0].upper()}{number}" for number in range(1, LAST[game] + 1)}


@pytest.mark.parametrize("game", LAST)
def test_each_rule_is_cited_in_the_code(game: str) -> None:
    assert rules_of(game) - cited(sources("server/rummyarena_rules")) == set()


@pytest.mark.parametrize("game", LAST)
def test_each_rule_is_cited_in_a_test(game: str) -> None:
    tests = [*sources("tests/rules"), *sources("tests/second_opinion"), *scenario_words()]
    assert rules_of(game) - cited(tests) == set()


def test_a_citation_is_a_number_or_a_range() -> None:
    assert cited(["# T46 to T49, L5: not T06, LT7 or T"]) == {"T46", "T47", "T48", "T49", "L5"}
