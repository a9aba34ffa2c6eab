"""One suite for every ruleset: what must hold after each event and at each decision of any game."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest

from rummyarena_rules.cards import CARDS, Card
from rummyarena_rules.events import REFEREE, DealEnded, DealStarted, Event, Seat, redact, secret_fields
from rummyarena_rules.moves import Knock, Move
from rummyarena_rules.registry import RULESETS
from rummyarena_rules.ruleset import AnyState, AnyView
from rummyarena_rules.table import Phase
from tests.rules.games import CANDIDATE_LIMIT, Setup, by_fallback, play, randomly, setups

ALL_SETUPS = [setup for name in RULESETS for setup in setups(name, deals=6)]
every_setup = pytest.mark.parametrize("setup", ALL_SETUPS, ids=str)


def all_cards(state: AnyState) -> Counter[Card]:
    found = Counter(state.stock)
    found.update(state.aside)
    found.update(one.card for one in state.public.discards)
    for private in state.privates:
        found.update(private.hand)
    for meld in state.public.melds:
        found.update(meld.cards)
    return found


def cards_named(value: Any) -> set[Card]:
    """Every card that stands anywhere in a value."""
    if isinstance(value, Card):
        return {value}
    if isinstance(value, tuple | list):
        return {card for one in value for card in cards_named(one)}
    if is_dataclass(value):
        return {card for one in fields(value) for card in cards_named(getattr(value, one.name))}
    return set()


def cards_to_be_seen(state: AnyState, viewer: Seat | None) -> set[Card]:
    """The faces that a viewer may see somewhere: on the table, in known hands, in its own hand."""
    public = state.public
    seen = cards_named(public.discards) | cards_named(public.melds) | cards_named(public.known)
    return seen | cards_named(public.facts) | (set(state.privates[viewer].hand) if viewer is not None else set())


@every_setup
def test_cards_are_conserved_after_each_event(setup: Setup) -> None:
    ruleset, state = setup.start()
    deck: Counter[Card] | None = None
    for event in play(ruleset, state, randomly(setup.seed)):
        if isinstance(event, DealStarted):
            deck = Counter(event.shoe)
        assert all_cards(state) == deck, event


@every_setup
def test_public_counts_are_the_true_counts(setup: Setup) -> None:
    ruleset, state = setup.start()

    def compare(state: AnyState, _answers: object) -> None:
        public = state.public
        assert public.stock_count == len(state.stock)
        assert public.aside_count == len(state.aside)
        assert public.hand_counts == [len(private.hand) for private in state.privates]
        for seat, known in enumerate(public.known):
            assert Counter(known) <= Counter(state.privates[seat].hand)
            assert all(private.hand == sorted(private.hand) for private in state.privates)

    for _ in play(ruleset, state, randomly(setup.seed), compare):
        pass


@every_setup
def test_views_folded_from_redacted_events_are_the_projected_views(setup: Setup) -> None:
    ruleset, state = setup.start()
    viewers = [*range(setup.seats), None]
    folded = {viewer: ruleset.view(state, viewer).copy() for viewer in viewers}
    for event in play(ruleset, state, randomly(setup.seed)):
        for viewer, view in folded.items():
            ruleset.observe(view, redact(event, viewer))
            assert view == ruleset.view(state, viewer), (viewer, event)


@every_setup
def test_no_viewer_receives_a_card_that_it_may_not_know(setup: Setup) -> None:  # V01, V02, V11
    ruleset, state = setup.start()
    before: dict[Seat | None, set[Card]] = {viewer: set() for viewer in (*range(setup.seats), None)}
    for event in play(ruleset, state, randomly(setup.seed)):
        for viewer, seen_before in before.items():
            seen = cards_to_be_seen(state, viewer)
            if not isinstance(event, DealEnded):  # the deal result shows all hands
                assert cards_named(redact(event, viewer)) <= seen | seen_before, (viewer, event)
            before[viewer] = seen


@every_setup
def test_candidates_and_fallbacks_are_legal_and_mutations_are_refused(setup: Setup) -> None:
    ruleset, state = setup.start()
    draws = random.Random(setup.seed)
    counts = Counter[str]()

    def judge(state: AnyState, answers: dict[Seat, Move | None]) -> None:
        for seat in answers:
            view = ruleset.view(state, seat)
            offered = ruleset.candidates(view, CANDIDATE_LIMIT)
            assert len(offered.moves) <= CANDIDATE_LIMIT
            assert len(set(offered.moves)) == len(offered.moves)
            assert [move for move in offered.moves if ruleset.check(view, move)] == []
            fallback = ruleset.fallback(view)
            assert fallback is None or ruleset.check(view, fallback) is None
            for move in mutations(state, offered.moves, draws):
                assert ruleset.check(view, move), move
                counts["mutated"] += 1
            assert all(ruleset.check(ruleset.view(state, other), fallback) for other in others(state, seat) if fallback)
            counts["decided"] += 1

    for _ in play(ruleset, state, randomly(setup.seed), judge):
        pass
    assert counts["mutated"] > counts["decided"] / 4


def others(state: AnyState, seat: Seat) -> Iterable[Seat]:
    return (other for other in range(state.public.seats) if other != seat)


def mutations(state: AnyState, moves: tuple[Move, ...], draws: random.Random) -> Iterable[Move]:
    """Moves made illegal by a card that the seat can neither hold nor gather."""
    hidden = set(CARDS) - cards_to_be_seen(state, state.public.turn) - {CARDS[52]}
    for move in moves:
        names = [one.name for one in fields(move) if cards_named(getattr(move, one.name))]
        if not names or not hidden or isinstance(move, Knock):
            continue
        value = getattr(move, draws.choice(names))
        strange = draws.choice(sorted(hidden))
        for name in names:
            if getattr(move, name) is value:
                changed: Any = strange if isinstance(value, Card) else (*value[:-1], strange)
                yield replace(move, **{name: changed})


@every_setup
def test_rearranging_unseen_cards_changes_nothing_a_seat_is_told(setup: Setup) -> None:  # V09, I4
    ruleset, state = setup.start()
    draws = random.Random(setup.seed)
    twins = 0

    def compare(state: AnyState, answers: dict[Seat, Move | None]) -> None:
        nonlocal twins
        for seat in answers:
            twin = rearranged(state, seat, draws)
            twins += twin != state
            view, other = ruleset.view(state, seat), ruleset.view(twin, seat)
            assert view == other
            assert ruleset.candidates(view, CANDIDATE_LIMIT) == ruleset.candidates(other, CANDIDATE_LIMIT)
            for move in ruleset.candidates(view, CANDIDATE_LIMIT).moves:
                assert ruleset.check(other, move) is None
            assert ruleset.fallback(view) == ruleset.fallback(other)

    for _ in play(ruleset, state, randomly(setup.seed), compare):
        pass
    assert twins > 10


def rearranged(state: AnyState, seat: Seat, draws: random.Random) -> AnyState:
    """A state that differs from `state` only in where the cards lie that `seat` has not seen."""
    twin = state.copy()
    pool = [*twin.stock, *twin.aside]
    unknown = {
        other: Counter(twin.privates[other].hand) - Counter(twin.public.known[other]) for other in others(state, seat)
    }
    for cards in unknown.values():
        pool += cards.elements()
    draws.shuffle(pool)
    for other, cards in unknown.items():
        fresh = [pool.pop() for _ in range(cards.total())]
        twin.privates[other].hand = sorted([*twin.public.known[other], *fresh])
    twin.aside = tuple(pool.pop() for _ in twin.aside)
    twin.stock = pool
    return twin


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
        if state.public.phase is Phase.PLAY and len(kept) < 50:
            kept.append((state.copy(), state.copy(), ruleset.view(state, state.public.turn).copy()))

    for _ in play(ruleset, state, randomly(setup.seed), keep):
        pass
    assert len(kept) > 20
    for before, played_on, view in kept:
        for _ in play(ruleset, played_on, randomly(1)):
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
