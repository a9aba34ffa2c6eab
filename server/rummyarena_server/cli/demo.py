"""The tournament of `rummyarena demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rummyarena_server.cli.output import UsageError
from rummyarena_server.config import TournamentFile, TournamentSettings

_ROOT: Final = Path(__file__).resolve().parents[3]
SAMPLES: Final = _ROOT / "sample_bots" / "python"
_BOTS: Final = {
    "first-candidate": "first_candidate.py",
    "random-legal": "random_legal.py",
    "random-legal-2": "random_legal.py",
}
_CYCLES: Final = 8
_SECRET: Final = "00" * 32  # fixed, so that the demo ends in the same table everywhere


def demo_file() -> TournamentFile:
    """Returns the demo's tournament; `UsageError` where the sample bots are not there."""
    if not SAMPLES.is_dir():
        raise UsageError(f"the sample bots are not in {SAMPLES}: run the demo from a checkout of the project")
    settings = TournamentSettings.model_validate(
        {
            "name": "demo",
            "cycles": _CYCLES,
            "secret": _SECRET,
            "trusted": True,
            "clock": "off",
            "bots": [{"name": name, "command": ["python", file]} for name, file in _BOTS.items()],
        }
    )
    return TournamentFile(SAMPLES / "demo", settings)
