"""Table positions of `thai` as states (notation.md 5.1)."""

from __future__ import annotations

from rummyarena_rules.cards import STANDARD_DECK, mask_of, text_of
from rummyarena_rules.position import PlacedMeld, Position, PositionError, unplaced
from rummyarena_rules.shoe import SEED_BYTES
from rummyarena_rules.table import DiscardedCard, Phase, Private, Public, State, TableMeld
from rummyarena_rules.thai.facts import ThaiFacts, ThaiState
from rummyarena_rules.thai.melds import MELD_STARTS
from rummyarena_rules.thai.options import ThaiOptions


def state_of(position: Position, options: ThaiOptions, seats: int) -> ThaiState:
    """Builds the state of a table position; `PositionError` says what in it cannot be."""
    rest = unplaced(STANDARD_DECK, position)
    stock = [*position.stock, *(rest if position.rest == "stock" else ())]
    public = Public.at_start(options, seats, _facts(position, options, seats, len(stock)))
    public.deal, public.direction, public.turn = position.deal, position.direction, position.turn
    public.dealer = (position.turn - position.direction) % seats if position.dealer is None else position.dealer
    public.first = (public.dealer + public.direction) % seats
    public.turn_number = _turn_number(position)
    public.phase = Phase(position.phase)
    public.stock_count = len(stock)
    public.discards = _row(position, seats, public.turn_number)
    public.melds = [_meld(number, meld) for number, meld in enumerate(position.melds, 1)]
    public.hand_counts = [len(position.hands.get(seat, ())) for seat in range(seats)]
    public.totals = list(position.totals or [0] * seats)
    aside = tuple(rest) if position.rest == "aside" else ()
    public.aside_count = len(aside)
    privates = [Private(sorted(position.hands.get(seat, ()))) for seat in range(seats)]
    return State(public, privates, stock[::-1], aside, bytes(SEED_BYTES))


def _facts(position: Position, options: ThaiOptions, seats: int, stock_count: int) -> ThaiFacts:
    facts = ThaiFacts([0 if seat in position.born else None for seat in range(seats)])
    heads = [one.card for one in position.discards if one.head]
    if len(heads) > 1 or (heads and not position.discards[0].head):
        raise PositionError("position.discards: the head (*) is one card, the oldest of the row")
    facts.head = heads[0] if heads else None
    facts.last_turn = _last_turn(position, options, stock_count)
    return facts


def _last_turn(position: Position, options: ThaiOptions, stock_count: int) -> bool:
    empty_before_draw = position.phase == "draw" and stock_count == 0
    if position.last_turn is not None:
        if empty_before_draw and not position.last_turn:
            raise PositionError("position.last_turn: a turn that begins with an empty stock is the last one")
        return position.last_turn
    return empty_before_draw and options.stock_exhausted != "immediate"


def _turn_number(position: Position) -> int:
    """Returns a turn late enough for all discards; the head alone in the row tells the first turn (notation.md 5.1)."""
    if position.phase == "draw" and len(position.discards) == 1 and position.discards[0].head:
        return 1
    return 1 + max([1, *(one.ago for one in position.discards if one.seat is not None)])


def _row(position: Position, seats: int, turn_number: int) -> list[DiscardedCard]:
    row = []
    for at, one in enumerate(position.discards):
        if one.seat is None:
            row.append(DiscardedCard(one.card, None, 0))
            continue
        if (position.turn - one.ago * position.direction) % seats != one.seat:
            raise PositionError(
                f"position.discards[{at}]: seat {one.seat} was not on turn {one.ago} turns ago; "
                f"seat {(position.turn - one.ago * position.direction) % seats} was"
            )
        row.append(DiscardedCard(one.card, one.seat, turn_number - one.ago))
    return row


def _meld(number: int, placed: PlacedMeld) -> TableMeld:
    start = MELD_STARTS.get(mask_of(placed.cards))
    if start is None or len(set(placed.cards)) != len(placed.cards):
        raise PositionError(f"position.melds[{number - 1}]: {text_of(placed.cards)} is neither a set nor a run")
    placers = dict(zip(placed.cards, placed.placers, strict=True))
    order = tuple(sorted(placed.cards))
    return TableMeld(placed.owner, order, tuple(placers[card] for card in order), start)
