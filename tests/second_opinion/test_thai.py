"""The core's thai and the second opinion judge, play and score the same random games alike."""

from __future__ import annotations

import random
from typing import Any

import pytest

from rummyarena_rules.events import DealEnded, DealStarted, Event, PenaltyCharged
from rummyarena_rules.moves import Knock, Move
from rummyarena_rules.notation import move_text
from rummyarena_rules.position import read_position
from rummyarena_rules.registry import RULESETS
from rummyarena_rules.ruleset import AnyState, Candidates
from tests.second_opinion import thai, thai_accounts
from tests.second_opinion.attempts import Scene, thai_attempt
from tests.second_opinion.comparing import (
    CANDIDATE_LIMIT,
    JUNK,
    Difference,
    RecordedShuffles,
    Tally,
    agree,
    chosen,
    evolve,
    is_named,
    parsed,
    random_seat,
    random_value,
    reasons_of,
    texts,
    verdict,
)
from tests.second_opinion.thai_melds import place
from tests.second_opinion.thai_positions import random_position
from tests.second_opinion.words import sorted_cards

GAMES = 60  # from the first deal on; raise both for a longer run
POSITIONS = 400  # from a random position to the end of its deal
DEALS = 3  # of a game, unless it ends before
TRIES = 8  # moves tried at each decision, beside the candidates
SET_UPS = 400

CORE = RULESETS["thai"]
CHARGES = ["layoff_discard_penalty", "head_card", "completing_discard_penalty"]
CHARGES += ["speto_neighbour_penalty", "speto_discard_penalty"]
HOUSE_RULES = ["speto_knock_100", *CHARGES]


def random_options(draws: random.Random, seats: int) -> dict[str, Any]:
    """Valid options, about half of them off their defaults; the target often so low that games end early."""
    options = {
        name: random_value(draws, values)
        for name, (_, values) in thai_accounts.OPTIONS.items()
        if draws.random() < 0.5 and name not in ("target_score", "max_deals")
    }
    if draws.random() < 0.5:
        options |= dict.fromkeys(HOUSE_RULES, True)
    if draws.random() < 0.3:
        options["stock_exhausted"] = "reshuffle"
    if draws.random() < 0.5:
        options["target_score"] = draws.choice([1, 30, 100, 500])
    options["max_deals"] = draws.choice([1, DEALS, DEALS, DEALS])
    if seats > 2:
        options.pop("two_player_removed_cards", None)
    return options


class Game:
    """One game, played by the core and by the second opinion side by side."""

    def __init__(self, number: int, tally: Tally, *, from_position: bool) -> None:
        self.draws = random.Random(number)
        self.tally = tally
        self.seats = 2 + number % 3
        self.options = random_options(self.draws, self.seats)
        self.played: list[str] = []
        self.penalties: list[tuple[int, str, str]] = []
        if from_position:
            self.set_up(random_position(self.draws, self.seats))
        else:
            self.start(number)

    def start(self, number: int) -> None:
        configured = CORE.configure(self.options, self.seats)
        assert not isinstance(configured, list), configured
        self.state: AnyState = CORE.start(configured, self.seats, number.to_bytes(32, "big"))
        self.table = thai.new_game(self.seats, self.options)

    def set_up(self, position: dict[str, Any]) -> None:
        self.options["max_deals"] = 1
        configured = CORE.configure(self.options, self.seats)
        assert not isinstance(configured, list), configured
        self.state = CORE.state_of(read_position("thai", self.seats, "position", position), configured, self.seats)
        self.table = thai.table_of(position, self.seats, self.options)
        self.played = [f"[position {position}]"]

    def play(self) -> None:
        if self.table.phase == "over":
            self.start_deal()
        while True:
            self.compare_table()
            while not self.state.public.result:
                self.play_one_move()
            self.try_moves([])
            if self.table.over:
                break
            self.start_deal()
        self.compare_end()

    def start_deal(self) -> None:
        events = CORE.deal(self.state)
        started = events[0]
        assert isinstance(started, DealStarted)
        opening = thai_accounts.next_opening(self.table) if self.played else thai_accounts.first_opening(self.table)
        agree("opening", (started.deal, started.dealer, started.direction, started.first), opening)
        assert opening is not None
        thai.start_deal(self.table, opening, texts(started.shoe or ()))
        self.penalties = []
        self.see(events)
        self.played.append(f"[deal {opening.deal}]")

    def play_one_move(self) -> None:
        seat = self.state.public.turn
        view = CORE.view(self.state, seat)
        candidates = CORE.candidates(view, CANDIDATE_LIMIT)
        names = [self.candidate_text(seat, move) for move in candidates.moves]
        legal = self.try_moves(names)
        if candidates.complete:
            self.compare_completeness(seat, legal, candidates)
        agree("fallback", self.candidate_text(seat, CORE.fallback(view)), thai.fallback(self.table, seat))
        text = chosen(self.draws, candidates, legal) or thai.fallback(self.table, seat)
        self.played.append(f"{seat} {text}")
        events = CORE.resolve(self.state, {seat: parsed(CORE, text)})
        shuffles = RecordedShuffles(events)
        thai.apply(self.table, seat, text, shuffles)
        shuffles.all_used()
        self.see(events)

    def compare_completeness(self, seat: int, legal: list[str], candidates: Candidates) -> None:
        """A complete list names what notation.md 3, *Same move*, asks for."""
        knocks = {str(move.card) for move in candidates.moves if isinstance(move, Knock)}
        settled = self.table.born(seat) and not self.table.born_now(seat)
        for text in legal:
            verb, _, rest = text.partition(" ")
            if verb == "knock":
                named = settled or rest[:2] in knocks
            else:
                combined = verb == "layoff" and len(text.split(" ")) > 3
                named = combined or is_named(CORE, candidates, text)
            agree(f"complete candidates name {text}", named, True)

    def candidate_text(self, seat: int, move: Move | None) -> str:
        """The text of a move of the core, which the second opinion must find legal too."""
        assert move is not None
        text = move_text(move)
        agree(f"candidate {text}", None, thai.judge(self.table, seat, text))
        return text

    def try_moves(self, legal: list[str]) -> list[str]:
        """Tries random texts at a random seat and returns those that were legal."""
        found = []
        for _ in range(TRIES):
            seat = random_seat(self.draws, self.table.turn, self.seats)
            melds = [meld.cards for meld in self.table.melds]
            scene = Scene(sorted_cards(self.table.hands[seat]), [one.card for one in self.table.row], melds, legal)
            text = thai_attempt(self.draws, scene, place, self.table.phase)
            reason = thai.judge(self.table, seat, text)
            agree(f"seat {seat} tries {text!r}", verdict(CORE, CORE.view(self.state, seat), text), reason)
            self.tally.verdicts[reason or f"ok {text.partition(' ')[0]}"] += 1
            if reason is None:
                found.append(text)
        return found

    def see(self, events: tuple[Event, ...]) -> None:
        """Applies the core's events and compares everything there is."""
        for event in events:
            self.tally.events[type(event).__name__] += 1
            if isinstance(event, PenaltyCharged):
                self.penalties.append((event.seat, event.rule, str(event.card)))
                self.tally.events[event.rule] += 1
            if isinstance(event, DealEnded):
                self.compare_deal(event)
        evolve(CORE, self.state, events)
        self.compare_table()

    def compare_deal(self, ended: DealEnded) -> None:
        table = self.table
        self.tally.events[f"{ended.end}{' dark' if ended.dark else ''}"] += 1
        agree("end", (ended.end, ended.seat, ended.dark), (table.end, table.knocker, table.dark))
        agree("knock card", str(ended.knock_card), str(table.knock_card))
        agree("scores", list(ended.scores), table.scores)
        agree("totals", list(ended.totals), table.totals)
        agree("game over", ended.over, table.over)
        agree("shown hands", [texts(hand) for hand in ended.hands], [sorted_cards(hand) for hand in table.hands])

    def compare_table(self) -> None:
        public, table = self.state.public, self.table
        ages = [(str(one.card), one.seat, public.turn_number - one.turn) for one in public.discards]
        agree("row and ages", [one if one[1] is not None else (one[0], None, 0) for one in ages], row_of(table))
        agree("melds", [meld_of_core(meld) for meld in public.melds], [meld_of(meld) for meld in table.melds])
        agree("stock", texts(self.state.stock)[::-1], table.stock)
        agree("aside", sorted_cards(texts(self.state.aside)), sorted_cards(table.aside))
        agree("penalties", sorted(self.penalties), sorted(table.penalties))
        agree("totals", public.totals, table.totals)
        births = public.facts.birth_turns
        agree("born", [one is not None for one in births], [table.born(seat) for seat in range(self.seats)])
        agree("born now", [one == public.turn_number for one in births], list(map(table.born_now, range(self.seats))))
        agree("phase", str(public.phase), table.phase)
        if table.end is None:
            hands = [texts(private.hand) for private in self.state.privates]
            agree("hands", hands, [sorted_cards(hand) for hand in table.hands])
            agree("turn", public.turn, table.turn)
            agree("last turn", public.facts.last_turn, table.last_turn)

    def compare_end(self) -> None:
        result = CORE.result(self.state)
        if result is None:
            raise Difference("the game is not over for the core")
        agree("ranks", list(result.ranks), thai_accounts.ranks(self.table))
        agree("winners", list(result.winners), thai_accounts.winners(self.table))

    def story(self, difference: Exception) -> str:
        table = self.table
        return (
            f"{difference}\n  {self.seats} seats, options {self.options}\n  hands {table.hands}\n  row {row_of(table)}"
            f"\n  melds {[meld_of(meld) for meld in table.melds]}\n  births {table.birth_turns}, turn {table.turn},"
            f" head {table.head}\n  played {' | '.join(self.played)}"
        )


def row_of(table: thai.ThaiTable) -> list[tuple[str, int | None, int]]:
    """The row with the age of each card in turns; the head has none."""
    return [(one.card, one.seat, table.turn_number - one.turn if one.seat is not None else 0) for one in table.row]


def meld_of_core(meld: Any) -> tuple[int, list[tuple[str, int]]]:
    placed = {str(one): placer for one, placer in zip(meld.cards, meld.placers, strict=True)}
    return meld.owner, [(one, placed[one]) for one in sorted_cards(placed)]


def meld_of(meld: thai.Meld) -> tuple[int, list[tuple[str, int]]]:
    return meld.owner, [(one, meld.placers[one]) for one in sorted_cards(meld.cards)]


@pytest.fixture(scope="module")
def tally() -> Tally:
    tally = Tally()
    for number in range(GAMES + POSITIONS):
        game = Game(number, tally, from_position=number >= GAMES)
        try:
            game.play()
        except Difference as difference:
            tally.differences.append(f"game {number}: {game.story(difference)}")
        except Exception as fault:
            raise AssertionError(f"game {number}: {game.story(fault)}") from fault
    return tally


def test_both_opinions_agree_about_every_move_and_every_point(tally: Tally) -> None:
    assert not tally.differences, "\n".join([f"{len(tally.differences)} games differ", *tally.differences[:5]])


def test_the_games_met_every_reason_every_charge_and_every_end(tally: Tally) -> None:
    assert reasons_of("thai") - set(tally.verdicts) == set()
    assert {*CHARGES, "foolish", "knock", "knock dark", "exhausted", "StockReshuffled"} - set(tally.events) == set()


def test_both_opinions_refuse_the_same_set_ups() -> None:
    draws = random.Random(1)
    for _ in range(SET_UPS):
        seats = draws.randint(1, 5)
        options = random_options(draws, max(2, min(4, seats)))
        options |= {draws.choice([*options, "deals"]): draws.choice(JUNK) for _ in range(draws.choice([0, 0, 1, 2]))}
        configured = CORE.configure(options, seats)
        refused = {str(one.reason) for one in configured} if isinstance(configured, list) else set()
        expected = thai_accounts.refused_at_setup(seats, options)
        assert bool(refused) == bool(expected), (seats, options)
        assert refused <= expected, (seats, options)
