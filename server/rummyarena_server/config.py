"""The tournament file: TOML in, frozen settings out, or every mistake in it at once.

name = "Friday"
trusted = true                      # all bots are mine: the games of a pair may share their deals

[[bots]]
name = "first"
command = "python bots/first.py"    # relative to the folder of this file

[[bots]]
name = "second"
command = ["./second", "--level", "3"]
"""

from __future__ import annotations

import re
import shlex
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from rummyarena_rules.options import changed_options
from rummyarena_rules.reading import printable, shown
from rummyarena_rules.registry import RULESETS

NAME_LENGTH: Final = 64
MOST_BOTS: Final = 1000
MOST_BOTS_AT_LARGER_TABLES: Final = 64  # of more than two seats
_LONGEST_PATH: Final = 4096
_DEEP: Final = 100  # open brackets that no sensible file has
_LONG_NUMBER: Final = re.compile(r"[0-9_]{4000}")


class ConfigError(Exception):
    """A tournament file that cannot be used; its text is for people, one line for each mistake."""

    def __init__(self, path: Path, problems: list[str]) -> None:
        super().__init__("\n".join(f"{printable(str(path), _LONGEST_PATH)}: {problem}" for problem in problems))
        self.path = path
        self.problems = tuple(problems)


# --- values of keys --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Allowed:
    """Says to people what a key may be."""

    words: str


def _refused(why: str) -> PydanticCustomError:
    return PydanticCustomError("refused", "{why}", {"why": why})


def _a_name(value: object) -> object:
    """Returns a name in normal form C, or refuses what would deceive a reader or upset a terminal."""
    return _plain_text(value, least=1)


def _a_version(value: object) -> object:
    return _plain_text(value, least=0)


def _plain_text(value: object, least: int) -> object:
    if not isinstance(value, str):
        return value
    text = unicodedata.normalize("NFC", value)
    unseen = [one for one in text if unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    if unseen:
        raise _refused(f"control, format and line-breaking characters are not allowed (here U+{ord(unseen[0]):04X})")
    if text != text.strip():
        raise _refused("it must not begin or end with a space")
    if not least <= len(text) <= NAME_LENGTH:
        raise _refused(f"it must have {least} to {NAME_LENGTH} characters, not {len(text)}")
    return text


def _words(value: object) -> object:
    """Returns the words of a command, from a list of them or from one text as a shell would split it."""
    if isinstance(value, str):
        try:
            value = shlex.split(value)
        except ValueError as error:
            raise _refused(f"it cannot be split into words: {str(error).lower()}") from None
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise _refused("allowed is a list of words, or one text that is split as a shell would")
    if not value or not value[0]:
        raise _refused("it names no program to start")
    if any("\0" in word for word in value):
        raise _refused("a word holds a null character")
    return tuple(value)


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _patterns(value: object) -> object:
    """Returns patterns of files, or refuses those that could not be looked for or mean different things to Pythons."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        return value
    for one in value:
        if not one.strip("/") or "\0" in one:
            raise _refused(f"{shown(one)} matches no file")
        if any("**" in part and part != "**" for part in one.split("/")):
            raise _refused(f"{shown(one)}: ** stands for any folders and must stand alone between slashes")
    return tuple(value)


Name: TypeAlias = Annotated[str, BeforeValidator(_a_name), Allowed(f"a text of 1 to {NAME_LENGTH} characters")]
Format: TypeAlias = Literal["round-robin", "gauntlet", "swiss", "ladder"]
Switch: TypeAlias = Annotated[bool, Allowed("true or false")]
Seconds: TypeAlias = Annotated[
    float, Field(ge=0, le=86_400, allow_inf_nan=False), Allowed("a number of seconds from 0 to 86400 (a day)")
]
SomeSeconds: TypeAlias = Annotated[
    float, Field(ge=0.001, le=86_400, allow_inf_nan=False), Allowed("a number of seconds from 0.001 to 86400 (a day)")
]


class BotSettings(BaseModel):
    """A bot of a tournament; names are data, never a path or a key.

    `command`: the words that start it, none if it is `connected`: started elsewhere, by whom its token is given to.
    `files`: patterns of further files that it is made of, from the folder of the tournament file. `challenger`: in a
    gauntlet, whether it is one of those that play against all others.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: Name
    command: Annotated[tuple[str, ...], BeforeValidator(_words), Allowed("a list of words or one text")] = ()
    connected: Switch = False
    version: Annotated[str, BeforeValidator(_a_version), Allowed(f"a text of up to {NAME_LENGTH} characters")] = ""
    files: Annotated[tuple[str, ...], BeforeValidator(_patterns), Allowed("a list of patterns of files")] = ()
    challenger: Switch = False

    @model_validator(mode="after")
    def _is_started_somehow(self) -> Self:
        if self.connected and self.command:
            raise _refused("it has a command and is connected = true: leave out the one or the other")
        if not self.connected and not self.command:
            raise _refused("command is missing: write what starts it, or connected = true if it is started elsewhere")
        if self.connected and self.files:
            raise _refused("it is started elsewhere, so its files are not here: leave out files or connected = true")
        return self


class TournamentSettings(BaseModel):
    """What a tournament file says.

    `seats`: if not said, the fewest that the ruleset is for. `rounds`: of a Swiss tournament, or of a ladder that is to
    end. `rated`: whether its games count for Elo. `records`: of which games the moves are kept. `cycles`: how often
    everybody meets everybody. `seed`: the public schedule seed. `secret`: 64 hex digits that fix the event secret, so
    that the deals are foreseeable. `concurrency`: games at once. `start_seconds`: what a bot may take to connect.
    `options`: those of the ruleset that differ from the defaults.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: Name
    ruleset: Annotated[str, Allowed("the name of a ruleset: " + ", ".join(RULESETS))] = "thai"
    seats: Annotated[int, Allowed("a whole number, from 2 to 8 as the ruleset allows")] = 2
    format: Annotated[Format, Allowed('"round-robin", "gauntlet", "swiss" or "ladder"')] = "round-robin"
    rounds: Annotated[
        int | None, Field(ge=1, le=1_000_000, validate_default=True), Allowed("a whole number from 1 to 1000000")
    ] = None
    rated: Switch = True
    records: Annotated[Literal["all", "forfeits", "none"], Allowed('"all", "forfeits" or "none"')] = "all"
    cycles: Annotated[int, Field(ge=1, le=1_000_000), Allowed("a whole number from 1 to 1000000")] = 1
    seed: Annotated[int, Field(ge=0, lt=2**63), Allowed("a whole number from 0 to 2^63 - 1")] = 0
    secret: Annotated[str | None, Field(repr=False), Allowed("a text of 64 hex digits")] = None
    trusted: Switch = False
    deals: Annotated[Literal["shared", "own"] | None, Allowed('"shared" or "own"')] = None
    concurrency: Annotated[int, Field(ge=1, le=1000), Allowed("a whole number from 1 to 1000")] = 8
    clock: Annotated[Literal["on", "off"], Allowed('"on" or "off"')] = "on"
    decision_seconds: Seconds = 5.0
    bank_seconds: Seconds = 60.0
    increment_seconds: Seconds = 0.0
    reconnect_seconds: Seconds = 30.0
    start_seconds: SomeSeconds = 20.0
    options: Annotated[dict[str, Any], Allowed("a table of options")] = {}
    bots: Annotated[tuple[BotSettings, ...], BeforeValidator(_as_tuple), Allowed("tables, each begun by [[bots]]")]

    @property
    def event_secret(self) -> bytes | None:
        """The event secret that the file fixes, 32 bytes, or `None` if one is to be drawn."""
        return None if self.secret is None else bytes.fromhex(self.secret)

    @property
    def shares_deals(self) -> bool:
        """Whether the games of a deal group are played on the same deals: where the file does not say, if trusted."""
        return self.deals == "shared" or (self.deals is None and self.trusted)

    def configuration(self) -> dict[str, object]:
        """Returns what must be the same for an event to be resumed, ready for JSON; without the secret.

        How many games run at once and how long a bot may take to start bear on no result and are left out.
        """
        said = self.model_dump(mode="json", exclude={"secret", "deals", "concurrency", "start_seconds", "records"})
        # What is as it was before there was a choice is left out, so that tournaments of older versions go on.
        _leave_out(said, {"format": "round-robin", "rounds": None, "rated": True})
        for bot in said["bots"]:
            _leave_out(bot, {"connected": False, "files": [], "challenger": False})
        version = RULESETS[self.ruleset].version
        return said | {"rules_version": version, "deals": "shared" if self.shares_deals else "own"}

    @model_validator(mode="before")
    @classmethod
    def _has_seats(cls, said: object) -> object:
        """Adds the seats that are not said, so that they are judged, stored and compared like those that are."""
        if not isinstance(said, dict) or "seats" in said:
            return said
        ruleset = said.get("ruleset", cls.model_fields["ruleset"].default)
        return said | {"seats": RULESETS[ruleset].seats.start} if ruleset in list(RULESETS) else said

    @field_validator("ruleset")
    @classmethod
    def _is_a_ruleset(cls, name: str) -> str:
        if name not in RULESETS:
            near = get_close_matches(name, RULESETS, n=1)
            raise _refused(f"did you mean {near[0]}?" if near else "the rulesets are " + ", ".join(RULESETS))
        return name

    @field_validator("seats")
    @classmethod
    def _fit_a_table(cls, seats: int, info: ValidationInfo) -> int:
        ruleset = info.data.get("ruleset")
        if ruleset is not None and seats not in (allowed := RULESETS[ruleset].seats):
            raise _refused(f"{ruleset} is for {allowed.start} to {allowed.stop - 1} seats")
        return seats

    @field_validator("rounds")
    @classmethod
    def _fit_the_format(cls, rounds: int | None, info: ValidationInfo) -> int | None:
        plays = info.data.get("format")
        if plays == "swiss" and rounds is None:
            raise _refused("a swiss tournament needs a number of rounds; 7 tell the best of 64 bots, 10 tell more")
        if rounds is not None and plays in ("round-robin", "gauntlet"):
            raise _refused(f"a {plays} has no rounds; cycles says how often everybody meets everybody")
        return rounds

    @field_validator("cycles")
    @classmethod
    def _are_for_the_format(cls, cycles: int, info: ValidationInfo) -> int:
        plays = info.data.get("format")
        if cycles != 1 and plays in ("swiss", "ladder"):
            raise _refused(f"a {plays} tournament has no cycles; rounds says how long it is")
        return cycles

    @field_validator("secret")
    @classmethod
    def _is_a_secret(cls, secret: str | None) -> str | None:
        if secret is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", secret):
            raise _refused(f"it must be 64 hex digits; here are {len(secret)} characters")
        return secret

    @field_validator("deals")
    @classmethod
    def _may_be_shared(cls, deals: str | None, info: ValidationInfo) -> str | None:
        if deals == "shared" and info.data.get("trusted") is False:
            raise _refused(
                "bots could carry the cards from game to game, for they live on between games; "
                "add trusted = true if all are your own"
            )
        return deals

    @field_validator("bank_seconds")
    @classmethod
    def _leaves_time(cls, bank: float, info: ValidationInfo) -> float:
        if bank == 0 and info.data.get("decision_seconds") == 0:
            raise _refused('with decision_seconds = 0 no bot could ever answer; clock = "off" turns the clock off')
        return bank

    @field_validator("options")
    @classmethod
    def _fit_the_ruleset(cls, options: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        ruleset = info.data.get("ruleset")
        if ruleset is None:  # refused itself, so there is nothing to judge the options by
            return options
        configured = RULESETS[ruleset].configure(options, info.data.get("seats", RULESETS[ruleset].seats.start))
        if isinstance(configured, list):
            raise _refused("; ".join(refusal.message for refusal in configured))
        return changed_options(configured)

    @field_validator("bots")
    @classmethod
    def _are_enough_and_distinct(cls, bots: tuple[BotSettings, ...], info: ValidationInfo) -> tuple[BotSettings, ...]:
        if len(bots) < 2:
            raise _refused(f"a tournament needs at least 2 bots, here is {len(bots) or 'none'}; add a [[bots]] table")
        if len(bots) < (seats := info.data.get("seats", 2)):
            raise _refused(_too_few_for_a_table(len(bots), seats, info.data.get("ruleset")))
        plays = info.data.get("format")
        most = MOST_BOTS_AT_LARGER_TABLES if seats > 2 and plays in ("round-robin", "gauntlet") else MOST_BOTS
        if len(bots) > most:
            raise _refused(f"at tables of {seats} seats {most} bots are the most; here are {len(bots)}")
        names = [bot.name for bot in bots]
        twice = [f"bots[{at}] {name!r}" for at, name in enumerate(names) if names.index(name) < at]
        if twice:
            raise _refused(f"each needs a name of its own; an earlier one has the name of {', '.join(twice)}")
        if plays is not None and (why := _unfit(bots, plays, seats)):
            raise _refused(why)
        return bots


def _leave_out(said: dict[str, Any], defaults: Mapping[str, object]) -> None:
    for key, default in defaults.items():
        if said[key] == default:
            del said[key]


def _unfit(bots: tuple[BotSettings, ...], plays: Format, seats: int) -> str:
    """Says why a format cannot be played with these bots, nothing if it can."""
    challengers = [at for at, bot in enumerate(bots) if bot.challenger]
    connected = [at for at, bot in enumerate(bots) if bot.connected]
    if plays == "ladder" and connected:
        return f"a ladder is for bots that are started here, and bots[{connected[0]}] is connected = true"
    if plays != "gauntlet":
        return f"bots[{challengers[0]}] is a challenger, but a {plays} has none" if challengers else ""
    if not challengers:
        return "a gauntlet needs a challenger: write challenger = true in its [[bots]] table"
    field = len(bots) - len(challengers)
    if field < seats - 1:
        return f"a challenger at a table of {seats} seats needs {seats - 1} that are no challengers; here are {field}"
    return ""


def _too_few_for_a_table(bots: int, seats: int, ruleset: str | None) -> str:
    smaller = ruleset is not None and bots in RULESETS[ruleset].seats
    mend = "add [[bots]] tables" + (f" or write seats = {bots}" if smaller else "")
    return f"a table of {seats} seats needs at least {seats} bots, here are {bots}; {mend}"


@dataclass(frozen=True, slots=True)
class TournamentFile:
    """A tournament file that was read; relative paths in the bots' commands start from `directory`."""

    path: Path
    settings: TournamentSettings

    @property
    def directory(self) -> Path:
        """The folder of the file, absolute."""
        return self.path.parent


# --- reading ---------------------------------------------------------------------------------------------------------


def load(path: Path) -> TournamentFile:
    """Reads a tournament file; `ConfigError` names all that is wrong with it, where, and what is allowed there."""
    text = _read(path)
    try:
        raw = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(path, [_unreadable(text, error)]) from None
    try:
        settings = TournamentSettings.model_validate(raw)
    except ValidationError as error:
        raise ConfigError(path, _problems(error.errors(), _lines(text))) from None
    return TournamentFile(path.absolute(), settings)


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(path, [f"this is not UTF-8 text: byte {error.start} is no part of a character"]) from None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise ConfigError(path, [f"the tournament file cannot be read: {why}"]) from None


def _unreadable(text: str, error: ValueError | RecursionError) -> str:
    """Says why a text is no TOML, or why it is more than can be read: numbers too long, lists and tables too deep."""
    if isinstance(error, tomllib.TOMLDecodeError):
        what, _, where = str(error).rpartition(" (at ")
        return f"this is not TOML: {printable(what)} (at {where}"
    if isinstance(error, RecursionError):
        at, why = _deep_line(text), "lists and tables stand too deep in one another"
    else:
        lines = enumerate(text.split("\n"), 1)
        at = next((number for number, line in lines if _LONG_NUMBER.search(line)), 0)
        why = "a number has too many digits to be read"
    return f"line {at}: {why}" if at else why


def _deep_line(text: str) -> int:
    """Returns the first line, from 1, in which very many brackets are open; 0 if there is none."""
    depth, number = 0, 1
    for character in text:
        depth += (character in "[{") - (character in "]}")
        number += character == "\n"
        if depth > _DEEP:
            return number
    return 0


_Place: TypeAlias = tuple[int | str, ...]
_HEADER: Final = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_-]+)\s*\]")
_KEY: Final = re.compile(r"\s*([A-Za-z0-9_-]+)\s*=")


def _lines(text: str) -> dict[_Place, int]:
    """Returns the line, from 1, of each key that stands plainly; of none if texts of several lines could deceive."""
    if '"""' in text or "'''" in text:
        return {}
    return dict(reversed(list(_places(text))))


def _places(text: str) -> Iterator[tuple[_Place, int]]:
    table: _Place = ()
    tables: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if header := _HEADER.match(line):
            name = header[2]
            tables[name] = tables.get(name, -1) + 1
            table = (name, tables[name]) if header[1] == "[[" else (name,)
            yield table, number
            yield (name,), number
        elif line.lstrip().startswith("["):
            table = ("",)  # a table of another kind, or the inside of a list: no key of ours
        elif key := _KEY.match(line):
            yield (*table, key[1]), number


def _problems(details: list[ErrorDetails], lines: Mapping[_Place, int]) -> list[str]:
    """Returns a sentence for each mistake, in the order of the file; those without a line come first."""
    found = sorted(((_line(detail["loc"], lines), _sentence(detail)) for detail in details), key=itemgetter(0))
    return [f"line {line}: {sentence}" if line else sentence for line, sentence in found]


def _line(place: _Place, lines: Mapping[_Place, int]) -> int:
    return next((lines[place[:end]] for end in range(len(place), 0, -1) if place[:end] in lines), 0)


def _sentence(detail: ErrorDetails) -> str:
    place, value = detail["loc"], detail["input"]
    match detail["type"]:
        case "missing":
            return f"{_dotted(place)} is missing: {_allowed(place)}"
        case "extra_forbidden":
            return f"there is no key {_dotted(place)}: {_near(place)}"
        case "refused":
            return f"{_dotted(place)}{_shown(place, value)}: {detail['msg']}"
        case _:
            return f"{_dotted(place)}{_shown(place, value)}: allowed is {_allowed(place)}"


def _dotted(place: _Place) -> str:
    """Returns a place in a file in words such as bots[2].command."""
    words = (f"[{one}]" if isinstance(one, int) else f".{printable(one)}" for one in place)
    return "".join(words).removeprefix(".")


def _shown(place: _Place, value: object) -> str:
    if value is None or place[0] == "secret" or isinstance(value, (dict, list, tuple)):  # nothing, secret, too much
        return ""
    return f" = {shown(value) if isinstance(value, (str, int)) else value}"


def _model(place: _Place) -> type[BaseModel]:
    return BotSettings if len(place) > 2 and place[0] == "bots" else TournamentSettings


def _allowed(place: _Place) -> str:
    if len(place) == 2 and place[0] == "bots":
        return "a table with name, command or connected, and, if you like, version and files"
    keys = [one for one in place if isinstance(one, str)]
    metadata = _model(place).model_fields[keys[1] if _model(place) is BotSettings else keys[0]].metadata
    return next(one.words for one in metadata if isinstance(one, Allowed))


def _near(place: _Place) -> str:
    keys = list(_model(place).model_fields)
    near = get_close_matches(str(place[-1]), keys, n=1)
    return f"did you mean {near[0]}?" if near else "the keys are " + ", ".join(keys)
