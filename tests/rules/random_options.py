"""Random valid options, every option of both games with values worth trying, and random games with them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from rummyarena_rules.registry import RULESETS
from rummyarena_rules.ruleset import AnyState, Ruleset

BOTH = (False, True)

THAI: Mapping[str, Sequence[object]] = {
    "two_player_removed_cards": (0, 5),
    "target_score": (1, 100, 500, 2000),
    "target_tie": ("play_on", "shared"),
    "max_deals": (1, 3, 10),  # 0 is left to tests of its own: such games may last for ever
    "first_player": ("after_dealer", "dealer", "last_knocker"),
    "first_turn_must_draw": BOTH,
    "pickup_layoff": BOTH,
    "birth_turn_plays": ("layoff_only", "all", "none"),
    "dark_knock_layoffs": BOTH,
    "layoff_points_to": ("layer", "meld_owner"),
    "dark_multiplier": (1, 2, 5),
    "rotten_dark_multiplier": (1, 2, 5),
    "stock_exhausted": ("last_turn", "immediate", "reshuffle"),
    "knock_card_points": (0, 50),
    "foolish_penalty": (0, 50, 200),
    "foolish_reversal": ("persist", "next_deal_only", "off"),
    "penalty_points": (0, 50),
    "speto_knock_100": BOTH,
    "layoff_discard_penalty": BOTH,
    "head_card": BOTH,
    "completing_discard_penalty": BOTH,
    "speto_neighbour_penalty": BOTH,
    "speto_discard_penalty": BOTH,
}

LIVERPOOL: Mapping[str, Sequence[object]] = {
    "num_decks": ("auto", 2, 3),
    "jokers_per_deck": (0, 1, 2, 4),
    "hand_sizes": ([10, 10, 10, 10, 12, 12, 12], [10, 10, 10, 10, 12, 12, 13], [12, 12, 12, 12, 14, 14, 14]),
    "cut_mode": ("none", "auto", "choose"),
    "cut_noise": (0, 5, 50),
    "cut_bonus": (0, 50),
    "buy_window": ("before_draw", "after_draw"),
    "buy_penalty_cards": (0, 1, 3),
    "max_buys_per_deal": (0, 1, 3),
    "down_may_use_pile": BOTH,
    "contract_size": ("exact", "at_least"),
    "same_suit_runs": ("any", "not_consecutive", "gap2"),
    "min_naturals_set": (1, 2, 3),
    "min_naturals_run": (1, 2, 3, 4),
    "run_max": (4, 7, 14),
    "layoff_same_turn": BOTH,
    "joker_after_swap": ("must_replay", "to_hand", "off"),
    "joker_swap_sets": BOTH,
    "go_out": ("play_or_discard", "discard_required"),
    "deal7_final_discard": BOTH,
    "stock_empty": ("reshuffle", "end_deal"),
    "joker_points": (0, 15, 50),
    "ace_points": (1, 15),
    "face_points": (0, 10),
    "tie_break": ("shared", "deal7_score"),
    "max_turns_per_deal": ("auto", 1, 30),
}

VALUES = {"thai": THAI, "liverpool": LIVERPOOL}


def random_options(ruleset: Ruleset[Any], seats: int, draws: random.Random) -> dict[str, object]:
    """Options that the ruleset takes: sometimes a preset, sometimes each value by chance."""
    values = VALUES[ruleset.name]
    while True:
        if draws.random() < 0.3:
            raw = {**ruleset.presets[draws.choice(sorted(ruleset.presets))]}
            raw |= {"max_deals": 5} if ruleset.name == "thai" else {}
        else:
            share = draws.random()
            raw = {name: draws.choice(allowed) for name, allowed in values.items() if draws.random() < share}
            raw.setdefault("max_deals", 5) if ruleset.name == "thai" else None
        if not isinstance(ruleset.configure(raw, seats), list):
            return raw


class RandomGame:
    """Game `number` of a ruleset before its first deal: the seats go round, options, seed and draws are random."""

    def __init__(self, name: str, number: int) -> None:
        self.ruleset = RULESETS[name]
        self.number = number
        self.draws = random.Random(f"{name}/{number}")
        self.seats = self.ruleset.seats[number % len(self.ruleset.seats)]
        self.options = random_options(self.ruleset, self.seats, self.draws)
        configured = self.ruleset.configure(self.options, self.seats)
        self.state: AnyState = self.ruleset.start(configured, self.seats, self.draws.randbytes(32))

    def __str__(self) -> str:
        return f"game {self.number} of {self.ruleset.name}: {self.seats} seats, options {self.options}"
