"""Cards and moves of the SDK: made, written, parsed, and the same on the wire as those of the rules."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rummyarena import (
    CARDS,
    JOKER,
    Card,
    Move,
    buy,
    card,
    cards,
    cut,
    discard,
    down,
    draw,
    knock,
    layoff,
    meld,
    pass_,
    swap,
    take,
    take_onto,
    take_upcard,
)
from rummyarena.cards import from_wire
from rummyarena.moves import move_from_wire, move_to_wire
from rummyarena.v1 import move_pb2
from rummyarena_rules import notation
from rummyarena_rules.cards import CARDS as RULES_CARDS
from rummyarena_rules.ruleset import Refusal
from rummyarena_server import wire

NATURALS = st.sampled_from(CARDS[:52])
ANY = st.sampled_from(CARDS)
NUMBERS = st.integers(1, 999_999_999)


def lists(some: st.SearchStrategy[Card]) -> st.SearchStrategy[list[Card]]:
    return st.lists(some, min_size=1, max_size=13)


PARTS = st.builds(meld, lists(NATURALS)) | st.builds(layoff, NUMBERS, lists(NATURALS))
THAI_MOVES = st.one_of(
    st.builds(draw),
    st.builds(pass_),
    st.builds(take, NATURALS, lists(NATURALS)),
    st.builds(take_onto, NATURALS, NUMBERS),
    PARTS,
    st.builds(discard, NATURALS),
    st.lists(PARTS, max_size=4).flatmap(lambda parts: st.builds(knock, NATURALS, *map(st.just, parts))),
)
LIVERPOOL_MOVES = st.one_of(
    st.builds(take_upcard),
    st.builds(buy),
    st.lists(lists(ANY), min_size=1, max_size=4).map(lambda groups: down(*groups)),
    st.builds(layoff, NUMBERS, lists(ANY), st.sampled_from((None, "low", "high"))),
    st.builds(swap, NUMBERS, ANY),
    st.builds(discard, ANY),
    st.builds(cut, NUMBERS),
)

EXAMPLES = {
    "draw": draw(),
    "pass": pass_(),
    "take 7H: 7H 7C 7D": take("7H", "7H 7C 7D"),
    "take QC onto m1": take_onto("QC", 1),
    "take": take_upcard(),
    "buy": buy(),
    "meld 7C 7D 7H": meld("7C 7D 7H"),
    "down 7H 7D 7S / 3C 4C 5C 6C": down("7H 7D 7S", "3C 4C 5C 6C"),
    "layoff m1: 9S TS": layoff(1, "9S TS"),
    "layoff m1 low: JK": layoff(1, [JOKER], "low"),
    "layoff m12 high: AS": layoff(12, "AS", "high"),
    "swap m1: 9C": swap(1, "9C"),
    "discard KD": discard("KD"),
    "knock 2D": knock("2D"),
    "knock 2D / meld 8H 8D 8S / layoff m4: 9S TS": knock("2D", meld("8H 8D 8S"), layoff(4, "9S TS")),
    "cut 41": cut(41),
}


# --- cards -----------------------------------------------------------------------------------------------------------


def test_a_card_knows_its_text_rank_and_suit() -> None:
    ten = card("TC")
    assert (ten.text, str(ten), f"{ten}", repr(ten), ten.rank, ten.suit) == ("TC", "TC", "TC", "Card(TC)", 10, "C")
    assert (card("AS").rank, card("2D").rank) == (14, 2)
    assert (JOKER.text, JOKER.rank, JOKER.suit) == ("JK", 0, "")


def test_cards_sort_as_the_notation_says() -> None:
    assert sorted(cards("JK 2S AC 3C KH")) == list(cards("3C AC KH 2S JK"))
    assert [one.text for one in CARDS] == [str(one) for one in RULES_CARDS]


def test_cards_can_be_copied_and_pickled() -> None:
    for copied in (copy.deepcopy(CARDS[5]), pickle.loads(pickle.dumps(CARDS[5]))):  # noqa: S301 - our own bytes
        assert (copied, type(copied), copied.text) == (CARDS[5], Card, "7C")


@pytest.mark.parametrize("text", ["", "10C", "7h", "C7", "7H 8H"])
def test_what_is_no_card_is_refused_with_the_way_to_write_one(text: str) -> None:
    with pytest.raises(ValueError, match="is not a card: write a rank"):
        card(text)


def test_numbers_of_the_future_are_left_out() -> None:
    assert from_wire([1, 0, 54, 53]) == (CARDS[0], JOKER)


# --- notation --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "move"), EXAMPLES.items())
def test_every_move_is_written_as_in_the_notation(text: str, move: Move) -> None:
    assert str(move) == text
    assert Move.parse(text) == move


@given(THAI_MOVES | LIVERPOOL_MOVES)
def test_every_move_is_read_back(move: Move) -> None:
    assert Move.parse(str(move)) == move


@pytest.mark.parametrize(
    "text",
    ["", "Draw", "draw ", "discard", "discard kd", "meld 7C  7D", "layoff m0: 9S", "knock 2D / discard 3D", "cut 0"],
)
def test_what_is_no_move_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ValueError, match="is not a move: write it like draw, "):
        Move.parse(text)


# --- the wire --------------------------------------------------------------------------------------------------------


@given(THAI_MOVES | LIVERPOOL_MOVES)
def test_every_move_survives_the_wire(move: Move) -> None:
    assert move_from_wire(move_pb2.Move.FromString(move_to_wire(move).SerializeToString())) == move


@given(THAI_MOVES)
def test_the_referee_reads_a_move_of_thai_as_its_notation_says(move: Move) -> None:
    meant = notation.parse_move("thai", str(move))
    read = wire.read_move(move_to_wire(move))
    assert meant is not None
    assert not isinstance(read, Refusal)
    assert notation.canonical("thai", read) == notation.canonical("thai", meant)


@given(LIVERPOOL_MOVES)
def test_the_referee_reads_a_move_of_liverpool_as_its_notation_says(move: Move) -> None:
    assert wire.read_move(move_to_wire(move)) == notation.parse_move("liverpool", str(move))


def test_a_move_of_the_future_is_named() -> None:
    with pytest.raises(ValueError, match="a kind that this SDK does not know"):
        move_from_wire(move_pb2.Move())
