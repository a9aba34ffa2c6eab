"""A bot is held to the version with which its tournament began: any change of what it is made of is seen, and named."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import grpc
import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rummyarena.v1 import play_pb2
from rummyarena_rules.registry import RULESETS
from rummyarena_server.app import opening
from rummyarena_server.app.opening import ChangedTournamentError, Fork
from rummyarena_server.config import BotSettings, ConfigError, TournamentFile, TournamentSettings
from rummyarena_server.store.results import StoredTournament
from rummyarena_server.store.store import open_store
from rummyarena_server.tournament import pins
from rummyarena_server.tournament.bots import EventBot, EventBots, connected, open_bots
from rummyarena_server.tournament.pins import HeldVersion, PinError, pin_of, version_of, version_pin
from rummyarena_server.tournament.runner import SecondRunnerError, claim
from tests.server.lines import Line
from tests.tournament.fakes import a_registry

PROGRAM = ("python", "bots/first.py", "--book", "book.txt", "--level=3")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with bots and what they are made of."""
    write(tmp_path, {"bots/first.py": "first", "bots/lib/cards.py": "cards", "book.txt": "book", "other.txt": "other"})
    return tmp_path


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)


def a_bot(command: Sequence[str] = PROGRAM, files: Sequence[str] = (), **changes: Any) -> BotSettings:
    return BotSettings.model_validate({"name": "first", "command": list(command), "files": list(files), **changes})


def pinned_files(folder: Path, command: Sequence[str] = PROGRAM, files: Sequence[str] = ()) -> dict[str, str]:
    """The files of a bot's pin, with their contents instead of the digests."""
    contents = {sha256(path.read_bytes()).hexdigest(): path.read_text() for path in folder.rglob("*") if path.is_file()}
    digests = json.loads(pin_of(a_bot(command, files), folder))["files"]
    return {name: contents[digest] for name, digest in digests.items()}


# --- what a pin is made of -------------------------------------------------------------------------------------------


def test_a_pin_has_the_words_and_the_files_that_they_name(folder: Path) -> None:
    pin = json.loads(pin_of(a_bot(), folder))
    words = '["python","bots/first.py","--book","book.txt","--level=3"]'
    assert pin["command"] == sha256(words.encode()).hexdigest()
    assert pin["files"] == {
        "book.txt": sha256(b"book").hexdigest(),
        "bots/first.py": sha256(b"first").hexdigest(),
    }


def test_a_pin_is_canonical(folder: Path) -> None:
    pin = pin_of(a_bot(), folder)
    assert pin == json.dumps(json.loads(pin), sort_keys=True, separators=(",", ":"))


@pytest.mark.parametrize(
    ("command", "names"),
    [
        (["./bots/first.py"], ["bots/first.py"]),
        (["bots/../bots/first.py"], ["bots/first.py"]),
        (["book.txt"], []),  # looked up in the PATH, as `python` is
        (["python", "-c", "x" * 10_000], []),
        (["python", "bots"], []),
        (["python", ""], []),
        (["python", "book.txt", "book.txt"], ["book.txt"]),
    ],
)
def test_a_program_is_pinned_if_a_path_names_it(command: list[str], names: list[str], folder: Path) -> None:
    assert list(pinned_files(folder, command)) == names


def test_a_path_from_the_root_on_stays_one(folder: Path) -> None:
    program = str(folder / "bots" / "first.py")
    assert pinned_files(folder, ["python", program]) == {program: "first"}


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (["*.txt"], ["book.txt", "other.txt"]),
        (["bots/*"], ["book.txt", "bots/first.py"]),
        (["**/*.py"], ["book.txt", "bots/first.py", "bots/lib/cards.py"]),
        (["bots/**"], ["book.txt", "bots/first.py", "bots/lib/cards.py"]),
        (["other.txt", "bots/lib/cards.py"], ["book.txt", "bots/lib/cards.py", "other.txt"]),
        (["./bots/../other.*"], ["book.txt", "other.txt"]),
        (["*.txt", "*.txt", "o*"], ["book.txt", "other.txt"]),
    ],
)
def test_the_files_of_patterns_are_pinned(patterns: list[str], names: list[str], folder: Path) -> None:
    assert sorted(pinned_files(folder, ["python", "book.txt"], patterns)) == names


def test_a_pattern_may_leave_the_folder(folder: Path) -> None:
    digests = json.loads(pin_of(a_bot(["python"], ["../*.txt", "../bots/**"]), folder / "bots"))["files"]
    assert sorted(digests) == ["../book.txt", "../other.txt", "first.py", "lib/cards.py"]


def test_a_link_is_what_it_points_to(folder: Path) -> None:
    (folder / "link.py").symlink_to(folder / "other.txt")
    (folder / "linked").symlink_to(folder / "bots")
    (folder / "bots" / "round").symlink_to(folder)  # where `**` could go round for ever
    assert pinned_files(folder, ["python", "link.py"]) == {"link.py": "other"}
    assert pinned_files(folder, ["python"], ["linked/first.py"]) == {"linked/first.py": "first"}
    assert sorted(pinned_files(folder, ["python"], ["**/first.py"])) == ["bots/first.py"]


def test_what_python_has_compiled_is_left_out(folder: Path) -> None:
    before = pin_of(a_bot(files=["**"]), folder)
    write(folder, {"__pycache__/a.pyc": "1", "bots/lib/__pycache__/cards.cpython-311.pyc": "1"})
    assert pin_of(a_bot(files=["**"]), folder) == before


@pytest.mark.parametrize("pattern", ["*.py", "bots", "missing.txt", "missing/**", "dangling"])
def test_a_pattern_that_matches_no_file_is_refused(pattern: str, folder: Path) -> None:
    (folder / "dangling").symlink_to(folder / "nowhere")
    with pytest.raises(PinError) as caught:
        pin_of(a_bot(["python"], [pattern]), folder)
    assert str(caught.value) == f'no file in {folder} matches "{pattern}"; correct the pattern in its files'


@pytest.mark.parametrize(("most", "fits"), [(4, True), (3, False)])
def test_a_bot_is_made_of_so_many_files_at_most(
    most: int, fits: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pins, "MOST_FILES", most)
    bot = a_bot(["python"], ["bots/**", "*.txt"])
    if fits:
        assert pin_of(bot, folder)
    else:
        with pytest.raises(PinError, match="its files are more than 3; narrow the patterns, or give the bot a version"):
            pin_of(bot, folder)


def test_a_file_that_cannot_be_read_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *words: object) -> object:
        raise PermissionError(13, "Permission denied", str(path))  # the user of a test may be one who may read all

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(
        PinError, match=r"its file bots/first\.py cannot be read: permission denied; mend that, or give"
    ):
        pin_of(a_bot(["python", "bots/first.py"]), folder)


def test_a_name_that_is_no_text_is_refused(folder: Path) -> None:
    (folder / "odd\udcff").write_text("odd")  # the byte FF, which no UTF-8 has
    with pytest.raises(PinError, match=r"the name of its file odd\\udcff is no UTF-8 text; rename it"):
        pin_of(a_bot(["python"], ["odd*"]), folder)


def test_files_that_many_bots_share_are_read_once(folder: Path) -> None:
    known: dict[Path, str] = {}
    before = pin_of(a_bot(), folder, known)
    write(folder, {"bots/first.py": "changed"})
    assert pin_of(a_bot(), folder, known) == before
    assert pin_of(a_bot(), folder) != before


def test_a_version_is_the_pin_where_there_is_one(folder: Path) -> None:
    bot = a_bot(["missing.py"], ["missing"], version="1.2")
    assert pin_of(bot, folder) == version_pin("1.2") == '{"version":"1.2"}'


def test_nothing_is_known_of_a_bot_that_is_started_elsewhere(folder: Path) -> None:
    assert pin_of(BotSettings(name="far", connected=True), folder) == ""


@pytest.mark.parametrize(("pin", "version"), [("", None), ('{"version":""}', ""), (version_pin("\u00e9"), "\u00e9")])
def test_a_pin_gives_its_version(pin: str, version: str | None) -> None:
    assert version_of(pin) == version


def test_a_pin_of_files_has_no_version(folder: Path) -> None:
    assert version_of(pin_of(a_bot(), folder)) is None


# --- any change is seen ----------------------------------------------------------------------------------------------

NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="/\0*?[]", exclude_categories=["Cc"]), min_size=1
).filter(lambda name: name not in (".", "..") and len(name.encode()) < 200)


@st.composite
def changed_bots(draw: st.DrawFn) -> tuple[dict[str, str], dict[str, str], list[str], list[str]]:
    """Files and words of a bot before and after one change of a word, a content or a name."""
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    files = {f"bot/{name}": draw(st.text(st.characters(codec="utf-8"), max_size=20)) for name in names}
    words = ["python", *draw(st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8"))))]
    after, words_after = dict(files), list(words)
    victim = f"bot/{draw(st.sampled_from(names))}"
    kind = draw(st.sampled_from(["content", "name", "gone", "new", "word"]))
    if kind == "content":
        after[victim] += "x"
    elif kind == "word":
        words_after.append("x")
    else:
        if kind != "new":
            content = after.pop(victim)
        if kind != "gone":
            after[f"bot/{draw(NAMES.filter(lambda name: name not in names))}"] = content if kind == "name" else ""
    return files, after or {"bot/another": ""}, words, words_after


def pin_in_new_folder(files: Mapping[str, str], words: Sequence[str], patterns: Sequence[str]) -> str:
    with TemporaryDirectory() as name:
        for path, content in files.items():
            (Path(name) / path).parent.mkdir(exist_ok=True)
            (Path(name) / path).write_bytes(content.encode())
        return pin_of(a_bot(words, patterns), Path(name))


@given(changed_bots())
def test_any_change_changes_the_pin(change: tuple[dict[str, str], dict[str, str], list[str], list[str]]) -> None:
    before, after, words, words_after = change
    pin = pin_in_new_folder(before, words, ["bot/*"])
    assert pin == pin_in_new_folder(before, words, ["bot/*"])
    assert pin != pin_in_new_folder(after, words_after, ["bot/*"])


@given(st.lists(NAMES, min_size=1, max_size=5, unique=True), st.randoms(use_true_random=False))
def test_the_order_of_patterns_changes_nothing(names: list[str], random: Random) -> None:
    patterns = ["bot/*", *(f"bot/{name}" for name in names)]
    files = {f"bot/{name}": name for name in names}
    pin = pin_in_new_folder(files, ["python"], patterns)
    random.shuffle(patterns)
    assert pin_in_new_folder(dict(reversed(files.items())), ["python"], patterns) == pin


# --- the patterns of a file ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ([""], '"" matches no file'),
        (["/"], '"/" matches no file'),
        (["a\0"], "matches no file"),
        (["**.py"], '"**.py": ** stands for any folders and must stand alone between slashes'),
        (["a/b**/c"], "must stand alone between slashes"),
    ],
)
def test_patterns_that_make_no_sense_are_refused(files: list[str], why: str) -> None:
    with pytest.raises(ValidationError) as caught:
        a_bot(files=files)
    assert why in str(caught.value)


def test_files_are_of_bots_that_are_started_here() -> None:
    with pytest.raises(ValidationError, match="its files are not here"):
        BotSettings.model_validate({"name": "far", "connected": True, "files": ["*.py"]})


# --- what else must be the same --------------------------------------------------------------------------------------

BEARS_ON_RESULTS: dict[str, Any] = {
    "name": "Saturday",
    "ruleset": "liverpool",
    "seats": 3,
    "format": "gauntlet",
    "rounds": 3,
    "rated": False,
    "cycles": 2,
    "seed": 1,
    "trusted": True,
    "deals": "shared",
    "clock": "off",
    "decision_seconds": 1.0,
    "bank_seconds": 1.0,
    "increment_seconds": 1.0,
    "reconnect_seconds": 1.0,
    "options": {"max_deals": 1},
}
BEARS_ON_NONE: dict[str, Any] = {"secret": "5e" * 32, "concurrency": 1, "start_seconds": 1.0, "records": "none"}
OF_A_BOT: dict[str, Any] = {
    "name": "another",
    "command": ("./another",),
    "connected": True,
    "version": "2",
    "files": ("*.py",),
    "challenger": True,
}


def a_tournament(**said: Any) -> TournamentSettings:
    bots = [{"name": f"bot {number}", "command": ["./bot"]} for number in range(3)]
    return TournamentSettings.model_validate({"name": "Friday", "bots": bots} | said)


def with_bot(changes: Mapping[str, Any]) -> TournamentSettings:
    """A tournament of which one bot is changed, unchecked: not every key makes sense alone."""
    settings = a_tournament()
    first, *others = settings.bots
    return settings.model_copy(update={"bots": (first.model_copy(update=changes), *others)})


@pytest.mark.parametrize(("key", "value"), BEARS_ON_RESULTS.items())
def test_what_bears_on_results_is_configured(key: str, value: object) -> None:
    assert a_tournament().model_copy(update={key: value}).configuration() != a_tournament().configuration()


@pytest.mark.parametrize(("key", "value"), BEARS_ON_NONE.items())
def test_what_bears_on_no_result_is_not_configured(key: str, value: object) -> None:
    assert a_tournament().model_copy(update={key: value}).configuration() == a_tournament().configuration()


@pytest.mark.parametrize(("key", "value"), OF_A_BOT.items())
def test_what_a_bot_is_is_configured(key: str, value: object) -> None:
    assert with_bot({key: value}).configuration() != a_tournament().configuration()


def test_no_key_is_forgotten() -> None:
    assert set(TournamentSettings.model_fields) == BEARS_ON_RESULTS.keys() | BEARS_ON_NONE.keys() | {"bots"}
    assert set(BotSettings.model_fields) == OF_A_BOT.keys()


@pytest.mark.parametrize("ruleset", ["thai", "liverpool"])
def test_the_version_of_the_rules_is_configured(ruleset: str) -> None:
    assert a_tournament(ruleset=ruleset).configuration()["rules_version"] == RULESETS[ruleset].version


@pytest.mark.parametrize("bots", ["started here", "started elsewhere"])
def test_bots_share_their_deals_only_if_they_are_trusted(bots: str) -> None:
    how: dict[str, Any] = {"command": ["./bot"]} if bots == "started here" else {"connected": True}
    said = {"deals": "shared", "bots": [{"name": name} | how for name in ("one", "two")]}
    with pytest.raises(ValidationError, match="they live on between games; add trusted = true if all are your own"):
        a_tournament(**said)
    assert a_tournament(trusted=True, **said).shares_deals
    assert not a_tournament(bots=said["bots"]).shares_deals


# --- tournaments are opened with their bots pinned -------------------------------------------------------------------


async def open_tournament(
    folder: Path, bots: Sequence[Mapping[str, Any]] = ({}, {}), fork: Fork | None = None, **said: Any
) -> StoredTournament:
    """Opens the tournament of a file in the folder, whose bots differ from the usual ones as said."""
    usual = {"command": ["/bin/sh", "first.sh"]}
    settings = a_tournament(bots=[usual | {"name": str(number)} | dict(one) for number, one in enumerate(bots)], **said)
    file = TournamentFile(folder / "friday.toml", settings)
    database = str(folder / "arena.db")
    planned = await opening.planned(file, database, fork, has_door=True)
    store = open_store(database)
    try:
        return await opening.opened(store, planned, fork)
    finally:
        store.close()


async def test_a_tournament_is_opened_with_its_bots_pinned(folder: Path) -> None:
    write(folder, {"first.sh": "exit 0"})
    opened = await open_tournament(folder)
    assert await open_tournament(folder) == opened
    write(folder, {"first.sh": "exit 1"})
    with pytest.raises(ChangedTournamentError) as caught:
        await open_tournament(folder)
    assert str(caught.value).splitlines()[:3] == [
        "the tournament 'Friday' was begun with other settings:",
        '  bots[0] "0": first.sh has changed',
        '  bots[1] "1": first.sh has changed',
    ]


async def test_all_bots_that_cannot_be_pinned_are_named(folder: Path) -> None:
    missing = {"files": ["missing"]}
    with pytest.raises(ConfigError) as caught:
        await open_tournament(folder, [missing, {"files": ["book.txt"]}, {"command": ["./missing"]}, missing])
    assert [one.split(": ")[0] for one in caught.value.problems] == [
        'bots[0] "0" cannot be pinned',
        'bots[2] "2" cannot be started',
        'bots[3] "3" cannot be pinned',
    ]
    assert not (folder / "arena.db").exists()


async def test_with_fork_one_that_differs_makes_room_and_goes_on_under_its_new_name(folder: Path) -> None:
    told: list[str | None] = []
    old = await open_tournament(folder, fork=told.append)
    assert told == []
    assert await open_tournament(folder, fork=told.append) == old
    assert told == [None]

    new = await open_tournament(folder, fork=told.append, seed=1)

    assert new.id != old.id
    assert new.name == old.name
    kept_as = told[-1]
    assert kept_as is not None
    assert (await open_tournament(folder, name=kept_as)).id == old.id


async def test_with_fork_one_that_is_being_played_stays(folder: Path) -> None:
    old = await open_tournament(folder)
    store = open_store(folder / "arena.db")
    with claim(store, old), pytest.raises(SecondRunnerError, match=f"being played by process {os.getpid()} already"):
        await open_tournament(folder, fork=lambda _: None, seed=1)
    store.close()
    assert await open_tournament(folder) == old


# --- the version of a bot that is started elsewhere ------------------------------------------------------------------


class Lobby:
    """The bots "0", which is held to a version, and "1", and what is heard of them."""

    def __init__(self, version: str | None) -> None:
        self.registry = a_registry()
        self.troubles: list[str] = []
        self.kept: list[str] = []
        self.may_keep = trio.Event()
        self.may_keep.set()
        self._held = HeldVersion(version, self._keep, self._note)

    @asynccontextmanager
    async def bots(self) -> AsyncIterator[EventBots]:
        run_copies = [connected(20.0, self.registry, lambda one: self._note(one.sentence)) for _ in range(2)]
        held = (self._held, None)
        two = [EventBot(at, str(at), self.registry, run_copies[at], str(at), held[at]) for at in range(2)]
        async with open_bots(two, self.registry, lambda one: self._note(one.sentence), most_running=2) as bots:
            await trio.testing.wait_all_tasks_blocked()
            yield bots

    def come(self, number: int, version: str = "") -> Line:
        """Has a copy come that says that it is of a version."""
        instance = self.registry.instance(str(number))
        assert instance is not None
        line = Line(self.registry, instance)
        line.say(play_pb2.PlayRequest(hello=play_pb2.Hello(bot_version=version, max_concurrent_games=4)))
        return line

    async def _keep(self, version: str) -> None:
        await self.may_keep.wait()
        self.kept.append(version)

    def _note(self, sentence: str) -> None:
        self.troubles.append(sentence)


@asynccontextmanager
async def a_lobby(version: str | None = None) -> AsyncIterator[tuple[Lobby, EventBots]]:
    lobby = Lobby(version)
    async with lobby.bots() as bots:
        yield lobby, bots


async def test_a_bot_is_held_to_its_version_once_it_is_seated(autojump_clock: trio.testing.MockClock) -> None:
    async with a_lobby() as (lobby, bots):
        first = lobby.come(0, "1")
        assert lobby.come(0, "2").stream.ended is None  # the game waits for the other bot: nothing is held yet
        assert first.stream.ended is grpc.StatusCode.ABORTED
        lobby.come(1)
        assert len(await bots.players((0, 1))) == 2
        assert lobby.kept == ["2"]

        refused = lobby.come(0, "1")

        assert refused.stream.ended is grpc.StatusCode.PERMISSION_DENIED
        assert refused.stream.message == (
            'this bot plays this tournament as version "2", and this copy is version "1"; start the copy that is '
            'version "2"'
        )
        assert lobby.troubles[-1] == (
            'has come as version "1" and is not let in: version "2", which has played here, is waited for'
        )


async def test_a_copy_that_is_refused_harms_nothing(autojump_clock: trio.testing.MockClock) -> None:
    async with a_lobby("1") as (lobby, bots):
        right, _ = lobby.come(0, "1"), lobby.come(1)
        wrong = lobby.come(0, "2")
        wrong.drop()
        assert right.stream.ended is None
        assert len(await bots.players((0, 1))) == 2


async def test_a_version_is_held_across_a_resume_and_the_right_one_is_waited_for(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with a_lobby("") as (lobby, bots), trio.open_nursery() as nursery:
        players: list[object] = []

        async def seat() -> None:
            players.extend(await bots.players((0, 1)))

        nursery.start_soon(seat)
        lobby.come(1)
        for version in ("2", "2", "3", "2"):
            assert lobby.come(0, version).stream.ended is grpc.StatusCode.PERMISSION_DENIED
        await trio.sleep(3600)
        assert players == []
        lobby.come(0)
        await trio.testing.wait_all_tasks_blocked()
        assert len(players) == 2
        assert lobby.kept == []
        waits = "and is not let in: one without a version, which has played here, is waited for"
        assert [one for one in lobby.troubles if one != "is connected"] == [
            f'has come as version "{version}" {waits}' for version in ("2", "3", "2")
        ]


async def test_no_game_begins_before_the_version_is_stored(autojump_clock: trio.testing.MockClock) -> None:
    async with a_lobby() as (lobby, bots), trio.open_nursery() as nursery:
        lobby.may_keep = trio.Event()
        players: list[object] = []

        async def seat() -> None:
            players.extend(await bots.players((0, 1)))

        lobby.come(1)
        lobby.come(0, "1")
        nursery.start_soon(seat)
        await trio.testing.wait_all_tasks_blocked()
        assert players == []
        # what it is held to is decided already
        assert lobby.come(0, "2").stream.ended is grpc.StatusCode.PERMISSION_DENIED
        lobby.may_keep.set()
        await trio.testing.wait_all_tasks_blocked()
        assert len(players) == 2
        assert lobby.kept == ["1"]


async def test_a_copy_of_the_same_version_replaces_the_one_there_is(autojump_clock: trio.testing.MockClock) -> None:
    async with a_lobby("1") as (lobby, bots):
        first, _ = lobby.come(0, "1"), lobby.come(1)
        assert lobby.come(0, "1").stream.ended is None
        assert first.stream.ended is grpc.StatusCode.ABORTED
        assert len(await bots.players((0, 1))) == 2
