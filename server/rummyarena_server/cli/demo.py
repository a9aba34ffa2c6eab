"""The tournaments of `rummyarena demo`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rummyarena_server.cli.bots import SAMPLES
from rummyarena_server.cli.output import UsageError
from rummyarena_server.config import TournamentFile, TournamentSettings

_SECRET: Final = "00" * 32  # fixed, so that the demo ends in the same tables everywhere
_BOTS: Final = ("card-counter", "contract-chaser", "deadwood", "first-candidate", "random-legal")
_TOURNAMENTS: Final[Sequence[Mapping[str, object]]] = (
    {"name": "demo of thai", "ruleset": "thai", "seats": 2, "cycles": 10},
    {"name": "demo of liverpool", "ruleset": "liverpool", "seats": 4, "cycles": 2},
)


def demo_files() -> list[TournamentFile]:
    """Returns the demo's tournaments; `UsageError` where the sample bots are not there."""
    if not SAMPLES.is_dir():
        raise UsageError(f"the sample bots are not in {SAMPLES}: run the demo from a checkout of the project")
    return [_file(settings) for settings in _TOURNAMENTS]


def _file(settings: Mapping[str, object]) -> TournamentFile:
    bots = [{"name": name, "command": ["python", f"{name.replace('-', '_')}.py"]} for name in _BOTS]
    common = {"secret": _SECRET, "trusted": True, "clock": "off", "bots": bots}
    return TournamentFile(SAMPLES / "demo", TournamentSettings.model_validate({**common, **settings}))
