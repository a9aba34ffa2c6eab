"""Positions that once upset the search for candidates, and what a table offers against what the judge allows."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest

from rummyarena_rules.cards import CARDS, cards
from rummyarena_rules.liverpool import LIVERPOOL, LiverpoolView
from rummyarena_rules.moves import Discard, Down, LayOff, Move, Side, Swap
from rummyarena_rules.position import read_position
from rummyarena_rules.ruleset import AnyState
from rummyarena_rules.table import Phase
from tests.rules.games import CANDIDATE_LIMIT, Setup, play, randomly
from tests.rules.random_options import random_options

_SIDES: tuple[Side, Side] = ("low", "high")


def _view(raw: dict[str, object], **options: object) -> LiverpoolView:
    configured = LIVERPOOL.configure({"jokers_per_deck": 4, "num_decks": 3, **options}, 3)
    assert not isinstance(configured, list), configured
    position = read_position("liverpool", 3, "position", {"phase": "play", **raw})
    return LIVERPOOL.view(LIVERPOOL.state_of(position, configured, 3), 0)


def _downs(hand: str, deal: int, **options: object) -> tuple[LiverpoolView, list[Move]]:
    """Returns a view of seat 0, which may go down with a hand, and the downs it is offered."""
    view = _view({"deal": deal, "hands": {"0": hand}}, **options)
    return view, [move for move in LIVERPOOL.candidates(view, CANDIDATE_LIMIT).moves if isinstance(move, Down)]


@pytest.mark.parametrize(("deal", "hand"), [(3, "4D 5D 6D 7D JK JK JK JK 9D"), (2, "4D JK JK JK JK JK 4C 9C 9S")])
def test_runs_of_one_natural_are_found(deal: int, hand: str) -> None:
    view, downs = _downs(hand, deal, min_naturals_run=1, contract_size="at_least")
    assert downs
    assert [move for move in downs if LIVERPOOL.check(view, move)] == []


@pytest.mark.parametrize(
    ("hand", "options"),
    [
        (
            "2C 2C 3C 3C 4C 4C 5C 5C 6C 6C 7C 7C 8C 8C 9C 9C TC TC JC JC QC QC KC KC KC AC AC AC JK JK JK JK JK JK",
            {},
        ),
        ("2H 2H 3H 4H 5H 6H 6H 8H 9H 9H TH JH KH JK JK JK JK JK", {}),
        ("2C 3C 4C 5C 6C 6C 7C 7C 8C 9C TC TC QC KC AC JK JK JK JK", {"same_suit_runs": "not_consecutive"}),
        ("2C 3C 4C 5C 8C 9C TC JC AH 2H JK 4H", {"same_suit_runs": "gap2"}),
        ("3D 4D JK JK 5S JK JK 8S JC JK JK QC", {"min_naturals_run": 1}),
    ],
)
def test_long_hands_of_few_suits_find_their_three_runs(hand: str, options: dict[str, object]) -> None:
    view, downs = _downs(hand, 7, **options)
    assert downs
    assert [move for move in downs if LIVERPOOL.check(view, move)] == []


@pytest.mark.parametrize(
    ("hand", "options"),
    [
        ("2S 2S 2S 3S 3S 4S 5S 5S 5S 6S 6S 7S 7S 8S 8S 8S 9S 9S TS JS JS QS KS KS AS AS 2H 2D 2C JK", {}),
        ("2H 4H 5H 5H 6H 7H 9H 9H QH KH AH JK JK JK JK", {"same_suit_runs": "gap2"}),
        ("2C 4C 6C 8C TC QC AC 2D 4D 6D 8D TD", {}),
    ],
)
def test_long_hands_that_are_no_three_runs_offer_no_down(hand: str, options: dict[str, object]) -> None:
    assert _downs(hand, 7, **options)[1] == []


def test_a_run_kept_apart_from_others_leaves_the_ace_to_one_that_needs_it() -> None:
    _, downs = _downs("2C 3C 4C QC KC AC JK JK 5D 6D 7D 8D", 7, same_suit_runs="gap2")
    assert Down((cards("JK 2C 3C 4C"), cards("JK QC KC AC"), cards("5D 6D 7D 8D"))) in downs


@pytest.mark.parametrize("deal", [2, 3, 5, 6])
def test_longer_runs_that_must_not_touch_are_found_in_a_hand_of_fifty_cards(deal: int) -> None:
    hand = (
        "2C 2C 3C 3C 3C 4C 4C 6C 7C 7C 9C 9C TC JC QC QC KC KC AC AC 2S 3S 4S 5S 5S 5S 6S 6S 7S 7S 8S 8S 8S 9S 9S 9S "
        "TS TS JS QS QS QS KS KS AS JK JK JK JK JK"
    )
    view, downs = _downs(hand, deal, contract_size="at_least", same_suit_runs="not_consecutive")
    assert downs
    assert [move for move in downs if LIVERPOOL.check(view, move)] == []


@pytest.mark.parametrize("seed", range(8))
def test_a_table_offers_just_what_the_judge_allows(seed: int) -> None:
    draws = random.Random(seed)
    seats = draws.choice(LIVERPOOL.seats)
    options = {**random_options(LIVERPOOL, seats, draws), "max_turns_per_deal": 6 * seats}
    ruleset, start = Setup("liverpool", seats, tuple(options.items()), seed).start()

    def compare(state: AnyState, _: object) -> None:
        view = LIVERPOOL.view(state, state.public.turn)
        if state.public.phase is not Phase.PLAY:
            return
        # Downs left out, for there may be more than are offered.
        offered = {move for move in LIVERPOOL.candidates(view, 10_000).moves if not isinstance(move, Down)}
        assert offered == set(_allowed(view))

    for _ in play(ruleset, start, randomly(seed), compare):
        pass


def _allowed(view: LiverpoolView) -> Iterator[Move]:
    """Yields each single lay-off, swap and discard that is legal; a side is named only where it has to be."""
    for card in CARDS:
        numbers = range(1, len(view.public.melds) + 1)
        for number in numbers:
            layoff = LayOff(number, (card,))
            named = [LayOff(number, (card,), side) for side in _SIDES]
            yield from _legal(view, [layoff]) or _legal(view, named)
        yield from _legal(view, [*(Swap(number, card) for number in numbers), Discard(card)])


def _legal(view: LiverpoolView, moves: Sequence[Move]) -> list[Move]:
    return [move for move in moves if LIVERPOOL.check(view, move) is None]


@pytest.mark.parametrize(("hand", "fitting"), [("2C", 0), ("2C 9D", 1)])
def test_the_last_card_is_not_offered_for_a_meld_if_it_has_to_be_discarded(hand: str, fitting: int) -> None:
    view = _down_seat(hand, ["2D 2H 2S"], go_out="discard_required")
    layoffs = [move for move in LIVERPOOL.candidates(view, CANDIDATE_LIMIT).moves if isinstance(move, LayOff)]
    assert len(layoffs) == fitting


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 5, 8, 13, 21])
def test_too_small_a_limit_is_divided_evenly_among_the_kinds(limit: int) -> None:
    view = _down_seat("2C 3C 4C 6C 8H 9H TS JS QS KS", [f"{rank}C {rank}D {rank}H JK" for rank in "234689TJQK"])
    offered = LIVERPOOL.candidates(view, limit)
    counts = [sum(isinstance(move, kind) for move in offered.moves) for kind in (LayOff, Swap, Discard)]
    assert sum(counts) == limit
    assert max(counts) - min(counts) <= 1
    assert counts == sorted(counts, reverse=True)
    assert not offered.complete


def _down_seat(hand: str, melds: Sequence[str], **options: object) -> LiverpoolView:
    """Returns a view of seat 0, which is down and on turn, at a table with melds."""
    placed = [{"id": f"m{number}", "owner": 0, "cards": meld} for number, meld in enumerate(melds, 1)]
    return _view({"deal": 1, "down": [0], "hands": {"0": hand}, "melds": placed}, **options)
