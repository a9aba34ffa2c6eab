"""What a command line calls a bot: the name of a sample, a Python file, or a whole command in quotes."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from rummyarena_server.cli.output import UsageError
from rummyarena_server.hosting import BotCommand, bot_environment, visible
from rummyarena_server.tournament.pins import is_file

_ROOT: Final = Path(__file__).resolve().parents[3]
SAMPLES: Final = _ROOT / "sample_bots" / "python"


@dataclass(frozen=True, slots=True)
class _Bot:
    name: str
    words: tuple[str, ...]


def sample_names() -> list[str]:
    """Returns the names of the sample bots, none where the project's checkout is not there."""
    return sorted(path.stem.replace("_", "-") for path in SAMPLES.glob("*.py"))


def commands(words: Sequence[str], directory: Path) -> list[BotCommand]:
    """Returns how the bots that are called so are started in `directory`, each with a name of its own.

    `UsageError` if one of them cannot be meant.
    """
    found: list[BotCommand] = []
    for bot in (_bot(word, directory) for word in words):
        name = _fresh(bot.name, [one.name for one in found])
        found.append(BotCommand(name, bot.words, directory))
    return found


def _bot(word: str, directory: Path) -> _Bot:
    sample = word.replace("_", "-")
    if sample in sample_names():
        return _Bot(sample, ("python", str(SAMPLES / f"{sample.replace('-', '_')}.py")))
    if word.endswith(".py") and is_file(directory / word):
        return _Bot(Path(word).stem, ("python", word))
    return _Bot(*_command(word))


def _command(word: str) -> tuple[str, tuple[str, ...]]:
    try:
        words = tuple(shlex.split(word))
    except ValueError as error:
        raise UsageError(f"the bot {visible(word)} cannot be split into words: {str(error).lower()}") from None
    if not words or any("\0" in one for one in words):
        raise UsageError(f"{visible(repr(word))} names no bot: {_choices()}")
    if words[0].endswith(".py") and len(words) == 1:
        raise UsageError(f"there is no file {visible(word)}: correct the path of the bot")
    if shutil.which(words[0], path=bot_environment("", "")["PATH"]) is None:
        raise UsageError(f"there is no bot {visible(word)}: {_hint(word)}")
    return next((Path(one).stem for one in words if Path(one).suffix), Path(words[0]).name), words


def _hint(word: str) -> str:
    near = get_close_matches(word, sample_names(), n=1)
    return f"did you mean {near[0]}?" if near else _choices()


def _choices() -> str:
    samples = ", ".join(sample_names()) or "none here: they are in a checkout of the project"
    return f"name a sample ({samples}), a .py file or a command in quotes"


def _fresh(name: str, taken: Sequence[str]) -> str:
    """Returns the name, with a number if another bot has it."""
    number = 2
    fresh = name
    while fresh in taken:
        fresh, number = f"{name}-{number}", number + 1
    return fresh
