"""What lies together in liverpool, straight from section 2 of its rules: lists of cards in the order written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.second_opinion.words import JOKER, RANKS

SUITS = "CDHS"


def naturals(cards: list[str]) -> list[str]:
    return [one for one in cards if one != JOKER]


def at(position: int, suit: str) -> str:
    """L7: the card of a suit at a position 1 .. 14; the ace is at both ends."""
    return (["A", *RANKS])[position - 1] + suit


def is_set(cards: list[str], minimum: int) -> bool:
    """L8: three or more cards of one rank, among them a minimum of naturals."""
    plain = naturals(cards)
    return len(cards) >= 3 and len(plain) >= minimum and all(one[0] == plain[0][0] for one in plain)


def run_start(cards: list[str], minimum: int, run_max: int) -> int:
    """L9, L10: the position of the first card of a run written low to high, or 0 if it is none."""
    plain = naturals(cards)
    if not 4 <= len(cards) <= run_max or len(plain) < minimum:
        return 0
    for suit in SUITS:
        for start in range(1, 15 - len(cards) + 1):
            stands_for = [at(start + step, suit) for step in range(len(cards))]
            if all(one in (wanted, JOKER) for one, wanted in zip(cards, stands_for, strict=True)):
                return start
    return 0


def kind_of(cards: list[str], options: dict[str, Any]) -> str:
    """L8 to L11: `run`, `set`, or the reason why it is neither."""
    if run_start(cards, options["min_naturals_run"], options["run_max"]):
        return "run"
    if is_set(cards, options["min_naturals_set"]):
        return "set"
    if run_start(cards, 0, options["run_max"]) or is_set(cards, 0):
        return "too_few_naturals"
    return "not_a_meld"


def suit_of(run: list[str]) -> str:
    return naturals(run)[0][1]


def too_close(one: list[str], other: list[str], rule: str) -> bool:
    """L22: whether two runs of a contract lie closer than `same_suit_runs` allows."""
    if suit_of(one) != suit_of(other) or rule == "any":
        return False
    first, second = sorted((run_start(run, 0, 14), len(run)) for run in (one, other))
    between = second[0] - (first[0] + first[1])  # positions between the end of one and the beginning of the other
    if rule == "not_consecutive":
        return between == 0
    return between < 2


# --- Melds on the table -----------------------------------------------------------------------------------------------


@dataclass
class Meld:
    """A meld; `start` is the position of the first card of a run, 0 in a set."""

    owner: int
    cards: list[str]
    start: int


def fits_low(meld: Meld, card: str, run_max: int) -> bool:
    """L24: within run_max and the positions 1 .. 14."""
    if not meld.start or len(meld.cards) >= run_max or meld.start == 1:
        return False
    return card in (JOKER, at(meld.start - 1, suit_of(meld.cards)))


def fits_high(meld: Meld, card: str, run_max: int) -> bool:
    """L24."""
    following = meld.start + len(meld.cards)
    if not meld.start or len(meld.cards) >= run_max or following > 14:
        return False
    return card in (JOKER, at(following, suit_of(meld.cards)))


def fits_set(meld: Meld, card: str) -> bool:
    """L24: a set takes any card of its rank and any joker."""
    ranks = [one[0] for one in meld.cards if one != JOKER]
    return not meld.start and (card == JOKER or card[0] == ranks[0])


def takes_a_joker(meld: Meld, run_max: int) -> bool:
    """L26: whether a joker can be laid off on it."""
    return fits_set(meld, JOKER) or fits_low(meld, JOKER, run_max) or fits_high(meld, JOKER, run_max)


def laid_off(meld: Meld, cards: list[str], side: str, run_max: int) -> Meld | str:
    """L24: the meld with the cards placed one by one in the order written, or why one of them does not go."""
    for card in cards:
        low, high = fits_low(meld, card, run_max), fits_high(meld, card, run_max)
        if fits_set(meld, card):
            meld = Meld(meld.owner, [*meld.cards, card], 0)
        elif low and high and not side:
            return "side_required"
        elif low and side != "high":
            meld = Meld(meld.owner, [card, *meld.cards], meld.start - 1)
        elif high and side != "low":
            meld = Meld(meld.owner, [*meld.cards, card], meld.start)
        else:
            return "does_not_extend"
    return meld


def swapped_meld(meld: Meld, card: str) -> Meld | None:
    """L25: the meld with the card in the place of a joker; an ace for either end replaces the high one."""
    cards = list(meld.cards)
    for place in reversed(range(len(cards))):
        wanted = at(meld.start + place, suit_of(cards)) == card if meld.start else fits_set(meld, card)
        if cards[place] == JOKER and wanted:
            cards[place] = card
            return Meld(meld.owner, cards, meld.start)
    return None
