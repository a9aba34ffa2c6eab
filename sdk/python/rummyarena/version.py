"""The version of the SDK; the whole distribution has the same one."""

from __future__ import annotations

from typing import Final

__version__: Final = "0.1.0"
