"""Chases what ends a deal: the contract in liverpool, melds and the knock in thai.

In liverpool it counts how many cards its hand lacks for the contract, and takes, buys and keeps what brings it nearer.
In thai it lays whatever it can, and keeps the cards that could become melds.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations_with_replacement

from rummyarena import CARDS, JOKER, Card, Decision, Move, TableMeld, View, buy, draw, pass_, run, take_upcard

Hand = tuple[Card, ...]

LAYING = ("take", "take_onto", "meld", "down", "layoff", "swap", "knock")

CONTRACTS = ((2, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 2), (0, 3))
"""How many sets and how many runs are laid in each deal of liverpool."""
LAST_DEAL = 7

LARGEST_HAND = 14
"""With more cards it buys none: every purchase costs a second card, which has to go again."""

LIKELY_RUNS = 6
"""How many runs, the ones nearest to being there, are considered for a contract."""


def contract_chaser(decision: Decision) -> Move:
    return play_thai(decision) if decision.game.ruleset == "thai" else play_liverpool(decision)


def company(card: Card, hand: Sequence[Card], *, sets: bool, reach: int) -> int:
    """Returns how many cards of a hand could be in a set with a card, or in a run within a reach of ranks."""
    if card == JOKER:
        return len(hand)
    in_sets = sum(one.rank == card.rank for one in hand) if sets else 0
    return in_sets + sum(one.suit == card.suit and 0 < abs(one.rank - card.rank) <= reach for one in set(hand))


# --- thai ------------------------------------------------------------------------------------------------------------


def play_thai(decision: Decision) -> Move:
    view = decision.view
    laying = [move for move in decision.candidates if move.verb in LAYING]
    best = max(laying, key=lambda move: gain(view, move), default=None)
    if best is not None and gain(view, best) > 0:
        return best
    return min((move for move in decision.candidates if move not in laying), key=lambda move: loss(view, move))


def gain(view: View, move: Move) -> float:
    """Returns the points that a move lays, less those of cards that a take brings and that have no company."""
    laid = [*move.cards, *(card for part in move.parts for card in part.cards)]
    if move.verb == "take_onto" and move.card is not None:
        laid.append(move.card)
    points = sum(map(thai_points, laid))
    if move.card is None or move.verb not in ("take", "take_onto"):
        return points
    gathered = view.row[view.row.index(move.card) :]
    hand = [card for card in (*view.hand, *gathered) if card not in laid]
    lonely = [card for card in gathered if card in hand and not company(card, hand, sets=True, reach=2) > 1]
    return points - sum(map(thai_points, lonely))


def loss(view: View, move: Move) -> tuple[int, int]:
    """Returns what a discard costs: company first; of equally lonely cards the dearest goes."""
    if move.card is None:  # draw or pass
        return (0, 0)
    return company(move.card, view.hand, sets=True, reach=2), -thai_points(move.card)


def thai_points(card: Card) -> int:
    """Returns what a card counts (T29)."""
    if card.text in ("2C", "QS"):
        return 50
    return 15 if card.rank == 14 else 10 if card.rank >= 10 else 5


# --- liverpool -------------------------------------------------------------------------------------------------------


def play_liverpool(decision: Decision) -> Move:
    view = decision.view
    if "buy" in decision.verbs:
        return buy() if is_worth_buying(view) else pass_()
    if "take" in decision.verbs:
        return take_upcard() if is_wanted(view) else draw()
    if decision.candidates[0].verb != "discard":  # a move that lays cards, the cut, or the only draw
        return decision.candidates[0]
    return min(decision.candidates, key=lambda move: distance(view, move))


def is_down(view: View) -> bool:
    return any(meld.owner == view.seat for meld in view.melds)


def is_wanted(view: View) -> bool:
    """Returns whether the upcard brings the seat nearer to its contract or, once it is down, can be laid off."""
    upcard = view.row[-1]
    if is_down(view):
        return any(fits(meld, upcard) for meld in view.melds)
    return lacking(view.deal, (*view.hand, upcard)) < lacking(view.deal, view.hand)


def is_worth_buying(view: View) -> bool:
    """Returns whether the upcard is worth a second card: not in the last deal, where none may be left over."""
    may_grow = view.deal < LAST_DEAL and len(view.hand) < LARGEST_HAND
    return may_grow and not is_down(view) and is_wanted(view)


def fits(meld: TableMeld, card: Card) -> bool:
    """Returns whether a card can be laid off on a meld (L24)."""
    natural = next(one for one in meld.cards if one != JOKER)
    if card == JOKER or not meld.is_run:
        return card == JOKER or card.rank == natural.rank
    ends = (meld.start - 1, meld.start + len(meld.cards))
    return card.suit == natural.suit and (card.rank in ends or (card.rank == 14 and 1 in ends))


def distance(view: View, move: Move) -> tuple[int, int, int]:
    """Returns how far a discard leaves the seat from its contract; then lonely and dear cards go first."""
    card = move.card
    if card is None:
        return (0, 0, 0)
    if is_down(view):
        return 0, 0, -liverpool_points(card)
    hand = list(view.hand)
    hand.remove(card)
    sets, runs = CONTRACTS[view.deal - 1]
    near = company(card, hand, sets=sets > 0, reach=3 if runs else 0)
    return lacking(view.deal, tuple(hand)), near, -liverpool_points(card)


def liverpool_points(card: Card) -> int:
    """Returns what a card counts unless options say otherwise (L30)."""
    return 15 if card == JOKER or card.rank == 14 else min(card.rank, 10)


def lacking(deal: int, hand: Hand) -> int:
    """Returns how many cards a hand lacks for the contract of a deal, its jokers counted."""
    sets, runs = CONTRACTS[deal - 1]
    likely = sorted(RUNS, key=lambda cards: -sum(card in hand for card in cards))[:LIKELY_RUNS]
    return min(lacking_with(Counter(hand), sets, some) for some in combinations_with_replacement(likely, runs))


def lacking_with(have: Counter[Card], sets: int, runs: tuple[Hand, ...]) -> int:
    """Returns how many cards are lacking for certain runs and for the sets that are nearest to being there."""
    gaps = []
    for cards in runs:
        there = [card for card in cards if have[card]]
        have.subtract(there)
        gaps.append(4 - len(there))
    ranks: Counter[int] = Counter()
    for card, count in have.items():
        ranks[card.rank] += 0 if card == JOKER else count
    for _ in range(sets):
        rank, count = ranks.most_common(1)[0]
        ranks[rank] -= 3
        gaps.append(max(0, 3 - count))
    # Melds of the least length take one joker each (L8, L9).
    return sum(gaps) - min(have[JOKER], sum(gap > 0 for gap in gaps))


def run_from(suit: int, start: int) -> Hand:
    """Returns the run of four whose first card has the position `start`, from 1, the low ace, to 11, the jack (L7)."""
    return tuple(CARDS[13 * suit + (position - 2) % 13] for position in range(start, start + 4))


RUNS = [run_from(suit, start) for suit in range(4) for start in range(1, 12)]


if __name__ == "__main__":
    run(contract_chaser)
