"""The frame of liverpool: options, contracts, points, openings and the end of the game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tests.second_opinion.words import DECK, JOKER

if TYPE_CHECKING:  # the table imports the accounts
    from tests.second_opinion.liverpool import LiverpoolTable

CONTRACTS = [(2, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 2), (0, 3)]
"""L21: sets and runs of deals 1 to 7."""

# Section 9: name -> default, and what else may be chosen: a list of values or the least and the greatest number.
OPTIONS: dict[str, tuple[Any, Any]] = {
    "num_decks": ("auto", ["auto", 2, 3]),
    "jokers_per_deck": (2, (0, 4)),
    "hand_sizes": ([10, 10, 10, 10, 12, 12, 12], None),
    "cut_mode": ("auto", ["none", "auto", "choose"]),
    "cut_noise": (5, (0, None)),
    "cut_bonus": (50, (0, None)),
    "buy_window": ("before_draw", ["before_draw", "after_draw"]),
    "buy_penalty_cards": (1, (0, None)),
    "max_buys_per_deal": (0, (0, None)),
    "down_may_use_pile": (True, [False, True]),
    "contract_size": ("exact", ["exact", "at_least"]),
    "same_suit_runs": ("any", ["any", "not_consecutive", "gap2"]),
    "min_naturals_set": (2, (1, 3)),
    "min_naturals_run": (3, (1, 4)),
    "run_max": (14, (4, 14)),
    "layoff_same_turn": (True, [False, True]),
    "joker_after_swap": ("must_replay", ["must_replay", "to_hand", "off"]),
    "joker_swap_sets": (True, [False, True]),
    "go_out": ("play_or_discard", ["play_or_discard", "discard_required"]),
    "deal7_final_discard": (True, [False, True]),
    "stock_empty": ("reshuffle", ["reshuffle", "end_deal"]),
    "joker_points": (15, (0, None)),
    "ace_points": (15, (0, None)),
    "face_points": (10, (0, None)),
    "tie_break": ("shared", ["shared", "deal7_score"]),
    "max_turns_per_deal": ("auto", (0, None)),
}
DEFAULTS = {name: default for name, (default, _) in OPTIONS.items()}


class Opening(NamedTuple):
    """How a deal opens; play is always clockwise."""

    deal: int
    dealer: int
    direction: int
    first: int


def refused_at_setup(seats: int, options: dict[str, Any]) -> set[str]:
    """L1, L2, section 9: every reason for which a game is not set up."""
    if seats not in range(3, 9):
        return {"bad_seats"} | ({"bad_option"} if not all(allowed(*one) for one in options.items()) else set())
    if not all(allowed(name, value) for name, value in options.items()):
        return {"bad_option"}
    hand_sizes = options.get("hand_sizes", DEFAULTS["hand_sizes"])
    if any(seats * size + 2 > len(shoe(seats, options)) for size in hand_sizes):
        return {"bad_option"}
    if any(size + 1 < 3 * sets + 4 * runs for size, (sets, runs) in zip(hand_sizes, CONTRACTS, strict=True)):
        return {"bad_option"}
    return set()


def allowed(name: str, value: Any) -> bool:
    if name not in OPTIONS:
        return False
    if name == "hand_sizes":
        return isinstance(value, list) and len(value) == 7 and all(type(one) is int and one >= 1 for one in value)
    if name == "max_turns_per_deal" and value == "auto":
        return True
    values = OPTIONS[name][1]
    if isinstance(values, list):
        return any(type(value) is type(one) and value == one for one in values)
    most = 2**31 - 1 if values[1] is None else values[1]  # the law has no bound there, but numbers must fit the wire
    return type(value) is int and values[0] <= value <= most


def shoe(seats: int, options: dict[str, Any]) -> list[str]:
    """L2: the cards of the game, unshuffled."""
    decks = options.get("num_decks", "auto")
    if decks == "auto":
        decks = 2 if seats <= 4 else 3
    cards: list[str] = decks * (DECK + [JOKER] * options.get("jokers_per_deck", DEFAULTS["jokers_per_deck"]))
    return cards


def turn_limit(table: LiverpoolTable) -> int:
    """L29: turns of a deal, 0 without a limit."""
    limit = table.options["max_turns_per_deal"]
    return 60 * table.seats if limit == "auto" else int(limit)


# --- Points -----------------------------------------------------------------------------------------------------------


def value(card: str, options: dict[str, Any]) -> int:
    """L30."""
    points: dict[str, int] = {JOKER: options["joker_points"], "A": options["ace_points"], "T": 10}
    points |= dict.fromkeys("KQJ", options["face_points"])
    points |= {str(number): number for number in range(2, 10)}
    return points[JOKER if card == JOKER else card[0]]


def score(table: LiverpoolTable) -> list[int]:
    """L30: what everybody holds; who is out holds nothing."""
    return [sum(value(one, table.options) for one in hand) for hand in table.hands]


def settle(table: LiverpoolTable, scores: list[int]) -> None:
    """L30, L31."""
    table.scores = scores
    table.totals = [total + points for total, points in zip(table.totals, scores, strict=True)]
    table.over = table.deal == 7


def cut_needed(table: LiverpoolTable) -> int:
    """L5."""
    return table.seats * hand_size(table) + 1


def hand_size(table: LiverpoolTable) -> int:
    """L6."""
    size: int = table.options["hand_sizes"][table.deal - 1]
    return size


def give_cut_bonus(table: LiverpoolTable) -> None:
    """L5."""
    table.totals[cutter(table)] -= table.options["cut_bonus"]


# --- Between deals ----------------------------------------------------------------------------------------------------


def cutter(table: LiverpoolTable) -> int:
    """L3: the seat on the dealer's right."""
    return (table.dealer - 1) % table.seats


def opening(table: LiverpoolTable, deal: int, dealer: int) -> Opening:
    """L3: the seat on the dealer's left begins."""
    return Opening(deal, dealer, 1, (dealer + 1) % table.seats)


def next_opening(table: LiverpoolTable) -> Opening | None:
    """L3: the seat that started a deal deals the next one; L31: there are seven."""
    return None if table.over else opening(table, table.deal + 1, (table.dealer + 1) % table.seats)


def ranks(table: LiverpoolTable) -> list[int]:
    """L32: one more than the number of seats that are ahead."""

    def ahead(other: int, mine: int) -> bool:
        if table.totals[other] != table.totals[mine] or table.options["tie_break"] == "shared":
            return table.totals[other] < table.totals[mine]
        return table.scores[other] < table.scores[mine]

    seats = range(table.seats)
    return [1 + len([other for other in seats if ahead(other, mine)]) for mine in seats]


def winners(table: LiverpoolTable) -> list[int]:
    """L31, L32."""
    return [seat for seat, rank in enumerate(ranks(table)) if rank == 1] if table.over else []
