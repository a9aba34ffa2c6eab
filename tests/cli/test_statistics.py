"""`tournament statistics`: every case has its figures, its tables stay readable, and every column is explained."""

from __future__ import annotations

import io
import json
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from itertools import combinations
from pathlib import Path

import pytest
import trio
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from rummyarena_server.app import reading
from rummyarena_server.cli.main import cli
from rummyarena_server.cli.output import UsageError, standings_table
from rummyarena_server.cli.statistics import MOST_COMPARED, statistics, tables
from rummyarena_server.store.errors import StoreError
from rummyarena_server.store.results import GameResult
from tests.cli.stored import group, store

DOCS = Path(__file__).parents[2] / "docs" / "statistics.md"
WIN, TIE, LOSS = (1, 2), (1, 1), (2, 1)


def round_robin(bots: int, cycles: int = 1) -> list[GameResult]:
    """Games of two, in each of which the bot of the lower number wins when it sits first, and else every other time."""
    pairs = [*combinations(range(bots), 2)] * cycles
    return [game for number, pair in enumerate(pairs) for game in group(number, pair, WIN, LOSS if number % 2 else WIN)]


def shown(capsys: pytest.CaptureFixture[str], database: str, *bots: str) -> list[str]:
    assert statistics("Friday", bot=bots, db=database) == 0
    return capsys.readouterr().out.splitlines()


def under(lines: Sequence[str], title: str) -> list[str]:
    """Returns the lines of the table whose meaning begins so, with that of its columns first."""
    start = next(number for number, line in enumerate(lines) if line.startswith(title)) + 1
    return [line.rstrip() for line in lines[start : lines.index("", start)]]


def found_in(database: str) -> reading.InDetail:
    found = trio.run(reading.read_statistics, database, "Friday")
    assert found is not None
    return found


def drawn(table: Table, width: int) -> list[str]:
    """Returns the lines of a table on a screen so wide."""
    console = Console(file=io.StringIO(), width=width, soft_wrap=True)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


# --- what is shown ---------------------------------------------------------------------------------------------------


def test_each_table_is_shown_with_its_meaning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # given: Ann beats Bob 3 : 1, both beat Cid, who forfeits two games to Bob
    games = [
        *group(0, (0, 1), WIN, WIN),
        *group(1, (0, 1), WIN, LOSS),
        *group(2, (0, 2), WIN, WIN),
        *group(3, (2, 1), LOSS, LOSS, forfeits=["exited"]),
    ]

    lines = shown(capsys, store(tmp_path / "arena.db", ("Ann", "Bob", "Cid"), games))

    assert lines[0].startswith("Friday: thai 1, 2 seats, 3 bots,")
    assert lines[1] == "Complete deal groups: 4; rated games in them: 8."
    assert lines[2].startswith("Every two bots met in ")
    assert lines[2].endswith("Everybody sits in every seat equally often.")
    assert [line.split()[:2] for line in under(lines, "Strength")[1:]] == [["1", "Ann"], ["2", "Bob"], ["3", "Cid"]]
    header, first, *_ = under(lines, "Likelihood of superiority")
    assert (header.split(), first.split()[:3]) == (["bot", "1", "2", "3"], ["1", "Ann", "-"])
    meeting = under(lines, "Head to head")[1].split()
    assert (meeting[:6], meeting[-1]) == (["Ann", "Bob", "3", "0", "1", "75.0%"], "2")
    assert [line.split()[0] for line in under(lines, "Seat effect")[1:]] == ["0", "1"]
    assert [line.split()[1] for line in under(lines, "Variance saved")[1:]] == ["places", "points"]
    assert under(lines, "Forfeited games")[1].split() == ["Cid", "2", "0", "2", "0", "0", "0"]
    assert lines[-1] == "What each column means is told in docs/statistics.md."


def test_forfeits_stand_under_their_reasons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = [
        *group(0, (0, 1), LOSS, LOSS, forfeits=["faults"]),
        *group(1, (0, 1), WIN, WIN, forfeits=[None, "gone"]),
        *group(2, (0, 1), LOSS, LOSS, forfeits=["withdrawn"]),
    ]

    header, *lines = under(shown(capsys, store(tmp_path / "arena.db", ("Ann", "Bob"), games)), "Forfeited games")

    assert header.split() == ["bot", "forfeits", "faults", "exited", "gone", "misuse", "withdrawn"]
    assert [line.split() for line in lines] == [
        ["Ann", "4", "2", "0", "0", "0", "2"],
        ["Bob", "2", "0", "0", "2", "0", "0"],
    ]


def test_what_is_not_over_is_said_to_be_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = [*group(0, (0, 1), WIN, WIN), *group(1, (0, 2), WIN)]
    lines = shown(capsys, store(tmp_path / "arena.db", ("Ann", "Bob", "Cid"), games, finished=False))
    assert lines[1] == "Complete deal groups: 1; rated games in them: 2. It is not over yet."


@pytest.mark.parametrize(
    "games", [[], group(0, (0, 1), WIN), group(0, (0, 1), (2, 2), (2, 2))], ids=["none", "one", "nobody won"]
)
def test_where_there_is_nothing_to_compare_it_says_so(
    games: list[GameResult], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = store(tmp_path / "arena.db", ("Ann", "Bob"), games, finished=False)
    assert shown(capsys, database)[1:] == [
        "There is nothing to compare yet: no rated game is in a complete deal group.",
        "",
        "What each column means is told in docs/statistics.md.",
    ]
    assert statistics("Friday", as_json=True, db=database) == 0
    assert json.loads(capsys.readouterr().out)["statistics"] is None


@pytest.mark.parametrize("result", [WIN, TIE, LOSS], ids=["all wins", "all ties", "all losses"])
@pytest.mark.parametrize("groups", [1, 3, 40])
def test_no_figure_is_infinite_or_certain(
    result: tuple[int, int], groups: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # given: Ann and Bob, and Cid, who never met anybody
    games = [game for number in range(groups) for game in group(number, (0, 1), result, result)]
    database = store(tmp_path / "arena.db", ("Ann", "Bob", "Cid"), games)

    lines = shown(capsys, database)

    assert not re.search(r"\b(nan|inf)\b", "\n".join(lines), re.IGNORECASE)
    (meeting,) = under(lines, "Head to head")[1:]
    assert meeting.split()[:2] in (["Ann", "Bob"], ["Bob", "Ann"])
    low, high = map(float, re.findall(r"\(([\d.]+)-([\d.]+)\)", meeting)[0])
    assert low < high
    assert not {"0", "100"} & {cell for line in under(lines, "Likelihood")[1:] for cell in line.split()[2:]}


def test_programs_get_it_all_as_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = store(tmp_path / "arena.db", [f"bot {number}" for number in range(20)], round_robin(20))

    assert statistics("Friday", as_json=True, db=database) == 0

    def refused(constant: str) -> None:
        raise AssertionError(f"{constant} is no number")

    told = json.loads(capsys.readouterr().out, parse_constant=refused)
    known = told["statistics"]
    assert (told["name"], len(told["bots"]), len(told["forfeits"])) == ("Friday", 20, 20)
    assert (known["games"], known["groups"], len(known["meetings"]), len(known["seats"])) == (380, 190, 190, 2)
    assert [len(row) for row in known["figures"]["superiority"]] == [20] * 20
    assert set(known["meetings"][0]) == {"bot", "opponent", "wins", "ties", "losses", "score"}
    assert set(known["saved"]) == {"places", "points"}


# --- many bots, odd names --------------------------------------------------------------------------------------------


def test_of_many_bots_the_strongest_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"bot {number}" for number in range(MOST_COMPARED + 1)]
    database = store(tmp_path / "arena.db", names, round_robin(len(names)))

    lines = shown(capsys, database)

    assert len(under(lines, "Strength")[1:]) == len(names)
    header, *rows = under(lines, "Likelihood")
    assert header.split()[1:] == [str(place) for place in range(1, MOST_COMPARED + 1)]
    assert [row.split()[1:3] for row in rows] == [line.split()[1:3] for line in under(lines, "Strength")[1:-1]]
    assert len(under(lines, "Head to head")[1:]) == MOST_COMPARED * (MOST_COMPARED - 1) // 2
    assert lines[-2].startswith("Only the 16 strongest are compared with each other here; compare others with --bot")


def test_the_bots_to_be_compared_can_be_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"bot{number}" for number in range(20)]
    database = store(tmp_path / "arena.db", names, round_robin(20))

    two = shown(capsys, database, "bot3", "bot19", "bot3")
    one = shown(capsys, database, "bot19")

    assert [line.split()[1] for line in under(two, "Likelihood")[1:]] == ["bot3", "bot19"]
    assert [line.split()[:2] for line in under(two, "Head to head")[1:]] == [["bot3", "bot19"]]
    assert not any(line.startswith("Likelihood") for line in one)
    assert {line.split()[0] for line in under(one, "Head to head")[1:]} == {"bot19"}
    assert {line.split()[1] for line in under(one, "Head to head")[1:]} == {*names} - {"bot19"}


def test_the_command_line_takes_several_bots(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = store(tmp_path / "arena.db", ("Ann", "Bob", "Cid"), round_robin(3))
    words = ["tournament", "statistics", "Friday", "--bot", "Ann", "--bot", "Cid", "--db", database]
    assert cli(words, result_action="return_value") == 0
    assert len(under(capsys.readouterr().out.splitlines(), "Likelihood")) == 3


@pytest.mark.parametrize(
    ("bots", "complaint"),
    [
        (("Anne",), "--bot Anne: no bot of the tournament is called that; did you mean Ann?"),
        (("\x1b[31m",), r"--bot \x1b[31m: no bot of the tournament is called that; `rummyarena tournament show NAME`"),
        (tuple(f"bot{number}" for number in range(17)), "--bot: at most 16 bots are compared at once, not 17"),
    ],
)
def test_bots_that_cannot_be_compared_are_refused(bots: tuple[str, ...], complaint: str, tmp_path: Path) -> None:
    database = store(tmp_path / "arena.db", ["Ann", *(f"bot{number}" for number in range(17))], [])
    with pytest.raises(UsageError) as refused:
        statistics("Friday", bot=bots, db=database)
    assert str(refused.value).startswith(complaint)


def test_a_tournament_that_is_not_there_is_refused(tmp_path: Path) -> None:
    database = store(tmp_path / "arena.db", ("Ann", "Bob"), [])
    with pytest.raises(UsageError, match=r"there is no tournament Saturday in .*: `rummyarena tournament list` names"):
        statistics("Saturday", db=database)


ODD_NAMES = ("x" * 64, "\u540d\u524d" * 32, "\u05d0\u05d1 \u202egnp.exe", "=1+1|'\"; DROP TABLE bot", "a\x1b[2Jb")


def test_tables_stay_aligned_whatever_the_names(tmp_path: Path) -> None:
    found = found_in(store(tmp_path / "arena.db", ODD_NAMES, round_robin(len(ODD_NAMES))))
    for _, table in tables(found):
        lines = drawn(table, 1000)
        assert len({cell_len(line) for line in lines}) == 1
        assert all(line.isprintable() for line in lines)
        assert not any("\u2026" in line for line in lines)


def test_on_a_narrow_terminal_names_are_cut_and_numbers_are_not(tmp_path: Path) -> None:
    names = [f"{number:02} {name}" for number, name in enumerate(["\u540d\u524d" * 30, "y" * 60] * 10)]
    found = found_in(store(tmp_path / "arena.db", names, round_robin(len(names))))
    for _, table in tables(found):
        wide, narrow = drawn(table, 1000), drawn(table, 80)
        assert len(narrow) == len(wide)
        assert max(map(cell_len, narrow)) <= 80
        for whole, cut in zip(wide[1:], narrow[1:], strict=True):
            assert (
                re.split(r"[y\u540d\u524d\u2026]", cut)[-1].split() == re.split(r"[y\u540d\u524d]", whole)[-1].split()
            )


# --- every column is explained ---------------------------------------------------------------------------------------


def explained() -> set[str]:
    rows = re.findall(r"^\| (`[^|]*`)[^|]* \|", DOCS.read_text(), re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def test_every_column_is_explained(tmp_path: Path) -> None:
    games = [*round_robin(3), *group(3, (0, 1), WIN, WIN, forfeits=[None, "gone"])]
    found = found_in(store(tmp_path / "arena.db", ("Ann", "Bob", "Cid"), games))
    shown_tables = [*(table for _, table in tables(found)), standings_table("", (), ())]
    columns = {str(column.header) for table in shown_tables for column in table.columns}
    assert {"strength", "stronger", "saved", "gone", "Elo", "3"} <= columns
    assert columns - {""} <= explained()


def test_games_that_lack_a_seat_are_said_to(tmp_path: Path) -> None:
    database = store(tmp_path / "arena.db", ("Ann", "Bob"), group(0, (0, 1), WIN, LOSS))
    with closing(sqlite3.connect(database)) as tampered:
        tampered.execute("DELETE FROM seat WHERE rowid = 1")
        tampered.commit()

    with pytest.raises(StoreError, match="other seats than they were played with; `rummyarena verify NAME` says which"):
        statistics("Friday", db=database)
