"""What follows a move of `thai`: the events up to the next decision or the end of the deal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from rummyarena_rules import fold
from rummyarena_rules.cards import Card, mask_of
from rummyarena_rules.events import (
    CardsSetAside,
    CardTurnedUp,
    DealEnded,
    DealStarted,
    Discarded,
    DiscardsTaken,
    Event,
    HandDealt,
    Knocked,
    LaidOff,
    MeldLaid,
    Passed,
    PenaltyCharged,
    Seat,
    StockDrawn,
    StockReshuffled,
    TurnStarted,
)
from rummyarena_rules.moves import Discard, Draw, Knock, LayOff, Meld, Move, Pass, Take, TakeOnto
from rummyarena_rules.ruleset import NextDeal
from rummyarena_rules.shoe import reshuffled, shuffled_shoe
from rummyarena_rules.table import DiscardedCard, TableMeld
from rummyarena_rules.thai import scoring
from rummyarena_rules.thai.check import row_index
from rummyarena_rules.thai.facts import FOOLISH, ThaiPublic, ThaiState, note
from rummyarena_rules.thai.melds import MELD_STARTS, completes_meld, extensions, neighbours, split_layoff

HAND_SIZES: Final = {2: 11, 3: 9, 4: 7}


def evolve(state: ThaiState, event: Event) -> None:
    """Applies an event to a state."""
    note(state.public, event)
    fold.evolve(state, event)


def deal_events(state: ThaiState, opening: NextDeal) -> tuple[Event, ...]:
    """Returns the events that set a deal up, to the first decision (T5, T6)."""
    seats, options = state.public.seats, state.public.options
    shoe = shuffled_shoe(state.seed, opening.deal)
    size = HAND_SIZES[seats]
    dealt = seats * size
    events: list[Event] = [DealStarted(opening.deal, opening.dealer, opening.direction, opening.first, shoe)]
    for turn in range(seats):  # T5: one at a time, beginning with dealer + direction
        seat = (opening.dealer + opening.direction * (turn + 1)) % seats
        events.append(HandDealt(seat, size, tuple(sorted(shoe[turn:dealt:seats]))))
    events.append(CardTurnedUp(shoe[dealt], len(shoe) - dealt - 1))
    if options.two_player_removed_cards:
        events.append(CardsSetAside(options.two_player_removed_cards))
    return (*events, TurnStarted(opening.first))


def resolve(state: ThaiState, move: Move) -> tuple[Event, ...]:
    """Returns what follows a legal move of the seat on turn."""
    return tuple(_RESOLVERS[type(move)](state, state.public.turn, move))


def _draw(state: ThaiState, seat: Seat, _: Draw) -> list[Event]:
    return [StockDrawn(seat, state.stock[-1])]


def _pass(state: ThaiState, seat: Seat, _: Pass) -> list[Event]:
    return _exhausted(state, [Passed(seat)])  # T27


def _take(state: ThaiState, seat: Seat, move: Take) -> list[Event]:
    gathered = _gathered(state.public, move.target)
    events: list[Event] = [
        DiscardsTaken(seat, tuple(one.card for one in gathered)),
        _laid(seat, len(state.public.melds) + 1, move.cards),
        *_take_charges(state.public, gathered, mask_of(move.cards)),
    ]
    left = len(state.privates[seat].hand) + len(gathered) - len(move.cards)
    return _knock_if_one_left(state, seat, events, left)


def _take_onto(state: ThaiState, seat: Seat, move: TakeOnto) -> list[Event]:
    gathered = _gathered(state.public, move.target)
    events: list[Event] = [
        DiscardsTaken(seat, tuple(one.card for one in gathered)),
        _laid_off(seat, move.meld, state.public.melds[move.meld - 1], (move.target,)),
    ]
    return _knock_if_one_left(state, seat, events, len(state.privates[seat].hand) + len(gathered) - 1)


def _meld(state: ThaiState, seat: Seat, move: Meld) -> list[Event]:
    laid = _laid(seat, len(state.public.melds) + 1, move.cards)
    return _knock_if_one_left(state, seat, [laid], len(state.privates[seat].hand) - len(move.cards))


def _layoff(state: ThaiState, seat: Seat, move: LayOff) -> list[Event]:
    laid = _laid_off(seat, move.meld, state.public.melds[move.meld - 1], move.cards)
    return _knock_if_one_left(state, seat, [laid], len(state.privates[seat].hand) - len(move.cards))


def _knock(state: ThaiState, seat: Seat, move: Knock) -> list[Event]:
    melds = state.public.melds.copy()
    events: list[Event] = []
    for part in move.parts:
        if isinstance(part, Meld):
            laid = _laid(seat, len(melds) + 1, part.cards)
            melds.append(TableMeld(seat, laid.cards, (seat,) * len(laid.cards), laid.start))
            events.append(laid)
        else:
            laid_off = _laid_off(seat, part.meld, melds[part.meld - 1], part.cards)
            melds[part.meld - 1] = fold.extended(melds[part.meld - 1], seat, laid_off.low, laid_off.high)
            events.append(laid_off)
    return _knock_if_one_left(state, seat, events, 1)


def _discard(state: ThaiState, seat: Seat, move: Discard) -> list[Event]:
    public = state.public
    events: list[Event] = [Discarded(seat, move.card), *_discard_charges(public, seat, move.card)]
    following = (seat + public.direction) % public.seats
    if public.facts.last_turn:  # T27
        return _exhausted(state, events)
    if public.stock_count:
        return [*events, TurnStarted(following)]
    return _stock_ran_out(state, events, following)


def _stock_ran_out(state: ThaiState, events: list[Event], following: Seat) -> list[Event]:
    """Continues a turn that ended with an empty stock (T26); the row has one card more than before `events`."""
    public = state.public
    match public.options.stock_exhausted:
        case "immediate":
            return _exhausted(state, events)
        case "reshuffle" if public.facts.reshuffles == 0 and public.discards:
            old = [one.card for one in public.discards]
            new = reshuffled(state.seed, public.deal, 1, old)
            return [*events, StockReshuffled(len(new), new), TurnStarted(following)]
        case _:
            return [*events, TurnStarted(following, last=True)]


# --- charges ---------------------------------------------------------------------------------------------------------


def _discard_charges(public: ThaiPublic, seat: Seat, card: Card) -> Iterator[PenaltyCharged]:
    options = public.options
    if options.layoff_discard_penalty and any(  # T45
        extensions(meld.cards, meld.start) & card.bit for meld in public.melds
    ):
        yield PenaltyCharged(seat, "layoff_discard_penalty", card)
    if options.completing_discard_penalty and completes_meld(card, mask_of(one.card for one in public.discards)):  # T47
        yield PenaltyCharged(seat, "completing_discard_penalty", card)


def _take_charges(public: ThaiPublic, gathered: Sequence[DiscardedCard], meld: int) -> Iterator[PenaltyCharged]:
    """Yields the charges of a take (T46 b, T48, T49): only cards in the meld count, not what could be taken (T51)."""
    options = public.options
    used = [one for one in gathered if meld & one.card.bit]
    if options.head_card:
        yield from _neighbour_charges(public, "head_card", used, [one for one in used if one.card is public.facts.head])
    spetos = [one for one in used if one.card in scoring.SPETOS]
    if options.speto_neighbour_penalty:
        yield from _neighbour_charges(public, "speto_neighbour_penalty", used, spetos)
    if options.speto_discard_penalty:
        for speto in spetos:
            earlier = mask_of(one.card for one in used[: used.index(speto)])
            if speto.seat is not None and _is_live(public, speto) and earlier & neighbours(speto.card):  # T49
                yield PenaltyCharged(speto.seat, "speto_discard_penalty", speto.card)


def _neighbour_charges(
    public: ThaiPublic, rule: str, used: Sequence[DiscardedCard], centres: Sequence[DiscardedCard]
) -> Iterator[PenaltyCharged]:
    """Charges every live discard of the meld that is a neighbour of a centre and came later (T50)."""
    for centre in centres:
        for one in used[used.index(centre) + 1 :]:
            if one.seat is not None and _is_live(public, one) and neighbours(centre.card) & one.card.bit:
                yield PenaltyCharged(one.seat, rule, one.card)


def _is_live(public: ThaiPublic, discard: DiscardedCard) -> bool:
    """Tells whether another seat discarded a card and has not begun a turn since (T43)."""
    return discard.seat is not None and public.turn_number - discard.turn < public.seats


# --- the end of the deal ---------------------------------------------------------------------------------------------


def _knock_if_one_left(state: ThaiState, seat: Seat, events: list[Event], left: int) -> list[Event]:
    """Ends the deal if one card is left in hand (T24)."""
    if left != 1:
        return events
    after = _after(state, events)
    facts = after.public.facts
    dark = facts.birth_turns[seat] in (None, after.public.turn_number)  # T25
    knock_card = after.privates[seat].hand[0]
    closing: list[Event] = [Knocked(seat, dark, knock_card), *_foolish_charge(after.public)]
    _apply(after, closing)
    return [*events, *closing, _ended(after, seat, dark=dark)]


def _foolish_charge(public: ThaiPublic) -> Iterator[PenaltyCharged]:
    """Yields the charge against the foolish seat (T38)."""
    gathered = public.facts.gathered
    if len(gathered) == 1 and gathered[0].seat is not None and gathered[0].turn == public.turn_number - 1:
        yield PenaltyCharged(gathered[0].seat, FOOLISH, gathered[0].card)


def _exhausted(state: ThaiState, events: list[Event]) -> list[Event]:
    return [*events, _ended(_after(state, events), None, dark=False)]


def _ended(after: ThaiState, knocker: Seat | None, *, dark: bool) -> DealEnded:
    """Scores a deal; `after`: the state with all its other events."""
    scores = scoring.deal_scores(after, knocker, dark=dark)
    totals, over = scoring.settle(after.public, scores)
    hands = tuple(() if seat == knocker else tuple(one.hand) for seat, one in enumerate(after.privates))
    if knocker is None:
        return DealEnded("exhausted", None, None, False, hands, scores, totals, over)
    return DealEnded("knock", knocker, after.privates[knocker].hand[0], dark, hands, scores, totals, over)


def _after(state: ThaiState, events: Sequence[Event]) -> ThaiState:
    after = state.copy()
    _apply(after, events)
    return after


def _apply(state: ThaiState, events: Sequence[Event]) -> None:
    for event in events:
        evolve(state, event)


# --- shared parts ----------------------------------------------------------------------------------------------------


def _gathered(public: ThaiPublic, target: Card) -> list[DiscardedCard]:
    at = row_index(public, target)
    if at is None:
        raise ValueError(f"{target} is not in the row")
    return public.discards[at:]


def _laid(seat: Seat, meld: int, some: tuple[Card, ...]) -> MeldLaid:
    return MeldLaid(seat, meld, tuple(sorted(some)), MELD_STARTS[mask_of(some)])


def _laid_off(seat: Seat, number: int, meld: TableMeld, some: tuple[Card, ...]) -> LaidOff:
    split = split_layoff(meld, some)
    if split is None:
        raise ValueError(f"the cards do not fit m{number}")
    return LaidOff(seat, number, *split)


_RESOLVERS: Final[dict[type[Move], Callable[[ThaiState, Seat, Any], list[Event]]]] = {
    Draw: _draw,
    Pass: _pass,
    Take: _take,
    TakeOnto: _take_onto,
    Meld: _meld,
    LayOff: _layoff,
    Discard: _discard,
    Knock: _knock,
}
