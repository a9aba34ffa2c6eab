"""What a bot is told of a game besides its decisions: the set-up, the events and the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message

from rummyarena.cards import from_wire
from rummyarena.v1 import card_pb2, event_pb2, play_pb2
from rummyarena.views import UNKNOWN, words_of

OptionValue: TypeAlias = bool | int | str | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Game:
    """What is fixed for a whole game.

    `ruleset`: `thai` or `liverpool`. `options`: those that differ from their defaults. `seat`: yours, from 0.
    `bot_names`: one a seat, or empty if they are withheld. `seed_digest`: SHA-256 of the game seed. Times in seconds,
    `None`: there is no clock.
    """

    game_id: str
    ruleset: str = ""
    rules_version: int = 0
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    seats: int = 0
    seat: int = 0
    bot_names: tuple[str, ...] = ()
    seed_digest: bytes = b""
    decision_seconds: float | None = None
    bank_seconds: float | None = None
    increment_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    `sequence`: from 1, without gaps. `kind`: such as `stock_drawn`; `details`: the contract's message of that kind
    (event.proto), whose fields `event["card"]` reads as values of the SDK.
    """

    sequence: int
    kind: str
    details: Message

    def __getitem__(self, name: str) -> Any:
        """Returns a field of the details.

        Cards are `Card` or tuples of them, words of the contract are in small letters, and what this seat may not see
        is `None`. `KeyError` for a name that events of this kind do not have.
        """
        return value_of(self.details, name)

    def __str__(self) -> str:
        fields = [(one.name, self[one.name]) for one in self.details.DESCRIPTOR.fields]
        return " ".join([self.kind, *(f"{name}={value}" for name, value in fields if value is not None)])


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a game, one entry a seat.

    `ranks`: 1 is best; empty: the server abandoned the game, which counts for nobody, or it ended while the connection
    was lost. `deals`: the scores of each deal that was finished. `forfeits`: seat and reason. `seed`: of the game;
    `None` while another game uses it.
    """

    ranks: tuple[int, ...]
    totals: tuple[int, ...]
    deals: tuple[tuple[int, ...], ...]
    forfeits: tuple[tuple[int, str], ...]
    seed: bytes | None


NO_OUTCOME: Final = Outcome((), (), (), (), None)
"""Of a game whose end the bot did not hear."""


def game_from(game_id: str, setup: play_pb2.GameSetup) -> Game:
    """Returns the set-up of a game."""
    clock = setup.time_control if setup.HasField("time_control") else None
    return Game(
        game_id=game_id,
        ruleset=setup.ruleset,
        rules_version=setup.rules_version,
        options=_options(setup.options),
        seats=setup.seats,
        seat=setup.seat,
        bot_names=tuple(setup.bot_names),
        seed_digest=setup.seed_digest,
        decision_seconds=None if clock is None else seconds(clock.decision),
        bank_seconds=None if clock is None else seconds(clock.bank),
        increment_seconds=None if clock is None else seconds(clock.increment),
    )


def value_of(message: Message, name: str) -> Any:
    """Returns a field of a message as a value of the SDK; `KeyError` if there is no such field."""
    field = message.DESCRIPTOR.fields_by_name[name]
    words = _WORDS.get(field.enum_type.full_name) if field.enum_type is not None else None
    value = getattr(message, name)
    if field.is_repeated:
        return from_wire(value) if words is _CARDS else tuple(_plain(one, words) for one in value)
    if field.has_presence and not message.HasField(name):
        return None
    return _plain(value, words)


def _plain(value: Any, words: Mapping[int, str] | None) -> Any:
    if words is _CARDS:
        return next(iter(from_wire((value,))), None)
    if words is not None:
        return words.get(value, UNKNOWN)
    return from_wire(value.cards) if isinstance(value, card_pb2.CardList) else value


_CARDS: Final[Mapping[int, str]] = words_of(card_pb2.Card.items())
_WORDS: Final = {
    card_pb2.Card.DESCRIPTOR.full_name: _CARDS,
    event_pb2.DealEnd.DESCRIPTOR.full_name: words_of(event_pb2.DealEnd.items()),
    event_pb2.PenaltyRule.DESCRIPTOR.full_name: words_of(event_pb2.PenaltyRule.items()),
}


def _options(messages: Sequence[play_pb2.Option]) -> dict[str, OptionValue]:
    options: dict[str, OptionValue] = {}
    for one in messages:
        kind = one.WhichOneof("value")
        if kind is not None:
            options[one.name] = tuple(one.numbers.numbers) if kind == "numbers" else getattr(one, kind)
    return options


def events_from(messages: Sequence[event_pb2.Event]) -> list[Event]:
    """Returns events without those of a kind that this SDK does not know."""
    kinds = [(one, one.WhichOneof("kind")) for one in messages]
    return [Event(one.sequence, kind, getattr(one, kind)) for one, kind in kinds if kind is not None]


_FORFEIT_REASONS: Final = words_of(play_pb2.ForfeitReason.items())


def outcome_from(over: play_pb2.GameOver) -> Outcome:
    """Returns the end of a game."""
    return Outcome(
        ranks=tuple(over.ranks),
        totals=tuple(over.totals),
        deals=tuple(tuple(deal.scores) for deal in over.deals),
        forfeits=tuple((one.seat, _FORFEIT_REASONS.get(one.reason, UNKNOWN)) for one in over.forfeits),
        seed=over.seed if over.HasField("seed") else None,
    )


def seconds(duration: Duration) -> float:
    """Returns a duration in seconds."""
    return duration.seconds + duration.nanos / 1e9
