"""A Python bot of the full distribution has the rules' view of each decision, and all that they say of it."""

from __future__ import annotations

from typing import Any

import pytest

from rummyarena import Decision, Game, View
from rummyarena.games import game_from
from rummyarena.v1 import play_pb2, view_pb2
from rummyarena_rules.notation import move_text
from rummyarena_rules.ruleset import AnyState, Ruleset
from rummyarena_server import wire
from rummyarena_server.wire import rules_view
from tests.rules.games import Setup, play, randomly

GAMES = [
    Setup("thai", 3, (("head_card", True), ("max_deals", 1)), seed=1),
    Setup("liverpool", 4, (("hand_sizes", [10, 10, 10, 10, 12, 12, 13]), ("max_turns_per_deal", 20)), seed=2),
]


def game_of(ruleset: Ruleset[Any], state: AnyState, seat: int) -> Game:
    setup = wire.encode_game_setup(
        ruleset=ruleset.name,
        rules_version=ruleset.version,
        options=state.public.options,
        seats=state.public.seats,
        seat=seat,
        bot_names=(),
        seed_digest=bytes(32),
        time_control=None,
    )
    return game_from("g", play_pb2.GameSetup.FromString(setup))


def asked(ruleset: Ruleset[Any], state: AnyState, seat: int) -> Decision:
    view = ruleset.view(state, seat)
    assert view.private is not None
    encoded = wire.encode_view(wire.encode_public(view.public), seat, wire.encode_private(view.private))
    return Decision(game_of(ruleset, state, seat), view_pb2.Decision(), View(view_pb2.View.FromString(encoded)))


@pytest.mark.parametrize("setup", GAMES, ids=str)
def test_a_bot_sees_with_the_eyes_of_the_rules(setup: Setup) -> None:
    ruleset, state = setup.start()
    for _ in play(ruleset, state, randomly(setup.seed)):
        for seat in ruleset.decisions(state):
            theirs, view = rules_view(asked(ruleset, state, seat))
            assert theirs is ruleset
            assert view == ruleset.view(state, seat)
            moves = theirs.candidates(view, 8).moves
            assert moves == ruleset.candidates(ruleset.view(state, seat), 8).moves
            assert all(move_text(move) for move in moves)


def test_what_a_bot_tries_on_its_view_changes_no_other() -> None:
    ruleset, state = GAMES[0].start()
    for event in ruleset.deal(state):
        ruleset.evolve(state, event)
    decision = asked(ruleset, state, state.public.turn)
    _, view = rules_view(decision)
    view.public.discards.clear()
    _, again = rules_view(decision)
    assert again.public.discards == state.public.discards


@pytest.mark.parametrize(
    ("game", "sentence"),
    [
        (
            Game("g", ruleset="gin", rules_version=1),
            "the game is gin, .* has no such ruleset: install the same version",
        ),
        (Game("g", ruleset="thai", rules_version=99), "version 99 of its rules, and this installation has version 1"),
        (Game("g", "thai", 1, {"heads": 2}, seats=2), "refuses the options of the game: .*heads"),
    ],
)
def test_other_rules_are_named(game: Game, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        rules_view(Decision(game, view_pb2.Decision(), View(view_pb2.View())))
