"""Liverpool Rummy (liverpool.md): the ruleset `liverpool`.

`options` what can be varied, `facts` what is public beyond the common table, `melds` sets and runs, `check` the judge,
`play` what follows a move, `scoring` points and accounts, `groups` and `downs` the search for contracts, `promise`
which cards are worth having, `candidates` moves to offer, `positions`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rummyarena_rules import fold
from rummyarena_rules.cards import JOKER
from rummyarena_rules.events import DiscardsTaken, Event, Seat
from rummyarena_rules.liverpool import candidates, check, play, positions, scoring
from rummyarena_rules.liverpool.facts import LiverpoolFacts, LiverpoolPublic, LiverpoolState, LiverpoolView, note
from rummyarena_rules.liverpool.melds import sides
from rummyarena_rules.liverpool.options import PRESETS, LiverpoolOptions, impossible_deals
from rummyarena_rules.moves import Discard, Draw, LayOff, Move, Pass
from rummyarena_rules.options import read_options
from rummyarena_rules.position import Position
from rummyarena_rules.ruleset import Candidates, Decision, NextDeal, Reason, Refusal, Result
from rummyarena_rules.table import Phase, Private, Public, State, View

__all__ = [
    "LIVERPOOL",
    "PRESETS",
    "Liverpool",
    "LiverpoolFacts",
    "LiverpoolOptions",
    "LiverpoolPublic",
    "LiverpoolState",
    "LiverpoolView",
]

_CUT: Final = Decision(("cut",))
_TAKE_OR_DRAW: Final = Decision(("take", "draw"))
_DRAW: Final = Decision(("draw",))
_BUY_OR_PASS: Final = Decision(("buy", "pass"))
_DOWN_OR_DISCARD: Final = Decision(("down", "discard"))
_LAY_OFF_OR_DISCARD: Final = Decision(("layoff", "discard"))
_LAY_OFF_SWAP_OR_DISCARD: Final = Decision(("layoff", "swap", "discard"))
_LAY_OFF_OR_SWAP: Final = Decision(("layoff", "swap"))
_DISCARD: Final = Decision(("discard",))


class Liverpool:
    """The `Ruleset` of Liverpool Rummy."""

    name = "liverpool"
    version = 1
    seats = range(3, 9)  # L1
    lowest_wins = True  # L32
    presets = PRESETS
    options_kind = LiverpoolOptions

    def configure(self, raw: Mapping[str, object], seats: int) -> LiverpoolOptions | list[Refusal]:
        """Returns the options for a number of seats, or every reason why there are none."""
        if seats not in self.seats:
            return [Refusal(Reason.BAD_SEATS, f"liverpool is for 3 to 8 seats, not {seats}")]
        options = read_options(LiverpoolOptions, raw)
        if isinstance(options, LiverpoolOptions):
            refusals = [Refusal(Reason.BAD_OPTION, sentence) for sentence in impossible_deals(options, seats)]
            return refusals or options
        return options

    def start(self, options: LiverpoolOptions, seats: int, seed: bytes) -> LiverpoolState:
        """Returns the state before the first deal."""
        public = Public.at_start(options, seats, LiverpoolFacts.at_start(seats))
        return State(public, [Private() for _ in range(seats)], [], (), seed)

    def deal(self, state: LiverpoolState, opening: NextDeal | None = None) -> tuple[Event, ...]:
        """Returns the events of the next deal, or of another `opening`."""
        if state.public.phase is not Phase.OVER:
            raise ValueError("the deal is not over")
        opening = opening or scoring.next_deal(state.public)
        if opening is None:
            raise ValueError("the game is over")
        return play.deal_events(state, opening)

    def evolve(self, state: LiverpoolState, event: Event) -> None:
        """Applies an event to a state."""
        play.evolve(state, event)

    def observe(self, view: LiverpoolView, event: Event) -> None:
        """Applies a redacted event to a view of one's own."""
        fold.observe(view, event)
        note(view.public, event)
        if isinstance(event, DiscardsTaken) and view.private is not None and event.seat == view.seat:
            view.private.drawn = event.cards[0]

    def view(self, state: LiverpoolState, seat: Seat | None, *, answered: bool = False) -> LiverpoolView:
        """Returns what a seat or a spectator may see."""
        return View(state.public, seat, None if seat is None else state.privates[seat], answered)

    def decisions(self, state: LiverpoolState) -> Mapping[Seat, Decision]:
        """Returns which seats owe an answer (L13): all that an open window asks, else the cutter or who is on turn."""
        public = state.public
        match public.phase:
            case Phase.OVER:
                return {}
            case Phase.BUY:
                return dict.fromkeys(public.facts.asked, _BUY_OR_PASS)
            case _:
                return {public.turn: _decision(public)}

    def resolve(self, state: LiverpoolState, answers: Mapping[Seat, Move | None]) -> tuple[Event, ...]:
        """Returns what follows the move of the seat on turn, or the answers to a window."""
        return play.resolve(state, answers)

    def result(self, state: LiverpoolState) -> Result | None:
        """Returns the end of the game, or `None` while it goes on."""
        return scoring.place(state.public) if state.public.over else None

    def check(self, view: LiverpoolView, move: Move) -> Refusal | None:
        """Judges a move of the view's seat."""
        return check.check(view, move)

    def candidates(self, view: LiverpoolView, limit: int) -> Candidates:
        """Returns at most `limit` legal moves."""
        return candidates.candidates(view, limit)

    def fallback(self, view: LiverpoolView) -> Move | None:
        """Returns the move of L33; `None` for the automatic cut."""
        match view.public.phase:
            case Phase.CUT:
                return None
            case Phase.DRAW:
                return Draw()
            case Phase.BUY:
                return Pass()
            case _:
                return _fallback_play(view)

    def next_deal(self, public: LiverpoolPublic) -> NextDeal | None:
        """Returns what follows the deal that is over."""
        return scoring.next_deal(public)

    def opening(
        self,
        public: LiverpoolPublic,
        deal: int,
        dealer: Seat,
        direction: int,  # noqa: ARG002 - for thai alone
    ) -> NextDeal:
        """Returns a deal with this dealer as it opens; play is always clockwise."""
        return scoring.opening(public, deal, dealer)

    def settle(self, public: LiverpoolPublic, scores: Sequence[int]) -> tuple[tuple[int, ...], bool]:
        """Returns the totals with these scores, and whether the game is over then."""
        return scoring.settle(public, scores)

    def state_of(self, position: Position, options: LiverpoolOptions, seats: int) -> LiverpoolState:
        """Builds the state of a table position."""
        return positions.state_of(position, options, seats)


def _decision(public: LiverpoolPublic) -> Decision:
    if public.phase is Phase.CUT:
        return _CUT
    if public.phase is Phase.DRAW:
        return _TAKE_OR_DRAW if public.discards and check.may_use_pile(public, public.turn) else _DRAW
    if public.facts.down_turns[public.turn] is None:
        return _DOWN_OR_DISCARD
    if not check.may_lay_off(public):
        return _DISCARD
    if public.facts.jokers_owed:
        return _LAY_OFF_OR_SWAP
    return _LAY_OFF_OR_DISCARD if public.options.joker_after_swap == "off" else _LAY_OFF_SWAP_OR_DISCARD


def _fallback_play(view: LiverpoolView) -> Move:
    public, hand = view.public, check.hand_of(view)
    if public.facts.jokers_owed:
        return _joker_layoff(public)
    drawn = view.private.drawn if view.private else None
    return Discard(drawn if drawn is not None and drawn in hand else hand[-1])


def _joker_layoff(public: LiverpoolPublic) -> LayOff:
    """Returns the lay-off of a joker at the first place it fits; L26 sees to it that there is one."""
    for number, meld in enumerate(public.melds, 1):
        fitting = sides(meld, JOKER, public.options.run_max)
        if fitting:
            return LayOff(number, (JOKER,), fitting[0] if len(fitting) > 1 else None)
    raise ValueError("no meld takes a joker, so none can be owed")


LIVERPOOL: Final = Liverpool()
