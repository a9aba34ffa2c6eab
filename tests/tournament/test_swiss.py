"""Swiss rounds pair equals, avoid rematches, give everybody its byes, and follow from seed and results alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rummyarena_rules.shoe import Stream
from rummyarena_server.store.rounds import PlayedGame
from rummyarena_server.tournament import rematches
from rummyarena_server.tournament.rematches import fewest_rematches
from rummyarena_server.tournament.rounds import Round
from rummyarena_server.tournament.swiss import Swiss
from tests.tournament.rounds import Played, at_random, by_number, by_strength, play, resumed_after

SEEDS = st.integers(0, 2**63 - 1)


@st.composite
def tournaments(draw: st.DrawFn) -> tuple[Swiss, Played]:
    """A Swiss tournament of bots that play at random."""
    seats = draw(st.sampled_from((2, 3, 4, 8)))
    swiss = Swiss(draw(SEEDS), draw(st.integers(seats, 3 * seats + 1)), draw(st.integers(1, 6)), seats)
    return swiss, play(swiss, swiss.rounds, at_random(Random(draw(st.integers(0, 10**6)))))


@given(tournaments())
@settings(max_examples=50, deadline=None)
def test_every_round_has_equally_many_tables_of_different_bots(drawn: tuple[Swiss, Played]) -> None:
    swiss, played = drawn
    assert len(played.rounds) == swiss.rounds
    for number, one in enumerate(played.rounds):
        assert one.number == number
        assert len(one.tables) == swiss.tables_a_round == swiss.entrants // swiss.seats
        assert {len(table) for table in one.tables} == {swiss.seats}
        seated = [bot for table in one.tables for bot in table]
        assert len(set(seated)) == len(seated)
        assert set(seated) <= set(range(swiss.entrants))


@given(tournaments())
@settings(max_examples=50, deadline=None)
def test_byes_go_round(drawn: tuple[Swiss, Played]) -> None:
    swiss, played = drawn
    byes = dict.fromkeys(range(swiss.entrants), 0)
    for one in played.rounds:
        for bot in set(byes).difference(*one.tables):
            byes[bot] += 1
        assert max(byes.values()) - min(byes.values()) <= 1


@given(tournaments(), st.data())
@settings(max_examples=50, deadline=None)
def test_a_round_follows_from_the_seed_and_the_earlier_results(
    drawn: tuple[Swiss, Played], data: st.DataObject
) -> None:
    swiss, played = drawn
    count = data.draw(st.integers(0, swiss.rounds))
    following = resumed_after(swiss, played, count)
    assert following == (played.rounds[count] if count < swiss.rounds else None)


def test_after_the_last_round_there_is_none() -> None:
    swiss = Swiss(0, 4, 2)
    assert play(swiss, 3, by_number).pairing.next_round() is None


# --- equals ----------------------------------------------------------------------------------------------------------


def test_who_has_done_equally_well_meets() -> None:
    # given: eight bots of whom the lower number always wins
    played = play(Swiss(5, 8, 3), 3, by_number)
    # then: winners meet winners
    wins = Counter(min(table) for table in played.rounds[0].tables)
    for table in played.rounds[1].tables:
        assert len({wins[bot] for bot in table}) == 1
    wins.update(min(table) for table in played.rounds[1].tables)
    assert sorted(tuple(wins[bot] for bot in sorted(table)) for table in played.rounds[2].tables) == [
        (0, 0),
        (1, 1),
        (1, 1),
        (2, 2),
    ]


def test_scores_are_a_game_so_a_bye_harms_nobody() -> None:
    # given: three bots; the first beats the second, the third has the bye
    swiss = Swiss(0, 5, 3)
    pairing = swiss.pairing()
    pairing.note(Round(0, ((0, 1), (2, 3))), [won(0, 1), won(1, 0, 2), won(2, 3), won(3, 2, 2)])
    pairing.note(Round(1, ((0, 4), (2, 1))), [won(0, 4), won(4, 0, 2), won(2, 1), won(1, 2, 2)])
    # when: 0 and 2 have won all, 4 lost its two games, 1 its four, 3 its two
    following = pairing.next_round()
    # then: 4 and 3 have had their byes, of the others the last in the order has one, and the winners meet
    assert following is not None
    assert {0, 2} in map(set, following.tables)
    assert set(range(5)).difference(*following.tables) == {1}


def won(one: int, other: int, winner: int = 1) -> PlayedGame:
    """A game that the first of a table has won, or the second."""
    return PlayedGame((one, other), (1, 2) if winner == 1 else (2, 1))


def test_a_game_that_all_have_forfeited_counts_as_lost_by_all() -> None:
    swiss = Swiss(0, 4, 2)
    games = [won(0, 1), won(1, 0, 2), PlayedGame((2, 3), (1, 1), rated=False), PlayedGame((3, 2), (1, 1), rated=False)]
    pairing = swiss.pairing()
    pairing.note(Round(0, ((0, 1), (2, 3))), games)
    following = pairing.next_round()
    assert following is not None
    assert {frozenset(table) for table in following.tables} in (
        {frozenset((0, 2)), frozenset((1, 3))},
        {frozenset((0, 3)), frozenset((1, 2))},
    )


# --- rematches -------------------------------------------------------------------------------------------------------


def ways(bots: Sequence[int], seats: int) -> Iterator[list[tuple[int, ...]]]:
    """All ways to divide bots into tables."""
    if not bots:
        yield []
        return
    for others in combinations(bots[1:], seats - 1):
        rest = [one for one in bots[1:] if one not in others]
        for tables in ways(rest, seats):
            yield [(bots[0], *others), *tables]


def rematches_at(tables: Sequence[tuple[int, ...]], met: Sequence[Mapping[int, int]]) -> int:
    return sum(met[one].get(other, 0) for table in tables for one, other in combinations(table, 2))


@st.composite
def meetings(draw: st.DrawFn, bots: int) -> list[Counter[int]]:
    met = [Counter[int]() for _ in range(bots)]
    for one, other in combinations(range(bots), 2):
        met[one][other] = met[other][one] = draw(st.sampled_from((0, 0, 1, 2)))
    return met


@given(st.data(), st.sampled_from([(4, 2), (6, 2), (8, 2), (6, 3), (9, 3), (8, 4), (8, 8)]))
@settings(max_examples=100, deadline=None)
def test_no_two_meet_again_where_that_can_be_avoided(data: st.DataObject, size: tuple[int, int]) -> None:
    bots, seats = size
    met = data.draw(meetings(bots))
    found = fewest_rematches(range(bots), seats, met)
    assert sorted(one for table in found for one in table) == list(range(bots))
    assert rematches_at(found, met) == min(rematches_at(tables, met) for tables in ways(range(bots), seats))


@pytest.mark.parametrize(("bots", "seats", "rounds"), [(8, 2, 4), (16, 2, 8), (9, 3, 4), (64, 2, 32), (64, 4, 10)])
def test_nobody_meets_again_for_many_rounds(bots: int, seats: int, rounds: int) -> None:
    played = play(Swiss(1, bots, rounds, seats), rounds, by_strength(Random(1), 20))
    met = Counter(frozenset(pair) for one in played.rounds for table in one.tables for pair in combinations(table, 2))
    assert set(met.values()) == {1}


def test_rematches_that_the_search_leaves_are_exchanged_away(monkeypatch: pytest.MonkeyPatch) -> None:
    # given: a search that ends with the first way, and six bots of whom the last two have met
    monkeypatch.setattr(rematches, "MOST_STEPS", 6)
    met = [Counter[int]() for _ in range(6)]
    met[4][5] = met[5][4] = 1
    assert fewest_rematches(range(6), 2, met) == [(0, 1), (4, 3), (2, 5)]


def test_exchanges_end_after_some_passes_whatever_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rematches, "MOST_STEPS", 6)
    monkeypatch.setattr(rematches, "MOST_PASSES", 0)
    met = [Counter[int]() for _ in range(6)]
    met[4][5] = met[5][4] = 1
    assert fewest_rematches(range(6), 2, met) == [(0, 1), (2, 3), (4, 5)]


@given(st.data(), st.sampled_from([(12, 2), (12, 3), (16, 4), (16, 8)]))
@settings(max_examples=100, deadline=None)
def test_exchanges_are_those_of_the_description(data: st.DataObject, size: tuple[int, int]) -> None:
    bots, seats = size
    met = data.draw(meetings(bots))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rematches, "MOST_STEPS", bots)  # the first way
        found = fewest_rematches(range(bots), seats, met)
        patch.setattr(rematches, "MOST_PASSES", 0)
        first = fewest_rematches(range(bots), seats, met)
    assert found == described_exchanges([list(table) for table in first], met)


def described_exchanges(tables: list[list[int]], met: Sequence[Mapping[int, int]]) -> list[tuple[int, ...]]:
    for _ in range(10):
        before = [tuple(table) for table in tables]
        for number, table in enumerate(tables):
            nearest = sorted((abs(other - number), other) for other in range(len(tables)) if other != number)
            if not rematches_at([tuple(table)], met):
                continue
            for seat, (_, other), other_seat in product(range(len(table)), nearest, range(len(table))):
                at = (number, seat), (other, other_seat)
                exchanged = described_exchange(tables, *at)
                if rematches_at(exchanged, met) < rematches_at([tuple(one) for one in tables], met):
                    tables[number][:], tables[other][:] = exchanged[number], exchanged[other]
        if before == [tuple(table) for table in tables]:
            break
    return [tuple(table) for table in tables]


def described_exchange(
    tables: Sequence[Sequence[int]], one: tuple[int, int], other: tuple[int, int]
) -> list[tuple[int, ...]]:
    changed = [list(table) for table in tables]
    changed[one[0]][one[1]], changed[other[0]][other[1]] = tables[other[0]][other[1]], tables[one[0]][one[1]]
    return [tuple(table) for table in changed]


def test_of_ways_that_are_as_good_the_nearest_in_the_order_meet() -> None:
    nobody_has_met = [Counter[int]() for _ in range(6)]
    assert fewest_rematches([5, 3, 1, 0, 2, 4], 3, nobody_has_met) == [(5, 3, 1), (0, 2, 4)]


# --- what it is for --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bots", "seats", "rounds"), [(16, 2, 10), (17, 2, 10), (16, 4, 7)])
def test_the_best_come_first_and_the_last_last(bots: int, seats: int, rounds: int) -> None:
    swiss = Swiss(3, bots, rounds, seats)
    played = play(swiss, rounds, by_strength(Random(2), 60))
    score = dict.fromkeys(range(bots), 0.0)
    games = dict.fromkeys(range(bots), 0)
    for game in (one for some in played.games for one in some):
        for bot, rank in zip(game.table, game.ranks, strict=True):
            score[bot] += sum(other > rank for other in game.ranks) / (seats - 1)
            games[bot] += 1
    order = sorted(range(bots), key=lambda bot: -score[bot] / games[bot])
    assert set(order[:3]) <= {0, 1, 2, 3, 4}
    assert set(order[-3:]) <= set(range(bots - 5, bots))


def test_a_thousand_bots_are_paired_with_little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rematches, "MOST_STEPS", 1000)  # one for each bot
    played = play(Swiss(1, 1000, 3), 3, by_strength(Random(1), 1))
    met = Counter(frozenset(table) for one in played.rounds for table in one.tables)
    assert max(met.values()) == 1


def test_a_seed_gives_these_rounds_for_ever() -> None:
    assert [one.tables for one in play(Swiss(7, 7, 3), 3, by_number).rounds] == [
        ((3, 5), (0, 2), (6, 4)),
        ((3, 0), (1, 4), (5, 6)),
        ((0, 1), (3, 4), (2, 5)),
    ]
    assert [one.tables for one in play(Swiss(7, 7, 2, seats=3), 2, by_number).rounds] == [
        ((3, 5, 0), (6, 2, 4)),
        ((1, 2, 0), (4, 3, 5)),
    ]


@pytest.mark.parametrize("wrong", [{"entrants": 1}, {"rounds": 0}, {"seed": -1}, {"seats": 1}, {"seats": 9}])
def test_what_cannot_be_played_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="no Swiss tournament"):
        Swiss(**({"seed": 0, "entrants": 8, "rounds": 1} | wrong))


# --- the description of docs/formats.md, word by word and slowly ------------------------------------------------------


@pytest.mark.parametrize(
    ("entrants", "seats", "rounds"), [(5, 2, 6), (8, 2, 8), (7, 3, 5), (9, 3, 4), (9, 4, 4), (8, 8, 2)]
)
def test_anybody_can_redo_a_swiss_tournament_from_its_description(entrants: int, seats: int, rounds: int) -> None:
    played = play(Swiss(20, entrants, rounds, seats), rounds, at_random(Random(9)))
    for number, one in enumerate(played.rounds):
        games = [game for some in played.games[:number] for game in some]
        earlier = [some.tables for some in played.rounds[:number]]
        assert list(one.tables) == described_round(20, number, entrants, seats, earlier, games)


def described_round(
    seed: int, r: int, n: int, s: int, earlier: Sequence[Sequence[tuple[int, ...]]], games: Sequence[PlayedGame]
) -> list[tuple[int, ...]]:
    stream = Stream(f"schedule/{seed}/".encode(), f"round/{r}")
    order = sorted(described_shuffle(stream, list(range(n))), key=lambda bot: -described_score(bot, games))
    byes = Counter(bot for tables in earlier for bot in set(range(n)).difference(*tables))
    for _ in range(n % s):
        fewest = min(byes[bot] for bot in order)
        bye = [bot for bot in order if byes[bot] == fewest][-1]
        order.remove(bye)
    met = Counter(frozenset(pair) for tables in earlier for table in tables for pair in combinations(table, 2))
    every_way = list(described_ways(order, s, met))
    chosen = min(
        every_way, key=lambda tables: sum(added(table[:at], table[at], met) for table in tables for at in range(s))
    )
    return [tuple(described_shuffle(stream, list(table))) for table in chosen]


def described_score(bot: int, games: Sequence[PlayedGame]) -> Fraction:
    scores = []
    for game in games:
        if bot in game.table:
            own = game.ranks[game.table.index(bot)]
            beaten = sum(rank > own for rank in game.ranks)
            tied = sum(rank == own for rank in game.ranks) - 1
            scores.append(Fraction(2 * beaten + tied, 2 * (len(game.table) - 1)) if game.rated else Fraction(0))
    return sum(scores, Fraction(0)) / len(scores) if scores else Fraction(1, 2)


def described_ways(
    left: Sequence[int], s: int, met: Counter[frozenset[int]], table: Sequence[int] = (), below: int = 0
) -> Iterator[list[Sequence[int]]]:
    """All ways, in the order in which they are found.

    `left`: who has no seat, in the order of the round; `below`: how many of these stand above the last of the table.
    """
    if len(table) == s:
        for others in described_ways(left, s, met):
            yield [table, *others]
    elif not table:
        yield from described_ways(left[1:], s, met, left[:1]) if left else [[]]
    else:
        possible = range(below, len(left) - (s - len(table)) + 1)
        for at in sorted(possible, key=lambda at: (added(table, left[at], met), at)):
            yield from described_ways([*left[:at], *left[at + 1 :]], s, met, [*table, left[at]], at)


def added(table: Sequence[int], bot: int, met: Counter[frozenset[int]]) -> int:
    return sum(met[frozenset((one, bot))] for one in table)


def described_shuffle(stream: Stream, numbers: list[int]) -> list[int]:
    for j in range(len(numbers) - 1, 0, -1):
        k = stream.below(j + 1)
        numbers[j], numbers[k] = numbers[k], numbers[j]
    return numbers
