"""The search for contracts: what a seat can lay to go down (L21 to L23)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count, pairwise
from typing import Final, Generic, TypeAlias, TypeVar

from rummyarena_rules.cards import Card
from rummyarena_rules.liverpool.check import contract_of, hand_of, is_last_deal, left_over
from rummyarena_rules.liverpool.facts import LiverpoolPublic, LiverpoolView
from rummyarena_rules.liverpool.groups import (
    ACE_POSITIONS,
    Group,
    RunTerms,
    aces_of,
    enough_for_sets,
    jokers_of,
    packed,
    positions_of,
    runs_around,
    runs_by_jokers,
    sets_by_jokers,
    suit_part,
    without,
)
from rummyarena_rules.liverpool.melds import LAST_POSITION, too_close
from rummyarena_rules.liverpool.options import Contract, LiverpoolOptions
from rummyarena_rules.liverpool.scoring import values

_T = TypeVar("_T")
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
    public, hand = view.public, [*hand_of(view), extra]
    if is_last_deal(public):
        return next(_last_deal_downs(public, hand), None) is not None
    # `_run_choices` leaves enough cards for the sets, so that there is no need to look for them.
    return next(_run_choices(public, packed(hand), _most_laid(public, hand)), None) is not None


# --- deals 1 to 6 ----------------------------------------------------------------------------------------------------


class _Lazily(Generic[_T]):
    """A sequence whose items are made when they are asked for; mostly the first few are all that it takes."""

    def __init__(self, items: Iterator[_T]) -> None:
        self._items = items
        self._known: list[_T] = []

    def since(self, first: int) -> Iterator[tuple[int, _T]]:
        """Yields the items from index `first` on, each with its index."""
        for at in count(first):
            if at == len(self._known):
                try:
                    self._known.append(next(self._items))
                except StopIteration:
                    return
            yield at, self._known[at]


def _contracts(public: LiverpoolPublic, hand: Sequence[Card]) -> Iterator[_Groups]:
    options, wanted, most = public.options, contract_of(public).sets, _most_laid(public, hand)
    have = packed(hand)
    longer = options.contract_size == "at_least"
    sets = _Lazily(_dear_first(sets_by_jokers(have, options.min_naturals_set, longer=longer), options))
    for laid_runs, left in _run_choices(public, have, most):
        for laid_sets in _sets_among(left, sets, 0, wanted, options):
            groups = (*laid_sets, *laid_runs)
            if sum([len(group.cards) for group in groups]) <= most:
                yield groups


def _most_laid(public: LiverpoolPublic, hand: Sequence[Card]) -> int:
    """Returns how many cards of a hand a down may lay."""
    return len(hand) - left_over(public).start


def _run_choices(public: LiverpoolPublic, have: int, most: int) -> Iterator[tuple[_Groups, int]]:
    """Yields the runs of a contract that packed cards allow, at `most` so many laid, and the cards left by them.

    What is left is always enough for the sets.
    """
    options, contract = public.options, contract_of(public)
    if contract.least_cards > most or not enough_for_sets(have, contract.sets, options.min_naturals_set):
        return
    runs = _Lazily(_dear_first(runs_by_jokers(have, _run_terms(options, most - contract.least_cards)), options))
    for laid, left in _runs_among(have, runs, 0, contract, options):
        if 3 * contract.sets + sum([len(run.cards) for run in laid]) <= most:
            yield laid, left


def _run_terms(options: LiverpoolOptions, spare: int) -> RunTerms:
    """Returns what runs to look for if all groups together may be longer than need be by `spare` cards."""
    if options.contract_size == "exact":
        return RunTerms(range(4, 5), options.min_naturals_run, every_way=True)
    # A longer run can be cut down to a minimal one, unless it would then come to lie right beside another.
    every_way = options.same_suit_runs == "not_consecutive"
    return RunTerms(range(4, min(options.run_max, 4 + spare) + 1), options.min_naturals_run, every_way)


def _dear_first(groups: Iterable[list[Group]], options: LiverpoolOptions) -> Iterator[Group]:
    """Yields groups that come by their number of jokers in order: few jokers first, then many points."""
    worth = values(options)
    for equals in groups:
        yield from sorted(equals, key=lambda group: -sum([worth[card] for card in group.cards]))


def _runs_among(
    have: int, runs: _Lazily[Group], first: int, contract: Contract, options: LiverpoolOptions
) -> Iterator[tuple[_Groups, int]]:
    """Yields the runs of a contract, none twice in another order, and the cards left by them."""
    if contract.runs == 0:
        yield (), have
        return
    others = Contract(contract.sets, contract.runs - 1)
    for at, run in runs.since(first):
        left = without(have, run.need)
        if left is None or (contract.sets and not enough_for_sets(left, contract.sets, options.min_naturals_set)):
            continue
        for rest, after in _runs_among(left, runs, at, others, options):
            if not any(_too_close(options, run, other) for other in rest):
                yield (run, *rest), after


def _sets_among(
    have: int, sets: _Lazily[Group], first: int, wanted: int, options: LiverpoolOptions
) -> Iterator[_Groups]:
    """Yields so many sets that the cards allow together, none twice in another order."""
    if wanted == 0:
        yield ()
        return
    if not enough_for_sets(have, wanted, options.min_naturals_set):
        return
    for at, one in sets.since(first):
        left = without(have, one.need)
        if left is not None:
            for rest in _sets_among(left, sets, at, wanted - 1, options):
                yield (one, *rest)


def _too_close(options: LiverpoolOptions, one: Group, other: Group) -> bool:
    return one.span is not None and other.span is not None and too_close(options, one.span, other.span)


# --- deal 7 ----------------------------------------------------------------------------------------------------------


def _last_deal_downs(public: LiverpoolPublic, hand: Sequence[Card]) -> Iterator[_Groups]:
    """Yields three runs that leave as many cards as L23 allows, none before one."""
    have, runs = packed(hand), contract_of(public).runs
    covers = _Covers(public.options)
    seen = set()
    for left in left_over(public):
        for leftover in sorted(set(hand)) if left else [None]:
            rest = have if leftover is None else have - packed([leftover])
            for groups in covers.of(rest, len(hand) - left, runs):
                key = tuple(sorted(groups))
                if key not in seen:
                    seen.add(key)
                    yield groups


class _Covers:
    """The search for runs that use up packed cards; it remembers what cannot be done."""

    def __init__(self, options: LiverpoolOptions) -> None:
        self._options = options
        self._apart = options.same_suit_runs == "gap2"
        self._hopeless: set[tuple[int, int]] = set()

    def of(self, have: int, total: int, runs: int) -> Iterator[_Groups]:
        """Yields the ways to make exactly `runs` runs of all `total` packed cards."""
        if runs == 0:
            yield ()
        elif (have, runs) not in self._hopeless and self._is_possible(have, total, runs):
            found = False
            for cover in self._from_lowest(have, total, runs):
                found = True
                yield cover
            if not found:
                self._hopeless.add((have, runs))

    def _is_possible(self, have: int, total: int, runs: int) -> bool:
        suits = _suits_of(have)
        if len(suits) > runs or not 4 * runs <= total <= self._options.run_max * runs:
            return False
        return _jokers_for_runs(have, suits, runs, apart=self._apart) <= jokers_of(have)

    def _from_lowest(self, have: int, total: int, runs: int) -> Iterator[_Groups]:
        """Begins with a run that uses the lowest natural of the first suit, for some run has to."""
        suits, most = _suits_of(have), self._options.run_max
        longest = min(most, LAST_POSITION, total - 4 * (runs - 1))
        lengths = range(max(4, total - most * (runs - 1)), longest + 1)
        terms = RunTerms(lengths, self._options.min_naturals_run, every_way=True)
        for run in _runs_from_lowest(have, suits[0], terms, runs - len(suits) + 1, apart=self._apart):
            for rest in self.of(have - run.need, total - len(run.cards), runs - 1):
                if not any(_too_close(self._options, run, other) for other in rest):
                    yield (run, *rest)


def _suits_of(have: int) -> list[int]:
    return [suit for suit in range(4) if suit_part(have, suit)]


def _jokers_for_runs(have: int, suits: Sequence[int], runs: int, *, apart: bool) -> int:
    """Returns a number of jokers below which the naturals of some suits are not exactly so many runs in any case."""
    least = [0] + [_NEVER] * runs  # by the number of runs, for the suits so far
    for suit in suits:
        costs = _jokers_in_suit(suit_part(have, suit), runs, apart=apart)
        least = [
            min([least[before] + costs[count - before] for before in range(count)], default=_NEVER)
            for count in range(runs + 1)
        ]
    return least[runs]


def _jokers_in_suit(part: int, runs: int, *, apart: bool) -> list[int]:
    """Returns for each number of runs the jokers that the naturals of a suit ask for at least.

    They fill gaps, aces aside: with the second copies of ranks seen as a row of their own, and so on, each run beyond
    the number of rows leaves one gap open, best the widest. And no run is shorter than four cards. `apart`: no two runs
    may overlap.
    """
    *naturals, aces = [part >> 4 * rank & 15 for rank in range(13)]
    rows = max(naturals)
    if apart and rows > 1:
        return [_NEVER] * (runs + 1)
    gaps: list[int] = []
    for copy in range(1, rows + 1):
        there = [rank for rank in range(12) if naturals[rank] >= copy]
        gaps += [high - low - 1 for low, high in pairwise(there)]
    gaps.sort(reverse=True)
    least_runs, cards = max(rows, (aces + 1) // 2), sum(naturals) + aces
    return [
        max(sum(gaps[count - rows :]), 4 * count - cards) if count >= least_runs else _NEVER
        for count in range(runs + 1)
    ]


def _runs_from_lowest(have: int, suit: int, terms: RunTerms, most_runs: int, *, apart: bool) -> Iterator[Group]:
    """Yields the runs that use the lowest natural of a suit and leave no natural of it to more than the other runs.

    `most_runs`: how many runs of the suit there can be, this one included; `apart`: no two of them may overlap.
    """
    *naturals, aces = [suit_part(have, suit) >> 4 * rank & 15 for rank in range(13)]
    there = [rank for rank, copies in enumerate(naturals) if copies]
    needed = sum([1 << rank + 2 for rank in there if rank == there[0] or naturals[rank] == most_runs])
    # Where runs keep apart, no other one can use a natural that this one passes over; only an ace has two places.
    passable = ACE_POSITIONS if apart else ~needed
    least_aces = max(aces - 2 * (most_runs - 1), 0 if there else 1)
    for run in runs_around(suit, positions_of(suit_part(have, suit)), needed, passable, jokers_of(have), terms):
        if least_aces <= aces_of(run) <= aces:
            yield run
