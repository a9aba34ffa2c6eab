"""Playing the games of an event: seats them, records each result before anybody is told, keeps going.

Games start in the order of the schedule and finish in any; every game's deals and every bot's random numbers come from
seeds, so with the clock off the results do not depend on how many run at once.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

import trio

from rummyarena_server.referee.clock import Deadlines
from rummyarena_server.referee.game import Game
from rummyarena_server.rpc.instances import Instance, Registry
from rummyarena_server.store.errors import StoreError
from rummyarena_server.store.records import finish_tournament, record_game, recorded_indices
from rummyarena_server.store.results import GameResult
from rummyarena_server.store.store import Store
from rummyarena_server.tournament.bots import EventBot
from rummyarena_server.tournament.event import Event
from rummyarena_server.tournament.ladder import rebuild_ratings
from rummyarena_server.tournament.schedule import ScheduledGame

_LOGGER: Final = logging.getLogger(__name__)
_MOST_TRIES: Final = 3  # of a game that fails by a fault of ours


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an event has come: games recorded, of how many."""

    recorded: int
    games: int


class GameFailedError(Exception):
    """A game that failed again and again by a fault of ours; nothing is recorded of it and nobody is blamed."""


class SecondRunnerError(Exception):
    """A game was recorded by somebody else meanwhile; what is recorded stays as it is."""


class Runner:
    """Plays what is left of an event."""

    def __init__(
        self,
        event: Event,
        bots: Sequence[EventBot],
        store: Store,
        registry: Registry,
        deadlines: Deadlines,
        on_progress: Callable[[Progress], None],
    ) -> None:
        self._event = event
        self._bots = bots
        self._store = store
        self._registry = registry
        self._deadlines = deadlines
        self._on_progress = on_progress
        self._places = trio.Semaphore(event.settings.concurrency)
        self._done: tuple[range, ...] = ()
        self._recorded = 0
        self._recorded_of_group: Counter[int] = Counter()

    async def run(self) -> None:
        """Plays every game that is not recorded yet, then rebuilds the ratings and closes the event."""
        event = self._event
        self._done = await self._store.read(recorded_indices, event.stored.id)
        self._recorded = sum(map(len, self._done))
        self._report_progress()
        async with trio.open_nursery() as nursery:
            for game in event.schedule:
                if not any(game.index in indices for indices in self._done):
                    await self._places.acquire()
                    await nursery.start(self._finish, game, await self._seats(game))
        await self._store.write(rebuild_ratings, _now())
        await self._store.write(finish_tournament, event.stored.id, _now())

    async def _seats(self, game: ScheduledGame) -> list[Instance]:
        """Waits for a free place at every bot of a table; none are given if one of the bots is withdrawn."""
        bots = [self._bots[entrant] for entrant in game.table]
        while not any(bot.is_withdrawn for bot in bots):
            instances = [instance for bot in bots if (instance := bot.free_instance) is not None]
            if len(instances) == len(bots):
                return instances
            await self._registry.changed()
        return []

    async def _finish(
        self, game: ScheduledGame, seated: Sequence[Instance], task_status: trio.TaskStatus[None]
    ) -> None:
        """Plays a game, or decides it unplayed, and records it; it has started once the places are taken."""
        try:
            if seated:
                await self._play(game, seated, task_status)
            else:
                task_status.started()
                withdrawn = frozenset(bot.number for bot in self._bots if bot.is_withdrawn)
                await self._record(self._event.unplayed(game, withdrawn))
        finally:
            self._places.release()

    async def _play(self, game: ScheduledGame, seated: Sequence[Instance], task_status: trio.TaskStatus[None]) -> None:
        """Plays a game, from its start again if we fail, which is booked on nobody."""
        for attempt in range(_MOST_TRIES):
            try:
                with Game(self._event.setup(game, attempt), seated, self._deadlines) as table:
                    if attempt == 0:
                        task_status.started()
                    await self._play_to_end(game, attempt, table)
            except Exception as error:
                if isinstance(error, (StoreError, SecondRunnerError)):
                    raise
                _LOGGER.exception("Game %d failed by a fault of ours and is played again.", game.index)
            else:
                return
        raise GameFailedError(f"game {game.index} failed {_MOST_TRIES} times by a fault of ours; the log says why")

    async def _play_to_end(self, game: ScheduledGame, attempt: int, table: Game) -> None:
        started_at = _now()
        outcome = await table.play()
        record = replace(outcome.record, started_at=started_at, finished_at=_now())
        result = self._event.result(game, attempt, replace(outcome, record=record))
        await self._record(result)
        if not outcome.forfeits:
            for entrant in game.table:
                self._bots[entrant].note_finished_game()
        table.announce(outcome, reveal_seed=self._is_seed_played_out(game))

    async def _record(self, result: GameResult) -> None:
        if not await self._store.write(record_game, self._event.stored.id, result, _now()):
            raise SecondRunnerError("another process plays this tournament too: let it end, or stop one of the two")
        self._recorded += 1
        self._recorded_of_group[result.group] += 1
        self._report_progress()

    def _is_seed_played_out(self, game: ScheduledGame) -> bool:
        """Tells whether every game on the seed of this one is recorded, so that it may be revealed."""
        settings = self._event.settings
        if not settings.shares_deals:
            return True
        first = game.group * settings.seats
        before = sum(len(range(max(first, one.start), min(first + settings.seats, one.stop))) for one in self._done)
        return before + self._recorded_of_group[game.group] == settings.seats

    def _report_progress(self) -> None:
        self._on_progress(Progress(self._recorded, len(self._event.schedule)))


def _now() -> datetime:
    return datetime.now(UTC)
