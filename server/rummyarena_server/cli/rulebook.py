"""Showing what can be varied in a game."""

from __future__ import annotations

import json
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final

from rich.table import Table
from rich.text import Text

from rummyarena_rules.options import option_fields
from rummyarena_rules.registry import RULESETS
from rummyarena_rules.ruleset import Ruleset
from rummyarena_server.cli.output import UsageError, console, say

_LOCAL_TERMS: Final[Mapping[str, Mapping[str, str]]] = {
    "thai": {
        "เกิด (born)": "has taken from the row in this deal",
        "ฝาก (lay off)": "to add cards to a meld on the table",
        "น็อค (knock)": "to end the deal with one card left",
        "น็อคมืด (dark knock)": "a knock by a seat that was not born before this turn",
        "เน่ามืด (rotten)": "unborn when somebody else knocks",
        "โง่ (foolish)": "whose discard was all that the knocker took",
        "สเปโต (speto)": "2C or QS, 50 points each",
    },
}


def find_ruleset(name: str) -> Ruleset[Any]:
    """Returns the ruleset of this name; `UsageError` if there is none."""
    if name not in RULESETS:
        near = get_close_matches(name, RULESETS, n=1)
        raise UsageError(f"there is no ruleset {name!r}: " + (f"did you mean {near[0]}?" if near else _names()))
    return RULESETS[name]


def show_rules(name: str) -> None:
    """Prints the options, presets and local terms of a ruleset; `UsageError` if there is none of that name."""
    ruleset = find_ruleset(name)
    seats = f"{ruleset.seats.start} to {ruleset.seats.stop - 1} seats"
    say(f"{name}, rules version {ruleset.version}: {seats}. The rules: docs/rules/{name}.md")
    say("")
    say("Options")
    _show_options(name)
    say("")
    say("Presets (options that differ from the defaults)")
    for preset, options in ruleset.presets.items():
        changed = ", ".join(f"{key} = {_toml(value)}" for key, value in options.items())
        say(f"  {preset}: {changed or 'all defaults'}")
    if name in _LOCAL_TERMS:
        say("")
        say("Local terms")
        for term, meaning in _LOCAL_TERMS[name].items():
            say(f"  {term}: {meaning}")


def _show_options(name: str) -> None:
    table = Table(box=None, pad_edge=False, show_header=True, header_style="bold", padding=(0, 2, 0, 2))
    for column in ("option", "default", "allowed", "meaning"):
        table.add_column(column, overflow="fold")
    for one in option_fields(RULESETS[name].options_kind):
        words = (one.name, _toml(one.default), one.metadata["allowed"].words, one.metadata["meaning"])
        table.add_row(*map(Text, words))
    console().print(table)


def _names() -> str:
    return "there are " + ", ".join(RULESETS)


def _toml(value: object) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value)
