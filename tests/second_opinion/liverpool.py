"""The rules of liverpool once more, written from their text alone and as plainly as it reads: lists of cards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.second_opinion import liverpool_accounts as accounts
from tests.second_opinion.liverpool_melds import (
    Meld,
    fits_high,
    fits_low,
    fits_set,
    kind_of,
    laid_off,
    run_start,
    swapped_meld,
    takes_a_joker,
    too_close,
)
from tests.second_opinion.thai import Shuffle
from tests.second_opinion.words import JOKER, Words, read_move, sorted_cards


@dataclass
class LiverpoolTable:
    """Everything about one game; `stock` has its top card first, `pile` its top card last.

    `asked`: the seats that the open window asks, clockwise from the seat on turn; `answers`: what they said so far.
    """

    seats: int
    options: dict[str, Any]
    totals: list[int]
    deal: int = 0
    dealer: int = 0
    first: int = 0
    turn: int = 0
    turns_completed: int = 0
    phase: str = "over"
    shoe: list[str] = field(default_factory=list)
    hands: list[list[str]] = field(default_factory=list)
    pile: list[str] = field(default_factory=list)
    stock: list[str] = field(default_factory=list)
    aside: list[str] = field(default_factory=list)
    melds: list[Meld] = field(default_factory=list)
    down: list[int] = field(default_factory=list)
    down_now: bool = False
    buys: list[int] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    answers: dict[int, str] = field(default_factory=dict)
    drawn: str | None = None
    owed: int = 0
    end: str | None = None
    out: int | None = None
    scores: list[int] = field(default_factory=list)
    over: bool = False


# --- Set-up -----------------------------------------------------------------------------------------------------------


def new_game(seats: int, options: dict[str, Any]) -> LiverpoolTable:
    return LiverpoolTable(seats, accounts.DEFAULTS | options, [0] * seats)


def start_deal(table: LiverpoolTable, opening: accounts.Opening, shoe: list[str], cut: int | None) -> None:
    """L4: `cut` is the position of the automatic cut; None where there is none or the cutter is asked."""
    table.deal, table.dealer, _, table.first = opening
    clear(table)
    table.shoe = list(shoe)
    if table.options["cut_mode"] == "choose":
        table.phase, table.turn = "cut", accounts.cutter(table)
    elif table.options["cut_mode"] == "auto":
        assert cut is not None
        cut_shoe(table, cut)
    else:
        deal_cards(table)


def clear(table: LiverpoolTable) -> None:
    table.hands, table.buys = [[] for _ in range(table.seats)], [0] * table.seats
    table.melds, table.down, table.asked, table.answers = [], [], [], {}
    table.pile, table.stock, table.turns_completed = [], [], 0
    table.end = table.out = None
    table.scores = []
    start_turn(table, 0)


def cut_shoe(table: LiverpoolTable, position: int) -> None:
    """L4, L5."""
    assert 1 <= position <= len(table.shoe) - 1
    table.shoe = table.shoe[position:] + table.shoe[:position]
    if position == accounts.cut_needed(table):
        accounts.give_cut_bonus(table)
    deal_cards(table)


def deal_cards(table: LiverpoolTable) -> None:
    """L6."""
    cards = list(table.shoe)
    for _ in range(accounts.hand_size(table)):
        for step in range(table.seats):
            table.hands[(table.first + step) % table.seats].append(cards.pop(0))
    table.pile, table.stock = [cards.pop(0)], cards
    start_turn(table, table.first)


def start_turn(table: LiverpoolTable, seat: int) -> None:
    table.turn, table.phase, table.drawn, table.down_now, table.owed = seat, "draw", None, False, 0


# --- Judging ----------------------------------------------------------------------------------------------------------

PHASES = {"draw": "draw", "take": "draw", "cut": "cut"}


def judge(table: LiverpoolTable, seat: int, text: str) -> str | None:
    """L14: the one reason for which a move is refused, or None."""
    move = read_move("liverpool", text)
    if move is None:
        return "malformed"
    if table.over:
        return "game_over"
    if table.end is not None or table.deal == 0:
        return "deal_over"
    if move.verb in ("buy", "pass"):
        return _judge_answer(table, seat)
    if seat != table.turn:
        return "not_your_turn"
    if table.phase != PHASES.get(move.verb, "play"):
        return "wrong_phase"
    return _judge(table, seat, move)


def _judge_answer(table: LiverpoolTable, seat: int) -> str | None:
    """L18."""
    if table.phase != "buy":
        return "buy_not_offered"
    if seat == table.turn:
        return "active_cannot_buy"
    if seat in table.answers:
        return "already_answered"
    return _may_not_buy(table, seat)


def _may_not_buy(table: LiverpoolTable, seat: int) -> str | None:
    """L18(c)."""
    if seat in table.down and not table.options["down_may_use_pile"]:
        return "down_may_not_use_pile"
    if 0 < table.options["max_buys_per_deal"] <= table.buys[seat]:
        return "buy_limit"
    return None


def _judge(table: LiverpoolTable, seat: int, move: Words) -> str | None:
    match move.verb:
        case "cut":  # L4
            return None if 1 <= move.number <= len(table.shoe) - 1 else "cut_out_of_range"
        case "draw":  # L16
            return None
        case "take":  # L15
            if seat in table.down and not table.options["down_may_use_pile"]:
                return "down_may_not_use_pile"
            return None if table.pile else "pile_empty"
        case "down":
            return _judge_down(table, seat, [part.cards or [] for part in move.parts or []])
        case "layoff":
            return _judge_layoff(table, seat, move)
        case "swap":
            return _judge_swap(table, seat, move.meld, move.card)
        case _:  # L27
            if move.card not in table.hands[seat]:
                return "not_in_hand"
            return "joker_must_be_replayed" if table.owed else None


def _judge_down(table: LiverpoolTable, seat: int, groups: list[list[str]]) -> str | None:
    """L22."""
    if seat in table.down:
        return "already_down"
    cards = [one for group in groups for one in group]
    if not holds(table.hands[seat], cards):
        return "not_in_hand"
    kinds = [kind_of(group, table.options) for group in groups]
    for kind in kinds:
        if kind not in ("set", "run"):
            return kind
    if (kinds.count("set"), kinds.count("run")) != accounts.CONTRACTS[table.deal - 1]:
        return "contract_mismatch"
    if table.deal < 7 and table.options["contract_size"] == "exact":
        sizes = {"set": 3, "run": 4}
        if any(len(group) != sizes[kind] for kind, group in zip(kinds, groups, strict=True)):
            return "contract_size"
    runs = [group for kind, group in zip(kinds, groups, strict=True) if kind == "run"]
    for place, run in enumerate(runs):
        if any(too_close(run, other, table.options["same_suit_runs"]) for other in runs[place + 1 :]):
            return "runs_too_close"
    return _judge_rest(table, len(table.hands[seat]) - len(cards))


def _judge_rest(table: LiverpoolTable, left: int) -> str | None:
    """L22 (7, 8), L23: how many cards a down may leave in hand."""
    discard_required = table.options["go_out"] == "discard_required"
    if table.deal == 7:
        one_may_stay = table.options["deal7_final_discard"] or discard_required
        if left > (1 if one_may_stay else 0):
            return "must_empty_hand"
    return "would_leave_no_card" if discard_required and left == 0 else None


def _judge_layoff(table: LiverpoolTable, seat: int, move: Words) -> str | None:
    """L24."""
    cards = move.cards or []
    if seat not in table.down:
        return "not_down"
    if table.down_now and not table.options["layoff_same_turn"]:
        return "layoff_in_down_turn"
    if move.meld > len(table.melds):
        return "no_such_meld"
    if not holds(table.hands[seat], cards):
        return "not_in_hand"
    grown = laid_off(table.melds[move.meld - 1], cards, move.side, table.options["run_max"])
    if isinstance(grown, str):
        return grown
    others = [meld for place, meld in enumerate(table.melds) if place != move.meld - 1]
    owed = owed_after(table, [*others, grown], table.owed - cards.count(JOKER))
    return _judge_going_out(table, len(table.hands[seat]) - len(cards), owed)


def _judge_swap(table: LiverpoolTable, seat: int, number: int, card: str) -> str | None:
    """L25."""
    if table.options["joker_after_swap"] == "off":
        return "swap_off"
    if seat not in table.down:
        return "not_down"
    if table.down_now and not table.options["layoff_same_turn"]:
        return "layoff_in_down_turn"
    if number > len(table.melds):
        return "no_such_meld"
    meld = table.melds[number - 1]
    if card not in table.hands[seat]:
        return "not_in_hand"
    if card == JOKER:
        return "needs_natural"
    if JOKER not in meld.cards:
        return "no_joker"
    if not meld.start and not table.options["joker_swap_sets"]:
        return "no_swap_in_sets"
    swapped = swapped_meld(meld, card)
    if swapped is None:
        return "wrong_card"
    others = [one for one in table.melds if one is not meld]
    return _judge_going_out(table, len(table.hands[seat]), owed_after(table, [*others, swapped], table.owed + 1))


def _judge_going_out(table: LiverpoolTable, left: int, owed: int) -> str | None:
    """L28."""
    if table.options["go_out"] == "discard_required" and left <= owed:
        return "would_leave_no_card"
    return None


def holds(hand: list[str], cards: list[str]) -> bool:
    """Whether a hand has all the cards, copies counted."""
    return all(cards.count(one) <= hand.count(one) for one in cards)


def owed_after(table: LiverpoolTable, melds: list[Meld], owed: int) -> int:
    """L26: the jokers owed; none if no meld can take a joker any more."""
    if table.options["joker_after_swap"] != "must_replay":
        return 0
    return max(0, owed) if any(takes_a_joker(meld, table.options["run_max"]) for meld in melds) else 0


# --- Effects ----------------------------------------------------------------------------------------------------------


def apply(table: LiverpoolTable, seat: int, text: str, shuffle: Shuffle, cut: int | None = None) -> None:
    """Plays a legal move; chance brings the new stocks of its reshuffles (L17), or the position of the cut (L4)."""
    move = read_move("liverpool", text)
    assert move is not None
    assert judge(table, seat, text) is None, text
    match move.verb:
        case "cut":
            assert cut is not None
            check_cut(table, move.number, cut)
            cut_shoe(table, cut)
        case "take":
            table.drawn = table.pile.pop()
            table.hands[seat].append(table.drawn)
            table.phase = "play"
        case "draw":
            _declare_draw(table, shuffle)
        case "buy" | "pass":
            table.answers[seat] = move.verb
            if len(table.answers) == len(table.asked):
                _close_window(table, shuffle)
        case "down":
            for part in move.parts or []:
                _lay_meld(table, seat, part.cards or [])
            table.down.append(seat)
            table.down_now = True
            _out_if_no_card_is_left(table, seat)
        case "layoff":
            _lay_off(table, seat, move)
            _out_if_no_card_is_left(table, seat)
        case "swap":
            _swap(table, seat, move.meld, move.card)
        case "discard":
            table.hands[seat].remove(move.card)
            table.pile.append(move.card)
            _out_if_no_card_is_left(table, seat)
            if table.end is None:
                _end_turn(table)


def check_cut(table: LiverpoolTable, asked: int, cut: int) -> None:
    """L4: c = t + e held within 1 .. N-1, e between -cut_noise and +cut_noise."""
    noise, last = table.options["cut_noise"], len(table.shoe) - 1
    assert max(1, asked - noise) <= cut <= min(last, asked + noise)


def _declare_draw(table: LiverpoolTable, shuffle: Shuffle) -> None:
    """L16, L17, L20."""
    nothing_to_shuffle = table.options["stock_empty"] == "end_deal" or len(table.pile) <= 1
    if not table.stock and nothing_to_shuffle:
        end_deal(table, "blocked")
        return
    after_draw = table.options["buy_window"] == "after_draw"
    if after_draw:
        _draw(table, shuffle)
    table.asked = window(table, 0 if after_draw else 1)
    table.answers = {}
    if table.asked:
        table.phase = "buy"
        return
    if not after_draw:
        _draw(table, shuffle)
    table.phase = "play"


def window(table: LiverpoolTable, draws_to_come: int) -> list[int]:
    """L18: the seats that are asked; none if no window opens."""
    below = max(0, len(table.pile) - 2) if table.options["stock_empty"] == "reshuffle" else 0
    enough = len(table.stock) + below >= table.options["buy_penalty_cards"] + draws_to_come
    if not table.pile or not enough:
        return []
    clockwise = [(table.turn + step) % table.seats for step in range(1, table.seats)]
    return [seat for seat in clockwise if _may_not_buy(table, seat) is None]


def _close_window(table: LiverpoolTable, shuffle: Shuffle) -> None:
    """L19, L20."""
    buyers = [seat for seat in table.asked if table.answers[seat] == "buy"]
    if buyers:
        table.buys[buyers[0]] += 1
        table.hands[buyers[0]].append(table.pile.pop())
        for _ in range(table.options["buy_penalty_cards"]):
            table.hands[buyers[0]].append(top_card(table, shuffle))
    if table.options["buy_window"] == "before_draw":
        _draw(table, shuffle)
    table.phase, table.asked, table.answers = "play", [], {}


def _draw(table: LiverpoolTable, shuffle: Shuffle) -> None:
    table.drawn = top_card(table, shuffle)
    table.hands[table.turn].append(table.drawn)


def top_card(table: LiverpoolTable, shuffle: Shuffle) -> str:
    """L17: the top card of the stock; an empty stock is made anew of all pile cards except the top one."""
    if not table.stock:
        table.stock, table.pile = shuffle(table.pile[:-1]), table.pile[-1:]
    return table.stock.pop(0)


def _lay_meld(table: LiverpoolTable, seat: int, cards: list[str]) -> None:
    options, start = table.options, 0
    if kind_of(cards, options) == "run":  # L11: a run, if it could be both
        start = run_start(cards, options["min_naturals_run"], options["run_max"])
    for one in cards:
        table.hands[seat].remove(one)
    table.melds.append(Meld(seat, list(cards), start))


def _lay_off(table: LiverpoolTable, seat: int, move: Words) -> None:
    cards = move.cards or []
    grown = laid_off(table.melds[move.meld - 1], cards, move.side, table.options["run_max"])
    assert isinstance(grown, Meld)
    for one in cards:
        table.hands[seat].remove(one)
    table.melds[move.meld - 1] = grown
    table.owed = owed_after(table, table.melds, table.owed - cards.count(JOKER))


def _swap(table: LiverpoolTable, seat: int, number: int, card: str) -> None:
    swapped = swapped_meld(table.melds[number - 1], card)
    assert swapped is not None
    table.hands[seat].remove(card)
    table.hands[seat].append(JOKER)
    table.melds[number - 1] = swapped
    table.owed = owed_after(table, table.melds, table.owed + 1)


def _out_if_no_card_is_left(table: LiverpoolTable, seat: int) -> None:
    """L28: only a seat that is down can go out."""
    if not table.hands[seat] and seat in table.down:
        table.out = seat
        end_deal(table, "out")


def _end_turn(table: LiverpoolTable) -> None:
    """L13, L29."""
    table.turns_completed += 1
    if table.turns_completed == accounts.turn_limit(table):
        end_deal(table, "turn_limit")
    else:
        start_turn(table, (table.turn + 1) % table.seats)


def end_deal(table: LiverpoolTable, end: str) -> None:
    table.phase, table.end = "over", end
    accounts.settle(table, accounts.score(table))


# --- Fallback and positions -------------------------------------------------------------------------------------------


def fallback(table: LiverpoolTable, seat: int) -> str | None:
    """L33; None is the automatic cut in place of the cutter's."""
    if table.phase in ("cut", "draw", "buy"):
        return {"cut": None, "draw": "draw", "buy": "pass"}[table.phase]
    if table.owed:
        return _first_place_of_a_joker(table)
    if table.drawn in table.hands[seat]:
        return f"discard {table.drawn}"
    return "discard " + sorted_cards(table.hands[seat])[-1]


def _first_place_of_a_joker(table: LiverpoolTable) -> str:
    run_max = table.options["run_max"]
    for number, meld in enumerate(table.melds, 1):
        low, high = fits_low(meld, JOKER, run_max), fits_high(meld, JOKER, run_max)
        if low and high:
            return f"layoff m{number} low: JK"
        if low or high or fits_set(meld, JOKER):
            return f"layoff m{number}: JK"
    raise AssertionError("a joker is owed that fits nowhere (L26)")


def table_of(position: dict[str, Any], seats: int, options: dict[str, Any]) -> LiverpoolTable:
    """The table of a position of notation.md 5.1."""
    table = new_game(seats, options)
    clear(table)
    table.deal, table.turn = position.get("deal", 1), position.get("turn", 0)
    table.phase = position.get("phase", "draw")
    table.dealer = position.get("dealer", (table.turn - 1) % seats)
    table.totals = list(position.get("totals", table.totals))
    for seat, cards in position.get("hands", {}).items():
        table.hands[int(seat)] = cards.split()
    table.pile, table.stock = position.get("discards", "").split(), position.get("stock", "").split()
    for meld in position.get("melds", []):
        cards = meld["cards"].split()
        table.melds.append(Meld(meld["owner"], cards, run_start(cards, 1, 14)))
    table.down = list(position.get("down", []))
    for seat, count in position.get("buys", {}).items():
        table.buys[int(seat)] = count
    rest = accounts.shoe(seats, table.options)
    for one in placed(table):
        rest.remove(one)
    rest = sorted_cards(rest)
    if position.get("rest", "stock") == "stock":
        table.stock += rest
    else:
        table.aside = rest
    return table


def placed(table: LiverpoolTable) -> list[str]:
    """Every card that lies anywhere."""
    cards = [one for hand in table.hands for one in hand] + table.pile + table.stock + table.aside
    return cards + [one for meld in table.melds for one in meld.cards]
