"""Options take the values that `rummyarena rules` shows, and refuse every other with its name and what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field
from typing import Any

import pytest

from rummyarena_rules.liverpool.options import CONTRACTS, LiverpoolOptions
from rummyarena_rules.options import changed_options, option_fields
from rummyarena_rules.reading import shown
from rummyarena_rules.registry import RULESETS
from rummyarena_rules.ruleset import Refusal
from rummyarena_rules.thai.options import ThaiOptions
from tests.rules.random_options import VALUES

LEAST_32, MOST_32 = -(2**31), 2**31 - 1

OPTIONS = [(name, one) for name, ruleset in RULESETS.items() for one in option_fields(ruleset.options_kind)]
NUMBERS = [(name, one) for name, one in OPTIONS if "whole number" in one.metadata["allowed"].words]


def _name(one: object) -> str:
    return str(getattr(one, "name", one))


def configured(ruleset: str, **raw: object) -> Any:
    return RULESETS[ruleset].configure(raw, RULESETS[ruleset].seats.start)


def refusals(ruleset: str, **raw: object) -> list[str]:
    found = configured(ruleset, **raw)
    assert isinstance(found, list), found
    assert all(isinstance(one, Refusal) for one in found)
    return [one.message for one in found]


def bounds(option: Field[Any]) -> tuple[int, int]:
    """The least and the most that the words of an option allow."""
    _, _, numbers = option.metadata["allowed"].words.rpartition("from ")
    least, _, most = numbers.partition(" to ")
    return int(least), int(most)


def value(option: Field[Any], number: int) -> object:
    return [number] * 7 if option.name == "hand_sizes" else number


# --- whole numbers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ruleset", "option"), NUMBERS, ids=_name)
def test_a_whole_number_is_taken_from_its_least_to_its_most_and_no_further(ruleset: str, option: Field[Any]) -> None:
    least, most = bounds(option)
    accepts = option.metadata["allowed"].accepts

    assert accepts(value(option, least))
    assert accepts(value(option, most))
    assert not accepts(value(option, least - 1))
    assert not accepts(value(option, most + 1))
    assert LEAST_32 <= least <= most <= MOST_32


@pytest.mark.parametrize("number", [10**30, 9 * 10**18, 2**40, 2**31, -(10**30)])
@pytest.mark.parametrize(("ruleset", "option"), NUMBERS, ids=_name)
def test_a_huge_number_is_refused_with_option_value_and_what_is_allowed(
    ruleset: str, option: Field[Any], number: int
) -> None:
    (message,) = refusals(ruleset, **{option.name: value(option, number)})
    assert message.startswith(f"option {option.name} = {value(option, number)}"[:90])
    assert message.endswith(f": allowed is {option.metadata['allowed'].words}")


def test_the_cutters_hand_cannot_miss_by_more_than_the_largest_shoe() -> None:
    assert refusals("liverpool", cut_noise=169) == ["option cut_noise = 169: allowed is a whole number from 0 to 168"]


def test_the_largest_hand_can_be_dealt_from_the_largest_shoe() -> None:
    largest = {"num_decks": 3, "jokers_per_deck": 4}
    assert isinstance(configured("liverpool", hand_sizes=[55] * 7, **largest), LiverpoolOptions)


def test_totals_of_the_dearest_games_fit_32_bits() -> None:
    most = {one.name: bounds(one)[1] for _, one in NUMBERS}
    all_cards = 31 * 5 + 2 * 50 + 15 * 10 + 4 * 15 + 100  # T29, and T46 for the head
    knock = most["dark_multiplier"] * (all_cards + most["knock_card_points"])  # T32, T33
    charges = 100 * max(most["penalty_points"], most["foolish_penalty"])  # T35, T36
    shoe = 3 * 56 * max(most["joker_points"], most["ace_points"], most["face_points"])  # L2, L30

    assert most["target_score"] + most["max_deals"] * (knock + charges) <= MOST_32
    assert len(CONTRACTS) * (shoe + most["cut_bonus"]) <= MOST_32


# --- all options -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ruleset", "option"), OPTIONS, ids=_name)
def test_defaults_and_the_values_of_other_tests_are_allowed(ruleset: str, option: Field[Any]) -> None:
    for one in (option.default, *VALUES[ruleset][option.name]):
        assert option.metadata["allowed"].accepts(one)


@pytest.mark.parametrize("ruleset", RULESETS)
def test_presets_are_options_of_the_ruleset(ruleset: str) -> None:
    for preset in RULESETS[ruleset].presets.values():
        assert changed_options(configured(ruleset, **preset)) == preset


def test_every_mistake_is_told() -> None:
    found = refusals("thai", max_deal=1, target_score=0, head_card="yes")
    assert [one.split(":")[0] for one in found] == [
        'there is no option "max_deal"',
        "option target_score = 0",
        'option head_card = "yes"',
    ]


def test_options_that_are_not_named_have_their_default() -> None:
    assert configured("thai") == ThaiOptions()
    assert configured("thai", max_deals=7) == ThaiOptions(max_deals=7)


# --- values in messages ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (True, "true"),
        (None, "null"),
        ([1, "a"], '[1, "a"]'),
        ("น็อค", '"น็อค"'),
        ("\x1b[31m\n\u202e", r'"\u001b[31m\n\u202e"'),
        ("x" * 100, '"' + "x" * 79 + "... (102 characters)"),
    ],
)
def test_a_value_is_shown_in_one_short_line_that_prints(one: object, text: str) -> None:
    assert shown(one) == text


@pytest.mark.parametrize("wrap", [lambda number: number, lambda number: [number]], ids=["alone", "in a list"])
def test_a_number_of_thousands_of_digits_is_shown_somehow(wrap: Callable[[int], object]) -> None:
    assert shown(wrap(10**5000)) == "a value too long to be shown"


def test_a_value_deep_within_lists_is_shown_somehow() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert shown(deep) == "a value too long to be shown"
