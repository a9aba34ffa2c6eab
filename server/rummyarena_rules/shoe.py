"""The seeded order of cards and every other random outcome, specified to the byte.

A *stream* belongs to a game seed (32 bytes) and a purpose (ASCII text such as `shoe/3`)::

    key       = SHA-256(seed || purpose)
    block(i)  = SHA-256(key || i as 8 bytes, big-endian)          i = 0, 1, 2 ...
    word(k)   = the k-th group of 4 bytes of block(0) || block(1) || ..., as an unsigned big-endian number
    below(n)  = the next word w with w < 2^32 - (2^32 mod n), modulo n; words at or above that limit are skipped

    shuffle(list): for j = len(list)-1 down to 1:  swap list[j] with list[below(j + 1)]

Purposes: `shoe/DEAL`, `cut/DEAL`, `reshuffle/DEAL/COUNT` and `bot/SEAT/NUMBER`, all numbers decimal; deals, reshuffles
and decisions count from 1, seats from 0. A shoe before its shuffle is the decks one after another, each in sorted order
(clubs 2 .. A, diamonds, hearts, spades, then its jokers); its first card after the shuffle is the top.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Final

from rummyarena_rules.cards import JOKER, STANDARD_DECK, Card

SEED_BYTES: Final = 32
_WORDS: Final = 1 << 32


class Stream:
    """The random numbers of one purpose of one game; equal arguments give equal numbers everywhere."""

    __slots__ = ("_block", "_key", "_words")

    def __init__(self, seed: bytes, purpose: str) -> None:
        self._key = sha256(seed + purpose.encode("ascii")).digest()
        self._block = 0
        self._words: list[int] = []

    def below(self, limit: int) -> int:
        """Draws a number uniform on 0 .. limit-1, for a limit of 1 .. 2^32; `ValueError` for any other."""
        if not 1 <= limit <= _WORDS:
            raise ValueError(f"no number below {limit} can be drawn: the limit is from 1 to 2^32")
        bound = _WORDS - _WORDS % limit
        while True:
            word = self._word()
            if word < bound:
                return word % limit

    def shuffled(self, some: Iterable[Card]) -> tuple[Card, ...]:
        """Returns the cards in a uniformly drawn order."""
        order = list(some)
        for last in range(len(order) - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return tuple(order)

    def _word(self) -> int:
        if not self._words:
            block = sha256(self._key + self._block.to_bytes(8, "big")).digest()
            self._block += 1
            self._words = [int.from_bytes(block[at : at + 4], "big") for at in range(28, -1, -4)]
        return self._words.pop()


def deck(decks: int, jokers_per_deck: int) -> tuple[Card, ...]:
    """Returns the cards of a shoe before its shuffle."""
    return (STANDARD_DECK + (JOKER,) * jokers_per_deck) * decks


def shuffled_shoe(seed: bytes, deal: int, decks: int = 1, jokers_per_deck: int = 0) -> tuple[Card, ...]:
    """Returns the order of the shoe of a deal (from 1), top card first."""
    return Stream(seed, f"shoe/{deal}").shuffled(deck(decks, jokers_per_deck))


def reshuffled(seed: bytes, deal: int, count: int, some: Iterable[Card]) -> tuple[Card, ...]:
    """Returns the new stock of the deal's reshuffle number `count` (from 1), top card first.

    `some` are the cards to shuffle in the order in which they lay, oldest first.
    """
    return Stream(seed, f"reshuffle/{deal}/{count}").shuffled(some)


def bot_seed(seed: bytes, seat: int, number: int) -> int:
    """Returns what a bot may draw randomness from: 64 bits for decision `number` (from 1) of a seat in a game."""
    return int.from_bytes(sha256(seed + f"bot/{seat}/{number}".encode("ascii")).digest()[:8], "big")
