"""The options of `thai` (thai.md 11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from rummyarena_rules.options import choice, switch, whole

# With these the totals of 1,000 deals fit 32 bits, though in each all cards and the knock card count a hundred times
# and a hundred charges are made. A game without a last deal would have to go on for as long.
_MOST_POINTS: Final = 10_000
_MOST_TIMES: Final = 100
_MOST_DEALS: Final = 1_000
_HIGHEST_TARGET: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class ThaiOptions:
    """The options of a game of `thai`, each with its default; what they mean stands at the rules they name."""

    two_player_removed_cards: Literal[0, 5] = choice(
        0, 5, meaning="cards put aside face down from the bottom of the stock, with two seats only (T6)"
    )
    target_score: int = whole(500, least=1, most=_HIGHEST_TARGET, meaning="the total that ends the game (T40)")
    target_tie: Literal["play_on", "shared"] = choice(
        "play_on", "shared", meaning="what follows when several seats lead at the target (T40)"
    )
    max_deals: int = whole(
        100, least=0, most=_MOST_DEALS, meaning="the deal after which the game ends in any case; 0: never (T41)"
    )
    first_player: Literal["after_dealer", "dealer", "last_knocker"] = choice(
        "after_dealer", "dealer", "last_knocker", meaning="who starts a deal (T4)"
    )
    first_turn_must_draw: bool = switch(meaning="the head cannot be taken in the first turn of a deal (T16)")
    pickup_layoff: bool = switch(meaning="a card of the row may be laid off at once: take X onto m (T17)")
    birth_turn_plays: Literal["layoff_only", "all", "none"] = choice(
        "layoff_only", "all", "none", meaning="what a seat may lay besides its first take meld in that turn (T20)"
    )
    dark_knock_layoffs: bool = switch(default=True, meaning="the knock of an unborn seat may lay off (T22)")
    layoff_points_to: Literal["layer", "meld_owner"] = choice(
        "layer", "meld_owner", meaning="for whom a laid-off card counts (T30)"
    )
    dark_multiplier: int = whole(
        2, least=1, most=_MOST_TIMES, meaning="what a dark knock multiplies table and knock card by (T33)"
    )
    rotten_dark_multiplier: int = whole(
        2, least=1, most=_MOST_TIMES, meaning="what somebody's knock multiplies the hand of an unborn seat by (T34)"
    )
    stock_exhausted: Literal["last_turn", "immediate", "reshuffle"] = choice(
        "last_turn", "immediate", "reshuffle", meaning="what follows the turn that emptied the stock (T26)"
    )
    knock_card_points: int = whole(50, least=0, most=_MOST_POINTS, meaning="what the knock card counts (T32)")
    foolish_penalty: int = whole(50, least=0, most=_MOST_POINTS, meaning="what the foolish discarder loses (T35)")
    foolish_reversal: Literal["persist", "next_deal_only", "off"] = choice(
        "persist", "next_deal_only", "off", meaning="for how long a foolish deal turns the direction round (T53)"
    )
    penalty_points: int = whole(50, least=0, most=_MOST_POINTS, meaning="what each charge of a house rule costs (T36)")
    speto_knock_100: bool = switch(meaning="house rule: a speto as knock card counts 100 (T44)")
    layoff_discard_penalty: bool = switch(meaning="house rule: discarding a card that extends a meld costs (T45)")
    head_card: bool = switch(meaning="house rule: the head counts 50 and helping to take it costs (T46)")
    completing_discard_penalty: bool = switch(
        meaning="house rule: discarding a card that forms a meld with two of the row costs (T47)"
    )
    speto_neighbour_penalty: bool = switch(meaning="house rule: helping to take a speto by a later discard costs (T48)")
    speto_discard_penalty: bool = switch(
        meaning="house rule: discarding a speto that is taken with an earlier neighbour costs (T49)"
    )


_HOUSE_RULES: Final = {
    "speto_knock_100": True,
    "layoff_discard_penalty": True,
    "head_card": True,
    "completing_discard_penalty": True,
    "speto_neighbour_penalty": True,
    "speto_discard_penalty": True,
}

PRESETS: Final[Mapping[str, Mapping[str, object]]] = {
    "classic": {},
    "classic_house": _HOUSE_RULES,
    "modern": {"pickup_layoff": True, "birth_turn_plays": "all", **_HOUSE_RULES},
}
