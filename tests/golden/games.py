"""Golden games: whole games of candidates chosen by the decision's seed, as readable text."""

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
    return moves[bot_seed(state.seed, seat, asked[seat]) % len(moves)]
