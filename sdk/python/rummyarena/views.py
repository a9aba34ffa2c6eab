"""What a bot may see of a game; read from the message only where it is looked at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rummyarena.cards import Card, from_wire
from rummyarena.v1 import event_pb2, view_pb2


@dataclass(frozen=True, slots=True)
class DiscardedCard:
    """A card among the discards.

    `seat`: who discarded it, `None` for the card turned up at the deal; `turn`: the number of that turn in the deal, 0
    for the card turned up.
    """

    card: Card
    seat: int | None
    turn: int


@dataclass(frozen=True, slots=True)
class TableMeld:
    """A meld on the table.

    `number`: from 1, as moves name it. `cards`: a run low to high, a set sorted. `placers`: the seat that put each card
    there. `start`: the position of the first card of a run (thai 2 to 12, liverpool 1 to 11); 0: a set.
    """

    number: int
    owner: int
    cards: tuple[Card, ...]
    placers: tuple[int, ...]
    start: int

    @property
    def is_run(self) -> bool:
        """Whether the meld is a run."""
        return self.start > 0


@dataclass(frozen=True, slots=True)
class DealResult:
    """How the last deal ended.

    `end`: `knock`, `exhausted`, `out`, `blocked` or `turn_limit`. `seat`: who knocked or is out. `hands` and `scores`:
    one a seat; the knock card is not part of the knocker's hand.
    """

    end: str
    seat: int | None
    knock_card: Card | None
    dark: bool
    hands: tuple[tuple[Card, ...], ...]
    scores: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Penalty:
    """A charge against a seat of thai: `rule` is `foolish` or the name of the house rule; `turn` of the deal."""

    seat: int
    rule: str
    card: Card
    turn: int


@dataclass(frozen=True, slots=True)
class ThaiFacts:
    """What is public in thai only.

    `births`: the turn of birth of each born seat; a seat not in it is unborn. `head`: the card turned up first, until a
    reshuffle makes it an ordinary card. `gathered`: what the seat on turn took from the row in this turn.
    """

    births: Mapping[int, int]
    head: Card | None
    gathered: tuple[DiscardedCard, ...]
    last_turn: bool
    reshuffles: int
    penalties: tuple[Penalty, ...]


@dataclass(frozen=True, slots=True)
class LiverpoolFacts:
    """What is public in liverpool only.

    `downs`: the turn in which each seat that is down went down; a seat not in it is not down. `buys`: how often each
    seat has bought in this deal. `asked`: the seats that the open window asks, nearest after the seat on turn first;
    empty while none is open. `jokers_owed`: how many jokers the seat on turn has to lay off before it may discard.
    """

    downs: Mapping[int, int]
    buys: tuple[int, ...]
    asked: tuple[int, ...]
    jokers_owed: int
    reshuffles: int


class View:
    """What one seat may see. Lists of seats are in the order of seats, from 0, clockwise.

    `message` is the message of the contract (rummyarena.v1.View) itself, for what is not named here.
    """

    def __init__(self, message: view_pb2.View) -> None:
        self.message: Final = message
        self._public: Final = message.public_part

    @property
    def seat(self) -> int:
        """Your seat."""
        return self.message.seat

    @cached_property
    def hand(self) -> tuple[Card, ...]:
        """Your hand, sorted."""
        return from_wire(self.message.private_part.hand)

    @property
    def drawn(self) -> Card | None:
        """The card you drew from the stock, or took as upcard, in this turn."""
        private = self.message.private_part
        return _card(private.drawn) if private.HasField("drawn") else None

    @property
    def cut(self) -> int | None:
        """The position of the cut that you asked for in this deal (liverpool)."""
        private = self.message.private_part
        return private.cut if private.HasField("cut") else None

    @property
    def deal(self) -> int:
        """The number of the deal, from 1."""
        return self._public.deal

    @property
    def dealer(self) -> int:
        """The seat that deals."""
        return self._public.dealer

    @property
    def direction(self) -> int:
        """The direction of play: 1 clockwise, -1 counter-clockwise."""
        return self._public.direction

    @property
    def first(self) -> int:
        """The seat that started the deal."""
        return self._public.first

    @property
    def turn(self) -> int:
        """The seat on turn."""
        return self._public.turn

    @property
    def turn_number(self) -> int:
        """The number of the turn in the deal, from 1."""
        return self._public.turn_number

    @property
    def phase(self) -> str:
        """What is asked for now: `cut`, `draw`, `buy`, `play` or `over`."""
        return _PHASES.get(self._public.phase, UNKNOWN)

    @property
    def stock_count(self) -> int:
        """The number of cards in the stock."""
        return self._public.stock_count

    @property
    def aside_count(self) -> int:
        """The number of cards set aside for this deal."""
        return self._public.aside_count

    @cached_property
    def discards(self) -> tuple[DiscardedCard, ...]:
        """The row or the discard pile with who discarded what when, oldest first."""
        return _discards(self._public.discards)

    @cached_property
    def row(self) -> tuple[Card, ...]:
        """The cards of the row or the discard pile, oldest first."""
        return from_wire([one.card for one in self._public.discards])

    @property
    def upcard(self) -> Card | None:
        """The newest card of the discards."""
        return self.row[-1] if self.row else None

    @cached_property
    def melds(self) -> tuple[TableMeld, ...]:
        """The melds on the table: meld number 1 is `melds[0]`."""
        return tuple(
            TableMeld(number, one.owner, from_wire(one.cards), tuple(one.placers), one.start)
            for number, one in enumerate(self._public.melds, 1)
        )

    @property
    def hand_counts(self) -> tuple[int, ...]:
        """The number of cards in each seat's hand."""
        return tuple(self._public.hand_counts)

    @cached_property
    def known(self) -> tuple[tuple[Card, ...], ...]:
        """The cards publicly known to be in each seat's hand."""
        return tuple(from_wire(one.cards) for one in self._public.known)

    @property
    def totals(self) -> tuple[int, ...]:
        """The total of each seat, in points."""
        return tuple(self._public.totals)

    @property
    def result(self) -> DealResult | None:
        """How the last deal ended; `None` while a deal is on."""
        return _result(self._public.result) if self._public.HasField("result") else None

    @cached_property
    def thai(self) -> ThaiFacts | None:
        """What is public in thai only; `None` in another game."""
        return _thai(self._public.thai) if self._public.HasField("thai") else None

    @cached_property
    def liverpool(self) -> LiverpoolFacts | None:
        """What is public in liverpool only; `None` in another game."""
        return _liverpool(self._public.liverpool) if self._public.HasField("liverpool") else None


def words_of(items: Iterable[tuple[str, int]]) -> dict[int, str]:
    """Returns the words of an enum of the contract by number, such as `draw` for `PHASE_DRAW`."""
    names = {number: name for name, number in items}
    prefix = names.pop(0).removesuffix("UNSPECIFIED")
    return {number: name.removeprefix(prefix).lower() for number, name in names.items()}


UNKNOWN: Final = "unknown"
"""The word for what only a newer contract knows."""

_PHASES: Final = words_of(view_pb2.Phase.items())
_DEAL_ENDS: Final = words_of(event_pb2.DealEnd.items())
_PENALTY_RULES: Final = words_of(event_pb2.PenaltyRule.items())


def _card(number: int) -> Card | None:
    return next(iter(from_wire((number,))), None)


def _discards(messages: Iterable[view_pb2.DiscardedCard]) -> tuple[DiscardedCard, ...]:
    return tuple(
        DiscardedCard(card, one.seat if one.HasField("seat") else None, one.turn)
        for one in messages
        for card in from_wire((one.card,))
    )


def _result(message: view_pb2.DealResult) -> DealResult:
    return DealResult(
        end=_DEAL_ENDS.get(message.end, UNKNOWN),
        seat=message.seat if message.HasField("seat") else None,
        knock_card=_card(message.knock_card) if message.HasField("knock_card") else None,
        dark=message.dark,
        hands=tuple(from_wire(hand.cards) for hand in message.hands),
        scores=tuple(message.scores),
    )


def _thai(message: view_pb2.ThaiFacts) -> ThaiFacts:
    return ThaiFacts(
        births={birth.seat: birth.turn for birth in message.births},
        head=_card(message.head) if message.HasField("head") else None,
        gathered=_discards(message.gathered),
        last_turn=message.last_turn,
        reshuffles=message.reshuffles,
        penalties=tuple(
            Penalty(one.seat, _PENALTY_RULES.get(one.rule, UNKNOWN), card, one.turn)
            for one in message.penalties
            for card in from_wire((one.card,))
        ),
    )


def _liverpool(message: view_pb2.LiverpoolFacts) -> LiverpoolFacts:
    return LiverpoolFacts(
        downs={one.seat: one.turn for one in message.downs},
        buys=tuple(message.buys),
        asked=tuple(message.asked),
        jokers_owed=message.jokers_owed,
        reshuffles=message.reshuffles,
    )
