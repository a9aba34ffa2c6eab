"""`verify`, and games that leave a database in a file, are taken in by another and told again."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from rummyarena_rules.thai import THAI
from rummyarena_server.cli.archives import take_in
from rummyarena_server.cli.exports import export
from rummyarena_server.cli.games import replay
from rummyarena_server.cli.output import UsageError
from rummyarena_server.cli.tournaments import listed, show, standings
from rummyarena_server.cli.verify import verify
from rummyarena_server.referee.record import SeatedBot, WrittenGame
from rummyarena_server.referee.record_files import read_games, written
from rummyarena_server.store.store import open_store
from tests.records.example import Leaving
from tests.records.making import ORIGIN, play, write
from tests.referee.helpers import randomly
from tests.tournament.events import SECRET, break_off, open_event, settings
from tests.tournament.events import play as play_event

RECORDS = Path(__file__).resolve().parents[1] / "records"
DIGEST = "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd"  # of SECRET


def played(path: Path, *, broken_off: bool = False, **changes: Any) -> str:
    """Plays the tournament "Friday" of two bots, or begins it, and returns its database."""

    async def in_virtual_time() -> None:
        store = open_store(path)
        event = await open_event(store, settings(**{"bots": 2, "cycles": 2} | changes))
        if broken_off:
            await break_off(event, store, game=1)
        else:
            await play_event(event, store, *[randomly(THAI)] * (len(event.settings.bots) - 1), Leaving(9))
        store.close()

    trio.run(in_virtual_time, clock=trio.testing.MockClock(autojump_threshold=0))
    return str(path)


@pytest.fixture(scope="module")
def friday_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(played(tmp_path_factory.mktemp("friday") / "arena.db"))


@pytest.fixture
def friday(friday_once: Path, tmp_path: Path) -> str:
    """A database with a tournament of four games, in which bot 1 exits in the middle of each."""
    with closing(sqlite3.connect(friday_once)) as one, closing(sqlite3.connect(tmp_path / "arena.db")) as copy:
        one.backup(copy)
    return str(tmp_path / "arena.db")


def change(database: str, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        assert connection.execute(statement, values).rowcount


def change_record(database: str, edit: Callable[[dict[str, Any]], object]) -> None:
    """Changes the record of the first game."""
    with closing(sqlite3.connect(database)) as connection, connection:
        (content,) = connection.execute("SELECT content FROM record WHERE game_id = 1").fetchone()
        document = json.loads(zlib.decompress(content))
        edit(document)
        text = zlib.compress(json.dumps(document).encode())
        connection.execute("UPDATE record SET content = ? WHERE game_id = 1", (text,))


def as_json(
    capsys: pytest.CaptureFixture[str], command: Callable[..., int], *words: Any, **flags: Any
) -> tuple[int, Any]:
    capsys.readouterr()
    status = command(*words, as_json=True, **flags)
    return status, json.loads(capsys.readouterr().out)


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
        ("rounds", None),
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
    database = played(tmp_path / "arena.db", broken_off=True)

    status, found = as_json(capsys, verify, "Friday", db=database)
    assert status == 0
    assert (found["games"], found["held_back"]) == (0, 1)
    assert verify("1.0.0", db=database) == 0
    assert "other games are to be played on its deals" in capsys.readouterr().out

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
    database = played(tmp_path / "arena.db", broken_off=True, trusted=False)
    status, found = as_json(capsys, verify, "Friday", db=database)
    assert status == 0
    assert found["checks"]["seed"] == {"right": 0, "wrong": 0, "unchecked": 1}
    assert found["checks"]["moves"]["right"] == 1
    assert verify("1.0.0", db=database) == 0
    assert "seed       not checked  the tournament's secret is not revealed" in capsys.readouterr().out
    # an abandoned game has nothing but a seed
    database = played(tmp_path / "arena.db", trusted=False)
    assert verify("1.1.0", db=database) == 0
    assert "it was abandoned and counts for nobody" in capsys.readouterr().out


@pytest.mark.parametrize(("format_", "rounds"), [("swiss", 2), ("ladder", 2)])
def test_rounds_follow_from_the_results_before_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], format_: str, rounds: int
) -> None:
    database = played(tmp_path / "arena.db", bots=4, format=format_, rounds=rounds, cycles=1)
    status, found = as_json(capsys, verify, "Friday", db=database)
    assert (status, found["wrong"], found["tables"][0]["right"]) == (0, [], True)
    assert found["checks"]["schedule"]["right"] == found["checks"]["seed"]["right"] == found["games"] > 0

    change(database, "UPDATE round SET tables = '[[0,1],[3,2]]' WHERE number = 1")
    status, found = as_json(capsys, verify, "Friday", db=database)
    assert (status, found["tables"][0]["right"]) == (1, False)


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


# --- files -----------------------------------------------------------------------------------------------------------


def a_file(friday: str, tmp_path: Path, form: str = "text") -> Path:
    path = tmp_path / f"friday.{form}"
    assert export("Friday", "records", as_format=form, out=path, db=friday) == 0  # type: ignore[arg-type] # a form
    return path


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_file_needs_no_database(friday: str, tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
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


# --- taken in --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["text", "json"])
def test_games_that_were_taken_in_are_as_they_were(
    friday: str, tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, other = a_file(friday, tmp_path, form), str(tmp_path / "other.db")
    capsys.readouterr()

    assert take_in(path, db=other) == 0

    assert "Friday: 4 games of 2 bots are in" in capsys.readouterr().out
    assert verify("Friday", db=other) == 0
    capsys.readouterr()
    assert export("Friday", "records", as_format=form, db=other) == 0  # type: ignore[arg-type] # a form
    assert capsys.readouterr().out == path.read_text()
    (shown, original) = (as_json(capsys, show, "Friday", db=one)[1] for one in (other, friday))
    assert shown["standings"] == original["standings"]
    assert (shown["secret_digest"], shown["secret"]) == (DIGEST, SECRET.hex())
    assert replay("1.0.0", db=other) == 0


def test_games_that_were_taken_in_count_for_no_elo(
    friday: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = a_file(friday, tmp_path)
    before = as_json(capsys, standings, db=friday)[1]
    assert take_in(path, name="Friday again", db=friday) == 0
    assert as_json(capsys, standings, db=friday)[1] == before
    assert verify("Friday again", db=friday) == 0
    assert [one["name"] for one in as_json(capsys, listed, db=friday)[1]] == ["Friday", "Friday again"]


def test_the_secrets_of_a_ladder_go_with_its_waves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = played(tmp_path / "arena.db", bots=4, format="ladder", rounds=3, cycles=1)
    path, other = a_file(database, tmp_path), str(tmp_path / "other.db")
    with path.open("rb") as file:
        secrets = {one.origin.secret for one in read_games(file) if one.origin}
    assert len(secrets) == 3
    assert None not in secrets
    assert take_in(path, db=other) == 0
    _, found = as_json(capsys, verify, "Friday", db=other)
    assert found["checks"]["seed"]["right"] == found["games"]


def refused(path: Path, database: Path, **flags: Any) -> str:
    with pytest.raises(UsageError) as caught:
        take_in(path, db=str(database), **flags)
    assert str(caught.value).endswith("; nothing was taken in")
    if database.exists():
        with closing(sqlite3.connect(database)) as connection:
            assert connection.execute("SELECT count(*) FROM tournament WHERE imported").fetchone() == (0,)
    return str(caught.value)


def test_a_name_that_is_taken_is_refused(friday: str, tmp_path: Path) -> None:
    path = a_file(friday, tmp_path)
    assert 'there is a tournament "Friday" already; --name gives this one another name' in refused(path, Path(friday))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("index: 3", "index: three", r"line \d+, index: column 1: not JSON"),
        ("rules_version: 1", "rules_version: 8", "it was changed after it was written, for its checksum is wrong"),
        ("moves: ", "#", "the game that begins in line [0-9]+: the field moves is missing"),
        ("format: 2", "hello", r"line \d+: 'hello' is neither a field nor a move"),
    ],
)
def test_a_damaged_file_is_taken_in_by_nobody(friday: str, tmp_path: Path, old: str, new: str, message: str) -> None:
    path = a_file(friday, tmp_path)
    before, found, after = path.read_text().rpartition(old)  # in the last game: those before it are not kept either
    assert found
    path.write_text(before + new + after)
    told = refused(path, tmp_path / "other.db")
    assert told.startswith(str(path))
    assert re.search(message, told), told


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert "nowhere.txt: it cannot be read: no such file" in refused(tmp_path / "nowhere.txt", tmp_path / "other.db")
    (tmp_path / "empty").write_text("")
    assert "there are no games in it" in refused(tmp_path / "empty", tmp_path / "other.db")


def a_game(index: int = 16, **changes: Any) -> WrittenGame:
    """A game of "Friday" between two bots, whose checksum will be right whatever is changed."""
    game = write(play(options={"max_deals": 1}))
    assert game.origin is not None
    origin = replace(game.origin, index=index, group=index // 2, rotation=index % 2)
    return replace(game, **({"origin": origin} | changes))


def put_together(path: Path, *games: WrittenGame) -> Path:
    path.write_text("".join(written(game, "text") for game in games))
    return path


BOB = SeatedBot("Bob", "1")


@pytest.mark.parametrize(
    ("games", "message"),
    [
        ([a_game(16), a_game(16)], "its index 16 does not follow 16: sort the games, and have each once"),
        ([a_game(17), a_game(16)], "its index 16 does not follow 17"),
        ([a_game(rules_version=7)], "version 7 of the rules of thai, this program plays version 1"),
        ([a_game(ruleset="whist")], 'there is no ruleset "whist"; there are thai, liverpool'),
        ([a_game(options={"max_deals": 0.5})], "option max_deals = 0.5: allowed is"),
        ([a_game(options={"max_deals": 1, "head_card": False})], "its options are not those that differ"),
        ([a_game(bots=(BOB, BOB))], "two or more seats, each of another entrant"),
        ([a_game(bots=(BOB, SeatedBot("\u202eeve")))], r"the name of a bot, .*U\+202E"),
        ([a_game(bots=(BOB, SeatedBot("Zoe\u0308")))], "the name of a bot, .* it is not in normal form C"),
        ([a_game(bots=(BOB, SeatedBot("Eve", " 1")))], "the version of a bot, .* must not begin or end with a space"),
        ([a_game(16), a_game(17, bots=(SeatedBot("bot 0", "2"), BOB))], 'the bot "bot 0" has another version than in'),
        ([a_game(16), a_game(17, time_control=None)], "another clock than the games before it"),
        ([a_game(16), a_game(17, options={"max_deals": 2})], "another set of options than the games before it"),
        ([a_game(origin=None)], "it says neither its tournament nor its result"),
        ([a_game(origin=replace(ORIGIN, rotation=0))], "its index, group and rotation do not belong together"),
    ],
)
def test_games_that_are_no_tournament_are_taken_in_by_nobody(
    games: list[WrittenGame], message: str, tmp_path: Path
) -> None:
    path = put_together(tmp_path / "games.txt", *games)
    told = refused(path, tmp_path / "other.db", name="Friday")
    assert re.search(message, told), told


def test_a_game_that_was_handed_on_may_be_seen_whatever_became_of_its_group(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one_of_a_pair = replace(ORIGIN, shares_deals=True)
    path, other = put_together(tmp_path / "games.txt", a_game(origin=one_of_a_pair)), str(tmp_path / "other.db")
    assert take_in(path, db=other) == 0
    assert replay("1.17.0", db=other) == 0
    capsys.readouterr()
    assert export("Friday", "records", db=other) == 0
    assert capsys.readouterr().out == path.read_text()


def test_records_of_format_1_are_not_taken_in(tmp_path: Path) -> None:
    assert "as records of format 1 do not" in refused(RECORDS / "format_1.jsonl", tmp_path / "other.db", name="Friday")


def test_the_size_of_records_is_measured(friday: str) -> None:
    script = RECORDS.parents[1] / "scripts" / "record_sizes"
    done = subprocess.run([sys.executable, script, friday], capture_output=True, text=True, check=True)
    header, line = done.stdout.splitlines()
    assert header.split() == ["games", "moves", "stored", "text", "gzipped", "JSON", "gzipped"]
    name, games, _, stored, text, text_gzipped, as_json, json_gzipped = line.split()
    assert (name, games) == ("Friday", "4")
    assert int(text_gzipped) < int(stored) < int(text) < int(as_json)
    assert int(json_gzipped) < int(stored)


# --- told ------------------------------------------------------------------------------------------------------------


def test_a_file_is_told_game_by_game(capsys: pytest.CaptureFixture[str]) -> None:
    assert replay(str(RECORDS / "format_2.txt")) == 0
    out = capsys.readouterr().out
    assert out.count("game 1.17.0 of Friday") == 2
    assert "seat 1 draws" in out
    assert out.count("forfeited (faults)") == 1
    assert replay(str(RECORDS / "format_1.jsonl"), show=0, as_json=True) == 0
    assert json.loads(capsys.readouterr().out.split("\n")[0])["ruleset"] == "thai"


def test_a_game_of_other_rules_is_shown_as_far_as_can_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put_together(tmp_path / "games.txt", a_game(17, rules_version=7))
    assert replay(str(path)) == 1
    told = capsys.readouterr()
    assert "game 1.17.0 of Friday" in told.out
    assert "seat 0: bot 0" in told.err
    assert "version 7 of the rules of thai, this program plays version 1" in told.err
    assert verify(str(path)) == 0  # nothing is wrong, and what could not be checked is said
    assert "moves      not checked  the record is of version 7" in capsys.readouterr().out


def test_a_damaged_file_is_told_as_far_as_it_is_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put_together(tmp_path / "games.txt", a_game())
    path.write_text(path.read_text() + "format: two\n")
    assert replay(str(path)) == 1
    told = capsys.readouterr()
    assert "1. bot" in told.out
    assert "not JSON" in told.err
