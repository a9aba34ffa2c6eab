"""Keeps few points in hand: judges a move by the points it lays and those it leaves once the best melds are put aside.

It looks no further than its own hand: not at what the others may do with its discards, nor at what may still come.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations

from rummyarena import CARDS, JOKER, Card, Decision, Move, View, run

Hand = tuple[Card, ...]

ANY_MELDS = 9 * "SR"
CONTRACTS = ("SS", "SR", "RR", "SSS", "SSR", "SRR", "RRR")
"""The sets and runs that are wanted in each deal of liverpool."""

UNKNOWN = 2
"""What a card from the stock adds to a hand, in points, now that the worst one can be discarded for it."""


def deadwood(decision: Decision) -> Move:
    # Of equal moves `max` returns the first, and candidates begin with those that lay cards.
    return max(decision.candidates, key=lambda move: worth(decision, move))


def worth(decision: Decision, move: Move) -> float:
    """Returns the points that a move lays less those that it leaves in hand."""
    laid = cards_laid(move)
    discarded = [move.card] if move.verb == "discard" and move.card is not None else []
    hand = [*decision.view.hand, *cards_gained(decision.view, move)]
    for card in (*laid, *discarded):
        hand.remove(card)
    total = sum(points(card, decision.game.ruleset) for card in laid) - points_left(decision, tuple(sorted(hand)))
    return total - UNKNOWN if move.verb in ("draw", "buy") else total


def cards_laid(move: Move) -> list[Card]:
    """Returns the cards that a move puts on the table."""
    if move.verb in ("swap", "take_onto") and move.card is not None:
        return [move.card]
    groups = (move.cards, *move.groups, *(part.cards for part in move.parts))
    return [card for group in groups for card in group]


def cards_gained(view: View, move: Move) -> Hand:
    """Returns the cards that a move is sure to bring to the hand."""
    if move.verb == "swap":
        return (JOKER,)
    if move.verb in ("take", "take_onto", "buy"):
        return view.row[-1:] if move.card is None else view.row[view.row.index(move.card) :]
    return ()


def points_left(decision: Decision, hand: Hand) -> float:
    """Returns the points of a sorted hand without its best melds, less for cards that could become part of one."""
    ruleset, view = decision.game.ruleset, decision.view
    if ruleset == "liverpool" and any(meld.owner == view.seat for meld in view.melds):
        return sum(points(card, ruleset) for card in hand)  # after the contract no other meld can be laid
    wanted = ANY_MELDS if ruleset == "thai" else CONTRACTS[view.deal - 1]
    left, missing = least_left(hand, ruleset, wanted)
    total = 0.0
    for at, card in enumerate(left):
        if card != JOKER:  # it helps with any contract
            companions = sum(could_meld(card, other, missing) for other in (*left[:at], *left[at + 1 :]))
            total += points(card, ruleset) / (1 + companions)
    return total


@lru_cache(100_000)
def least_left(hand: Hand, ruleset: str, wanted: str) -> tuple[Hand, str]:
    """Returns what the best choice of wanted melds leaves of a sorted hand, and the melds that are still wanted then.

    The lowest card is left over, or it is the first of a meld; then the same is asked of the cards that remain.
    """
    if len(hand) < 3:
        return hand, wanted
    left, missing = least_left(hand[1:], ruleset, wanted)
    choices = [((hand[0], *left), missing)]
    for meld, kind in melds_with_first(hand, 3 if ruleset == "thai" else 4):
        if kind in wanted:
            rest = list(hand)
            for card in meld:
                rest.remove(card)
            choices.append(least_left(tuple(rest), ruleset, wanted.replace(kind, "", 1)))
    return min(choices, key=lambda choice: sum(points(card, ruleset) for card in choice[0]))


def melds_with_first(hand: Hand, shortest_run: int) -> Iterator[tuple[Hand, str]]:
    """Yields the melds without jokers whose first card is that of a sorted hand, each with its kind: S or R."""
    first = hand[0]
    if first == JOKER:
        return
    same_rank = [card for card in hand[1:] if card.rank == first.rank]
    for others in (2, 3):
        for some in combinations(same_rank, others):
            yield (first, *some), "S"
    in_a_row = [first]
    while in_a_row[-1].rank < 14 and CARDS[in_a_row[-1] + 1] in hand:
        in_a_row.append(CARDS[in_a_row[-1] + 1])
        if len(in_a_row) >= shortest_run:
            yield tuple(in_a_row), "R"


def could_meld(card: Card, other: Card, wanted: str) -> bool:
    """Returns whether two cards could be in one of the wanted melds together."""
    if card.rank == other.rank:
        return "S" in wanted
    return "R" in wanted and card.suit == other.suit and abs(card.rank - other.rank) <= 2


def points(card: Card, ruleset: str) -> int:
    """Returns what a card counts by T29 of Thai Rummy and, unless options say otherwise, L30 of Liverpool Rummy."""
    if ruleset == "thai" and card.text in ("2C", "QS"):
        return 50
    if card == JOKER or card.rank == 14:
        return 15
    if card.rank >= 10:
        return 10
    return 5 if ruleset == "thai" else card.rank


if __name__ == "__main__":
    run(deadwood)
