"""The search for contracts: what a seat can lay to go down (L21 to L23)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from rummyarena_rules.cards import JOKER, Card
from rummyarena_rules.liverpool.check import contract_of, hand_of, is_last_deal, left_over
from rummyarena_rules.liverpool.facts import LiverpoolPublic, LiverpoolView
from rummyarena_rules.liverpool.groups import (
    Group,
    RunTerms,
    enough_for_sets,
    jokers_of,
    packed,
    positions_of,
    runs_in,
    sets_in,
    suit_part,
    suit_runs,
    without,
)
from rummyarena_rules.liverpool.melds import LAST_POSITION, too_close
from rummyarena_rules.liverpool.options import LiverpoolOptions
from rummyarena_rules.liverpool.scoring import values

_Groups: TypeAlias = tuple[Group, ...]

_NEVER: Final = 1000  # jokers


def downs(view: LiverpoolView, hand: Sequence[Card]) -> Iterator[_Groups]:
    """Yields contracts of the deal that a hand can lay, at least one if there is any, each once."""
    if is_last_deal(view.public):
        return _last_deal_downs(view.public, hand)
    return _contracts(view.public, hand)


def names_every_down(public: LiverpoolPublic) -> bool:
    """Tells whether `downs` yields all there are; otherwise all there are is none if it yields none."""
    return is_last_deal(public) or public.options.contract_size == "exact"


def can_go_down(view: LiverpoolView, extra: Card) -> bool:
    """Tells whether the hand with one more card can lay the contract."""
    return next(downs(view, [*hand_of(view), extra]), None) is not None


# --- deals 1 to 6 ----------------------------------------------------------------------------------------------------


def _contracts(public: LiverpoolPublic, hand: Sequence[Card]) -> Iterator[_Groups]:
    options, contract, have = public.options, contract_of(public), packed(hand)
    most = len(hand) - left_over(public).start
    if contract.least_cards > most or not enough_for_sets(have, contract.sets, options.min_naturals_set):
        return
    longer = options.contract_size == "at_least"
    sets = _dear_first(sets_in(have, options.min_naturals_set, longer=longer), options) if contract.sets else []
    runs = _dear_first(runs_in(have, _run_terms(options)), options) if contract.runs else []
    for laid_runs, left in _run_choices(have, runs, contract.runs, contract.sets, options):
        for laid_sets in _set_choices(left, sets, contract.sets, options):
            groups = (*laid_sets, *laid_runs)
            if sum(len(group.cards) for group in groups) <= most:
                yield groups


def _run_terms(options: LiverpoolOptions) -> RunTerms:
    if options.contract_size == "exact":
        return RunTerms(range(4, 5), options.min_naturals_run, every_way=True)
    # A longer run can be cut down to a minimal one, unless it would then come to lie right beside another.
    every_way = options.same_suit_runs == "not_consecutive"
    return RunTerms(range(4, options.run_max + 1), options.min_naturals_run, every_way)


def _dear_first(groups: Iterator[Group], options: LiverpoolOptions) -> list[Group]:
    """Sorts groups: few jokers first, then many points."""
    worth = values(options)
    return sorted(groups, key=lambda group: (group.jokers, -sum([worth[card] for card in group.cards])))


def _run_choices(
    have: int, runs: Sequence[Group], count: int, sets: int, options: LiverpoolOptions
) -> Iterator[tuple[_Groups, int]]:
    """Yields `count` runs that the cards allow together, none twice in another order, and the cards left by them."""
    if count == 0:
        yield (), have
        return
    for at, run in enumerate(runs):
        left = without(have, run.need)
        if left is None or (sets and not enough_for_sets(left, sets, options.min_naturals_set)):
            continue
        for rest, after in _run_choices(left, runs[at:], count - 1, sets, options):
            if not any(_too_close(options, run, other) for other in rest):
                yield (run, *rest), after


def _set_choices(have: int, sets: Sequence[Group], count: int, options: LiverpoolOptions) -> Iterator[_Groups]:
    """Yields `count` sets that the cards allow together, none twice in another order."""
    if count == 0:
        yield ()
        return
    if not enough_for_sets(have, count, options.min_naturals_set):
        return
    for at, one in enumerate(sets):
        left = without(have, one.need)
        if left is not None:
            for rest in _set_choices(left, sets[at:], count - 1, options):
                yield (one, *rest)


def _too_close(options: LiverpoolOptions, one: Group, other: Group) -> bool:
    return one.span is not None and other.span is not None and too_close(options, one.span, other.span)


# --- deal 7 ----------------------------------------------------------------------------------------------------------


def _last_deal_downs(public: LiverpoolPublic, hand: Sequence[Card]) -> Iterator[_Groups]:
    """Yields three runs that leave as many cards as L23 allows, none before one."""
    have, runs = packed(hand), contract_of(public).runs
    seen = set()
    for left in left_over(public):
        for leftover in sorted(set(hand)) if left else [None]:
            rest = have if leftover is None else have - packed([leftover])
            for groups in _covers(rest, len(hand) - left, runs, public.options):
                key = tuple(sorted(groups))
                if key not in seen:
                    seen.add(key)
                    yield groups


def _covers(have: int, total: int, runs: int, options: LiverpoolOptions) -> Iterator[_Groups]:
    """Yields the ways to make exactly `runs` runs of all `total` packed cards."""
    if runs == 0:
        yield ()
        return
    suits = [suit for suit in range(4) if suit_part(have, suit)]
    if len(suits) > runs or not 4 * runs <= total <= options.run_max * runs:
        return
    if _jokers_for_runs(have, suits, runs) > jokers_of(have):
        return
    longest = min(options.run_max, LAST_POSITION, total - 4 * (runs - 1))
    lengths = range(max(4, total - options.run_max * (runs - 1)), longest + 1)
    for run in _runs_from_lowest(have, suits[0], lengths, options.min_naturals_run, alone=len(suits) == runs):
        for rest in _covers(have - run.need, total - len(run.cards), runs - 1, options):
            if not any(_too_close(options, run, other) for other in rest):
                yield (run, *rest)


def _jokers_for_runs(have: int, suits: Sequence[int], runs: int) -> int:
    """Returns a number of jokers below which the naturals of some suits are not exactly so many runs in any case."""
    least = [0] + [_NEVER] * runs  # by the number of runs, for the suits so far
    for suit in suits:
        costs = _jokers_in_suit(suit_part(have, suit), runs)
        least = [
            min([least[before] + costs[count - before] for before in range(count)], default=_NEVER)
            for count in range(runs + 1)
        ]
    return least[runs]


def _jokers_in_suit(part: int, runs: int) -> list[int]:
    """Returns for each number of runs the jokers that the naturals of a suit ask for at least; its gaps, aces aside.

    Two runs leave the widest gap between them, three the two widest.
    """
    counts = [part >> 4 * rank & 15 for rank in range(13)]
    there = [rank for rank in range(12) if counts[rank]]
    gaps = sorted([high - low - 1 for low, high in pairwise(there)], reverse=True)
    copies = max(*counts[:12], (counts[12] + 1) // 2)
    return [sum(gaps[count - 1 :]) if count and copies <= count else _NEVER for count in range(runs + 1)]


def _runs_from_lowest(have: int, suit: int, lengths: range, least: int, *, alone: bool) -> Iterator[Group]:
    """Yields the runs that use the lowest natural of a suit, which some run has to; `alone`: and all others too."""
    part = suit_part(have, suit)
    lowest = next(rank for rank in range(13) if part >> 4 * rank & 15)
    pivots = {lowest + 2} if lowest < 12 else {1, LAST_POSITION}
    for run in suit_runs(suit, positions_of(part), jokers_of(have), RunTerms(lengths, least, every_way=True)):
        if without(have, run.need) is None or (alone and suit_part(run.need, suit) != part):
            continue
        if any(_has_natural_at(run, pivot) for pivot in pivots):
            yield run


def _has_natural_at(run: Group, position: int) -> bool:
    start = run.span.start if run.span else 0
    return start <= position < start + len(run.cards) and run.cards[position - start] is not JOKER
