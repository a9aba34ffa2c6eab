"""Golden games: whole games of candidates chosen by the decision's seed, as readable text.

In liverpool the most promising candidate is taken three times out of four, for by chance hardly anybody would go down.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rummyarena_rules.events import Seat
from rummyarena_rules.moves import Move
from rummyarena_rules.notation import move_text
from rummyarena_rules.ruleset import AnyState
from rummyarena_rules.shoe import bot_seed
from rummyarena_rules.transcript import event_text
from tests.rules.games import CANDIDATE_LIMIT, Setup

FOLDER = Path(__file__).parent
GAMES = {
    "thai_2_seats_classic": Setup("thai", 2, (("target_score", 150),), seed=1),
    "thai_3_seats_modern": Setup(
        "thai",
        3,
        (
            ("pickup_layoff", True),
            ("birth_turn_plays", "all"),
            ("head_card", True),
            ("layoff_discard_penalty", True),
            ("completing_discard_penalty", True),
            ("speto_knock_100", True),
            ("speto_neighbour_penalty", True),
            ("speto_discard_penalty", True),
            ("max_deals", 4),
        ),
        seed=2,
    ),
    "thai_4_seats_reshuffle": Setup("thai", 4, (("stock_exhausted", "reshuffle"), ("max_deals", 4)), seed=3),
    "liverpool_3_seats_classic": Setup("liverpool", 3, (("max_turns_per_deal", 36),), seed=4),
    "liverpool_4_seats_club": Setup(
        "liverpool",
        4,
        (
            ("max_buys_per_deal", 3),
            ("down_may_use_pile", False),
            ("deal7_final_discard", False),
            ("cut_mode", "choose"),
            ("cut_noise", 0),
            ("same_suit_runs", "not_consecutive"),
            ("tie_break", "deal7_score"),
            ("max_turns_per_deal", 36),
        ),
        seed=5,
    ),
    "liverpool_5_seats_open_table": Setup(
        "liverpool",
        5,
        (
            ("contract_size", "at_least"),
            ("joker_after_swap", "to_hand"),
            ("buy_window", "after_draw"),
            ("buy_penalty_cards", 2),
            ("same_suit_runs", "gap2"),
            ("go_out", "discard_required"),
            ("num_decks", 2),
            ("jokers_per_deck", 4),
            ("max_turns_per_deal", 36),
        ),
        seed=6,
    ),
}


def record(setup: Setup) -> str:
    """Plays a golden game and writes it: the moves with an arrow, below them what followed."""
    return "\n".join([f"# {setup}, seed {setup.seed}", *_lines(setup)]) + "\n"


def _lines(setup: Setup) -> Iterator[str]:
    ruleset, state = setup.start()
    asked = dict.fromkeys(range(setup.seats), 0)
    while ruleset.result(state) is None:
        decisions = ruleset.decisions(state)
        if not decisions:
            events = ruleset.deal(state)
            yield ""
        else:
            answers = {seat: _choose(setup, state, seat, asked) for seat in decisions}
            for seat, move in answers.items():
                yield f"-> {seat}: {move_text(move)}"
            events = ruleset.resolve(state, answers)
        for event in events:
            ruleset.evolve(state, event)
            yield event_text(event)


def _choose(setup: Setup, state: AnyState, seat: Seat, asked: dict[Seat, int]) -> Move:
    ruleset, _ = setup.start()
    moves = ruleset.candidates(ruleset.view(state, seat), CANDIDATE_LIMIT).moves
    asked[seat] += 1
    number = bot_seed(state.seed, seat, asked[seat])
    if setup.ruleset == "liverpool" and number >> 32 & 3:
        return moves[0]
    return moves[number % len(moves)]
