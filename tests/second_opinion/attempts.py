"""Moves to try, as texts: legal ones, near misses and nonsense, made without asking the rules."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.second_opinion.words import DECK, JOKER, RANKS, SUITS

NONSENSE = ["", "draw ", "Draw", "discard 10H", "discard 7h", "meld", "take", "layoff m0: 7H", "layoff m01: 7H", "buy"]
NONSENSE += ["meld 7C  7D 7H", "knock", "knock 7H /", "down 7C 7D 7H / ", "cut 0", "cut 05", "swap m1 : 7H", "fold"]
NONSENSE += ["take 7H:", "take 7H on m1", "layoff m1 LOW: 7H", "layoff m1 low: 7H", "cut 41", "swap m1: JK", "pass"]


@dataclass
class Scene:
    """What a mover may name: its hand, the discards oldest first, the melds' cards and moves known to be legal."""

    hand: list[str]
    discards: list[str]
    melds: list[list[str]]
    legal: Sequence[str]


def some_card(draws: random.Random, scene: Scene) -> str:
    return draws.choice(draws.choice([scene.hand, scene.hand, scene.discards, DECK]) or DECK)


def some_meld(draws: random.Random, scene: Scene) -> str:
    return f"m{draws.randint(1, len(scene.melds) + 1)}"


def like_a_meld(draws: random.Random, around: list[str], rank_of: Callable[[str], int], size: int) -> list[str]:
    """Cards that hang together with one of them: of its rank, or near it in its suit; often a meld, often not."""
    if not around:
        return [draws.choice(DECK)]
    centre = draws.choice(around)
    if draws.random() < 0.5:
        near = [one for one in around if one[0] == centre[0]]
    else:
        near = [one for one in around if one[1] == centre[1] and abs(rank_of(one) - rank_of(centre)) < size]
    near.sort(key=lambda one: (abs(rank_of(one) - rank_of(centre)), draws.random()))
    return near[:size]


def mutated(draws: random.Random, text: str, scene: Scene) -> str:
    """The text with one word changed, left out, doubled or moved."""
    words = text.split(" ")
    at = draws.randrange(len(words))
    match draws.randrange(5):
        case 0:
            words[at] = _other_word(draws, words[at], scene)
        case 1 if len(words) > 1:
            del words[at]
        case 2:
            words.insert(at, words[at])
        case 3:
            other = draws.randrange(len(words))
            words[at], words[other] = words[other], words[at]
        case _:
            words.append(some_card(draws, scene))
    return " ".join(words)


def _other_word(draws: random.Random, word: str, scene: Scene) -> str:
    if word in DECK or word == JOKER:
        return some_card(draws, scene)
    if word.startswith("m") and word.endswith(":"):
        return some_meld(draws, scene) + ":"
    return draws.choice(["meld", "layoff", "take", "discard", "knock", "down", "swap", "/", word.upper()])


# --- thai -------------------------------------------------------------------------------------------------------------


def thai_attempt(draws: random.Random, scene: Scene, rank_of: Callable[[str], int], phase: str) -> str:
    """One text to try at a thai table, mostly of a kind that belongs to the phase."""
    chance = draws.random()
    if chance < 0.03:
        return draws.choice(NONSENSE)
    if chance < 0.20 and scene.legal:
        return mutated(draws, draws.choice(scene.legal), scene)
    if chance < 0.40:
        return _thai_sentence(draws, scene, rank_of)
    kinds = [_thai_take, _thai_take, _thai_onto] if phase == "draw" else [_thai_meld, _thai_knock, _thai_layoff]
    return draws.choice(kinds)(draws, scene, rank_of)


def _thai_sentence(draws: random.Random, scene: Scene, rank_of: Callable[[str], int]) -> str:
    cards = " ".join(some_card(draws, scene) for _ in range(draws.randint(1, 4)))
    return draws.choice(
        [
            "draw",
            "pass",
            f"discard {some_card(draws, scene)}",
            f"meld {cards}",
            f"take {some_card(draws, scene)}: {cards}",
            _thai_onto(draws, scene, rank_of),
            f"layoff {some_meld(draws, scene)}: {cards}",
            f"knock {some_card(draws, scene)} / meld {cards}",
        ]
    )


def _thai_take(draws: random.Random, scene: Scene, rank_of: Callable[[str], int]) -> str:
    if not scene.discards:
        return "take 7H: 5H 6H 7H"
    at = draws.randrange(len(scene.discards))
    target, around = scene.discards[at], scene.hand + scene.discards[at:]
    near = [one for one in around if one[0] == target[0]]
    if draws.random() < 0.6:
        near = [one for one in around if one[1] == target[1]]
        near.sort(key=lambda one: abs(rank_of(one) - rank_of(target)))
    return f"take {target}: " + " ".join(near[: draws.choice([3, 3, 3, 4, 5])])


def _thai_onto(draws: random.Random, scene: Scene, rank_of: Callable[[str], int]) -> str:
    return f"take {draws.choice(scene.discards or DECK)} onto {some_meld(draws, scene)}"


def _thai_meld(draws: random.Random, scene: Scene, rank_of: Callable[[str], int]) -> str:
    return "meld " + " ".join(like_a_meld(draws, scene.hand, rank_of, draws.choice([3, 3, 4, 5])))


def _thai_layoff(draws: random.Random, scene: Scene, rank_of: Callable[[str], int]) -> str:
    number = draws.randint(1, len(scene.melds) + 1)
    return f"layoff m{number}: " + " ".join(_fitting(draws, scene, number, scene.hand))


def _fitting(draws: random.Random, scene: Scene, number: int, hand: list[str]) -> list[str]:
    """Cards of the hand that share rank or suit with a meld."""
    meld = scene.melds[number - 1] if number <= len(scene.melds) else hand[:1]
    near = [one for one in hand if one[0] == meld[0][0] or one[1] == meld[0][1]] or hand or DECK
    return draws.sample(near, min(len(near), draws.choice([1, 1, 1, 2, 3])))


def _thai_knock(draws: random.Random, scene: Scene, rank_of: Callable[[str], int]) -> str:
    """Groups of a shuffled hand, until one card or a few are left."""
    hand, melds = draws.sample(scene.hand, len(scene.hand)), len(scene.melds)
    parts: list[str] = []
    while len(hand) > 1 and len(parts) < 6:
        if melds and draws.random() < 0.4:
            number = draws.randint(1, melds)
            group, head = _fitting(draws, scene, number, hand), f"layoff m{number}: "
        else:
            group, head = like_a_meld(draws, hand, rank_of, draws.choice([3, 3, 4, 5])), "meld "
            melds += 1
        hand = [one for one in hand if one not in group]
        parts.append(head + " ".join(group))
    kept = hand[0] if hand else some_card(draws, scene)
    return " / ".join([f"knock {kept}", *parts])


# --- liverpool --------------------------------------------------------------------------------------------------------

CUTS = ["cut 1", "cut 105", "cut 107", "cut 108", "cut 161", "cut 162", "cut 999999"]


def liverpool_attempt(draws: random.Random, scene: Scene, contract: tuple[int, int], phase: str) -> str:
    """One text to try at a liverpool table, mostly of a kind that belongs to the phase."""
    chance = draws.random()
    if chance < 0.03:
        return draws.choice(NONSENSE)
    if chance < 0.15 and scene.legal:
        return mutated(draws, draws.choice(scene.legal), scene)
    if chance < 0.35:
        return _liverpool_sentence(draws, scene)
    if phase in ("cut", "draw", "buy"):
        return draws.choice({"draw": ["draw", "take"], "buy": ["buy", "pass"], "cut": CUTS}[phase])
    if chance < 0.65:
        return _down(draws, scene, contract)
    return _liverpool_swap(draws, scene) if chance < 0.75 else _liverpool_layoff(draws, scene)


def _liverpool_sentence(draws: random.Random, scene: Scene) -> str:
    cards = " ".join(_card_or_joker(draws, scene) for _ in range(draws.randint(1, 4)))
    one = _card_or_joker(draws, scene)
    side = draws.choice(["", " low", " high"])
    return draws.choice(
        [
            draws.choice(["draw", "take", "buy", "pass"]),
            f"discard {one}",
            f"cut {draws.randint(1, 170)}",
            f"down {cards}",
            f"layoff {some_meld(draws, scene)}{side}: {cards}",
            f"swap {some_meld(draws, scene)}: {one}",
        ]
    )


def _card_or_joker(draws: random.Random, scene: Scene) -> str:
    return JOKER if draws.random() < 0.2 else some_card(draws, scene)


def _down(draws: random.Random, scene: Scene, contract: tuple[int, int]) -> str:
    """The groups of the contract as far as the hand has them; now and then one too few, one too many or too long."""
    sets, runs = contract
    if draws.random() < 0.15:
        sets, runs = sets + draws.choice([-1, 0, 1]), runs + draws.choice([-1, 0, 1])
    hand, groups = draws.sample(scene.hand, len(scene.hand)), []
    more = draws.choice([0, 0, 0, 1, 2])
    for kind in draws.sample(["run"] * max(0, runs) + ["set"] * max(0, sets), max(0, runs) + max(0, sets)):
        size = (4 if kind == "run" else 3) + (draws.randint(0, more))
        group = _run_of(draws, hand, size) if kind == "run" else _set_of(draws, hand, size)
        for card in group:
            hand.remove(card)
        groups.append(" ".join(group))
    left_over = draws.random() < 0.5 and hand and groups
    return "down " + " / ".join(groups) + (f" {hand[0]}" if left_over and draws.random() < 0.1 else "")


def _set_of(draws: random.Random, hand: list[str], size: int) -> list[str]:
    """Cards of one rank of the hand, filled up with its jokers."""
    plain, jokers = [one for one in hand if one != JOKER], hand.count(JOKER)
    if not plain:
        return hand[:1]
    ranks = sorted({one[0] for one in plain})
    ranks.sort(key=lambda rank: (-len([one for one in plain if one[0] == rank]), draws.random()))
    rank = draws.choice(ranks[:3])
    group = [one for one in plain if one[0] == rank][:size]
    return group + [JOKER] * min(jokers, size - len(group))


def _run_of(draws: random.Random, hand: list[str], size: int) -> list[str]:
    """The places of a run with the cards of the hand and its jokers in them, choosing among the fullest."""
    jokers, found = hand.count(JOKER), []
    for suit in SUITS:
        order = [rank + suit for rank in ["A", *RANKS]]
        for start in range(15 - size):
            wanted = order[start : start + size]
            held = [one for at, one in enumerate(wanted) if wanted[:at].count(one) < hand.count(one)]
            if size - len(held) <= jokers and held:
                found.append([one if one in held else JOKER for one in wanted])
    if not found:
        return hand[:1]
    fewest = min(group.count(JOKER) for group in found)
    return draws.choice([group for group in found if group.count(JOKER) <= fewest + 1])


def _liverpool_layoff(draws: random.Random, scene: Scene) -> str:
    number = draws.randint(1, len(scene.melds) + 1)
    meld = scene.melds[number - 1] if number <= len(scene.melds) else [JOKER]
    near = [one for one in scene.hand if one == JOKER or one[0] == meld[-1][0] or one[1] in [card[1] for card in meld]]
    near = near or scene.hand or DECK
    cards = draws.sample(near, min(len(near), draws.choice([1, 1, 1, 1, 2, 3])))
    return f"layoff m{number}{draws.choice(['', '', ' low', ' high'])}: " + " ".join(cards)


def _liverpool_swap(draws: random.Random, scene: Scene) -> str:
    """A swap, mostly at a meld with a joker and with a card near that meld."""
    numbers = [at for at, meld in enumerate(scene.melds, 1) if JOKER in meld or draws.random() < 0.2]
    if not numbers:
        return f"swap {some_meld(draws, scene)}: {_card_or_joker(draws, scene)}"
    number = draws.choice(numbers)
    ranks, suits = ["".join(sorted({card[part] for card in scene.melds[number - 1]})) for part in (0, 1)]
    near = [one for one in scene.hand if one[0] in ranks or one[1] in suits or one == JOKER]
    return f"swap m{number}: {draws.choice(near or [_card_or_joker(draws, scene)])}"
