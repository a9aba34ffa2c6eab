"""Moves and positions as text, both ways."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rummyarena_rules.cards import CARDS, JOKER, Card, card, cards, text_of
from rummyarena_rules.moves import (
    Buy,
    Cut,
    Discard,
    Down,
    Draw,
    Knock,
    LayOff,
    Meld,
    Move,
    Pass,
    Swap,
    Take,
    TakeOnto,
    TakeUpcard,
)
from rummyarena_rules.notation import canonical, move_text, parse_move
from rummyarena_rules.position import read_position, write_position

naturals = st.sampled_from(CARDS[:52])
any_cards = st.sampled_from(CARDS)
melds = st.integers(1, 99)
sorted_cards = st.lists(naturals, min_size=1, max_size=13).map(lambda some: tuple(sorted(some)))
written_cards = st.lists(any_cards, min_size=1, max_size=14).map(tuple)
parts = st.one_of(st.builds(Meld, sorted_cards), st.builds(LayOff, melds, sorted_cards))

thai_moves = st.one_of(
    st.builds(Draw),
    st.builds(Pass),
    st.builds(Take, naturals, sorted_cards),
    st.builds(TakeOnto, naturals, melds),
    st.builds(Meld, sorted_cards),
    st.builds(LayOff, melds, sorted_cards),
    st.builds(Discard, naturals),
    st.builds(Knock, naturals, st.lists(parts, max_size=5).map(tuple)),
)
liverpool_moves = st.one_of(
    st.builds(Draw),
    st.builds(Pass),
    st.builds(TakeUpcard),
    st.builds(Buy),
    st.builds(Down, st.lists(written_cards, min_size=1, max_size=3).map(tuple)),
    st.builds(LayOff, melds, written_cards, st.sampled_from([None, "low", "high"])),
    st.builds(Swap, melds, any_cards),
    st.builds(Discard, any_cards),
    st.builds(Cut, st.integers(1, 170)),
)


@given(thai_moves)
def test_thai_moves_survive_notation(move: Move) -> None:
    assert parse_move("thai", move_text(move)) == move


@given(liverpool_moves)
def test_liverpool_moves_survive_notation(move: Move) -> None:
    assert parse_move("liverpool", move_text(move)) == move


@given(st.text("meldtakpsyofhigwrcuvb 7HC:/m123JK0", max_size=30), st.sampled_from(["thai", "liverpool"]))
def test_what_is_parsed_is_written_alike(text: str, game: str) -> None:
    move = parse_move(game, text)
    assert move is None or parse_move(game, move_text(move)) == move


@pytest.mark.parametrize(
    ("game", "text", "move"),
    [
        ("thai", "take 7H: 7H 7C 7D", Take(card("7H"), cards("7C 7D 7H"))),
        ("thai", "take QC onto m1", TakeOnto(card("QC"), 1)),
        ("thai", "layoff m12: TS 9S", LayOff(12, cards("9S TS"))),
        ("thai", "knock 2D / meld 8H 8D 8S / layoff m4: 9S TS",
         Knock(card("2D"), (Meld(cards("8D 8H 8S")), LayOff(4, cards("9S TS"))))),
        ("liverpool", "down JK 8S 9S TS / 3C 4C 5C 6C", Down((cards("JK 8S 9S TS"), cards("3C 4C 5C 6C")))),
        ("liverpool", "layoff m1 low: JK", LayOff(1, (JOKER,), "low")),
        ("liverpool", "take", TakeUpcard()),
        ("liverpool", "cut 41", Cut(41)),
    ],
)  # fmt: skip
def test_the_examples_of_the_notation(game: str, text: str, move: Move) -> None:
    assert parse_move(game, text) == move


@pytest.mark.parametrize(
    "text",
    [
        "", " draw", "draw ", "Draw", "meld", "meld 7C  7D", "meld 7c 7D 7H", "meld 10C", "meld JK 7C 7D", "take",
        "take 7H", "take 7H:7H 7C", "layoff m0: 9S", "layoff m01: 9S", "layoff 9S", "layoff m1 high: 9S", "knock",
        "knock 2D / discard 3C", "knock 2D/ meld 2C 2D 2H", "buy", "cut 20", "swap m1: 9C", "down 2C 3C 4C",
        "discard 7H 8H", "discard 7H\n", "pass pass", "layoff m\u0661: 9S",
    ],
)  # fmt: skip
def test_other_texts_are_malformed_in_thai(text: str) -> None:
    assert parse_move("thai", text) is None


@pytest.mark.parametrize(
    "text",
    ["take 7H: 7H 7C 7D", "meld 7C 7D 7H", "knock 2D", "cut 0", "cut -1", "layoff m1 top: 2C", "swap m1 2C", "down"],
)
def test_other_texts_are_malformed_in_liverpool(text: str) -> None:
    assert parse_move("liverpool", text) is None


def test_a_number_of_any_length_is_read() -> None:
    assert parse_move("liverpool", "cut " + "9" * 10_000) == Cut(10**9)


@given(thai_moves.filter(lambda move: isinstance(move, Meld | Take | LayOff)))
def test_the_order_of_cards_is_irrelevant_in_thai(move: Meld | Take | LayOff) -> None:
    assert canonical("thai", replace(move, cards=move.cards[::-1])) == move


def test_the_order_of_cards_matters_in_liverpool_runs_only() -> None:
    def same(one: str, other: str) -> bool:
        moves = [parse_move("liverpool", text) for text in (one, other)]
        assert None not in moves
        return len({canonical("liverpool", move) for move in moves if move}) == 1

    assert same("down 7H 7D 7S / 3C 4C 5C 6C", "down 3C 4C 5C 6C / 7S 7H 7D")
    assert not same("down JK 8S 9S TS", "down 8S 9S TS JK")
    assert not same("layoff m1: 8S 9S", "layoff m1: 9S 8S")


def test_the_order_of_cards_matters_where_one_natural_may_be_a_run() -> None:  # L10, L11 with min_naturals_run 1
    def order_matters(*texts: str) -> bool:
        return len({canonical("liverpool", Down((cards(text),))) for text in texts}) == len(texts)

    ace_to_ace = f"AS {'JK ' * 12}AS"
    assert order_matters("8S JK JK JK", "JK 8S JK JK", "JK JK JK 8S")
    assert order_matters(ace_to_ace, f"AS AS{' JK' * 12}")
    assert not order_matters("8S JK JK", "JK JK 8S")  # too short for a run
    assert not order_matters("8S 8D JK JK", "JK 8D JK 8S")  # no run has two eights


def test_cards_are_interned_and_sorted_as_the_notation_says() -> None:
    assert text_of(sorted(cards("JK AS 2C TD 9D KH JK AC"))) == "2C AC 9D TD KH AS JK JK"
    assert all(card(str(one)) is one for one in CARDS)
    assert [one.rank for one in cards("2S AS")] == [0, 12]
    assert [one.suit for one in cards("2C 2D 2H 2S")] == [0, 1, 2, 3]
    for text in ("7h", "10H", "", "7H ", "JKJK", "1C"):
        with pytest.raises(ValueError, match="is not a card"):
            card(text)


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"turn": 1, "phase": "play", "hands": {"0": "2C", "1": "3C 3D"}, "born": [0], "totals": [5, -5]},
        {"turn": 1, "discards": "7H* 9H@0 KC@1~3 4D@0", "stock": "AS", "rest": "aside", "last_turn": True},
        {"melds": [{"id": "m1", "owner": 0, "cards": "8C 9C TC JC@1"}], "deal": 4, "direction": -1, "dealer": 1},
    ],
)
def test_positions_survive_json(raw: dict[str, object]) -> None:
    position = read_position("thai", 2, "position", raw)
    assert write_position("thai", position) == raw


def test_a_card_survives_pickle_as_the_same_object() -> None:
    one: Card = card("7H")
    assert pickle.loads(pickle.dumps(one)) is one  # noqa: S301 - our own bytes
    assert copy.deepcopy([one])[0] is one
