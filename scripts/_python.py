"""Refuses a Python that cannot read the other scripts; this file must load under every Python, even 2.7."""

import os
import sys

OLDEST = (3, 11)


def require(version=tuple(sys.version_info[:3]), system=os.name):
    # type: (tuple[int, ...], str) -> None
    """Ends the program with one sentence where this Python, or its system, cannot run Rummy Arena."""
    if version < OLDEST:
        sys.exit(
            "Rummy Arena needs Python {0} or newer and this is Python {1}: install a newer one and name it, "
            "as in `python{0} {2}`.".format(_dotted(OLDEST), _dotted(version), sys.argv[0])
        )
    if system != "posix":
        sys.exit("Rummy Arena runs on Linux and macOS: on Windows run it inside the Windows Subsystem for Linux.")


def _dotted(version):
    # type: (tuple[int, ...]) -> str
    return ".".join(str(part) for part in version)
