"""Candidates of liverpool against brute force: every move there could be is put to the judge.

Downs are far too many to be listed, so they are searched for: the search is plain, written a second time from the
rules, and lists them one by one, so that one looks at no more of them than it has to.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations, product

from rummyarena_rules.cards import CARDS, JOKER, Card, card
from rummyarena_rules.liverpool import LIVERPOOL, LiverpoolOptions, LiverpoolState, LiverpoolView
from rummyarena_rules.moves import Buy, Cut, Discard, Down, Draw, LayOff, Move, Pass, Swap, TakeUpcard
from rummyarena_rules.notation import canonical
from rummyarena_rules.ruleset import Reason
from rummyarena_rules.table import Phase, Private, View
from tests.rules.games import CANDIDATE_LIMIT

Group = tuple[Card, ...]

CONTRACTS = ((2, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 2), (0, 3))  # L21: sets and runs of deal 1 to 7
ROWS = tuple(tuple(card(rank + suit) for rank in "A23456789TJQKA") for suit in "CDHS")  # L7
MOST_TRIES = 200_000
OTHER_KINDS = (Cut, Draw, TakeUpcard, Buy, Pass, LayOff, Swap, Discard)


def compare_liverpool(view: LiverpoolView) -> bool:
    """Compares what a seat is offered with all that is legal; returns whether the candidates said to be complete."""
    offered = LIVERPOOL.candidates(view, CANDIDATE_LIMIT)
    assert len(offered.moves) <= CANDIDATE_LIMIT
    downs = [canonical("liverpool", move) for move in offered.moves if isinstance(move, Down)]
    others = [move for move in offered.moves if not isinstance(move, Down)]
    legal = every_other_move(view)
    assert set(others) <= legal
    for kind in OTHER_KINDS:
        assert any(isinstance(move, kind) for move in legal) == any(isinstance(move, kind) for move in others)
    assert len(set(downs)) == len(downs)
    assert all(LIVERPOOL.check(view, move) is None for move in downs)
    compare_downs(view, set(downs), complete=offered.complete)
    if offered.complete:
        assert set(others) == legal
    return offered.complete


def compare_downs(view: LiverpoolView, downs: set[Move], *, complete: bool) -> None:
    """Compares downs with those that the search finds: all if they are said to be complete, else whether any is."""
    found = every_down(view)
    if not complete:
        assert bool(downs) == (next(found, None) is not None)
        return
    legal = set()
    for move in found:
        legal.add(move)
        assert move in downs
    assert legal == downs


def every_other_move(view: LiverpoolView) -> set[Move]:
    """Every legal move that is no down, lay-offs of one card only and with a side only where it is needed."""
    numbers = range(1, len(view.public.melds) + 2)
    moves: list[Move] = [Draw(), Pass(), TakeUpcard(), Buy(), *map(Discard, CARDS)]
    if view.public.phase is Phase.CUT:
        moves += map(Cut, range(1, view.public.stock_count + 2))
    for number, one in product(numbers, CARDS):
        moves.append(Swap(number, one))
        plain = LayOff(number, (one,))
        refusal = LIVERPOOL.check(view, plain)
        needed = refusal is not None and refusal.reason is Reason.SIDE_REQUIRED
        moves += [LayOff(number, (one,), "low"), LayOff(number, (one,), "high")] if needed else [plain]
    return {move for move in moves if LIVERPOOL.check(view, move) is None}


# --- hands -----------------------------------------------------------------------------------------------------------


def near_the_contract(state: LiverpoolState, draws: random.Random) -> LiverpoolView:
    """The view of the seat on turn with as many cards in hand, of those nobody has seen leave, that nearly go down.

    Random play leaves hands far from a contract, most of all in deal 7.
    """
    seat = state.public.turn
    pool = [*state.stock, *(one for private in state.privates for one in private.hand)]
    draws.shuffle(pool)
    size = state.public.hand_counts[seat]
    hand: list[Card] = []
    for one in _wished_for(state.public.deal, size, draws):
        found = JOKER if JOKER in pool and (one not in pool or draws.random() < 0.15) else one
        if found in pool and len(hand) < size:
            pool.remove(found)
            hand.append(found)
    hand += pool[: size - len(hand)]
    return View(state.public, seat, Private(sorted(hand)))


def _wished_for(deal: int, size: int, draws: random.Random) -> Iterator[Card]:
    """Yields the cards of a contract, in deal 7 of one that leaves a card or none, with a strange one now and then."""
    sets, runs = CONTRACTS[deal - 1]
    for _ in range(sets):
        rank = draws.randrange(1, 14)
        yield from (draws.choice(ROWS)[rank] for _ in range(3))
    lengths = [4] * runs
    for _ in range(size - 3 * sets - 4 * runs - draws.randrange(2) if deal == 7 else draws.randrange(2) * runs):
        lengths[draws.randrange(runs)] += 1
    for length in lengths:
        row, start = draws.choice(ROWS), draws.randrange(max(1, 15 - length))
        yield from (one if draws.random() < 0.95 else draws.choice(CARDS) for one in row[start : start + length])


# --- downs -----------------------------------------------------------------------------------------------------------


class TooManyWaysError(Exception):
    """The search for downs has looked at so many groups that it gives up."""


def every_down(view: LiverpoolView) -> Iterator[Move]:
    """Yields legal downs, each once: all of them, but where `contract_size` is `at_least` sets of three only.

    Whoever can lay a longer set can lay three of its cards, so there is none if nothing is yielded.
    """
    public = view.public
    if view.private is None or public.phase is not Phase.PLAY or view.seat != public.turn:
        return
    if public.facts.down_turns[public.turn] is not None:
        return
    seen = set()
    search = Search(view.public.options)
    sets, runs = CONTRACTS[public.deal - 1]
    find = search.covers if public.deal == 7 else search.contracts
    for groups in find(Counter(view.private.hand), sets, runs):
        move = canonical("liverpool", Down(groups))
        if move not in seen and LIVERPOOL.check(view, move) is None:
            seen.add(move)
            yield move


class Search:
    """Takes group after group out of a hand."""

    def __init__(self, options: LiverpoolOptions) -> None:
        self._options = options
        self._tries = 0

    def contracts(self, hand: Counter[Card], sets: int, runs: int) -> Iterator[tuple[Group, ...]]:
        """Yields so many sets of three and runs that a hand holds together, the runs with few jokers first."""
        longest = 4 if self._options.contract_size == "exact" else self._options.run_max
        longest = min(longest, 4 + hand.total() - 3 * sets - 4 * runs)
        groups: list[Group] = []
        if runs:
            groups += self._some(run for row in ROWS for run in self._runs(hand, row, longest))
        if sets:
            groups += every_set(hand, self._options.min_naturals_set)
        yield from self._choose(groups, hand, sets, runs)

    def _choose(self, groups: list[Group], hand: Counter[Card], sets: int, runs: int) -> Iterator[tuple[Group, ...]]:
        if sets == runs == 0:
            yield ()
            return
        for at, group in enumerate(self._some(groups)):
            is_run = len(group) > 3
            if runs if is_run else sets and not runs:
                left = hand - Counter(group)
                others = [one for one in groups[at:] if not Counter(one) - left]
                for rest in self._choose(others, left, sets - (not is_run), runs - is_run):
                    yield (group, *rest)

    def covers(self, hand: Counter[Card], _: int, runs: int, spare: int = 1) -> Iterator[tuple[Group, ...]]:
        """Yields so many runs that leave `spare` cards of a hand at most (L23)."""
        naturals = sorted(hand - Counter({JOKER: hand[JOKER]}))
        if runs == 0 and hand.total() <= spare:
            yield ()
        most = runs * self._options.run_max + spare
        if runs == 0 or not naturals or not 4 * runs <= hand.total() <= most:
            return
        if len({one.suit for one in naturals}) > runs + spare:
            return
        lowest = naturals[0]  # is in a run or left over
        for run in self._some(self._runs(hand, ROWS[lowest.suit], hand.total() - 4 * (runs - 1))):
            if lowest in run:
                for rest in self.covers(hand - Counter(run), 0, runs - 1, spare):
                    yield (run, *rest)
        if spare:
            yield from self.covers(hand - Counter([lowest]), 0, runs, spare - 1)

    def _runs(self, hand: Counter[Card], row: Group, longest: int) -> Iterator[Group]:
        """Yields the runs of one suit that a hand holds, with jokers in every way (L9, L10)."""
        for length in range(4, min(longest, self._options.run_max) + 1):
            for start in range(15 - length):
                places = row[start : start + length]
                there = [at for at in range(length) if places[at] in hand]
                most = min(hand[JOKER], length - self._options.min_naturals_run)
                for given_up in range(most - (length - len(there)) + 1):
                    for some in combinations(there, given_up):
                        kept = set(there).difference(some)
                        run = tuple(places[at] if at in kept else JOKER for at in range(length))
                        if not Counter(run) - hand:  # an ace at both ends needs two aces
                            yield run

    def _some(self, groups: Iterable[Group]) -> Iterator[Group]:
        """Yields the groups until too many were looked at in this search."""
        for group in groups:
            self._tries += 1
            if self._tries > MOST_TRIES:
                raise TooManyWaysError
            yield group


def every_set(hand: Counter[Card], least_naturals: int) -> list[Group]:
    """Every set of three that a hand holds (L8)."""
    found = set()
    for rank in range(13):
        naturals = [one for one in hand.elements() if one is not JOKER and one.rank == rank]
        for jokers in range(min(hand[JOKER], 3 - least_naturals) + 1):
            found |= {(*sorted(some), *[JOKER] * jokers) for some in combinations(naturals, 3 - jokers)}
    return sorted(found)
