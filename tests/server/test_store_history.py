"""What was played can be looked at: tournaments, their games page by page, a game with its record."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from rummyarena_server.store.database import open_engine, writing
from rummyarena_server.store.history import game_record, games
from rummyarena_server.store.records import (
    abandon_attempts,
    begin_attempt,
    finish_tournament,
    open_tournament,
    record_game,
)
from rummyarena_server.store.results import EntrantPlan, GameRecordText, SeatResult, StoredTournament
from rummyarena_server.tournament.archive import tournament, tournaments
from tests.server.results import NOW, plan, result

LATER = NOW + timedelta(hours=1)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    engine = open_engine(tmp_path / "arena.db")
    with Session(writing(engine)) as session:
        yield session
    engine.dispose()


def opened(session: Session, *names: str, name: str = "Friday", deals: str = "shared", seats: int = 2) -> int:
    said = {"ruleset": "thai", "seats": seats, "cycles": 3, "deals": deals, "bots": names}
    said |= {"rules_version": 1, "options": {"max_deals": 5}}
    made = open_tournament(session, plan(*names, name=name, configuration=said), NOW)
    assert isinstance(made, StoredTournament)
    return made.id


# --- tournaments -----------------------------------------------------------------------------------------------------


def test_a_tournament_is_known_by_its_name(session: Session) -> None:
    friday = opened(session, "Ann", "Bob", "Cid")
    record_game(session, friday, result(4), NOW)

    found = tournament(session, "Friday")

    assert found is not None
    assert (found.id, found.name, found.ruleset, found.seats, found.shares_deals) == (friday, "Friday", "thai", 2, True)
    assert found.bots == tuple(EntrantPlan(one, "1.0", ("./bot", one)) for one in ("Ann", "Bob", "Cid"))
    assert (found.status, found.recorded, found.games) == ("running", 1, 18)
    assert (found.opened_at, found.finished_at) == (NOW, None)
    assert tournament(session, "Saturday") is None


def test_tournaments_are_listed_in_the_order_of_opening(session: Session) -> None:
    assert tournaments(session) == []
    first = opened(session, name="Zoe's")
    opened(session, name="Al's", deals="own")
    finish_tournament(session, first, LATER)
    assert [(one.name, one.status, one.recorded, one.shares_deals) for one in tournaments(session)] == [
        ("Zoe's", "finished", 0, True),
        ("Al's", "running", 0, False),
    ]
    assert tournaments(session)[0].finished_at == LATER


# --- games -----------------------------------------------------------------------------------------------------------


def test_games_come_in_pages_in_the_order_of_the_schedule(session: Session) -> None:
    friday, saturday = opened(session), opened(session, name="Saturday")
    record_game(session, saturday, result(0), NOW)
    for index in (5, 0, 3, 1, 2):
        record_game(session, friday, result(index), NOW)
    page = games(session, friday, limit=2)
    assert [one.index for one in page] == [0, 1]
    assert [one.index for one in games(session, friday, after=page[-1].index, limit=2)] == [2, 3]
    assert [one.index for one in games(session, friday, after=3)] == [5]
    assert games(session, friday, after=5) == []


def test_a_game_has_its_seats_in_order_with_what_they_got(session: Session) -> None:
    friday = opened(session)
    loser = SeatResult(entrant=0, rank=2, total=-30, points=-20, forfeit="exited", thinking=2**40, faults=2)
    winner = SeatResult(entrant=1, rank=1, total=80, points=70)
    record_game(session, friday, result(7, seats=(winner, loser), attempt=1, reason="forfeits"), NOW)
    (game,) = games(session, friday)
    assert (game.id, game.index, game.group, game.rotation, game.attempt) == ("1.7.1", 7, 3, 1, 1)
    assert (game.status, game.reason, game.rated, game.deals, game.counted_deals) == (
        "finished",
        "forfeits",
        True,
        3,
        2,
    )
    assert [(one.bot, one.version, one.rank, one.total, one.points) for one in game.seats] == [
        ("Bob", "1.0", 1, 80, 70),
        ("Ann", "1.0", 2, -30, -20),
    ]
    assert [(one.forfeit, one.faults, one.thinking) for one in game.seats] == [(None, 0, 0), ("exited", 2, 2**40)]


def test_the_games_of_one_bot_can_be_asked_for(session: Session) -> None:
    friday = opened(session, "Ann", "Bob", "Cid")
    for index, table in zip(count(), [(0, 1), (2, 0), (1, 2)], strict=False):
        seats = tuple(SeatResult(entrant=one, rank=place) for place, one in enumerate(table, 1))
        record_game(session, friday, result(index, seats=seats), NOW)
    assert [one.index for one in games(session, friday, bot="Ann")] == [0, 1]
    assert [one.index for one in games(session, friday, bot="Cid", limit=1)] == [1]
    assert games(session, friday, bot="Dot") == []


# --- one game --------------------------------------------------------------------------------------------------------


def test_a_game_is_found_by_its_id_with_its_record(session: Session) -> None:
    friday = opened(session)
    record_game(session, friday, result(0), NOW)
    found = game_record(session, "1.0.0")
    assert found is not None
    assert (found.id, found.tournament, found.index, found.status) == ("1.0.0", "Friday", 0, "finished")
    assert found.record == GameRecordText(format=1, text='{"game":0}')
    assert found.seed == bytes(32)
    assert [found.summary] == games(session, friday)


@pytest.mark.parametrize("game_id", ["", "1", "1.0", "1.0.0.0", "1.0.1", "1.1.0", "2.0.0", "x", "-1.0.0", "1.0.\u0660"])
@pytest.mark.parametrize("tail", ["", "\n"])
def test_there_is_no_game_of_another_id(session: Session, game_id: str, tail: str) -> None:
    record_game(session, opened(session), result(0), NOW)
    assert game_record(session, game_id + tail) is None
    assert game_record(session, "9" * 18 + ".0.0") is None


@pytest.mark.parametrize("seats", [2, 4])
def test_with_shared_deals_no_card_is_shown_before_the_last_game_of_the_group(session: Session, seats: int) -> None:
    friday = opened(session, *"ABCD", seats=seats)

    def is_shown() -> bool:
        found = game_record(session, "1.0.0")
        assert found is not None
        return found.may_be_shown

    for rotation in range(seats):
        at_the_table = tuple(SeatResult(entrant=one, rank=one + 1) for one in range(seats))
        record_game(session, friday, result(rotation, group=0, rotation=rotation, seats=at_the_table), NOW)
        assert is_shown() == (rotation == seats - 1)


def test_with_deals_of_its_own_a_game_can_be_shown_as_soon_as_it_is_recorded(session: Session) -> None:
    record_game(session, opened(session, deals="own"), result(0), NOW)
    found = game_record(session, "1.0.0")
    assert found is not None
    assert found.may_be_shown


# --- attempts --------------------------------------------------------------------------------------------------------


def seed_of(attempt: int) -> bytes:
    return bytes([attempt + 1]) * 32


def test_attempts_are_counted_and_each_has_its_seed(session: Session) -> None:
    friday = opened(session, deals="own")
    assert [begin_attempt(session, friday, 4, seed_of, NOW) for _ in range(3)] == [0, 1, 2]
    assert begin_attempt(session, friday, 5, seed_of, NOW) == 0
    assert begin_attempt(session, opened(session, name="Saturday"), 4, seed_of, NOW) == 0
    abandoned = [game_record(session, f"{friday}.4.{number}") for number in range(3)]
    assert [one and (one.status, one.seed, one.may_be_shown) for one in abandoned] == [
        ("abandoned", seed_of(0), True),
        ("abandoned", seed_of(1), True),
        None,  # it may be in play
    ]


def test_a_recorded_attempt_is_a_game_and_no_attempt_any_more(session: Session) -> None:
    friday = opened(session, deals="own")
    for _ in range(2):
        begin_attempt(session, friday, 0, seed_of, NOW)
    record_game(session, friday, result(0, attempt=1, seed=seed_of(1)), NOW)
    assert [one.id for one in games(session, friday)] == ["1.0.1"]
    first, second = game_record(session, "1.0.0"), game_record(session, "1.0.1")
    assert first is not None
    assert second is not None
    assert (first.status, second.status) == ("abandoned", "finished")
    assert (first.record is None, second.record is None) == (True, False)


def test_what_was_in_play_when_its_process_ended_is_abandoned_by_the_next(session: Session) -> None:
    friday = opened(session, deals="own")
    begin_attempt(session, friday, 0, seed_of, NOW)
    assert game_record(session, "1.0.0") is None
    abandon_attempts(session, friday, LATER)
    found = game_record(session, "1.0.0")
    assert found is not None
    assert found.status == "abandoned"
    assert begin_attempt(session, friday, 0, seed_of, LATER) == 1
