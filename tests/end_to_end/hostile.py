"""Tournaments of hostile bots beside two that behave, and what must be recorded of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Final

import trio

from rummyarena_rules.moves import Move
from rummyarena_rules.ruleset import AnyView
from rummyarena_server.referee.clock import Deadlines
from rummyarena_server.referee.game import Game
from rummyarena_server.referee.players import LocalPlayer
from rummyarena_server.referee.record import GameRecord, GameSetup, to_json
from tests.end_to_end import raw_bot
from tests.end_to_end.arena import Ended, Played, games, write_bot, write_tournament

GOOD: Final = ("good", "also good")

BEHAVES: Final = """
from rummyarena import run
run(lambda decision: decision.candidates[0], max_concurrent_games=64)
"""

STALE: Final = "ERROR_REASON_STALE_DECISION"
"""As bots on the bare stream note the refusal of an answer that nobody waits for."""


# --- given: a tournament of two bots that behave and of others -------------------------------------------------------


def write_event(folder: Path, bots: dict[str, str], **changes: Any) -> None:
    """Writes a tournament of the bots that behave and of bots given by their sources, without a clock."""
    shutil.copy(raw_bot.__file__, folder)
    sources = dict.fromkeys(GOOD, BEHAVES) | bots
    commands = {name: write_bot(folder, name.replace(" ", "_"), source) for name, source in sources.items()}
    write_tournament(folder, commands, concurrency=100, **changes)


# --- then: what is recorded ------------------------------------------------------------------------------------------


def games_against_good(folder: Path, name: str) -> list[tuple[int, Played]]:
    """Returns the games of a bot against those that behave, each after the bot's seat there."""
    found = [(game.bots.index(name), game) for game in games(folder) if name in game.bots and {*GOOD} & {*game.bots}]
    assert len(found) == 2 * len(GOOD)
    return found


def games_of_good(folder: Path) -> list[Played]:
    """Returns the games in which nobody but bots that behave has played."""
    found = [game for game in games(folder) if {*game.bots} == {*GOOD}]
    assert len(found) == 2
    return found


def notes(folder: Path, name: str) -> list[str]:
    """Returns what a bot on the bare stream has kept for the test, if anything."""
    path = folder / f"{name.replace(' ', '_')}.notes"
    return path.read_text().splitlines() if path.exists() else []


def logs(folder: Path, name: str) -> list[Path]:
    """Returns the files with what a bot has printed."""
    return sorted((folder / "rummyarena-logs").glob(f"{name.replace(' ', '_')}-*.log"))


def assert_fair(game: Played) -> None:
    """The game is the one that bots play which behave, move by move, and nobody was at fault."""
    assert game.record is not None
    assert (game.forfeits, game.faults) == ((None,) * len(game.bots), (0,) * len(game.bots))
    assert game.rated
    assert game_part(game.record) == game_part(game_of_first_candidates(game.record.setup))


def game_part(record: GameRecord) -> Any:
    """Returns the part of a record that is the same if the game is."""
    return json.loads(to_json(record))["game"]


def game_of_first_candidates(setup: GameSetup) -> GameRecord:
    """Returns a game whose seats all play the first candidate, played in this process."""

    def strategy(view: AnyView, _seed: int) -> Move:
        return setup.ruleset.candidates(view, raw_bot.HELLO.candidate_limit).moves[0]

    async def played() -> GameRecord:
        with Game(setup, [LocalPlayer(strategy)] * setup.seats, Deadlines()) as game:
            return (await game.play()).record

    return trio.run(played)


def assert_lost(folder: Path, name: str, reason: str, *others: str) -> None:
    """Every game against a bot that behaves is forfeited for this reason, or some for others, and is that bot's."""
    assert reason in {game.forfeits[game.bots.index(name)] for game in games(folder) if name in game.bots}
    for seat, game in games_against_good(folder, name):
        assert game.forfeits[seat] in {reason, *others}
        assert (game.ranks[seat], game.ranks[1 - seat], game.forfeits[1 - seat]) == (2, 1, None)
        assert game.rated


def assert_defined(folder: Path) -> None:
    """Where forfeits have left at most one seat, that one has won, or nobody and the game is not rated."""
    decided = [game for game in games(folder) if game.forfeits.count(None) < 2]
    assert decided
    for game in decided:
        left = game.forfeits.count(None)
        last = left + 1 if left else len(game.bots)
        assert game.ranks == tuple(1 if forfeit is None else last for forfeit in game.forfeits)
        assert game.rated == (left == 1)


def told_of(ended: Ended, name: str) -> list[str]:
    """Returns what was said of a bot while it played: without its last lines and the count of its forfeits."""
    said = [line.removeprefix(f"{name} ") for line in ended.err.splitlines() if line.startswith(f"{name} ")]
    return [sentence for sentence in said if not sentence.startswith("has forfeited ")]
