"""Pair statistics against the figures that match runners publish; finite and honest in every case."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rummyarena_server.tournament.games import Game, in_columns
from rummyarena_server.tournament.pairs import PairStatistics, group_scores, head_to_head, pair_statistics, share
from tests.tournament.simulation import play, random_tables


def counted(*counts: int) -> list[float]:
    """Returns the scores of as many groups as are counted for each score from 0 to 1."""
    return np.repeat(np.linspace(0, 1, len(counts)), counts).tolist()


def half(bar: tuple[float, float]) -> float:
    return (bar[1] - bar[0]) / 2


def assert_sound(found: PairStatistics) -> None:
    for bar in (found.elo, found.normalised):
        assert np.isfinite([bar.low, bar.value, bar.high]).all()
        assert bar.low < bar.value < bar.high
    assert 0 <= found.score.low <= found.score.value <= found.score.high <= 1
    assert found.score.low < found.score.high
    assert 0 <= found.superiority <= 1


def test_single_games_as_published() -> None:
    losses, ties, wins = 96, 111, 136

    found = pair_statistics(counted(losses, ties, wins), games_a_group=1)

    assert found.elo.value == pytest.approx(40.70, abs=0.005)
    assert half((found.elo.low, found.elo.high)) == pytest.approx(30.43, abs=0.005)
    assert found.normalised.value == pytest.approx(49.77, abs=0.005)
    assert half((found.normalised.low, found.normalised.high)) == pytest.approx(36.77, abs=0.005)
    assert found.superiority == pytest.approx(0.9960, abs=0.00005)
    assert found.elo.groups == 343


def test_pairs_of_games_as_published() -> None:
    found = pair_statistics(counted(34, 54, 63, 64, 75), games_a_group=2)

    assert found.normalised.value == pytest.approx(57.94, abs=0.005)
    assert half((found.normalised.low, found.normalised.high)) == pytest.approx(28.28, abs=0.005)
    assert found.elo.value == pytest.approx(55.58, abs=0.005)
    assert half((found.elo.low, found.elo.high)) == pytest.approx(27.65, abs=0.005)


def test_a_bot_that_is_a_little_worse_as_published() -> None:
    found = pair_statistics(counted(332, 433, 498, 333, 334), games_a_group=2)

    assert found.normalised.value == pytest.approx(-9.17, abs=0.005)
    assert half((found.normalised.low, found.normalised.high)) == pytest.approx(10.96, abs=0.005)
    assert found.elo.value == pytest.approx(-8.64, abs=0.005)
    assert half((found.elo.low, found.elo.high)) == pytest.approx(10.33, abs=0.005)
    assert found.superiority == pytest.approx(0.0505, abs=0.00005)


def test_a_bot_that_is_much_worse_as_published() -> None:
    found = pair_statistics(counted(13, 37, 50, 25, 3), games_a_group=2)

    assert found.elo.value == pytest.approx(-43.6578, abs=0.00005)
    assert found.normalised.value == pytest.approx(-63.97, abs=0.005)


@pytest.mark.parametrize("score", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("groups", [0, 1, 2, 29, 30, 1000, 1_000_000])
def test_groups_that_do_not_scatter_have_bars_all_the_same(groups: int, score: float) -> None:
    assert_sound(pair_statistics(np.full(groups, score), games_a_group=2))


def test_groups_that_are_all_split_say_equal_and_how_sure_that_is() -> None:
    few, many = pair_statistics([0.5] * 40, games_a_group=2), pair_statistics([0.5] * 4000, games_a_group=2)

    assert (few.elo.value, few.normalised.value, few.superiority) == (0, 0, 0.5)
    assert 5 < few.elo.high < 50
    assert many.elo.high < 1


def test_no_loss_in_a_hundred_groups_is_no_promise_for_ever() -> None:
    found = pair_statistics([1.0] * 100, games_a_group=2)

    assert found.elo.low < 900 < found.elo.value < 1300 < found.elo.high


@given(st.lists(st.integers(0, 24).map(lambda step: step / 24), max_size=60), st.integers(1, 8))
def test_any_scores_have_sound_statistics(scores: list[float], games: int) -> None:
    assert_sound(pair_statistics(scores, games))


@given(st.lists(st.integers(0, 4).map(lambda step: step / 4), min_size=1, max_size=60))
def test_the_other_bot_has_the_opposite(scores: list[float]) -> None:
    mine, theirs = pair_statistics(scores, 2), pair_statistics([1 - score for score in scores], 2)

    assert theirs.elo.value == pytest.approx(-mine.elo.value, abs=1e-9)
    assert theirs.elo.low == pytest.approx(-mine.elo.high, abs=1e-6)
    assert theirs.superiority == pytest.approx(1 - mine.superiority)


def test_a_share_stays_a_share() -> None:
    bar = share([1.0, 1.0, 0.75], games_a_group=2)

    assert bar.low < bar.value < bar.high == 1


# Which groups


def test_a_group_counts_the_games_in_which_both_played() -> None:
    games = in_columns(
        3,
        2,
        [
            Game(5, (0, 1), (1, 2), (0, 0), 1),
            Game(5, (1, 0), (1, 1), (0, 0), 1),
            Game(6, (0, 2), (1, 2), (0, 0), 1),
            Game(8, (0, 1), (2, 1), (0, 0), 1),
        ],
    )

    scores, games_a_group = group_scores(games, 0, 1)

    assert (scores.tolist(), games_a_group) == ([0.75, 0.0], 1.5)
    assert group_scores(games, 1, 0)[0].tolist() == [0.25, 1.0]


def test_bots_that_never_met_have_no_groups_and_sound_statistics() -> None:
    games = in_columns(3, 2, [Game(0, (0, 1), (1, 2), (0, 0), 1)])

    found = pair_statistics(*group_scores(games, 0, 2))

    assert (found.elo.value, found.elo.groups, found.superiority) == (0, 0, 0.5)
    assert_sound(found)


def test_a_new_bot_at_a_table_of_bases_scores_its_mean_place() -> None:
    places = ((1, 2, 3, 4), (4, 1, 2, 3), (3, 1, 1, 4), (1, 2, 3, 4))  # of the new bot in the seats 0, 1, 2, 3
    tables = [tuple(int(seat != new) for seat in range(4)) for new in range(4)]
    games = in_columns(2, 4, [Game(0, table, ranks, (0,) * 4, 1) for table, ranks in zip(tables, places, strict=True)])

    scores, games_a_group = group_scores(games, 0, 1)

    assert scores.tolist() == pytest.approx([(1 + 1 + 2.5 / 3 + 0) / 4])
    assert games_a_group == 4


def test_everybody_against_everybody() -> None:
    games = in_columns(
        4,
        3,
        [
            Game(0, (0, 1, 2), (1, 2, 2), (0, 0, 0), 1),
            Game(0, (1, 2, 0), (1, 3, 2), (0, 0, 0), 1),
            Game(3, (1, 2, 0), (3, 2, 1), (0, 0, 0), 1),
        ],
    )

    found = head_to_head(games)

    assert found.wins.tolist() == [[0, 2, 3, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert found.ties.tolist() == [[0, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert found.groups.tolist() == [[2, 2, 2, 0], [2, 2, 2, 0], [2, 2, 2, 0], [0, 0, 0, 0]]


def test_who_beat_whom_adds_up_to_all_meetings() -> None:
    draws = np.random.default_rng(3)
    games = play(draws, np.zeros(7), random_tables(draws, 7, 4, 50), luck=1)

    found = head_to_head(games)

    assert (found.wins + found.wins.T + found.ties).sum() == 2 * 6 * len(games)
