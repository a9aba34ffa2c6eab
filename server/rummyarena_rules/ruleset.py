"""The Ruleset protocol and the values that go in and out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeAlias, TypeVar

from rummyarena_rules.events import Event, Seat
from rummyarena_rules.moves import Move
from rummyarena_rules.position import Position
from rummyarena_rules.table import Public, State, View

AnyState: TypeAlias = State[Any, Any]
AnyView: TypeAlias = View[Any, Any]
AnyPublic: TypeAlias = Public[Any, Any]


class Reason(StrEnum):
    """Why a move or a set-up is refused: the closed lists of thai.md 10 and liverpool.md 8."""

    MALFORMED = "malformed"
    GAME_OVER = "game_over"
    DEAL_OVER = "deal_over"
    NOT_YOUR_TURN = "not_your_turn"
    WRONG_PHASE = "wrong_phase"
    STOCK_EMPTY = "stock_empty"
    PASS_NOT_ALLOWED = "pass_not_allowed"  # noqa: S105 - a reason, no password
    MUST_DRAW = "must_draw"
    NOT_IN_ROW = "not_in_row"
    TARGET_NOT_IN_MELD = "target_not_in_meld"
    NOT_AVAILABLE = "not_available"
    NEEDS_HAND_CARD = "needs_hand_card"
    PICKUP_LAYOFF_OFF = "pickup_layoff_off"
    NOT_IN_HAND = "not_in_hand"
    NOT_A_MELD = "not_a_meld"
    NOT_BORN = "not_born"
    MELD_IN_BIRTH_TURN = "meld_in_birth_turn"
    LAYOFF_IN_BIRTH_TURN = "layoff_in_birth_turn"
    NO_SUCH_MELD = "no_such_meld"
    DOES_NOT_EXTEND = "does_not_extend"
    WOULD_LEAVE_NO_CARD = "would_leave_no_card"
    NOT_ONE_CARD_LEFT = "not_one_card_left"
    CUT_OUT_OF_RANGE = "cut_out_of_range"
    PILE_EMPTY = "pile_empty"
    BUY_NOT_OFFERED = "buy_not_offered"
    ACTIVE_CANNOT_BUY = "active_cannot_buy"
    ALREADY_ANSWERED = "already_answered"
    BUY_LIMIT = "buy_limit"
    DOWN_MAY_NOT_USE_PILE = "down_may_not_use_pile"
    TOO_FEW_NATURALS = "too_few_naturals"
    ALREADY_DOWN = "already_down"
    CONTRACT_MISMATCH = "contract_mismatch"
    CONTRACT_SIZE = "contract_size"
    RUNS_TOO_CLOSE = "runs_too_close"
    MUST_EMPTY_HAND = "must_empty_hand"
    NOT_DOWN = "not_down"
    LAYOFF_IN_DOWN_TURN = "layoff_in_down_turn"
    SIDE_REQUIRED = "side_required"
    SWAP_OFF = "swap_off"
    NEEDS_NATURAL = "needs_natural"
    NO_JOKER = "no_joker"
    NO_SWAP_IN_SETS = "no_swap_in_sets"
    WRONG_CARD = "wrong_card"
    JOKER_MUST_BE_REPLAYED = "joker_must_be_replayed"
    BAD_SEATS = "bad_seats"
    BAD_OPTION = "bad_option"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why something is refused: the reason for programs and a sentence for people, made of what the seat may see."""

    reason: Reason
    message: str


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer that a seat owes: the verbs (notation.md 3) of the moves that could be legal now."""

    verbs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Legal moves for one decision; `complete`: every legal move is named in the sense of notation.md 3."""

    moves: tuple[Move, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class Result:
    """The end of a game: rank (1 is best), and total of each seat, and the seats that won."""

    ranks: tuple[int, ...]
    totals: tuple[int, ...]
    winners: tuple[Seat, ...]


@dataclass(frozen=True, slots=True)
class NextDeal:
    """What follows a deal: its number, dealer, direction (1 or -1) and first seat."""

    deal: int
    dealer: Seat
    direction: int
    first: Seat


S = TypeVar("S", bound=AnyState)


class Ruleset(Protocol[S]):
    """The rules of one game; stateless, so one object serves all games.

    Legality, candidates, fallbacks and refusals take a `View`, never a state, so a bot can run the very same code and
    nothing hidden can enter an answer.
    """

    @property
    def name(self) -> str:
        """The ruleset's name in files and on the wire."""
        ...

    @property
    def version(self) -> int:
        """The rules version; rises whenever a legal move or a score could differ."""
        ...

    @property
    def seats(self) -> range:
        """The numbers of seats that can play."""
        ...

    @property
    def lowest_wins(self) -> bool:
        """Whether points count against a seat, so that the lowest total wins."""
        ...

    @property
    def presets(self) -> Mapping[str, Mapping[str, object]]:
        """Named sets of options that differ from the defaults."""
        ...

    @property
    def options_kind(self) -> type[Any]:
        """The frozen dataclass of its options, declared as `options` says."""
        ...

    def configure(self, raw: Mapping[str, object], seats: int) -> Any | list[Refusal]:
        """Returns the frozen options for a number of seats, or every reason why there are none."""
        ...

    def start(self, options: Any, seats: int, seed: bytes) -> S:
        """Returns the state before the first deal; `options` as `configure` returned them, `seed`: 32 bytes."""
        ...

    def deal(self, state: S, opening: NextDeal | None = None) -> tuple[Event, ...]:
        """Returns the events of the next deal, or of another `opening` than the one that follows by the rules.

        `ValueError` unless a deal can begin now.
        """
        ...

    def evolve(self, state: S, event: Event) -> None:
        """Applies an event: the only thing that changes a state."""
        ...

    def observe(self, view: AnyView, event: Event) -> None:
        """Applies an event, as redacted for the view's viewer, to a view that `view.copy()` has kept."""
        ...

    def view(self, state: S, seat: Seat | None, *, answered: bool = False) -> AnyView:
        """Returns what a seat, or a spectator, may see: a window on the live state."""
        ...

    def decisions(self, state: S) -> Mapping[Seat, Decision]:
        """Returns which seats owe an answer; empty between deals and when the game is over."""
        ...

    def resolve(self, state: S, answers: Mapping[Seat, Move | None]) -> tuple[Event, ...]:
        """Returns the events that follow when all `decisions` are answered by moves that pass `check`.

        Never empty; ends with the deal at the latest. `None`: the rules answer (the automatic cut).
        """
        ...

    def result(self, state: S) -> Result | None:
        """Returns the end of the game, or `None` while it goes on."""
        ...

    def check(self, view: AnyView, move: Move) -> Refusal | None:
        """Judges a move of the view's seat; the only judge there is."""
        ...

    def candidates(self, view: AnyView, limit: int) -> Candidates:
        """Returns at most `limit` legal moves, the more promising kinds first; sound, complete where it says so."""
        ...

    def fallback(self, view: AnyView) -> Move | None:
        """Returns the move played for a seat that does not answer; it always passes `check`."""
        ...

    def next_deal(self, public: AnyPublic) -> NextDeal | None:
        """Returns what follows the deal that is over, or `None` when the game is over."""
        ...

    def opening(self, public: AnyPublic, deal: int, dealer: Seat, direction: int) -> NextDeal:
        """Returns a deal with this dealer as it opens when no earlier deal bears on it."""
        ...

    def settle(self, public: AnyPublic, scores: Sequence[int]) -> tuple[tuple[int, ...], bool]:
        """Returns the totals with the scores of the deal that is on, and whether the game is over then."""
        ...

    def state_of(self, position: Position, options: Any, seats: int) -> S:
        """Builds the state of a table position; `ValueError` says what in it cannot be."""
        ...
