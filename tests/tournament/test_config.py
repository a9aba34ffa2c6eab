"""A tournament file is read as it is meant, or everything that is wrong with it is said at once and in its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from rummyarena_server.config import ConfigError, TournamentFile, TournamentSettings, load

BOTS = """
[[bots]]
name = "first"
command = "python bots/first.py"

[[bots]]
name = "second"
command = ["./second", "--name", "two words"]
version = "1.2"
"""
LEAST = 'name = "Friday"\n' + BOTS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "friday.toml"


def read(path: Path, text: str) -> TournamentFile:
    path.write_text(text, encoding="utf-8")
    return load(path)


def problems(path: Path, text: str | bytes) -> list[str]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError) as caught:
        load(path)
    return [line.removeprefix(f"{path}: ") for line in str(caught.value).split("\n")]


def with_line(line: str) -> str:
    return f'name = "Friday"\n{line}\n{BOTS}'


# --- what is read ----------------------------------------------------------------------------------------------------


def test_a_short_file_leaves_everything_else_at_its_default(path: Path) -> None:
    settings = read(path, LEAST).settings
    assert (settings.name, settings.ruleset, settings.seats, settings.cycles, settings.seed) == (
        "Friday",
        "thai",
        2,
        1,
        0,
    )
    assert (settings.clock, settings.decision_seconds, settings.bank_seconds, settings.increment_seconds) == (
        "on",
        5.0,
        60.0,
        0.0,
    )
    assert (settings.reconnect_seconds, settings.start_seconds, settings.concurrency) == (30.0, 20.0, 8)
    assert (settings.event_secret, settings.trusted, settings.options) == (None, False, {})


def test_a_command_is_a_list_of_words_or_a_text_that_is_split_like_a_shells(path: Path) -> None:
    first, second = read(path, LEAST).settings.bots
    assert first.command == ("python", "bots/first.py")
    assert second.command == ("./second", "--name", "two words")
    assert (first.version, second.version) == ("", "1.2")


def test_commands_start_from_the_folder_of_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    path.write_text(LEAST)
    assert load(Path(path.name)).directory == path.parent


@pytest.mark.parametrize(
    ("line", "shared"),
    [
        ("", False),
        ("trusted = false", False),
        ("trusted = true", True),
        ('trusted = true\ndeals = "own"', False),
        ('trusted = true\ndeals = "shared"', True),
        ('deals = "own"', False),
    ],
)
def test_deals_are_shared_only_among_trusted_bots(path: Path, line: str, shared: bool) -> None:
    assert read(path, with_line(line)).settings.shares_deals is shared


def test_a_fixed_secret_is_its_bytes_and_is_not_shown(path: Path) -> None:
    settings = read(path, with_line(f'secret = "{"0F" * 32}"')).settings
    assert settings.event_secret == bytes([15] * 32)
    assert "0F0F" not in repr(settings)


def test_names_are_kept_in_one_normal_form(path: Path) -> None:
    bots = BOTS.replace("first", "Ame\u0301lie, =1+1; DROP TABLE 'x' / ..")
    assert read(path, f'name = "Friday"\n{bots}').settings.bots[0].name == "Am\u00e9lie, =1+1; DROP TABLE 'x' / .."


@pytest.mark.parametrize(
    ("lines", "seats"),
    [
        ("", 2),
        ('ruleset = "thai"', 2),
        ("seats = 4", 4),
        ('ruleset = "liverpool"', 3),
        ('ruleset = "liverpool"\nseats = 8', 8),
    ],
)
def test_a_table_has_as_few_seats_as_the_ruleset_is_for_unless_it_is_said(path: Path, lines: str, seats: int) -> None:
    others = "".join(f'[[bots]]\nname = "bot {number}"\ncommand = "x"\n' for number in range(6))
    settings = read(path, with_line(lines) + others).settings
    assert settings.seats == settings.configuration()["seats"] == seats


@pytest.mark.parametrize(("line", "allowed"), [("seats = 2", "3 to 8"), ("seats = 9", "3 to 8")])
def test_seats_that_the_ruleset_is_not_for_are_refused(path: Path, line: str, allowed: str) -> None:
    found = problems(path, with_line(f'ruleset = "liverpool"\n{line}'))
    assert found == [f"line 3: {line}: liverpool is for {allowed} seats"]


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + LEAST.replace("\n", "\r\n").encode())
    assert load(path).settings.name == "Friday"


def test_options_at_their_default_are_as_good_as_absent(path: Path) -> None:
    settings = read(path, with_line("[options]\ntarget_score = 300\nmax_deals = 100")).settings
    assert settings.options == {"target_score": 300}


def test_settings_are_frozen(path: Path) -> None:
    settings = read(path, LEAST).settings
    with pytest.raises(ValidationError, match="frozen"):
        settings.seed = 3


# --- what must stay the same -----------------------------------------------------------------------------------------


def test_how_many_games_run_at_once_is_no_part_of_the_configuration(path: Path) -> None:
    usual = read(path, LEAST).settings.configuration()
    assert read(path, with_line("concurrency = 2\nstart_seconds = 5")).settings.configuration() == usual
    assert read(path, with_line('deals = "own"')).settings.configuration() == usual  # said or meant, it is the same


@pytest.mark.parametrize(
    "line", ["seed = 1", "cycles = 2", 'clock = "off"', "bank_seconds = 3", "trusted = true", "options.max_deals = 9"]
)
def test_what_bears_on_results_is_part_of_the_configuration(path: Path, line: str) -> None:
    assert read(path, with_line(line)).settings.configuration() != read(path, LEAST).settings.configuration()


def test_the_secret_is_no_part_of_the_configuration(path: Path) -> None:
    settings = read(path, with_line(f'secret = "{"0f" * 32}"')).settings
    assert settings.configuration() == read(path, LEAST).settings.configuration()


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("seats = 1", "seats = 1: thai is for 2 to 4 seats"),
        ("seats = 5", "seats = 5: thai is for 2 to 4 seats"),
        ('seats = "2"', 'seats = "2": allowed is a whole number, from 2 to 8 as the ruleset allows'),
        ("cycles = 0", "cycles = 0: allowed is a whole number from 1 to 1000000"),
        ("cycles = true", "cycles = true: allowed is a whole number from 1 to 1000000"),
        ("seed = -1", "seed = -1: allowed is a whole number from 0 to 2^63 - 1"),
        ("concurrency = 1001", "concurrency = 1001: allowed is a whole number from 1 to 1000"),
        ('clock = "maybe"', 'clock = "maybe": allowed is "on" or "off"'),
        ("bank_seconds = nan", "bank_seconds = nan: allowed is a number of seconds from 0 to 86400 (a day)"),
        ("start_seconds = 0", "start_seconds = 0: allowed is a number of seconds from 0.001 to 86400 (a day)"),
        ('secret = "abc"', "secret: it must be 64 hex digits; here are 3 characters"),
        ('ruleset = "tai"', 'ruleset = "tai": did you mean thai?'),
        ('ruleset = "x"\noptions.y = 1', 'ruleset = "x": the rulesets are thai'),
        ("secret = 3", "secret: allowed is a text of 64 hex digits"),
        ("trusted = 1", "trusted = 1: allowed is true or false"),
        (f"trusted = 1{'0' * 100}", f"trusted = 1{'0' * 79}... (101 characters): allowed is true or false"),
        ("colour = 3", "there is no key colour: the keys are name, ruleset, seats,"),
        ("cycle = 3", "there is no key cycle: did you mean cycles?"),
        ("options = 3", "options = 3: allowed is a table of options"),
        ("options.max_deal = 3", 'options: there is no option "max_deal": did you mean max_deals?'),
        ("options.max_deals = -3", "options: option max_deals = -3: allowed is a whole number from 0 to 1000"),
        (
            f"options.target_score = 1{'0' * 30}",
            f"options: option target_score = 1{'0' * 30}: allowed is a whole number from 1 to 1000000",
        ),
        ("options.head_card = 1", "options: option head_card = 1: allowed is true or false"),
        ("options.max_deals = true", "options: option max_deals = true: allowed is"),
        (f"seed = 0x{'f' * 20_000}", "seed = a value too long to be shown: allowed is a whole number"),
        (f'clock = "{"x" * 10_000}"', f'clock = "{"x" * 79}... (10002 characters): allowed is "on" or "off"'),
        (f"{'x' * 10_000} = 1", f"there is no key {'x' * 80}... (10000 characters): the keys are"),
        (r'"\u001b[31m" = 1', r"there is no key \x1b[31m: the keys are"),
        (
            f'options.head_card = "{"x" * 10_000}"',
            f'options: option head_card = "{"x" * 79}... (10002 characters): all',
        ),
    ],
)
def test_a_wrong_key_or_value_is_named_with_what_is_allowed(path: Path, line: str, sentence: str) -> None:
    (problem,) = problems(path, with_line(line))
    assert problem.removeprefix("line 2: ").startswith(sentence)


def test_shared_deals_need_trust(path: Path) -> None:
    (problem,) = problems(path, with_line('deals = "shared"'))
    assert problem.startswith('line 2: deals = "shared": bots could carry the cards')
    assert "trusted = true" in problem


def test_a_clock_without_any_time_is_refused(path: Path) -> None:
    (problem,) = problems(path, with_line("decision_seconds = 0\nbank_seconds = 0"))
    assert problem.startswith("line 3: bank_seconds = 0: with decision_seconds = 0 no bot could ever answer")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "it must have 1 to 64 characters, not 0"),
        ("x" * 65, "it must have 1 to 64 characters, not 65"),
        (" x", "it must not begin or end with a space"),
        (r"a\u202Eb", "control, format and line-breaking characters are not allowed (here U+202E)"),
        (r"a\u200Bb", "control, format and line-breaking characters are not allowed (here U+200B)"),
        (r"a\nb", "control, format and line-breaking characters are not allowed (here U+000A)"),
        (r"a\u2028b", "control, format and line-breaking characters are not allowed (here U+2028)"),
        (r"\u001b[31m", "control, format and line-breaking characters are not allowed (here U+001B)"),
    ],
)
def test_a_name_that_would_deceive_is_refused_and_shown_harmlessly(path: Path, name: str, why: str) -> None:
    (problem,) = problems(path, f'name = "Friday"\n{BOTS.replace("first", name, 1)}')
    assert problem.startswith("line 4: bots[0].name = ")
    assert problem.endswith(why)
    assert problem.isprintable()


def test_a_name_is_a_text(path: Path) -> None:
    (problem,) = problems(path, f"name = 3\n{BOTS}")
    assert problem == "line 1: name = 3: allowed is a text of 1 to 64 characters"


def test_two_bots_of_one_name_are_refused_however_it_is_written(path: Path) -> None:
    bots = BOTS.replace('"first"', r'"e\u0301"').replace('"second"', r'"\u00e9"')
    (problem,) = problems(path, f'name = "Friday"\n{bots}')
    assert problem.endswith("bots: each needs a name of its own; an earlier one has the name of bots[1] 'é'")


@pytest.mark.parametrize(
    ("bots", "sentence"),
    [
        ("", "bots is missing: tables, each begun by [[bots]]"),
        ("bots = []", "bots: a tournament needs at least 2 bots, here is none; add a [[bots]] table"),
        ('bots = "x"', 'bots = "x": allowed is tables, each begun by [[bots]]'),
        ("bots = [1, 2]", "bots[1] = 2: allowed is a table with name, command or connected, and, if you like, version"),
        ('bots = [{name = "x", command = []}]', "bots[0].command: it names no program to start"),
        ('bots = [{name = "x", command = 3}]', "bots[0].command = 3: allowed is a list of words, or one text"),
        ('bots = [{name = "x", command = "a \'b"}]', "it cannot be split into words: no closing quotation"),
        (r'bots = [{name = "x", command = ["a\u0000"]}]', "bots[0].command: a word holds a null character"),
        ('bots = [{name = "x"}]', "bots[0]: command is missing: write what starts it, or connected = true"),
        ('bots = [{name = "x", command = "x", connected = true}]', "bots[0]: it has a command and is connected = true"),
        ('bots = [{name = "x", comand = "y"}]', "there is no key bots[0].comand: did you mean command?"),
    ],
)
def test_wrong_bots_are_refused(path: Path, bots: str, sentence: str) -> None:
    found = problems(path, f'name = "Friday"\n{bots}')
    assert any(sentence in one for one in found)


@pytest.mark.parametrize(
    ("line", "mend"),
    [
        ("seats = 3", "a table of 3 seats needs at least 3 bots, here are 2; add [[bots]] tables or write seats = 2"),
        ('ruleset = "liverpool"', "a table of 3 seats needs at least 3 bots, here are 2; add [[bots]] tables"),
        (
            'ruleset = "liverpool"\nseats = 8',
            "a table of 8 seats needs at least 8 bots, here are 2; add [[bots]] tables",
        ),
    ],
)
def test_fewer_bots_than_a_table_has_seats_are_refused(path: Path, line: str, mend: str) -> None:
    (problem,) = problems(path, with_line(line))
    assert problem.endswith(f"bots: {mend}")


@pytest.mark.parametrize(("seats", "most"), [(2, 1000), (3, 64)])
def test_more_bots_than_can_be_scheduled_are_refused(seats: int, most: int, path: Path) -> None:
    bots = "".join(f'[[bots]]\nname = "bot {number}"\ncommand = "x"\n' for number in range(most + 1))
    (problem,) = problems(path, f'name = "Friday"\nseats = {seats}\n{bots}')
    assert problem.endswith(f"at tables of {seats} seats {most} bots are the most; here are {most + 1}")


def test_all_mistakes_are_said_at_once_in_the_order_of_the_file(path: Path) -> None:
    text = """
nam = "Friday"
seats = 9
cycles = 0
[[bots]]
name = "first"
command = "a"
[options]
max_deals = "x"
[[bots]]
name = ""
comand = "b"
"""
    assert [one.split(":")[0] for one in problems(path, text)] == [
        "name is missing",
        *(f"line {number}" for number in (2, 3, 4, 8, 11, 12)),
    ]


def test_lines_are_not_guessed_where_a_text_of_several_lines_could_deceive(path: Path) -> None:
    text = f'name = """\nseed = 3"""\nseed = -1\n{BOTS}'
    assert problems(path, text) == ["seed = -1: allowed is a whole number from 0 to 2^63 - 1"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"name = 'a'\nname\n", "this is not TOML: Expected '=' after a key in a key/value pair (at line 2, column 5)"),
        (b"\xff", "this is not UTF-8 text: byte 0 is no part of a character"),
        (b"name = 'a'\na = " + b"[" * 10_000, "line 2: lists and tables stand too deep in one another"),
        (b"\n\na = " + b"[" * 10_000 + b"]" * 10_000, "line 3: lists and tables stand too deep in one another"),
        (b"\na = " + b"1" * 10_000, "line 2: a number has too many digits to be read"),
        (
            b"a = {" + b"b" * 10_000 + b" = 1, " + b"b" * 10_000 + b" = 2}",
            f"this is not TOML: Duplicate inline table key '{'b' * 52}... (10029 characters) (at line 1, column",
        ),
        (b"", "name is missing: a text of 1 to 64 characters"),
    ],
)
def test_what_is_no_tournament_file_is_said_so(path: Path, text: bytes, sentence: str) -> None:
    assert problems(path, text)[0].startswith(sentence)


def test_a_file_that_cannot_be_read_is_said_so(tmp_path: Path) -> None:
    for path, why in ((tmp_path / "none.toml", "no such file or directory"), (tmp_path, "is a directory")):
        with pytest.raises(ConfigError, match=f"the tournament file cannot be read: {why}"):
            load(path)


def test_settings_can_be_made_without_a_file() -> None:
    bots = [{"name": name, "command": [name]} for name in ("a", "b")]
    settings = TournamentSettings.model_validate({"name": "demo", "trusted": True, "bots": bots})
    assert settings.shares_deals
