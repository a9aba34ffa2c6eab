"""A ladder's waves bring together who is near or little known, follow from seed and results, and find the order."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations
from math import log, pi, sqrt
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rummyarena_rules.shoe import Stream
from rummyarena_server.store.rounds import PlayedGame
from rummyarena_server.tournament.rounds import Round
from rummyarena_server.tournament.waves import Ladder, LadderPairing, _Wave
from tests.tournament.rounds import Played, at_random, by_number, by_strength, play, resumed_after

WAVES = 4


@st.composite
def ladders(draw: st.DrawFn) -> tuple[Ladder, Played]:
    """Waves of a ladder of bots that play at random."""
    seats = draw(st.sampled_from((2, 3, 4, 8)))
    ladder = Ladder(draw(st.integers(0, 2**63 - 1)), draw(st.integers(seats, 3 * seats)), seats)
    return ladder, play(ladder, WAVES, at_random(Random(draw(st.integers(0, 10**6)))))


def tables_of_each(played: Played) -> Counter[int]:
    return Counter(bot for one in played.rounds for table in one.tables for bot in table)


@given(ladders())
@settings(max_examples=50, deadline=None)
def test_every_wave_has_equally_many_tables_of_different_bots(drawn: tuple[Ladder, Played]) -> None:
    ladder, played = drawn
    assert [one.number for one in played.rounds] == list(range(WAVES))
    for one in played.rounds:
        assert len(one.tables) == ladder.tables_a_round
        assert all(len(table) == len(set(table)) == ladder.seats for table in one.tables)


@pytest.mark.parametrize(
    ("entrants", "seats", "tables"), [(2, 2, 4), (3, 3, 4), (10, 2, 20), (9, 8, 4), (32, 2, 64), (1000, 8, 64)]
)
def test_a_wave_has_about_four_tables_a_bot_and_at_most_64(entrants: int, seats: int, tables: int) -> None:
    assert Ladder(0, entrants, seats).tables_a_round == tables


@given(ladders(), st.integers(0, WAVES))
@settings(max_examples=50, deadline=None)
def test_a_wave_follows_from_the_seed_and_the_earlier_results(drawn: tuple[Ladder, Played], count: int) -> None:
    ladder, played = drawn
    following = resumed_after(ladder, played, count)
    assert following == (played.rounds[count] if count < WAVES else played.pairing.next_round())


def test_a_ladder_ends_only_if_it_has_a_number_of_waves() -> None:
    assert len(play(Ladder(0, 3), 50, by_number).rounds) == 50
    assert len(play(Ladder(0, 3, rounds=5), 50, by_number).rounds) == 5


# --- who plays whom --------------------------------------------------------------------------------------------------


def test_newcomers_come_first() -> None:
    # given: 1000 bots, of whom a wave seats 128
    played = play(Ladder(0, 1000), 8, by_strength(Random(1), 1))
    games = dict.fromkeys(range(1000), 0)
    for one in played.rounds[:3]:
        for table in one.tables:
            assert min(games[bot] for bot in table) == 0  # as long as some have not played at all
        for bot in (bot for table in one.tables for bot in table):
            games[bot] += 1
    games |= tables_of_each(played)
    assert min(games.values()) >= 1


@given(ladders())
@settings(max_examples=50, deadline=None)
def test_everybody_has_about_as_many_tables(drawn: tuple[Ladder, Played]) -> None:
    ladder, played = drawn
    tables = tables_of_each(played)
    fair = WAVES * ladder.tables_a_round * ladder.seats / ladder.entrants
    assert all(0.6 * fair <= tables[bot] <= 1.6 * fair for bot in range(ladder.entrants))


def test_who_is_near_meets_oftener() -> None:
    bots = 24
    played = play(Ladder(0, bots), 30, by_strength(Random(1), 50))
    met = Counter(abs(one - other) for some in played.rounds for one, other in some.tables)
    near = sum(met[apart] for apart in range(1, 5)) / sum(bots - apart for apart in range(1, 5))
    far = sum(met[apart] for apart in range(12, bots)) / sum(bots - apart for apart in range(12, bots))
    assert near > 3 * far


def test_pairs_that_tell_equally_much_meet_equally_often() -> None:
    # given: four bots that always draw
    played = play(Ladder(0, 4), 6, lambda table: PlayedGame(table, (1,) * len(table)))
    met = Counter(frozenset(pair) for one in played.rounds for pair in one.tables)
    assert set(met) == set(map(frozenset, combinations(range(4), 2)))
    assert max(met.values()) - min(met.values()) <= 1


# --- who has left ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 3])
def test_who_was_withdrawn_before_every_game_of_a_wave_takes_part_no_more(seats: int) -> None:
    # given: bot 0 withdrawn
    def without_0(table: tuple[int, ...]) -> PlayedGame:
        return PlayedGame(table, by_number(table).ranks, withdrawn=(0,) if 0 in table else ())

    played = play(Ladder(0, 4, seats), 3, without_0)
    assert any(0 in table for table in played.rounds[0].tables)
    for one in played.rounds[1:]:
        assert len(one.tables) == Ladder(0, 4, seats).tables_a_round
        assert all(0 not in table for table in one.tables)


def test_who_was_there_for_one_of_its_games_stays() -> None:
    ladder = Ladder(0, 3)
    pairing = ladder.pairing()
    wave = Round(0, ((0, 1), (1, 2), (2, 0)) * 2)
    games = [PlayedGame(wave.game(index).table, (1, 2), withdrawn=(0,) if index > 0 else ()) for index in wave.indices]
    pairing.note(wave, games)
    following = pairing.next_round()
    assert following is not None
    assert any(0 in table for table in following.tables)


def test_a_ladder_ends_when_no_table_can_be_filled() -> None:
    def all_but_2(table: tuple[int, ...]) -> PlayedGame:
        return PlayedGame(table, by_number(table).ranks, withdrawn=tuple(one for one in table if one != 2))

    assert len(play(Ladder(0, 4), 9, all_but_2).rounds) == 1


# --- what is known ---------------------------------------------------------------------------------------------------


def test_estimates_are_those_of_glicko() -> None:
    # given: the published example, a player of 1500 who wins against 1400, loses against 1550 and 1700
    pairing = LadderPairing(Ladder(0, 4))
    pairing._estimates = [1500.0, 1400.0, 1550.0, 1700.0]
    pairing._precision = [200.0**-2, 30.0**-2, 100.0**-2, 300.0**-2]
    games = [PlayedGame((0, 1), (1, 2)), PlayedGame((0, 2), (2, 1)), PlayedGame((3, 0), (1, 2))]
    pairing.note(Round(0, ((0, 1), (0, 2), (3, 0))), games)
    assert pairing._estimates[0] == pytest.approx(1464.06, abs=0.05)
    assert pairing._precision[0] ** -0.5 == pytest.approx(151.4, abs=0.05)


def test_at_a_larger_table_each_opponent_weighs_less() -> None:
    pairing = LadderPairing(Ladder(0, 3, seats=3))
    pairing.note(
        Round(0, ((0, 1, 2),)), [PlayedGame((0, 1, 2), (1, 2, 2)), PlayedGame((1, 2, 0), (1, 1, 1), rated=False)]
    )
    # then: by hand, from two wins that weigh a half and games that nobody won not counted
    q = log(10) / 400
    g = 1 / sqrt(1 + 3 * (q * 350 / pi) ** 2)
    precision = 350**-2 + 2 * 0.5 * (q * g) ** 2 / 4
    assert pairing._precision == pytest.approx([precision] * 3)
    assert pairing._estimates[0] == pytest.approx(1500 + q / precision * 2 * 0.5 * g * 0.5)
    assert sum(pairing._estimates) == pytest.approx(4500)


@given(ladders())
@settings(max_examples=20, deadline=None)
def test_what_a_wave_counts_on_is_what_its_games_bring(drawn: tuple[Ladder, Played]) -> None:
    ladder, played = drawn
    before = played.pairing
    assert isinstance(before, LadderPairing)
    # when: the tables of the next wave are chosen as if the games of those before had been played
    plan = _Wave(range(ladder.entrants), ladder.seats, before._estimates, before._precision, before._met)
    tables = tuple(tuple(plan.next_table()) for _ in range(ladder.tables_a_round))
    # then: that is what is known after they were
    wave = Round(WAVES, tables)
    before.note(wave, [by_number(wave.game(index).table) for index in wave.indices])
    assert plan._precision == pytest.approx(before._precision)
    assert plan._met == before._met


@pytest.mark.parametrize(("bots", "seats", "waves"), [(12, 2, 40), (12, 4, 20), (40, 2, 40)])
def test_the_order_is_found(bots: int, seats: int, waves: int) -> None:
    played = play(Ladder(5, bots, seats), waves, by_strength(Random(4), 60))
    assert isinstance(played.pairing, LadderPairing)
    estimates = played.pairing._estimates
    order = sorted(range(bots), key=lambda bot: -estimates[bot])
    displaced = [abs(place - bot) for place, bot in enumerate(order)]
    assert max(displaced) <= 2


def test_a_seed_gives_these_waves_for_ever() -> None:
    assert [one.tables for one in play(Ladder(7, 4), 2, by_number).rounds] == [
        ((0, 3), (2, 1), (3, 1), (0, 2), (3, 2), (0, 1), (0, 3), (1, 2)),
        ((3, 2), (0, 1), (2, 3), (0, 1), (2, 3), (0, 1), (2, 3), (1, 0)),
    ]
    assert [one.tables for one in play(Ladder(7, 5, seats=4), 2, by_number).rounds] == [
        ((4, 2, 1, 3), (1, 0, 2, 3), (4, 1, 2, 0), (1, 3, 0, 4), (2, 3, 0, 4)),
        ((3, 4, 2, 1), (1, 3, 2, 0), (1, 3, 2, 4), (2, 0, 1, 3), (4, 2, 3, 1)),
    ]


@pytest.mark.parametrize("wrong", [{"entrants": 1}, {"rounds": 0}, {"seed": -1}, {"seats": 1}, {"seats": 9}])
def test_what_cannot_be_played_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="no ladder"):
        Ladder(**({"seed": 0, "entrants": 8} | wrong))


# --- the description of docs/formats.md, word by word and slowly ------------------------------------------------------


@pytest.mark.parametrize(("entrants", "seats"), [(2, 2), (5, 2), (6, 3), (5, 4), (9, 8)])
def test_anybody_can_redo_a_ladder_from_its_description(entrants: int, seats: int) -> None:
    ladder = Ladder(20, entrants, seats)
    played = play(ladder, 4, at_random(Random(9)))
    for number, one in enumerate(played.rounds):
        tables = [table for some in played.rounds[:number] for table in some.tables]
        known = described_estimates(entrants, seats, played.games[:number])
        met = Counter(pair for table in tables for pair in permutations(table, 2))
        assert list(one.tables) == described_wave(20, number, entrants, seats, known, met)


Known = list[tuple[float, float]]
Q = log(10) / 400


def g(deviation: float) -> float:
    return 1 / sqrt(1 + 3 * Q**2 * deviation**2 / pi**2)


def e(i: tuple[float, float], j: tuple[float, float]) -> float:
    return float(1 / (1 + 10 ** (-g(j[1]) * (i[0] - j[0]) / 400)))


def described_estimates(n: int, s: int, waves: list[list[PlayedGame]]) -> Known:
    known: Known = [(1500.0, 350.0)] * n
    for games in waves:
        results = [
            (i, j, (0.5 if own == other else float(own < other)))
            for game in games
            if game.rated
            for (i, own), (j, other) in permutations(zip(game.table, game.ranks, strict=True), 2)
        ]
        w, after = 1 / (s - 1), []
        for bot in range(n):
            mine = [(known[j], score) for i, j, score in results if i == bot]
            r, d = known[bot]
            precision = 1 / d**2 + sum(w * Q**2 * g(j[1]) ** 2 * e((r, d), j) * (1 - e((r, d), j)) for j, _ in mine)
            surplus = sum(w * g(j[1]) * (score - e((r, d), j)) for j, score in mine)
            after.append((r + Q / precision * surplus, precision**-0.5))
        known = after
    return known


def described_wave(
    seed: int, wave: int, n: int, s: int, known: Known, met: Counter[tuple[int, int]]
) -> list[tuple[int, ...]]:
    stream = Stream(f"schedule/{seed}/".encode(), f"round/{wave}")
    order = described_shuffle(stream, list(range(n)))
    deviations, met, tables = [d for _, d in known], met.copy(), []
    for _ in range(min(64, max(1, 4 * n // s))):
        table = [max(order, key=lambda bot: round(deviations[bot] ** 2, 6))]
        while len(table) < s:
            values = {j: sum(value(i, j, known, deviations, met) for i in table) for j in order if j not in table}
            table.append(max(values, key=lambda j: round(values[j], 6)))
        for i, j in permutations(table, 2):
            met[i, j] += 1
            told = s / (s - 1) * Q**2 * g(known[j][1]) ** 2 * e(known[i], known[j]) * (1 - e(known[i], known[j]))
            deviations[i] = (1 / deviations[i] ** 2 + told) ** -0.5
        tables.append(table)
    return [tuple(described_shuffle(stream, table)) for table in tables]


def value(i: int, j: int, known: Known, deviations: list[float], met: Counter[tuple[int, int]]) -> float:
    p = 1 / (1 + 10 ** ((known[j][0] - known[i][0]) / 400))
    return float((p * (1 - p)) ** 2 * (deviations[i] ** 2 + deviations[j] ** 2) / (1 + met[i, j]))


def described_shuffle(stream: Stream, numbers: list[int]) -> list[int]:
    for j in range(len(numbers) - 1, 0, -1):
        k = stream.below(j + 1)
        numbers[j], numbers[k] = numbers[k], numbers[j]
    return numbers
