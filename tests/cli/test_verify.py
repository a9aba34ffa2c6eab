"""`verify`: what was played is right, and whatever is changed in a database or a file is found."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio

from rummyarena_server.cli.archives import take_in
from rummyarena_server.cli.exports import export
from rummyarena_server.cli.games import replay
from rummyarena_server.cli.output import UsageError
from rummyarena_server.cli.tournaments import show
from rummyarena_server.cli.verify import verify
from rummyarena_server.referee.record_files import Form, read_games, written
from rummyarena_server.store.store import open_store
from rummyarena_server.tournament.ladder import rebuild_ratings
from tests.cli.friday import DIGEST, RECORDS, a_file, as_json, change, change_record, played
from tests.server.results import NOW
from tests.tournament.events import SECRET

# --- what is right ---------------------------------------------------------------------------------------------------


def test_a_tournament_is_right_in_all_that_can_be_checked(friday: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, found = as_json(capsys, verify, "Friday", db=friday)

    assert status == 0
    assert (found["right"], found["games"], found["wrong_games"], found["held_back"]) == (True, 4, 0, 0)
    right = {"right": 4, "wrong": 0, "unchecked": 0}
    assert found["checks"] == dict.fromkeys(
        ["seed", "moves", "verdicts", "result", "times", "record", "schedule"], right
    )
    assert [(one["check"], one["right"]) for one in found["tables"]] == [
        ("complete", True),
        ("rounds", None),
        ("counted", True),
        ("standings", True),
        ("ratings", True),
    ]


def test_a_game_is_verified_by_its_id(friday: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify("1.3.0", db=friday) == 0
    out = capsys.readouterr().out
    assert "moves      right        all " in out
    assert "seed       right        it follows from the secret and group 1, rotation 1, attempt 0" in out
    assert "All that could be checked is right in 1 game." in out


def test_while_a_tournament_is_played_its_secret_is_nobodys_business(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # given: one game of a pair on the same deals is recorded
    database = played(tmp_path / "arena.db", broken_off=1)

    for target in ("Friday", "1.0.0"):
        with pytest.raises(UsageError, match=r"nothing can be verified yet: 1 game held back, for others are still to"):
            verify(target, db=database)

    # and: its record is not handed on, nor its secret told
    assert export("Friday", "records", db=database) == 0
    exported = capsys.readouterr()
    assert exported.out == ""
    assert "still to be played: 1; export again" in exported.err
    assert show("Friday", db=database) == 0
    out = capsys.readouterr().out
    assert f"SHA-256 of its secret: {DIGEST}" in out
    assert SECRET.hex() not in out


def test_with_deals_of_its_own_a_game_can_be_verified_before_the_secret_is_revealed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = played(tmp_path / "arena.db", broken_off=1, trusted=False)
    status, found = as_json(capsys, verify, "Friday", db=database)
    assert status == 0
    assert found["checks"]["seed"] == {"right": 0, "wrong": 0, "unchecked": 1}
    assert found["checks"]["moves"]["right"] == 1
    assert verify("1.0.0", db=database) == 0
    assert "seed       not checked  the tournament's secret is not revealed" in capsys.readouterr().out
    # an abandoned game has nothing but a seed
    database = played(tmp_path / "arena.db", trusted=False)
    with pytest.raises(UsageError, match="nothing can be verified: it was abandoned and counts for nobody"):
        verify("1.1.0", db=database)


def test_of_a_tournament_without_games_nothing_is_said_to_be_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = played(tmp_path / "arena.db", broken_off=0)
    with pytest.raises(UsageError, match="Friday: there are no games in it"):
        verify("Friday", db=database)
    assert capsys.readouterr().out == ""


def table(check: str, found: Any) -> Any:
    """Returns what was found of the tables of a tournament by this check."""
    return next(one for one in found["tables"] if one["check"] == check)


def wrong_tables(found: Any) -> list[str]:
    return [one["check"] for one in found["tables"] if one["right"] is False]


@pytest.mark.parametrize(("format_", "rounds"), [("swiss", 2), ("ladder", 2)])
def test_rounds_follow_from_the_results_before_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], format_: str, rounds: int
) -> None:
    database = played(tmp_path / "arena.db", bots=4, format=format_, rounds=rounds, cycles=1)
    status, found = as_json(capsys, verify, "Friday", db=database)
    assert (status, found["wrong"], table("rounds", found)["right"]) == (0, [], True)
    assert found["checks"]["schedule"]["right"] == found["checks"]["seed"]["right"] == found["games"] > 0

    change(database, "UPDATE round SET tables = '[[0,1],[3,2]]' WHERE number = 1")
    status, found = as_json(capsys, verify, "Friday", db=database)
    assert (status, table("rounds", found)["right"]) == (1, False)


# --- what is wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("UPDATE game SET seed = zeroblob(32) WHERE id = 1", "record"),
        ("UPDATE game SET deals = 7 WHERE id = 1", "result"),
        ("UPDATE game SET rated = 0 WHERE id = 1", "result"),
        ("UPDATE game SET options = '{\"max_deals\":2}' WHERE id = 1", "record"),
        ("UPDATE game SET rotation = 1 WHERE id = 1", "schedule"),
        ("UPDATE seat SET rank = 3 - rank WHERE game_id = 1", "result"),
        ("UPDATE seat SET total = total + 5 WHERE game_id = 1 AND seat = 0", "result"),
        ("UPDATE seat SET points = points + 5 WHERE game_id = 1 AND seat = 0", "result"),
        ("UPDATE seat SET faults = 2 WHERE game_id = 1 AND seat = 0", "result"),
        ("UPDATE seat SET thinking = 2 WHERE game_id = 1 AND seat = 0", "times"),
        ("UPDATE seat SET forfeit = 'gone' WHERE game_id = 1 AND forfeit = 'exited'", "result"),
        ("UPDATE seat SET seat = 5 WHERE game_id = 1 AND seat = 1", "record"),
        ("UPDATE seat SET entrant_id = 3 - entrant_id WHERE game_id = 1", "schedule"),
        ("UPDATE tournament SET schedule_seed = 12345 WHERE id = 1", "schedule"),
        ("UPDATE tournament SET event_secret = zeroblob(32) WHERE id = 1", "seed"),
        ("UPDATE bot SET name = 'somebody else' WHERE id = 1", "record"),
    ],
)
def test_what_was_changed_in_the_tables_is_found(
    friday: str, capsys: pytest.CaptureFixture[str], statement: str, check: str
) -> None:
    change(friday, statement)
    status, found = as_json(capsys, verify, "Friday", db=friday)
    assert (status, found["right"]) == (1, False)
    assert check in {one["check"] for one in found["wrong"]}


def test_a_move_that_was_changed_in_a_record_is_named(friday: str, capsys: pytest.CaptureFixture[str]) -> None:
    change_record(friday, lambda document: document["game"]["moves"][3].__setitem__(1, "layoff m9: 2C"))
    assert verify("Friday", db=friday) == 1
    out = capsys.readouterr().out
    assert "game 1.0.0: moves is WRONG: move 3: seat" in out
    assert "WRONG: 1 of 4 games." in out


def test_a_record_that_cannot_be_read_is_wrong(friday: str, capsys: pytest.CaptureFixture[str]) -> None:
    change_record(friday, lambda document: document["game"].pop("moves"))
    status, found = as_json(capsys, verify, "1.0.0", db=friday)
    assert status == 1
    assert found["wrong"] == [
        {"game": "1.0.0", "check": "record", "right": False, "found": "record.game: the field moves is missing"}
    ]


def test_a_move_that_is_none_is_wrong(friday: str, capsys: pytest.CaptureFixture[str]) -> None:
    change_record(friday, lambda document: document["game"]["moves"][3].__setitem__(1, "gibberish XX"))
    assert verify("Friday", db=friday) == 1
    assert 'game 1.0.0: moves is WRONG: move 3: "gibberish XX" is no move of thai' in capsys.readouterr().out


def test_one_thinking_time_too_many_is_wrong(friday: str, capsys: pytest.CaptureFixture[str]) -> None:
    change_record(friday, lambda document: document["times"]["thinking"].append(0))
    assert verify("Friday", db=friday) == 1
    assert re.search(r"game 1.0.0: moves is WRONG: there are \d+ thinking times for \d+ moves", capsys.readouterr().out)


@pytest.mark.parametrize(
    "edit",
    [
        lambda document: document["game"]["bots"].append(["Eve", ""]),
        lambda document: document["game"]["bots"].clear() or document["game"]["moves"].clear(),
        lambda document: document["game"]["bots"].pop() and document["game"]["moves"].clear(),
    ],
)
def test_a_record_of_another_table_is_wrong(
    friday: str, capsys: pytest.CaptureFixture[str], edit: Callable[[dict[str, Any]], object]
) -> None:
    change_record(friday, lambda document: (document["game"]["forfeits"].clear(), edit(document)))
    status, found = as_json(capsys, verify, "Friday", db=friday)
    assert status == 1
    (wrong,) = found["wrong"]
    assert (wrong["game"], wrong["check"]) == ("1.0.0", "record")
    assert re.fullmatch("seats: the record has [013], the tables have 2", wrong["found"])


@pytest.mark.parametrize("which", ["game_id = 1 AND seat = 1", "game_id = 1"])
def test_seats_that_were_taken_out_are_missed(friday: str, capsys: pytest.CaptureFixture[str], which: str) -> None:
    change(friday, f"DELETE FROM seat WHERE {which}")  # noqa: S608 - the words above
    status, found = as_json(capsys, verify, "Friday", db=friday)
    assert status == 1
    assert {"record", "schedule"} <= {one["check"] for one in found["wrong"] if one["game"] == "1.0.0"}
    assert "standings" in wrong_tables(found)


@pytest.fixture
def swiss(tmp_path: Path) -> str:
    return played(tmp_path / "arena.db", bots=4, format="swiss", rounds=2, cycles=1)


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("UPDATE game SET options = 'xx' WHERE id = 1", "ratings"),
        ("UPDATE game SET options = '[]' WHERE id = 1", "ratings"),
        ("DELETE FROM bot WHERE id = 1", "ratings"),
        ("UPDATE entrant SET number = 7 WHERE id = 1", "rounds"),
        ("UPDATE round SET tables = 'xx' WHERE number = 1", "rounds"),
        ("UPDATE round SET tables = '[1,2]' WHERE number = 1", "rounds"),
    ],
)
def test_what_cannot_stand_in_the_tables_is_wrong(
    swiss: str, capsys: pytest.CaptureFixture[str], statement: str, check: str
) -> None:
    change(swiss, statement)
    status, found = as_json(capsys, verify, "Friday", db=swiss)
    assert (status, found["wrong_games"] > 0) == (1, True)
    assert check in wrong_tables(found)
    assert export("Friday", "records", db=swiss) == 0


def damage_record(database: str) -> None:
    """Makes the record of the first game unreadable."""
    change(database, "UPDATE record SET content = substr(content, 1, 50) WHERE game_id = 1")


@pytest.mark.parametrize("target", ["Friday", "1.0.0"])
def test_a_damaged_record_is_wrong_and_the_rest_is_verified(
    friday: str, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    damage_record(friday)
    status, found = as_json(capsys, verify, target, db=friday)
    assert status == 1
    assert [(one["game"], one["check"]) for one in found["wrong"]] == [("1.0.0", "record")]
    assert "the record of game 0 is damaged" in found["wrong"][0]["found"]
    assert found["checks"]["moves"]["right"] == found["games"] - 1


def test_a_damaged_record_is_handed_on_as_one_that_could_not_be_read(
    friday: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damage_record(friday)
    assert export("Friday", "records", out=tmp_path / "friday.txt", db=friday) == 0
    told = capsys.readouterr().err
    assert "records could not be read, so that only their results are in it: 1;" in told
    assert "not kept" not in told
    assert verify(str(tmp_path / "friday.txt")) == 0


# --- what is missing -------------------------------------------------------------------------------------------------


def take_out(database: str, first: int) -> None:
    """Takes out the games from the one with this index on, as if they had never been played."""
    for what, key in (("record", "game_id"), ("seat", "game_id"), ("game", "id")):
        which = "SELECT id FROM game WHERE schedule_index >= ?"
        change(database, f"DELETE FROM {what} WHERE {key} IN ({which})", first)  # noqa: S608 - the words above


def rate_again(database: str, games: int) -> None:
    """Has so many games count for Elo, and makes the ratings that they give."""
    change(database, "UPDATE tournament SET rated_games = ?", games)

    async def rebuild() -> None:
        store = open_store(database)
        await store.write(rebuild_ratings, NOW)
        store.close()

    trio.run(rebuild)


def test_games_that_were_taken_out_are_missed(friday: str, capsys: pytest.CaptureFixture[str]) -> None:
    take_out(friday, 2)
    rate_again(friday, 2)
    status, found = as_json(capsys, verify, "Friday", db=friday)
    assert (status, found["wrong"], wrong_tables(found)) == (1, [], ["complete"])
    assert table("complete", found)["found"] == "of 4 games 2 are recorded"


def test_that_all_games_were_taken_out_is_wrong(friday: str, capsys: pytest.CaptureFixture[str]) -> None:
    take_out(friday, 0)
    rate_again(friday, 0)
    status, found = as_json(capsys, verify, "Friday", db=friday)
    assert (status, wrong_tables(found)) == (1, ["complete"])


@pytest.mark.parametrize("games", [0, 2, 5])
def test_games_that_do_not_count_as_they_should_are_found(
    friday: str, capsys: pytest.CaptureFixture[str], games: int
) -> None:
    rate_again(friday, games)
    status, found = as_json(capsys, verify, "Friday", db=friday)
    assert (status, wrong_tables(found)) == (1, ["counted"])
    assert table("counted", found)["found"] == f"{games} games count for Elo; due were 4"


def test_of_a_tournament_that_is_not_rated_no_game_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = played(tmp_path / "arena.db", rated=False)
    assert verify("Friday", db=database) == 0
    rate_again(database, 4)
    assert wrong_tables(as_json(capsys, verify, "Friday", db=database)[1]) == ["counted"]


def test_of_a_tournament_that_is_not_over_no_game_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = played(tmp_path / "arena.db", broken_off=3, concurrency=1)
    status, found = as_json(capsys, verify, "Friday", db=database)
    assert (status, table("complete", found)["right"]) == (0, None)
    rate_again(database, 3)
    assert wrong_tables(as_json(capsys, verify, "Friday", db=database)[1]) == ["counted"]


@pytest.mark.parametrize(("format_", "games"), [("swiss", 8), ("ladder", 16)])
def test_rounds_that_were_taken_out_are_missed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], format_: str, games: int
) -> None:
    database = played(tmp_path / "arena.db", bots=4, format=format_, rounds=3, cycles=1)
    last = games // 2 if format_ == "swiss" else games
    take_out(database, 2 * last)
    rate_again(database, 2 * last)
    assert wrong_tables(as_json(capsys, verify, "Friday", db=database)[1]) == ["complete"]
    change(database, "DELETE FROM round WHERE number = 2")
    assert "rounds" in wrong_tables(as_json(capsys, verify, "Friday", db=database)[1])


def test_of_a_ladder_that_is_played_complete_waves_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # given: waves of eight games, the second of which is broken off
    database = played(tmp_path / "arena.db", broken_off=10, format="ladder", rounds=3, cycles=1, concurrency=1)
    for games, is_right in ((0, True), (8, True), (4, False), (10, False), (16, False)):
        rate_again(database, games)
        _, found = as_json(capsys, verify, "Friday", db=database)
        assert table("counted", found)["right"] is is_right
    assert table("rounds", found)["found"] == "all follow from the results before them; 1 are complete"


# --- while a test or a ladder is played ------------------------------------------------------------------------------


def test_a_test_that_ended_early_hides_no_game_any_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # given: a regression test that had its verdict before the last deal group was complete
    database = played(tmp_path / "arena.db", broken_off=3, concurrency=1, rated=False)
    for bot, name in (("bot 0", "new"), ("bot 1", "base")):
        change(database, "UPDATE tournament SET configuration = replace(configuration, ?, ?)", bot, name)
    assert as_json(capsys, verify, "Friday", db=database)[1]["held_back"] == 1
    change(database, "UPDATE tournament SET status = 'finished'")

    status, found = as_json(capsys, verify, "Friday", db=database)

    assert (status, found["games"], found["held_back"]) == (0, 3, 0)
    assert table("complete", found)["found"] == "a regression test ends with its verdict; 3 games are recorded"
    assert verify("1.2.0", db=database) == 0
    assert "All that could be checked is right in 1 game." in capsys.readouterr().out


def test_the_secret_of_a_wave_is_revealed_when_the_wave_is_complete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # given: waves of eight games with deals of their own, the second of which is broken off
    database = played(tmp_path / "arena.db", broken_off=10, format="ladder", rounds=3, trusted=False, cycles=1)

    path = a_file(database, tmp_path)

    with path.open("rb") as file:
        told = [one.origin for one in read_games(file) if one.origin is not None]
    assert {one.secret is not None for one in told if one.index < 8} == {True}
    assert {one.secret is not None for one in told if one.index >= 8} == {False}
    assert len({one.secret_digest for one in told}) == 2
    _, found = as_json(capsys, verify, "Friday", db=database)
    assert found["checks"]["seed"] == {"right": 8, "wrong": 0, "unchecked": len(told) - 8}
    assert len(told) > 8


def test_elo_that_the_games_do_not_give_is_found(friday: str, capsys: pytest.CaptureFixture[str]) -> None:
    change(friday, "UPDATE rating SET elo = elo + 1 WHERE bot_id = 1")
    status, found = as_json(capsys, verify, "Friday", db=friday)
    assert status == 1
    assert [one["check"] for one in found["tables"] if one["right"] is False] == ["ratings"]
    change(friday, "DELETE FROM rating")
    assert verify("Friday", db=friday) == 1
    assert "has no Elo in thai 1, 2 seats" in capsys.readouterr().out


def test_what_is_not_there_cannot_be_verified(friday: str) -> None:
    for target in ("Saturday", "1.99.0", "no/such/file"):
        with pytest.raises(UsageError, match=r"there is no file .* that is over"):
            verify(target, db=friday)


def test_a_file_whose_options_are_none_is_wrong(
    friday: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with a_file(friday, tmp_path).open("rb") as file:
        games = [replace(one, options={"max_deals": -4}) for one in read_games(file)]
    (tmp_path / "other.txt").write_text("".join(written(one, "text") for one in games))
    assert verify(str(tmp_path / "other.txt")) == 1
    assert "game 1.0.0: moves is WRONG: option max_deals = -4: allowed is" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda game: game["moves"][0].__setitem__(1, "dance"), 'move 0: "dance" is no move of thai'),
        (lambda game: game.update(bots=[], moves=[], forfeits=[]), "thai is for 2 to"),
    ],
)
def test_a_record_of_format_1_that_can_be_no_game_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], edit: Callable[[dict[str, Any]], object], message: str
) -> None:
    document = json.loads((RECORDS / "format_1.jsonl").read_text().splitlines()[0])
    edit(document["game"])
    (tmp_path / "game.jsonl").write_text(json.dumps(document) + "\n")
    assert verify(str(tmp_path / "game.jsonl")) == 1
    assert message in capsys.readouterr().out


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_file_needs_no_database(friday: str, tmp_path: Path, form: Form, capsys: pytest.CaptureFixture[str]) -> None:
    path = a_file(friday, tmp_path, form)
    assert f"{path}: 4 games" in capsys.readouterr().out

    status, found = as_json(capsys, verify, str(path), db="nowhere.db")

    assert (status, found["games"], found["wrong"]) == (0, 4, [])
    assert all(one == {"right": 4, "wrong": 0, "unchecked": 0} for one in found["checks"].values())
    assert found["checks"].keys() == {"checksum", "digest", "seed", "moves", "verdicts", "result", "times"}


def test_a_changed_file_is_wrong_and_says_where(
    friday: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = a_file(friday, tmp_path)
    path.write_text(path.read_text().replace('"rank": 1', '"rank": 2', 1))
    assert verify(str(path)) == 1
    out = capsys.readouterr().out
    assert "game 1.0.0: checksum is WRONG: the file was changed after it was written" in out
    assert "game 1.0.0: result is WRONG: seat 0, rank: said is 2, it is 1" in out

    path.write_text(path.read_text().replace("group: 0", "group: none", 1))
    assert verify(str(path)) == 1
    assert f"{path}: line 5, group: column 1: not JSON" in capsys.readouterr().err


def test_an_empty_file_is_no_proof(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("# nothing\n")
    with pytest.raises(UsageError, match="there are no games in it"):
        verify(str(tmp_path / "empty"))


@pytest.mark.parametrize(
    ("what", "form", "message"), [("records", "csv", "text or json"), ("games", "text", "csv or json")]
)
def test_a_form_that_does_not_fit_is_refused(friday: str, what: Any, form: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        export("Friday", what, as_format=form, db=friday)


def test_moves_that_were_not_kept_are_missed_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = played(tmp_path / "arena.db", records="none")
    capsys.readouterr()
    assert export("Friday", "records", out=tmp_path / "friday.txt", db=database) == 0
    assert "moves were not kept, so that only their results are in it: 4." in capsys.readouterr().err
    assert replay("1.0.0", db=database) == 0
    assert "game 1.0.0 was not kept: there is nothing to tell but its seed" in capsys.readouterr().err
    assert verify("Friday", db=database) == 0
    assert "moves: not checked in 4 games: its moves were not kept" in capsys.readouterr().out
    assert verify(str(tmp_path / "friday.txt")) == 0
    assert take_in(tmp_path / "friday.txt", db=str(tmp_path / "other.db")) == 0
    assert verify("Friday", db=str(tmp_path / "other.db")) == 0


def test_records_of_forfeits_alone_can_be_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = played(tmp_path / "arena.db", bots=3, cycles=1, records="forfeits")
    _, found = as_json(capsys, verify, "Friday", db=database)
    assert found["checks"]["moves"] == {"right": 4, "wrong": 0, "unchecked": 2}  # bot 2 leaves the four games it is in
