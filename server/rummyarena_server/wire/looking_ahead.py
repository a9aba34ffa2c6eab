"""From a decision of the SDK to the rules' view of it, for Python bots that look ahead with the rules."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from rummyarena.decisions import Decision
from rummyarena_rules.registry import RULESETS
from rummyarena_rules.ruleset import AnyView, Ruleset
from rummyarena_server.wire.views import read_view


def rules_view(decision: Decision) -> tuple[Ruleset[Any], AnyView]:
    """Returns the rules of a decision's game, and the rules' view of what the bot may see.

    The options are `view.public.options`. The view is the bot's own: it shares nothing with another decision's.
    `ValueError` if the game is played by rules that this installation does not have.

    ::

        def bot(decision: Decision) -> str:
            ruleset, view = rules_view(decision)
            moves = ruleset.candidates(view, limit=100).moves
            return move_text(max(moves, key=...))  # of rummyarena_rules.notation; a bot may answer with text
    """
    game = decision.game
    ruleset, options = _configured(game.ruleset, game.rules_version, tuple(game.options.items()), game.seats)
    return ruleset, read_view(decision.view.message, options)


@lru_cache(64)
def _configured(
    name: str, version: int, changed: tuple[tuple[str, object], ...], seats: int
) -> tuple[Ruleset[Any], Any]:
    ruleset = RULESETS.get(name)
    if ruleset is None or ruleset.version != version:
        here = "no such ruleset" if ruleset is None else f"version {ruleset.version}"
        raise ValueError(
            f"the game is {name}, version {version} of its rules, and this installation has {here}: "
            "install the same version of rummyarena as the server's"
        )
    options = ruleset.configure(dict(changed), seats)
    if isinstance(options, list):
        raise ValueError(
            f"this installation refuses the options of the game: {'; '.join(one.message for one in options)}"
        )
    return ruleset, options
