"""The core's liverpool and the second opinion judge, play and score the same random games alike."""

from __future__ import annotations

import random
from typing import Any

import pytest

from rummyarena_rules.events import DealEnded, DealStarted, Event, Seat, ShoeCut
from rummyarena_rules.moves import Move
from rummyarena_rules.notation import move_text
from rummyarena_rules.position import read_position
from rummyarena_rules.registry import RULESETS
from rummyarena_rules.ruleset import AnyState
from tests.second_opinion import liverpool, liverpool_accounts
from tests.second_opinion.attempts import Scene, liverpool_attempt
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
from tests.second_opinion.liverpool_melds import Meld
from tests.second_opinion.liverpool_positions import random_position
from tests.second_opinion.words import sorted_cards

GAMES = 20  # from the first deal on; raise both for a longer run
POSITIONS = 300  # from a random position to the end of its deal
MOVES = 200  # of a game, unless it ends before
TRIES = 8  # moves tried at each decision, beside the candidates
SET_UPS = 400

CORE = RULESETS["liverpool"]


def random_options(draws: random.Random, seats: int) -> dict[str, Any]:
    """Valid options, about half of them off their defaults; deals are mostly short."""
    while True:
        options = {
            name: random_number(draws, *values) if isinstance(values, tuple) else random_value(draws, values)
            for name, (_, values) in liverpool_accounts.OPTIONS.items()
            if name != "hand_sizes" and draws.random() < 0.4
        }
        options |= draws.choice([{}, {"cut_mode": "choose", "cut_noise": draws.choice([0, 1])}])
        options |= draws.choice([{}, {}, {"go_out": "discard_required"}])
        options["max_turns_per_deal"] = draws.choice(["auto", 0, 1, 6, 12, 20])
        if draws.random() < 0.2:
            options["hand_sizes"] = [draws.randint(size, size + 4) for size in (6, 7, 8, 9, 10, 11, 12)]
        if not liverpool_accounts.refused_at_setup(seats, options):
            return options


def random_number(draws: random.Random, least: int, greatest: int | None) -> int:
    return draws.randint(least, greatest) if greatest is not None else least + draws.choice([0, 1, 2, 3, 20])


class Game:
    """One game, played by the core and by the second opinion side by side."""

    def __init__(self, number: int, tally: Tally, *, from_position: bool) -> None:
        self.draws = random.Random(number)
        self.tally = tally
        self.seats = self.draws.choice([3, 3, 3, 4, 4, 5, 6, 7, 8])
        self.options = random_options(self.draws, self.seats)
        configured = CORE.configure(self.options, self.seats)
        assert not isinstance(configured, list), configured
        self.played: list[str] = []
        self.state: AnyState = CORE.start(configured, self.seats, number.to_bytes(32, "big"))
        self.table = liverpool.new_game(self.seats, self.options)
        if from_position:
            position = random_position(self.draws, self.seats, self.options)
            read = read_position("liverpool", self.seats, "position", position)
            self.state = CORE.state_of(read, configured, self.seats)
            self.table = liverpool.table_of(position, self.seats, self.options)
            self.played = [f"[position {position}]"]

    def play(self, deals: int) -> None:
        for _ in range(deals):
            if self.table.phase == "over":
                self.start_deal()
            self.compare_table()
            while not self.state.public.result:
                if len(self.played) > MOVES:
                    return
                self.play_one_move()
            self.try_moves([])
            if self.table.over:
                self.compare_end()
                return

    def start_deal(self) -> None:
        events = CORE.deal(self.state)
        started = events[0]
        assert isinstance(started, DealStarted)
        first_deal = liverpool_accounts.opening(self.table, 1, 0)
        opening = liverpool_accounts.next_opening(self.table) if self.played else first_deal
        agree("opening", (started.deal, started.dealer, started.direction, started.first), opening)
        assert opening is not None
        liverpool.start_deal(self.table, opening, texts(started.shoe or ()), cut_of(events))
        self.see(events)
        self.played.append(f"[deal {opening.deal}, cut {cut_of(events)}]")

    # --- one move ---------------------------------------------------------------------------------------------------

    def play_one_move(self) -> None:
        seats = list(CORE.decisions(self.state))
        agree("seats asked", sorted(seats), sorted(self.table.asked or [self.table.turn]))
        *before, last = self.draws.sample(seats, len(seats))
        answers = {seat: self.answer(seat) for seat in before}
        text = self.choose(last)
        answers[last] = parsed(CORE, text) if text else None
        self.played.append(f"{last} {text}")
        events = CORE.resolve(self.state, answers)
        self.follow(last, text, events)
        self.see(events)

    def answer(self, seat: Seat) -> Move | None:
        """An answer to a window that others have yet to answer too."""
        text = self.choose(seat)
        assert text is not None
        self.played.append(f"{seat} {text}")
        liverpool.apply(self.table, seat, text, no_shuffle)
        return parsed(CORE, text)

    def follow(self, seat: Seat, text: str | None, events: tuple[Event, ...]) -> None:
        """Plays the move that the core has just resolved."""
        if text is None:
            cut = cut_of(events)
            assert cut is not None
            liverpool.cut_shoe(self.table, cut)
            return
        shuffles = RecordedShuffles(events)
        liverpool.apply(self.table, seat, text, shuffles, cut_of(events))
        shuffles.all_used()

    def choose(self, seat: Seat) -> str | None:
        view = CORE.view(self.state, seat)
        candidates = CORE.candidates(view, CANDIDATE_LIMIT)
        legal = self.try_moves([self.candidate_text(seat, move) for move in candidates.moves])
        legal = [text for text in legal if liverpool.judge(self.table, seat, text) is None]
        if candidates.complete:
            for text in legal:
                named = is_excused(self.table, seat, text) or is_named(CORE, candidates, text)
                agree(f"complete candidates name {text}", named, True)
        fallback = CORE.fallback(view)
        agree("fallback", fallback and move_text(fallback), liverpool.fallback(self.table, seat))
        if self.table.phase == "cut":
            return self.draws.choice([None, self.random_cut(), self.random_cut(), self.random_cut()])
        return chosen(self.draws, candidates, legal) or liverpool.fallback(self.table, seat)

    def random_cut(self) -> str:
        """A cut, often near the number of cards needed."""
        needed = liverpool_accounts.cut_needed(self.table)
        return f"cut {self.draws.choice([1, needed, needed, needed + 1, len(self.table.shoe) - 1])}"

    def candidate_text(self, seat: Seat, move: Move) -> str:
        """The text of a candidate, which the second opinion must find legal too."""
        text = move_text(move)
        agree(f"candidate {text}", None, liverpool.judge(self.table, seat, text))
        return text

    def try_moves(self, legal: list[str]) -> list[str]:
        """Tries random texts at random seats and returns those that were legal there."""
        found = []
        for _ in range(TRIES if self.table.phase == "play" else TRIES // 2):
            seat = random_seat(self.draws, self.table.turn, self.seats)
            if self.table.phase == "buy":
                seat = self.draws.randrange(self.seats)
            melds = [meld.cards for meld in self.table.melds]
            scene = Scene(sorted_cards(self.table.hands[seat]), list(self.table.pile), melds, legal)
            contract = liverpool_accounts.CONTRACTS[self.table.deal - 1]
            text = liverpool_attempt(self.draws, scene, contract, self.table.phase)
            reason = liverpool.judge(self.table, seat, text)
            view = CORE.view(self.state, seat, answered=seat in self.table.answers)
            agree(f"seat {seat} tries {text!r}", verdict(CORE, view, text), reason)
            self.tally.verdicts[reason or f"ok {text.partition(' ')[0]}"] += 1
            if reason is None:
                found.append(text)
        return found

    # --- comparing --------------------------------------------------------------------------------------------------

    def see(self, events: tuple[Event, ...]) -> None:
        """Applies the core's events and compares everything there is."""
        for event in events:
            self.tally.events[type(event).__name__] += 1
            if isinstance(event, DealEnded):
                self.compare_deal(event)
            if isinstance(event, ShoeCut):
                exact = event.position == liverpool_accounts.cut_needed(self.table)
                bonus = self.table.options["cut_bonus"] > 0  # information.md 3: an exact cut shows by its bonus only
                agree("exact cut", event.exact, exact and bonus)
                self.tally.events["exact cut"] += event.exact
        evolve(CORE, self.state, events)
        self.compare_table()

    def compare_deal(self, ended: DealEnded) -> None:
        table = self.table
        self.tally.events[ended.end] += 1
        agree("end", (ended.end, ended.seat), (table.end, table.out))
        agree("scores", list(ended.scores), table.scores)
        agree("totals", list(ended.totals), table.totals)
        agree("game over", ended.over, table.over)
        agree("shown hands", [texts(hand) for hand in ended.hands], [sorted_cards(hand) for hand in table.hands])

    def compare_table(self) -> None:
        public, table = self.state.public, self.table
        agree("pile", [str(one.card) for one in public.discards], table.pile)
        agree("melds", [meld_of_core(meld) for meld in public.melds], [meld_of(meld) for meld in table.melds])
        agree("totals", public.totals, table.totals)
        agree("phase", str(public.phase), table.phase)
        if table.phase == "cut":
            agree("cutter", list(CORE.decisions(self.state)), [liverpool_accounts.cutter(table)])
            return
        agree("stock", texts(self.state.stock)[::-1], table.stock)
        agree("aside", sorted_cards(texts(self.state.aside)), sorted_cards(table.aside))
        if table.end is None:
            hands = [texts(private.hand) for private in self.state.privates]
            agree("hands", hands, [sorted_cards(hand) for hand in table.hands])
            agree("turn", public.turn, table.turn)
            facts, seats = public.facts, range(self.seats)
            agree(
                "down", [facts.down_turns[seat] is not None for seat in seats], [seat in table.down for seat in seats]
            )
            agree("purchases", list(facts.buys), table.buys)
            agree("jokers owed", facts.jokers_owed, table.owed)

    def compare_end(self) -> None:
        result = CORE.result(self.state)
        if result is None:
            raise Difference("the game is not over for the core")
        agree("ranks", list(result.ranks), liverpool_accounts.ranks(self.table))
        agree("winners", list(result.winners), liverpool_accounts.winners(self.table))

    def story(self, difference: Exception) -> str:
        table = self.table
        return (
            f"{difference}\n  {self.seats} seats, options {self.options}\n  hands {table.hands}\n  pile {table.pile}"
            f"\n  melds {[meld_of(meld) for meld in table.melds]}\n  down {table.down}, turn {table.turn}, phase"
            f" {table.phase}, deal {table.deal}, owed {table.owed}\n  played {' | '.join(self.played)}"
        )


def no_shuffle(old: list[str]) -> list[str]:
    raise Difference(f"{old} were to be shuffled before the window was closed")


def cut_of(events: tuple[Event, ...]) -> int | None:
    return next((event.position for event in events if isinstance(event, ShoeCut)), None)


def meld_of_core(meld: Any) -> tuple[int, int, list[str]]:
    cards = texts(meld.cards)
    return meld.owner, meld.start, cards if meld.start else sorted_cards(cards)


def meld_of(meld: Meld) -> tuple[int, int, list[str]]:
    return meld.owner, meld.start, meld.cards if meld.start else sorted_cards(meld.cards)


def is_excused(table: liverpool.LiverpoolTable, seat: Seat, text: str) -> bool:
    """Whether a complete list need not name a legal move (notation.md 3): combined lay-offs, sides not needed."""
    verb, _, rest = text.partition(" ")
    if verb != "layoff":
        return verb == "cut"
    place, _, cards = rest.partition(": ")
    plain = f"layoff {place.split(' ')[0]}: {cards}"
    return len(cards.split(" ")) > 1 or (plain != text and liverpool.judge(table, seat, plain) is None)


@pytest.fixture(scope="module")
def tally() -> Tally:
    tally = Tally()
    for number in range(GAMES + POSITIONS):
        from_position = number >= GAMES
        game = Game(number, tally, from_position=from_position)
        try:
            game.play(deals=1 if from_position else 7)
        except Difference as difference:
            tally.differences.append(f"game {number}: {game.story(difference)}")
        except Exception as fault:
            raise AssertionError(f"game {number}: {game.story(fault)}") from fault
    return tally


def test_both_opinions_agree_about_every_move_and_every_point(tally: Tally) -> None:
    assert not tally.differences, "\n".join([f"{len(tally.differences)} games differ", *tally.differences[:5]])


def test_the_games_met_every_reason_and_every_end(tally: Tally) -> None:
    assert reasons_of("liverpool") - set(tally.verdicts) == set()
    ends = {"out", "blocked", "turn_limit", "exact cut", "StockReshuffled", "UpcardBought"}
    assert {name for name in ends if not tally.events[name]} == set()


def nearly_possible_hand_sizes(draws: random.Random, seats: int, options: dict[str, Any]) -> list[int]:
    """One of the hand sizes is about the least that covers its contract, or about the most that can be dealt."""
    sizes, deal = list(liverpool_accounts.DEFAULTS["hand_sizes"]), draws.randrange(7)
    sets, runs = liverpool_accounts.CONTRACTS[deal]
    least, most = 3 * sets + 4 * runs - 1, (len(liverpool_accounts.shoe(seats, options)) - 2) // max(1, seats)
    sizes[deal] = draws.choice([least - 1, least, most, most + 1])
    return sizes


def test_both_opinions_refuse_the_same_set_ups() -> None:
    draws = random.Random(1)
    for _ in range(SET_UPS):
        seats = draws.randint(2, 9)
        options = random_options(draws, max(3, min(8, seats)))
        if draws.random() < 0.5:
            options["hand_sizes"] = nearly_possible_hand_sizes(draws, seats, options)
        options |= {draws.choice([*options, "deals"]): draws.choice(JUNK) for _ in range(draws.choice([0, 0, 1, 2]))}
        configured = CORE.configure(options, seats)
        refused = {str(one.reason) for one in configured} if isinstance(configured, list) else set()
        expected = liverpool_accounts.refused_at_setup(seats, options)
        assert bool(refused) == bool(expected), (seats, options)
        assert refused <= expected, (seats, options)
