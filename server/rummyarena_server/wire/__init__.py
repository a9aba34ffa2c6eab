"""The only place where the rules' values and the contract's messages are turned into each other.

`encode_*` returns serialised bytes, made to be kept and joined: a public part is encoded once an event and shared by
all seats, a move once for all decisions that offer it, and a frame of the play stream is the concatenation of fields.
`read_*` returns the rules' values; what a bot sent is read to a value in any case, a move that is none to a `Refusal`.
Nothing here redacts: events and views come in as their receiver may see them.
"""

from __future__ import annotations

from rummyarena_server.wire.events import encode_event, read_event
from rummyarena_server.wire.looking_ahead import rules_view
from rummyarena_server.wire.moves import encode_move, read_move
from rummyarena_server.wire.play import (
    MOST_PROBES,
    ForfeitWord,
    Hello,
    ProtocolWord,
    encode_decision,
    encode_game_over,
    encode_game_setup,
    encode_going_away,
    encode_probe_result,
    encode_rejection,
    encode_stale_rejection,
    encode_update,
    encode_welcome,
    parse_request,
    read_answer,
    read_hello,
    read_probe,
)
from rummyarena_server.wire.reasons import encode_refusal, read_reason, reason_number
from rummyarena_server.wire.views import encode_private, encode_public, encode_view, read_view

__all__ = [
    "MOST_PROBES",
    "ForfeitWord",
    "Hello",
    "ProtocolWord",
    "encode_decision",
    "encode_event",
    "encode_game_over",
    "encode_game_setup",
    "encode_going_away",
    "encode_move",
    "encode_private",
    "encode_probe_result",
    "encode_public",
    "encode_refusal",
    "encode_rejection",
    "encode_stale_rejection",
    "encode_update",
    "encode_view",
    "encode_welcome",
    "parse_request",
    "read_answer",
    "read_event",
    "read_hello",
    "read_move",
    "read_probe",
    "read_reason",
    "read_view",
    "reason_number",
    "rules_view",
]
