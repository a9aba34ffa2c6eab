"""Cards and moves as plain texts, read the slow way (notation.md 1 and 3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

RANKS = ["2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A"]
SUITS = ["C", "D", "H", "S"]
DECK = [rank + suit for suit in SUITS for rank in RANKS]
JOKER = "JK"


@dataclass
class Words:
    """A move taken apart: `card` of discard, knock, swap and the target of a take; `parts` of a knock or a down."""

    verb: str
    card: str = ""
    cards: list[str] | None = None
    meld: int = 0
    side: str = ""
    parts: list[Words] | None = None
    number: int = 0


def sorted_cards(some: Iterable[str]) -> list[str]:
    """The sorted order of notation.md 1: jokers last."""
    return sorted(some, key=[*DECK, JOKER].index)


def read_move(game: str, text: str) -> Words | None:
    """Reads the grammar of notation.md 3; None is `malformed`."""
    if game == "thai":
        return _read_thai(text)
    return _read_liverpool(text)


def _read_thai(text: str) -> Words | None:
    if text in ("draw", "pass"):
        return Words(text)
    verb, _, rest = text.partition(" ")
    if verb == "take":
        return _read_take(rest)
    if verb in ("meld", "layoff"):
        return _read_part(text)
    if verb == "discard" and rest in DECK:
        return Words("discard", card=rest)
    if verb == "knock":
        kept, *texts = rest.split(" / ")
        parts = [part for part in map(_read_part, texts) if part]
        if kept in DECK and len(parts) == len(texts):
            return Words("knock", card=kept, parts=parts)
    return None


def _read_take(rest: str) -> Words | None:
    target, colon, cards = rest.partition(": ")
    if colon and target in DECK and _cards(cards, DECK):
        return Words("take", card=target, cards=cards.split(" "))
    target, onto, meld = rest.partition(" onto ")
    if onto and target in DECK and _meld(meld):
        return Words("take onto", card=target, meld=_meld(meld))
    return None


def _read_part(text: str) -> Words | None:
    verb, _, rest = text.partition(" ")
    if verb == "meld" and _cards(rest, DECK):
        return Words("meld", cards=rest.split(" "))
    if verb == "layoff":
        meld, colon, cards = rest.partition(": ")
        if colon and _meld(meld) and _cards(cards, DECK):
            return Words("layoff", cards=cards.split(" "), meld=_meld(meld))
    return None


def _read_liverpool(text: str) -> Words | None:
    faces = [*DECK, JOKER]
    if text in ("draw", "pass", "take", "buy"):
        return Words(text)
    verb, _, rest = text.partition(" ")
    if verb == "discard" and rest in faces:
        return Words("discard", card=rest)
    if verb == "cut" and _number(rest):
        return Words("cut", number=_number(rest))
    if verb == "down" and all(_cards(group, faces) for group in rest.split(" / ")):
        return Words("down", parts=[Words("group", cards=group.split(" ")) for group in rest.split(" / ")])
    place, colon, cards = rest.partition(": ")
    if verb == "swap" and colon and _meld(place) and cards in faces:
        return Words("swap", card=cards, meld=_meld(place))
    meld, blank, side = place.partition(" ")
    if verb == "layoff" and colon and _meld(meld) and _cards(cards, faces) and (not blank or side in ("low", "high")):
        return Words("layoff", cards=cards.split(" "), meld=_meld(meld), side=side)
    return None


def _cards(text: str, faces: list[str]) -> bool:
    return all(word in faces for word in text.split(" "))


def _meld(text: str) -> int:
    """The number of `m12`, or 0 if that is no meld."""
    return _number(text[1:]) if text[:1] == "m" else 0


def _number(text: str) -> int:
    """The number, from 1 up and without leading zeros, or 0."""
    if not text or text[0] == "0" or any(sign not in "0123456789" for sign in text):
        return 0
    return int(text)
