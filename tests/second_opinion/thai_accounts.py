"""The points of thai: what cards count, who is charged, what a deal brings and when the game ends."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.second_opinion.thai_melds import extends, is_meld, place
from tests.second_opinion.words import DECK

if TYPE_CHECKING:  # the table imports the accounts
    from tests.second_opinion.thai import RowCard, ThaiTable

SPETOS = ["2C", "QS"]

# Section 11: name -> default, and what else may be chosen; a number is the least allowed.
OPTIONS: dict[str, tuple[Any, Any]] = {
    "two_player_removed_cards": (0, [0, 5]),
    "target_score": (500, 1),
    "target_tie": ("play_on", ["play_on", "shared"]),
    "max_deals": (100, 0),
    "first_player": ("after_dealer", ["after_dealer", "dealer", "last_knocker"]),
    "first_turn_must_draw": (False, [False, True]),
    "pickup_layoff": (False, [False, True]),
    "birth_turn_plays": ("layoff_only", ["layoff_only", "all", "none"]),
    "dark_knock_layoffs": (True, [False, True]),
    "layoff_points_to": ("layer", ["layer", "meld_owner"]),
    "dark_multiplier": (2, 1),
    "rotten_dark_multiplier": (2, 1),
    "stock_exhausted": ("last_turn", ["last_turn", "immediate", "reshuffle"]),
    "knock_card_points": (50, 0),
    "foolish_penalty": (50, 0),
    "foolish_reversal": ("persist", ["persist", "next_deal_only", "off"]),
    "penalty_points": (50, 0),
    "speto_knock_100": (False, [False, True]),
    "layoff_discard_penalty": (False, [False, True]),
    "head_card": (False, [False, True]),
    "completing_discard_penalty": (False, [False, True]),
    "speto_neighbour_penalty": (False, [False, True]),
    "speto_discard_penalty": (False, [False, True]),
}
DEFAULTS = {name: default for name, (default, _) in OPTIONS.items()}


class Opening(NamedTuple):
    """How a deal opens."""

    deal: int
    dealer: int
    direction: int
    first: int


def refused_at_setup(seats: int, options: dict[str, Any]) -> set[str]:
    """T1, T6, section 11: every reason for which a game is not set up."""
    reasons = set()
    if seats not in (2, 3, 4):
        reasons.add("bad_seats")
    if any(not allowed(name, value) for name, value in options.items()):
        reasons.add("bad_option")
    if options.get("two_player_removed_cards") == 5 and seats in (3, 4):
        reasons.add("bad_option")
    return reasons


def allowed(name: str, value: Any) -> bool:
    if name not in OPTIONS:
        return False
    values = OPTIONS[name][1]
    if isinstance(values, int):
        return type(value) is int and values <= value < 2**31  # the law has no bound, but numbers must fit the wire
    return any(type(value) is type(one) and value == one for one in values)


# --- Charges ----------------------------------------------------------------------------------------------------------


def neighbourhood(card: str) -> list[str]:
    """T43: the cards of the suit at distance 1 or 2, without wrapping, and the other cards of the rank."""
    near = [one for one in DECK if one[1] == card[1] and abs(place(one) - place(card)) in (1, 2)]
    return near + [one for one in DECK if one[0] == card[0] and one != card]


def is_live(table: ThaiTable, one: RowCard) -> bool:
    """T43: another seat discarded it in one of the n-1 turns before this one; the head is never live."""
    return one.seat is not None and one.seat != table.turn and table.turn_number - one.turn <= table.seats - 1


def charge_discard(table: ThaiTable, seat: int, card: str) -> None:
    """T45, T47: the row ends with the card discarded."""
    if table.options["layoff_discard_penalty"] and any(extends(meld.cards, card) for meld in table.melds):
        table.penalties.append((seat, "layoff_discard_penalty", card))
    others = [one.card for one in table.row[:-1]]
    completes = any(is_meld([card, *two]) for two in combinations(others, 2))
    if table.options["completing_discard_penalty"] and completes:
        table.penalties.append((seat, "completing_discard_penalty", card))


def charge_take(table: ThaiTable, seat: int, cards: list[str]) -> None:
    """T46(b), T48, T49: only gathered cards that are in the meld count; `gathered` is in the order of the row."""
    in_meld = [one for one in table.gathered if one.card in cards]
    for at, centre in enumerate(in_meld):
        older, newer = in_meld[:at], in_meld[at + 1 :]
        near = neighbourhood(centre.card)
        if table.options["head_card"] and centre.card == table.head:
            _charge(table, "head_card", [one for one in older + newer if one.card in near and is_live(table, one)])
        if centre.card not in SPETOS:
            continue
        if table.options["speto_neighbour_penalty"]:
            _charge(
                table, "speto_neighbour_penalty", [one for one in newer if one.card in near and is_live(table, one)]
            )
        if table.options["speto_discard_penalty"] and is_live(table, centre) and any(one.card in near for one in older):
            _charge(table, "speto_discard_penalty", [centre])


def _charge(table: ThaiTable, rule: str, discards: list[RowCard]) -> None:
    for one in discards:
        assert one.seat is not None
        table.penalties.append((one.seat, rule, one.card))


def charge_foolish(table: ThaiTable) -> None:
    """T38."""
    if len(table.gathered) != 1:
        return
    one = table.gathered[0]
    if one.seat is not None and one.turn == table.turn_number - 1:
        table.penalties.append((one.seat, "foolish", one.card))


# --- Scores -----------------------------------------------------------------------------------------------------------


def value(card: str) -> int:
    """T29."""
    if card in SPETOS:
        return 50
    if card[0] == "A":
        return 15
    return 10 if card[0] in "TJQK" else 5


def table_value(table: ThaiTable, card: str) -> int:
    """T29, T46(a)."""
    if table.options["head_card"] and card == table.head:
        return 100 if card in SPETOS else 50
    return value(card)


def table_points(table: ThaiTable, seat: int) -> int:
    """T30."""
    points = 0
    for meld in table.melds:
        for card in meld.cards:
            who = meld.owner if table.options["layoff_points_to"] == "meld_owner" else meld.placers[card]
            if who == seat:
                points += table_value(table, card)
    return points


def knock_points(table: ThaiTable) -> int:
    """T32, T44."""
    if table.options["speto_knock_100"] and table.knock_card in SPETOS:
        return 100
    points: int = table.options["knock_card_points"]
    return points


def penalty_points(table: ThaiTable, seat: int) -> int:
    """T35, T36."""
    rules = [rule for who, rule, _ in table.penalties if who == seat]
    foolish: int = table.options["foolish_penalty"] * rules.count("foolish")
    charges: int = table.options["penalty_points"] * len([rule for rule in rules if rule != "foolish"])
    return foolish + charges


def score(table: ThaiTable) -> list[int]:
    """T37."""
    scores = []
    for seat in range(table.seats):
        points, penalty = table_points(table, seat), penalty_points(table, seat)
        if seat == table.knocker:
            times = table.options["dark_multiplier"] if table.dark else 1  # T33
            scores.append(times * (points + knock_points(table)) - penalty)
        else:
            rotten = table.knocker is not None and not table.born(seat)  # T34
            times = table.options["rotten_dark_multiplier"] if rotten else 1
            scores.append(points - times * sum(value(one) for one in table.hands[seat]) - penalty)  # T31
    return scores


# --- Between deals ----------------------------------------------------------------------------------------------------


def settle(table: ThaiTable, scores: list[int]) -> None:
    """T39, T40, T41."""
    table.scores = scores
    table.totals = [total + points for total, points in zip(table.totals, scores, strict=True)]
    best = max(table.totals)
    alone = table.totals.count(best) == 1 or table.options["target_tie"] == "shared"
    capped = table.options["max_deals"] != 0 and table.deal >= table.options["max_deals"]
    table.over = (best >= table.options["target_score"] and alone) or capped


def first_opening(table: ThaiTable) -> Opening:
    return opening(table, 1, 0, 1, None)


def next_opening(table: ThaiTable) -> Opening | None:
    """T4, T53: the direction first, then the dealer moves by one seat in it."""
    if table.over:
        return None
    foolish = any(rule == "foolish" for _, rule, _ in table.penalties)
    direction = table.direction
    if table.options["foolish_reversal"] == "persist" and foolish:
        direction = -direction
    if table.options["foolish_reversal"] == "next_deal_only":
        direction = -1 if foolish else 1
    return opening(table, table.deal + 1, (table.dealer + direction) % table.seats, direction, table.knocker)


def opening(table: ThaiTable, deal: int, dealer: int, direction: int, last_knocker: int | None) -> Opening:
    """T4: who starts."""
    first = (dealer + direction) % table.seats
    if table.options["first_player"] == "dealer":
        first = dealer
    if table.options["first_player"] == "last_knocker" and last_knocker is not None:
        first = last_knocker
    return Opening(deal, dealer, direction, first)


def ranks(table: ThaiTable) -> list[int]:
    """T42: one more than the number of seats with a higher total."""
    return [1 + len([other for other in table.totals if other > mine]) for mine in table.totals]


def winners(table: ThaiTable) -> list[int]:
    """T40, T41: the leaders of a game that is over."""
    return [seat for seat, rank in enumerate(ranks(table)) if rank == 1] if table.over else []
