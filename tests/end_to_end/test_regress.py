"""`rummyarena regress` with real bots: its verdicts, its exit statuses, and that a verdict is final."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.end_to_end.arena import (
    SAMPLES,
    Ended,
    arena,
    bots_left,
    bots_started,
    end_of,
    games,
    write_bot,
    write_sample,
)
from tests.end_to_end.waiting import in_the_middle, waiting_bot

SHORT = ("--option", "max_deals=1", "--clock", "off")
COARSE = ("--elo0", "0", "--elo1", "200")  # a dozen groups tell bots apart that are so different


def regress(folder: Path, new: str, base: str, *words: str) -> Ended:
    return arena(folder, "regress", "--new", new, "--base", base, *SHORT, *words)


def told(folder: Path, new: str, base: str, *words: str) -> dict[str, Any]:
    """Runs a test and returns what it says as JSON, which is one line and all that it writes there."""
    ended = regress(folder, new, base, "--json", *words)
    (line,) = ended.out.splitlines()
    said: dict[str, Any] = json.loads(line)
    assert said["status"] == ended.status, ended
    return said


def case(path: Path) -> ElementTree.Element:
    """The only case in a file of JUnit XML."""
    ((found,),) = ElementTree.parse(path).getroot()  # noqa: S314 - the command wrote it
    return found


def logs(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "rummyarena-logs").glob("*"))


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    """A test in which a good bot is accepted against a bad one: its folder, and how it ended."""
    folder = tmp_path_factory.mktemp("accepted")
    write_sample(folder, "random_legal")
    shutil.copy(SAMPLES / "card_counter.py", folder / "mine.py")
    return folder, regress(folder, "mine.py", "random_legal.py", "--better", "--junit", "result.xml")


# --- verdicts --------------------------------------------------------------------------------------------------------


def test_a_better_bot_is_accepted(accepted: tuple[Path, Ended]) -> None:
    folder, ended = accepted

    assert (ended.status, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[:2] == ["new:  mine.py", "base: random_legal.py"]
    assert lines[6].startswith("expected: 801 deal groups if it is as good as its base")
    assert "Accepted: the new bot is better than its base." in lines
    assert case(folder / "result.xml").attrib["name"] == (
        "mine against random_legal, thai, 2 seats: the new bot is better than its base"
    )
    assert [one.tag for one in case(folder / "result.xml")] == ["system-out"]
    assert bots_left(folder) == []


def test_its_games_are_a_tournament_that_is_over_and_counts_for_no_elo(accepted: tuple[Path, Ended]) -> None:
    folder, ended = accepted
    played = games(folder)

    (found,) = json.loads(arena(folder, "tournament", "list", "--json").out)
    assert (found["status"], found["recorded"]) == ("finished", len(played))
    assert found["name"].startswith("mine against random_legal, ")
    assert ended.out.splitlines()[-1].split()[:2] == ["stored", "as"]
    assert ended.out.splitlines()[-1].endswith(found["name"])
    assert {one.bots for one in played} == {("new", "base"), ("base", "new")}
    assert json.loads(arena(folder, "standings", "--json").out) == []


def test_the_same_test_again_tells_the_same_verdict_without_playing(accepted: tuple[Path, Ended]) -> None:
    folder, ended = accepted
    before, processes = games(folder), bots_started(folder)

    again = regress(folder, "mine.py", "random_legal.py", "--better", "--junit", "again.xml")

    verdict = ended.out.splitlines().index("Accepted: the new bot is better than its base.")
    assert (again.status, again.out.splitlines()[7:]) == (0, ended.out.splitlines()[verdict:])
    assert again.out.splitlines()[6].startswith("Nothing is played: it was decided before, and a verdict is final.")
    assert (games(folder), bots_started(folder)) == (before, processes)
    assert case(folder / "again.xml").attrib["name"] == case(folder / "result.xml").attrib["name"]


def test_another_question_or_a_changed_bot_is_another_test(accepted: tuple[Path, Ended], tmp_path: Path) -> None:
    folder, _ = accepted
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)

    other_question = told(tmp_path, "mine.py", "random_legal.py", "--groups", "1")
    (tmp_path / "mine.py").write_text((SAMPLES / "deadwood.py").read_text())
    changed = told(tmp_path, "mine.py", "random_legal.py", "--groups", "1")

    assert (other_question["groups"], changed["groups"]) == (1, 1)
    stored = json.loads(arena(tmp_path, "tournament", "list", "--json").out)
    assert len({one["name"] for one in stored}) == 3
    assert [one["name"] for one in stored[1:]] == [other_question["tournament"], changed["tournament"]]


def test_a_test_that_was_played_elsewhere_is_not_taken_for_this_one(
    accepted: tuple[Path, Ended], tmp_path: Path
) -> None:
    folder, _ = accepted
    (found,) = json.loads(arena(folder, "tournament", "list", "--json").out)
    records = tmp_path / "records.txt"
    assert arena(folder, "tournament", "export", found["name"], "records", "--out", str(records)).status == 0
    for bot in ("mine.py", "random_legal.py"):
        shutil.copy(folder / bot, tmp_path)
    assert arena(tmp_path, "tournament", "import", str(records)).status == 0

    ended = regress(tmp_path, "mine.py", "random_legal.py", "--better")

    assert ended.status == 5
    assert "was imported from a file of records and cannot be played: name another database with --db" in ended.err
    assert len(ended.err.splitlines()) == 1


def test_a_worse_bot_is_rejected(tmp_path: Path) -> None:
    ended = regress(tmp_path, "random-legal", "card-counter", *COARSE, "--junit", "result.xml")

    assert (ended.status, ended.err) == (1, "")
    rejected = "Rejected: the new bot is not better than its base."
    assert rejected in ended.out.splitlines()
    (failure,) = case(tmp_path / "result.xml")
    assert (failure.tag, failure.get("message")) == ("failure", rejected)
    assert failure.text is not None
    assert failure.text.startswith(rejected)


def test_a_number_of_groups_is_played_and_the_bar_decides(tmp_path: Path) -> None:
    said = told(tmp_path, "random-legal", "random-legal", "--groups", "4", "--junit", "result.xml")

    score = said["score"]
    by_the_bar = "accepted" if score["low"] > 0.5 else "rejected" if score["high"] < 0.5 else "undecided"
    assert said["verdict"] == by_the_bar
    assert said["status"] == {"accepted": 0, "rejected": 1, "undecided": 3}[by_the_bar]
    assert (said["groups"], said["groups_beyond"], said["games"], said["ratio"]) == (4, 0, 8, None)
    tag = {"accepted": "system-out", "rejected": "failure", "undecided": "skipped"}[by_the_bar]
    assert [one.tag for one in case(tmp_path / "result.xml")] == [tag]


def test_bots_that_play_alike_are_undecided(tmp_path: Path) -> None:
    # Both play the same moves with the same cards, so that each game of a group is the other one turned round.
    said = told(tmp_path, "first-candidate", "first-candidate", "--better", "--groups", "5")

    assert (said["verdict"], said["status"], said["score"]["value"]) == ("undecided", 3, 0.5)


def test_at_three_seats_the_base_sits_in_two(tmp_path: Path) -> None:
    said = told(tmp_path, "card-counter", "random-legal", "--seats", "3", *COARSE)

    assert (said["verdict"], said["status"]) == ("accepted", 0)
    assert said["forfeits"] == {"new": {}, "base": {}, "base-2": {}}
    tables = [one.bots for one in games(tmp_path)[:3]]
    assert [set(table) for table in tables] == [{"new", "base", "base-2"}] * 3
    assert {table.index("new") for table in tables} == {0, 1, 2}


# --- bots that cannot play -------------------------------------------------------------------------------------------


def test_a_bot_that_crashes_is_broken_and_nobody_has_won(tmp_path: Path) -> None:
    write_bot(tmp_path, "crashing", "raise RuntimeError('no idea')")

    ended = regress(tmp_path, "crashing.py", "random-legal", "--junit", "result.xml")

    assert ended.status == 4
    why = "Broken: new is withdrawn after 3 exits in a row; the last time it exited with code 1."
    lines = ended.out.splitlines()
    assert lines[lines.index(why) + 1 :] == ["  deal groups    0 of 2 games", f"  its output     {_last_log(tmp_path)}"]
    assert ended.err.count("RuntimeError: no idea") == 3
    (error,) = case(tmp_path / "result.xml")
    assert (error.tag, error.get("message")) == ("error", why)
    assert "RuntimeError: no idea" in (error.text or "")
    assert games(tmp_path) == []
    assert bots_left(tmp_path) == []


def _last_log(folder: Path) -> str:
    numbers = [int(name.split("-")[1].split(".")[0]) for name in logs(folder) if name.startswith("new-")]
    return f"rummyarena-logs/new-{max(numbers)}.log"


def test_a_base_that_is_broken_does_not_make_the_new_bot_better(tmp_path: Path) -> None:
    write_bot(
        tmp_path, "mute", "from rummyarena import run\n\ndef decide(decision):\n    raise ValueError\n\nrun(decide)"
    )

    said = told(tmp_path, "random-legal", "mute.py", "--better")

    assert (said["verdict"], said["status"]) == ("broken", 4)
    assert [one["bot"] for one in said["broken"]] == ["base"]
    assert said["forfeits"] == {"new": {}, "base": {"exited": said["games"]}}


def test_a_bot_that_forfeits_every_game_is_broken_and_stays_so(tmp_path: Path) -> None:
    write_bot(tmp_path, "illegal", "from rummyarena import run\n\nrun(lambda decision: 'discard 2C')")

    first = told(tmp_path, "illegal.py", "random-legal")
    again = told(tmp_path, "illegal.py", "random-legal")

    assert first["status"] == 4
    assert first["sentence"] == f"Broken: new has forfeited all of its {first['games']} games (faults)."
    assert again == first


def test_a_bot_that_cannot_be_started_is_broken_before_anything_is_stored(tmp_path: Path) -> None:
    ended = regress(tmp_path, "python absent.py", "random-legal", "--junit", "result.xml")

    assert ended.status == 4
    assert f"Broken: new cannot be started: there is no file {tmp_path / 'absent.py'}; correct the path." in ended.out
    assert case(tmp_path / "result.xml")[0].tag == "error"
    assert json.loads(arena(tmp_path, "tournament", "list", "--json").out) == []


# --- interruptions ---------------------------------------------------------------------------------------------------


def test_after_ctrl_c_it_goes_on_to_the_same_verdict(tmp_path: Path) -> None:
    test = ("waits.py", "first_candidate.py", *COARSE, "--seed", "any", "--concurrency", "2")
    whole, broken_off = tmp_path / "whole", tmp_path / "broken off"
    for folder in (whole, broken_off):
        folder.mkdir()
        write_bot(folder, "waits", waiting_bot(3))
        write_sample(folder, "first_candidate")
    (whole / "go").touch()
    uninterrupted = told(whole, *test)

    with in_the_middle(broken_off, "regress", "--new", test[0], "--base", test[1], *SHORT, *test[2:]) as server:
        server.send_signal(signal.SIGINT)
        assert server.stderr is not None
        assert "Ctrl-C again stops now" in server.stderr.readline()
        (broken_off / "go").touch()
        ended = end_of(server)
    recorded = games(broken_off)

    assert ended.status == 130
    assert "There is no verdict yet." in ended.out
    assert ended.err.endswith("run the same command again to go on.\n")
    assert bots_left(broken_off) == []
    resumed = told(broken_off, *test)
    differing = {key for key in resumed if resumed[key] != uninterrupted[key]}
    assert differing <= {"games", "groups_beyond"}
    assert uninterrupted["verdict"] in ("accepted", "rejected")
    assert [one for one in games(broken_off) if one.index in {one.index for one in recorded}] == recorded


def test_a_second_run_at_the_same_time_is_no_verdict(tmp_path: Path) -> None:
    write_bot(tmp_path, "waits", waiting_bot(3))
    words = ("regress", "--new", "waits.py", "--base", "first-candidate", *SHORT)
    with in_the_middle(tmp_path, *words) as first:
        second = arena(tmp_path, *words)

        assert second.status == 5
        assert f"is being played by process {first.pid} already" in second.err
        first.send_signal(signal.SIGTERM)
        (tmp_path / "go").touch()
        assert end_of(first).status == 143
