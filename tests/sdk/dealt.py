"""A game of thai that has just been dealt, and what the referee says to the seat on turn, as messages."""

from __future__ import annotations

from rummyarena.v1 import play_pb2
from rummyarena_rules.thai import THAI, ThaiOptions, ThaiState
from rummyarena_server import wire

STATE = THAI.start(ThaiOptions(), 2, bytes(32))
for _event in THAI.deal(STATE):
    THAI.evolve(STATE, _event)
FIRST = STATE.public.turn
HAND = STATE.privates[FIRST].hand


def view_of(state: ThaiState, seat: int) -> bytes:
    return wire.encode_view(wire.encode_public(state.public), seat, wire.encode_private(state.privates[seat]))


def decision_of(state: ThaiState, seat: int, decision_id: str, *, seed: int = 7) -> bytes:
    verbs = THAI.decisions(state)[seat].verbs
    return wire.encode_decision(
        decision_id, verbs, THAI.candidates(THAI.view(state, seat), 64), seed, time_left=65_000_000
    )


def setup_of(seat: int) -> bytes:
    return wire.encode_game_setup(
        ruleset="thai",
        rules_version=1,
        options=ThaiOptions(head_card=True, target_score=250),
        seats=2,
        seat=seat,
        bot_names=("Ann", "Bob"),
        seed_digest=bytes(32),
        time_control=(5_000_000, 60_000_000, 500_000),
    )


def asked(game_id: str, decision_id: str, *, first: bool = False, seed: int = 7) -> bytes:
    """The referee asks the seat on turn of the game that has just been dealt."""
    return wire.encode_update(
        game_id,
        setup=setup_of(FIRST) if first else None,
        view=view_of(STATE, FIRST),
        decision=decision_of(STATE, FIRST, decision_id, seed=seed),
    )


def said(*fields: bytes) -> play_pb2.PlayResponse:
    return play_pb2.PlayResponse.FromString(b"".join(fields))
