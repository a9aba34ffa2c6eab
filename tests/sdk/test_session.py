"""What a bot is told and asked, message by message, without a connection: referee says, bot says."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import pytest
from google.protobuf.message import Message

import rummyarena
from rummyarena import Answer, Decision, Event, Game, Outcome, discard, draw
from rummyarena.session import Session
from rummyarena.v1 import card_pb2, event_pb2, move_pb2, play_pb2, view_pb2
from rummyarena_rules.cards import card, cards
from rummyarena_rules.events import (
    EVENT_KINDS,
    DealEnded,
    HandDealt,
    Knocked,
    PenaltyCharged,
    StockDrawn,
    WindowClosed,
)
from rummyarena_rules.events import Event as RulesEvent
from rummyarena_rules.moves import Discard, Draw
from rummyarena_rules.moves import Move as RulesMove
from rummyarena_rules.notation import move_text
from rummyarena_rules.ruleset import Candidates, Reason, Refusal
from rummyarena_rules.thai import THAI, ThaiOptions
from rummyarena_server import wire
from tests.sdk.dealt import FIRST, HAND, STATE, asked, decision_of, said, setup_of, view_of


def answers(request: play_pb2.PlayRequest | None) -> list[tuple[str, str, list[RulesMove | Refusal]]]:
    assert request is not None
    return [(one.game_id, one.decision_id, list(wire.read_answer(one))) for one in request.answers]


class Diary:
    """A bot that answers from a list, and writes down what it is told."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.lines: list[Any] = []

    def decide(self, decision: Decision) -> Answer:
        self.lines.append(decision)
        return self._answers.pop(0)

    def game_started(self, game: Game) -> None:
        self.lines.append(game)

    def observe(self, game: Game, events: Sequence[Event]) -> None:
        self.lines.append((game.game_id, [(one.sequence, one.kind) for one in events]))

    def game_over(self, game: Game, outcome: Outcome) -> None:
        self.lines.append((game.game_id, outcome))


# --- decisions -------------------------------------------------------------------------------------------------------


def test_a_function_is_a_bot() -> None:
    session = Session(lambda decision: decision.candidates[-1])
    assert answers(session.respond(said(asked("g", "1", first=True)))) == [("g", "1", [Draw()])]


def test_what_is_neither_function_nor_decides_is_no_bot() -> None:
    with pytest.raises(
        TypeError, match="42 is no bot: pass a function of a decision, or an object with a method decide"
    ):
        Session(42)  # type: ignore[arg-type]  # that is the test


def test_a_class_is_no_bot() -> None:
    with pytest.raises(TypeError, match=r"Diary is a class: pass one of its objects, Diary\(\)"):
        Session(Diary)  # type: ignore[arg-type]  # that is the test


def test_a_candidate_that_is_not_there_is_explained() -> None:
    decision = wire.encode_decision("1", ("draw",), Candidates((), complete=False), 0)
    session = Session(lambda one: one.candidates[0])
    with pytest.raises(IndexError, match=r"no candidates: ask for some \(candidate_limit\)"):
        session.respond(said(wire.encode_update("g", setup=setup_of(FIRST), decision=decision)))


def test_the_answers_to_one_message_are_one_message() -> None:
    session = Session(lambda _: draw())
    request = session.respond(
        said(asked("a", "1", first=True), asked("b", "5", first=True), asked("c", "9", first=True))
    )
    assert answers(request) == [("a", "1", [Draw()]), ("b", "5", [Draw()]), ("c", "9", [Draw()])]


@pytest.mark.parametrize(
    ("answer", "moves"),
    [
        (draw(), [Draw()]),
        ("draw", [Draw()]),
        ([draw(), discard("KD")], [Draw(), Discard(card("KD"))]),
        (("draw", discard("KD")), [Draw(), Discard(card("KD"))]),
        (iter(["discard KD"]), [Discard(card("KD"))]),
    ],
)
def test_an_answer_is_a_move_its_text_or_several(answer: Answer, moves: list[RulesMove]) -> None:
    assert answers(Session(lambda _: answer).respond(said(asked("g", "1", first=True)))) == [("g", "1", moves)]


@pytest.mark.parametrize(
    ("answer", "error", "sentence"),
    [
        (None, TypeError, "the bot answered None: return a move, such as decision.candidates"),
        (42, TypeError, "the bot answered 42"),
        ([], ValueError, "the bot answered no move"),
        ([None], TypeError, "the bot answered None, which is neither a move nor its text"),
        ("discard XX", ValueError, "'discard XX' is not a move: write it like draw"),
    ],
)
def test_any_other_answer_is_an_error_of_the_bot(answer: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        Session(lambda _: answer).respond(said(asked("g", "1", first=True)))


def test_news_without_a_decision_owe_nothing() -> None:
    session = Session(lambda _: pytest.fail("nothing was asked"))
    assert session.respond(said(wire.encode_welcome("s", "0.1.0", 4))) is None
    assert session.respond(said(wire.encode_update("g", setup=setup_of(0)))) is None
    assert session.respond(said(wire.encode_going_away("enough"))) is None
    assert session.server_version == "0.1.0"


def test_a_decision_shows_what_the_seat_may_see() -> None:
    bot = Diary("draw")
    Session(bot).respond(said(asked("g", "17", first=True)))
    decision = bot.lines[-1]
    assert (decision.game_id, decision.decision_id, decision.seat) == ("g", "17", FIRST)
    assert " ".join(map(str, decision.view.hand)) == " ".join(map(str, HAND))
    assert decision.verbs == ("take", "draw")
    offered = THAI.candidates(THAI.view(STATE, FIRST), 64)
    assert [str(one) for one in decision.candidates] == [move_text(one) for one in offered.moves]
    assert decision.candidates[-1] == draw()
    assert list(decision.candidates[-1:]) == [draw()]
    assert repr(decision.candidates).endswith("draw]")
    assert decision.complete is offered.complete
    assert (decision.time_left, decision.bank) == (65.0, None)
    assert decision.rejection is None


def test_the_random_numbers_of_a_decision_are_its_own() -> None:
    drawn: list[float] = []

    def bot(decision: Decision) -> str:
        drawn.append(decision.random.random())
        return "draw"

    for decision_id, seed in (("1", 7), ("2", 7), ("3", 8)):
        session = Session(bot)
        session.respond(said(asked("g", decision_id, first=True, seed=seed)))
    assert drawn[0] == drawn[1] != drawn[2]


# --- news ------------------------------------------------------------------------------------------------------------


def test_a_game_is_told_from_its_set_up_to_its_end() -> None:
    bot = Diary("draw")
    session = Session(bot)
    event = wire.encode_event(4, StockDrawn(0))
    session.respond(said(wire.encode_update("g", setup=setup_of(FIRST), events=[event])))
    session.respond(said(asked("g", "1")))
    over = wire.encode_game_over(ranks=(1, 2), totals=(300, -5), deals=[(300, -5)], forfeits=[(1, "gone")])
    session.respond(said(wire.encode_update("g", over=over)))

    game, observed, _, ended = bot.lines
    assert game == Game(
        game_id="g",
        ruleset="thai",
        rules_version=1,
        options={"target_score": 250, "head_card": True},
        seats=2,
        seat=FIRST,
        bot_names=("Ann", "Bob"),
        seed_digest=bytes(32),
        decision_seconds=5.0,
        bank_seconds=60.0,
        increment_seconds=0.5,
    )
    assert observed == ("g", [(4, "stock_drawn")])
    assert ended == ("g", Outcome((1, 2), (300, -5), ((300, -5),), ((1, "gone"),), None))


def test_events_are_read_as_values_of_the_sdk() -> None:
    ended = DealEnded("knock", 1, card("7H"), True, (cards("7C JK"), ()), (-5, 300), (-5, 300), over=False)
    told: list[RulesEvent] = [
        HandDealt(0, 2, cards("2C JK")),
        HandDealt(1, 11),
        PenaltyCharged(0, "head_card", card("KD")),
        Knocked(1, dark=False),
        WindowClosed(None),
        ended,
    ]
    encoded = [wire.encode_event(sequence, event) for sequence, event in enumerate(told, 1)]
    bot = Witness()
    Session(bot).respond(said(wire.encode_update("g", setup=setup_of(0), events=encoded)))
    mine, theirs, charged, knocked, closed, over = bot.events
    assert (mine["seat"], mine["count"], mine["cards"]) == (0, 2, rummyarena.cards("2C JK"))
    assert (theirs["count"], theirs["cards"]) == (11, None)
    assert (charged["rule"], charged["card"]) == ("head_card", rummyarena.card("KD"))
    assert (knocked["dark"], knocked["card"]) == (False, None)
    assert closed["buyer"] is None
    assert (over["end"], over["hands"], over["scores"]) == ("knock", (rummyarena.cards("7C JK"), ()), (-5, 300))
    assert str(charged) == "penalty_charged seat=0 rule=head_card card=KD"
    with pytest.raises(KeyError):
        mine["meld"]


@pytest.mark.parametrize("kind", EVENT_KINDS)
def test_no_event_is_a_surprise(kind: type[Any]) -> None:
    """An event of every kind with nothing in it, as from a server that leaves out what is zero."""
    (arm,) = [
        one.name
        for one in event_pb2.Event.DESCRIPTOR.oneofs_by_name["kind"].fields
        if one.message_type is not None and one.message_type.name == kind.__name__
    ]
    message = event_pb2.Event(sequence=1)
    getattr(message, arm).SetInParent()
    bot = Witness()
    Session(bot).respond(play_pb2.PlayResponse(updates=[play_pb2.GameUpdate(game_id="g", events=[message])]))
    (event,) = bot.events
    assert event.kind == arm
    assert all(event[one.name] != [] for one in event.details.DESCRIPTOR.fields)  # lists are tuples
    assert str(event).startswith(arm)


class Witness:
    """A bot that keeps the events it is told."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def decide(self, decision: Decision) -> Answer:
        return "draw"

    def observe(self, game: Game, events: Sequence[Event]) -> None:
        self.events += events


def test_events_are_asked_for_by_a_bot_that_observes() -> None:
    assert Session(Diary()).wants == play_pb2.WANTS_BOTH
    assert Session(lambda _: draw()).wants == play_pb2.WANTS_VIEW


def test_what_only_a_newer_server_knows_is_passed_over() -> None:
    bot = Diary("draw")
    session = Session(bot)
    unknown_event = b"\x08\x05\xfa\x01\x00"  # sequence 5, an arm number 31
    unknown_candidate = b"\x1a\x03\xfa\x01\x00"  # a candidate of the same kind
    unknown_option = b"\x1a\x07\x0a\x05magic"
    unknown_field = b"\xfa\x01\x00"
    update = wire.encode_update(
        "g",
        setup=setup_of(FIRST) + unknown_option + unknown_field,
        events=[unknown_event, wire.encode_event(6, StockDrawn(0))],
        view=view_of(STATE, FIRST),
        decision=unknown_candidate + decision_of(STATE, FIRST, "1"),
    )
    assert answers(session.respond(said(update, unknown_field))) == [("g", "1", [Draw()])]
    game, observed, decision = bot.lines
    assert "magic" not in game.options
    assert observed == ("g", [(6, "stock_drawn")])
    assert len(decision.candidates) == len(THAI.candidates(THAI.view(STATE, FIRST), 64).moves)


NOT_BORN = Refusal(Reason.NOT_BORN, "take from the row first")
UNKNOWN_FIELD = b"\xc2\xbb\x01\x00"  # number 3000, nothing in it


def of_the_future(message: Message) -> None:
    """Gives a message, and every message in it, a field that this SDK does not know."""
    for _, value in message.ListFields():
        for one in value if isinstance(value, Sequence) else (value,):
            if isinstance(one, Message):
                of_the_future(one)
    message.MergeFromString(UNKNOWN_FIELD)


def test_unknown_fields_change_nothing_wherever_they_are() -> None:
    heard = []
    for is_newer in (False, True):
        bot = Diary("meld 7C 7D 7H", "draw")
        session = Session(bot)
        events = [wire.encode_event(1, PenaltyCharged(0, "foolish", card("KD"))), wire.encode_event(2, StockDrawn(0))]
        over = wire.encode_game_over(ranks=(1, 2), totals=(300, -5), deals=[(300, -5)], forfeits=[(1, "gone")])
        answered = []
        for response in (
            said(wire.encode_welcome("s", "0.1.0", 4), wire.encode_update("g", setup=setup_of(FIRST), events=events)),
            said(asked("g", "1")),
            said(wire.encode_rejection("g", "1", 0, NOT_BORN, 2), wire.encode_going_away("enough")),
            said(wire.encode_update("g", over=over)),
        ):
            if is_newer:
                of_the_future(response)
            answered.append(session.respond(response))
        heard.append((answered, [str(one) for one in bot.lines if not isinstance(one, Decision)]))
    assert heard[0] == heard[1]


def test_words_that_only_a_newer_server_knows_are_unknown_or_left_out() -> None:
    update = play_pb2.GameUpdate(
        game_id="g",
        events=[
            event_pb2.Event(sequence=1, deal_ended=event_pb2.DealEnded(end=event_pb2.DealEnd.ValueType(99))),
            event_pb2.Event(
                sequence=2,
                penalty_charged=event_pb2.PenaltyCharged(
                    rule=event_pb2.PenaltyRule.ValueType(99), card=card_pb2.Card.ValueType(99)
                ),
            ),
        ],
        decision=view_pb2.Decision(decision_id="1", verbs=[move_pb2.VERB_DRAW, move_pb2.Verb.ValueType(99)]),
    )
    witness, bot = Witness(), Diary("draw")
    for one in (witness, bot):
        Session(one).respond(play_pb2.PlayResponse(updates=[update]))
    ended, charged = witness.events
    assert (ended["end"], charged["rule"], charged["card"]) == ("unknown", "unknown", None)
    assert bot.lines[-1].verbs == ("draw",)

    forfeit = play_pb2.Forfeit(seat=1, reason=play_pb2.ForfeitReason.ValueType(99))
    over = play_pb2.GameUpdate(game_id="g", over=play_pb2.GameOver(ranks=[1, 2], forfeits=[forfeit]))
    Session(bot).respond(play_pb2.PlayResponse(updates=[over]))
    assert bot.lines[-1][1].forfeits == ((1, "unknown"),)


# --- refusals --------------------------------------------------------------------------------------------------------


def test_a_refused_bot_is_asked_again_and_told_why(caplog: pytest.LogCaptureFixture) -> None:
    bot = Diary("meld 7C 7D 7H", "draw")
    session = Session(bot)
    session.respond(said(asked("g", "1", first=True)))
    request = session.respond(said(wire.encode_rejection("g", "1", 0, NOT_BORN, 2)))
    assert answers(request) == [("g", "1", [Draw()])]
    rejection = bot.lines[-1].rejection
    assert (rejection.reason, rejection.message, rejection.index, rejection.attempts_left) == (
        "not_born",
        "take from the row first",
        0,
        2,
    )
    assert [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING] == [
        "game g: move 1 of the answer was refused (not_born): take from the row first"
    ]


def test_the_random_numbers_go_on_when_a_bot_is_asked_again() -> None:
    drawn: list[float] = []

    def bot(decision: Decision) -> str:
        drawn.append(decision.random.random())
        return "draw"

    session = Session(bot)
    session.respond(said(asked("g", "1", first=True)))
    session.respond(said(wire.encode_rejection("g", "1", 0, NOT_BORN, 2)))
    assert drawn[0] != drawn[1]


def test_moves_before_the_refused_one_stand_and_the_next_decision_tells_why() -> None:
    bot = Diary(["draw", "meld 7C 7D 7H"], "draw")
    session = Session(bot)
    session.respond(said(asked("g", "1", first=True)))
    assert session.respond(said(wire.encode_rejection("g", "1", 1, NOT_BORN, 2))) is None
    assert answers(session.respond(said(asked("g", "2")))) == [("g", "2", [Draw()])]
    assert bot.lines[-1].rejection.reason == "not_born"


def test_a_refusal_and_the_next_decision_in_one_message_are_one_question() -> None:
    bot = Diary(["draw", "meld 7C 7D 7H"], "draw")
    session = Session(bot)
    session.respond(said(asked("g", "1", first=True)))
    request = session.respond(said(asked("g", "2"), wire.encode_rejection("g", "1", 1, NOT_BORN, 2)))
    assert answers(request) == [("g", "2", [Draw()])]
    assert bot.lines[-1].rejection.reason == "not_born"


def test_after_the_last_attempt_and_for_a_stale_answer_nothing_is_owed() -> None:
    session = Session(Diary("meld 7C 7D 7H"))
    session.respond(said(asked("g", "1", first=True)))
    assert session.respond(said(wire.encode_rejection("g", "1", 0, NOT_BORN, 0))) is None
    assert session.respond(said(wire.encode_stale_rejection("g", "1"))) is None
    assert session.respond(said(wire.encode_stale_rejection("of no game of ours", "1"))) is None


def test_a_decision_that_closed_meanwhile_is_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    session = Session(lambda _: draw())
    session.respond(said(asked("g", "1", first=True)))
    with caplog.at_level(logging.DEBUG, "rummyarena"):
        session.respond(said(wire.encode_stale_rejection("g", "1")))
    assert [one.levelno for one in caplog.records] == [logging.DEBUG]
    assert "stale_decision" in caplog.text


def test_a_bot_that_is_late_is_told_how_late(caplog: pytest.LogCaptureFixture) -> None:
    decision = wire.encode_decision("1", ("draw",), Candidates((), complete=False), 0, time_left=0)
    Session(lambda _: draw()).respond(said(wire.encode_update("g", setup=setup_of(FIRST), decision=decision)))
    (warning,) = [one.getMessage() for one in caplog.records]
    assert "where 0.000 s were left" in warning
    assert "max_concurrent_games" in warning


def test_a_reason_of_the_future_is_unknown() -> None:
    bot = Diary("draw", "draw")
    session = Session(bot)
    session.respond(said(asked("g", "1", first=True)))
    message = said(wire.encode_rejection("g", "1", 0, NOT_BORN, 2))
    message.rejections[0].rejection.reason = 9999  # type: ignore[assignment]  # a number that no version knows yet
    session.respond(message)
    assert bot.lines[-1].rejection.reason == "unknown"


# --- whole games -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_bots_play_whole_games_by_candidates_alone(seed: int) -> None:
    sessions = (Session(lambda one: one.candidates[0]), Session(lambda one: one.random.choice(one.candidates)))
    state = THAI.start(ThaiOptions(max_deals=3), 2, bytes([seed]) * 32)
    number = 0
    while not state.public.over:
        played = {}
        for seat in THAI.decisions(state):
            number += 1
            update = wire.encode_update(
                "g", view=view_of(state, seat), decision=decision_of(state, seat, str(number), seed=number)
            )
            ((_, _, (move,)),) = answers(sessions[seat].respond(said(update)))
            assert not isinstance(move, Refusal)
            assert THAI.check(THAI.view(state, seat), move) is None
            played[seat] = move
        for event in THAI.resolve(state, played) if played else THAI.deal(state):
            THAI.evolve(state, event)
    assert state.public.deal == 3
