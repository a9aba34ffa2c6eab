"""The second opinion on every shuffle, written in Go from docs/shuffle.md alone, agrees with the rules."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import pytest

from rummyarena_rules.cards import Card, cards, text_of
from rummyarena_rules.events import DealStarted, Event, ShoeCut, StockReshuffled
from rummyarena_rules.liverpool.options import LiverpoolOptions, decks
from rummyarena_rules.ruleset import AnyState
from rummyarena_rules.shoe import Stream, deck, reshuffled, shuffled_shoe
from tests.go.conftest import ROOT, Go
from tests.rules.games import Setup, randomly

Ask: TypeAlias = Callable[[Sequence[str]], list[str]]
Question: TypeAlias = tuple[str, str]
"""What the verifier is asked, and what the rules say to it."""

SEEDS = 10_000


@pytest.fixture(scope="module")
def ask(go: Go, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    program = tmp_path_factory.mktemp("go") / "verify_shuffle"
    go("scripts", "build", "-o", str(program), "verify_shuffle.go")

    def ask(lines: Sequence[str]) -> list[str]:
        text = "".join(f"{line}\n" for line in lines)
        done = subprocess.run([program], input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return ask


def agree(ask: Ask, questions: Sequence[Question]) -> None:
    answers = ask([question for question, _ in questions])
    assert len(answers) == len(questions)
    wrong = [(one, answer) for one, answer in zip(questions, answers, strict=True) if one[1] != answer]
    assert wrong == []


def about(number: int) -> Iterator[Question]:
    """Yields questions about one seed: the shoes of both games, cuts, and a reshuffle."""
    seed, draws = sha256(b"%d" % number).digest(), random.Random(number)
    deal, jokers, liverpool_decks = draws.randint(1, 99), draws.randint(0, 4), draws.choice([2, 3])
    yield f"{seed.hex()} shoe/{deal} 1 0", text_of(shuffled_shoe(seed, deal))
    shoe = shuffled_shoe(seed, deal, liverpool_decks, jokers)
    yield f"{seed.hex()} shoe/{deal} {liverpool_decks} {jokers}", text_of(shoe)
    yield f"{seed.hex()} cut/{deal} {len(shoe)}", str(1 + Stream(seed, f"cut/{deal}").below(len(shoe) - 1))
    discards: Sequence[Card] = draws.sample(shoe, draws.randint(1, 60))
    again = text_of(reshuffled(seed, deal, 2, discards))
    yield f"{seed.hex()} reshuffle/{deal}/2 {text_of(discards)}", again


def test_both_agree_on_ten_thousand_seeds(ask: Ask) -> None:
    agree(ask, [question for number in range(SEEDS) for question in about(number)])


@pytest.mark.parametrize(
    "setup",
    [
        Setup("thai", 2, (("stock_exhausted", "reshuffle"), ("max_deals", 6))),
        Setup("thai", 4, (("stock_exhausted", "reshuffle"), ("max_deals", 6))),
        Setup("liverpool", 3, (("max_turns_per_deal", 90), ("hand_sizes", (12,) * 7))),
        Setup("liverpool", 4, (("cut_mode", "choose"), ("max_turns_per_deal", 12))),
        Setup("liverpool", 5, (("cut_mode", "choose"), ("cut_noise", 100), ("max_turns_per_deal", 12))),
        Setup("liverpool", 8, (("jokers_per_deck", 4), ("max_turns_per_deal", 12))),
    ],
    ids=str,
)
def test_both_agree_on_whole_games(ask: Ask, setup: Setup) -> None:
    questions = [question for seed in range(5) for question in in_a_game(setup, seed)]
    kinds = {question.split()[1].partition("/")[0] for question, _ in questions}
    assert kinds == ({"shoe", "reshuffle"} if setup.ruleset == "thai" else {"shoe", "cut"}) | (kinds & {"reshuffle"})
    agree(ask, questions)


def in_a_game(setup: Setup, seed: int) -> Iterator[Question]:
    """Yields a question about each random outcome of a random game."""
    ruleset, state = Setup(setup.ruleset, setup.seats, setup.options, seed).start()
    choose = randomly(seed)
    while ruleset.result(state) is None:
        decisions = ruleset.decisions(state)
        answers = {seat: choose(ruleset, ruleset.view(state, seat)) for seat in decisions}
        for event in ruleset.resolve(state, answers) if decisions else ruleset.deal(state):
            yield from about_event(state, event)
            ruleset.evolve(state, event)


def about_event(state: AnyState, event: Event) -> Iterator[Question]:
    """Yields the question that an event is the answer to, if it is random; it is not applied yet."""
    seed, public = state.seed.hex(), state.public
    options = public.options
    match event:
        case DealStarted(deal=deal, shoe=shoe):
            is_liverpool = isinstance(options, LiverpoolOptions)
            size = (decks(options, public.seats), options.jokers_per_deck) if is_liverpool else (1, 0)
            yield f"{seed} shoe/{deal} {size[0]} {size[1]}", text_of(shoe or ())
        case ShoeCut(asked=None, position=position):
            yield f"{seed} cut/{public.deal} {len(state.stock)}", str(position)
        case ShoeCut(asked=asked, position=position):
            yield f"{seed} cut/{public.deal} {len(state.stock)} {asked} {options.cut_noise}", str(position)
        case StockReshuffled(count=count, cards=stock):
            old = text_of(one.card for one in public.discards[:count])
            yield f"{seed} reshuffle/{public.deal}/{public.facts.reshuffles + 1} {old}", text_of(stock or ())


def test_the_example_of_the_page_is_right(ask: Ask) -> None:
    page = (ROOT / "docs" / "shuffle.md").read_text()
    example = re.search(r"\$ echo (.*) \| go run scripts/verify_shuffle.go\n(.*)\n", page)
    assert example
    assert ask([example[1]]) == [example[2]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "a seed, a purpose and what belongs to it are the least"),
        ("00 shoe/1 1 0", 'the seed "00" is not 64 hex digits'),
        ("{seed} shoe/1 1", '"shoe/1 1" is no question that has an answer'),
        ("{seed} shoe/1 1 -1", '"-1" is not a whole number up to 10000'),
        ("{seed} cut/1 1", '"cut/1 1" is no question that has an answer'),
        ("{seed} deal/1 1 0", '"deal/1 1 0" is no question'),
    ],
)
def test_what_is_no_question_is_refused_with_its_line(ask: Ask, line: str, message: str) -> None:
    good = "00" * 32 + " shoe/1 1 0"
    with pytest.raises(AssertionError, match=re.escape(f"line 2: {message}")):
        ask([good, line.format(seed="00" * 32)])


def test_the_list_before_a_shuffle_is_as_the_page_says() -> None:
    assert text_of(deck(2, 1)).startswith("2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC 2D")
    assert deck(2, 1)[51:54] == cards("AS JK 2C")
    assert Path(ROOT / "scripts" / "verify_shuffle.go").read_text().count("\n") < 150  # about a page
