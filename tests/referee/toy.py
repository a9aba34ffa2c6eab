"""A toy game in which several seats decide at once: the smallest ruleset with sealed windows.

A turn: the seat on turn draws, all others are asked whether they buy, the one nearest after it that says so scores a
point, the seat gets its card and discards. Its moves and events are those of liverpool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rummyarena_rules.events import (
    CardTurnedUp,
    DealEnded,
    DealStarted,
    Discarded,
    DrawDeclared,
    Event,
    HandDealt,
    Seat,
    StockDrawn,
    TurnStarted,
    WindowClosed,
    WindowOpened,
)
from rummyarena_rules.moves import Buy, Discard, Draw, Move, Pass
from rummyarena_rules.options import read_options, whole
from rummyarena_rules.position import Position
from rummyarena_rules.ruleset import Candidates, Decision, NextDeal, Reason, Refusal, Result
from rummyarena_rules.shoe import shuffled_shoe
from rummyarena_rules.table import Phase, Private, Public, State, View, ranks_of


@dataclass(frozen=True, slots=True)
class ToyOptions:
    turns: int = whole(4, least=1, most=100, meaning="turns of a deal")
    deals: int = whole(1, least=1, most=100, meaning="deals of the game")


@dataclass(slots=True)
class ToyFacts:
    asked: tuple[Seat, ...] = ()
    bought: list[int] = field(default_factory=list)

    def copy(self) -> ToyFacts:
        return ToyFacts(self.asked, self.bought.copy())


ToyPublic = Public[ToyOptions, ToyFacts]
ToyState = State[ToyOptions, ToyFacts]
ToyView = View[ToyOptions, ToyFacts]

_MOVES: dict[Phase, tuple[type[Move], ...]] = {Phase.DRAW: (Draw,), Phase.BUY: (Buy, Pass), Phase.PLAY: (Discard,)}


class Toy:
    name = "liverpool"
    version = 1
    seats = range(2, 9)
    lowest_wins = False
    presets: Mapping[str, Mapping[str, object]] = {}
    options_kind = ToyOptions

    def configure(self, raw: Mapping[str, object], seats: int) -> ToyOptions | list[Refusal]:
        return read_options(ToyOptions, raw)

    def start(self, options: ToyOptions, seats: int, seed: bytes) -> ToyState:
        public = Public.at_start(options, seats, ToyFacts(bought=[0] * seats))
        return State(public, [Private() for _ in range(seats)], [], (), seed)

    def deal(self, state: ToyState, opening: NextDeal | None = None) -> tuple[Event, ...]:
        deal, seats = state.public.deal + 1, state.public.seats
        shoe = shuffled_shoe(state.seed, deal)
        hands = [HandDealt(seat, 1, (shoe[seat],)) for seat in range(seats)]
        return (
            DealStarted(deal, 0, 1, 0, shoe),
            *hands,
            CardTurnedUp(shoe[seats], len(shoe) - seats - 1),
            TurnStarted(0),
        )

    def evolve(self, state: ToyState, event: Event) -> None:
        public = state.public
        match event:
            case DealStarted():
                public.deal, public.turn_number, public.facts.bought = event.deal, 0, [0] * public.seats
                state.stock = list(reversed((event.shoe or ())[public.seats + 1 :]))
            case HandDealt():
                state.privates[event.seat] = Private(list(event.cards or ()))
            case TurnStarted():
                public.turn, public.turn_number, public.phase = event.seat, public.turn_number + 1, Phase.DRAW
            case WindowOpened():
                public.phase, public.facts.asked = Phase.BUY, event.seats
            case WindowClosed():
                public.facts.asked = ()
                if event.buyer is not None:
                    public.facts.bought[event.buyer] += 1
            case StockDrawn():
                state.privates[event.seat].hand.append(state.stock.pop())
                public.phase = Phase.PLAY
            case Discarded():
                state.privates[event.seat].hand.remove(event.card)
            case DealEnded():
                public.phase, public.totals, public.over = Phase.OVER, list(event.totals), event.over
            case _:
                pass

    def observe(self, view: ToyView, event: Event) -> None:
        raise NotImplementedError

    def view(self, state: ToyState, seat: Seat | None, *, answered: bool = False) -> ToyView:
        return View(state.public, seat, None if seat is None else state.privates[seat], answered)

    def decisions(self, state: ToyState) -> Mapping[Seat, Decision]:
        public = state.public
        if public.phase is Phase.OVER:
            return {}
        seats = public.facts.asked if public.phase is Phase.BUY else (public.turn,)
        return dict.fromkeys(seats, Decision(("draw",)))

    def resolve(self, state: ToyState, answers: Mapping[Seat, Move | None]) -> tuple[Event, ...]:
        public = state.public
        following = [(public.turn + step) % public.seats for step in range(1, public.seats)]
        match public.phase:
            case Phase.DRAW:
                return DrawDeclared(public.turn), WindowOpened(tuple(sorted(following)))
            case Phase.BUY:
                buyer = next((seat for seat in following if isinstance(answers[seat], Buy)), None)
                return WindowClosed(buyer), StockDrawn(public.turn, state.stock[-1])
            case _:
                discard = answers[public.turn]
                assert isinstance(discard, Discard)
                return Discarded(public.turn, discard.card), self._after_turn(public, following[0])

    def _after_turn(self, public: ToyPublic, following: Seat) -> Event:
        if public.turn_number < public.options.turns:
            return TurnStarted(following)
        scores = tuple(public.facts.bought)
        totals, over = self.settle(public, scores)
        return DealEnded("out", None, None, False, ((),) * public.seats, scores, totals, over)

    def result(self, state: ToyState) -> Result | None:
        if not state.public.over:
            return None
        ranks = ranks_of(state.public.totals, high_wins=True)
        return Result(ranks, tuple(state.public.totals), tuple(seat for seat, rank in enumerate(ranks) if rank == 1))

    def check(self, view: ToyView, move: Move) -> Refusal | None:
        if not isinstance(move, _MOVES[view.public.phase]):
            return Refusal(Reason.WRONG_PHASE, "this move does not belong to the phase")
        if isinstance(move, Discard) and view.private and move.card not in view.private.hand:
            return Refusal(Reason.NOT_IN_HAND, "this card is not in the hand")
        return None

    def candidates(self, view: ToyView, limit: int) -> Candidates:
        moves = [self.fallback(view)] + ([Buy()] if view.public.phase is Phase.BUY else [])
        return Candidates(tuple(moves[:limit]), complete=False)

    def fallback(self, view: ToyView) -> Move:
        match view.public.phase:
            case Phase.DRAW:
                return Draw()
            case Phase.BUY:
                return Pass()
            case _:
                assert view.private is not None
                return Discard(view.private.hand[-1])

    def next_deal(self, public: ToyPublic) -> NextDeal | None:
        raise NotImplementedError

    def opening(self, public: ToyPublic, deal: int, dealer: Seat, direction: int) -> NextDeal:
        raise NotImplementedError

    def settle(self, public: ToyPublic, scores: Sequence[int]) -> tuple[tuple[int, ...], bool]:
        totals = tuple(total + score for total, score in zip(public.totals, scores, strict=True))
        return totals, public.deal == public.options.deals

    def state_of(self, position: Position, options: Any, seats: int) -> ToyState:
        raise NotImplementedError


TOY = Toy()
