"""One suite for every ruleset: what must hold after each event and at each decision of any game."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from rummyarena_rules.cards import CARDS
from rummyarena_rules.events import REFEREE, DealEnded, DealStarted, Event, Seat, redact, secret_fields
from rummyarena_rules.moves import Move
from rummyarena_rules.registry import RULESETS
from rummyarena_rules.ruleset import AnyState, AnyView
from rummyarena_rules.table import Phase
from tests.rules.games import CANDIDATE_LIMIT, Setup, by_fallback, play, randomly, setups
from tests.rules.invariants import (
    Conserved,
    Folded,
    Unleaked,
    check_counts,
    check_offers,
    check_twin,
    mutations,
    others,
)

ALL_SETUPS = [setup for name in RULESETS for setup in setups(name, deals=6)]
every_setup = pytest.mark.parametrize("setup", ALL_SETUPS, ids=str)


@every_setup
def test_cards_are_conserved_after_each_event(setup: Setup) -> None:
    ruleset, state = setup.start()
    conserved = Conserved()
    for event in play(ruleset, state, randomly(setup.seed)):
        conserved.check(state, event)


@every_setup
def test_public_counts_are_the_true_counts(setup: Setup) -> None:
    ruleset, state = setup.start()
    for _ in play(ruleset, state, randomly(setup.seed), lambda state, _: check_counts(state)):
        pass


@every_setup
def test_views_folded_from_redacted_events_are_the_projected_views(setup: Setup) -> None:
    ruleset, state = setup.start()
    folded = Folded(ruleset, state)
    for event in play(ruleset, state, randomly(setup.seed)):
        folded.check(state, event)


@every_setup
def test_no_viewer_receives_a_card_that_it_may_not_know(setup: Setup) -> None:  # V01, V02, V11
    ruleset, state = setup.start()
    unleaked = Unleaked(state)
    for event in play(ruleset, state, randomly(setup.seed)):
        unleaked.check(state, event)


@every_setup
def test_candidates_and_fallbacks_are_legal_and_mutations_are_refused(setup: Setup) -> None:
    ruleset, state = setup.start()
    draws = random.Random(setup.seed)
    mutated = decided = 0

    def judge(state: AnyState, answers: dict[Seat, Move | None]) -> None:
        nonlocal mutated, decided
        for seat in answers:
            view = ruleset.view(state, seat)
            for move in mutations(state, seat, check_offers(ruleset, view).moves, draws):
                assert ruleset.check(view, move), move
                mutated += 1
            decided += 1

    for _ in play(ruleset, state, randomly(setup.seed), judge):
        pass
    assert mutated > decided / 4


@every_setup
def test_who_owes_no_answer_has_every_move_refused(setup: Setup) -> None:
    ruleset, state = setup.start()

    def judge(state: AnyState, answers: dict[Seat, Move | None]) -> None:
        for seat, move in answers.items():
            for other in others(state, seat):
                if other not in answers and move is not None:
                    assert ruleset.check(ruleset.view(state, other), move)

    for _ in play(ruleset, state, randomly(setup.seed), judge):
        pass


@every_setup
def test_rearranging_unseen_cards_changes_nothing_a_seat_is_told(setup: Setup) -> None:  # V09, I4
    ruleset, state = setup.start()
    draws = random.Random(setup.seed)
    twins = 0

    def compare(state: AnyState, answers: dict[Seat, Move | None]) -> None:
        nonlocal twins
        for seat in answers:
            offered = ruleset.candidates(ruleset.view(state, seat), CANDIDATE_LIMIT)
            twins += check_twin(ruleset, state, seat, draws, offered)

    for _ in play(ruleset, state, randomly(setup.seed), compare):
        pass
    assert twins > 10


@every_setup
def test_the_log_gives_the_state_again(setup: Setup) -> None:
    ruleset, state = setup.start()
    log = list(play(ruleset, state, randomly(setup.seed)))
    _, again = setup.start()
    for event in log:
        ruleset.evolve(again, event)
    assert again == state


@every_setup
def test_the_same_seed_and_moves_give_the_same_events(setup: Setup) -> None:  # W5
    logs = []
    for _ in range(2):
        ruleset, state = setup.start()
        logs.append(list(play(ruleset, state, randomly(setup.seed))))
    assert logs[0] == logs[1]


@every_setup
def test_a_game_of_fallbacks_ends(setup: Setup) -> None:  # W4
    ruleset, state = setup.start()

    def judge(state: AnyState, answers: dict[Seat, Move | None]) -> None:
        for seat, move in answers.items():
            assert move is None or ruleset.check(ruleset.view(state, seat), move) is None

    ends = {event.end for event in play(ruleset, state, by_fallback, judge) if isinstance(event, DealEnded)}
    assert ruleset.result(state) is not None
    assert "knock" not in ends
    assert "out" not in ends


@every_setup
def test_copies_share_nothing_that_changes(setup: Setup) -> None:
    ruleset, state = setup.start()
    kept: list[tuple[AnyState, AnyState, AnyView]] = []

    def keep(state: AnyState, _answers: object) -> None:
        if state.public.phase is Phase.PLAY and len(kept) < 20:
            kept.append((state.copy(), state.copy(), ruleset.view(state, state.public.turn).copy()))

    for _ in play(ruleset, state, randomly(setup.seed), keep):
        pass
    assert len(kept) == 20
    for before, played_on, view in kept:
        for _ in islice(play(ruleset, played_on, randomly(1)), 100):
            pass
        assert view == ruleset.view(before, before.public.turn)


def test_the_secrets_are_declared_on_the_fields() -> None:
    def declared(kind: type[Event]) -> dict[str, object]:
        return dict(secret_fields(kind))

    assert declared(DealStarted) == {"shoe": REFEREE}
    shoe = DealStarted(1, 0, 1, 1, CARDS[:52])
    assert redact(shoe, REFEREE) is shoe
    assert redact(shoe, 0) == redact(shoe, None) == DealStarted(1, 0, 1, 1, None)
    assert redact(shoe, 0) is not shoe
