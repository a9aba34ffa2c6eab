"""Counts the cards it has seen, deals out the unseen ones at random, and judges its choices in the worlds that result.

It looks ahead with the rules themselves, so it needs the whole of Rummy Arena, not the SDK alone. The number of worlds
is fixed and all chance is the decision's own, so it plays the same game again on the same seed.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations_with_replacement
from random import Random
from statistics import fmean
from typing import NamedTuple

from rummyarena import Decision, run
from rummyarena_rules.cards import CARDS, JOKER, Card, cards_in, mask_of
from rummyarena_rules.liverpool import LiverpoolOptions
from rummyarena_rules.liverpool.melds import sides
from rummyarena_rules.liverpool.options import CONTRACTS, DEALS, Contract, decks
from rummyarena_rules.liverpool.scoring import values
from rummyarena_rules.moves import Buy, Discard, Draw, Move, Pass, Take, TakeUpcard
from rummyarena_rules.notation import move_text
from rummyarena_rules.ruleset import AnyPublic, AnyView
from rummyarena_rules.shoe import deck
from rummyarena_rules.table import Phase
from rummyarena_rules.thai.melds import melds_in
from rummyarena_rules.thai.scoring import hand_points
from rummyarena_server.wire import rules_view

WORLDS = 10
"""How many worlds a choice is judged in."""
LIKELY_RUNS = 6
"""How many runs, the ones nearest to being there, are considered for a contract."""

# The weights below were found by playing; all are in points.
COMPANION = 20
"""What it costs in thai to part with a card, for each card that it could become a meld with."""
KNOCK = 100
"""What it costs in thai if the next seat can knock."""
STEP = 12
"""What each card that is lacking for the contract costs in liverpool."""
PRICE = 10
"""What a purchase has to save: it brings two cards to the hand."""
HELP = 4
"""What it costs in liverpool to bring the next seat nearer to its contract, or to let it lay a card off."""


class World(NamedTuple):
    """One way in which the unseen cards can lie: the hand of each seat, and the stock with its top card first."""

    hands: list[list[Card]]
    stock: list[Card]


def card_counter(decision: Decision) -> str:
    ruleset, view = rules_view(decision)
    moves = ruleset.candidates(view, 64).moves
    worlds = [deal_out(view, decision.random) for _ in range(WORLDS)] if len(moves) > 1 else []
    choose = choose_in_thai if ruleset.name == "thai" else choose_in_liverpool
    return move_text(choose(view, moves, worlds) if worlds else moves[0])


def deal_out(view: AnyView, random: Random) -> World:
    """Returns a world that the seat cannot tell from the true one."""
    cards = unseen(view)
    random.shuffle(cards)
    hands = []
    for seat, count in enumerate(view.public.hand_counts):
        known = hand_of(view) if seat == view.seat else view.public.known[seat]
        hands.append(known + [cards.pop() for _ in range(count - len(known))])
    return World(hands, cards)


def unseen(view: AnyView) -> list[Card]:
    """Returns the cards that lie in the stock or, unknown to all but their holders, in the other hands."""
    public = view.public
    left = Counter(whole_shoe(public))
    left.subtract(hand_of(view))
    left.subtract(one.card for one in public.discards)
    for meld in public.melds:
        left.subtract(meld.cards)
    for seat, known in enumerate(public.known):
        if seat != view.seat:
            left.subtract(known)
    return list(left.elements())


def whole_shoe(public: AnyPublic) -> tuple[Card, ...]:
    options = public.options
    if isinstance(options, LiverpoolOptions):
        return deck(decks(options, public.seats), options.jokers_per_deck)
    return deck(1, 0)


def hand_of(view: AnyView) -> list[Card]:
    return view.private.hand if view.private is not None else []


def next_seat(public: AnyPublic) -> int:
    return (public.turn + public.direction) % public.seats


# --- thai ------------------------------------------------------------------------------------------------------------


def choose_in_thai(view: AnyView, moves: Sequence[Move], worlds: Sequence[World]) -> Move:
    laying = [move for move in moves if not isinstance(move, Discard | Draw | Pass)]
    best = max(laying, key=lambda move: gain(view, move), default=None)
    if best is not None and gain(view, best) > 0:
        return best
    return min((move for move in moves if move not in laying), key=lambda move: loss(view, move, worlds))


def gain(view: AnyView, move: Move) -> float:
    """Returns the points that a move lays, less a part of those that a take brings to the hand."""
    laid = cards_of(move)
    if not isinstance(move, Take):
        return hand_points(laid)
    row = [one.card for one in view.public.discards]
    gathered = [card for card in row[row.index(move.target) :] if card not in laid]
    hand = [card for card in (*hand_of(view), *gathered) if card not in laid]
    return hand_points(laid) - sum(hand_points([card]) / (1 + company(card, hand)) for card in gathered)


def cards_of(move: Move) -> list[Card]:
    parts = getattr(move, "parts", (move,))
    return [card for part in parts for card in getattr(part, "cards", ())]


def company(card: Card, hand: Sequence[Card]) -> int:
    """Returns how many cards of a hand could be in a meld of thai with a card."""
    return sum(
        one.rank == card.rank or (one.suit == card.suit and abs(one.rank - card.rank) <= 2)
        for one in hand
        if one is not card
    )


def loss(view: AnyView, move: Move, worlds: Sequence[World]) -> float:
    """Returns what a discard costs the seat on average; the card's own points too, for somebody will lay it."""
    if not isinstance(move, Discard):
        return 0
    row = mask_of(one.card for one in view.public.discards)
    them = next_seat(view.public)
    damage = fmean(best_take(move.card, mask_of(world.hands[them]), row) for world in worlds)
    return hand_points([move.card]) + COMPANION * company(move.card, hand_of(view)) + damage


def best_take(discard: Card, hand: int, row: int) -> int:
    """Returns the points of the best meld that a hand can lay with a new discard and other cards of the row."""
    best = 0
    for meld in melds_in((hand | row | discard.bit) & AROUND[discard]):
        if meld & discard.bit and meld & hand:
            knocks = (hand & ~meld).bit_count() <= 1
            best = max(best, hand_points(cards_in(meld)) + (KNOCK if knocks else 0))
    return best


AROUND = [mask_of(one for one in CARDS[:52] if one.suit == card.suit or one.rank == card.rank) for card in CARDS[:52]]
"""The cards that can be in a meld with each card of thai."""


# --- liverpool -------------------------------------------------------------------------------------------------------


def choose_in_liverpool(view: AnyView, moves: Sequence[Move], worlds: Sequence[World]) -> Move:
    public, hand = view.public, hand_of(view)
    is_down = public.facts.down_turns[view.seat] is not None
    upcard = [one.card for one in public.discards[-1:]]
    if public.phase is Phase.BUY:
        # L23: in the last deal no card may be left over, so more cards are no help.
        if is_down or public.deal == DEALS:
            return Pass()
        saved = mean_lacking(view, worlds, 1, hand) - mean_lacking(view, worlds, 2, hand + upcard)
        return Buy() if STEP * saved > PRICE else Pass()
    if TakeUpcard() in moves:
        if is_down:
            return TakeUpcard() if can_lay_off(public, upcard[0]) else Draw()
        taking, drawing = mean_lacking(view, worlds, 1, hand + upcard), mean_lacking(view, worlds, 2, hand)
        return TakeUpcard() if taking < drawing else Draw()
    if not isinstance(moves[0], Discard):  # contracts, lay-offs and swaps come first
        return moves[0]
    return min(moves, key=lambda move: cost(view, move, worlds))


def mean_lacking(view: AnyView, worlds: Sequence[World], draws: int, hand: Sequence[Card]) -> float:
    """Returns how many cards a hand will lack for the contract after some more draws from the stock."""
    return fmean(lacking(view.public.deal, tuple(sorted([*hand, *world.stock[:draws]]))) for world in worlds)


def cost(view: AnyView, move: Move, worlds: Sequence[World]) -> float:
    """Returns what a discard costs: cards that will be lacking, company that is lost, and help to the next seat."""
    if not isinstance(move, Discard):
        return 0
    public, card, hand = view.public, move.card, hand_of(view).copy()
    hand.remove(card)
    points = values(public.options)[card]
    if public.facts.down_turns[view.seat] is not None:
        return -points
    lost = STEP * mean_lacking(view, worlds, 1, hand) + 0.3 * near(card, hand, CONTRACTS[public.deal - 1])
    return lost - 0.1 * points + HELP * helpfulness(public, card, worlds)


def helpfulness(public: AnyPublic, card: Card, worlds: Sequence[World]) -> float:
    """Returns how many steps a discard brings the next seat nearer to its contract or to an empty hand."""
    them = next_seat(public)
    if public.facts.down_turns[them] is not None:
        return float(can_lay_off(public, card))
    hands = [world.hands[them] for world in worlds]
    return fmean(
        lacking(public.deal, tuple(sorted(hand))) - lacking(public.deal, tuple(sorted([*hand, card]))) for hand in hands
    )


def can_lay_off(public: AnyPublic, card: Card) -> bool:
    return any(sides(meld, card, public.options.run_max) for meld in public.melds)


def near(card: Card, hand: Sequence[Card], contract: Contract) -> int:
    """Returns how many cards of a hand could be in a meld of the contract with a card."""
    if card is JOKER:
        return len(hand)
    in_runs = sum(one.suit == card.suit and 0 < abs(one.rank - card.rank) <= 3 for one in set(hand))
    in_sets = sum(one.rank == card.rank for one in hand if one is not JOKER)
    return (in_runs if contract.runs else 0) + (in_sets if contract.sets else 0)


@lru_cache(1 << 16)
def lacking(deal: int, hand: tuple[Card, ...]) -> int:
    """Returns how many cards a sorted hand lacks for the contract of a deal, its jokers counted."""
    contract = CONTRACTS[deal - 1]
    ranks = [0] * 13
    once, twice = [0] * 4, [0] * 4  # positions in the runs of each suit (L7) as bits: of cards, and of second copies
    for card in hand:
        if card is not JOKER:
            ranks[card.rank] += 1
            positions = 1 << card.rank + 2 | (2 if card.rank == 12 else 0)
            twice[card.suit] |= once[card.suit] & positions
            once[card.suit] |= positions
    runs = [((once[suit] >> start & 15).bit_count(), suit, start) for suit in range(4) for start in range(1, 12)]
    likely = sorted(runs, reverse=True)[:LIKELY_RUNS]
    least = len(hand) + contract.least_cards
    for some in combinations_with_replacement(likely, contract.runs):
        first, second, left, gaps = once.copy(), twice.copy(), ranks.copy(), []
        for _, suit, start in some:
            there = first[suit] & 15 << start
            first[suit] = first[suit] & ~there | second[suit] & there
            second[suit] &= ~there
            gaps.append(4 - there.bit_count())
            for position in range(start, start + 4):
                left[(position - 2) % 13] -= there >> position & 1
        for _ in range(contract.sets):
            most = max(left)
            left[left.index(most)] -= 3
            gaps.append(max(0, 3 - most))
        # Melds of the least length take one joker each (L8, L9).
        least = min(least, sum(gaps) - min(hand.count(JOKER), sum(gap > 0 for gap in gaps)))
    return least


if __name__ == "__main__":
    run(card_counter)
