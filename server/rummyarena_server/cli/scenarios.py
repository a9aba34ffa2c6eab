"""Running scenario files (notation.md 5) from the command line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rummyarena_rules.reading import ReadingError
from rummyarena_rules.scenario import Scenario, read_scenarios, run
from rummyarena_server.cli.output import UsageError, say
from rummyarena_server.hosting import visible


def run_files(files: Iterable[Path]) -> bool:
    """Runs every scenario of the files, says what differed and returns whether all passed.

    One line a failure, the last line counts. `UsageError` names the file, and the place in it, that cannot be read; no
    scenario is run then.
    """
    scenarios = [scenario for file in files for scenario in _read(file)]
    failed = 0
    for scenario in scenarios:
        differences = run(scenario)
        if differences:
            failed += 1
            say(f"{visible(scenario.id)} {visible(scenario.title)}: {visible('; '.join(differences))}")
    say(f"{len(scenarios) - failed} passed, {failed} failed")
    return not failed


def _read(file: Path) -> tuple[Scenario, ...]:
    try:
        return read_scenarios(file.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: not UTF-8 text: byte {error.start} is no part of a character") from None
    except ReadingError as error:
        raise UsageError(f"{file}: {error}") from None
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {(error.strerror or str(error)).lower()}") from None
