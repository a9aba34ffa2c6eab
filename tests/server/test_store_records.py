"""What is recorded: each game once, tournaments that resume only as they were, standings and ratings that add up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text
from sqlalchemy.orm import Session

from rummyarena_server.config import NAME_LENGTH
from rummyarena_server.store.database import open_engine, writing
from rummyarena_server.store.errors import StoreError
from rummyarena_server.store.history import entrants
from rummyarena_server.store.records import (
    begin_attempt,
    count_for_elo,
    differences,
    find_tournament,
    finish_tournament,
    open_tournament,
    pin_entrant,
    record_game,
    record_text,
    recorded_indices,
    set_aside,
)
from rummyarena_server.store.results import (
    EntrantPlan,
    GameRecordText,
    SeatResult,
    StoredTournament,
    TournamentPlan,
    canonical_json,
    variant_text,
)
from rummyarena_server.store.standings import ladder, standings
from rummyarena_server.tournament.ladder import rebuild_ratings
from rummyarena_server.tournament.rating import elo_changes
from tests.server.results import NOW, SECRET, plan, result

LATER = NOW + timedelta(hours=1)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store") / "arena.db"


@pytest.fixture
def session(database: Path) -> Iterator[Session]:
    with undone(database) as session:
        yield session


@contextmanager
def undone(path: Path) -> Iterator[Session]:
    """A session of which nothing remains."""
    engine = open_engine(path)
    with Session(writing(engine)) as session:
        yield session
    engine.dispose()


def opened(session: Session, which: TournamentPlan | None = None) -> int:
    tournament = open_tournament(session, which or plan(), NOW)
    assert isinstance(tournament, StoredTournament)
    return tournament.id


def changed(session: Session, which: TournamentPlan) -> list[str]:
    differences = open_tournament(session, which, LATER)
    assert isinstance(differences, list)
    return differences


# --- tournaments -----------------------------------------------------------------------------------------------------


def test_a_new_tournament_is_made_as_planned(session: Session) -> None:
    tournament = open_tournament(session, plan(), NOW)
    assert isinstance(tournament, StoredTournament)
    assert (tournament.name, tournament.status, tournament.event_secret) == ("Friday", "running", SECRET)
    assert (tournament.opened_at, tournament.finished_at) == (NOW, None)
    assert find_tournament(session, "Friday") == tournament
    assert [(one.number, one.name, one.version) for one in standings(session, tournament.id)] == [
        (0, "Ann", "1.0"),
        (1, "Bob", "1.0"),
    ]


def test_a_tournament_that_is_there_resumes_with_its_own_secret(session: Session) -> None:
    first = open_tournament(session, plan(), NOW)
    assert open_tournament(session, plan(event_secret=bytes(32)), LATER) == first


def test_a_secret_is_not_shown(session: Session) -> None:
    assert SECRET.hex()[:8] not in repr(open_tournament(session, plan(), NOW)) + repr(plan())
    assert repr(SECRET)[2:20] not in repr(open_tournament(session, plan(), NOW)) + repr(plan())


def test_what_has_changed_is_said(session: Session) -> None:
    before = {"seed": 0, "clock": "on", "bots": [{"name": "Ann", "version": "1"}, {"name": "Bob"}]}
    after = {"seed": 1, "bots": [{"name": "Ann", "version": "2"}, {"name": "Bob"}, {"name": "\x1b[31m"}]}
    opened(session, plan(configuration=before))
    assert changed(session, plan(configuration=after)) == [
        'bots[0].version: it was "1", now it is "2"',
        r'bots[2]: it was absent, now it is {"name": "\u001b[31m"}',
        'clock: it was "on", now it is absent',
        "seed: it was 0, now it is 1",
    ]
    assert find_tournament(session, "Friday") is not None


def test_a_bot_with_a_version_is_the_same_whatever_its_command(session: Session) -> None:
    def bots(held: str, other: str) -> list[dict[str, Any]]:
        return [{"name": "Ann", "version": "1", "command": [held]}, {"name": "Bob", "version": "", "command": [other]}]

    opened(session, plan(configuration={"bots": bots("a", "b")}))
    assert changed(session, plan(configuration={"bots": bots("c", "d")})) == [
        'bots[1].command[0]: it was "b", now it is "d"'
    ]


def test_it_does_not_matter_by_which_patterns_the_same_files_are_found(session: Session) -> None:
    opened(session, plan(configuration={"bots": [{"name": "Ann", "files": ["*.py"]}, {"name": "Bob"}]}))
    after = plan(configuration={"bots": [{"name": "Ann", "files": ["a.py", "b.py"]}, {"name": "Bob"}]})
    assert open_tournament(session, after, LATER) == find_tournament(session, "Friday")


@pytest.mark.parametrize(("was", "now"), [(True, False), (False, True)])
def test_a_secret_that_is_fixed_by_now_or_no_longer_is_a_change(session: Session, was: bool, now: bool) -> None:
    opened(session, plan(secret_fixed=was))
    assert changed(session, plan(secret_fixed=now)) == ["secret: it is not the same"]


def test_another_fixed_secret_is_a_change(session: Session) -> None:
    opened(session, plan(secret_fixed=True))
    assert open_tournament(session, plan(secret_fixed=True), LATER) == find_tournament(session, "Friday")
    assert changed(session, plan(secret_fixed=True, event_secret=bytes(32))) == ["secret: it is not the same"]


def test_a_bot_is_the_same_in_all_its_tournaments(session: Session) -> None:
    opened(session, plan("Ann", "Bob"))
    opened(session, plan("Bob", "Cid", name="Saturday"))
    assert session.execute(text("SELECT name FROM bot ORDER BY id")).scalars().all() == ["Ann", "Bob", "Cid"]


def test_names_are_data(session: Session) -> None:
    odd = ("'; DROP TABLE game; --", "../..", "=1+1", "a,b|c", "\u00e9" * 64)
    tournament = opened(session, plan(*odd))
    assert [one.name for one in standings(session, tournament)] == list(odd)


def test_a_tournament_finishes_once(session: Session) -> None:
    tournament = opened(session)
    finish_tournament(session, tournament, NOW)
    finish_tournament(session, tournament, LATER)
    found = find_tournament(session, "Friday")
    assert found is not None
    assert (found.status, found.finished_at) == ("finished", NOW)


@pytest.mark.parametrize(
    "changes",
    [{"event_secret": b"short"}, {"entrants": (EntrantPlan("Ann"),)}, {"entrants": (EntrantPlan("Ann"),) * 2}],
)
def test_a_plan_that_makes_no_sense_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"32 bytes|each once"):
        plan(**changes)


# --- pins ------------------------------------------------------------------------------------------------------------


def pinned(*pins: str, **changes: Any) -> TournamentPlan:
    """A tournament of bots with these pins."""
    names = ("Ann", "Bob", "Cid")
    return plan(entrants=tuple(EntrantPlan(name, pin=pin) for name, pin in zip(names, pins, strict=False)), **changes)


def pin(command: str = "words", **files: str) -> str:
    return canonical_json({"command": command, "files": files})


def pins(session: Session, tournament: int) -> list[tuple[str, str]]:
    return [(one.pin, one.version) for one in entrants(session, tournament)]


def test_a_file_of_a_bot_that_has_changed_is_named(session: Session) -> None:
    opened(session, pinned(pin(same="1", first="1", gone="1"), pin(same="1")))
    assert changed(session, pinned(pin(same="1", first="2", new="1"), pin(same="2"))) == [
        'bots[0] "Ann": first has changed',
        'bots[0] "Ann": gone is gone',
        'bots[0] "Ann": new is new',
        'bots[1] "Bob": same has changed',
    ]


def test_pins_are_compared_beside_the_settings(session: Session) -> None:
    before, after = {"seed": 0}, {"seed": 1}
    opened(session, pinned(pin(first="1"), pin(), configuration=before))
    assert changed(session, pinned(pin(first="2"), pin(), configuration=after)) == [
        "seed: it was 0, now it is 1",
        'bots[0] "Ann": first has changed',
    ]


def test_of_many_files_that_have_changed_some_are_named(session: Session) -> None:
    before, after = ({f"file {number:02}": content for number in range(99)} for content in "12")
    opened(session, pinned(pin(**before), pin()))
    named = changed(session, pinned(pin(**after), pin()))
    assert named[0] == 'bots[0] "Ann": file 00 has changed'
    assert named[10:] == ['bots[0] "Ann": 89 more of its files have changed']


def test_the_names_of_files_do_no_harm(session: Session) -> None:
    opened(session, pinned(pin(), pin()))
    odd = pin(**{"\x1b[31m\n\u202e": "1", "x" * 1000: "1"})
    assert changed(session, pinned(odd, pin())) == [
        r'bots[0] "Ann": \x1b[31m\n\u202e is new',
        f'bots[0] "Ann": {"x" * 200}... (1000 characters) is new',
    ]


def test_where_the_words_have_changed_the_settings_tell_it(session: Session) -> None:
    before, after = {"bots": [{"command": ["./a"]}]}, {"bots": [{"command": ["./b"]}]}
    opened(session, pinned(pin("a", a="1"), pin(), configuration=before))
    assert changed(session, pinned(pin("b", b="1"), pin(), configuration=after)) == [
        'bots[0].command[0]: it was "./a", now it is "./b"'
    ]


def test_pins_that_were_not_known_are_stored_and_hold_from_then_on(session: Session) -> None:
    tournament = opened(session, pinned("", pin(first="1")))
    assert opened(session, pinned(pin(first="1"), pin(first="1"))) == tournament
    assert pins(session, tournament) == [(pin(first="1"), "")] * 2
    assert changed(session, pinned(pin(first="2"), pin(first="1"))) == ['bots[0] "Ann": first has changed']


def test_nothing_is_stored_of_a_tournament_that_is_refused(session: Session) -> None:
    tournament = opened(session, pinned("", pin(first="1")))
    changed(session, pinned(pin(), pin(first="2")))
    assert pins(session, tournament)[0] == ("", "")


def test_a_pin_that_is_not_known_now_changes_nothing(session: Session) -> None:
    tournament = opened(session, pinned("", ""))
    pin_entrant(session, tournament, 1, '{"version":"2"}', "2")
    assert opened(session, pinned("", "")) == tournament
    assert pins(session, tournament) == [("", ""), ('{"version":"2"}', "2")]
    assert [one.version for one in standings(session, tournament)] == ["", "2"]


def test_what_is_finished_needs_its_bots_no_more(session: Session) -> None:
    tournament = opened(session, pinned(pin(first="1"), ""))
    finish_tournament(session, tournament, NOW)
    assert opened(session, pinned(pin(first="2"), pin())) == tournament
    assert pins(session, tournament)[1] == ("", "")
    assert differences(session, pinned(pin(first="2"), pin())) == ['bots[0] "Ann": first has changed']


# --- setting aside ---------------------------------------------------------------------------------------------------


def aside(session: Session, name: str = "Friday") -> str:
    found = find_tournament(session, name)
    assert found is not None
    return set_aside(session, found, NOW)


def test_a_tournament_that_is_set_aside_makes_its_name_free_and_keeps_all_else(session: Session) -> None:
    first = opened(session)
    record_game(session, first, result(0), NOW)
    count_for_elo(session, first, 1)
    rebuild_ratings(session, NOW)
    before = find_tournament(session, "Friday"), standings(session, first), ladder(session)

    name = aside(session)

    assert name == "Friday (set aside 2024-05-04 12:00:00)"
    assert find_tournament(session, "Friday") is None
    kept = find_tournament(session, name)
    assert kept is not None
    assert (replace(kept, name="Friday"), standings(session, first), ladder(session)) == before
    second = opened(session, plan(configuration={"ruleset": "thai", "seed": 8}))
    assert second > first
    rebuild_ratings(session, NOW)
    assert ladder(session) == before[2]


def test_a_file_with_the_new_name_goes_on_with_it(session: Session) -> None:
    tournament = opened(session, plan(configuration={"name": "Friday", "seed": 7}))
    name = aside(session)
    assert opened(session, plan(name=name, configuration={"name": name, "seed": 7})) == tournament


@pytest.mark.parametrize("name", ["Friday", "x" * 64, "a long name of words that is cut at a blank"])
def test_a_name_aside_is_as_long_as_a_name_may_be_and_new(name: str, session: Session) -> None:
    found = []
    for _ in range(12):
        opened(session, plan(name=name))
        found.append(aside(session, name))
    assert len(set(found)) == 12
    assert found[0].endswith(" (set aside 2024-05-04 12:00:00)")
    assert found[11].endswith(" (set aside 2024-05-04 12:00:00, 12)")
    assert all(one.startswith(name[:20]) and len(one) <= NAME_LENGTH and "  " not in one for one in found)


def test_what_was_in_play_is_abandoned(session: Session) -> None:
    tournament = opened(session)
    begin_attempt(session, tournament, 3, lambda attempt: bytes([attempt] * 32), NOW)
    aside(session)
    assert session.execute(text("SELECT count(*) FROM attempt WHERE abandoned_at IS NULL")).scalar_one() == 0


# --- games -----------------------------------------------------------------------------------------------------------


def test_a_game_is_recorded_once(session: Session) -> None:
    tournament = opened(session)
    assert record_game(session, tournament, result(5, (1, 2)), NOW)
    assert not record_game(session, tournament, result(5, (2, 1)), LATER)
    assert session.execute(text("SELECT rank FROM seat ORDER BY seat")).scalars().all() == [1, 2]
    assert session.execute(text("SELECT count(*) FROM record")).scalar_one() == 1


def test_the_same_index_of_another_tournament_is_another_game(session: Session) -> None:
    first, second = opened(session), opened(session, plan(name="Saturday"))
    assert record_game(session, first, result(0), NOW)
    assert record_game(session, second, result(0), NOW)


def test_all_that_is_said_of_a_game_is_stored(session: Session) -> None:
    tournament = opened(session)
    loser = SeatResult(entrant=0, rank=2, total=-30, points=-20, forfeit="exited", thinking=2**40, faults=2)
    winner = SeatResult(entrant=1, rank=1, total=80, points=70)
    record_game(
        session,
        tournament,
        result(2**40, seats=(winner, loser), options={"max_deals": 3}, attempt=1, reason="forfeits"),
        NOW,
    )
    game = session.execute(text("SELECT * FROM game")).mappings().one()
    assert (game["schedule_index"], game["deal_group"], game["rotation"], game["attempt"]) == (2**40, 2**39, 0, 1)
    assert (game["ruleset"], game["rules_version"], game["options"]) == ("thai", 1, '{"max_deals":3}')
    assert (game["status"], game["reason"], game["rated"]) == ("finished", "forfeits", 1)
    assert (game["deals"], game["counted_deals"]) == (3, 2)
    seats = session.execute(
        text(
            "SELECT number, rank, total, points, forfeit, thinking, faults"
            " FROM seat JOIN entrant ON entrant.id = entrant_id ORDER BY seat"
        )
    )
    assert list(map(tuple, seats)) == [(1, 1, 80, 70, None, 0, 0), (0, 2, -30, -20, "exited", 2**40, 2)]


def test_the_record_comes_back_as_it_was(session: Session) -> None:
    tournament = opened(session)
    record = GameRecordText(format=3, text='{"moves":["draw","discard 4\u2665"]}' * 500)
    record_game(session, tournament, result(4, record=record), NOW)
    assert record_text(session, tournament, 4) == record
    assert session.execute(text("SELECT length(content) FROM record")).scalar_one() < len(record.text) / 10


def test_a_damaged_record_is_said_so(session: Session) -> None:
    tournament = opened(session)
    record_game(session, tournament, result(4), NOW)
    session.execute(text("UPDATE record SET content = x'00'"))
    with pytest.raises(StoreError, match="the record of game 4 is damaged"):
        record_text(session, tournament, 4)


def test_a_record_that_is_not_to_be_kept_is_not_there(session: Session) -> None:
    tournament = opened(session)
    assert record_game(session, tournament, result(0, record=None), NOW)
    assert record_text(session, tournament, 0) is None


def test_a_game_that_was_not_played_has_no_record(session: Session) -> None:
    tournament = opened(session)
    withdrawn = tuple(SeatResult(entrant=one, rank=one + 1, forfeit="withdrawn" if one else None) for one in (0, 1))
    nothing: dict[str, Any] = {"record": None, "deals": 0, "counted_deals": 0, "started_at": None, "finished_at": None}
    assert record_game(session, tournament, result(0, seats=withdrawn, status="unplayed", **nothing), NOW)
    assert record_text(session, tournament, 0) is None
    assert record_text(session, tournament, 1) is None


@given(st.sets(st.integers(0, 30)), st.randoms(use_true_random=False))
def test_recorded_indices_are_ranges_with_gaps_between(
    tmp_path_factory: pytest.TempPathFactory, indices: set[int], random: Random
) -> None:
    in_some_order = sorted(indices)
    random.shuffle(in_some_order)
    with undone(tmp_path_factory.getbasetemp() / "ranges.db") as session:
        tournament, other = opened(session), opened(session, plan(name="Saturday"))
        record_game(session, other, result(31), NOW)
        for index in in_some_order:
            record_game(session, tournament, result(index), NOW)
        ranges = recorded_indices(session, tournament)
    assert [index for one in ranges for index in one] == sorted(indices)
    assert all(one.stop < after.start for one, after in pairwise(ranges))


@pytest.mark.parametrize(
    "changes",
    [
        {"index": -1},
        {"seed": b"short"},
        {"status": "abandoned"},
        {"counted_deals": 4},
        {"status": "unplayed"},
        {"lag": -1},
        {"ranks": (0, 1)},
        {"ranks": (2, 2)},
        {"seats": (SeatResult(entrant=0, rank=1),)},
        {"seats": (SeatResult(entrant=0, rank=1), SeatResult(entrant=0, rank=2))},
        {"seats": (SeatResult(entrant=0, rank=1), SeatResult(entrant=1, rank=2, thinking=-1))},
    ],
)
def test_a_result_that_makes_no_sense_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        result(**({"index": 0} | changes))


# --- standings -------------------------------------------------------------------------------------------------------


def test_a_standing_counts_places_points_and_faults(session: Session) -> None:
    # given: in the games 0 .. 3 Ann wins, Bob wins, both share the first place, Ann wins
    tournament = opened(session)
    for index, ranks in enumerate([(1, 2), (1, 2), (1, 1), (2, 1)]):
        record_game(session, tournament, result(index, ranks), NOW)
    # when
    ann, bob = standings(session, tournament)
    # then
    assert (ann.name, ann.games, ann.wins, ann.draws, ann.losses, ann.score) == ("Ann", 4, 2, 1, 1, 2.5)
    assert (bob.name, bob.games, bob.wins, bob.draws, bob.losses, bob.score) == ("Bob", 4, 1, 1, 2, 1.5)
    assert (ann.deals, ann.points, ann.difference) == (8, 50 + 10 + 50 + 50, 40.0)
    assert (ann.thinking, ann.faults, ann.forfeits) == (6_000, 4, 0)
    assert ann.difference == -bob.difference


def test_at_a_table_of_three_the_score_is_the_share_of_opponents_beaten(session: Session) -> None:
    tournament = opened(session, plan("Ann", "Bob", "Cid", configuration={"ruleset": "thai", "seats": 3}))
    for rotation, table in enumerate([(0, 1, 2), (1, 2, 0), (2, 0, 1)]):
        places = {0: (1, 90), 1: (2, 30), 2: (2, 0)}
        seats = tuple(SeatResult(entrant=one, rank=places[one][0], points=places[one][1]) for one in table)
        record_game(session, tournament, result(rotation, group=0, rotation=rotation, seats=seats), NOW)
    found = standings(session, tournament)
    assert [(one.name, one.score, one.difference) for one in found] == [
        ("Ann", 3.0, 225.0),
        ("Bob", 0.75, -45.0),
        ("Cid", 0.75, -180.0),
    ]
    assert [(one.wins, one.draws, one.losses) for one in found] == [(3, 0, 0), (0, 0, 3), (0, 0, 3)]


def test_where_the_lowest_total_wins_a_lower_total_is_ahead(session: Session) -> None:
    tournament = opened(session, plan("Ann", "Bob", configuration={"ruleset": "liverpool", "seats": 2}))
    for rotation, table in enumerate([(0, 1), (1, 0)]):
        points = {0: (1, 30), 1: (2, 90)}
        seats = tuple(SeatResult(entrant=one, rank=points[one][0], points=points[one][1]) for one in table)
        record_game(session, tournament, result(rotation, group=0, rotation=rotation, seats=seats), NOW)
    assert [(one.name, one.points, one.difference) for one in standings(session, tournament)] == [
        ("Ann", 60, 120.0),
        ("Bob", 180, -120.0),
    ]


def test_only_complete_groups_count(session: Session) -> None:
    tournament = opened(session)
    for index in (0, 1, 2, 5):
        record_game(session, tournament, result(index), NOW)
    assert [one.games for one in standings(session, tournament)] == [2, 2]


def test_a_game_without_a_winner_scores_for_nobody(session: Session) -> None:
    tournament = opened(session)
    for index in (0, 1):
        record_game(session, tournament, result(index, (2, 2), rated=False), NOW)
    assert [(one.games, one.losses, one.draws, one.score) for one in standings(session, tournament)] == [
        (2, 2, 0, 0.0)
    ] * 2


def test_a_tournament_without_games_has_its_entrants(session: Session) -> None:
    assert [(one.name, one.games, one.score) for one in standings(session, opened(session))] == [
        ("Ann", 0, 0.0),
        ("Bob", 0, 0.0),
    ]


# --- ratings ---------------------------------------------------------------------------------------------------------


def test_ratings_follow_the_schedule_whatever_the_order_of_finishing(session: Session) -> None:
    # given: two tournaments, the games of both recorded from the last to the first
    first, second = opened(session), opened(session, plan(name="Saturday"))
    games = [(first, 0, (1, 2)), (first, 1, (1, 2)), (first, 2, (1, 2)), (second, 0, (1, 1)), (second, 1, (2, 1))]
    for tournament, index, ranks in reversed(games):
        record_game(session, tournament, result(index, ranks), NOW)
    # when
    count_for_elo(session, first, 3)
    count_for_elo(session, second, 2)
    rebuild_ratings(session, NOW)
    # then
    elo = [1500.0, 1500.0]
    for _, index, ranks in games:
        table = (0, 1) if index % 2 == 0 else (1, 0)
        changes = elo_changes([elo[one] for one in table], ranks)
        for one, change in zip(table, changes, strict=True):
            elo[one] += change
    assert {one.bot: one.elo for one in ladder(session)} == {"Ann": elo[0], "Bob": elo[1]}
    assert {one.bot: (one.games, one.wins, one.draws, one.losses) for one in ladder(session)} == {
        "Ann": (5, 3, 1, 1),
        "Bob": (5, 1, 1, 3),
    }


def test_ratings_made_again_are_the_same(session: Session) -> None:
    tournament = opened(session)
    record_game(session, tournament, result(0), NOW)
    count_for_elo(session, tournament, 1)
    rebuild_ratings(session, NOW)
    once = ladder(session)
    rebuild_ratings(session, LATER)
    assert ladder(session) == once != []


def test_each_variant_has_its_own_ratings(session: Session) -> None:
    tournament = opened(session)
    record_game(session, tournament, result(0), NOW)
    record_game(session, tournament, result(1, options={"target_score": 300}), NOW)
    record_game(session, tournament, result(2, rules_version=2), NOW)
    count_for_elo(session, tournament, 3)
    rebuild_ratings(session, NOW)
    assert [(one.variant, one.bot, one.elo) for one in ladder(session)] == [
        ("thai 1, 2 seats", "Ann", 1508.0),
        ("thai 1, 2 seats", "Bob", 1492.0),
        ("thai 1, 2 seats, target_score=300", "Bob", 1508.0),
        ("thai 1, 2 seats, target_score=300", "Ann", 1492.0),
        ("thai 2, 2 seats", "Ann", 1508.0),
        ("thai 2, 2 seats", "Bob", 1492.0),
    ]


def test_a_game_that_is_not_rated_is_left_out(session: Session) -> None:
    tournament = opened(session)
    record_game(session, tournament, result(0, (2, 2), rated=False), NOW)
    count_for_elo(session, tournament, 1)
    rebuild_ratings(session, NOW)
    assert ladder(session) == []


def test_only_the_first_games_that_are_to_count_do(session: Session) -> None:
    tournament = opened(session)
    for index in (0, 1, 2):
        record_game(session, tournament, result(index), NOW)
    rebuild_ratings(session, NOW)
    assert ladder(session) == []
    count_for_elo(session, tournament, 2)
    rebuild_ratings(session, NOW)
    assert [one.games for one in ladder(session)] == [2, 2]


def test_a_variant_is_named_by_what_differs_from_the_defaults() -> None:
    options = {"target_score": 300, "first_player": "dealer", "pickup_layoff": True}
    assert variant_text("thai", 1, 4, options) == (
        "thai 1, 4 seats, first_player=dealer, pickup_layoff=true, target_score=300"
    )
    assert variant_text("thai", 1, 4, dict(reversed(options.items()))) == variant_text("thai", 1, 4, options)


def test_canonical_json_is_one_text_for_one_value() -> None:
    assert canonical_json({"b": [1, "\u00e9"], "a": None}) == '{"a":null,"b":[1,"\u00e9"]}'
    assert canonical_json(replace(result(0)).options) == "{}"
