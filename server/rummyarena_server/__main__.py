"""Runs the command line: `python -m rummyarena_server`."""

from __future__ import annotations

from rummyarena_server.cli.main import main

if __name__ == "__main__":
    main()
