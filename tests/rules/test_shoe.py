"""The shuffle is what its specification says, to the byte, and flat."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rummyarena_rules.cards import CARDS, Card, text_of
from rummyarena_rules.shoe import Stream, bot_seed, deck, reshuffled, shuffled_shoe

SEED = bytes(range(32))


def words_by_the_specification(seed: bytes, purpose: str, count: int) -> list[int]:
    """The words of a stream, written down a second time from the specification alone."""
    key = sha256(seed + purpose.encode()).digest()
    text = b"".join(sha256(key + block.to_bytes(8, "big")).digest() for block in range(count // 8 + 1))
    return [int.from_bytes(text[4 * at : 4 * at + 4], "big") for at in range(count)]


def shuffle_by_the_specification(seed: bytes, purpose: str, cards: list[int]) -> list[int]:
    words = iter(words_by_the_specification(seed, purpose, 20 * len(cards)))
    for j in range(len(cards) - 1, 0, -1):
        limit = 2**32 - 2**32 % (j + 1)
        k = next(word for word in words if word < limit) % (j + 1)
        cards[j], cards[k] = cards[k], cards[j]
    return cards


def test_the_known_shoe_of_a_known_seed() -> None:
    expected = (
        "JD QD 5H AS 4D 7S 6C AD 8S TD QC 9H 3C 2S 2D 9D KC AH 8C KS 9C TC 6D 3S JS 6H "
        "TS 3D 2H QH 4H 5C 4C 7C 6S QS 7D 7H 2C AC 9S KH KD 3H 8H 4S 5S TH JH 5D 8D JC"
    )
    assert text_of(shuffled_shoe(SEED, 1)) == expected


@given(st.binary(min_size=32, max_size=32), st.integers(1, 200), st.sampled_from([(1, 0), (2, 2), (3, 2), (3, 4)]))
def test_a_shoe_is_the_specified_permutation(seed: bytes, deal: int, size: tuple[int, int]) -> None:
    expected = shuffle_by_the_specification(seed, f"shoe/{deal}", [int(one) for one in deck(*size)])
    assert [int(one) for one in shuffled_shoe(seed, deal, *size)] == expected


@given(st.binary(min_size=32, max_size=32), st.integers(1, 7), st.integers(1, 9), st.lists(st.sampled_from(CARDS)))
def test_a_reshuffle_is_the_specified_permutation(seed: bytes, deal: int, count: int, cards: list[Card]) -> None:
    expected = shuffle_by_the_specification(seed, f"reshuffle/{deal}/{count}", [int(one) for one in cards])
    assert [int(one) for one in reshuffled(seed, deal, count, cards)] == expected


def test_below_skips_the_words_at_or_above_its_limit() -> None:
    limit = 3 * 2**30  # a quarter of all words is skipped
    words = words_by_the_specification(SEED, "test", 400)
    stream = Stream(SEED, "test")
    expected = [word for word in words if word < limit]
    assert len(expected) < 330
    assert [stream.below(limit) for _ in expected] == expected


def test_a_bot_seed_is_the_first_eight_bytes_of_its_digest() -> None:
    assert bot_seed(SEED, 3, 17) == int.from_bytes(sha256(SEED + b"bot/3/17").digest()[:8], "big")


@pytest.mark.parametrize("position", [0, 25, 51])
def test_every_card_comes_to_every_position_equally_often(position: int) -> None:
    # 5,200 shoes: each card is expected 100 times; chi-square with 51 degrees of freedom is below 100 in all but
    # one in 20,000 cases, and the seeds are fixed.
    counts = Counter(shuffled_shoe(number.to_bytes(32, "big"), 1)[position] for number in range(5200))
    assert sum((counts[card] - 100) ** 2 / 100 for card in CARDS[:52]) < 100


def test_neighbouring_seeds_and_deals_are_uncorrelated() -> None:
    shoes = [shuffled_shoe(number.to_bytes(32, "big"), deal) for number in range(100) for deal in (1, 2)]
    fixed = [sum(map(int.__eq__, one, other)) for one, other in pairwise(shoes)]
    assert 0.7 < sum(fixed) / len(fixed) < 1.3  # two random orders agree in one place on average
