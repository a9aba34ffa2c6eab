"""Points and accounts of `liverpool` (liverpool.md 7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from rummyarena_rules.cards import CARDS, JOKER, Card
from rummyarena_rules.events import Seat
from rummyarena_rules.liverpool.facts import LiverpoolPublic
from rummyarena_rules.liverpool.options import DEALS, LiverpoolOptions
from rummyarena_rules.ruleset import NextDeal, Result

_TEN = 8  # its rank
_ACE = 12


def _value(card: Card, options: LiverpoolOptions) -> int:
    if card is JOKER:
        return options.joker_points
    if card.rank == _ACE:
        return options.ace_points
    return options.face_points if card.rank > _TEN else card.rank + 2


@cache
def values(options: LiverpoolOptions) -> tuple[int, ...]:
    """Returns the value of each card, by its number (L30)."""
    return tuple(_value(card, options) for card in CARDS)


def hand_points(options: LiverpoolOptions, hand: Iterable[Card]) -> int:
    """Returns what cards in hand count (L30)."""
    worth = values(options)
    return sum([worth[card] for card in hand])


def settle(public: LiverpoolPublic, scores: Sequence[int]) -> tuple[tuple[int, ...], bool]:
    """Returns the totals after the deal and whether the game is over (L30, L31)."""
    return tuple(total + score for total, score in zip(public.totals, scores, strict=True)), public.deal >= DEALS


def place(public: LiverpoolPublic) -> Result:
    """Ranks the totals of a game that is over, the lowest first (L32)."""
    # L32, deal7_score: the scores of the last deal are card points alone, for a cut changes totals only.
    last = public.result.scores if public.result and public.options.tie_break == "deal7_score" else (0,) * public.seats
    keys = list(zip(public.totals, last, strict=True))
    ordered = sorted(keys)
    ranks = tuple(ordered.index(key) + 1 for key in keys)
    return Result(ranks, tuple(public.totals), tuple(seat for seat, rank in enumerate(ranks) if rank == 1))


def opening(public: LiverpoolPublic, deal: int, dealer: Seat) -> NextDeal:
    """Returns how a deal opens: play is clockwise, the seat on the dealer's left starts (L3)."""
    return NextDeal(deal, dealer, 1, (dealer + 1) % public.seats)


def next_deal(public: LiverpoolPublic) -> NextDeal | None:
    """Returns what follows the deal that is over (L3, L31)."""
    if public.over:
        return None
    if public.deal == 0:
        return opening(public, 1, 0)
    return opening(public, public.deal + 1, (public.dealer + 1) % public.seats)
