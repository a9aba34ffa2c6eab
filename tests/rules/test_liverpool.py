"""What the scenarios of liverpool do not reach: options, melds and downs against brute force, windows, chance."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from itertools import islice, permutations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rummyarena_rules.cards import CARDS, JOKER, Card, card, cards, text_of
from rummyarena_rules.events import DealEnded, Event, ShoeCut, StockReshuffled, UpcardBought, WindowClosed, WindowOpened
from rummyarena_rules.liverpool import LIVERPOOL, LiverpoolOptions, LiverpoolState, LiverpoolView
from rummyarena_rules.liverpool.melds import Misfit, card_at, set_or_run, sides, split_layoff, swap_index
from rummyarena_rules.liverpool.options import CONTRACTS
from rummyarena_rules.liverpool.scoring import values
from rummyarena_rules.moves import Buy, Cut, Discard, Down, Draw, LayOff, Meld, Move, Pass, Side, Swap, TakeUpcard
from rummyarena_rules.notation import move_text, parse_move
from rummyarena_rules.options import changed_options
from rummyarena_rules.position import read_position
from rummyarena_rules.ruleset import AnyView, Decision, Reason, Ruleset
from rummyarena_rules.shoe import Stream, reshuffled, shuffled_shoe
from rummyarena_rules.table import Phase, TableMeld
from tests.rules.games import Setup, play, randomly
from tests.rules.offers_liverpool import compare_liverpool, every_down, every_other_move
from tests.second_opinion.liverpool_melds import kind_of

LIMIT = 64


def configured(seats: int = 3, /, **options: object) -> LiverpoolOptions:
    found = LIVERPOOL.configure(options, seats)
    assert isinstance(found, LiverpoolOptions), found
    return found


def position(raw: Mapping[str, object], seats: int = 3, /, **options: object) -> LiverpoolState:
    return LIVERPOOL.state_of(read_position("liverpool", seats, "position", raw), configured(seats, **options), seats)


def turn_view(state: LiverpoolState) -> LiverpoolView:
    return LIVERPOOL.view(state, state.public.turn)


def parsed(text: str) -> Move:
    move = parse_move("liverpool", text)
    assert move is not None, text
    return move


def answer(state: LiverpoolState, answers: Mapping[int, str | None]) -> tuple[Event, ...]:
    """Lets seats play legal moves and applies what follows; `None`: the rules answer."""
    moves = {seat: parsed(text) if text else None for seat, text in answers.items()}
    for seat, move in moves.items():
        assert move is None or LIVERPOOL.check(LIVERPOOL.view(state, seat), move) is None, (seat, move)
    events = LIVERPOOL.resolve(state, moves)
    for event in events:
        LIVERPOOL.evolve(state, event)
    return events


# --- options ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "seats", "reason", "message"),
    [
        ({}, 2, "bad_seats", "liverpool is for 3 to 8 seats, not 2"),
        ({}, 9, "bad_seats", "liverpool is for 3 to 8 seats, not 9"),
        ({"jokers": 2}, 3, "bad_option", 'there is no option "jokers": did you mean joker_points?'),
        ({"num_decks": 4}, 3, "bad_option", "option num_decks = 4: allowed is auto, 2 or 3"),
        ({"jokers_per_deck": 5}, 3, "bad_option", "option jokers_per_deck = 5: allowed is a whole number from 0 to 4"),
        ({"hand_sizes": [10] * 6}, 3, "bad_option", "option hand_sizes = [10, 10, 10, 10, 10, 10]: allowed is a list"),
        ({"hand_sizes": [12.0] * 7}, 3, "bad_option", "option hand_sizes = [12.0, "),
        ({"hand_sizes": [0] + [12] * 6}, 3, "bad_option", "option hand_sizes = [0, "),
        (
            {"hand_sizes": "7"},
            3,
            "bad_option",
            'option hand_sizes = "7": allowed is a list of 7 whole numbers, each',
        ),
        (
            {"hand_sizes": [10, 10, 10, 10, 12, 12, 10]},
            3,
            "bad_option",
            "option hand_sizes: deal 7 needs hands of at least 11 cards for its contract, not 10",
        ),
        (
            {"num_decks": 2, "jokers_per_deck": 0, "hand_sizes": [13] * 7},
            8,
            "bad_option",
            "options num_decks, jokers_per_deck, hand_sizes: deal 1 needs 106 cards for 8 seats, the shoe has 104",
        ),
        ({"max_turns_per_deal": -1}, 3, "bad_option", "option max_turns_per_deal = -1: allowed is auto or a whole"),
        ({"max_turns_per_deal": "never"}, 3, "bad_option", 'option max_turns_per_deal = "never": allowed is auto or'),
        ({"run_max": 3}, 3, "bad_option", "option run_max = 3: allowed is a whole number from 4 to 14"),
        ({"tie_break": "coin"}, 3, "bad_option", 'option tie_break = "coin": allowed is shared or deal7_score'),
    ],
)
def test_bad_options_are_refused_with_name_value_and_what_is_allowed(
    raw: dict[str, object], seats: int, reason: str, message: str
) -> None:
    refusals = LIVERPOOL.configure(raw, seats)
    assert isinstance(refusals, list)
    assert refusals[0].reason == reason
    assert refusals[0].message.startswith(message)


def test_every_deal_that_cannot_be_is_told() -> None:
    refusals = LIVERPOOL.configure({"hand_sizes": [1] * 7}, 3)
    assert isinstance(refusals, list)
    assert len(refusals) == 7


@pytest.mark.parametrize("name", LIVERPOOL.presets)
def test_presets_are_options_that_differ(name: str) -> None:
    preset = dict(LIVERPOOL.presets[name])
    assert changed_options(configured(**preset)) == preset


def test_hand_sizes_are_the_same_option_as_list_and_as_tuple_and_after_json() -> None:
    sizes = [11, 10, 10, 10, 12, 12, 12]
    options = configured(hand_sizes=sizes)
    assert options == configured(hand_sizes=tuple(sizes))
    assert configured(**json.loads(json.dumps(changed_options(options)))) == options
    assert changed_options(configured(hand_sizes=[10, 10, 10, 10, 12, 12, 12])) == {}


# --- melds -----------------------------------------------------------------------------------------------------------

few_cards = st.sampled_from(cards("AS 2S 3S 4S 5S 6S QS KS 3D 4D AD 3H JK JK"))
any_side: st.SearchStrategy[Side | None] = st.sampled_from([None, "low", "high"])
groups = st.lists(few_cards, min_size=1, max_size=7).map(tuple)


@st.composite
def runs(draw: st.DrawFn, least: int = 3) -> tuple[int, tuple[Card, ...]]:
    """A run with its start: some cards of it jokers, at least `least` not."""
    suit, length = draw(st.integers(0, 3)), draw(st.integers(4, 14))
    start = draw(st.integers(1, 15 - length))
    jokers = draw(st.sets(st.integers(0, length - 1), max_size=min(4, length - least)))
    return start, tuple(JOKER if at in jokers else card_at(start + at, suit) for at in range(length))


minima = st.fixed_dictionaries(
    {"min_naturals_set": st.integers(1, 3), "min_naturals_run": st.integers(1, 4), "run_max": st.integers(4, 14)}
)


@given(st.one_of(groups, runs(least=1).map(lambda one: one[1])), minima)
def test_a_group_is_what_the_naive_reading_says(group: tuple[Card, ...], options: dict[str, int]) -> None:
    found = set_or_run(group, configured(**options))
    naive = kind_of([str(one) for one in group], options)
    assert (found if isinstance(found, Reason) else "run" if found else "set") == naive


def on_table(start: int, some: tuple[Card, ...]) -> TableMeld:
    return TableMeld(1, some, (1,) * len(some), start)


def is_run_from(start: int, some: tuple[Card, ...], suit: int) -> bool:
    fits = (one in (JOKER, card_at(start + at, suit)) for at, one in enumerate(some))
    return start >= 1 and start + len(some) <= 15 and all(fits)


@given(runs(), st.sampled_from(CARDS), st.integers(4, 14))
def test_a_card_fits_a_run_where_the_longer_one_is_a_run(
    run: tuple[int, tuple[Card, ...]], one: Card, most: int
) -> None:
    start, some = run
    suit = next(other.suit for other in some if other is not JOKER)
    fitting = {"low": is_run_from(start - 1, (one, *some), suit), "high": is_run_from(start, (*some, one), suit)}
    expected = tuple(side for side, fits in fitting.items() if fits and len(some) < most)
    assert sides(on_table(start, some), one, most) == expected


@given(runs(), st.lists(st.sampled_from(CARDS), min_size=1, max_size=4), any_side)
def test_a_layoff_of_several_cards_is_one_after_another(
    run: tuple[int, tuple[Card, ...]], some: list[Card], side: Side | None
) -> None:
    start, meld = run
    split = split_layoff(on_table(start, meld), some, side, 14)
    for one in some:
        fitting = sides(on_table(start, meld), one, 14)
        if side not in fitting and (side or len(fitting) != 1):
            reason = Reason.SIDE_REQUIRED if len(fitting) == 2 and not side else Reason.DOES_NOT_EXTEND
            assert split == Misfit(one, reason)
            return
        low = (side or fitting[0]) == "low"
        start, meld = (start - 1, (one, *meld)) if low else (start, (*meld, one))
    assert not isinstance(split, Misfit)
    assert split[0][::-1] + run[1] + split[1] == meld


@given(runs(), st.sampled_from(CARDS[:52]))
def test_a_natural_replaces_the_highest_joker_that_stands_for_it(run: tuple[int, tuple[Card, ...]], one: Card) -> None:
    start, some = run
    suit = next(other.suit for other in some if other is not JOKER)
    fitting = [
        at
        for at, other in enumerate(some)
        if other is JOKER and is_run_from(start, (*some[:at], one, *some[at + 1 :]), suit)
    ]
    assert swap_index(on_table(start, some), one) == max(fitting, default=None)


# --- downs against brute force ---------------------------------------------------------------------------------------


@st.composite
def hands_near_a_contract(draw: st.DrawFn) -> tuple[int, tuple[Card, ...]]:
    """A deal and a hand that holds its contract or nearly so: of few faces, some changed for jokers and others."""
    deal = draw(st.integers(1, 7))
    sets, run_count = CONTRACTS[deal - 1]
    hand: list[Card] = []
    for _ in range(sets):
        rank = draw(st.sampled_from([3, 4, 12]))
        hand += [CARDS[13 * suit + rank] for suit in draw(st.lists(st.integers(0, 3), min_size=3, max_size=3))]
    for _ in range(run_count):
        suit, start = draw(st.integers(0, 1 if deal < 7 else 3)), draw(st.sampled_from([1, 2, 4, 5, 8, 11]))
        hand += [card_at(start + at, suit) for at in range(4)]
    for _ in range(draw(st.integers(0, 3))):
        hand[draw(st.integers(0, len(hand) - 1))] = draw(st.sampled_from([JOKER, JOKER, CARDS[3], CARDS[16]]))
    hand += draw(st.lists(st.sampled_from([*CARDS[:8], *CARDS[13:18], JOKER]), max_size=1 if deal > 4 else 2))
    three_decks = Counter(dict.fromkeys(CARDS, 3)) + Counter({JOKER: 9})
    return deal, tuple(sorted((Counter(hand) & three_decks).elements()))


down_options = st.fixed_dictionaries(
    {
        "same_suit_runs": st.sampled_from(["any", "not_consecutive", "gap2"]),
        "min_naturals_set": st.integers(1, 3),
        "min_naturals_run": st.integers(1, 4),
        "go_out": st.sampled_from(["play_or_discard", "discard_required"]),
        "deal7_final_discard": st.booleans(),
        "contract_size": st.sampled_from(["exact", "exact", "at_least"]),
        "run_max": st.sampled_from([4, 5, 14]),
    }
)


@settings(max_examples=150)
@given(hands_near_a_contract(), down_options)
def test_a_down_is_offered_exactly_if_brute_force_finds_one(
    case: tuple[int, tuple[Card, ...]], options: dict[str, object]
) -> None:
    deal, hand = case
    raw = {"deal": deal, "phase": "play", "hands": {"0": text_of(hand)}}
    view = turn_view(position(raw, 5, jokers_per_deck=4, **options))
    complete = compare_liverpool(view)
    if options["contract_size"] == "exact" and len([*islice(every_down(view), 13)]) <= 12:
        assert complete


@pytest.mark.parametrize(
    ("deal", "hand"),
    [
        # The natural 8 has to go into the upper run and both 7s one into each: no greedy choice of either run works.
        (3, "5S 6S 7S 8S 8S 9S JK JK 2D"),
        (3, "AC 2C 3C 4C JC QC KC AC 2D"),  # both aces of one suit, at both ends
        (7, "AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC JK 2D 3D 4D 5D 6D 9H TH JH QH"),  # a run of fourteen
        (7, "2C 3C 4C 5C 5C 6C 7C 8C 5C 6C 7C JK JH"),  # three runs of one suit, and a card to discard
    ],
)
def test_a_contract_that_is_hard_to_see_is_found(deal: int, hand: str) -> None:
    view = turn_view(position({"deal": deal, "phase": "play", "hands": {"0": hand}}, 5))
    assert isinstance(LIVERPOOL.candidates(view, LIMIT).moves[0], Down)


def test_the_down_offered_first_keeps_the_jokers_and_lays_dear_cards() -> None:
    view = turn_view(position({"phase": "play", "hands": {"0": "2C 2D 2H 9C 9D 9H KC KD KH JK 4S"}}))
    assert move_text(LIVERPOOL.candidates(view, LIMIT).moves[0]) == "down KC KD KH / 9C 9D 9H"


# --- candidates ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", LIVERPOOL.presets)
@pytest.mark.parametrize("go_out", ["play_or_discard", "discard_required"])
def test_all_other_moves_are_offered(preset: str, go_out: str) -> None:
    options = {**LIVERPOOL.presets[preset], "max_turns_per_deal": 60, "go_out": go_out}
    ruleset, state = Setup("liverpool", 3, tuple(options.items()), seed=11).start()
    kinds = Counter[type[Move]]()

    def compare(state: LiverpoolState, answers: Mapping[int, Move | None]) -> None:
        for seat in answers:
            view = ruleset.view(state, seat)
            offered = ruleset.candidates(view, 1000)
            moves = {move for move in offered.moves if not isinstance(move, Down)}
            assert moves == every_other_move(view)
            kinds.update(map(type, offered.moves))

    for _ in play(ruleset, state, first_candidate, compare):
        pass
    assert all(kinds[kind] for kind in (Draw, TakeUpcard, Buy, Pass, Down, LayOff, Swap, Discard))


def first_candidate(ruleset: Ruleset[Any], view: AnyView) -> Move:
    return ruleset.candidates(view, LIMIT).moves[0]


def test_where_room_is_short_one_move_of_each_kind_is_left() -> None:
    raw = {
        "deal": 2, "phase": "play", "down": [0], "hands": {"0": "5C 7C 8C 9C TC JC QC JK 2D"},
        "melds": [{"id": f"m{number}", "owner": 1, "cards": "3C 4C JK 6C"} for number in range(1, 4)],
    }  # fmt: skip
    view = turn_view(position(raw, 5, jokers_per_deck=4, joker_after_swap="to_hand"))
    everything = LIVERPOOL.candidates(view, LIMIT)
    assert everything.complete
    for limit in range(3, len(everything.moves)):
        offered = LIVERPOOL.candidates(view, limit)
        assert len(offered.moves) == limit
        assert not offered.complete
        assert {type(move) for move in offered.moves} == {LayOff, Swap, Discard}
    assert LIVERPOOL.candidates(view, 0).moves == ()


def test_cuts_are_offered_with_the_exact_one_first() -> None:
    ruleset, state = Setup("liverpool", 3, (("cut_mode", "choose"),)).start()
    for event in ruleset.deal(state):
        ruleset.evolve(state, event)
    assert ruleset.decisions(state) == {2: Decision(("cut",))}
    offered = ruleset.candidates(ruleset.view(state, 2), LIMIT)
    assert offered.moves[0] == Cut(31)
    assert (len(offered.moves), offered.complete) == (54, False)  # every second one
    everything = ruleset.candidates(ruleset.view(state, 2), 200)
    assert (len(everything.moves), everything.complete) == (107, True)
    assert ruleset.candidates(ruleset.view(state, 1), LIMIT).moves == ()


def test_who_follows_the_first_candidate_finishes_the_game() -> None:
    ruleset, state = Setup("liverpool", 4, seed=4).start()
    ends = [event.end for event in play(ruleset, state, first_candidate) if isinstance(event, DealEnded)]
    assert ends == ["out"] * 7


# --- windows ---------------------------------------------------------------------------------------------------------


def open_window(**options: object) -> LiverpoolState:
    raw = {"turn": 1, "hands": {"0": "QH", "1": "2C", "2": "3C", "3": "QS"}, "discards": "QD", "stock": "5D 6D 7D"}
    state = position(raw, 4, **options)
    events = answer(state, {1: "draw"})
    assert WindowOpened((2, 3, 0)) in events
    return state


def test_a_window_asks_all_at_once_nearest_first() -> None:
    state = open_window()
    assert state.public.phase is Phase.BUY
    assert list(LIVERPOOL.decisions(state)) == [2, 3, 0]
    assert LIVERPOOL.candidates(LIVERPOOL.view(state, 1), LIMIT).moves == ()
    assert set(LIVERPOOL.candidates(LIVERPOOL.view(state, 2), LIMIT).moves) == {Buy(), Pass()}
    assert LIVERPOOL.candidates(LIVERPOOL.view(state, 2, answered=True), LIMIT).moves == ()


@pytest.mark.parametrize("buy_window", ["before_draw", "after_draw"])
@pytest.mark.parametrize("wishes", list(product(["buy", "pass"], repeat=3)))
def test_any_order_of_answers_gives_the_same_events(buy_window: str, wishes: tuple[str, ...]) -> None:
    answers = dict(zip([2, 3, 0], wishes, strict=True))
    orders = permutations(answers.items())
    outcomes = [answer(open_window(buy_window=buy_window), dict(order)) for order in orders]
    assert all(outcome == outcomes[0] for outcome in outcomes)
    buyer = next((seat for seat in (2, 3, 0) if answers[seat] == "buy"), None)  # L19
    assert outcomes[0][0] == WindowClosed(buyer)


def test_the_answers_stay_sealed() -> None:
    losing_bid = answer(open_window(), {2: "buy", 3: "buy", 0: "buy"})
    no_bid = answer(open_window(), {2: "buy", 3: "pass", 0: "pass"})
    assert losing_bid == no_bid


# --- chance ----------------------------------------------------------------------------------------------------------


def dealt(seats: int = 3, seed: int = 5, **options: object) -> tuple[LiverpoolState, tuple[Event, ...]]:
    state = LIVERPOOL.start(configured(seats, **options), seats, seed.to_bytes(32, "big"))
    events = LIVERPOOL.deal(state)
    for event in events:
        LIVERPOOL.evolve(state, event)
    return state, events


def test_the_automatic_cut_is_drawn_from_its_own_stream() -> None:  # L4
    state, events = dealt()
    (cut,) = (event for event in events if isinstance(event, ShoeCut))
    assert cut.position == 1 + Stream(state.seed, "cut/1").below(107)
    shoe = shuffled_shoe(state.seed, 1, 2, 2)
    order = shoe[cut.position :] + shoe[: cut.position]
    assert tuple(state.privates[1].hand) == tuple(sorted(order[0:30:3]))  # L6: the first seat is 1
    assert state.public.discards[-1].card is order[30]
    assert tuple(reversed(state.stock)) == order[31:]


def test_without_a_cut_the_shoe_is_dealt_as_it_is() -> None:
    state, events = dealt(cut_mode="none")
    assert not any(isinstance(event, ShoeCut) for event in events)
    assert tuple(reversed(state.stock)) == shuffled_shoe(state.seed, 1, 2, 2)[31:]


@pytest.mark.parametrize("asked", [1, 31, 107])
@pytest.mark.parametrize("noise", [0, 3, 168])
def test_a_chosen_cut_misses_by_the_noise_and_stays_within_the_shoe(asked: int, noise: int) -> None:
    state, _ = dealt(cut_mode="choose", cut_noise=noise)
    expected = asked + Stream(state.seed, "cut/1").below(2 * noise + 1) - noise
    cut = answer(state, {2: f"cut {asked}"})[0]
    assert isinstance(cut, ShoeCut)
    assert (cut.seat, cut.asked, cut.position) == (2, asked, min(max(expected, 1), 107))
    assert state.privates[2].cut == asked
    assert cut.exact == (cut.position == 31)
    assert state.public.totals == [0, 0, -50 if cut.exact else 0]


def test_the_rules_cut_for_a_cutter_who_does_not() -> None:  # L33
    state, _ = dealt(cut_mode="choose")
    assert LIVERPOOL.fallback(LIVERPOOL.view(state, 2)) is None
    cut = answer(state, {2: None})[0]
    _, automatic = dealt()
    assert cut in automatic


def test_an_exact_cut_without_a_bonus_is_not_announced() -> None:
    state, _ = dealt(cut_mode="choose", cut_noise=0, cut_bonus=0)
    cut = answer(state, {2: "cut 31"})[0]
    assert isinstance(cut, ShoeCut)
    assert (cut.exact, state.public.totals) == (False, [0, 0, 0])


def test_the_rules_answer_for_a_cutter_only() -> None:
    state, _ = dealt()
    with pytest.raises(ValueError, match="a cutter only"):
        LIVERPOOL.resolve(state, {1: None})


def test_each_reshuffle_of_a_deal_has_its_own_order() -> None:  # L17
    raw = {"hands": {"0": "2C 3C", "1": "4C 5C", "2": "6C"}, "discards": "7D 8D 9D TD 4S", "rest": "aside"}
    state = position(raw)
    for number in (1, 2):
        while state.public.facts.reshuffles < number:
            pile = [one.card for one in state.public.discards]
            events = play_on(state)
        (event,) = (event for event in events if isinstance(event, StockReshuffled))
        assert event == StockReshuffled(len(pile) - 1, reshuffled(state.seed, 1, number, pile[:-1]))


def play_on(state: LiverpoolState) -> tuple[Event, ...]:
    """Draws, declines and discards as the rules do for whoever does not answer."""
    moves = {seat: LIVERPOOL.fallback(LIVERPOOL.view(state, seat)) for seat in LIVERPOOL.decisions(state)}
    return answer(state, {seat: move_text(move) if move else None for seat, move in moves.items()})


def test_a_purchase_that_needs_a_reshuffle_leaves_the_new_top_card() -> None:  # L18 b
    raw = {"turn": 0, "hands": {"0": "2C"}, "discards": "7D 8D 9D 4S JH", "stock": "9H", "rest": "aside"}
    state = position(raw, buy_penalty_cards=2)
    answer(state, {0: "draw"})
    _, shuffle, bought, _ = answer(state, {1: "buy", 2: "pass"})
    new = reshuffled(state.seed, 1, 1, cards("7D 8D 9D"))
    assert shuffle == StockReshuffled(3, new)
    assert bought == UpcardBought(1, card("JH"), 2, (card("9H"), new[0]))
    assert text_of(one.card for one in state.public.discards) == "4S"
    assert state.stock == [new[2]]


# --- the end of the deal ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seats", "option", "turns"), [(3, "auto", 180), (8, "auto", 480), (3, 7, 7)])
def test_the_turn_limit(seats: int, option: object, turns: int) -> None:  # L29
    state, _ = dealt(seats, max_turns_per_deal=option)
    while state.public.result is None:
        play_on(state)
    assert (state.public.result.end, state.public.turn_number) == ("turn_limit", turns)


def test_without_a_limit_a_deal_goes_on() -> None:
    state, _ = dealt(max_turns_per_deal=0)
    while state.public.turn_number < 500:
        play_on(state)
    assert state.public.result is None


@pytest.mark.parametrize(
    ("options", "worth"),
    [({}, "15 15 10 10 9 2"), ({"joker_points": 0, "ace_points": 1, "face_points": 5}, "0 1 5 10 9 2")],
)
def test_the_value_of_each_card(options: dict[str, object], worth: str) -> None:  # L30
    table = values(configured(**options))
    assert [table[one] for one in cards("JK AS QH TD 9C 2S")] == [int(word) for word in worth.split()]


def test_random_games_of_every_number_of_seats_end() -> None:
    for seats in LIVERPOOL.seats:
        ruleset, state = Setup("liverpool", seats, (("max_turns_per_deal", 5 * seats),), seed=seats).start()
        ends = [event for event in play(ruleset, state, randomly(seats)) if isinstance(event, DealEnded)]
        assert [event.over for event in ends] == [False] * 6 + [True]


# --- set-up ----------------------------------------------------------------------------------------------------------


def test_a_deal_begins_between_deals_only() -> None:
    state, _ = dealt()
    with pytest.raises(ValueError, match="the deal is not over"):
        LIVERPOOL.deal(state)
    state.public.phase, state.public.over = Phase.OVER, True
    with pytest.raises(ValueError, match="the game is over"):
        LIVERPOOL.deal(state)


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        ({"hands": {"0": "JK JK JK JK JK"}}, "position: JK stands in it more often than the deck has it"),
        ({"melds": [{"id": "m1", "owner": 0, "cards": "9C 8C 7C 6C"}]}, "position.melds[0]: 9C 8C 7C 6C is neither"),
        ({"melds": [{"id": "m1", "owner": 0, "cards": "JK JK JK"}]}, "position.melds[0]: JK JK JK is neither a set"),
    ],
)
def test_a_position_that_cannot_be_is_refused_with_its_place(raw: dict[str, object], error: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(error)):
        position(raw)


def test_moves_that_no_text_can_say_are_malformed() -> None:
    state = position({"phase": "play", "hands": {"0": "2C 3C"}})
    for move in (Down(()), Down(((),)), LayOff(0, cards("2C")), LayOff(1, ()), Swap(0, card("2C")), Cut(0), Meld(())):
        refusal = LIVERPOOL.check(turn_view(state), move)
        assert refusal is not None
        assert refusal.reason is Reason.MALFORMED


def test_a_spectator_has_nothing_to_say() -> None:
    for state in (position({"hands": {"0": "2C"}, "discards": "4S"}), open_window()):
        spectator = LIVERPOOL.view(state, None)
        assert LIVERPOOL.candidates(spectator, LIMIT).moves == ()
        for move in (Draw(), Buy(), Pass(), Discard(card("2C"))):
            assert LIVERPOOL.check(spectator, move) is not None


@pytest.mark.parametrize(
    ("raw", "options", "verbs"),
    [
        ({"discards": "4S"}, {}, "take draw"),
        ({}, {}, "draw"),
        ({"discards": "4S", "down": [0]}, {"down_may_use_pile": False}, "draw"),
        ({"phase": "play"}, {}, "down discard"),
        ({"phase": "play", "down": [0]}, {}, "layoff swap discard"),
        ({"phase": "play", "down": [0]}, {"joker_after_swap": "off"}, "layoff discard"),
    ],
)
def test_a_decision_names_the_verbs_that_could_be_legal(
    raw: dict[str, object], options: dict[str, object], verbs: str
) -> None:
    state = position({**raw, "hands": {"0": "2C 3C"}}, **options)
    assert LIVERPOOL.decisions(state) == {0: Decision(tuple(verbs.split()))}


def test_a_decision_after_a_swap_has_no_discard_and_after_a_down_without_layoffs_nothing_else() -> None:
    run = {"id": "m1", "owner": 1, "cards": "7C 8C JK TC"}
    state = position({"phase": "play", "down": [0], "hands": {"0": "9C 2D"}, "melds": [run]})
    answer(state, {0: "swap m1: 9C"})
    assert LIVERPOOL.decisions(state) == {0: Decision(("layoff", "swap"))}
    state = position({"phase": "play", "hands": {"0": "9C 9D 9H KC KD KH 2C"}}, layoff_same_turn=False)
    answer(state, {0: "down 9C 9D 9H / KC KD KH"})
    assert LIVERPOOL.decisions(state) == {0: Decision(("discard",))}
