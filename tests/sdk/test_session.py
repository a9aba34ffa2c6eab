"""What a bot is told and asked, message by message, without a connection: referee says, bot says."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import pytest

from rummyarena import Answer, Decision, Event, Game, Outcome, discard, draw
from rummyarena.session import Session
from rummyarena.v1 import play_pb2
from rummyarena_rules.cards import card
from rummyarena_rules.events import StockDrawn
from rummyarena_rules.moves import Discard, Draw
from rummyarena_rules.moves import Move as RulesMove
from rummyarena_rules.notation import move_text
from rummyarena_rules.ruleset import Reason, Refusal
from rummyarena_rules.thai import THAI, ThaiOptions, ThaiState
from rummyarena_server import wire

STATE = THAI.start(ThaiOptions(), 2, bytes(32))
for _event in THAI.deal(STATE):
    THAI.evolve(STATE, _event)
FIRST = STATE.public.turn
HAND = STATE.privates[FIRST].hand


def view_of(state: ThaiState, seat: int) -> bytes:
    return wire.encode_view(wire.encode_public(state.public), seat, wire.encode_private(state.privates[seat]))


def decision_of(state: ThaiState, seat: int, decision_id: str, *, seed: int = 7) -> bytes:
    verbs = THAI.decisions(state)[seat].verbs
    return wire.encode_decision(
        decision_id, verbs, THAI.candidates(THAI.view(state, seat), 64), seed, time_left=65_000_000
    )


def setup_of(seat: int) -> bytes:
    return wire.encode_game_setup(
        ruleset="thai",
        rules_version=1,
        options=ThaiOptions(head_card=True, target_score=250),
        seats=2,
        seat=seat,
        bot_names=("Ann", "Bob"),
        seed_digest=bytes(32),
        time_control=(5_000_000, 60_000_000, 500_000),
    )


def asked(game_id: str, decision_id: str, *, first: bool = False, seed: int = 7) -> bytes:
    """The referee asks the seat on turn of the game that has just been dealt."""
    return wire.encode_update(
        game_id,
        setup=setup_of(FIRST) if first else None,
        view=view_of(STATE, FIRST),
        decision=decision_of(STATE, FIRST, decision_id, seed=seed),
    )


def said(*fields: bytes) -> play_pb2.PlayResponse:
    return play_pb2.PlayResponse.FromString(b"".join(fields))


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


# --- refusals --------------------------------------------------------------------------------------------------------

NOT_BORN = Refusal(Reason.NOT_BORN, "take from the row first")


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
