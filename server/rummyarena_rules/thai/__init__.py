"""Thai Rummy (thai.md): the ruleset `thai`.

`options` what can be varied, `facts` what is public beyond the common table, `melds` sets and runs, `check` the judge,
`play` what follows a move, `scoring` points and accounts, `candidates` and `knocks` moves to offer, `positions`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rummyarena_rules import fold
from rummyarena_rules.events import Event, Seat
from rummyarena_rules.moves import Discard, Draw, Move, Pass
from rummyarena_rules.options import read_options
from rummyarena_rules.position import Position
from rummyarena_rules.ruleset import Candidates, Decision, NextDeal, Reason, Refusal, Result
from rummyarena_rules.table import Phase, Private, Public, State, View
from rummyarena_rules.thai import candidates, check, play, positions, scoring
from rummyarena_rules.thai.facts import ThaiFacts, ThaiPublic, ThaiState, ThaiView, note
from rummyarena_rules.thai.options import PRESETS, ThaiOptions

__all__ = ["PRESETS", "THAI", "Thai", "ThaiFacts", "ThaiOptions", "ThaiPublic", "ThaiState", "ThaiView"]

_TAKE_OR_DRAW: Final = Decision(("take", "draw"))
_TAKE_ONTO_OR_DRAW: Final = Decision(("take", "take_onto", "draw"))
_TAKE_OR_PASS: Final = Decision(("take", "pass"))
_TAKE_ONTO_OR_PASS: Final = Decision(("take", "take_onto", "pass"))
_MUST_DRAW: Final = Decision(("draw",))
_PLAY: Final = {
    (melding, laying_off): Decision(
        ("knock", *(["meld"] if melding else []), *(["layoff"] if laying_off else []), "discard")
    )
    for melding in (False, True)
    for laying_off in (False, True)
}


class Thai:
    """The `Ruleset` of Thai Rummy."""

    name = "thai"
    version = 1
    seats = range(2, 5)  # T1
    lowest_wins = False  # T42
    presets = PRESETS
    options_kind = ThaiOptions

    def configure(self, raw: Mapping[str, object], seats: int) -> ThaiOptions | list[Refusal]:
        """Returns the options for a number of seats, or every reason why there are none."""
        if seats not in self.seats:
            return [Refusal(Reason.BAD_SEATS, f"thai is for 2 to 4 seats, not {seats}")]
        options = read_options(ThaiOptions, raw)
        if isinstance(options, ThaiOptions) and options.two_player_removed_cards and seats != 2:
            return [
                Refusal(Reason.BAD_OPTION, f"option two_player_removed_cards = 5: with two seats only, not {seats}")
            ]
        return options

    def start(self, options: ThaiOptions, seats: int, seed: bytes) -> ThaiState:
        """Returns the state before the first deal."""
        public = Public.at_start(options, seats, ThaiFacts([None] * seats))
        return State(public, [Private() for _ in range(seats)], [], (), seed)

    def deal(self, state: ThaiState, opening: NextDeal | None = None) -> tuple[Event, ...]:
        """Returns the events of the next deal, or of another `opening`."""
        if state.public.phase is not Phase.OVER:
            raise ValueError("the deal is not over")
        opening = opening or scoring.next_deal(state.public)
        if opening is None:
            raise ValueError("the game is over")
        return play.deal_events(state, opening)

    def evolve(self, state: ThaiState, event: Event) -> None:
        """Applies an event to a state."""
        play.evolve(state, event)

    def observe(self, view: ThaiView, event: Event) -> None:
        """Applies a redacted event to a view of one's own."""
        note(view.public, event)
        fold.observe(view, event)

    def view(self, state: ThaiState, seat: Seat | None, *, answered: bool = False) -> ThaiView:
        """Returns what a seat or a spectator may see."""
        return View(state.public, seat, None if seat is None else state.privates[seat], answered)

    def decisions(self, state: ThaiState) -> Mapping[Seat, Decision]:
        """Returns which seat owes an answer: the one on turn, or nobody between deals."""
        public = state.public
        if public.phase is Phase.OVER:
            return {}
        return {public.turn: _decision(self.view(state, public.turn))}

    def resolve(self, state: ThaiState, answers: Mapping[Seat, Move | None]) -> tuple[Event, ...]:
        """Returns what follows the move of the seat on turn."""
        move = answers[state.public.turn]
        if move is None:
            raise ValueError("thai has no decision that the rules answer")
        return play.resolve(state, move)

    def result(self, state: ThaiState) -> Result | None:
        """Returns the end of the game, or `None` while it goes on."""
        return scoring.place(state.public.totals) if state.public.over else None

    def check(self, view: ThaiView, move: Move) -> Refusal | None:
        """Judges a move of the view's seat."""
        return check.check(view, move)

    def candidates(self, view: ThaiView, limit: int) -> Candidates:
        """Returns at most `limit` legal moves."""
        return candidates.candidates(view, limit)

    def fallback(self, view: ThaiView) -> Move | None:
        """Returns the move of T54."""
        if view.public.phase is Phase.DRAW:
            return Pass() if view.public.facts.last_turn else Draw()
        hand, drawn = check.hand_of(view), view.private.drawn if view.private else None
        return Discard(drawn if drawn is not None and drawn in hand else hand[-1])

    def next_deal(self, public: ThaiPublic) -> NextDeal | None:
        """Returns what follows the deal that is over."""
        return scoring.next_deal(public)

    def opening(self, public: ThaiPublic, deal: int, dealer: Seat, direction: int) -> NextDeal:
        """Returns a deal with this dealer as it opens when no earlier deal bears on it."""
        return scoring.opening(public, deal, dealer, direction)

    def settle(self, public: ThaiPublic, scores: Sequence[int]) -> tuple[tuple[int, ...], bool]:
        """Returns the totals with these scores, and whether the game is over then."""
        return scoring.settle(public, scores)

    def state_of(self, position: Position, options: ThaiOptions, seats: int) -> ThaiState:
        """Builds the state of a table position."""
        return positions.state_of(position, options, seats)


def _decision(view: ThaiView) -> Decision:
    if view.public.phase is Phase.PLAY:
        return _PLAY[check.may_meld(view), check.may_lay_off(view)]
    if check.must_draw(view.public):
        return _MUST_DRAW
    onto = view.public.options.pickup_layoff and check.is_born(view)
    if view.public.facts.last_turn:
        return _TAKE_ONTO_OR_PASS if onto else _TAKE_OR_PASS
    return _TAKE_ONTO_OR_DRAW if onto else _TAKE_OR_DRAW


THAI: Final = Thai()
