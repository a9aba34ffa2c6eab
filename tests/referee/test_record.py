"""The record of a game gives the game again and survives being written."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
import trio
import trio.testing

from rummyarena_rules.cards import card
from rummyarena_rules.events import redact
from rummyarena_rules.moves import Discard, Down, Draw
from rummyarena_rules.notation import canonical
from rummyarena_rules.thai import THAI
from rummyarena_server.referee.clock import SECOND
from rummyarena_server.referee.record import GameRecord, RecordedMove, RecordError, from_json, replay, to_json
from tests.records.making import play
from tests.referee.helpers import TEN_SECONDS, Bot, after, hall, promptly, randomly, setup
from tests.referee.toy import TOY


async def a_game(**options: Any) -> tuple[GameRecord, Bot]:
    """A game of three in which seat 1 is late until it is forfeited; the bot is that of seat 2."""
    bot = Bot(promptly)
    async with hall() as room:
        outcome = await room.play(setup(3, time_control=TEN_SECONDS, **options), randomly(THAI), Bot(), bot)
        return outcome.record, bot


async def test_a_replay_gives_the_events_that_were_told(autojump_clock: trio.testing.MockClock) -> None:
    record, bot = await a_game()
    assert bot.told == [(number, redact(event, 2)) for number, event in enumerate(replay(record), 1)]


async def test_a_record_survives_being_written(autojump_clock: trio.testing.MockClock) -> None:
    record, _ = await a_game(options={"max_deals": 2, "head_card": True, "birth_turn_plays": "all"})
    record = replace(record, started_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    read = from_json(to_json(record))
    assert read == record
    assert (read.thinking, read.started_at, read.finished_at) == (record.thinking, record.started_at, None)
    assert to_json(read) == to_json(record)
    assert list(replay(read)) == list(replay(record))


async def test_a_record_with_windows_survives_being_written(autojump_clock: trio.testing.MockClock) -> None:
    async with hall() as room:
        outcome = await room.play(setup(4, ruleset=TOY), *(Bot(promptly) for _ in range(4)))
    assert from_json(to_json(outcome.record), {"liverpool": TOY}) == outcome.record


def test_the_groups_of_a_down_keep_their_order_and_with_it_the_numbers_of_their_melds() -> None:
    """Else what is laid off later would go to another meld."""
    outcome = play("liverpool", 3, {"max_turns_per_deal": 12, "cut_mode": "choose"})
    record = outcome.record
    downs = [one.move for one in record.moves if isinstance(one.move, Down)]
    assert any(down != canonical("liverpool", down) for down in downs)
    assert list(replay(from_json(to_json(record)))) == list(replay(record))


async def test_only_the_times_differ_from_run_to_run(autojump_clock: trio.testing.MockClock) -> None:
    async def played(delay: int) -> GameRecord:
        async with hall() as room:
            outcome = await room.play(setup(), randomly(THAI), Bot(after(room.deadlines, delay)))
            return outcome.record

    quick, slow = await played(0), await played(3 * SECOND)
    assert quick == slow
    texts = [json.loads(to_json(record)) for record in (quick, slow)]
    assert texts[0]["game"] == texts[1]["game"]
    assert texts[0]["times"] != texts[1]["times"]


async def test_the_text_can_be_read_by_people(autojump_clock: trio.testing.MockClock) -> None:
    record, _ = await a_game()
    game = json.loads(to_json(record))["game"]
    assert game["moves"][:2] == [[1, "draw", "late"], [1, game["moves"][1][1], "rest"]]
    assert game["forfeits"] == [[1, "faults", record.forfeits[0].moves]]
    assert game["options"] == {"max_deals": 2}
    assert game["bots"] == [["bot 0", "1"], ["bot 1", "1"], ["bot 2", "1"]]
    assert game["clock"] == [10 * SECOND, 0, 0]


Change = Callable[[dict[str, Any]], None]


def put(*path: Any, value: object) -> Change:
    def change(document: dict[str, Any]) -> None:
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("format", value=2), r"record\.format: 2 where 1 is expected"),
        (put("game", "ruleset", value="whist"), 'there is no ruleset "whist"; there are thai'),
        (
            put("game", "rules_version", value=99),
            "the record is of version 99 of the rules of thai, this program plays",
        ),
        (put("game", "options", value={"max_deals": -1}), r"option max_deals = -1: allowed is"),
        (put("game", "seed", value="00"), "where 64 hexadecimal digits is expected"),
        (put("game", "bots", value=[["alone", ""]]), r"game\.moves\[0\]\[0\]: . where a whole number from 0 to 0"),
        (put("game", "moves", 0, value=[7, "draw"]), r"moves\[0\]\[0\]: 7 where a whole number from 0 to 2"),
        (put("game", "moves", 0, value=[1, "dance"]), r'move 0: "dance" is no move of thai'),
        (put("game", "moves", 0, value=[1, "draw", "drunk"]), r'moves\[0\]\[2\]: "drunk" where .played'),
        (put("game", "forfeits", 0, value=[1, "rude", 3]), r'forfeits\[0\]\[1\]: "rude" where .faults'),
        (put("game", "clock", value=[1, 2]), r"clock: \[1, 2\] where a list of 3"),
        (put("times", "thinking", value=[]), r"there are 0 thinking times for \d+ moves"),
        (put("times", "started", value="yesterday"), "where a date and time of ISO 8601 with its offset"),
        (put("game", "extra", value=1), r"record\.game\.extra: no such field"),
    ],
)
async def test_what_cannot_be_a_record_is_named(
    change: Change, message: str, autojump_clock: trio.testing.MockClock
) -> None:
    record, _ = await a_game()
    document = json.loads(to_json(record))
    change(document)
    with pytest.raises(RecordError, match=message):
        from_json(json.dumps(document))


def test_what_is_no_json_is_named() -> None:
    with pytest.raises(RecordError, match="line 1, column 2: not JSON"):
        from_json("{")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda record: replace(record, events=record.events - 1), "events; recorded are"),
        (lambda record: replace(record, events=10**6), "the game is over after"),
        (lambda record: replace(record, moves=record.moves[:-1]), "an answer of seat"),
        (
            lambda record: replace(record, moves=(RecordedMove(1, None), *record.moves[1:])),
            "move 0: the rules do not answer for seat 1 here",
        ),
        (lambda record: replace(record, moves=(RecordedMove(0, Draw()), *record.moves)), "move 0: an answer of seat 1"),
        (
            lambda record: replace(record, moves=(RecordedMove(1, Discard(card("7H"))), *record.moves[1:])),
            "move 0: seat 1 cannot play it here: this move does not belong to the phase draw",
        ),
    ],
)
async def test_a_record_that_does_not_fit_its_rules_is_refused(
    change: Callable[[GameRecord], GameRecord], message: str, autojump_clock: trio.testing.MockClock
) -> None:
    record, _ = await a_game()
    with pytest.raises(RecordError, match=message):
        list(replay(change(record)))
