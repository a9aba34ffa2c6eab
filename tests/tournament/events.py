"""Events played in this process and in virtual time, for the tests of the runner."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import trio
import trio.testing
from sqlalchemy import select
from sqlalchemy.orm import Session

from rummyarena_rules.thai import THAI
from rummyarena_server.config import TournamentSettings
from rummyarena_server.referee.clock import Deadlines
from rummyarena_server.referee.players import Player, Question, Sitting
from rummyarena_server.store.history import game_record, games
from rummyarena_server.store.models import ATTEMPT
from rummyarena_server.store.records import open_tournament
from rummyarena_server.store.results import GameResult, GameSummary, StoredTournament
from rummyarena_server.store.store import Store
from rummyarena_server.tournament.bots import Trouble
from rummyarena_server.tournament.event import Event, event_of, plan
from rummyarena_server.tournament.runner import Progress, Runner
from rummyarena_server.tournament.waves import CommittedWave
from tests.referee.helpers import Bot, promptly, randomly
from tests.server.results import NOW
from tests.tournament.fakes import AtHome

SECRET = bytes(range(32))


def settings(bots: int = 3, challengers: Any = (), **changes: Any) -> TournamentSettings:
    values: dict[str, Any] = {
        "name": "Friday",
        "trusted": True,
        "clock": "off",
        "secret": SECRET.hex(),
        "options": {"max_deals": 1},
        "bots": [
            {"name": f"bot {number}", "command": ["./bot"], "challenger": number in challengers}
            for number in range(bots)
        ],
    }
    return TournamentSettings.model_validate(values | changes)


async def open_event(store: Store, said: TournamentSettings) -> Event:
    stored = await store.write(open_tournament, plan(said, bytes(32)), NOW)
    assert isinstance(stored, StoredTournament)
    return event_of(said, stored)


class Run:
    """A runner with what it reported."""

    def __init__(
        self,
        event: Event,
        store: Store,
        players: Sequence[Player],
        deadlines: Deadlines,
        withdrawn: Sequence[int] = (),
        is_enough: Callable[[GameResult], bool] = lambda _: False,
        on_wave: Callable[[CommittedWave], None] = lambda _: None,
    ) -> None:
        self.progress: list[Progress] = []
        self.troubles: list[Trouble] = []
        self.on_trouble: Callable[[Trouble], None] = self.troubles.append
        self.bots = AtHome(players, withdrawn)
        self.runner = Runner(
            event,
            self.bots.as_event_bots,
            store,
            deadlines,
            self.progress.append,
            lambda one: self.on_trouble(one),
            is_enough,
            on_wave,
        )


@asynccontextmanager
async def running_clock() -> AsyncIterator[Deadlines]:
    deadlines = Deadlines()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(deadlines.run)
        yield deadlines
        nursery.cancel_scope.cancel()


async def play(event: Event, store: Store, *players: Player) -> Run:
    """Plays an event to its end."""
    async with running_clock() as deadlines:
        run = Run(event, store, players or [randomly(THAI)] * len(event.settings.bots), deadlines)
        assert await run.runner.run()
    return run


async def recorded(event: Event, store: Store) -> list[GameSummary]:
    return await store.read(games, event.stored.id)


async def records(event: Event, store: Store) -> list[str]:
    """The part of the records that is the same if the games are, in the order of the schedule."""
    found = [await store.read(game_record, one.id) for one in await recorded(event, store)]
    return [one.record.text.partition('"times"')[0] for one in found if one is not None and one.record is not None]


async def attempts(store: Store) -> list[tuple[int, int, bool]]:
    """The attempts that are not recorded games: index, number, whether it is abandoned."""

    def read(session: Session) -> list[tuple[int, int, bool]]:
        rows = session.execute(select(ATTEMPT).order_by(ATTEMPT.c.schedule_index, ATTEMPT.c.attempt))
        return [(row.schedule_index, row.attempt, row.abandoned_at is not None) for row in rows]

    return await store.read(read)


class StopsAt:
    """A bot that calls a function once, in the middle of its game number `game` from 0; it answers by fallback."""

    def __init__(self, game: int, function: Callable[[Sitting], object]) -> None:
        self._game = game
        self._function: Callable[[Sitting], object] | None = function
        self._begun = -1
        self.bot = Bot(self._reply)

    def _reply(self, sitting: Sitting, question: Question) -> None:
        if sitting.asked == 2:
            self._begun += 1
            if self._begun == self._game and self._function is not None:
                function, self._function = self._function, None
                function(sitting)
        promptly(sitting, question)


async def break_off(event: Event, store: Store, game: int) -> None:
    """Ends everything in the middle of the game of this number."""
    with trio.CancelScope() as scope:
        stops = StopsAt(game, lambda _: scope.cancel())
        await play(event, store, stops.bot, randomly(THAI))
    assert scope.cancelled_caught
