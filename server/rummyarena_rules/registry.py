"""The rulesets by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rummyarena_rules.liverpool import LIVERPOOL
from rummyarena_rules.ruleset import Ruleset
from rummyarena_rules.thai import THAI

RULESETS: Final[Mapping[str, Ruleset[Any]]] = {THAI.name: THAI, LIVERPOOL.name: LIVERPOOL}
