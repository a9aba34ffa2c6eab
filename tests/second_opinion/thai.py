"""The rules of thai once more, written from their text alone and as plainly as it reads: lists and texts of cards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tests.second_opinion import thai_accounts as accounts
from tests.second_opinion.thai_melds import extends, is_meld, laid_off
from tests.second_opinion.words import DECK, Words, read_move, sorted_cards

Shuffle: TypeAlias = Callable[[list[str]], list[str]]

HAND_SIZES = {2: 11, 3: 9, 4: 7}


@dataclass
class RowCard:
    """A card of the row: the head has no discarder and stands in turn 0 (T7)."""

    card: str
    seat: int | None
    turn: int


@dataclass
class Meld:
    """A meld with the placer of each card (T10)."""

    owner: int
    cards: list[str]
    placers: dict[str, int]


@dataclass
class ThaiTable:
    """Everything about one game; `stock` has its top card first, `penalties` are (seat, rule, card)."""

    seats: int
    options: dict[str, Any]
    totals: list[int]
    deal: int = 0
    dealer: int = 0
    direction: int = 1
    first: int = 0
    turn: int = 0
    turn_number: int = 0
    first_turn: bool = False
    last_turn: bool = False
    phase: str = "over"
    hands: list[list[str]] = field(default_factory=list)
    row: list[RowCard] = field(default_factory=list)
    stock: list[str] = field(default_factory=list)
    aside: list[str] = field(default_factory=list)
    head: str | None = None
    melds: list[Meld] = field(default_factory=list)
    birth_turns: list[int | None] = field(default_factory=list)
    gathered: list[RowCard] = field(default_factory=list)
    drawn: str | None = None
    reshuffles: int = 0
    penalties: list[tuple[int, str, str]] = field(default_factory=list)
    end: str | None = None
    knocker: int | None = None
    knock_card: str | None = None
    dark: bool = False
    scores: list[int] = field(default_factory=list)
    over: bool = False

    def born(self, seat: int) -> bool:
        return self.birth_turns[seat] is not None

    def born_now(self, seat: int) -> bool:
        return self.birth_turns[seat] == self.turn_number


# --- Set-up -----------------------------------------------------------------------------------------------------------


def new_game(seats: int, options: dict[str, Any]) -> ThaiTable:
    """T4, T39: seat 0 will deal in direction +1; all totals are 0."""
    return ThaiTable(seats, accounts.DEFAULTS | options, [0] * seats)


def start_deal(table: ThaiTable, opening: accounts.Opening, shoe: list[str]) -> None:
    """T5, T6: deals the shoe, its top card first."""
    table.deal, table.dealer, table.direction, table.first = opening
    clear(table)
    order = [(table.dealer + table.direction * step) % table.seats for step in range(1, table.seats + 1)]
    cards = list(shoe)
    for _ in range(HAND_SIZES[table.seats]):
        for seat in order:
            table.hands[seat].append(cards.pop(0))
    table.head = cards.pop(0)
    table.row = [RowCard(table.head, None, 0)]
    removed = table.options["two_player_removed_cards"]
    table.stock, table.aside = cards[: len(cards) - removed], cards[len(cards) - removed :]
    table.turn, table.turn_number, table.first_turn, table.phase = table.first, 1, True, "draw"


def clear(table: ThaiTable) -> None:
    table.hands = [[] for _ in range(table.seats)]
    table.melds, table.birth_turns, table.penalties = [], [None] * table.seats, []
    table.gathered, table.drawn, table.reshuffles, table.last_turn = [], None, 0, False
    table.end = table.knocker = table.knock_card = None
    table.dark, table.scores = False, []


# --- Judging ----------------------------------------------------------------------------------------------------------


def judge(table: ThaiTable, seat: int, text: str) -> str | None:
    """T13: the one reason for which a move is refused, or None."""
    move = read_move("thai", text)
    if move is None:
        return "malformed"
    if table.over:
        return "game_over"
    if table.phase == "over":
        return "deal_over"
    if seat != table.turn:
        return "not_your_turn"
    begins = move.verb in ("draw", "take", "take onto", "pass")
    if begins != (table.phase == "draw"):  # T12
        return "wrong_phase"
    return _judge(table, seat, move)


def _judge(table: ThaiTable, seat: int, move: Words) -> str | None:
    match move.verb:
        case "draw":  # T15
            return None if table.stock else "stock_empty"
        case "pass":  # T27
            return None if table.last_turn else "pass_not_allowed"
        case "take":
            return _judge_take(table, seat, move.card, move.cards or [])
        case "take onto":
            return _judge_take_onto(table, seat, move.card, move.meld)
        case "meld":
            return _judge_meld(table, seat, move.cards or [])
        case "layoff":
            return _judge_layoff(table, seat, move.meld, move.cards or [])
        case "discard":  # T21
            return None if move.card in table.hands[seat] else "not_in_hand"
        case _:
            return _judge_knock(table, seat, move.card, move.parts or [])


def _judge_take(table: ThaiTable, seat: int, target: str, cards: list[str]) -> str | None:
    """T16."""
    hand, gathered = table.hands[seat], [one.card for one in gathered_by(table, target)]
    if table.options["first_turn_must_draw"] and table.first_turn:
        return "must_draw"
    if not gathered:
        return "not_in_row"
    if target not in cards:
        return "target_not_in_meld"
    if any(one not in hand + gathered for one in cards) or named_twice(cards):
        return "not_available"
    if not any(one in hand for one in cards):
        return "needs_hand_card"
    if not is_meld(cards):
        return "not_a_meld"
    if len(hand) + len(gathered) == len(cards):
        return "would_leave_no_card"
    return None


def _judge_take_onto(table: ThaiTable, seat: int, target: str, number: int) -> str | None:
    """T17."""
    if not table.options["pickup_layoff"]:
        return "pickup_layoff_off"
    if table.options["first_turn_must_draw"] and table.first_turn:
        return "must_draw"
    if not table.born(seat):
        return "not_born"
    if not gathered_by(table, target):
        return "not_in_row"
    if number > len(table.melds):
        return "no_such_meld"
    if not extends(table.melds[number - 1].cards, target):
        return "does_not_extend"
    return None


def _judge_meld(table: ThaiTable, seat: int, cards: list[str]) -> str | None:
    """T18, T20."""
    if not table.born(seat):
        return "not_born"
    if table.born_now(seat) and table.options["birth_turn_plays"] != "all":
        return "meld_in_birth_turn"
    if any(one not in table.hands[seat] for one in cards) or named_twice(cards):
        return "not_in_hand"
    if not is_meld(cards):
        return "not_a_meld"
    if len(cards) == len(table.hands[seat]):
        return "would_leave_no_card"
    return None


def _judge_layoff(table: ThaiTable, seat: int, number: int, cards: list[str]) -> str | None:
    """T19, T20."""
    if not table.born(seat):
        return "not_born"
    if table.born_now(seat) and table.options["birth_turn_plays"] == "none":
        return "layoff_in_birth_turn"
    if any(one not in table.hands[seat] for one in cards) or named_twice(cards):
        return "not_in_hand"
    if len(cards) == len(table.hands[seat]):
        return "would_leave_no_card"
    if number > len(table.melds):
        return "no_such_meld"
    if laid_off(table.melds[number - 1].cards, cards) is None:
        return "does_not_extend"
    return None


def _judge_knock(table: ThaiTable, seat: int, kept: str, parts: list[Words]) -> str | None:
    """T22; a layoff may go to a meld of an earlier part."""
    used = [one for part in parts for one in part.cards or []]
    if any(one not in table.hands[seat] for one in used) or named_twice(used):
        return "not_in_hand"
    if sorted([*used, kept]) != sorted(table.hands[seat]):
        return "not_one_card_left"
    melds = [list(meld.cards) for meld in table.melds]
    for part in parts:
        cards = part.cards or []
        if part.verb == "meld":
            if not is_meld(cards):
                return "not_a_meld"
            melds.append(cards)
            continue
        if not table.born(seat) and not table.options["dark_knock_layoffs"]:
            return "not_born"
        if part.meld > len(melds):
            return "no_such_meld"
        grown = laid_off(melds[part.meld - 1], cards)
        if grown is None:
            return "does_not_extend"
        melds[part.meld - 1] = grown
    return None


def gathered_by(table: ThaiTable, target: str) -> list[RowCard]:
    """T16: the target and every newer card of the row; empty if it is not in the row."""
    for place, one in enumerate(table.row):
        if one.card == target:
            return table.row[place:]
    return []


def named_twice(cards: list[str]) -> bool:
    return any(cards.count(one) > 1 for one in cards)


# --- Effects ----------------------------------------------------------------------------------------------------------


def apply(table: ThaiTable, seat: int, text: str, shuffle: Shuffle) -> None:
    """Plays a legal move; `shuffle` makes the new stock, should the turn end with a reshuffle (T26)."""
    move = read_move("thai", text)
    assert move is not None
    assert judge(table, seat, text) is None, text
    match move.verb:
        case "draw":
            table.drawn = table.stock.pop(0)
            table.hands[seat].append(table.drawn)
            table.phase = "play"
        case "pass":
            end_deal(table, "exhausted")  # T27
        case "take":
            _take(table, seat, move.card)
            _lay_meld(table, seat, move.cards or [])
            if not table.born(seat):
                table.birth_turns[seat] = table.turn_number
            accounts.charge_take(table, seat, move.cards or [])
            _knock_if_one_card_is_left(table, seat)
        case "take onto":
            _take(table, seat, move.card)
            _lay_off(table, seat, move.meld, [move.card])
            _knock_if_one_card_is_left(table, seat)
        case "meld":
            _lay_meld(table, seat, move.cards or [])
            _knock_if_one_card_is_left(table, seat)
        case "layoff":
            _lay_off(table, seat, move.meld, move.cards or [])
            _knock_if_one_card_is_left(table, seat)
        case "knock":
            for part in move.parts or []:
                if part.verb == "meld":
                    _lay_meld(table, seat, part.cards or [])
                else:
                    _lay_off(table, seat, part.meld, part.cards or [])
            _knock(table, seat)
        case "discard":
            table.hands[seat].remove(move.card)
            table.row.append(RowCard(move.card, seat, table.turn_number))
            accounts.charge_discard(table, seat, move.card)
            end_turn(table, shuffle)


def _take(table: ThaiTable, seat: int, target: str) -> None:
    """T16: gathered cards come to the hand; those of the meld leave it at once."""
    table.gathered = gathered_by(table, target)
    table.row = table.row[: len(table.row) - len(table.gathered)]
    table.hands[seat] += [one.card for one in table.gathered]
    table.phase = "play"


def _lay_meld(table: ThaiTable, seat: int, cards: list[str]) -> None:
    for one in cards:
        table.hands[seat].remove(one)
    table.melds.append(Meld(seat, list(cards), dict.fromkeys(cards, seat)))


def _lay_off(table: ThaiTable, seat: int, number: int, cards: list[str]) -> None:
    meld = table.melds[number - 1]
    for one in cards:
        table.hands[seat].remove(one)
        meld.cards.append(one)
        meld.placers[one] = seat


def _knock_if_one_card_is_left(table: ThaiTable, seat: int) -> None:
    """T24."""
    if len(table.hands[seat]) == 1:
        _knock(table, seat)


def _knock(table: ThaiTable, seat: int) -> None:
    """T24, T25, T38."""
    table.knocker, table.knock_card = seat, table.hands[seat].pop()
    table.dark = not table.born(seat) or table.born_now(seat)
    accounts.charge_foolish(table)
    end_deal(table, "knock")


def end_turn(table: ThaiTable, shuffle: Shuffle) -> None:
    """T26, T27."""
    if table.last_turn:
        end_deal(table, "exhausted")
        return
    if not table.stock:
        if table.options["stock_exhausted"] == "immediate":
            end_deal(table, "exhausted")
            return
        if table.options["stock_exhausted"] == "reshuffle" and table.reshuffles == 0 and len(table.row) >= 2:
            reshuffle(table, shuffle)
        else:
            table.last_turn = True
    table.turn = (table.turn + table.direction) % table.seats
    table.turn_number += 1
    table.first_turn, table.phase, table.gathered, table.drawn = False, "draw", [], None


def reshuffle(table: ThaiTable, shuffle: Shuffle) -> None:
    """T26: all row cards except the newest; a head among them is an ordinary card from then on."""
    old = [one.card for one in table.row[:-1]]
    if table.head in old:
        table.head = None
    table.stock, table.row = shuffle(old), table.row[-1:]
    table.reshuffles += 1


def end_deal(table: ThaiTable, end: str) -> None:
    table.phase, table.end = "over", end
    accounts.settle(table, accounts.score(table))


# --- Fallback and positions -------------------------------------------------------------------------------------------


def fallback(table: ThaiTable, seat: int) -> str:
    """T54."""
    if table.phase == "draw":
        return "draw" if table.stock else "pass"
    if table.drawn in table.hands[seat]:
        return f"discard {table.drawn}"
    return "discard " + sorted_cards(table.hands[seat])[-1]


def table_of(position: dict[str, Any], seats: int, options: dict[str, Any]) -> ThaiTable:
    """The table of a position of notation.md 5.1."""
    table = new_game(seats, options)
    clear(table)
    table.deal, table.direction = position.get("deal", 1), position.get("direction", 1)
    table.turn, table.phase = position.get("turn", 0), position.get("phase", "draw")
    table.dealer = position.get("dealer", (table.turn - table.direction) % seats)
    table.totals = list(position.get("totals", table.totals))
    table.turn_number = 1000
    for seat, cards in position.get("hands", {}).items():
        table.hands[int(seat)] = cards.split()
    words = position.get("discards", "").split()
    table.row = [_row_card(table, word, len(words) - place) for place, word in enumerate(words)]
    for meld in position.get("melds", []):
        placers = {word[:2]: int(word[3:] or meld["owner"]) for word in meld["cards"].split()}
        table.melds.append(Meld(meld["owner"], list(placers), placers))
    for seat in position.get("born", []):
        table.birth_turns[seat] = 0
    table.stock = position.get("stock", "").split()
    rest = [one for one in DECK if one not in placed(table)]
    if position.get("rest", "stock") == "stock":
        table.stock += rest
    else:
        table.aside = rest
    usual = table.phase == "draw" and not table.stock and table.options["stock_exhausted"] != "immediate"
    table.last_turn = position.get("last_turn", usual)
    table.first_turn = table.phase == "draw" and [one.card for one in table.row] == [table.head]
    return table


def _row_card(table: ThaiTable, word: str, turns_ago: int) -> RowCard:
    card, mark = word[:2], word[2:]
    if mark.startswith("*"):
        table.head = card
        return RowCard(card, None, 0)
    seat, _, ago = mark[1:].partition("~")
    return RowCard(card, int(seat) if seat else None, table.turn_number - (int(ago) if ago else turns_ago))


def placed(table: ThaiTable) -> list[str]:
    """Every card that lies anywhere."""
    cards = [one for hand in table.hands for one in hand] + [one.card for one in table.row]
    cards += [one for meld in table.melds for one in meld.cards] + table.stock + table.aside
    return [*cards, table.knock_card] if table.knock_card else cards
