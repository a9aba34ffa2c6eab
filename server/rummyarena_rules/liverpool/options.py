"""The options of `liverpool` (liverpool.md 9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from rummyarena_rules.options import auto_or_whole, choice, switch, whole, wholes

DEALS: Final = 7
_TURNS_PER_SEAT: Final = 60  # L29: `max_turns_per_deal` = auto
_LARGEST_SHOE: Final = 3 * (52 + 4)  # L2
_LARGEST_HAND: Final = (_LARGEST_SHOE - 2) // 3  # L2: three hands, the upcard and a stock card
_MOST_POINTS: Final = 10_000  # for a card or a cut
_MOST_BUYS: Final = 1_000
_MOST_TURNS: Final = 1_000_000


class Contract(NamedTuple):
    """How many sets and runs a seat lays to go down."""

    sets: int
    runs: int

    @property
    def least_cards(self) -> int:
        """The number of cards in sets of three and runs of four."""
        return 3 * self.sets + 4 * self.runs


CONTRACTS: Final = tuple(Contract(*one) for one in ((2, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 2), (0, 3)))
"""L21: the contract of deal 1 to 7, from index 0."""


@dataclass(frozen=True, slots=True)
class LiverpoolOptions:
    """The options of a game of `liverpool`, each with its default; what they mean stands at the rules they name."""

    num_decks: Literal["auto", 2, 3] = choice("auto", 2, 3, meaning="decks in the shoe; auto: by the seats (L2)")
    jokers_per_deck: int = whole(2, least=0, most=4, meaning="jokers in each deck (L2)")
    hand_sizes: tuple[int, ...] = wholes(
        (10, 10, 10, 10, 12, 12, 12),
        least=1,
        most=_LARGEST_HAND,
        meaning="cards dealt to each seat in deals 1 to 7 (L6)",
    )
    cut_mode: Literal["auto", "none", "choose"] = choice(
        "auto", "none", "choose", meaning="who cuts the shoe: the referee, nobody or the cutter (L4)"
    )
    cut_noise: int = whole(
        5, least=0, most=_LARGEST_SHOE, meaning="by how many cards the cutter's hand may miss the place it names (L4)"
    )
    cut_bonus: int = whole(
        50, least=0, most=_MOST_POINTS, meaning="what an exact cut lowers the cutter's total by; 0: off (L5)"
    )
    buy_window: Literal["before_draw", "after_draw"] = choice(
        "before_draw", "after_draw", meaning="when the upcard is offered to the other seats (L20)"
    )
    buy_penalty_cards: int = whole(
        1, least=0, most=_LARGEST_SHOE, meaning="stock cards that a buyer takes besides the upcard (L19)"
    )
    max_buys_per_deal: int = whole(
        0, least=0, most=_MOST_BUYS, meaning="how often a seat may buy in a deal; 0: no limit (L18)"
    )
    down_may_use_pile: bool = switch(default=True, meaning="a seat that is down may take and buy the upcard (L15, L18)")
    contract_size: Literal["exact", "at_least"] = choice(
        "exact", "at_least", meaning="whether the sets and runs of a contract may be longer than 3 and 4 (L22)"
    )
    same_suit_runs: Literal["any", "not_consecutive", "gap2"] = choice(
        "any", "not_consecutive", "gap2", meaning="how near two runs of one suit may be in a contract (L22)"
    )
    min_naturals_set: int = whole(2, least=1, most=3, meaning="natural cards in a set when it is laid (L8)")
    min_naturals_run: int = whole(3, least=1, most=4, meaning="natural cards in a run when it is laid (L9)")
    run_max: int = whole(14, least=4, most=14, meaning="cards in a run at most (L9)")
    layoff_same_turn: bool = switch(default=True, meaning="lay-offs and swaps in the turn of going down (L24, L25)")
    joker_after_swap: Literal["must_replay", "to_hand", "off"] = choice(
        "must_replay", "to_hand", "off", meaning="what becomes of a swapped joker; off: no swaps (L26)"
    )
    joker_swap_sets: bool = switch(default=True, meaning="jokers can be swapped out of sets too (L25)")
    go_out: Literal["play_or_discard", "discard_required"] = choice(
        "play_or_discard", "discard_required", meaning="whether the last card has to be discarded (L28)"
    )
    deal7_final_discard: bool = switch(default=True, meaning="one card may be left over by the runs of deal 7 (L23)")
    stock_empty: Literal["reshuffle", "end_deal"] = choice(
        "reshuffle", "end_deal", meaning="what a draw from an empty stock leads to (L17)"
    )
    joker_points: int = whole(15, least=0, most=_MOST_POINTS, meaning="what a joker left in hand counts (L30)")
    ace_points: int = whole(15, least=0, most=_MOST_POINTS, meaning="what an ace left in hand counts (L30)")
    face_points: int = whole(
        10, least=0, most=_MOST_POINTS, meaning="what a king, queen or jack left in hand counts (L30)"
    )
    tie_break: Literal["shared", "deal7_score"] = choice(
        "shared", "deal7_score", meaning="who is ahead of two seats with equal totals (L32)"
    )
    max_turns_per_deal: int | Literal["auto"] = auto_or_whole(
        least=0, most=_MOST_TURNS, meaning="turns after which a deal ends; 0: never, auto: 60 a seat (L29)"
    )


def decks(options: LiverpoolOptions, seats: int) -> int:
    """Returns the number of decks in the shoe (L2)."""
    if options.num_decks == "auto":
        return 2 if seats <= 4 else 3
    return options.num_decks


def shoe_size(options: LiverpoolOptions, seats: int) -> int:
    """Returns the number of cards in the shoe, N in the rules."""
    return decks(options, seats) * (52 + options.jokers_per_deck)


def exact_cut(options: LiverpoolOptions, seats: int, deal: int) -> int:
    """Returns the number of cards that a deal needs, hands and upcard (L5)."""
    return seats * options.hand_sizes[deal - 1] + 1


def turn_limit(options: LiverpoolOptions, seats: int) -> int:
    """Returns the number of turns after which a deal ends; 0: never (L29)."""
    if options.max_turns_per_deal == "auto":
        return _TURNS_PER_SEAT * seats
    return options.max_turns_per_deal


def impossible_deals(options: LiverpoolOptions, seats: int) -> list[str]:
    """Returns a sentence for each way in which the options cannot be dealt or played (L2, L6)."""
    found = []
    size = shoe_size(options, seats)
    for deal, (hand, contract) in enumerate(zip(options.hand_sizes, CONTRACTS, strict=True), 1):
        if hand + 1 < contract.least_cards:
            found.append(
                f"option hand_sizes: deal {deal} needs hands of at least {contract.least_cards - 1} cards for its "
                f"contract, not {hand}"
            )
        if exact_cut(options, seats, deal) + 1 > size:  # L2: hands, upcard and one stock card
            found.append(
                f"options num_decks, jokers_per_deck, hand_sizes: deal {deal} needs "
                f"{exact_cut(options, seats, deal) + 1} cards for {seats} seats, the shoe has {size}"
            )
    return found


PRESETS: Final[Mapping[str, Mapping[str, object]]] = {
    "classic": {},
    "club": {"max_buys_per_deal": 3, "down_may_use_pile": False, "deal7_final_discard": False},
    "open_table": {"contract_size": "at_least", "joker_after_swap": "to_hand"},
}
