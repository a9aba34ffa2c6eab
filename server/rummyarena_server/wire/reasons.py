"""Refusals: the rules' reasons and the wire's, by name."""

from __future__ import annotations

from typing import Final

from rummyarena.v1 import error_pb2
from rummyarena_rules.ruleset import Reason, Refusal

_NUMBERS: Final = {reason: error_pb2.ErrorReason.Value(f"ERROR_REASON_{reason.name}") for reason in Reason}
_REASONS: Final = {number: reason for reason, number in _NUMBERS.items()}


def reason_number(reason: Reason) -> error_pb2.ErrorReason.ValueType:
    """Returns the wire's number of a reason of the rules."""
    return _NUMBERS[reason]


def read_reason(number: error_pb2.ErrorReason.ValueType) -> Reason | None:
    """Returns the reason of the rules, or `None` for one of the protocol or of a newer version."""
    return _REASONS.get(number)


def encode_refusal(refusal: Refusal) -> bytes:
    """Returns a refusal as a serialised `Rejection`."""
    return rejection(refusal).SerializeToString()


def rejection(refusal: Refusal) -> error_pb2.Rejection:
    """Returns a refusal as a message."""
    return error_pb2.Rejection(reason=_NUMBERS[refusal.reason], message=refusal.message)
