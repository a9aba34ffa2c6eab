"""Sample bots at the referee's table, in this process: all that is between them but the connection is real."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from statistics import fmean, stdev
from typing import Final, NamedTuple

import trio

from rummyarena import Answer, Decision
from rummyarena.session import Session
from rummyarena.v1 import play_pb2
from rummyarena_rules.events import Event
from rummyarena_rules.registry import RULESETS
from rummyarena_server.referee.clock import Deadlines, now
from rummyarena_server.referee.game import Game
from rummyarena_server.referee.outcome import GameOutcome
from rummyarena_server.referee.players import Question, RefusedMove, Sitting
from rummyarena_server.referee.record import GameSetup, SeatedBot
from rummyarena_server.wire import (
    encode_decision,
    encode_game_setup,
    encode_private,
    encode_public,
    encode_rejection,
    encode_update,
    encode_view,
    read_answer,
)

FOLDER: Final = Path(__file__).parents[2] / "sample_bots" / "python"
NAMES: Final = ("random_legal", "first_candidate", "deadwood", "contract_chaser", "card_counter")
_CANDIDATE_LIMIT: Final = 64  # what the SDK asks for

Bot = Callable[[Decision], Answer]


def sample(name: str) -> Bot:
    """Returns the function that a sample bot runs; it has the name of its file."""
    spec = spec_from_file_location(f"sample_bots_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    bot: Bot = getattr(module, name)
    return bot


class WiredPlayer:
    """A bot behind the SDK's own session, asked and answering in the messages of the contract."""

    def __init__(self, bot: Bot) -> None:
        self._session = Session(bot)
        self.refused: list[str] = []

    def begin(self, sitting: Sitting) -> None:
        self._setup: bytes | None = _setup(sitting)

    def tell(self, sitting: Sitting, sequence: int, events: Sequence[Event]) -> None:
        """A decision carries everything, so these bots need no events."""

    def ask(self, sitting: Sitting, question: Question) -> None:
        candidates = sitting.setup.ruleset.candidates(question.view, _CANDIDATE_LIMIT)
        view = question.view
        assert view.private is not None
        update = encode_update(
            sitting.setup.game_id,
            setup=self._setup,
            view=encode_view(
                encode_public(view.public), view.seat, encode_private(view.private, answered=view.answered)
            ),
            decision=encode_decision(question.decision_id, question.verbs, candidates, question.random_seed),
        )
        self._setup = None
        self._hear(sitting, update)

    def reject(self, sitting: Sitting, refused: RefusedMove) -> None:
        self.refused.append(refused.refusal.message)
        self._hear(
            sitting,
            encode_rejection(
                sitting.setup.game_id, refused.decision_id, refused.index, refused.refusal, refused.attempts_left
            ),
        )

    def end(self, sitting: Sitting, outcome: GameOutcome | None, seed: bytes | None) -> None:
        """Games are looked at from the referee's side."""

    def _hear(self, sitting: Sitting, frame: bytes) -> None:
        sitting.sent(now())
        request = self._session.respond(play_pb2.PlayResponse.FromString(frame))
        for answer in request.answers if request else ():
            sitting.answer(answer.decision_id, read_answer(answer), now())


def _setup(sitting: Sitting) -> bytes:
    setup = sitting.setup
    return encode_game_setup(
        ruleset=setup.ruleset.name,
        rules_version=setup.ruleset.version,
        options=setup.options,
        seats=setup.seats,
        seat=sitting.seat,
        bot_names=[bot.name for bot in setup.bots],
        seed_digest=setup.seed_digest,
        time_control=None,
    )


class Played(NamedTuple):
    """A game that is over, and the sentences by which moves were refused in it."""

    outcome: GameOutcome
    refused: list[str]


def play(ruleset: str, names: Sequence[str], seed: int, options: Mapping[str, object] | None = None) -> Played:
    """Has sample bots play a game, one a seat."""
    configured = RULESETS[ruleset].configure(options or {}, len(names))
    assert not isinstance(configured, list), configured
    setup = GameSetup(
        game_id=f"{ruleset} {seed}",
        ruleset=RULESETS[ruleset],
        options=configured,
        seed=seed.to_bytes(32, "big"),
        bots=tuple(map(SeatedBot, names)),
    )
    players = [WiredPlayer(sample(name)) for name in names]

    async def main() -> GameOutcome:
        with Game(setup, players, Deadlines()) as game:
            return await game.play()

    outcome = trio.run(main)
    return Played(outcome, [text for player in players for text in player.refused])


# --- strength --------------------------------------------------------------------------------------------------------


class Mean(NamedTuple):
    """A mean over deal groups and its standard error."""

    value: float
    error: float

    @classmethod
    def of(cls, groups: Sequence[float]) -> Mean:
        return cls(fmean(groups), stdev(groups) / len(groups) ** 0.5)


def group_points(
    ruleset: str, names: Sequence[str], seed: int, options: Mapping[str, object] | None = None
) -> dict[str, float]:
    """Plays a deal group: a game for each rotation of the bots, all on the same deals.

    Returns how many points a deal each bot was ahead of the mean of the others at its table.
    """
    points: dict[str, list[float]] = {name: [] for name in names}
    for rotation in range(len(names)):
        seated = [*names[rotation:], *names[:rotation]]
        played = play(ruleset, seated, seed, options)
        for scores in played.outcome.deals:
            for seat, name in enumerate(seated):
                others = fmean(score for other, score in enumerate(scores) if other != seat)
                ahead = scores[seat] - others
                points[name].append(ahead if ruleset == "thai" else -ahead)
    return {name: fmean(some) for name, some in points.items()}
