"""The view tests of information.md 4 that need a table of liverpool; the others are in the conformance suite."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from rummyarena_rules.cards import card, cards, text_of
from rummyarena_rules.events import DealStarted, Event, ShoeCut, StockReshuffled, UpcardBought, redact
from rummyarena_rules.liverpool import LIVERPOOL, LiverpoolOptions, LiverpoolState
from rummyarena_rules.notation import parse_move
from rummyarena_rules.position import read_position
from rummyarena_rules.table import Phase
from rummyarena_rules.transcript import event_text
from tests.rules.games import Setup, play, randomly

VIEWERS = (0, 1, 2, None)


def position(raw: Mapping[str, object], /, **options: object) -> LiverpoolState:
    configured = LIVERPOOL.configure(options, 3)
    assert isinstance(configured, LiverpoolOptions)
    return LIVERPOOL.state_of(read_position("liverpool", 3, "position", raw), configured, 3)


def answer(state: LiverpoolState, answers: Mapping[int, str]) -> tuple[Event, ...]:
    moves = {seat: parse_move("liverpool", text) for seat, text in answers.items()}
    for seat, move in moves.items():
        assert move is not None
        assert LIVERPOOL.check(LIVERPOOL.view(state, seat), move) is None
    events = LIVERPOOL.resolve(state, moves)
    for event in events:
        LIVERPOOL.evolve(state, event)
    return events


def known(state: LiverpoolState, viewer: int | None, seat: int) -> str:
    return text_of(LIVERPOOL.view(state, viewer).public.known[seat])


def told(events: tuple[Event, ...], viewer: int | None) -> list[str]:
    return [event_text(redact(event, viewer)) for event in events]


# --- purchases -------------------------------------------------------------------------------------------------------

BUYING: dict[str, object] = {"hands": {"0": "2C", "1": "3C", "2": "4C"}, "discards": "4S 7H", "stock": "9C KD"}


def test_v06_the_penalty_card_is_seen_by_the_buyer_alone() -> None:
    state = position(BUYING)
    answer(state, {0: "draw"})
    events = answer(state, {1: "pass", 2: "buy"})
    (bought,) = (event for event in events if isinstance(event, UpcardBought))
    assert redact(bought, 2) == UpcardBought(2, card("7H"), 1, cards("9C"))
    for viewer in (0, 1, None):
        assert redact(bought, viewer) == UpcardBought(2, card("7H"), 1, None)
        assert "9C" not in " ".join(told(events, viewer))
        assert known(state, viewer, 2) == "7H"
    assert state.public.hand_counts == [2, 1, 3]


def test_v07_a_losing_answer_shows_nowhere() -> None:
    worlds = []
    for losing in ("buy", "pass"):
        state = position(BUYING)
        answer(state, {0: "draw"})
        events = answer(state, {1: "buy", 2: losing})
        worlds.append((events, [LIVERPOOL.view(state, viewer).copy() for viewer in VIEWERS]))
    assert worlds[0] == worlds[1]


def test_a_seat_that_has_answered_looks_to_the_others_as_before() -> None:  # I3
    state = position(BUYING)
    answer(state, {0: "draw"})
    assert LIVERPOOL.view(state, 1, answered=True) != LIVERPOOL.view(state, 1)
    assert state.public.facts.asked == (1, 2)  # who is asked is public, who has answered is not part of the state


# --- copies ----------------------------------------------------------------------------------------------------------


def test_v08_copies_of_a_face_are_one() -> None:
    one = position({"hands": {"0": "7H 2C"}, "discards": "4S", "stock": "7H 9C"})
    other = one.copy()
    # There is one object of each face, so that exchanging two copies is no change at all.
    assert one.privates[0].hand[1] is one.stock[-1] is card("7H")
    other.privates[0].hand[1], other.stock[-1] = other.stock[-1], other.privates[0].hand[1]
    assert one == other
    assert told(answer(one, {0: "draw"}), 0) == told(answer(other, {0: "draw"}), 0)


@pytest.mark.parametrize(
    ("discard", "left"), [("7H", ""), ("2C", "7H")], ids=["the known face is put down", "another one is"]
)
def test_a_known_card_is_a_lower_bound(discard: str, left: str) -> None:
    state = position({"hands": {"0": "7H 2C"}, "discards": "7H", "stock": "9C"})
    answer(state, {0: "take"})
    assert known(state, 1, 0) == "7H"
    answer(state, {0: f"discard {discard}"})
    assert known(state, 1, 0) == left  # of two copies the one put down may have been the one that was seen


def test_a_freed_joker_is_known_until_it_is_laid_off() -> None:
    run = {"id": "m1", "owner": 1, "cards": "7C 8C JK TC"}
    state = position({"phase": "play", "down": [0], "hands": {"0": "9C 2D"}, "melds": [run]})
    answer(state, {0: "swap m1: 9C"})
    assert {known(state, viewer, 0) for viewer in VIEWERS} == {"JK"}
    answer(state, {0: "layoff m1 high: JK"})
    assert {known(state, viewer, 0) for viewer in VIEWERS} == {""}


# --- cut and reshuffle -----------------------------------------------------------------------------------------------


def test_v13_the_cut_stays_with_the_referee_and_what_was_asked_with_the_cutter() -> None:
    ruleset, state = Setup("liverpool", 3, (("cut_mode", "choose"), ("cut_noise", 3)), seed=2).start()
    for event in ruleset.deal(state):
        ruleset.evolve(state, event)
        assert not isinstance(event, DealStarted) or event_text(redact(event, 2)).endswith("shoe ?")
    (cut, *_) = answer(state, {2: "cut 60"})
    assert isinstance(cut, ShoeCut)
    assert redact(cut, 2) == ShoeCut(2, False, 60, None)
    assert redact(cut, 0) == redact(cut, None) == ShoeCut(2, False, None, None)
    private = ruleset.view(state, 2).private
    assert private is not None
    assert private.cut == 60


def test_v14_a_reshuffle_shows_its_number_of_cards_and_nothing_else() -> None:
    raw = {"hands": {"0": "2C 3C", "1": "4C", "2": "5C"}, "discards": "7D 8D 9D TD 4S", "rest": "aside"}
    state = position(raw)
    events = answer(state, {0: "draw"}) + answer(state, {1: "pass", 2: "pass"})
    (shuffle,) = (event for event in events if isinstance(event, StockReshuffled))
    for viewer in VIEWERS:
        assert redact(shuffle, viewer) == StockReshuffled(4, None)
    assert [one.card for one in state.public.discards] == [card("4S")]
    # What is told later is the same whatever the order of the new stock is.
    twin = state.copy()
    random.Random(1).shuffle(twin.stock)
    assert twin.stock != state.stock
    assert [LIVERPOOL.view(twin, viewer) for viewer in VIEWERS] == [LIVERPOOL.view(state, viewer) for viewer in VIEWERS]
    answer(state, {0: "discard 2C"})
    answer(twin, {0: "discard 2C"})
    for viewer in (1, 2, None):
        drawn, other = answer(state.copy(), {1: "draw"}), answer(twin.copy(), {1: "draw"})
        assert told(drawn, 2) == told(other, 2)
        assert LIVERPOOL.view(state, viewer) == LIVERPOOL.view(twin, viewer)


def test_v12_the_public_events_rebuild_a_whole_game() -> None:
    ruleset, state = Setup("liverpool", 3, (("cut_mode", "choose"), ("max_turns_per_deal", 30)), seed=8).start()
    spectator = ruleset.view(state, None).copy()
    phases = set()
    for event in play(ruleset, state, randomly(3)):
        ruleset.observe(spectator, redact(event, None))
        assert spectator == ruleset.view(state, None)
        phases.add(spectator.public.phase)
    assert phases == set(Phase)
