"""`tournament export`: what is stored comes out whole, in both formats, and does no harm where it goes."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rummyarena_server.cli.exports import COLUMNS, Format, What, as_csv, as_json, export, harmless_text, written_to
from rummyarena_server.cli.output import OutputError, UsageError
from tests.cli.stored import group, store
from tests.server.results import NOW

DOCS = Path(__file__).parents[2] / "docs" / "exports.md"
WIN, TIE, LOSS = (1, 2), (1, 1), (2, 1)


@pytest.fixture
def friday(tmp_path: Path) -> str:
    """Ann against Bob 3 : 1 in two groups, a tie of Bob and Cid, and a game of a group that is not complete."""
    games = [
        *group(0, (0, 1), WIN, WIN),
        *group(1, (0, 1), WIN, LOSS),
        *group(2, (1, 2), TIE, TIE, forfeits=[None, "exited"]),
        *group(3, (0, 2), LOSS),
    ]
    return store(tmp_path / "arena.db", ("Ann", "Bob", "Cid"), games, finished=False)


def exported(capsys: pytest.CaptureFixture[str], database: str, what: What, as_format: Format = "csv") -> str:
    assert export("Friday", what, as_format=as_format, db=database) == 0
    return capsys.readouterr().out


def lines(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


# --- what is in a table ----------------------------------------------------------------------------------------------


def test_standings_have_the_figures_of_each_bot(friday: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = lines(exported(capsys, friday, "standings"))

    assert [(one["place"], one["bot"], one["version"]) for one in found] == [
        ("1", "Ann", "1.0"),
        ("2", "Cid", "1.0"),
        ("3", "Bob", "1.0"),
    ]
    ann, cid, bob = found
    assert (ann["games"], ann["wins"], ann["draws"], ann["losses"], ann["score"]) == ("4", "3", "0", "1", "3.0")
    assert (bob["games"], bob["draws"], bob["score"], bob["deal_groups"]) == ("6", "2", "2.0", "3")
    assert (cid["forfeits"], cid["elo"]) == ("2", "")
    for one in found:
        for figure in ("strength", "points_a_deal"):
            assert float(one[f"{figure}_low"]) < float(one[figure]) < float(one[f"{figure}_high"])
    assert float(ann["difference"]) / float(ann["deals"]) == pytest.approx(float(ann["points_a_deal"]))


def test_games_have_a_line_for_each_seat(friday: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = lines(exported(capsys, friday, "games"))

    assert len(found) == 14
    assert [(one["game"], one["seat"], one["bot"], one["rank"]) for one in found[:4]] == [
        ("1.0.0", "0", "Ann", "1"),
        ("1.0.0", "1", "Bob", "2"),
        ("1.1.0", "0", "Bob", "2"),
        ("1.1.0", "1", "Ann", "1"),
    ]
    assert {name: value for name, value in found[1].items() if not name.endswith("_microseconds")} == {
        "game": "1.0.0",
        "index": "0",
        "deal_group": "0",
        "rotation": "0",
        "attempt": "0",
        "status": "finished",
        "reason": "",
        "deals": "3",
        "counted_deals": "2",
        "rated": "true",
        "started_at": NOW.isoformat(),
        "finished_at": NOW.isoformat(),
        "seat": "1",
        "bot": "Bob",
        "version": "1.0",
        "rank": "2",
        "total": "20",
        "points": "10",
        "forfeit": "",
        "faults": "0",
    }
    assert [one["forfeit"] for one in found if one["deal_group"] == "2"] == ["", "exited", "exited", ""]
    assert [one["index"] for one in found[-2:]] == ["6", "6"]


def test_games_are_read_page_by_page_and_none_is_missed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = [game for number in range(501) for game in group(number, (0, 1), WIN, LOSS)]
    database = store(tmp_path / "arena.db", ("Ann", "Bob"), games)
    found = lines(exported(capsys, database, "games"))
    assert [int(one["index"]) for one in found] == [index for index in range(1002) for _ in range(2)]


def test_pairs_stand_from_both_sides(friday: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = lines(exported(capsys, friday, "head-to-head"))

    counts = ("bot", "opponent", "wins", "ties", "losses", "score", "deal_groups")
    assert [tuple(one[column] for column in counts) for one in found] == [
        ("Ann", "Bob", "3", "0", "1", "0.75", "2"),
        ("Bob", "Ann", "1", "0", "3", "0.25", "2"),
        ("Bob", "Cid", "0", "2", "0", "0.5", "1"),
        ("Cid", "Bob", "0", "2", "0", "0.5", "1"),
    ]
    for one in found:
        assert 0 <= float(one["score_low"]) < float(one["score_high"]) <= 1
    assert float(found[0]["stronger"]) + float(found[1]["stronger"]) == pytest.approx(1)


@pytest.mark.parametrize("what", ["standings", "games", "head-to-head"])
def test_both_formats_say_the_same(what: What, friday: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = lines(exported(capsys, friday, what))
    told = json.loads(exported(capsys, friday, what, "json"))

    def plain(value: object) -> str:
        if value is None:
            return ""
        return str(value).lower() if isinstance(value, bool) else str(value)

    assert [{name: plain(value) for name, value in one.items()} for one in told] == found
    assert all(tuple(one) == COLUMNS[what] for one in told)


@pytest.mark.parametrize("what", ["games", "head-to-head"])
def test_a_tournament_without_games_has_empty_tables(
    what: What, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = store(tmp_path / "arena.db", ("Ann", "Bob"), [], finished=False)
    assert exported(capsys, database, what) == ",".join(f'"{column}"' for column in COLUMNS[what]) + "\r\n"
    assert exported(capsys, database, what, "json") == "[]\n"


def test_standings_before_the_first_group_have_no_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = store(tmp_path / "arena.db", ("Ann", "Bob"), group(0, (0, 1), WIN), finished=False)
    for one in lines(exported(capsys, database, "standings")):
        assert (one["games"], one["strength"], one["points_a_deal_low"], one["deal_groups"]) == ("0", "", "", "0")


def test_a_tournament_that_is_not_there_is_refused_before_anything_is_written(friday: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no tournament Saturday"):
        export("Saturday", "games", out=tmp_path / "games.csv", db=friday)
    assert not (tmp_path / "games.csv").exists()


@pytest.mark.parametrize("what", ["standings", "games", "head-to-head"])
def test_every_column_is_explained_and_no_other(what: What) -> None:
    section = DOCS.read_text().split(f"## Columns of `{what}`\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]*) \|", section, re.MULTILINE)
    assert [name for row in rows for name in re.findall(r"`([^`]+)`", row)] == [*COLUMNS[what]]


# --- harmless --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "  =1+1",
        "\u00a0=1+1",
        "\uff1d1+1",
        "\uff0b1",
        "\uff0d1",
        "\uff20x",
        "\tx",
        "\rx",
        "\nx",
        '=HYPERLINK("http://x";"y")',
        "-",
    ],
)
def test_what_a_spreadsheet_would_run_is_made_harmless(text: str) -> None:
    assert harmless_text(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", " ", "Ann", "1+1", "a=b", "'=1", "x-1", "\u540d\u524d", "\u00e9t\u00e9", "1.0.0"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert harmless_text(text) == text


@given(st.text())
def test_no_text_begins_like_a_formula_but_every_one_can_be_read_again(text: str) -> None:
    cell = harmless_text(text)
    assert cell in (text, f"'{text}")
    assert not unicodedata.normalize("NFKC", cell.lstrip()).startswith(("=", "+", "-", "@"))
    assert not cell.startswith(("\t", "\r", "\n"))


def test_csv_quotes_texts_and_leaves_numbers_alone() -> None:
    # given: names that would end a cell or a line, here or where semicolons separate
    file = io.StringIO(newline="")
    with as_csv(file, ("bot", "points", "score", "forfeit", "rated", "at")) as write:
        write(('=cmd|"/c calc"!A1', -12, -0.5, None, True, NOW))
        write(('a;=1,"b"\r\nc', 10**15, 1e-7, "gone", False, None))

    assert file.getvalue().split("\r\n", 2) == [
        '"bot","points","score","forfeit","rated","at"',
        f'"\'=cmd|""/c calc""!A1",-12,-0.5,"","true","{NOW.isoformat()}"',
        '"a;=1,""b""\r\nc",1000000000000000,1e-07,"gone","false",""\r\n',
    ]
    assert list(csv.reader(io.StringIO(file.getvalue(), newline="")))[2][0] == 'a;=1,"b"\r\nc'


def test_json_leaves_texts_as_they_are() -> None:
    file = io.StringIO()
    with as_json(file, ("bot", "points", "at")) as write:
        write(("=1+1", -12, NOW))
        write(("\u540d\u524d\u202e\r\n", None, None))

    assert json.loads(file.getvalue()) == [
        {"bot": "=1+1", "points": -12, "at": NOW.isoformat()},
        {"bot": "\u540d\u524d\u202e\r\n", "points": None, "at": None},
    ]
    assert len(file.getvalue().splitlines()) == 4


class Screen(io.StringIO):
    """A standard output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_is_not_upset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = store(tmp_path / "arena.db", ("a\x1b[2Jb", "\u202eBob"), group(0, (0, 1), WIN, WIN))
    for as_format in ("csv", "json"):
        monkeypatch.setattr(sys, "stdout", Screen())
        export("Friday", "head-to-head", as_format=as_format, db=database)
        assert isinstance(sys.stdout, Screen)
        shown = sys.stdout.getvalue()
        assert len(shown.split("\n")) in (4, 5)
        assert all(line.isprintable() for line in shown.split("\n"))
        assert r"\u202eBob" in shown


# --- files -----------------------------------------------------------------------------------------------------------


def test_a_file_is_written_in_utf_8_and_said_to_be(
    friday: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = exported(capsys, friday, "games")
    path = tmp_path / "games.csv"

    assert export("Friday", "games", out=path, db=friday) == 0

    assert path.read_bytes() == told.encode()
    assert capsys.readouterr().out == f"{path}: 14 lines of games\n"
    assert sorted(one.name for one in tmp_path.iterdir() if not one.name.startswith("arena.db")) == ["games.csv"]


def test_a_file_that_is_there_is_replaced_only_by_force(friday: str, tmp_path: Path) -> None:
    path = tmp_path / "games.csv"
    path.write_text("mine")

    with pytest.raises(UsageError, match=r"--out .*games\.csv: there is such a file; --force replaces it"):
        export("Friday", "games", out=path, db=friday)
    assert path.read_text() == "mine"

    export("Friday", "games", out=path, force=True, db=friday)
    assert path.read_text().startswith('"game",')


def test_a_link_leads_to_the_file_that_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "games.csv"
    link.symlink_to(tmp_path / "there" / "games.csv")
    with written_to(link, force=False) as file:
        file.write("x")
    assert link.is_symlink()
    assert (tmp_path / "there" / "games.csv").read_text() == "x"


def test_a_file_that_appeared_meanwhile_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "games.csv"

    def write_late() -> None:
        with written_to(path, force=False) as file:
            file.write("ours")
            path.write_text("theirs")

    with pytest.raises(UsageError, match="there is such a file"):
        write_late()
    assert [one.read_text() for one in tmp_path.iterdir()] == ["theirs"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_what_breaks_off_leaves_everything_as_it_was(error: BaseException, tmp_path: Path) -> None:
    path = tmp_path / "games.csv"
    path.write_text("before")

    def write_half() -> None:
        with written_to(path, force=True) as file:
            file.write("half")
            raise error

    with pytest.raises((OutputError, KeyboardInterrupt)) as stopped:
        write_half()
    assert [one.read_text() for one in tmp_path.iterdir()] == ["before"]
    if isinstance(error, OSError):
        assert str(stopped.value) == f"the file {path} cannot be written: no space left on device"


def test_paths_that_will_not_do_are_refused_with_advice(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("knot")
    (tmp_path / "knot").symlink_to("loop")
    for path, complaint in {
        tmp_path / "no" / "games.csv": f"there is no folder {tmp_path / 'no'}; make it or name another file",
        tmp_path: "this is a folder; name a file in it",
        tmp_path / "pipe": "this is no ordinary file; name one, or redirect the standard output",
        tmp_path / "loop": "this is a link that leads back to itself; name another file",
    }.items():
        with pytest.raises(UsageError) as refused, written_to(path, force=True):
            pass
        assert str(refused.value) == f"--out {path}: {complaint}"
    long = written_to(tmp_path / ("x" * 250), force=False)
    with pytest.raises(OutputError, match=r"the file .* cannot be written: file name too long"), long:
        pass
    assert sorted(one.name for one in tmp_path.iterdir()) == ["knot", "loop", "pipe"]


@contextmanager
def output_to(end: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with os.fdopen(os.dup(end), "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        yield
        nowhere = os.open(os.devnull, os.O_WRONLY)  # for what is still buffered
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def test_who_has_read_enough_is_not_bothered(friday: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with output_to(writer, monkeypatch), pytest.raises(OutputError) as stopped:
        export("Friday", "games", db=friday)
    os.close(writer)
    assert stopped.value.is_unwanted
