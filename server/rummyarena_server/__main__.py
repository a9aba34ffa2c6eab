"""Runs the command line: `python -m rummyarena_server`."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Runs the command line; the rest is imported here, so that Ctrl-C is quiet from the first moment to the last."""
    try:
        from rummyarena_server.cli.main import main as run

        run()
    except KeyboardInterrupt:  # before anything was opened, or when all was closed
        print("Interrupted.", file=sys.stderr)
        sys.exit(130)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # nothing is left that could be interrupted


if __name__ == "__main__":
    main()
