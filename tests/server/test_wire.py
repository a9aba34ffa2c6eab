"""What the rules say survives the wire, what a viewer may not know is absent from it, and no message is a surprise."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rummyarena.games import game_from
from rummyarena.v1 import card_pb2, error_pb2, event_pb2, move_pb2, play_pb2, view_pb2
from rummyarena_rules.cards import CARDS, Card, card, cards
from rummyarena_rules.events import EVENT_KINDS, REFEREE, DealEnd, DealEnded, Event, StockDrawn, redact, secret_fields
from rummyarena_rules.liverpool import LIVERPOOL
from rummyarena_rules.liverpool.facts import LiverpoolFacts
from rummyarena_rules.liverpool.options import LiverpoolOptions
from rummyarena_rules.moves import (
    Cut,
    Draw,
    Knock,
    LayOff,
    Move,
    Swap,
    Take,
    TakeOnto,
)
from rummyarena_rules.registry import RULESETS
from rummyarena_rules.ruleset import AnyState, AnyView, Candidates, Reason, Refusal
from rummyarena_rules.table import DealResult, DiscardedCard, Phase, Private, Public, TableMeld, View
from rummyarena_rules.thai import THAI, ThaiFacts, ThaiOptions
from rummyarena_rules.thai.facts import Penalty
from rummyarena_server import wire
from rummyarena_server.wire.events import DEAL_END_NUMBERS, PENALTY_RULE_NUMBERS
from rummyarena_server.wire.moves import VERB_NUMBERS, read_verb
from tests.rules.games import Setup, play, randomly, setups
from tests.rules.random_options import random_options

# --- strategies: any value that a field's type allows ----------------------------------------------------------------

NUMBERS = st.integers(0, 2**32 - 1)
RULES = st.sampled_from(sorted(PENALTY_RULE_NUMBERS))
POINTS = st.integers(-(2**31), 2**31 - 1)
BY_NAME: dict[str, st.SearchStrategy[Any]] = {
    "direction": st.sampled_from((1, -1)),
    "scores": st.lists(POINTS, max_size=8).map(tuple),
    "totals": st.lists(POINTS, max_size=8).map(tuple),
    "rule": RULES,
}
BY_TYPE: dict[Any, st.SearchStrategy[Any]] = {
    int: NUMBERS,
    bool: st.booleans(),
    NoneType: st.none(),
    Card: st.sampled_from(CARDS),
}


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a type as the fields of the rules' dataclasses have them."""
    if hint in BY_TYPE:
        return BY_TYPE[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, UnionType):
        return st.one_of([values(one) for one in arguments])
    if origin is tuple:  # moves name at least one card, group or seat; parts of a knock may be none
        return st.lists(values(arguments[0]), min_size=1, max_size=13).map(tuple)
    return built(hint)


def built(kind: Any) -> st.SearchStrategy[Any]:
    """Objects of one dataclass."""
    hints = get_type_hints(kind)
    return st.builds(
        kind,
        **{one.name: BY_NAME[one.name] if one.name in BY_NAME else values(hints[one.name]) for one in fields(kind)},
    )


def moves() -> st.SearchStrategy[Move]:
    return st.one_of([built(kind) for kind in get_args(Move)]).filter(counts_from_one)


def counts_from_one(move: Move) -> bool:
    match move:
        case TakeOnto(_, number) | LayOff(number, _, _) | Swap(number, _) | Cut(number):
            return number > 0
        case Knock(_, parts):
            return all(counts_from_one(part) for part in parts)
        case _:
            return True


HANDS = st.lists(st.sampled_from(CARDS), max_size=13)
DISCARDS = st.lists(built(DiscardedCard), max_size=9)


def thai_facts(seats: int) -> st.SearchStrategy[ThaiFacts]:
    return st.builds(
        ThaiFacts,
        birth_turns=each_seat(st.none() | NUMBERS, seats),
        head=values(Card | None),
        gathered=DISCARDS.map(tuple),
        last_turn=st.booleans(),
        reshuffles=NUMBERS,
        penalties=st.lists(built(Penalty), max_size=3),
    )


def liverpool_facts(seats: int) -> st.SearchStrategy[LiverpoolFacts]:
    return st.builds(
        LiverpoolFacts,
        down_turns=each_seat(st.none() | NUMBERS, seats),
        buys=each_seat(NUMBERS, seats),
        asked=st.lists(st.integers(0, seats - 1), unique=True).map(tuple),
        jokers_owed=NUMBERS,
        reshuffles=NUMBERS,
    )


def each_seat(one: st.SearchStrategy[Any], seats: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(one, min_size=seats, max_size=seats)


GAMES: dict[str, tuple[range, Any, Callable[[int], st.SearchStrategy[Any]]]] = {
    "thai": (THAI.seats, ThaiOptions(), thai_facts),
    "liverpool": (LIVERPOOL.seats, LiverpoolOptions(), liverpool_facts),
}


@st.composite
def views(draw: st.DrawFn, ruleset: str) -> AnyView:
    possible, options, facts = GAMES[ruleset]
    seats = draw(st.sampled_from(possible))
    plain = dict.fromkeys(("deal", "dealer", "first", "turn", "turn_number", "stock_count", "aside_count"), NUMBERS)
    public = st.builds(
        Public,
        options=st.just(options),
        seats=st.just(seats),
        facts=facts(seats),
        direction=BY_NAME["direction"],
        phase=st.sampled_from(Phase),
        discards=DISCARDS,
        melds=st.lists(built(TableMeld), max_size=4),
        hand_counts=each_seat(NUMBERS, seats),
        known=each_seat(HANDS, seats),
        totals=each_seat(POINTS, seats),
        result=st.none() | built(DealResult),
        over=st.booleans(),
        **plain,
    )
    private = st.builds(Private, hand=HANDS, drawn=values(Card | None), cut=values(int | None))
    mine = st.builds(View, public, st.integers(0, seats - 1), private, st.booleans())
    return draw(mine | st.builds(View, public, st.none(), st.none()))


def encoded(view: View[Any, Any]) -> bytes:
    private = None if view.private is None else wire.encode_private(view.private, answered=view.answered)
    return wire.encode_view(wire.encode_public(view.public), view.seat, private)


# --- cards, reasons, words -------------------------------------------------------------------------------------------


def test_a_card_is_one_plus_its_number_in_the_sorted_order() -> None:
    message = view_pb2.Private.FromString(wire.encode_private(Private(hand=list(CARDS))))
    assert list(message.hand) == list(range(1, 54))
    assert message.hand[CARDS.index(card("TC"))] == card_pb2.CARD_TEN_OF_CLUBS
    assert message.hand[-1] == card_pb2.CARD_JOKER


def test_a_hand_costs_one_byte_a_card() -> None:
    assert len(wire.encode_private(Private(hand=list(CARDS)))) == 2 + 53


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_survives(reason: Reason) -> None:
    rejection = error_pb2.Rejection.FromString(wire.encode_refusal(Refusal(reason, "a sentence")))
    assert rejection.message == "a sentence"
    assert wire.read_reason(rejection.reason) is reason
    assert error_pb2.ErrorReason.Name(rejection.reason) == f"ERROR_REASON_{reason.name}"


def test_reasons_of_the_protocol_and_of_the_future_are_none_of_the_rules() -> None:
    assert wire.read_reason(error_pb2.ERROR_REASON_STALE_DECISION) is None
    assert wire.read_reason(9999) is None  # type: ignore[arg-type]  # a number that no version knows yet


def test_the_words_of_the_rules_are_those_of_the_wire() -> None:
    house_rules = {one.name for one in fields(ThaiOptions) if one.name.endswith("penalty") and "points" not in one.name}
    assert set(PENALTY_RULE_NUMBERS) - {"head_card", "foolish"} == house_rules - {"foolish_penalty"}
    assert set(DEAL_END_NUMBERS) == set(get_args(DealEnd))
    assert {read_verb(number) for number in VERB_NUMBERS.values()} == set(VERB_NUMBERS)


# --- moves -----------------------------------------------------------------------------------------------------------


@given(moves())
def test_every_move_survives(move: Move) -> None:
    assert wire.read_move(move_pb2.Move.FromString(wire.encode_move(move))) == move


def card_number(number: int) -> card_pb2.Card.ValueType:
    return card_pb2.Card.ValueType(number)


MALFORMED = {
    "no arm": move_pb2.Move(),
    "no card": move_pb2.Move(discard=move_pb2.Discard()),
    "unknown card": move_pb2.Move(discard=move_pb2.Discard(card=card_number(54))),
    "negative card": move_pb2.Move(discard=move_pb2.Discard(card=card_number(-1))),
    "no cards": move_pb2.Move(meld=move_pb2.Meld()),
    "unknown card in a list": move_pb2.Move(meld=move_pb2.Meld(cards=[card_number(1), card_number(99)])),
    "far too many cards": move_pb2.Move(meld=move_pb2.Meld(cards=[card_number(1)] * 201)),
    "take without a meld": move_pb2.Move(take=move_pb2.Take(target=card_number(1))),
    "take without a target": move_pb2.Move(take=move_pb2.Take(cards=[card_number(1)])),
    "onto meld 0": move_pb2.Move(take_onto=move_pb2.TakeOnto(target=card_number(1))),
    "lay-off on meld 0": move_pb2.Move(layoff=move_pb2.LayOff(cards=[card_number(1)])),
    "lay-off without cards": move_pb2.Move(layoff=move_pb2.LayOff(meld=1)),
    "unknown side": move_pb2.Move(
        layoff=move_pb2.LayOff(meld=1, cards=[card_number(1)], side=move_pb2.Side.ValueType(7))
    ),
    "down without groups": move_pb2.Move(down=move_pb2.Down()),
    "down with an empty group": move_pb2.Move(down=move_pb2.Down(groups=[card_pb2.CardList()])),
    "far too many groups": move_pb2.Move(
        down=move_pb2.Down(groups=[card_pb2.CardList(cards=[card_number(1)])] * 201),
    ),
    "swap on meld 0": move_pb2.Move(swap=move_pb2.Swap(card=card_number(1))),
    "knock without a card": move_pb2.Move(knock=move_pb2.Knock()),
    "knock with an empty part": move_pb2.Move(
        knock=move_pb2.Knock(card=card_number(1), parts=[move_pb2.KnockPart()]),
    ),
    "far too many parts": move_pb2.Move(
        knock=move_pb2.Knock(card=card_number(1), parts=[move_pb2.KnockPart()] * 201),
    ),
    "cut at 0": move_pb2.Move(cut=move_pb2.Cut()),
}


@pytest.mark.parametrize("message", MALFORMED.values(), ids=MALFORMED.keys())
def test_what_is_no_move_is_refused_as_malformed(message: move_pb2.Move) -> None:
    refusal = wire.read_move(move_pb2.Move.FromString(message.SerializeToString()))
    assert isinstance(refusal, Refusal)
    assert refusal.reason is Reason.MALFORMED
    assert refusal.message


def test_an_arm_of_a_newer_contract_is_malformed() -> None:
    from_the_future = move_pb2.Move.FromString(b"\xfa\x01\x00")  # field 31, an empty message
    assert isinstance(wire.read_move(from_the_future), Refusal)


@given(st.binary(max_size=200))
def test_no_bytes_are_a_surprise(frame: bytes) -> None:
    request = wire.parse_request(frame)
    if request is not None:
        assert all(wire.read_answer(one) for one in request.answers)


@given(st.integers(-(2**31), 2**31 - 1), NUMBERS, st.lists(st.integers(-1, 54), max_size=3))
def test_no_number_is_a_surprise(face: int, number: int, faces: list[int]) -> None:
    card, some = card_number(face), [card_number(one) for one in faces]
    layoff = move_pb2.LayOff(meld=number, cards=some, side=move_pb2.Side.ValueType(face))
    messages = (
        move_pb2.Move(take=move_pb2.Take(target=card, cards=some)),
        move_pb2.Move(take_onto=move_pb2.TakeOnto(target=card, meld=number)),
        move_pb2.Move(meld=move_pb2.Meld(cards=some)),
        move_pb2.Move(down=move_pb2.Down(groups=[card_pb2.CardList(cards=some)])),
        move_pb2.Move(layoff=layoff),
        move_pb2.Move(swap=move_pb2.Swap(meld=number, card=card)),
        move_pb2.Move(discard=move_pb2.Discard(card=card)),
        move_pb2.Move(knock=move_pb2.Knock(card=card, parts=[move_pb2.KnockPart(layoff=layoff)])),
        move_pb2.Move(cut=move_pb2.Cut(position=number)),
    )
    for message in messages:
        read = wire.read_move(message)
        if not isinstance(read, Refusal):
            assert wire.encode_move(read) == message.SerializeToString()


def test_an_answer_is_read_up_to_what_is_no_move() -> None:
    draw, empty = move_pb2.Move(draw=move_pb2.Draw()), move_pb2.Move()
    answer = play_pb2.Answer(moves=[draw, empty, draw])
    first, second = wire.read_answer(answer)
    assert first == Draw()
    assert isinstance(second, Refusal)


def test_an_answer_without_moves_is_malformed() -> None:
    (refusal,) = wire.read_answer(play_pb2.Answer())
    assert isinstance(refusal, Refusal)
    assert refusal.reason is Reason.MALFORMED


# --- events ----------------------------------------------------------------------------------------------------------


def received(event: Event, sequence: int = 1) -> event_pb2.Event:
    return event_pb2.Event.FromString(wire.encode_event(sequence, event))


@pytest.mark.parametrize("kind", EVENT_KINDS)
@given(data=st.data())
def test_every_event_survives(kind: type[Any], data: st.DataObject) -> None:
    event, sequence = data.draw(built(kind)), data.draw(st.integers(1, 2**32 - 1))
    message = received(event, sequence)
    assert message.sequence == sequence
    assert wire.read_event(message) == event


@pytest.mark.parametrize("kind", [kind for kind in EVENT_KINDS if secret_fields(kind)])
@given(data=st.data())
def test_what_is_hidden_is_absent_and_leaves_no_trace(kind: type[Any], data: st.DataObject) -> None:
    event, other = data.draw(built(kind)), data.draw(built(kind))
    seen = redact(event, None)
    for name, _ in secret_fields(kind):
        setattr(event, name, getattr(other, name))
    twin = redact(event, None)

    assert wire.encode_event(1, seen) == wire.encode_event(1, twin)
    inner = getattr(received(seen), received(seen).WhichOneof("kind") or "")
    assert not any(inner.HasField(name) for name, _ in secret_fields(kind))


def test_a_drawn_card_reaches_the_drawer_alone() -> None:
    drawn = StockDrawn(1, card("7H"))
    assert received(redact(drawn, 1)).stock_drawn.card == card_pb2.CARD_SEVEN_OF_HEARTS
    assert not received(redact(drawn, 0)).stock_drawn.HasField("card")
    assert received(redact(drawn, REFEREE)).stock_drawn.HasField("card")


def test_an_event_of_a_newer_contract_is_nothing() -> None:
    assert wire.read_event(event_pb2.Event.FromString(b"\x08\x01\xfa\x01\x00")) is None


def test_a_value_of_a_newer_contract_is_named() -> None:
    message = event_pb2.Event(discarded=event_pb2.Discarded(seat=1, card=card_number(54)))
    with pytest.raises(ValueError, match="54 is not the number of a card; the sender is newer"):
        wire.read_event(message)


# --- views -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ruleset", GAMES)
@given(data=st.data())
def test_every_view_survives(ruleset: str, data: st.DataObject) -> None:
    view = data.draw(views(ruleset))
    message = view_pb2.View.FromString(encoded(view))
    assert wire.read_view(message, view.public.options) == view


WHOLE_GAMES = [*setups("thai", deals=2), *setups("liverpool", deals=1)]


@pytest.mark.parametrize("setup", WHOLE_GAMES, ids=str)
def test_whole_games_survive(setup: Setup) -> None:
    """Each event as sent to seats, spectator and referee; what is asked, answered and shown at the end of a deal."""
    ruleset, state = setup.start()

    def moves_survive(_state: AnyState, answers: Mapping[int, Move | None]) -> None:
        views_survive(*answers)
        for move in answers.values():
            assert move is None or wire.read_move(move_pb2.Move.FromString(wire.encode_move(move))) == move

    def views_survive(*viewers: int | None) -> None:
        for viewer in viewers:
            view = ruleset.view(state, viewer)
            assert wire.read_view(view_pb2.View.FromString(encoded(view)), state.public.options) == view

    for sequence, event in enumerate(play(ruleset, state, randomly(setup.seed), moves_survive), 1):
        for viewer in (REFEREE, None, *range(setup.seats)):
            seen = redact(event, viewer)
            assert wire.read_event(received(seen, sequence)) == seen
        if isinstance(event, DealEnded):
            views_survive(None, *range(setup.seats))


def test_a_spectator_has_no_seat_and_no_private_part() -> None:
    state = THAI.start(ThaiOptions(), 2, bytes(32))
    message = view_pb2.View.FromString(encoded(THAI.view(state, None)))
    assert not message.HasField("seat")
    assert not message.HasField("private_part")
    assert view_pb2.View.FromString(encoded(THAI.view(state, 0))).HasField("seat")


def test_a_view_of_an_unknown_ruleset_is_named() -> None:
    with pytest.raises(ValueError, match="a ruleset that this program does not know"):
        wire.read_view(view_pb2.View(public_part=view_pb2.Public(phase=view_pb2.PHASE_DRAW)), ThaiOptions())


# --- the play stream -------------------------------------------------------------------------------------------------


def test_a_frame_is_its_fields_joined() -> None:
    view = encoded(THAI.view(THAI.start(ThaiOptions(), 2, bytes(32)), 0))
    moves_offered: tuple[Move, ...] = (Draw(), Take(card("7H"), cards("7C 7D 7H")))
    decision = wire.encode_decision(
        "17.0", ("take", "draw"), Candidates(moves_offered, complete=True), 2**64 - 1, time_left=65_000_001, bank=0
    )
    frame = b"".join(
        (
            wire.encode_welcome("s1", "0.1.0", 4),
            wire.encode_update("a", events=[wire.encode_event(1, StockDrawn(1)), wire.encode_event(2, StockDrawn(0))]),
            wire.encode_update("b", view=view, decision=decision),
            wire.encode_rejection("c", "9.1", 2, Refusal(Reason.NOT_BORN, "not yet"), 1),
            wire.encode_stale_rejection("c", "8.0"),
            wire.encode_going_away("the tournament is over"),
        )
    )
    response = play_pb2.PlayResponse.FromString(frame)

    assert response.welcome == play_pb2.Welcome(session_id="s1", server_version="0.1.0", max_concurrent_games=4)
    assert [one.sequence for one in response.updates[0].events] == [1, 2]
    assert not response.updates[0].HasField("view")
    asked = response.updates[1].decision
    assert (asked.decision_id, asked.complete, asked.random_seed) == ("17.0", True, 2**64 - 1)
    assert [wire.read_move(one) for one in asked.candidates] == list(moves_offered)
    assert list(asked.verbs) == [move_pb2.VERB_TAKE, move_pb2.VERB_DRAW]
    assert asked.time_left.ToMicroseconds() == 65_000_001
    assert asked.HasField("bank")
    assert response.updates[1].view == view_pb2.View.FromString(view)
    assert [(one.index, one.attempts_left) for one in response.rejections] == [(2, 1), (0, 0)]
    assert response.rejections[1].rejection.reason == error_pb2.ERROR_REASON_STALE_DECISION
    assert response.going_away.message == "the tournament is over"


def test_without_a_clock_no_time_is_named() -> None:
    message = view_pb2.Decision.FromString(wire.encode_decision("1", ("draw",), Candidates((), complete=False), 0))
    assert not message.HasField("time_left")
    assert not message.HasField("bank")


def test_the_set_up_names_what_differs_from_the_defaults() -> None:
    setup = play_pb2.GameSetup.FromString(
        wire.encode_game_setup(
            ruleset="thai",
            rules_version=1,
            options=ThaiOptions(head_card=True, target_score=250, stock_exhausted="reshuffle"),
            seats=2,
            seat=1,
            bot_names=("Ann", "Bob"),
            seed_digest=bytes(range(32)),
            time_control=(5_000_000, 60_000_000, 0),
        )
    )
    named = {one.name: getattr(one, one.WhichOneof("value") or "") for one in setup.options}
    assert named == {"target_score": 250, "stock_exhausted": "reshuffle", "head_card": True}
    assert (setup.seats, setup.seat, list(setup.bot_names)) == (2, 1, ["Ann", "Bob"])
    assert setup.time_control.decision.ToMicroseconds() == 5_000_000
    assert setup.time_control.bank.ToMicroseconds() == 60_000_000


@pytest.mark.parametrize("name", RULESETS)
@given(draws=st.randoms(use_true_random=False))
def test_every_option_survives(name: str, draws: random.Random) -> None:
    # given: options that the ruleset takes
    ruleset = RULESETS[name]
    seats = draws.choice(ruleset.seats)
    options = ruleset.configure(random_options(ruleset, seats, draws), seats)
    setup = play_pb2.GameSetup.FromString(
        wire.encode_game_setup(
            ruleset=name,
            rules_version=ruleset.version,
            options=options,
            seats=seats,
            seat=0,
            bot_names=(),
            seed_digest=bytes(32),
            time_control=None,
        )
    )
    # when: a bot reads the set-up, and sets up the rules with what it read
    game = game_from("g", setup)
    # then: it has the same options
    assert ruleset.configure(game.options, game.seats) == options


def test_the_end_of_a_game() -> None:
    over = play_pb2.GameOver.FromString(
        wire.encode_game_over(ranks=(2, 1), totals=(-20, 510), deals=[(-20, 510)], forfeits=[(0, "gone")])
    )
    assert (list(over.ranks), list(over.totals)) == ([2, 1], [-20, 510])
    assert [list(one.scores) for one in over.deals] == [[-20, 510]]
    assert [(one.seat, one.reason) for one in over.forfeits] == [(0, play_pb2.FORFEIT_REASON_GONE)]
    assert not over.HasField("seed")


def test_a_hello_is_held_within_the_contract() -> None:
    raw = play_pb2.Hello(sdk_name="x" * 999, bot_version="1\n\x1b[31m2", candidate_limit=10**6)
    hello = wire.read_hello(raw)
    assert hello.sdk_name == "x" * 64
    assert hello.bot_version == "1??[31m2"
    assert (hello.max_concurrent_games, hello.candidate_limit) == (1, 256)
    assert (hello.wants_view, hello.wants_events) == (True, False)


@pytest.mark.parametrize(
    ("wants", "view", "events"),
    [(play_pb2.WANTS_VIEW, True, False), (play_pb2.WANTS_EVENTS, False, True), (play_pb2.WANTS_BOTH, True, True)],
)
def test_what_a_bot_wants(wants: play_pb2.Wants.ValueType, view: bool, events: bool) -> None:
    hello = wire.read_hello(play_pb2.Hello(wants=wants))
    assert (hello.wants_view, hello.wants_events) == (view, events)
