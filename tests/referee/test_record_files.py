"""Games survive being written to files of either form, and every mistake in a file is named with its line."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rummyarena_server.referee import record_files, record_json
from rummyarena_server.referee.clock import TimeControl
from rummyarena_server.referee.record import (
    Forfeit,
    Origin,
    RecordError,
    SeatedBot,
    WrittenGame,
    WrittenMove,
    WrittenPlay,
    WrittenResult,
    WrittenSeat,
    record_of,
    replay,
    to_json,
)
from rummyarena_server.referee.record_files import Form, read_games, written
from rummyarena_server.tournament.verification import check_game
from tests.records.example import example
from tests.records.making import late_at_1, play, write

FORMS: list[Form] = ["text", "json"]
RECORDS = Path(__file__).resolve().parents[1] / "records"


def read(text: str) -> list[WrittenGame]:
    return list(read_games(io.BytesIO(text.encode())))


@cache
def a_game() -> WrittenGame:
    """A game of three with a forfeit, by bots whose names upset terminals and parsers."""
    bots = (
        SeatedBot('"quoted": \\', "1: draw"),
        SeatedBot("\u202eright-to-left\u2028", ""),
        SeatedBot("骨牌 🂡", "v2 "),
    )
    return replace(write(play("thai", 3, {"max_deals": 1, "head_card": True}, late_at_1())), bots=bots)


# --- round trips -----------------------------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
numbers = st.integers(0, 10**15)
hashes = st.binary(min_size=32, max_size=32)
moments = st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis adds the zone
verdicts = st.sampled_from(["played", "late", "refused", "rest", "forfeited"])
move_texts = st.sampled_from(
    [None, "draw", "layoff m1 low: JK", "down 7H 7D 7S / 3C 4C 5C 6C", "knock 2D / meld 8H 8D 8S"]
)
options = st.dictionaries(
    texts, st.none() | st.booleans() | st.integers() | texts | st.lists(texts, max_size=3), max_size=3
)


@st.composite
def plays(draw: st.DrawFn, seats: int) -> WrittenPlay:
    seat = st.integers(0, seats - 1)
    moves = draw(st.lists(st.builds(WrittenMove, seat, move_texts, verdicts), max_size=6))
    reasons = st.sampled_from(["faults", "exited", "gone", "misuse"])
    forfeits = draw(st.lists(st.builds(Forfeit, seat, reasons, st.integers(0, len(moves))), max_size=3))
    return WrittenPlay(
        moves=tuple(moves),
        forfeits=tuple(sorted(forfeits, key=lambda one: one.moves)),
        events=draw(numbers),
        thinking=tuple(draw(st.lists(numbers, min_size=len(moves), max_size=len(moves)))),
    )


@st.composite
def games(draw: st.DrawFn) -> WrittenGame:
    seats = draw(st.integers(2, 8))
    seat = st.builds(
        WrittenSeat,
        rank=st.integers(1, 8),
        total=st.integers(-(10**12), 10**12),
        points=st.integers(-(10**12), 10**12),
        forfeit=st.sampled_from([None, "faults", "withdrawn"]),
        faults=st.integers(0, 9),
        thinking=numbers,
    )
    deals = draw(st.integers(0, 9))
    kept = draw(st.none() | plays(seats))
    origin = st.builds(
        Origin,
        tournament=texts,
        index=numbers,
        group=numbers,
        rotation=numbers,
        attempt=st.integers(0, 9),
        shares_deals=st.booleans(),
        secret_digest=st.none() | hashes,
        secret=st.none() | hashes,
    )
    return WrittenGame(
        id=draw(texts),
        ruleset="a game that this program does not know",
        rules_version=draw(st.integers(1, 9)),
        options=draw(options),
        seed=draw(hashes),
        digest=draw(hashes),
        bots=tuple(draw(st.lists(st.builds(SeatedBot, texts, texts), min_size=seats, max_size=seats))),
        time_control=draw(st.none() | st.builds(TimeControl, numbers, numbers, numbers)),
        play=kept,
        started_at=draw(st.none() | moments),
        finished_at=draw(st.none() | moments),
        lag=draw(numbers),
        origin=draw(st.none() | origin),
        result=WrittenResult(
            status="finished" if kept else draw(st.sampled_from(["finished", "unplayed"])),
            reason=draw(texts),
            rated=draw(st.booleans()),
            deals=deals,
            counted_deals=draw(st.integers(0, deals)),
            seats=tuple(draw(st.lists(seat, min_size=seats, max_size=seats))),
        ),
    )


@given(some=st.lists(games(), max_size=3), forms=st.lists(st.sampled_from(FORMS), min_size=3, max_size=3))
def test_games_survive_being_written(some: list[WrittenGame], forms: list[Form]) -> None:
    text = "".join(written(game, form) for game, form in zip(some, forms, strict=False))
    assert read(text) == some
    assert all(game.is_whole for game in read(text))


@given(game=games(), form=st.sampled_from(FORMS))
def test_nothing_in_a_file_upsets_a_terminal(game: WrittenGame, form: Form) -> None:
    assert all(line.isprintable() for line in written(game, form).split("\n"))


@pytest.mark.parametrize("form", FORMS)
def test_a_played_game_survives_being_written(form: Form) -> None:
    (game,) = read(written(a_game(), form))
    assert game == a_game()
    assert written(game, form) == written(a_game(), form)
    assert list(replay(record_of(game))) == list(replay(record_of(a_game())))


def test_only_what_stands_below_the_moves_differs_from_run_to_run() -> None:
    other = replace(a_game(), started_at=None, lag=7)
    lines, other_lines = (written(one, "text").split("\n") for one in (a_game(), other))
    differing = [line.partition(":")[0] for line, its in zip(lines, other_lines, strict=True) if line != its]
    assert differing == ["started", "lag", "checksum"]


def test_people_may_leave_notes_and_line_ends_of_their_own_in_a_text() -> None:
    text = written(a_game(), "text")
    noted = "\ufeff# from a friend\n" + text.replace("moves:", "# the moves\nmoves:").replace("\n", "\r\n") + "\r\n\r\n"
    assert read(noted + text) == [a_game(), a_game()]


def test_games_need_no_blank_line_between_them() -> None:
    assert read(written(a_game(), "text").strip() + "\n" + written(a_game(), "text").strip()) == [a_game(), a_game()]


def test_a_file_is_read_one_game_at_a_time() -> None:
    class Endless(io.RawIOBase):
        """A file that goes on for ever; whoever wants all of it does not come back."""

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            piece = next(pieces)
            buffer[: len(piece)] = piece
            return len(piece)

    line = written(a_game(), "text").encode()
    pieces = (line[at : at + 512] for _ in iter(int, 1) for at in range(0, len(line), 512))
    games = read_games(io.BufferedReader(Endless(), 512))
    assert [next(games) for _ in range(3)] == [a_game()] * 3


def test_the_example_of_the_page_is_as_it_is_written() -> None:
    page = (RECORDS.parents[1] / "docs" / "verification.md").read_text()
    (block,) = [one for one in page.split("```text\n")[1:] if one.startswith("format: 2")]
    assert block.partition("```")[0] == written(example(), "text").rstrip() + "\n"


def test_the_page_explains_every_field() -> None:
    page = (RECORDS.parents[1] / "docs" / "verification.md").read_text()
    names = {*record_json.HEAD, *record_json.TAIL, *record_json.seat_values(a_game(), 0), "seats", "moves", "forfeits"}
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []


# --- mistakes --------------------------------------------------------------------------------------------------------


def instead(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text, f"{old!r} is not there"
        return text.replace(old, new, 1)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (instead("format: 2", "format: 3"), "line 1, format: 3 where 2 is expected"),
        (instead("group: 8\n", ""), "the game that begins in line 1: the field group is missing"),
        (instead("group: 8", "group: 8\ngroup: 8"), "line 6, group: the field stands there twice"),
        (instead("group: 8", "gruop: 8"), "line 5, gruop: there is no field of this name; there are format, id"),
        (instead("group: 8", "group: eight"), "line 5, group: column 1: not JSON: .*; the value is written as JSON"),
        (instead("group: 8", "group: -8"), "line 5, group: -8 where a whole number from 0 to"),
        (instead("group: 8", "group: null"), "line 5, group: a game of a tournament has one"),
        (instead("group: 8", "group 8"), "line 5: 'group 8' is neither a field nor a move"),
        (instead('"Friday"', "null"), "line 10, secret: a game of no tournament has none"),
        (instead('"thai"', '"' + "x" * 2000 + '"'), "line 11, ruleset: 2000 characters; 1000 are the most"),
        (instead("seed: ", 'seed: "00"\n#'), 'line 16, seed: "00" where 64 hexadecimal digits'),
        (instead('digest: "', 'digest: "z'), "line 9, secret_digest: .* where 64 hexadecimal digits"),
        (instead("seat 1:", "seat 2:"), "line 24, seat 2: seats are listed in order, from 0; seat 1 is due"),
        (instead('"rank": 1', '"rank": 0'), "line 2[345], seat [012].rank: 0 where a whole number from 1 to 8"),
        (instead('"faults": 0, ', ""), "line 23, seat 0: the field faults is missing"),
        (instead("moves: ", "moves: 9999\n#"), r"line 26, moves: 9999 are said to be there, here are \d+"),
        (instead("moves: ", "moves: 3\n#"), "line 31: there are more than the 3 moves"),
        (instead("moves: ", "#"), "line 27: a move stands before the line that says how many"),
        (instead("1: draw [late]", "1: dance [late]"), 'line 27: "dance" where a move of thai is expected'),
        (instead("1: draw [late]", "7: draw [late]"), r"line 27\[0\]: 7 where a whole number from 0 to 2"),
        (instead("1: draw [late]", "1: draw [drunk]"), r'line 27\[2\]: "drunk" where .played'),
        (instead("forfeits: faults", "forfeits: rudeness"), r'line \d+\[1\]: "rudeness" where .faults'),
        (instead('started: "', 'started: "x'), "started: .* where a date and time of ISO 8601"),
        (instead("+00:00", ""), "started: .* with its offset from UTC"),
        (instead("thinking: [", "thinking: [1, "), "thinking: 4 times for 3 seats"),
        (instead("thinking_by_move: [", "thinking_by_move: [1, "), r"thinking_by_move: \d+ times for \d+ moves"),
        (instead("counted_deals: 0", "counted_deals: 2"), "counted_deals: more than there were deals"),
        (instead('status: "finished"', 'status: "unplayed"'), "status: it has moves, though it was not played"),
        (instead("checksum: ", "#"), "the game that begins in line 1: the field checksum is missing"),
        (lambda text: text.rstrip() + "\nlag: 7\n", r"line \d+: it stands behind the checksum"),
        (lambda text: text[: text.index("started:")], "the game that begins in line 1: the field checksum is missing"),
        (
            lambda text: "\n\n" + text[: text.index("seat 0:")],
            "the game that begins in line 3: the field moves is missing",
        ),
        (lambda _: "GIF89a", "line 1: 'GIF89a' is neither a field nor a move"),
    ],
)
def test_a_mistake_in_a_text_is_named_with_its_line(change: Callable[[str], str], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        read(change(written(a_game(), "text")))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (instead('"group":8', '"group":-8'), "line 1, group: -8 where a whole number"),
        (instead('"group":8,', ""), "line 1: the field group is missing"),
        (instead('"group":8', '"group":8,"group":8'), "line 1.group: the field stands there twice"),
        (instead('"seats":[', '"seats":{},"s":['), "line 1, seats: .* where a list is expected"),
        (instead('"seats":[', '"seats":[{},'), r"line 1, seats\[0\]: the field bot is missing"),
        (instead('"draw"', '"dance"'), r'line 1, moves\[0\]: "dance" where a move of thai'),
        (
            instead(',"forfeits":[[1,"faults"', ',"forfeits":[[1,"faults",99999],[1,"faults"'),
            r"forfeits\[0\]: it stands after",
        ),
        (lambda line: line[:500], r"line 1: column \d+: not JSON"),
        (lambda _: '{"format":2}', "line 1: the field seats is missing"),
        (lambda _: '{"format":' + "9" * 5000 + "}", "line 1: a number in it is too long"),
        (lambda _: '{"format":' + "[" * 100_000, "line 1: nested too deeply to be read"),
        (lambda line: line + line + line[:9], r"line 3: column \d+: not JSON"),
        (instead('"id":"', r'"id":"\ud800'), "line 1, id: half a character stands in it"),
    ],
)
def test_a_mistake_in_json_is_named_with_its_line(change: Callable[[str], str], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        read(change(written(a_game(), "json")))


def test_a_game_is_no_larger_than_can_be_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_files, "MOST_BYTES", 1500)
    with pytest.raises(RecordError, match="line 1 is longer than"):
        read("x" * 1501)
    with pytest.raises(RecordError, match=r"line \d+: the game that begins in line 1 is longer than"):
        read(written(a_game(), "text"))


def test_what_is_no_text_at_all_is_named() -> None:
    with pytest.raises(RecordError, match="line 2: byte 3 of it is no UTF-8 text"):
        list(read_games(io.BytesIO(b"# one\nabc\xff\n")))


def test_a_game_of_other_rules_can_be_read_but_not_replayed() -> None:
    (game,) = read(written(replace(a_game(), rules_version=9), "text"))
    assert game.bots == a_game().bots
    with pytest.raises(RecordError, match="version 9 of the rules of thai, this program plays version 1"):
        record_of(game)


def test_what_was_not_kept_is_said_to_be_so() -> None:
    (game,) = read(written(replace(a_game(), play=None), "text"))
    assert game.play is None
    with pytest.raises(RecordError, match="its moves were not kept"):
        record_of(game)


def test_a_game_whose_result_is_not_known_cannot_be_written() -> None:
    with pytest.raises(ValueError, match=r"the result of game 1\.17\.0 is not known"):
        written(replace(a_game(), result=None), "json")


# --- files of older versions -----------------------------------------------------------------------------------------


def test_records_of_format_1_are_read_as_databases_hold_them() -> None:
    games = list(read_games(io.BytesIO((RECORDS / "format_1.jsonl").read_bytes())))
    assert [(game.ruleset, len(game.bots), game.result) for game in games] == [
        ("thai", 3, None),
        ("liverpool", 4, None),
    ]
    for game in games:
        findings = {one.check: one.right for one in check_game(game)}
        assert findings["moves"]
        assert False not in findings.values()


@pytest.mark.parametrize("name", ["format_2.txt", "format_2.jsonl"])
def test_files_of_format_2_are_read_for_ever(name: str) -> None:
    games = list(read_games(io.BytesIO((RECORDS / name).read_bytes())))
    assert [(game.ruleset, len(game.bots)) for game in games] == [("thai", 3), ("liverpool", 4)]
    for game in games:
        assert {one.check: one.right for one in check_game(game)} == dict.fromkeys(
            ("checksum", "digest", "seed", "moves", "verdicts", "result", "times"), True
        )


def test_format_1_is_written_as_it_always_was() -> None:
    texts = (RECORDS / "format_1.jsonl").read_text().splitlines()
    games = read_games(io.BytesIO((RECORDS / "format_1.jsonl").read_bytes()))
    assert [json.loads(to_json(record_of(game))) for game in games] == [json.loads(text) for text in texts]
