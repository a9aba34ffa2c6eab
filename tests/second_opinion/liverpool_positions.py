"""Random liverpool positions in which much can happen: hands that hold the contract, melds with jokers, thin stocks."""

from __future__ import annotations

import random
from typing import Any

from tests.second_opinion.liverpool_accounts import CONTRACTS, DEFAULTS, shoe, value
from tests.second_opinion.liverpool_melds import SUITS, at, run_start, suit_of
from tests.second_opinion.words import JOKER


def random_position(draws: random.Random, seats: int, options: dict[str, Any]) -> dict[str, Any]:
    """A position of notation.md 5.1 as a JSON object."""
    cards = shoe(seats, options)
    left = draws.sample(cards, len(cards))
    deal, turn, phase = (
        draws.choice([1, 2, 3, 4, 5, 6, 7, 7, 7]),
        draws.randrange(seats),
        draws.choice(["draw", "play"]),
    )
    down = [seat for seat in range(seats) if draws.random() < (0.6 if seat == turn else 0.3)]
    melds = [_group(draws, left, draws.choice(["set", "run"]), longest=14) for _ in range(draws.randint(0, 4))]
    melds = [meld for meld in melds if meld]
    hands = [_loose(draws, left, melds) if seat in down else _contract(draws, left, deal) for seat in range(seats)]
    position: dict[str, Any] = {
        "deal": deal,
        "turn": turn,
        "phase": phase,
        "hands": {str(seat): " ".join(hand) for seat, hand in enumerate(hands)},
        "discards": " ".join(left.pop() for _ in range(draws.choice([0, 1, 1, 2, 3, 5]))),
        "melds": [
            {"id": f"m{number}", "owner": draws.randrange(seats), "cards": " ".join(meld)}
            for number, meld in enumerate(melds, 1)
        ],
        "down": down,
        "buys": {str(seat): draws.randint(0, 3) for seat in range(seats)},
        "totals": _totals(draws, hands, options),
    }
    if draws.random() < 0.5:
        position |= {"rest": "aside", "stock": " ".join(left[: draws.choice([0, 0, 0, 1, 2, 3, 4])])}
    return position


def _totals(draws: random.Random, hands: list[list[str]], options: dict[str, Any]) -> list[int]:
    """Totals that are often equal once these hands are scored (L32)."""
    if draws.random() < 0.5:
        return [draws.choice([0, 40, 41, -50]) for _ in hands]
    return [draws.choice([100, 101]) - sum(value(one, DEFAULTS | options) for one in hand) for hand in hands]


def _contract(draws: random.Random, left: list[str], deal: int) -> list[str]:
    """The contract, perhaps some cards of it elsewhere, and a few loose cards."""
    sets, runs = CONTRACTS[deal - 1]
    groups = [_group(draws, left, kind, longest=4) for kind in ["set"] * sets + ["run"] * runs]
    if runs > 1 and draws.random() < 0.4:
        groups[-1] = _run_near(draws, left, groups[-2]) or groups[-1]
    hand = [one for group in groups for one in group]
    if draws.random() < 0.2:
        hand = hand[1:]
    return hand + [left.pop() for _ in range(draws.choice([1, 1, 1, 2, 3] if len(hand) < 2 else [0, 1, 1, 2, 3]))]


def _loose(draws: random.Random, left: list[str], melds: list[list[str]]) -> list[str]:
    """A short hand of a seat that is down, mostly of cards that extend a meld or stand for one of its jokers."""
    useful = [card for meld in melds for card in _useful(meld)]
    hand: list[str] = []
    for _ in range(draws.randint(1, 5)):
        card = draws.choice([JOKER, *useful, *useful]) if draws.random() < 0.8 else left[0]
        if card not in left:
            card = left[0]
        left.remove(card)
        hand.append(card)
    return hand


def _useful(meld: list[str]) -> list[str]:
    """The cards of a run's next places and of its jokers' places, or all cards of a set's rank."""
    start = run_start(meld, 1, 14)
    plain = [one for one in meld if one != JOKER]
    if not start:
        return [plain[0][0] + suit for suit in SUITS]
    places = [start - 1, start + len(meld), *[start + place for place, one in enumerate(meld) if one == JOKER]]
    return [at(place, plain[0][1]) for place in places if 1 <= place <= 14]


def _run_near(draws: random.Random, left: list[str], run: list[str]) -> list[str]:
    """Takes a run that begins close behind the end of another one of its suit, if there is room (L22)."""
    start = run_start(run, 1, 14) + len(run) + draws.randint(-1, 2)
    if not run or start > 11:
        return []
    return _taken(left, [at(start + step, suit_of(run)) for step in range(4)])


def _taken(left: list[str], wanted: list[str]) -> list[str]:
    """Takes the cards out of those left, or none of them if one is not there."""
    if any(wanted.count(one) > left.count(one) for one in wanted):
        return []
    for one in wanted:
        left.remove(one)
    return wanted


def _group(draws: random.Random, left: list[str], kind: str, longest: int) -> list[str]:
    """Takes a meld with a joker here and there out of the cards left; nothing if the cards are not there."""
    if kind == "set":
        rank = draws.choice(left[:20])[0]
        wanted = [one for one in left if one[0] == rank and one != JOKER][: 3 if longest == 4 else draws.randint(3, 6)]
        spare = 2
    else:
        size = 4 if longest == 4 else draws.choice([4, 4, draws.randint(4, longest), longest])
        start, suit = draws.randint(1, 15 - size), draws.choice(SUITS)
        wanted = [at(start + step, suit) for step in range(size)]
        spare = 3
    for place in draws.sample(range(len(wanted)), max(0, len(wanted) - spare)):
        if draws.random() < 0.35:
            wanted[place] = JOKER
    return _taken(left, wanted) if len(wanted) >= 3 else []
