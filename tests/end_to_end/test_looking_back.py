"""`tournament list`, `show` and `replay`, and records that are verified elsewhere: what was played, for all to see."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from rummyarena_server.store.database import open_engine, writing
from rummyarena_server.store.records import open_tournament, record_game
from rummyarena_server.store.results import StoredTournament
from tests.end_to_end.arena import DATABASE, Ended, arena, games
from tests.server.results import NOW, plan, result


def test_tournaments_are_listed(friday: tuple[Path, Ended]) -> None:
    folder, _ = friday
    header, line = arena(folder, "tournament", "list").out.splitlines()
    assert header.split() == ["tournament", "variant", "bots", "games", "recorded"]
    assert line.split()[0] == "Friday"
    (found,) = json.loads(arena(folder, "tournament", "list", "--json").out)
    assert (found["name"], found["status"], found["recorded"], found["games"]) == ("Friday", "finished", 12, 12)


def test_a_tournament_is_shown_with_its_table_and_games(friday: tuple[Path, Ended]) -> None:
    folder, ended = friday
    shown = arena(folder, "tournament", "show", "Friday", "--games", "5")
    _, digest, secret, *lines = shown.out.splitlines()
    assert digest.startswith("SHA-256 of its secret: ")
    assert digest in ended.out  # it was said before the first game
    told = bytes.fromhex(secret.removeprefix("It is revealed now: "))
    assert digest.endswith(sha256(told).hexdigest())
    assert ended.table[:4] == lines[:4]
    assert lines[5].split()[:4] == ["bot", "strength", "points", "a"]
    assert [line.count("+-") for line in lines[6:9]] == [2, 2, 2]
    assert [line.split()[-1] for line in lines[6:9]] == ["4", "4", "4"]  # deal groups: two with each other bot
    assert [line.split()[0] for line in lines[12:17]] == [f"1.{index}.0" for index in range(5)]
    assert lines[-1] == "More: --after 4"
    later = arena(folder, "tournament", "show", "Friday", "--after", "9")
    assert [line.split()[0] for line in later.out.splitlines()[15:]] == ["1.10.0", "1.11.0"]


def test_a_tournament_is_shown_as_json(friday: tuple[Path, Ended]) -> None:
    folder, _ = friday
    shown = json.loads(arena(folder, "tournament", "show", "Friday", "--json").out)
    assert [one["index"] for one in shown["games"]] == list(range(12))
    assert sum(one["games"] for one in shown["standings"]) == 24
    figures = shown["figures"]
    assert all(one["low"] < one["value"] < one["high"] for one in figures["strength"] + figures["points"])
    assert abs(sum(one["value"] for one in figures["strength"])) < 1e-6  # about the mean
    assert figures["superiority"][0][1] + figures["superiority"][1][0] == pytest.approx(1)


def test_a_tournament_is_verified_handed_on_and_taken_in_elsewhere(friday: tuple[Path, Ended]) -> None:
    folder, _ = friday
    assert arena(folder, "verify", "Friday").out.endswith("All that could be checked is right in 12 games.\n")
    text = arena(folder, "tournament", "export", "Friday", "records").out
    (folder / "friday.txt").write_text(text)
    assert "checksum     12      0            0" in arena(folder, "verify", "friday.txt").out
    assert arena(folder, "tournament", "import", "friday.txt", "--db", "elsewhere.db").status == 0
    assert arena(folder, "verify", "Friday", "--db", "elsewhere.db").status == 0
    ended = arena(folder, "tournament", "run", "tournament.toml", "--db", "elsewhere.db")
    assert ended.status == 1
    assert "the tournament 'Friday' was imported from a file of records and cannot be played" in ended.err
    (folder / "friday.txt").write_text(text.replace("discard", "discard 2C", 1))
    ended = arena(folder, "verify", "friday.txt")
    assert (ended.status, ended.out) == (1, "")
    assert re.match(r"rummyarena: friday.txt: line \d+: .* where a move of thai is expected", ended.err)


def test_a_game_is_replayed_as_it_was(friday: tuple[Path, Ended]) -> None:
    folder, _ = friday
    game = games(folder)[3]
    told = arena(folder, "replay", "1.3.0")
    lines = told.out.splitlines()
    assert lines[0] == "thai, 2 seats, no clock"
    assert lines[1:3] == [f"seat {seat}: {bot}" for seat, bot in enumerate(game.bots)]
    assert {int(line.split()[-2]) for line in lines[-2:]} == set(game.totals)
    first, *events, over = map(json.loads, arena(folder, "replay", "1.3.0", "--json").out.splitlines())
    assert [bot["name"] for bot in first["bots"]] == list(game.bots)
    assert game.record is not None
    assert len(events) == game.record.events
    assert over["over"]["ranks"] == list(game.ranks)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("replay", "1.99.0"), "no game 1.99.0 is over"),
        (("replay", "x"), "no game x is over"),
        (("replay", "1.3.0", "--show", "2"), "--show 2: the seats are 0 to 1"),
        (("tournament", "show", "Saturday"), "there is no tournament Saturday"),
    ],
)
def test_what_is_not_there_is_said(words: tuple[str, ...], complaint: str, friday: tuple[Path, Ended]) -> None:
    folder, _ = friday
    ended = arena(folder, *words)
    assert (ended.status, ended.out) == (2, "")
    assert complaint in ended.err


def test_no_database_is_made_by_looking(tmp_path: Path) -> None:
    for words in (("tournament", "list"), ("tournament", "show", "Friday"), ("replay", "1.0.0")):
        assert arena(tmp_path, *words).status == 1
    assert list(tmp_path.iterdir()) == []


def test_a_game_is_not_shown_while_others_are_to_be_played_on_its_cards(tmp_path: Path) -> None:
    # given: one game of a deal group of two is recorded
    engine = open_engine(tmp_path / DATABASE)
    settings = {"ruleset": "thai", "rules_version": 1, "seats": 2, "cycles": 1, "deals": "shared", "options": {}}
    with Session(writing(engine)) as session, session.begin():
        made = open_tournament(session, plan(configuration=settings), NOW)
        assert isinstance(made, StoredTournament)
        record_game(session, made.id, result(0), NOW)
    engine.dispose()
    # when, then
    ended = arena(tmp_path, "replay", "1.0.0")
    assert (ended.status, ended.out) == (2, "")
    assert (
        "game 1.0.0 cannot be shown yet, for other games of Friday on the same cards are still to be played"
        in ended.err
    )
