"""The figures of a tournament: made from what is stored, finite in every case, the same whatever the order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from itertools import combinations
from math import isfinite
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.orm import Session

from rummyarena_server.store.database import open_engine, writing
from rummyarena_server.store.forfeits import forfeits
from rummyarena_server.store.records import open_tournament, record_game
from rummyarena_server.store.results import SeatResult, StoredTournament
from rummyarena_server.tournament.balance import balance
from rummyarena_server.tournament.bars import Estimate
from rummyarena_server.tournament.figures import (
    Meeting,
    Statistics,
    balance_of,
    figures,
    meetings,
    statistics,
    statistics_of,
)
from rummyarena_server.tournament.games import Game, Games, in_columns
from rummyarena_server.tournament.pairs import group_scores, head_to_head, pair_statistics
from tests.server.results import NOW, plan, result
from tests.tournament.simulation import STRONG_LUCK, play, random_tables

A_WIN, A_TIE, A_LOSS = (1, 2), (1, 1), (2, 1)  # the places of the first seat and the second


def simulated(seed: int, entrants: int, seats: int, groups: int) -> Games:
    draws = np.random.default_rng(seed)
    return play(draws, np.linspace(-0.5, 0.5, entrants), random_tables(draws, entrants, seats, groups), STRONG_LUCK)


def duel(*places: tuple[int, int], entrants: int = 2) -> Games:
    """Games of entrants 0 and 1, who change seats within a deal group of two; places are those of 0 and 1."""
    games = []
    for index, (own, other) in enumerate(places):
        points = (20 * other, 20 * own)
        game = Game(index // 2, (0, 1), (own, other), points, 2)
        turned = Game(index // 2, (1, 0), (other, own), points[::-1], 2)
        games.append(turned if index % 2 else game)
    return in_columns(entrants, 2, games)


def estimates(of: object) -> Iterator[Estimate]:
    """Yields every estimate in a value."""
    if isinstance(of, Estimate):
        yield of
    elif isinstance(of, tuple):
        for one in of:
            yield from estimates(one)
    elif is_dataclass(of):
        for one in fields(of):
            yield from estimates(getattr(of, one.name))


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_the_balance_of_played_games_is_that_of_their_tables(seats: int) -> None:
    games = simulated(seats, entrants=6, seats=seats, groups=20)

    tables = [tuple(map(int, table)) for table in games.tables]
    assert balance_of(games) == balance(6, seats, tables)


def assert_sound(found: Statistics) -> None:
    for one in estimates(found):
        assert all(map(isfinite, (one.low, one.value, one.high)))
        assert one.low <= one.value <= one.high
        assert one.low < one.high
    assert all(0 < one < 1 for row in found.figures.superiority for one in row)
    for saved in (found.saved.places, found.saved.points):
        assert saved is None or (isfinite(saved) and saved <= 1)


# --- every case has its figures --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "places",
    [
        (),
        (A_WIN,),
        (A_LOSS,),
        (A_TIE,),
        (A_WIN, A_WIN),
        (A_WIN, A_LOSS),
        (A_WIN,) * 200,
        (A_LOSS,) * 200,
        (A_TIE,) * 200,
        (A_WIN, A_LOSS) * 100,
    ],
)
@pytest.mark.parametrize("strangers", [0, 1, 3])
def test_figures_are_finite_and_bars_have_a_width(places: tuple[tuple[int, int], ...], strangers: int) -> None:
    found = statistics_of(duel(*places, entrants=2 + strangers), lower_is_better=False)

    assert_sound(found)
    assert (found.games, found.groups) == (len(places), (len(places) + 1) // 2)
    assert [(one.bot, one.opponent) for one in found.meetings] == ([(0, 1)] if places else [])
    assert [one.groups for one in found.figures.strength[2:]] == [0] * strangers
    assert found.figures.points[2:] == (None,) * strangers


@given(
    st.integers(2, 5).flatmap(
        lambda entrants: st.tuples(
            st.just(entrants),
            st.lists(
                st.builds(
                    Game,
                    group=st.integers(0, 3),
                    table=st.permutations(range(entrants)).map(lambda order: tuple(order[:2])),
                    ranks=st.sampled_from([A_WIN, A_TIE, A_LOSS]),
                    points=st.tuples(st.integers(-500, 500), st.integers(-500, 500)),
                    deals=st.integers(0, 3),
                ),
                max_size=12,
            ),
        )
    )
)
def test_whatever_was_played_has_sound_figures(played: tuple[int, Sequence[Game]]) -> None:
    entrants, games = played
    assert_sound(statistics_of(in_columns(entrants, 2, games), lower_is_better=True))


@pytest.mark.parametrize("seats", [2, 4])
def test_the_order_of_the_games_changes_nothing(seats: int) -> None:
    games = simulated(1, 6, seats, 50)
    shuffled = np.random.default_rng(2).permutation(len(games))
    mixed = Games(
        6, *(column[shuffled] for column in (games.groups, games.tables, games.ranks, games.points, games.deals))
    )

    one, other = (statistics_of(columns, lower_is_better=False) for columns in (games, mixed))

    assert [(m.bot, m.opponent, m.wins, m.ties) for m in one.meetings] == [
        (m.bot, m.opponent, m.wins, m.ties) for m in other.meetings
    ]
    ends = [np.array([(bar.low, bar.value, bar.high) for bar in estimates(found)]) for found in (one, other)]
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)
    assert np.array(one.figures.superiority) == pytest.approx(np.array(other.figures.superiority), abs=1e-9)


# --- head to head ----------------------------------------------------------------------------------------------------


def test_a_meeting_counts_places_and_scores_by_deal_group() -> None:
    # given: groups of 2 : 0, of 1 : 1 and of 1/2 : 3/2
    (meeting,) = meetings(duel(A_WIN, A_WIN, A_WIN, A_LOSS, A_TIE, A_LOSS))

    assert (meeting.bot, meeting.opponent, meeting.wins, meeting.ties, meeting.losses) == (0, 1, 3, 1, 2)
    assert meeting.score == pair_statistics([1.0, 0.5, 0.25], 2).score


@pytest.mark.parametrize(("entrants", "seats"), [(2, 2), (5, 2), (5, 3), (9, 4), (9, 8)])
def test_meetings_are_those_of_two_bots_compared_alone(entrants: int, seats: int) -> None:
    games = simulated(3, entrants, seats, 12)
    counts = head_to_head(games)

    found = {(one.bot, one.opponent): one for one in meetings(games)}

    assert list(found) == [pair for pair in combinations(range(entrants), 2) if counts.groups[pair]]
    for (bot, opponent), one in found.items():
        alone = pair_statistics(*group_scores(games, bot, opponent)).score
        assert (one.score.value, one.score.low, one.score.high) == pytest.approx((alone.value, alone.low, alone.high))
        assert one.score.groups == counts.groups[bot, opponent]
        assert (one.wins, one.ties, one.losses) == (
            counts.wins[bot, opponent],
            counts.ties[bot, opponent],
            counts.wins[opponent, bot],
        )


def test_a_meeting_looks_the_other_way_from_the_other_side() -> None:
    one = Meeting(0, 3, wins=5, ties=1, losses=2, score=Estimate(0.75, 0.5, 0.875, 4))

    assert one.turned_round() == Meeting(3, 0, wins=2, ties=1, losses=5, score=Estimate(0.25, 0.125, 0.5, 4))
    assert one.turned_round().turned_round() == one


# --- from the store --------------------------------------------------------------------------------------------------


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    engine = open_engine(tmp_path / "arena.db")
    with Session(writing(engine)) as session:
        yield session
    engine.dispose()


def opened(session: Session, ruleset: str = "thai") -> int:
    made = open_tournament(session, plan("Ann", "Bob", "Cid", configuration={"ruleset": ruleset, "seats": 2}), NOW)
    assert isinstance(made, StoredTournament)
    return made.id


def test_before_a_group_is_complete_there_are_no_figures(session: Session) -> None:
    friday = opened(session)
    for index in (0, 2, 5):
        record_game(session, friday, result(index), NOW)

    assert figures(session, friday, 3, 2) is None
    assert statistics(session, friday, 3, 2) is None


def test_incomplete_groups_and_games_that_nobody_won_are_left_out(session: Session) -> None:
    friday = opened(session)
    for index in (0, 1, 2, 3, 6):
        record_game(session, friday, result(index, ranks=(2, 2) if index == 3 else A_WIN, rated=index != 3), NOW)

    found = statistics(session, friday, 3, 2)

    assert found is not None
    assert (found.games, found.groups) == (3, 2)
    assert [(one.wins, one.ties, one.losses) for one in found.meetings] == [(2, 0, 1)]
    assert found.figures == figures(session, friday, 3, 2)
    assert_sound(found)


@pytest.mark.parametrize(("ruleset", "sign"), [("thai", 1), ("liverpool", -1)])
def test_more_points_a_deal_are_better_in_every_ruleset(session: Session, ruleset: str, sign: int) -> None:
    friday = opened(session, ruleset)
    for index in (0, 1):  # entrant 0 has 40 points more in each, over two deals
        ranks = (A_WIN, A_LOSS)[index]
        record_game(session, friday, result(index, ranks), NOW)

    found = statistics(session, friday, 3, 2)

    assert found is not None
    assert [points and points.value for points in found.figures.points] == [sign * 20, -sign * 20, None]


def forfeited(entrant: int, **changes: object) -> SeatResult:
    return SeatResult(**({"entrant": entrant, "rank": 2} | changes))  # type: ignore[arg-type]  # of several types


def test_forfeits_are_counted_by_bot_and_reason_over_complete_groups(session: Session) -> None:
    friday, saturday = opened(session), open_tournament(session, plan(name="Saturday"), NOW)
    assert isinstance(saturday, StoredTournament)
    ann, bob = SeatResult(entrant=0, rank=1), SeatResult(entrant=1, rank=1)
    tables = [
        (ann, forfeited(1, forfeit="exited")),
        (forfeited(1, forfeit="faults"), ann),
        (ann, forfeited(1, forfeit="exited")),
        (forfeited(1, rank=2, forfeit="exited"), forfeited(0, rank=2, forfeit="gone")),  # nobody won
        (forfeited(0, forfeit="misuse"), bob),  # of an incomplete group
    ]
    for index, seats in enumerate(tables):
        record_game(session, friday, result(index, seats=seats, rated=index != 3), NOW)
    record_game(session, saturday.id, result(0, seats=tables[0]), NOW)

    assert forfeits(session, friday, 2) == {0: {"gone": 1}, 1: {"exited": 3, "faults": 1}}
