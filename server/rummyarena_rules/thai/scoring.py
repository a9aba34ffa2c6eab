"""Points and accounts of `thai` (thai.md 6 and 7, T44, T46, T53)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rummyarena_rules.cards import CARDS, Card
from rummyarena_rules.cards import card as card_of
from rummyarena_rules.events import Seat
from rummyarena_rules.ruleset import NextDeal, Result
from rummyarena_rules.table import ranks_of
from rummyarena_rules.thai.facts import FOOLISH, ThaiPublic, ThaiState
from rummyarena_rules.thai.options import ThaiOptions

SPETOS: Final = (card_of("2C"), card_of("QS"))
_SPETO_POINTS: Final = 50
_SPECIAL_POINTS: Final = 100  # T44, T46: a speto as knock card or as head
_HEAD_POINTS: Final = 50


def _value(card: Card) -> int:
    if card in SPETOS:
        return _SPETO_POINTS
    return 15 if card.rank == 12 else 10 if card.rank >= 8 else 5


VALUES: Final = tuple(map(_value, CARDS[:52]))
"""T29: the value of each card, by its number."""


def hand_points(hand: Iterable[Card]) -> int:
    """Returns what cards in hand count (T31)."""
    return sum([VALUES[card] for card in hand])


def table_points(public: ThaiPublic) -> list[int]:
    """Returns for each seat what its cards on the table count (T30, T46)."""
    points = [0] * public.seats
    to_owner = public.options.layoff_points_to == "meld_owner"
    for meld in public.melds:
        for card, placer in zip(meld.cards, meld.placers, strict=True):
            points[meld.owner if to_owner else placer] += _table_value(public, card)
    return points


def _table_value(public: ThaiPublic, card: Card) -> int:
    if public.options.head_card and card is public.facts.head:  # T46 (a)
        return _SPECIAL_POINTS if card in SPETOS else _HEAD_POINTS
    return VALUES[card]


def penalty_points(public: ThaiPublic) -> list[int]:
    """Returns for each seat what its charges of this deal cost, each on its own (T35, T36, T52)."""
    points = [0] * public.seats
    for penalty in public.facts.penalties:
        foolish = penalty.rule == FOOLISH
        points[penalty.seat] += public.options.foolish_penalty if foolish else public.options.penalty_points
    return points


def knock_card_points(options: ThaiOptions, card: Card) -> int:
    """Returns what the knock card counts (T32, T44)."""
    if options.speto_knock_100 and card in SPETOS:
        return _SPECIAL_POINTS
    return options.knock_card_points


def deal_scores(state: ThaiState, knocker: Seat | None, *, dark: bool) -> tuple[int, ...]:
    """Returns the score of each seat in a deal that has just ended (T37); a knocker holds the knock card alone."""
    public, options = state.public, state.public.options
    table, penalties = table_points(public), penalty_points(public)
    scores = []
    for seat, private in enumerate(state.privates):
        if seat == knocker:
            multiplier = options.dark_multiplier if dark else 1
            knock_card = knock_card_points(options, private.hand[0])
            scores.append(multiplier * (table[seat] + knock_card) - penalties[seat])
        else:
            rotten = knocker is not None and public.facts.birth_turns[seat] is None  # T34
            multiplier = options.rotten_dark_multiplier if rotten else 1
            scores.append(table[seat] - multiplier * hand_points(private.hand) - penalties[seat])
    return tuple(scores)


def settle(public: ThaiPublic, scores: Sequence[int]) -> tuple[tuple[int, ...], bool]:
    """Returns the totals after the deal and whether the game is over (T39 to T41)."""
    options = public.options
    totals = tuple(total + score for total, score in zip(public.totals, scores, strict=True))
    best = max(totals)
    decided = totals.count(best) == 1 or options.target_tie == "shared"
    capped = options.max_deals > 0 and public.deal >= options.max_deals
    return totals, capped or (best >= options.target_score and decided)


def place(totals: Sequence[int]) -> Result:
    """Ranks final totals, the highest first (T42)."""
    ranks = ranks_of(totals, high_wins=True)
    return Result(ranks, tuple(totals), tuple(seat for seat, rank in enumerate(ranks) if rank == 1))


def opening(public: ThaiPublic, deal: int, dealer: Seat, direction: int, knocker: Seat | None = None) -> NextDeal:
    """Returns how a deal opens: its first seat by T4."""
    match public.options.first_player:
        case "dealer":
            first = dealer
        case "last_knocker" if knocker is not None:
            first = knocker
        case _:
            first = (dealer + direction) % public.seats
    return NextDeal(deal, dealer, direction, first)


def next_deal(public: ThaiPublic) -> NextDeal | None:
    """Returns what follows the deal that is over: first the direction is settled, then the dealer moves (T4, T53)."""
    if public.over:
        return None
    if public.deal == 0:
        return opening(public, 1, 0, 1)  # T3, T4: seat 0 deals first, and clockwise
    direction = _next_direction(public)
    result = public.result
    knocker = result.seat if result is not None and result.end == "knock" else None
    return opening(public, public.deal + 1, (public.dealer + direction) % public.seats, direction, knocker)


def _next_direction(public: ThaiPublic) -> int:
    foolish = any(penalty.rule == FOOLISH for penalty in public.facts.penalties)
    match public.options.foolish_reversal:
        case "persist":
            return -public.direction if foolish else public.direction
        case "next_deal_only":
            return -1 if foolish else 1
        case "off":
            return public.direction
