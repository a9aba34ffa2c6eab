"""The table of a command line, and a game as it is told on a terminal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from rummyarena_rules.moves import Move
from rummyarena_rules.ruleset import AnyView
from rummyarena_rules.thai import THAI
from rummyarena_server.cli.narrator import Narrator, Table, single_game, tell_end, tell_record
from rummyarena_server.cli.output import UsageError
from rummyarena_server.hosting import BotCommand
from rummyarena_server.referee.clock import Deadlines
from rummyarena_server.referee.game import Game
from rummyarena_server.referee.outcome import GameOutcome
from rummyarena_server.referee.players import LocalPlayer
from rummyarena_server.tournament.single import SingleGame

SEED = "07" * 32
TWO = (BotCommand("one", ("one",), Path()), BotCommand("other", ("other",), Path()))


def one_deal(**changes: object) -> SingleGame:
    settings: dict[str, object] = {"ruleset": "thai", "seats": TWO, "options": ["max_deals=1"], "seed": SEED}
    return single_game(Table(**(settings | changes)))  # type: ignore[arg-type]  # the cases below are of all kinds


def play(game: SingleGame, narrator: Narrator) -> GameOutcome:
    """Plays a game of fallbacks in this process, told as it goes."""

    def fallback(view: AnyView, _seed: int) -> Move:
        move = THAI.fallback(view)
        assert move is not None
        return move

    async def whole() -> GameOutcome:
        players = [LocalPlayer(fallback) for _ in game.commands]
        with Game(game.setup, players, Deadlines(), narrator.tell) as table:
            outcome = await table.play()
            table.announce(outcome)
            return outcome

    return trio.run(whole)


def test_a_table_is_a_game_with_its_options_seed_and_clock() -> None:
    setup = one_deal(options=["max_deals=1", "stock_exhausted=reshuffle", "head_card=false"]).setup
    assert (setup.options.max_deals, setup.options.stock_exhausted, setup.options.head_card) == (1, "reshuffle", False)
    assert setup.seed.hex() == SEED
    assert setup.time_control is not None
    assert one_deal(clock=False).setup.time_control is None
    assert one_deal(seats=(None, TWO[0])).setup.bots[0].name == "your bot"
    assert one_deal(seed=None).setup.seed != one_deal(seed=None).setup.seed


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"ruleset": "tai"}, "there is no ruleset 'tai': did you mean thai?"),
        ({"seats": TWO[:1]}, "thai is for 2 to 4 seats, here are 1: name a bot for each"),
        ({"options": ["max_deals"]}, "max_deals is no option: write NAME=VALUE"),
        ({"options": ["max_deals=1", "max_deals=1"]}, "--option max_deals is given more than once"),
        ({"options": ["max_deal=1"]}, "did you mean max_deals?"),
        ({"options": ["max_deals=-1"]}, "option max_deals = -1"),
        ({"seed": "07"}, "--seed 07: a game's seed is 64 hex digits"),
        ({"seed": "zz" * 32}, "a game's seed is 64 hex digits"),
    ],
)
def test_what_cannot_be_is_refused_with_advice(changes: dict[str, object], complaint: str) -> None:
    with pytest.raises(UsageError) as refused:
        one_deal(**changes)
    assert complaint in str(refused.value)


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Callable[[int | None], list[str]]:
    def tell(show: int | None) -> list[str]:
        game = one_deal()
        narrator = Narrator(game.setup, show, as_json=False)
        narrator.begin()
        tell_end(narrator, play(game, narrator))
        return capsys.readouterr().out.splitlines()

    return tell


def test_a_game_is_told_face_up_from_who_plays_to_who_won(told: Callable[[int | None], list[str]]) -> None:
    lines = told(None)
    assert lines[:3] == ["thai, 2 seats, with a clock", "seat 0: one", "seat 1: other"]
    assert not any("?" in line for line in lines)
    assert lines[-2].startswith("1. ")
    assert "points" in lines[-1]


def test_shown_from_a_seat_the_others_cards_are_hidden(told: Callable[[int | None], list[str]]) -> None:
    dealt = [line for line in told(1) if "is dealt" in line]
    assert [line.endswith("?") for line in sorted(dealt)] == [True, False]


def test_there_must_be_such_a_seat() -> None:
    with pytest.raises(UsageError, match=r"--show 2: the seats are 0 to 1"):
        Narrator(one_deal().setup, 2, as_json=False)


def test_as_json_each_line_is_a_value(capsys: pytest.CaptureFixture[str]) -> None:
    game = one_deal()
    narrator = Narrator(game.setup, None, as_json=True)
    narrator.begin()
    outcome = play(game, narrator)
    tell_end(narrator, outcome)
    first, *events, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["ruleset"], [bot["name"] for bot in first["bots"]]) == ("thai", ["one", "other"])
    assert (events[0]["event"], events[-1]["event"]) == ("deal_started", "deal_ended")
    assert len(events) == outcome.record.events
    assert last == {"over": {"ranks": list(outcome.ranks), "totals": list(outcome.totals), "forfeits": []}}


def test_a_record_is_told_as_the_game_was(capsys: pytest.CaptureFixture[str]) -> None:
    game = one_deal()
    narrator = Narrator(game.setup, None, as_json=False)
    narrator.begin()
    outcome = play(game, narrator)
    live = capsys.readouterr().out
    tell_record(outcome.record, narrator)
    assert capsys.readouterr().out == live
