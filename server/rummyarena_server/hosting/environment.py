"""What a bot is told, and what it inherits from the server: nothing that could hold a secret of its host."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ADDRESS: Final = "RUMMYARENA_ADDRESS"
TOKEN: Final = "RUMMYARENA_TOKEN"  # noqa: S105 - the name of a variable, not a token
_INHERITED: Final = frozenset({"HOME", "LANG", "LANGUAGE", "PATH", "TMPDIR", "TZ"})


def bot_environment(address: str, token: str, inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Returns the whole environment of a bot.

    RUMMYARENA_ADDRESS and RUMMYARENA_TOKEN: where to connect and who it is. HOME, LANG, LANGUAGE, LC_*, TMPDIR, TZ: as
    the server has them. PATH: the server's, behind the folder of the server's own interpreter, so that `python` is the
    one that has the SDK. PYTHONUNBUFFERED: 1, or what a Python bot prints would be lost when it is killed. Nothing else
    is passed on, PYTHONPATH included.
    """
    kept = {name: value for name, value in inherited.items() if name in _INHERITED or name.startswith("LC_")}
    own_folder = str(Path(sys.executable).parent)
    path = os.pathsep.join((own_folder, kept.get("PATH") or os.defpath))
    return kept | {"PATH": path, "PYTHONUNBUFFERED": "1", ADDRESS: address, TOKEN: token}
