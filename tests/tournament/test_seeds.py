"""Every seed follows from the event secret as the text of the module says, and no two purposes share one."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rummyarena_server.tournament.seeds import digest, game_seed

SECRET = bytes(range(32))
NUMBERS = st.integers(0, 10**12)


def test_a_group_that_shares_its_deals_has_one_seed() -> None:
    assert game_seed(SECRET, 12) == sha256(SECRET + b"deals/12").digest()


def test_a_game_with_deals_of_its_own_has_a_seed_of_its_own() -> None:
    assert game_seed(SECRET, 12, 1) == sha256(SECRET + b"deals/12/1").digest()
    assert game_seed(SECRET, 0, 0) == sha256(SECRET + b"deals/0/0").digest()


def test_a_game_that_was_begun_before_has_another_seed() -> None:
    assert game_seed(SECRET, 12, 1, attempt=2) == sha256(SECRET + b"deals/12/1/2").digest()
    assert game_seed(SECRET, 12, 1, attempt=0) == game_seed(SECRET, 12, 1)


def test_the_digest_is_the_hash_of_the_seed() -> None:
    assert digest(game_seed(SECRET, 3)).hex() == sha256(sha256(SECRET + b"deals/3").digest()).hexdigest()


KEYS = st.tuples(NUMBERS) | st.tuples(NUMBERS, st.integers(0, 7)) | st.tuples(NUMBERS, st.integers(0, 7), NUMBERS)


@given(st.lists(KEYS.filter(lambda key: key[2:] != (0,)), unique=True, min_size=2))
def test_no_two_games_have_the_same_seed(keys: list[tuple[int, ...]]) -> None:
    assert len({game_seed(SECRET, *key) for key in keys}) == len(keys)


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes, not 31"):
        game_seed(SECRET[1:], 0)
    with pytest.raises(ValueError, match="no attempts"):
        game_seed(SECRET, 0, attempt=1)
