"""Table positions of `liverpool` as states (notation.md 5.1)."""

from __future__ import annotations

from rummyarena_rules.cards import text_of
from rummyarena_rules.liverpool.facts import LiverpoolFacts, LiverpoolState
from rummyarena_rules.liverpool.melds import has_shape_of_set, natural_count, run_start, set_or_run
from rummyarena_rules.liverpool.options import LiverpoolOptions, decks
from rummyarena_rules.position import PlacedMeld, Position, PositionError, unplaced
from rummyarena_rules.ruleset import Reason
from rummyarena_rules.shoe import SEED_BYTES, deck
from rummyarena_rules.table import DiscardedCard, Phase, Private, Public, State, TableMeld


def state_of(position: Position, options: LiverpoolOptions, seats: int) -> LiverpoolState:
    """Builds the state of a table position; `PositionError` says what in it cannot be."""
    rest = unplaced(deck(decks(options, seats), options.jokers_per_deck), position)
    stock = [*position.stock, *(rest if position.rest == "stock" else ())]
    public = Public.at_start(options, seats, _facts(position, seats))
    public.deal, public.turn, public.turn_number = position.deal, position.turn, 1
    public.dealer = (position.turn - 1) % seats if position.dealer is None else position.dealer
    public.first = (public.dealer + 1) % seats
    public.phase = Phase(position.phase)
    public.stock_count = len(stock)
    public.discards = [DiscardedCard(one.card, None, 0) for one in position.discards]
    public.melds = [_meld(number, meld, options) for number, meld in enumerate(position.melds, 1)]
    public.hand_counts = [len(position.hands.get(seat, ())) for seat in range(seats)]
    public.totals = list(position.totals or [0] * seats)
    aside = tuple(rest) if position.rest == "aside" else ()
    public.aside_count = len(aside)
    privates = [Private(sorted(position.hands.get(seat, ()))) for seat in range(seats)]
    return State(public, privates, stock[::-1], aside, bytes(SEED_BYTES))


def _facts(position: Position, seats: int) -> LiverpoolFacts:
    down_turns = [0 if seat in position.down else None for seat in range(seats)]
    return LiverpoolFacts(down_turns, [position.buys.get(seat, 0) for seat in range(seats)])


def _meld(number: int, placed: PlacedMeld, options: LiverpoolOptions) -> TableMeld:
    """Reads a meld as it may stand on a table: what is a set or a run when laid, or has the shape of one."""
    start = set_or_run(placed.cards, options)
    if isinstance(start, Reason):
        start = run_start(placed.cards)
    if not natural_count(placed.cards) or not (start or has_shape_of_set(placed.cards)):
        raise PositionError(f"position.melds[{number - 1}]: {text_of(placed.cards)} is neither a set nor a run")
    if start:
        return TableMeld(placed.owner, placed.cards, placed.placers, start)
    pairs = sorted(zip(placed.cards, placed.placers, strict=True), key=lambda pair: pair[0])
    return TableMeld(placed.owner, tuple(card for card, _ in pairs), tuple(seat for _, seat in pairs), 0)
