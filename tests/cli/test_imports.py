"""Games that leave a database in a file, are taken in by another and told again."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio

from rummyarena_server.cli.archives import take_in
from rummyarena_server.cli.exports import export
from rummyarena_server.cli.games import replay
from rummyarena_server.cli.output import UsageError
from rummyarena_server.cli.tournaments import listed, show, standings
from rummyarena_server.cli.verify import verify
from rummyarena_server.referee.record import SeatedBot, WrittenGame
from rummyarena_server.referee.record_files import Form, read_games, written
from rummyarena_server.store.history import all_tournaments
from rummyarena_server.store.imports import ImportRefusedError, Revealed, import_games, open_spool, prepare, revealed_of
from rummyarena_server.store.store import open_store
from tests.cli.friday import DIGEST, RECORDS, a_file, as_json, played
from tests.end_to_end.arena import arena, end_of, started
from tests.records.making import ORIGIN, play, write
from tests.server.results import NOW
from tests.tournament.events import SECRET, open_event, settings

# --- taken in --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["text", "json"])
def test_games_that_were_taken_in_are_as_they_were(
    friday: str, tmp_path: Path, form: Form, capsys: pytest.CaptureFixture[str]
) -> None:
    path, other = a_file(friday, tmp_path, form), str(tmp_path / "other.db")
    capsys.readouterr()

    assert take_in(path, db=other) == 0

    assert "Friday: 4 games of 2 bots are in" in capsys.readouterr().out
    assert verify("Friday", db=other) == 0
    capsys.readouterr()
    assert export("Friday", "records", as_format=form, db=other) == 0
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
    # and: none of them is said to be that of the tournament, whose table is that of a ladder
    (shown, original) = (as_json(capsys, show, "Friday", db=one)[1] for one in (other, database))
    assert (shown["secret_digest"], shown["secret"]) == (None, None)
    tables = [[one | {"number": None} for one in found["standings"]] for found in (shown, original)]
    assert shown["format"] == "ladder"
    assert tables[0] == tables[1]


def test_the_secret_of_a_part_of_a_tournament_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, other = put_together(tmp_path / "games.txt", a_game(16), a_game(17)), str(tmp_path / "other.db")
    assert take_in(path, db=other) == 0
    shown = as_json(capsys, show, "Friday", db=other)[1]
    assert (shown["secret_digest"], shown["secret"]) == (DIGEST, SECRET.hex())


def test_the_secrets_of_many_waves_are_told_apart() -> None:
    secrets = [(8, "aa", None), (16, "bb", "cc"), (24, None, None)]
    told = [revealed_of({"secrets": secrets}, index) for index in (8, 15, 16, 23, 24, 99)]
    first, second, third = Revealed(b"\xaa", None), Revealed(b"\xbb", b"\xcc"), Revealed(None, None)
    assert told == [first, first, second, second, third, third]


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
TWO_GAMES = (a_game(16), a_game(17))


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
        (
            [a_game(origin=replace(ORIGIN, index=21, rotation=5))],
            "its index, group and rotation do not belong together",
        ),
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


async def test_an_import_that_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    # given: games that are being stored
    store = open_store(tmp_path / "arena.db")
    with trio.CancelScope() as scope, open_spool() as spool:
        prepared = prepare(TWO_GAMES, "Friday", spool)

        def heed() -> None:
            trio.from_thread.run_sync(scope.cancel)
            trio.from_thread.check_cancelled()

        await store.write(import_games, prepared, NOW, heed)

    assert scope.cancelled_caught
    assert await store.read(all_tournaments) == []
    store.close()


async def test_a_name_that_was_taken_meanwhile_is_refused(tmp_path: Path) -> None:
    store = open_store(tmp_path / "arena.db")
    await open_event(store, settings())
    with open_spool() as spool:
        prepared = prepare(TWO_GAMES, "Friday", spool)
        with pytest.raises(ImportRefusedError, match='there is a tournament "Friday" already'):
            await store.write(import_games, prepared, NOW, lambda: None)
    assert [one.imported for one in await store.read(all_tournaments)] == [False]
    store.close()


def test_a_full_disk_is_said_to_be_so() -> None:
    full = pytest.raises(ImportRefusedError, match="folder for temporary files: no space left on device; make some")
    with Path("/dev/full").open("r+b", buffering=0) as spool, full:
        prepare(TWO_GAMES, "Friday", spool)


def many_games(number: int) -> list[WrittenGame]:
    game = a_game(0)
    assert game.origin is not None
    return [
        replace(game, id=f"1.{index}.0", origin=replace(game.origin, index=index, group=index // 2, rotation=index % 2))
        for index in range(number)
    ]


def test_many_games_keep_their_order_and_their_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put_together(tmp_path / "games.txt", *many_games(501))  # more than are stored at once
    other = str(tmp_path / "other.db")
    assert take_in(path, db=other) == 0
    capsys.readouterr()
    assert export("Friday", "records", db=other) == 0
    assert capsys.readouterr().out == path.read_text()


def interrupt(command: subprocess.Popen[str], pipe: Path, games: str) -> None:
    """Writes games to a pipe that a command reads, and sends it Ctrl-C in the middle of them."""
    middle = len(games) // 2
    with pipe.open("w") as file:
        file.write(games[:middle])
        file.flush()
        command.send_signal(signal.SIGINT)
        file.write(games[middle:])


def test_ctrl_c_ends_an_import_before_all_is_read(tmp_path: Path) -> None:
    # given: games of which a pipe holds few
    games = "".join(written(one, "text") for one in many_games(200))
    assert len(games) > 4 * 65536
    os.mkfifo(tmp_path / "pipe")
    with started(tmp_path, "tournament", "import", "pipe") as command:
        with pytest.raises(BrokenPipeError):
            interrupt(command, tmp_path / "pipe", games)
        ended = end_of(command)

    assert (ended.status, ended.out) == (130, "")
    assert json.loads(arena(tmp_path, "tournament", "list", "--json").out) == []


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
