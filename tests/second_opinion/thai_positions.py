"""Random thai positions in which much can happen: hands full of melds, rows that complete them, spetos and heads."""

from __future__ import annotations

import random
from typing import Any

from tests.second_opinion.words import DECK, RANKS


def random_position(draws: random.Random, seats: int) -> dict[str, Any]:
    """A position of notation.md 5.1 as a JSON object; the seat on turn may often lay or knock at once."""
    left = draws.sample(DECK, len(DECK))
    direction, turn, phase = draws.choice([1, -1]), draws.randrange(seats), draws.choice(["draw", "play"])
    groups = [_group(draws, left) for _ in range(draws.choice([0, 0, 1, 2, 3]))]
    melds = [_meld(draws, seats, group) for group in groups if group]
    hands = [_hand(draws, left) for _ in range(seats)]
    row = _spread(draws, left, hands[turn]) or [left.pop() for _ in range(draws.randint(0, 3))]
    for _ in range(draws.choice([0, 1, 1, 2, 3])):
        giver = hands[turn] if draws.random() < 0.8 else draws.choice(hands)
        if len(giver) > 3:
            row.append(giver.pop(draws.randrange(len(giver))))
    position: dict[str, Any] = {
        "direction": direction,
        "turn": turn,
        "phase": phase,
        "hands": {str(seat): " ".join(hand) for seat, hand in enumerate(hands)},
        "discards": _marked(draws, row, seats, turn, direction),
        "melds": [meld | {"id": f"m{at + 1}"} for at, meld in enumerate(melds)],
        "born": [seat for seat in range(seats) if draws.random() < 0.5],
        "totals": [draws.choice([0, -40, 465, 480, 500]) for _ in range(seats)],
    }
    if draws.random() < 0.4:
        position |= {"rest": "aside", "stock": " ".join(left[: draws.choice([0, 1, 2, 3])])}
        if not position["stock"] and phase == "draw":
            position["last_turn"] = True
    return position


def _hand(draws: random.Random, left: list[str]) -> list[str]:
    hand = [left.pop() for _ in range(draws.choice([1, 1, 1, 2]))]
    for _ in range(draws.choice([1, 1, 2, 2, 3])):
        hand += _group(draws, left)
    if len(hand) < 2:
        hand.append(left.pop())
    return hand


def _spread(draws: random.Random, left: list[str], hand: list[str]) -> list[str]:
    """A row that holds a group but for one card, which goes to the hand (T46 to T49); often none."""
    if draws.random() < 0.4:
        return []
    group = _group(draws, left)
    draws.shuffle(group)
    hand += group[:1]
    row = group[1:]
    if draws.random() < 0.3:
        row.insert(draws.randint(0, len(row)), left.pop())
    return row


def _group(draws: random.Random, left: list[str]) -> list[str]:
    """Takes a set or a run out of the cards left, if there is one around a card drawn; spetos are drawn often."""
    centre = draws.choice([*left, *[one for one in ("2C", "QS") if one in left] * 6])
    of_rank = [one for one in left if one[0] == centre[0]]
    low = max(0, RANKS.index(centre[0]) - draws.randrange(3))
    of_suit = [rank + centre[1] for rank in RANKS[low : low + draws.choice([3, 3, 3, 4, 5])]]
    group = of_suit if draws.random() < 0.6 else of_rank[: draws.choice([3, 3, 4])]
    if len(group) < 3 or any(one not in left for one in group):
        return []
    for one in group:
        left.remove(one)
    return group


def _meld(draws: random.Random, seats: int, group: list[str]) -> dict[str, Any]:
    placers = [draws.randrange(seats) if draws.random() < 0.3 else None for _ in group]
    words = [one if seat is None else f"{one}@{seat}" for one, seat in zip(group, placers, strict=True)]
    return {"owner": draws.randrange(seats), "cards": " ".join(words)}


def _marked(draws: random.Random, row: list[str], seats: int, turn: int, direction: int) -> str:
    """The row with its marks: perhaps a head, and each discard some turns older than the next (5.1)."""
    words: list[str] = []
    ago = 0
    for at, card in reversed(list(enumerate(row))):
        ago += draws.choice([1, 1, 1, 1, 2, seats])
        is_head = at == 0 and draws.random() < 0.6
        words.insert(0, f"{card}*" if is_head else f"{card}@{(turn - direction * ago) % seats}~{ago}")
    return " ".join(words)
