"""Decisions, and what a bot may answer."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias, overload

from rummyarena.games import Game, seconds
from rummyarena.moves import Move, move_from_wire
from rummyarena.v1 import error_pb2, move_pb2, play_pb2, view_pb2
from rummyarena.views import UNKNOWN, View, words_of

Answer: TypeAlias = Move | str | Iterable[Move | str]
"""A move or its notation, or several, played in order within the turn."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why the referee refused a move.

    `reason`: a word for programs, such as `not_born`; `message`: a sentence for people. `index`: which move of the
    answer, from 0; those before it were played. `attempts_left`: how often you may still answer in this turn.
    """

    reason: str
    message: str
    index: int
    attempts_left: int


class Decision:
    """An answer that you owe.

    `game`: what is fixed for the game. `view`: all you may see. `random`: draw from it and from nothing else, and the
    same game can be played again. `rejection`: why your last answer was refused, if you are asked again. `message`: the
    contract's message (rummyarena.v1.Decision).
    """

    def __init__(
        self,
        game: Game,
        message: view_pb2.Decision,
        view: View,
        rejection: Rejection | None = None,
    ) -> None:
        self.game: Final = game
        self.message: Final = message
        self.view: Final = view
        self.rejection: Final = rejection

    @property
    def game_id(self) -> str:
        """The game; opaque."""
        return self.game.game_id

    @property
    def decision_id(self) -> str:
        """The decision; opaque."""
        return self.message.decision_id

    @property
    def seat(self) -> int:
        """Your seat, from 0."""
        return self.game.seat

    @cached_property
    def verbs(self) -> tuple[str, ...]:
        """The kinds of move that could be legal, by the words of the notation."""
        return tuple(_VERBS[number] for number in self.message.verbs if number in _VERBS)

    @cached_property
    def candidates(self) -> Sequence[Move]:
        """Legal moves, the more promising kinds first, at most as many as the bot asked for."""
        return LazyMoves([one for one in self.message.candidates if one.WhichOneof("kind") is not None])

    @property
    def complete(self) -> bool:
        """Whether the candidates are all legal moves (up to irrelevant order and moves that others make up)."""
        return self.message.complete

    @property
    def random_seed(self) -> int:
        """The seed of `random`, 64 bits: the same for this decision in every replay."""
        return self.message.random_seed

    @cached_property
    def random(self) -> random.Random:
        """Random numbers of this decision's own."""
        return random.Random(self.message.random_seed)  # noqa: S311 - for play, not for secrets

    @property
    def time_left(self) -> float | None:
        """Seconds from the sending of the decision until an answer is late, the bank included; `None`: no clock."""
        return seconds(self.message.time_left) if self.message.HasField("time_left") else None

    @property
    def bank(self) -> float | None:
        """The seconds of `time_left` that are drawn from the bank of the game; `None`: no clock."""
        return seconds(self.message.bank) if self.message.HasField("bank") else None

    def again(self, rejection: Rejection) -> Decision:
        """Returns this decision as it is asked again; its random numbers go on where they were."""
        repeated = Decision(self.game, self.message, self.view, rejection)
        repeated.__dict__["random"] = self.random
        return repeated


class LazyMoves(Sequence[Move]):
    """Moves that are read from their messages only when they are looked at."""

    def __init__(self, messages: Sequence[move_pb2.Move]) -> None:
        self._messages = messages

    def __len__(self) -> int:
        return len(self._messages)

    @overload
    def __getitem__(self, at: int) -> Move: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Move]: ...

    def __getitem__(self, at: int | slice) -> Move | Sequence[Move]:
        if isinstance(at, slice):
            return LazyMoves(self._messages[at])
        if not self._messages:
            raise IndexError("this decision has no candidates: ask for some (candidate_limit), or make a move yourself")
        return move_from_wire(self._messages[at])

    def __repr__(self) -> str:
        return f"[{', '.join(map(str, self))}]"


def moves_of(answer: object) -> list[Move]:
    """Returns the moves of a bot's answer; `TypeError` or `ValueError` says what is wrong with it."""
    if isinstance(answer, Move | str):
        return [_move(answer)]
    if not isinstance(answer, Iterable):
        raise TypeError(
            f"the bot answered {answer!r}: return a move, such as decision.candidates[0], its text, or a list of them"
        )
    moves = [_move(one) for one in answer]
    if not moves:
        raise ValueError("the bot answered no move: return at least one")
    return moves


def _move(one: object) -> Move:
    if isinstance(one, Move):
        return one
    if isinstance(one, str):
        return Move.parse(one)
    raise TypeError(f"the bot answered {one!r}, which is neither a move nor its text")


def rejection_from(message: play_pb2.MoveRejected) -> Rejection:
    """Returns why a move was refused."""
    reason = _REASONS.get(message.rejection.reason, UNKNOWN)
    return Rejection(reason, message.rejection.message, message.index, message.attempts_left)


STALE_DECISION: Final = "stale_decision"
"""The reason that refuses an answer to a decision that is closed."""

_VERBS: Final = words_of(move_pb2.Verb.items())
_REASONS: Final = words_of(error_pb2.ErrorReason.items())
