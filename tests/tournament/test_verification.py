"""What was played is found right, and whatever is changed in a record afterwards is found out."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from rummyarena_rules.reading import ReadingError
from rummyarena_server.referee import record_json
from rummyarena_server.referee.clock import SECOND
from rummyarena_server.referee.record import (
    Forfeit,
    RecordError,
    SeatedBot,
    WrittenGame,
    WrittenMove,
    WrittenPlay,
    WrittenResult,
    WrittenSeat,
    read_stored,
    to_json,
)
from rummyarena_server.referee.record_files import Form, read_games, written
from rummyarena_server.tournament.verification import Finding, check_game
from tests.records.example import Leaving
from tests.records.making import ORIGIN, late_at_1, play, write
from tests.records.unruly import unruly_game
from tests.referee.helpers import Bot

MADE_OF_A_RECORD = ["digest", "seed", "moves", "verdicts", "result", "times"]


def found(game: WrittenGame) -> list[Finding]:
    """Returns what is found out about a game, whatever checksum it has."""
    return [one for one in check_game(game) if one.check != "checksum"]


def verdicts(game: WrittenGame) -> dict[str, bool | None]:
    return {one.check: one.right for one in found(game)}


def wrong(game: WrittenGame) -> list[Finding]:
    return [one for one in found(game) if one.right is False]


def play_of(game: WrittenGame) -> WrittenPlay:
    assert game.play is not None
    return game.play


def result_of(game: WrittenGame) -> WrittenResult:
    assert game.result is not None
    return game.result


# --- right -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ruleset", "seats", "options"),
    [
        ("thai", 2, {"max_deals": 3, "stock_exhausted": "reshuffle"}),
        ("thai", 4, {"max_deals": 2, "head_card": True, "pickup_layoff": True}),
        ("liverpool", 3, {"max_turns_per_deal": 12, "cut_mode": "choose"}),
        ("liverpool", 5, {"max_turns_per_deal": 10}),
    ],
)
def test_a_game_as_it_was_played_is_right(ruleset: str, seats: int, options: dict[str, object]) -> None:
    game = write(play(ruleset, seats, options))
    assert verdicts(game) == dict.fromkeys(MADE_OF_A_RECORD, True), wrong(game)


@pytest.mark.parametrize("ruleset", ["thai", "liverpool"])
@pytest.mark.parametrize("seats", [3, 4])
@pytest.mark.parametrize("clock", [True, False])
@pytest.mark.parametrize("answers", [0, 1, 2, 7])
def test_a_game_with_forfeits_is_right(ruleset: str, seats: int, clock: bool, answers: int) -> None:
    players = {0: Leaving(answers, "gone"), 1: Bot() if clock else Leaving(answers + 1, "misuse")}
    game = write(play(ruleset, seats, players=players, **({} if clock else {"clock": None})))
    assert verdicts(game) == dict.fromkeys(MADE_OF_A_RECORD, True), wrong(game)


def test_a_game_that_forfeits_end_is_right() -> None:
    for game in (write(play(players=late_at_1())), write(play(players={0: Leaving(3), 1: Leaving(5)}))):
        assert verdicts(game) == dict.fromkeys(MADE_OF_A_RECORD, True), wrong(game)


def test_a_game_begun_without_a_bot_that_was_withdrawn_is_right() -> None:
    game = write(play(seats=3, players={2: Leaving(0)}), withdrawn=[2])
    assert verdicts(game) == dict.fromkeys(MADE_OF_A_RECORD, True), wrong(game)


@pytest.mark.parametrize("seed", range(40))
def test_a_game_of_bots_that_do_everything_wrong_is_right(seed: int) -> None:
    assert wrong(write(unruly_game(seed))) == []


def test_deals_that_a_group_shares_follow_from_the_group_alone() -> None:
    game = write(play(), origin=replace(ORIGIN, shares_deals=True))
    (finding,) = wrong(game)
    assert finding.check == "seed"


# --- what cannot be checked ------------------------------------------------------------------------------------------


def unchecked(game: WrittenGame) -> dict[str, str]:
    assert wrong(game) == []
    return {one.check: one.found for one in found(game) if one.right is None}


def test_a_secret_that_is_not_revealed_is_missed() -> None:
    game = write(play(), origin=replace(ORIGIN, secret=None))
    assert unchecked(game) == {"seed": "the tournament's secret is not revealed"}


def test_moves_that_were_not_kept_are_missed() -> None:
    missed = unchecked(replace(write(play()), play=None))
    assert missed == dict.fromkeys(("moves", "verdicts", "result"), "its moves were not kept")


def test_other_rules_are_said_to_be_so() -> None:
    missed = unchecked(replace(write(play()), rules_version=7))
    assert "the record is of version 7 of the rules of thai, this program plays version 1" in missed["moves"]
    assert missed.keys() == {"moves", "verdicts", "result"}


def test_a_record_of_format_1_says_neither_result_nor_tournament() -> None:
    missed = unchecked(read_stored(to_json(play().record)))
    assert missed.keys() == {"digest", "seed", "result"}


def an_unplayed_game(**changes: Any) -> WrittenGame:
    seat = WrittenSeat(rank=1, total=0, points=0, forfeit=None, faults=0, thinking=0)
    result = WrittenResult(
        status="unplayed",
        reason="withdrawn",
        rated=True,
        deals=0,
        counted_deals=0,
        seats=(seat, replace(seat, rank=2, forfeit="withdrawn")),
    )
    game = write(play())
    return replace(game, play=None, started_at=None, finished_at=None, result=replace(result, **changes))


def test_a_game_decided_before_it_began_has_a_result_to_check() -> None:
    assert unchecked(an_unplayed_game()).keys() == {"moves", "verdicts", "times"}
    nobody_absent = tuple(replace(one, forfeit=None) for one in result_of(an_unplayed_game()).seats)
    assert "2 bots were there to play it" in wrong(an_unplayed_game(seats=nobody_absent))[0].found


# --- wrong -----------------------------------------------------------------------------------------------------------


@cache
def a_game() -> WrittenGame:
    """A game with late moves, a forfeit and moves that were not asked for any more."""
    return write(play("thai", 3, {"max_deals": 1}, late_at_1()))


def is_found_out(change: Callable[[dict[str, Any]], object]) -> bool:
    """Tells whether a change to the JSON of a game is refused by the reader, or found by a check."""
    document = json.loads(record_json.to_json(a_game()))
    change(document)
    try:
        return bool(wrong(record_json.from_json("line 1", document, "")))
    except ReadingError:
        return True


def put(*path: Any, value: object) -> Callable[[dict[str, Any]], None]:
    def change(document: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        assert document[path[-1]] != value
        document[path[-1]] = value

    return change


def field_changes() -> list[Any]:
    other = "ff" * 32
    changes: dict[tuple[Any, ...], Sequence[object]] = {
        ("format",): [1, 3],
        ("index",): [24, 26],
        ("group",): [7, 9],
        ("rotation",): [0, 2],
        ("attempt",): [1],
        ("shared_deals",): [True],
        ("secret_digest",): [other, None],
        ("secret",): [other],
        ("ruleset",): ["liverpool"],
        ("options",): [
            {},
            {"max_deals": 2},
            {"max_deals": 1, "head_card": True},
            {"max_deals": -4},
            {"max_deals": "one"},
            {"decks": 3},
        ],
        ("clock",): [
            None,
            [11 * SECOND, 20 * SECOND, SECOND],
            [10 * SECOND, 21 * SECOND, SECOND],
            [10 * SECOND, 20 * SECOND, 2 * SECOND],
        ],
        ("digest",): [other],
        ("seed",): [other],
        ("status",): ["unplayed"],
        ("reason",): ["", "withdrawn"],
        ("rated",): [False],
        ("deals",): [0, 2],
        ("counted_deals",): [1, 2],
        ("events",): [0, play_of(a_game()).events - 1, play_of(a_game()).events + 1, 10**15],
        ("moves",): [None, []],
        ("forfeits",): [None, [], [[1, "exited", 0]], [[1, "faults", 1]], [[0, "faults", 12]]],
        ("thinking",): [[0, 0, 0], [0, 0]],
        ("finished",): ["2026-03-04T05:06:07+00:00"],
        ("thinking_by_move",): [None, [], [0] * (len(play_of(a_game()).moves) + 1)],
    }
    for seat in range(3):
        changes |= {("seats", seat, "rank"): [result_of(a_game()).seats[seat].rank % 3 + 1]}
        for name in ("total", "points", "faults"):
            was = getattr(result_of(a_game()).seats[seat], name)
            changes |= {("seats", seat, name): [was + 1, was - 1]}
        changes |= {("seats", seat, "forfeit"): ["withdrawn", "gone"]}
    return [pytest.param(*path, value, id=f"{path} {value}") for path, values in changes.items() for value in values]


@pytest.mark.parametrize("path_and_value", [one.values for one in field_changes()], ids=str)
def test_a_changed_field_is_found_out(path_and_value: tuple[Any, ...]) -> None:
    *path, value = path_and_value
    assert is_found_out(put(*path, value=value))


def test_every_field_is_changed_above_but_those_that_nothing_can_prove() -> None:
    changed = {one.values[0] for one in field_changes()}
    names = {*record_json.HEAD, *record_json.TAIL, "seats", "moves", "forfeits"}
    assert names - changed == {"id", "tournament", "rules_version", "started", "lag"}


def test_every_move_that_is_left_out_is_missed() -> None:
    for number in range(len(play_of(a_game()).moves)):

        def leave_out(document: dict[str, Any], number: int = number) -> None:
            del document["moves"][number]
            document["thinking_by_move"][number - 1 if number else 1] += document["thinking_by_move"].pop(number)

        assert is_found_out(leave_out), number


def test_every_move_that_is_exchanged_for_one_that_is_not_legal_is_found_out() -> None:
    for number in range(len(play_of(a_game()).moves)):
        for text in ("layoff m99: 2C", "dance", "gibberish XX", "", None):

            def exchange(document: dict[str, Any], number: int = number, text: str | None = text) -> None:
                document["moves"][number][1] = text

            assert is_found_out(exchange), (number, text)


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_checksum_finds_any_other_character(form: Form) -> None:
    lines = written(a_game(), form)
    for at in range(0, len(lines) - 1, 7):
        other = "7" if lines[at] != "7" else "8"
        try:
            games = list(read_games(io.BytesIO(f"{lines[:at]}{other}{lines[at + 1 :]}".encode())))
        except RecordError:
            continue
        assert [one.right for game in games for one in check_game(game) if one.check == "checksum"] == [False], at


def test_every_verdict_that_is_changed_is_found_out() -> None:
    for number, one in enumerate(play_of(a_game()).moves):
        for verdict in {"played", "late", "refused", "rest", "forfeited"} - {one.verdict}:

            def judge(document: dict[str, Any], number: int = number, verdict: str = verdict) -> None:
                document["moves"][number] = [*document["moves"][number][:2], verdict]

            assert is_found_out(judge), (number, one, verdict)


def test_every_thinking_time_that_is_changed_is_found_out() -> None:
    for number in range(len(play_of(a_game()).moves)):

        def think(document: dict[str, Any], number: int = number) -> None:
            document["thinking_by_move"][number] += 1

        assert is_found_out(think), number


def test_a_finding_names_the_move_and_what_was_expected() -> None:
    document = json.loads(record_json.to_json(a_game()))
    document["moves"][1][1] = "discard 2C"
    (finding, *_) = wrong(record_json.from_json("line 1", document, ""))
    assert finding.check in ("moves", "verdicts")
    assert finding.found.startswith("move 1: seat 1 ")


def played_as(game: WrittenGame, **changes: Any) -> WrittenGame:
    return replace(game, play=replace(play_of(game), **changes))


def told(game: WrittenGame, check: str) -> str:
    """Returns what a check found wrong."""
    return next(one.found for one in wrong(game) if one.check == check)


def test_what_cannot_be_a_game_of_the_rules_is_wrong_and_not_unchecked() -> None:
    game = a_game()
    for changes in (
        {"options": {"max_deals": -4}},
        {"options": {"max_deals": -4}, "play": None},
        {"bots": game.bots[:1]},
        {"play": replace(play_of(game), moves=(WrittenMove(0, "dance", "played"), *play_of(game).moves[1:]))},
        {"play": replace(play_of(game), thinking=(*play_of(game).thinking, 0))},
    ):
        assert {one.check: one.right for one in check_game(replace(game, result=None, **changes))}["moves"] is False


def test_a_group_has_no_more_rotations_than_its_tables_have_seats() -> None:
    game = write(play(), origin=replace(ORIGIN, index=21, rotation=5, secret=None))
    assert told(game, "seed") == "group 8, rotation 5, attempt 0 is not what game 21 plays"


def test_a_game_that_goes_on_after_its_forfeits_is_found_out() -> None:
    game = played_as(write(play()), forfeits=(Forfeit(1, "exited", 1),))
    assert told(game, "moves") == "move 1: the game was over by forfeits, but goes on"


def test_a_seat_that_is_forfeited_twice_is_found_out() -> None:
    game = write(play("thai", 4, {"max_deals": 1}, late_at_1()))
    (forfeit,) = play_of(game).forfeits
    assert "seat 1 is forfeited more than once" in told(played_as(game, forfeits=(forfeit, forfeit)), "verdicts")


def test_forfeits_in_another_order_are_found_out() -> None:
    game = write(play("thai", 4, {"max_deals": 1}, {0: Leaving(1), 1: Leaving(3)}))
    assert wrong(game) == []
    first, second = play_of(game).forfeits
    swapped = played_as(game, forfeits=(second, first))
    assert "the forfeits do not stand in the order in which they came" in told(swapped, "verdicts")


def test_time_for_a_move_that_was_not_asked_for_is_found_out() -> None:
    moves, thinking = play_of(a_game()).moves, list(play_of(a_game()).thinking)
    number = next(number for number, one in enumerate(moves) if one.verdict == "rest")
    thinking[number] = 5
    found_wrong = told(played_as(a_game(), thinking=tuple(thinking)), "verdicts")
    assert found_wrong == f"move {number}: seat 1 was not asked, but took 5 microseconds"


def test_a_bot_that_was_not_there_is_not_found_out() -> None:
    """Names are nobody's to prove; in a database they are compared with the entrants."""
    game = a_game()
    assert wrong(replace(game, bots=(SeatedBot("another"), *game.bots[1:]))) == []
