"""Regression tests: whatever the order in which games finish, the same groups count and the verdict is the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, replace
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rummyarena_server.store.results import GameResult, SeatForfeit
from rummyarena_server.tournament.bars import ELO
from rummyarena_server.tournament.games import Game, in_columns
from rummyarena_server.tournament.points import points_a_deal
from rummyarena_server.tournament.regression import (
    MOST_GROUPS,
    NEW,
    Evidence,
    Played,
    Question,
    score_of_new,
    sensible_groups,
)
from rummyarena_server.tournament.schedule import RoundRobin
from rummyarena_server.tournament.sequential import Hypotheses, SequentialTest, expected_groups
from tests.server.results import result
from tests.tournament.simulated_tests import played, shares
from tests.tournament.simulation import STRONG_LUCK

BETTER = Hypotheses(elo0=0.0, elo1=100.0)
SEQUENTIAL = Question(seats=2, most_groups=1000, hypotheses=BETTER)


def game(group: int, table: Sequence[int], ranks: Sequence[int]) -> Played:
    """A game of two deals in which the better of two neighbouring places is worth ten points."""
    points = tuple(-10 * rank for rank in ranks)
    return Played(Game(group, tuple(table), tuple(ranks), points, deals=2))


def pair(group: int, *places: int) -> list[Played]:
    """A deal group of two seats, by the places of the new bot in its games: 1, 2, or 0 for a tie."""
    tables, ranks = [(0, 1), (1, 0)], {1: (1, 2), 2: (2, 1), 0: (1, 1)}
    return [
        game(group, table, ranks[place] if table[0] == NEW else ranks[place][::-1])
        for table, place in zip(tables, places, strict=False)
    ]


def groups(count: int, *places: int, first: int = 0) -> list[Played]:
    return [one for group in range(first, first + count) for one in pair(group, *places)]


def evidence_of(question: Question, games: Iterable[Played]) -> Evidence:
    evidence = Evidence(question)
    evidence.add(games)
    return evidence


# --- what counts -----------------------------------------------------------------------------------------------------


def test_a_bot_that_wins_is_accepted_and_one_that_loses_rejected() -> None:
    winning, losing = (evidence_of(SEQUENTIAL, groups(100, *places)) for places in ((1, 1), (2, 2)))

    assert (winning.verdict, losing.verdict) == ("accepted", "rejected")


def test_what_counts_is_what_the_sequential_test_counts() -> None:
    games = groups(100, 1, 2, first=0) + groups(100, 1, 1, first=100)
    evidence, test = evidence_of(SEQUENTIAL, games), SequentialTest(BETTER).after([0.5] * 100 + [1.0] * 100)

    assert (evidence.verdict, evidence.groups, evidence.ratio) == (test.verdict, test.groups, test.ratio)


def test_groups_beyond_the_deciding_one_are_known_and_not_counted() -> None:
    decided = evidence_of(SEQUENTIAL, groups(100, 1, 1))
    count, ratio = decided.groups, decided.ratio
    assert count < 90

    decided.add(groups(50, 2, 2, first=100))

    assert (decided.verdict, decided.groups, decided.ratio) == ("accepted", count, ratio)
    assert decided.groups_beyond == 150 - count
    assert decided.against_base().score.value == 1.0


def test_a_group_that_is_not_complete_holds_up_those_behind_it() -> None:
    games = groups(100, 1, 1)
    evidence = evidence_of(SEQUENTIAL, games[1:])
    assert (evidence.verdict, evidence.groups, evidence.groups_beyond) == (None, 0, 99)

    evidence.add(games[:1])

    assert evidence.verdict == "accepted"


def test_without_games_there_is_no_verdict_and_every_figure_is_finite() -> None:
    evidence = Evidence(SEQUENTIAL)

    assert (evidence.verdict, evidence.groups, evidence.ratio, evidence.broken) == (None, 0, 0.0, ())
    assert evidence.against_base().elo.value == 0
    assert evidence.points_a_deal() is None


def test_at_larger_tables_the_score_is_the_share_of_bases_that_were_beaten() -> None:
    three = [game(0, (0, 1, 2), (1, 2, 3)), game(0, (1, 2, 0), (1, 3, 2)), game(0, (2, 0, 1), (1, 1, 3))]

    assert score_of_new([one.game for one in three]) == pytest.approx((1 + 0.5 + 0.75) / 3)
    evidence = evidence_of(Question(seats=3, most_groups=5), three)
    assert evidence.against_base().score.value == pytest.approx(0.75)


def test_a_game_that_everybody_forfeited_counts_as_a_tie() -> None:
    nobody = Game(0, (0, 1), (2, 2), (0, 0), deals=0)

    assert score_of_new([nobody, pair(0, 1)[0].game]) == 0.75


@pytest.mark.parametrize(("lower_is_better", "expected"), [(False, 5.0), (True, -5.0)])
def test_points_a_deal_are_of_the_groups_that_count(lower_is_better: bool, expected: float) -> None:
    question = Question(seats=2, most_groups=10, lower_is_better=lower_is_better)
    points = evidence_of(question, groups(5, 1, 1)).points_a_deal()

    assert points is not None
    assert (points.value, points.groups) == (expected, 5)


@given(st.integers(0, 2**32), st.sampled_from([2, 3, 4]), st.integers(1, 6), st.booleans())
def test_points_a_deal_are_those_of_a_tournament(seed: int, seats: int, count: int, lower_is_better: bool) -> None:
    games = list(played(np.random.default_rng(seed), seats, 0.5, STRONG_LUCK, count))
    as_two = [one.game._replace(table=tuple(min(entrant, 1) for entrant in one.game.table)) for one in games]

    found = evidence_of(Question(seats=seats, most_groups=9, lower_is_better=lower_is_better), games).points_a_deal()

    expected = points_a_deal(in_columns(2, seats, as_two), lower_is_better)[NEW]
    assert found is not None
    assert expected is not None
    assert astuple(found) == pytest.approx(astuple(expected))


# --- any order, any interruption -------------------------------------------------------------------------------------


@st.composite
def asked_and_played(draw: st.DrawFn) -> tuple[Question, list[Played]]:
    """A test of any kind with all its games, in the order of the schedule."""
    seats, most = draw(st.sampled_from([2, 3])), draw(st.integers(1, 60))
    hypotheses = draw(
        st.sampled_from([None, replace(BETTER, seats=seats), Hypotheses(elo0=-250, elo1=50, seats=seats)])
    )
    schedule, skill = RoundRobin(3, seats, seats, most), draw(st.floats(-2, 2))
    draws = np.random.default_rng(draw(st.integers(0, 2**32)))
    games = []
    for one in schedule:
        luck = draws.gumbel(size=seats) + [skill * (entrant == NEW) for entrant in one.table]
        ranks = [1 + sum(int(other > own) for other in luck) for own in luck]
        games.append(game(one.group, one.table, ranks))
    return Question(seats=seats, most_groups=most, hypotheses=hypotheses), games


def told(evidence: Evidence) -> tuple[object, ...]:
    return evidence.verdict, evidence.groups, evidence.groups_beyond, evidence.games, evidence.points_a_deal()


@given(asked_and_played(), st.data())
@settings(deadline=None, max_examples=60)
def test_any_order_of_finishing_and_any_interruptions_give_the_same_verdict(
    asked: tuple[Question, list[Played]], data: st.DataObject
) -> None:
    question, games = asked
    at_once = evidence_of(question, games)
    finishing = data.draw(st.permutations(games))
    stops = sorted(data.draw(st.lists(st.integers(0, len(games)), max_size=4)))

    evidence, verdicts = Evidence(question), []
    for number, one in enumerate(finishing):
        if number in stops:  # what is recorded is read anew, in the order of the schedule
            evidence = evidence_of(question, [one for one in games if one in finishing[:number]])
        evidence.add([one])
        verdicts += [evidence.verdict] * (evidence.verdict is not None)

    assert told(evidence) == told(at_once)
    assert evidence.ratio == (None if at_once.ratio is None else pytest.approx(at_once.ratio, abs=1e-6))
    assert set(verdicts) == {at_once.verdict}  # it has never been another one


@given(asked_and_played(), st.data())
@settings(deadline=None, max_examples=60)
def test_games_that_finish_beyond_bear_on_nothing(asked: tuple[Question, list[Played]], data: st.DataObject) -> None:
    question, games = asked
    whole = evidence_of(question, games)
    needed = whole.groups * question.seats
    beyond = data.draw(st.lists(st.sampled_from(games[needed:]), unique_by=id) if games[needed:] else st.just([]))

    some = evidence_of(question, [*beyond, *games[:needed]])

    assert (some.verdict, some.groups) == (whole.verdict, whole.groups)
    assert some.against_base() == whole.against_base()


# --- the end ---------------------------------------------------------------------------------------------------------


def test_at_the_last_group_a_test_that_has_not_decided_is_undecided() -> None:
    question = replace(SEQUENTIAL, most_groups=6)

    assert evidence_of(question, groups(5, 1, 2)).verdict is None
    assert evidence_of(question, groups(6, 1, 2)).verdict == "undecided"


def test_a_bound_that_is_crossed_at_the_last_group_decides() -> None:
    deciding = evidence_of(SEQUENTIAL, groups(100, 1, 1)).groups

    last = replace(SEQUENTIAL, most_groups=deciding)
    assert evidence_of(last, groups(deciding, 1, 1)).verdict == "accepted"
    assert evidence_of(replace(last, most_groups=deciding - 1), groups(deciding, 1, 1)).verdict == "undecided"


@pytest.mark.parametrize(
    ("places", "verdict"), [((1, 1), "accepted"), ((2, 2), "rejected"), ((1, 2), "undecided"), ((0, 0), "undecided")]
)
def test_without_hypotheses_the_bar_decides_once_all_groups_are_played(places: tuple[int, int], verdict: str) -> None:
    question = Question(seats=2, most_groups=30)

    assert evidence_of(question, groups(29, *places)).verdict is None
    evidence = evidence_of(question, groups(30, *places))

    assert (evidence.verdict, evidence.groups, evidence.ratio) == (verdict, 30, None)


@pytest.mark.parametrize(("winning", "verdict"), [(7, "accepted"), (4, "undecided")])
def test_the_bar_decides_by_whether_it_holds_the_score_of_equals(winning: int, verdict: str) -> None:
    games = [one for group in range(40) for one in pair(group, 1, 1 if group % 10 < winning - 2 else 2)]
    evidence = evidence_of(Question(seats=2, most_groups=40), [*games[: -2 * 4], *groups(4, 2, 2, first=36)])

    assert evidence.verdict == verdict
    assert (evidence.against_base().score.low > 0.5) == (verdict == "accepted")


@pytest.mark.parametrize("most", [0, MOST_GROUPS + 1])
def test_a_test_has_a_sensible_number_of_groups(most: int) -> None:
    with pytest.raises(ValueError, match="1 to 1000000 deal groups"):
        Question(seats=2, most_groups=most)


def test_hypotheses_about_other_tables_are_refused() -> None:
    with pytest.raises(ValueError, match="tables of 3 seats"):
        Question(seats=3, most_groups=5, hypotheses=BETTER)


# --- bots that cannot play -------------------------------------------------------------------------------------------


def forfeits(count: int, *, first: int = 0, by: int = NEW) -> list[Played]:
    place = 2 if by == NEW else 1
    return [Played(one.game, ((by, "faults"),)) for one in groups(count, place, place, first=first)]


def test_who_forfeited_every_one_of_twenty_games_is_broken() -> None:
    question = Question(seats=2, most_groups=100)
    nineteen = evidence_of(question, forfeits(10)[:-1])
    assert (nineteen.broken, nineteen.is_enough) == ((), False)

    nineteen.add(forfeits(10)[-1:])

    assert (nineteen.broken, nineteen.is_enough, nineteen.verdict) == ((NEW,), True, None)


def test_who_played_one_game_to_its_end_is_not_broken() -> None:
    evidence = evidence_of(Question(seats=2, most_groups=100), [*groups(1, 1, 1), *forfeits(20, first=1)])

    assert (evidence.broken, evidence.is_enough) == ((), False)
    assert evidence.reasons(NEW) == {"faults": 40}


@pytest.mark.parametrize("by", [NEW, 1])
def test_a_verdict_of_forfeits_alone_is_none(by: int) -> None:
    evidence = evidence_of(Question(seats=2, most_groups=3), forfeits(3, by=by))

    assert evidence.verdict is not None
    assert evidence.broken == (by,)


def test_a_recorded_game_is_read_as_it_was_played() -> None:
    def with_forfeit(index: int, forfeit: SeatForfeit | None) -> GameResult:
        played = result(index, ranks=(2, 1))
        worse, better = played.seats
        return replace(played, seats=(replace(worse, forfeit=forfeit), better))

    first, second = (Played.of_result(with_forfeit(index, "exited")) for index in (0, 1))

    assert first == Played(Game(0, (0, 1), (2, 1), (10, 50), deals=2), ((0, "exited"),))
    assert second == Played(Game(0, (1, 0), (2, 1), (10, 50), deals=2), ((1, "exited"),))
    assert Played.of_result(with_forfeit(0, None)).forfeits == ()


# --- how long it takes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 3, 4, 8])
def test_a_test_may_take_three_times_what_it_takes_half_way(seats: int) -> None:
    hypotheses = Hypotheses(elo0=0.0, elo1=20.0, seats=seats)
    _, half_way, _ = expected_groups(hypotheses, sqrt(hypotheses.variance_of_equals))

    assert 3 * half_way <= sensible_groups(hypotheses) < 3.4 * half_way


def test_a_test_that_would_never_end_ends_at_a_million_groups() -> None:
    assert sensible_groups(Hypotheses(elo0=0.0, elo1=0.1)) == MOST_GROUPS
    assert sensible_groups(Hypotheses(elo0=-900.0, elo1=900.0)) >= 1


def test_before_anything_is_known_it_is_expected_to_take_as_long_as_half_way() -> None:
    _, half_way, _ = expected_groups(BETTER, sqrt(BETTER.variance_of_equals))

    assert Evidence(SEQUENTIAL).groups_to_come() == pytest.approx(half_way)


def test_what_is_to_come_follows_from_how_the_ratio_has_moved() -> None:
    evidence = evidence_of(SEQUENTIAL, groups(10, 1, 1))
    assert evidence.ratio is not None
    pace = evidence.ratio / 10

    to_come = evidence.groups_to_come()

    assert to_come == pytest.approx((BETTER.bounds[1] - evidence.ratio) / pace, rel=0.2)
    assert evidence_of(SEQUENTIAL, groups(30, 1, 1)).groups_to_come() < to_come


@pytest.mark.parametrize("hypotheses", [None, Hypotheses(elo0=0.0, elo1=1.0)])
def test_no_more_is_expected_than_may_be_played(hypotheses: Hypotheses | None) -> None:
    question = Question(seats=2, most_groups=50, hypotheses=hypotheses)

    assert evidence_of(question, groups(20, 1, 2)).groups_to_come() == 30


@given(asked_and_played())
@settings(deadline=None, max_examples=40)
def test_what_is_to_come_is_never_less_than_nothing(asked: tuple[Question, list[Played]]) -> None:
    question, games = asked
    for number in range(0, len(games), 10):
        evidence = evidence_of(question, games[:number])
        assert 0 <= evidence.groups_to_come() <= question.most_groups - evidence.groups


# --- against simulated bots ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 4])
def test_it_is_wrong_no_more_often_than_allowed(seats: int) -> None:
    # 100 tests tell to a few percent; scripts/simulate regression runs 2,000.
    draws = np.random.default_rng([seats, 9])
    hypotheses = Hypotheses(elo0=0.0, elo1=80.0, seats=seats, alpha=0.1, beta=0.1)
    question = Question(seats=seats, most_groups=sensible_groups(hypotheses), hypotheses=hypotheses)

    null, alternative = (shares(draws, question, elo / ELO, luck=0.0, tests=100) for elo in (0.0, 80.0))

    assert null.accepted <= 0.17
    assert alternative.rejected <= 0.17


def test_few_tests_end_undecided_half_way() -> None:
    hypotheses = Hypotheses(elo0=0.0, elo1=80.0)
    question = Question(seats=2, most_groups=sensible_groups(hypotheses), hypotheses=hypotheses)

    assert shares(np.random.default_rng(10), question, 40 / ELO, luck=0.0, tests=100).undecided <= 0.09


def test_luck_of_the_deal_does_not_decide() -> None:
    question = Question(seats=2, most_groups=200)

    found = shares(np.random.default_rng(11), question, advantage=0.0, luck=STRONG_LUCK, tests=100)

    assert found.undecided >= 0.88  # 5 of 100 bars do not hold the truth
