"""What the scenarios of thai do not reach: options, melds and knocks against a brute-force oracle, accounts."""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rummyarena_rules.cards import CARDS, Card, cards, cards_in, mask_of, text_of
from rummyarena_rules.moves import Knock, LayOff, Meld
from rummyarena_rules.notation import move_text, parse_move
from rummyarena_rules.options import changed_options
from rummyarena_rules.position import read_position
from rummyarena_rules.ruleset import Reason
from rummyarena_rules.table import Phase, TableMeld
from rummyarena_rules.thai import THAI, ThaiOptions, ThaiState, ThaiView
from rummyarena_rules.thai.melds import MELD_STARTS, completes_meld, extensions, melds_in, neighbours, split_layoff
from tests.rules.offers_thai import can_knock_keeping, is_meld


def position(raw: dict[str, object], seats: int = 2, **options: object) -> ThaiState:
    configured = THAI.configure(options, seats)
    assert isinstance(configured, ThaiOptions), configured
    return THAI.state_of(read_position("thai", seats, "position", raw), configured, seats)


def turn_view(state: ThaiState) -> ThaiView:
    return THAI.view(state, state.public.turn)


# --- options ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "seats", "reason", "message"),
    [
        ({}, 5, "bad_seats", "thai is for 2 to 4 seats, not 5"),
        ({}, 1, "bad_seats", "thai is for 2 to 4 seats, not 1"),
        ({"target": 500}, 2, "bad_option", 'there is no option "target": did you mean target_tie?'),
        ({"zzz": 1}, 2, "bad_option", 'there is no option "zzz": the options are two_player_removed_cards, target'),
        ({"target_score": 0}, 2, "bad_option", "option target_score = 0: allowed is a whole number from 1 to"),
        ({"target_score": True}, 2, "bad_option", "option target_score = true: allowed is a whole number"),
        ({"max_deals": 1.5}, 2, "bad_option", "option max_deals = 1.5: allowed is a whole number from 0 to"),
        ({"head_card": 1}, 2, "bad_option", "option head_card = 1: allowed is true or false"),
        (
            {"first_player": "me"},
            2,
            "bad_option",
            'option first_player = "me": allowed is after_dealer, dealer or last',
        ),
        ({"two_player_removed_cards": 4}, 2, "bad_option", "option two_player_removed_cards = 4: allowed is 0 or 5"),
        ({"two_player_removed_cards": False}, 2, "bad_option", "option two_player_removed_cards = false: allowed is"),
        ({"two_player_removed_cards": 5}, 3, "bad_option", "option two_player_removed_cards = 5: with two seats only"),
        ({"first_player": ["dealer"]}, 2, "bad_option", 'option first_player = ["dealer"]: allowed is'),
    ],
)
def test_bad_options_are_refused_with_name_value_and_what_is_allowed(
    raw: dict[str, object], seats: int, reason: str, message: str
) -> None:
    refusals = THAI.configure(raw, seats)
    assert isinstance(refusals, list)
    assert refusals[0].reason == reason
    assert refusals[0].message.startswith(message)


def test_all_bad_options_are_told_at_once() -> None:
    refusals = THAI.configure({"head_card": 1, "nothing": 2, "max_deals": -1}, 2)
    assert isinstance(refusals, list)
    assert [refusal.reason for refusal in refusals] == [Reason.BAD_OPTION] * 3


@pytest.mark.parametrize("name", THAI.presets)
def test_presets_are_options_that_differ(name: str) -> None:
    preset = dict(THAI.presets[name])
    options = THAI.configure(preset, 2)
    assert isinstance(options, ThaiOptions)
    assert changed_options(options) == {key: preset[key] for key in changed_options(options)}
    assert len(changed_options(options)) == len(preset)


# --- melds -----------------------------------------------------------------------------------------------------------


def test_the_table_of_melds_is_every_meld() -> None:
    by_suit = [CARDS[13 * suit : 13 * suit + 13] for suit in range(4)]
    by_rank = [CARDS[rank:52:13] for rank in range(13)]
    groups = chain.from_iterable(
        combinations(some, size) for some in (*by_suit, *by_rank) for size in range(3, len(some) + 1)
    )
    assert set(MELD_STARTS) == {mask_of(group) for group in groups if is_meld(group)}


hands = st.lists(st.sampled_from(CARDS[:52]), min_size=1, max_size=14, unique=True)


@given(hands)
def test_melds_in_a_hand_are_those_that_a_search_over_all_groups_finds(hand: list[Card]) -> None:
    groups = chain.from_iterable(combinations(hand, size) for size in range(3, len(hand) + 1))
    found = melds_in(mask_of(hand))
    assert len(found) == len(set(found))
    assert set(found) == {mask_of(group) for group in groups if is_meld(group)}


@given(st.sampled_from(sorted(MELD_STARTS)), hands)
def test_a_card_extends_a_meld_when_the_two_are_a_meld(meld: int, hand: list[Card]) -> None:  # T11
    on_table = TableMeld(0, cards_in(meld), (0,) * meld.bit_count(), MELD_STARTS[meld])
    for card in set(hand) - set(on_table.cards):
        fits = is_meld((*on_table.cards, card))
        assert bool(extensions(on_table.cards, on_table.start) & card.bit) == fits
        assert (split_layoff(on_table, (card,)) is not None) == fits


@pytest.mark.parametrize(
    ("card", "around"), [("7C", "5C 6C 8C 9C 7D 7H 7S"), ("KD", "JD QD AD KC KH KS"), ("3S", "2S 4S 5S 3C 3D 3H")]
)
def test_the_neighbourhood(card: str, around: str) -> None:  # T43
    assert cards_in(neighbours(cards(card)[0])) == tuple(sorted(cards(around)))


@given(st.sampled_from(CARDS[:52]), hands)
def test_a_discard_completes_a_meld_with_any_two_cards_of_the_row(card: Card, row: list[Card]) -> None:  # T47
    row = [one for one in row if one is not card]
    expected = any(is_meld((card, *pair)) for pair in combinations(row, 2))
    assert completes_meld(card, mask_of(row)) == expected


# --- knocks ----------------------------------------------------------------------------------------------------------


@st.composite
def knocking_positions(draw: st.DrawFn) -> tuple[tuple[Card, ...], list[tuple[Card, ...]]]:
    """Hands of up to nine cards made of melds and stray cards, and up to three melds on the table."""
    melds = draw(st.lists(st.sampled_from(sorted(MELD_STARTS)).filter(lambda one: one.bit_count() <= 5), max_size=5))
    used = 0
    apart = []
    for meld in melds:
        if not meld & used:
            apart.append(meld)
            used |= meld
    on_table = draw(st.integers(0, min(3, len(apart))))
    table = [cards_in(meld) for meld in apart[:on_table]]
    fitting = [extensions(meld, MELD_STARTS[mask_of(meld)]) for meld in table]
    pool = [*(card for meld in apart[on_table:] for card in cards_in(meld))]
    pool += [card for mask in fitting for card in cards_in(mask)]
    pool += draw(st.lists(st.sampled_from(CARDS[:52]), min_size=2, max_size=3))
    taken = set(chain.from_iterable(table))
    hand = tuple(sorted({card for card in pool if card not in taken}))[:9]
    return hand, table


@given(knocking_positions())
def test_a_knock_is_found_for_each_card_that_a_plain_search_can_keep(
    case: tuple[tuple[Card, ...], list[tuple[Card, ...]]],
) -> None:
    hand, table = case
    if len(hand) < 2:
        return
    melds = [{"id": f"m{at}", "owner": 0, "cards": text_of(meld)} for at, meld in enumerate(table, 1)]
    view = turn_view(position({"turn": 1, "phase": "play", "hands": {"1": text_of(hand)}, "melds": melds, "born": [0]}))
    offered = THAI.candidates(view, 64)
    assert offered.complete
    kept = {move.card for move in offered.moves if isinstance(move, Knock)}
    assert kept == {card for card in hand if can_knock_keeping(hand, tuple(table), card)}


def test_a_knock_may_use_a_meld_laid_earlier_in_it() -> None:  # T22
    view = turn_view(position({"turn": 1, "phase": "play", "hands": {"1": "7C 7D 7H 7S 2C"}}))
    assert THAI.check(view, Knock(cards("2C")[0], (Meld(cards("7C 7D 7H")), LayOff(1, cards("7S"))))) is None
    wrong_order = Knock(cards("2C")[0], (LayOff(1, cards("7S")), Meld(cards("7C 7D 7H"))))
    refusal = THAI.check(view, wrong_order)
    assert refusal is not None
    assert refusal.reason is Reason.NO_SUCH_MELD


# --- the stock and the last turn -------------------------------------------------------------------------------------


def answer(state: ThaiState, *texts: str) -> None:
    for text in texts:
        move = parse_move("thai", text)
        assert move is not None
        assert THAI.check(turn_view(state), move) is None, text
        for event in THAI.resolve(state, {state.public.turn: move}):
            THAI.evolve(state, event)


def nearly_exhausted(stock_exhausted: str = "last_turn") -> ThaiState:
    raw: dict[str, object] = {
        "turn": 0, "hands": {"0": "2C 3D", "1": "4H 8S"}, "discards": "KD* 9S@0~2 TC@1", "stock": "JH", "rest": "aside",
    }  # fmt: skip
    return position(raw, stock_exhausted=stock_exhausted)


def test_an_empty_stock_brings_the_last_turn_and_a_pass_ends_the_deal() -> None:  # T26, T27
    state = nearly_exhausted()
    answer(state, "draw", "discard JH")
    assert state.public.facts.last_turn
    assert THAI.candidates(turn_view(state), 64).moves == (parse_move("thai", "pass"),)
    answer(state, "pass")
    assert state.public.result is not None
    assert (state.public.result.end, state.public.result.seat) == ("exhausted", None)
    assert state.public.result.scores == (-55, -10)  # T34: nothing is doubled without a knock


def test_an_empty_stock_ends_the_deal_at_once_under_immediate() -> None:
    state = nearly_exhausted(stock_exhausted="immediate")
    answer(state, "draw", "discard JH")
    assert state.public.result is not None
    assert state.public.result.end == "exhausted"


def test_the_row_becomes_the_stock_once_under_reshuffle() -> None:
    state = nearly_exhausted(stock_exhausted="reshuffle")
    answer(state, "draw", "discard JH")
    assert text_of(one.card for one in state.public.discards) == "JH"
    assert sorted(state.stock) == sorted(cards("KD 9S TC"))
    assert state.public.facts.head is None  # T26: the head is an ordinary card from then on
    assert state.public.turn_number == 4
    for _ in range(3):
        drawn = state.stock[-1]
        answer(state, "draw", f"discard {drawn}")
    assert state.public.facts.last_turn
    assert len(state.public.discards) == 4


# --- accounts --------------------------------------------------------------------------------------------------------


def settled(
    totals: list[int], scores: list[int], options: dict[str, object], deal: int = 1
) -> tuple[tuple[int, ...], bool]:
    configured = THAI.configure(options, len(totals))
    state = THAI.start(configured, len(totals), bytes(32))  # type: ignore[arg-type]
    state.public.totals, state.public.deal = totals, deal
    return THAI.settle(state.public, scores)


@pytest.mark.parametrize(
    ("totals", "scores", "options", "over"),
    [
        ([490, 0], [10, 499], {}, True),
        ([490, 490], [10, 10], {}, False),  # T40: a tie at the top is played on
        ([490, 490], [10, 10], {"target_tie": "shared"}, True),
        ([510, 510], [-20, -30], {}, False),  # T40: after a tie the leader again needs 500
        ([0, 0], [499, 1], {}, False),
        ([0, 0], [1, 1], {"target_score": 1, "target_tie": "shared"}, True),
        ([0, 0], [1, 1], {"max_deals": 1}, True),  # T41
    ],
)
def test_the_end_of_the_game(totals: list[int], scores: list[int], options: dict[str, object], over: bool) -> None:
    assert settled(totals, scores, options)[1] == over


def test_no_cap_means_no_cap() -> None:
    assert settled([0, 0], [1, 2], {"max_deals": 0}, deal=10_000)[1] is False
    assert settled([0, 0], [1, 2], {}, deal=100)[1] is True


def test_placement_shares_ranks_and_skips_the_following() -> None:  # T42
    state = position({"totals": [515, 130, 130, -20]}, seats=4)
    state.public.over, state.public.phase = True, Phase.OVER
    result = THAI.result(state)
    assert result is not None
    assert (result.ranks, result.winners) == ((1, 2, 2, 4), (0,))


@pytest.mark.parametrize(
    ("option", "foolish", "direction", "following"),
    [
        ("persist", True, 1, -1),
        ("persist", True, -1, 1),
        ("persist", False, -1, -1),
        ("next_deal_only", True, -1, -1),
        ("next_deal_only", True, 1, -1),
        ("next_deal_only", False, -1, 1),
        ("off", True, 1, 1),
    ],
)
def test_the_direction_after_a_foolish_deal(option: str, foolish: bool, direction: int, following: int) -> None:  # T53
    # Seat 1 (or seat 3 when play runs the other way) takes just the discard of seat 0 and knocks.
    raw: dict[str, object] = {
        "turn": 0, "dealer": 0, "direction": direction, "phase": "play", "born": [0],
        "hands": {"0": "8S KD 4H", "1": "6S 7S 2H", "3": "6C 7C 2D"}, "discards": "QH*",
    }  # fmt: skip
    state = position(raw, seats=4, foolish_reversal=option)
    if foolish:
        other = 1 if direction == 1 else 3
        state.privates[other].hand = list(cards("2H 6S 7S"))
        answer(state, "discard 8S", "take 8S: 6S 7S 8S")
        assert [penalty.rule for penalty in state.public.facts.penalties] == ["foolish"]
    else:
        state.privates[0].hand = sorted(cards("8C 8D 8S 4H"))
        answer(state, "knock 4H / meld 8C 8D 8S")
    opening = THAI.next_deal(state.public)
    assert opening is not None
    assert (opening.direction, opening.dealer) == (following, following % 4)
    assert opening.first == (opening.dealer + following) % 4


@pytest.mark.parametrize(("option", "first"), [("after_dealer", 2), ("dealer", 1), ("last_knocker", 0)])
def test_who_starts_the_next_deal(option: str, first: int) -> None:  # T4
    state = position(
        {"turn": 0, "dealer": 0, "phase": "play", "hands": {"0": "8C 8D 8S 4H"}}, seats=3, first_player=option
    )
    answer(state, "knock 4H / meld 8C 8D 8S")
    opening = THAI.next_deal(state.public)
    assert opening is not None
    assert (opening.dealer, opening.first) == (1, first)


def test_moves_are_written_as_the_notation_says() -> None:
    view = turn_view(position({"turn": 1, "phase": "play", "born": [1], "hands": {"1": "8C 8D 8S 2C KH"}}))
    texts = [move_text(move) for move in THAI.candidates(view, 64).moves]
    assert texts == ["meld 8C 8D 8S", "discard 2C", "discard KH", "discard 8C", "discard 8D", "discard 8S"]
