"""What lies together in thai, straight from section 2 of its rules."""

from __future__ import annotations

from tests.second_opinion.words import RANKS


def place(card: str) -> int:
    """T2: 2 3 4 5 6 7 8 9 T J Q K A; the ace is high only."""
    return RANKS.index(card[0])


def is_set(cards: list[str]) -> bool:
    """T8: three or four cards of one rank."""
    return len(cards) in (3, 4) and all(one[0] == cards[0][0] for one in cards)


def is_run(cards: list[str]) -> bool:
    """T9: three or more cards of one suit with consecutive ranks."""
    places = sorted(place(one) for one in cards)
    consecutive = all(places[at] == places[0] + at for at in range(len(places)))
    return len(cards) >= 3 and consecutive and all(one[1] == cards[0][1] for one in cards)


def is_meld(cards: list[str]) -> bool:
    """T10: nothing else is a meld."""
    return is_set(cards) or is_run(cards)


def extends(meld: list[str], card: str) -> bool:
    """T11: the meld with that card added is again a meld."""
    return is_meld([*meld, card])


def laid_off(meld: list[str], cards: list[str]) -> list[str] | None:
    """T19: the meld with all the cards added one after another in some order, or None."""
    grown, left = list(meld), list(cards)
    while left:
        fitting = [one for one in left if extends(grown, one)]
        if not fitting:
            return None
        grown.append(fitting[0])
        left.remove(fitting[0])
    return grown
