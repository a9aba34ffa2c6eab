"""Runs the command line: `python -m rummyarena_server`."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command line; the rest is imported here, so that Ctrl-C is quiet from the first moment."""
    try:
        from rummyarena_server.cli.main import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
