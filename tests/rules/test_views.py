"""The view tests of information.md 4 that need a table of their own; the others are in the conformance suite."""

from __future__ import annotations

import re

from rummyarena_rules.cards import Card, card, cards, text_of
from rummyarena_rules.events import DealEnded, Event, Knocked, redact
from rummyarena_rules.notation import parse_move
from rummyarena_rules.position import read_position
from rummyarena_rules.thai import THAI, ThaiOptions, ThaiState
from rummyarena_rules.transcript import event_text
from tests.rules.games import Setup, play, randomly


def position(seats: int, raw: dict[str, object], options: dict[str, object] | None = None) -> ThaiState:
    configured = THAI.configure(options or {}, seats)
    assert isinstance(configured, ThaiOptions)
    return THAI.state_of(read_position("thai", seats, "position", raw), configured, seats)


def answer(state: ThaiState, text: str) -> tuple[Event, ...]:
    move = parse_move("thai", text)
    assert move is not None
    assert THAI.check(THAI.view(state, state.public.turn), move) is None
    events = THAI.resolve(state, {state.public.turn: move})
    for event in events:
        THAI.evolve(state, event)
    return events


def known(state: ThaiState, viewer: int | None, seat: int) -> str:
    return text_of(THAI.view(state, viewer).public.known[seat])


def test_v03_swept_cards_are_known_until_they_leave_the_hand() -> None:
    state = position(4, {"turn": 3, "hands": {"3": "8H 2D 5S JC QD 3C 9S"}, "discards": "7H* 9H@0 KC@1 4D@2"})
    answer(state, "take 7H: 7H 8H 9H")
    assert {known(state, viewer, 3) for viewer in (0, 1, 2, 3, None)} == {"KC 4D"}
    answer(state, "discard KC")
    assert {known(state, viewer, 3) for viewer in (0, 1, 2, 3, None)} == {"4D"}


def test_v04_the_knock_card_is_hidden_until_the_deal_is_scored() -> None:
    state = position(
        2,
        {
            "turn": 1,
            "phase": "play",
            "born": [0, 1],
            "hands": {"0": "KD", "1": "6C QS"},
            "melds": [{"id": "m1", "owner": 1, "cards": "3C 4C 5C"}, {"id": "m2", "owner": 0, "cards": "7D 7H 7S"}],
        },
        {"speto_knock_100": True},
    )
    events = answer(state, "layoff m1: 6C")
    (knocked,) = (event for event in events if isinstance(event, Knocked))
    assert redact(knocked, 0) == redact(knocked, None) == Knocked(1, False, None)
    assert redact(knocked, 1) == Knocked(1, False, cards("QS")[0])
    (ended,) = (event for event in events if isinstance(event, DealEnded))
    assert redact(ended, None) is ended
    assert (text_of([ended.knock_card] if ended.knock_card is not None else []), ended.scores[1]) == ("QS", 120)


def test_v05_the_cards_set_aside_are_never_shown() -> None:
    ruleset, state = Setup("thai", 2, (("two_player_removed_cards", 5), ("max_deals", 1))).start()
    log = list(play(ruleset, state, randomly(1)))
    assert len(state.aside) == 5
    told = [redact(event, viewer) for viewer in (0, 1, None) for event in log]
    named = {card for event in told for card in every_card(event)}
    assert named.isdisjoint(state.aside)
    assert len(named) > 40


def every_card(event: Event) -> set[Card]:
    return {card(text) for text in re.findall(r"\b[2-9TJQKA][CDHS]\b", event_text(event))}


def test_v10_v11_a_view_holds_the_public_part_and_one_seat_alone() -> None:
    ruleset, state = Setup("thai", 3).start()
    for event in ruleset.deal(state):
        ruleset.evolve(state, event)
    spectator = ruleset.view(state, None)
    assert (spectator.seat, spectator.private) == (None, None)
    assert spectator.public is state.public
    assert ruleset.candidates(spectator, 64).moves == ()
    assert ruleset.view(state, 1).private is state.privates[1]


def test_v13_shoe_and_seed_stay_with_the_referee() -> None:
    ruleset, state = Setup("thai", 3).start()
    started = ruleset.deal(state)[0]
    for viewer in (0, 1, 2, None):
        assert event_text(redact(started, viewer)) == "deal 1: dealer 0, clockwise, first seat 1, shoe ?"
