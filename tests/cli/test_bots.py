"""What a command line calls a bot, and how that is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from rummyarena_server.cli.bots import SAMPLES, commands, sample_names
from rummyarena_server.cli.output import UsageError


def test_a_sample_is_called_by_its_name_in_either_spelling(tmp_path: Path) -> None:
    one, other = commands(["random-legal", "first_candidate"], tmp_path)
    assert (one.name, one.words) == ("random-legal", ("python", str(SAMPLES / "random_legal.py")))
    assert (other.name, other.words) == ("first-candidate", ("python", str(SAMPLES / "first_candidate.py")))
    assert one.directory == tmp_path


def test_a_python_file_is_run_by_python_and_named_after_the_file(tmp_path: Path) -> None:
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "mine.py").touch()
    (bot,) = commands(["bots/mine.py"], tmp_path)
    assert (bot.name, bot.words) == ("mine", ("python", "bots/mine.py"))


def test_anything_else_is_a_command_that_is_split_as_a_shell_would(tmp_path: Path) -> None:
    (bot,) = commands(["python -u 'my bot.py' --depth 3"], tmp_path)
    assert (bot.name, bot.words) == ("my bot", ("python", "-u", "my bot.py", "--depth", "3"))


def test_bots_called_alike_are_told_apart(tmp_path: Path) -> None:
    bots = commands(["random-legal", "random_legal", "random-legal"], tmp_path)
    assert [bot.name for bot in bots] == ["random-legal", "random-legal-2", "random-legal-3"]
    assert len({bot.words for bot in bots}) == 1


@pytest.mark.parametrize(
    ("word", "complaint"),
    [
        ("random-legl", "there is no bot random-legl: did you mean random-legal?"),
        ("no-such-program --fast", "name a sample"),
        ("mine.py", "there is no file mine.py"),
        (f"{'x' * 300}.py", "xxx.py: correct the path of the bot"),
        ("python 'mine.py", "cannot be split into words: no closing quotation"),
        ("", "names no bot"),
        ("\x1b[31m", r"there is no bot \x1b[31m"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_advice(word: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        commands([word], tmp_path)
    assert complaint in str(refused.value)


def test_every_sample_has_a_name() -> None:
    assert {"first-candidate", "random-legal"} <= set(sample_names())
