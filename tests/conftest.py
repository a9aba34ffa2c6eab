"""Settings of all tests."""

from __future__ import annotations

from hypothesis import settings

# No deadlines: how long a test takes says nothing on a shared machine; speed is measured by scripts/bench.
settings.register_profile("arena", deadline=None)
settings.load_profile("arena")
