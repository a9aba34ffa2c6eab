"""A tournament from its file to its table: played once, kept, and the same whenever its seeds are the same."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from rummyarena_rules.events import DealEnded
from rummyarena_server.referee.record import replay
from tests.end_to_end.arena import (
    SECRET,
    Ended,
    arena,
    bots_started,
    games,
    play,
    write_bot,
    write_sample,
    write_samples,
    write_tournament,
)

BOTS = ["also random", "first", "random"]
GAMES = 12  # three pairs, two deal groups each, of two games

# A bot that is `random_legal` but for the number of games that it plays at once.
SEVERAL_AT_ONCE = """
import sys
from rummyarena import run
run(lambda decision: decision.random.choice(decision.candidates), max_concurrent_games=int(sys.argv[1]))
"""

# A bot that looks into the database when it is told that a game is over, and notes what it was told and what it found.
WITNESS = """
import json, sqlite3
from rummyarena import run

STORED = '''
    SELECT rank FROM seat JOIN game ON game.id = seat.game_id JOIN record ON record.game_id = game.id
    WHERE tournament_id || '.' || schedule_index || '.' || attempt = ? ORDER BY seat
'''

class Witness:
    def decide(self, decision):
        return decision.candidates[0]

    def game_over(self, game, outcome):
        found = [rank for rank, in sqlite3.connect("rummyarena.db").execute(STORED, [game.game_id])]
        with open("testimony", "a") as file:
            file.write(json.dumps([game.game_id, list(outcome.ranks), found]) + chr(10))

run(Witness())
"""


# --- what is shown ---------------------------------------------------------------------------------------------------


def test_a_tournament_ends_with_its_table(friday: tuple[Path, Ended]) -> None:
    _, ended = friday

    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith("Database: sqlite:///rummyarena.db; what the bots print: rummyarena-logs/\n")
    assert "Friday: 3 bots, 12 games of thai, 2 seats, the same deals in all seats." in ended.out
    assert "its deals are foreseeable" in ended.out
    assert " ".join(ended.table[0].split()) == "bot Elo games won drawn lost points a deal forfeits"
    assert sorted(" ".join(line.split()[1:-7]) for line in ended.table[1:]) == BOTS
    assert {line.split()[-1] for line in ended.table[1:]} == {"0"}  # no forfeits


def test_where_there_is_no_terminal_the_output_is_plain_lines(friday: tuple[Path, Ended]) -> None:
    _, ended = friday

    assert all(line.isprintable() for line in ended.out.splitlines())  # no escape codes, nothing written over
    assert [line for line in ended.out.splitlines() if line.endswith(" games/s")][-1].startswith("12 of 12 games, ")
    assert "━" not in ended.out


def test_run_again_it_plays_nothing_and_shows_the_same_table(friday: tuple[Path, Ended]) -> None:
    folder, first = friday
    started = bots_started(folder)

    again = play(folder)

    assert "It was played before; this is its table." in again.out.splitlines()
    assert again.table == first.table
    assert bots_started(folder) == started


def test_standings_show_the_same_elo(friday: tuple[Path, Ended]) -> None:
    folder, ended = friday

    shown = arena(folder, "standings")

    assert (shown.status, shown.err) == (0, "")
    assert "thai 1, 2 seats, max_deals=1" in shown.out.splitlines()
    before_points = [line.split()[:-2] for line in ended.table[1:]]
    assert sorted(line.split()[1:] for line in shown.table[1:]) == sorted(line[1:] for line in before_points)


# --- what is kept ----------------------------------------------------------------------------------------------------


def test_elo_and_counts_follow_from_the_recorded_games(friday: tuple[Path, Ended]) -> None:
    folder, ended = friday
    elo = dict.fromkeys(BOTS, 1500.0)
    won, lost = Counter[str](), Counter[str]()
    for game in games(folder):
        one, other = game.bots
        expected = 1 / (1 + 10 ** ((elo[other] - elo[one]) / 400))
        score = 0.5 if game.ranks[0] == game.ranks[1] else float(game.ranks[0] == 1)
        elo[one] += 16 * (score - expected)
        elo[other] -= 16 * (score - expected)
        won.update(bot for bot, rank in zip(game.bots, game.ranks, strict=True) if game.ranks.count(1) == 1 == rank)
        lost.update(bot for bot, rank in zip(game.bots, game.ranks, strict=True) if rank == 2)

    shown = {" ".join(line.split()[1:-7]): line.split()[-7:] for line in ended.table[1:]}

    assert sum(won.values()) > 0
    for bot, (rating, played, wins, draws, losses, *_) in shown.items():
        assert rating == f"{elo[bot]:.0f}"
        assert (int(wins), int(losses)) == (won[bot], lost[bot])
        assert int(played) == int(wins) + int(draws) + int(losses) == 2 * GAMES // 3


def test_every_pair_meets_equally_often_in_both_seats(friday: tuple[Path, Ended]) -> None:
    folder, _ = friday
    tables = Counter(game.bots for game in games(folder))
    assert tables == {table: 2 for pair in combinations(BOTS, 2) for table in (pair, pair[::-1])}


def test_every_record_replays_to_the_recorded_scores(friday: tuple[Path, Ended]) -> None:
    folder, _ = friday
    played = games(folder)

    assert [game.index for game in played] == list(range(GAMES))
    for game in played:
        assert game.record is not None
        assert tuple(bot.name for bot in game.record.setup.bots) == game.bots
        deals = [event for event in replay(game.record) if isinstance(event, DealEnded)]
        assert tuple(map(sum, zip(*(deal.scores for deal in deals), strict=True))) == game.totals


def test_a_result_is_recorded_before_a_bot_is_told(tmp_path: Path) -> None:
    # given: bots that look into the database as soon as they hear that a game is over
    witness = write_bot(tmp_path, "witness", WITNESS)
    write_tournament(tmp_path, {"one": witness, "other": witness}, cycles=4)

    play(tmp_path)

    testimony = [json.loads(line) for line in (tmp_path / "testimony").read_text().splitlines()]
    told = {game_id: ranks for game_id, ranks, _ in testimony}
    assert len(testimony) == 2 * len(told) == 16  # both bots of all games
    assert all(ranks == found for _, ranks, found in testimony)
    assert [list(game.ranks) for game in games(tmp_path)] == [told[f"1.{index}.0"] for index in range(8)]


# --- what it depends on ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("concurrency", "max_concurrent_games"), [(1, 1), (8, 8)])
def test_the_games_do_not_depend_on_how_many_are_played_at_once(
    concurrency: int, max_concurrent_games: int, friday: tuple[Path, Ended], tmp_path: Path
) -> None:
    random = [*write_bot(tmp_path, "several", SEVERAL_AT_ONCE), str(max_concurrent_games)]
    bots = {"first": write_sample(tmp_path, "first_candidate"), "random": random, "also random": random}
    write_tournament(tmp_path, bots, cycles=2, concurrency=concurrency)

    ended = play(tmp_path)

    folder, before = friday
    assert [game.game_text for game in games(tmp_path)] == [game.game_text for game in games(folder)]
    assert ended.table == before.table


def test_another_secret_gives_other_games(friday: tuple[Path, Ended], tmp_path: Path) -> None:
    write_samples(tmp_path, secret=SECRET[::-1])

    play(tmp_path)

    folder, _ = friday
    other = {game.game_text for game in games(tmp_path)}
    assert len(other) == GAMES
    for one, another in zip(games(tmp_path), games(folder), strict=True):
        assert one.record is not None
        assert another.record is not None
        assert one.bots == another.bots  # the schedule has a seed of its own
        assert one.record.moves != another.record.moves


def test_without_a_fixed_secret_every_game_of_strangers_has_a_seed_of_its_own(tmp_path: Path) -> None:
    first = write_sample(tmp_path, "first_candidate")
    write_tournament(tmp_path, {"one": first, "other": first}, cycles=2, secret=None, trusted=False)

    ended = play(tmp_path)

    assert "deals of its own in each game" in ended.out
    assert "foreseeable" not in ended.out
    assert len({game.record.setup.seed for game in games(tmp_path) if game.record}) == 4
