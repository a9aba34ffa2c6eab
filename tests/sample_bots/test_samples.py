"""The sample bots play both games to their end, as well as they are said to."""

from __future__ import annotations

import pytest

from tests.sample_bots.playing import NAMES, Mean, group_points, play

SHORT = {"thai": {"max_deals": 2}, "liverpool": {"max_turns_per_deal": 40}}
TABLES = [("thai", 2), ("thai", 3), ("thai", 4), ("liverpool", 3), ("liverpool", 5)]


def seated(name: str, seats: int) -> list[str]:
    """The bot between all the others, so that it meets what they do."""
    return [name, *(other for other in NAMES if other != name)][:seats]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("ruleset", "seats"), TABLES)
def test_a_sample_bot_plays_a_game_to_its_end_without_a_refused_move(name: str, ruleset: str, seats: int) -> None:
    played = play(ruleset, seated(name, seats), seed=seats, options=SHORT[ruleset])

    assert played.refused == []
    assert played.outcome.faults == (0,) * seats
    assert played.outcome.forfeits == ()
    assert len(played.outcome.deals) == (2 if ruleset == "thai" else 7)


@pytest.mark.parametrize(
    ("ruleset", "options"),
    [
        ("thai", {"max_deals": 2, "pickup_layoff": True, "birth_turn_plays": "all"}),
        ("thai", {"max_deals": 2, "stock_exhausted": "reshuffle"}),
        ("liverpool", {"max_turns_per_deal": 40, "cut_mode": "choose", "buy_window": "after_draw"}),
        ("liverpool", {"max_turns_per_deal": 40, "go_out": "discard_required", "joker_after_swap": "off"}),
        ("liverpool", {"max_turns_per_deal": 40, "down_may_use_pile": False, "contract_size": "at_least"}),
    ],
)
def test_the_sample_bots_play_by_house_rules_too(ruleset: str, options: dict[str, object]) -> None:
    played = play(ruleset, NAMES[-3:], seed=1, options=options)

    assert played.refused == []
    assert played.outcome.faults == (0, 0, 0)


@pytest.mark.parametrize("ruleset", ["thai", "liverpool"])
def test_the_same_seed_gives_the_same_game(ruleset: str) -> None:
    first, second = (play(ruleset, NAMES[-4:], seed=7, options=SHORT[ruleset]) for _ in range(2))

    assert first.outcome.record == second.outcome.record


def test_another_seed_gives_another_game() -> None:
    first, second = (play("thai", NAMES[:2], seed, SHORT["thai"]) for seed in (1, 2))

    assert first.outcome.record.moves != second.outcome.record.moves


@pytest.mark.parametrize(
    ("ruleset", "names", "groups", "options"),
    [
        ("thai", ("random_legal", "card_counter"), 12, {"max_deals": 3}),
        ("liverpool", ("random_legal", "first_candidate", "card_counter"), 3, {"max_turns_per_deal": 45}),
    ],
)
def test_counting_cards_beats_playing_at_random(
    ruleset: str, names: tuple[str, ...], groups: int, options: dict[str, object]
) -> None:
    points = [group_points(ruleset, names, seed, options) for seed in range(groups)]

    weak, strong = (Mean.of([one[name] for one in points]) for name in ("random_legal", "card_counter"))

    assert strong.value - weak.value > 2 * (strong.error + weak.error)
