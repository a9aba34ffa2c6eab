"""Playing the games of an event: seats them, records each result before anybody is told, keeps going.

Games start in the order of the schedule and finish in any; every game's deals and every bot's random numbers come from
seeds, so with the clock off the results do not depend on how many run at once. Where tables follow from results a round
begins once all games of the one before are recorded.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Final

import trio
from sqlalchemy.orm import Session

from rummyarena_rules.events import Seat
from rummyarena_server.referee.clock import Deadlines, now
from rummyarena_server.referee.game import Game
from rummyarena_server.referee.lag import LagMeter, open_lag_meter
from rummyarena_server.referee.outcome import GameOutcome
from rummyarena_server.referee.players import Player
from rummyarena_server.store.errors import StoreError
from rummyarena_server.store.lock import FileLock, Holder
from rummyarena_server.store.records import (
    abandon_attempts,
    begin_attempt,
    count_for_elo,
    finish_tournament,
    record_game,
    recorded_indices,
)
from rummyarena_server.store.results import GameResult, StoredTournament
from rummyarena_server.store.rounds import add_round, played_games
from rummyarena_server.store.store import Store
from rummyarena_server.tournament.bots import EventBots, Report, Trouble
from rummyarena_server.tournament.event import Event
from rummyarena_server.tournament.ladder import rebuild_ratings
from rummyarena_server.tournament.patience import PatientStore
from rummyarena_server.tournament.rounds import Pairing, Round, Rounds, resumed
from rummyarena_server.tournament.schedule import Schedule, ScheduledGame
from rummyarena_server.tournament.waves import CommittedWave, Ladder, committed

_LOGGER: Final = logging.getLogger(__name__)
_MOST_TRIES: Final = 3  # of a game that fails by a fault of ours
_GROWTH: Final = 1.1
"""How many times as many games a ladder has when its ratings are made again, so that all this stays in proportion."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an event has come: games recorded, of how many; `games` is `None` if there is no end to them."""

    recorded: int
    games: int | None


class GameFailedError(Exception):
    """A game that failed again and again by a fault of ours; nothing is recorded of it and nobody is blamed."""


class SecondRunnerError(Exception):
    """Another process plays the tournament; it is not disturbed."""


def _never(_result: GameResult) -> bool:
    return False


def _ignore(_wave: CommittedWave) -> None:
    pass


def claim(store: Store, tournament: StoredTournament) -> FileLock:
    """Takes the right to do something with a tournament; `SecondRunnerError` if another process plays it."""
    lock = store.claim(tournament.id)
    if isinstance(lock, Holder):
        who = "another process" if lock.process is None else f"process {lock.process}"
        raise SecondRunnerError(
            f"the tournament {tournament.name!r} is being played by {who} already; wait until that has ended, or stop "
            "it, and run this again"
        )
    return lock


class Runner:
    """Plays what is left of an event.

    `on_progress` hears of each recorded game, `on_trouble` when the store cannot be written and when it can be again,
    and once if this machine is too late for the clock of the games.
    `is_enough` is asked after each recorded game; once it says so, no more are begun, as after `drain`.
    `on_wave` hears of each wave of a ladder that is to be played, before its first deal.
    """

    def __init__(
        self,
        event: Event,
        bots: EventBots,
        store: Store,
        deadlines: Deadlines,
        on_progress: Callable[[Progress], None],
        on_trouble: Report,
        is_enough: Callable[[GameResult], bool] = _never,
        on_wave: Callable[[CommittedWave], None] = _ignore,
    ) -> None:
        self._event = event
        self._bots = bots
        self._store = store
        self._patient = PatientStore(store, lambda sentence: on_trouble(Trouble(event.settings.name, sentence)))
        self._deadlines = deadlines
        self._on_progress = on_progress
        self._on_trouble = on_trouble
        self._is_enough = is_enough
        self._on_wave = on_wave
        self._places = trio.Semaphore(event.settings.concurrency)
        self._starting = trio.CancelScope()
        self._is_draining = False
        self._seating = trio.Lock()
        self._lag: LagMeter | None = None
        self._is_doubtful = False
        self._done: tuple[range, ...] = ()
        self._recorded = 0
        self._counting = event.stored.rated_games
        self._recorded_of_group: Counter[int] = Counter()

    async def run(self) -> bool:
        """Plays every game that is not recorded yet; returns whether all are, after `drain` some may not be.

        Once they are, the ratings are made again and the event is closed. `SecondRunnerError`, before anything is
        played, if another process plays the same event.
        """
        with claim(self._store, self._event.stored):
            await self._resume()
            schedule = self._event.schedule
            if isinstance(schedule, Rounds):
                return await self._play_rounds(schedule)
            await self._play_games(schedule)
            return self._recorded == len(schedule) and await self._close()

    def drain(self) -> None:
        """Starts no more games: `run` returns once those that have begun are recorded, and the rest is for a resume."""
        self._is_draining = True
        self._starting.cancel()

    async def _resume(self) -> None:
        """Finds out what is recorded; what else was begun before is abandoned, for nobody plays it any more."""
        self._done = await self._store.read(recorded_indices, self._event.stored.id)
        self._recorded = sum(map(len, self._done))
        self._report_progress()
        if not self._event.settings.shares_deals:
            await self._patient.write(abandon_attempts, self._event.stored.id, _now())

    async def _play_rounds(self, rounds: Rounds) -> bool:
        """Plays one round after the other, the first of them perhaps in part; returns whether there is no further."""
        pairing, opened = await self._store.read(resumed, self._event.stored.id, rounds)
        opened = opened or await self._open_round(pairing)
        while opened is not None:
            if isinstance(rounds, Ladder):
                self._on_wave(committed(self._event.stored.event_secret, opened.number))
            await self._play_games(opened)
            if self._recorded < len(opened):
                if isinstance(rounds, Ladder):
                    await self._rate(opened.indices.start)
                return False
            await self._note_results(pairing, opened)
            if isinstance(rounds, Ladder) and self._recorded >= _GROWTH * self._counting:
                await self._rate(self._recorded)
            opened = await self._open_round(pairing)
        return await self._close()

    async def _open_round(self, pairing: Pairing) -> Round | None:
        """Stores the next round before it is played, if there is one."""
        # Elsewhere, for with many bots at large tables it takes seconds in which signals are to be heeded.
        opened = await trio.to_thread.run_sync(pairing.next_round, abandon_on_cancel=True)
        if opened is None:
            return None
        if not await self._patient.write(add_round, self._event.stored.id, opened.number, opened.tables, _now()):
            raise SecondRunnerError(
                f"round {opened.number} of the tournament {self._event.settings.name!r} was opened by another process "
                "meanwhile, and with other tables, so that one of the two runs another version of this program; let "
                "only the older one play it"
            )
        return opened

    async def _note_results(self, pairing: Pairing, played: Round) -> None:
        # Only a look at what was written, but one that must be as patient as the writing was.
        games = await self._patient.write(played_games, self._event.stored.id, played.indices)
        pairing.note(played, games)
        self._done = (range(len(played)),)

    async def _rate(self, games: int) -> None:
        """Has so many games, from the first, count for Elo, if the event is rated at all."""
        if self._event.settings.rated and games > self._counting:
            await self._patient.write(_count, self._event, games, _now())
            self._counting = games

    async def _close(self) -> bool:
        await self._patient.write(_finish, self._event, self._recorded, _now())
        return True

    async def _play_games(self, schedule: Schedule) -> None:
        async with open_lag_meter(self._event.time_control) as self._lag, trio.open_nursery() as nursery:
            with trio.CancelScope() as self._starting:
                if self._is_draining:
                    return
                for index in _gaps(self._done, len(schedule)):
                    await self._places.acquire()
                    await nursery.start(self._finish, schedule.game(index))

    async def _finish(self, game: ScheduledGame, task_status: trio.TaskStatus[None]) -> None:
        """Brings a game to its end, from its start again if we fail, which is booked on nobody.

        It has started once its bots are seated.
        """
        try:
            for number in range(_MOST_TRIES):
                async with self._seating:
                    attempt, players = await self._seat(game, number)
                if number == 0:
                    task_status.started()
                if await self._try(game, attempt, players):
                    return
        finally:
            self._places.release()
        raise GameFailedError(f"game {game.index} failed {_MOST_TRIES} times by a fault of ours; the log says why")

    async def _try(self, game: ScheduledGame, attempt: int, players: Sequence[Player]) -> bool:
        """Plays and records a game, beginning at once while its bots' places are free; returns whether we did well."""
        try:
            absent = self._bots.withdrawn_seats(game.table)
            if not players:
                await self._record(self._event.unplayed(game, attempt, absent))
            else:
                await self._play(game, attempt, players, absent)
        except Exception as error:
            if isinstance(error, (StoreError, SecondRunnerError)):
                raise
            _LOGGER.exception("Game %d failed by a fault of ours and is played again.", game.index)
            return False
        return True

    async def _seat(self, game: ScheduledGame, number: int) -> tuple[int, list[Player]]:
        """Returns the number of the attempt and who plays, nobody if the game is decided.

        Where the seed follows from the attempt, that is noted before the first deal, so that the same cards are never
        dealt twice, whatever happens to this process.
        """
        players = await self._bots.players(game.table)
        if self._event.settings.shares_deals:
            return number, players
        seed_of = partial(self._event.seed, game)
        attempt = await self._patient.write(begin_attempt, self._event.stored.id, game.index, seed_of, _now())
        return attempt, await self._bots.players(game.table)  # they may have changed meanwhile

    async def _play(self, game: ScheduledGame, attempt: int, players: Sequence[Player], absent: Sequence[Seat]) -> None:
        with Game(self._event.setup(game, attempt), players, self._deadlines) as table:
            began, started_at = now(), _now()
            outcome = await table.play()
            lag = self._lag.worst_since(began) if self._lag is not None else 0
            record = replace(outcome.record, started_at=started_at, finished_at=_now())
            result = self._event.result(game, attempt, replace(outcome, record=record), absent, lag)
            is_played_out = await self._record(result)
            self._tell_of_lag(result)
            self._note_survivors(game, outcome)
            table.announce(outcome, reveal_seed=is_played_out)

    def _note_survivors(self, game: ScheduledGame, outcome: GameOutcome) -> None:
        """Notes who has brought the game to its end, if it was not decided before by forfeits."""
        forfeited = {one.seat for one in outcome.forfeits}
        if len(forfeited) < len(game.table) - 1:
            self._bots.note_finished_game(bot for seat, bot in enumerate(game.table) if seat not in forfeited)

    def _tell_of_lag(self, result: GameResult) -> None:
        """Tells once that this machine has too much to do for games with such a clock."""
        if self._lag is None or self._is_doubtful or result.lag <= self._lag.tolerable:
            return
        self._is_doubtful = True
        self._on_trouble(
            Trouble(
                self._event.settings.name,
                f"is not timed reliably: this machine was late by {result.lag / 1000:.0f} ms while game {result.index} "
                f"was played, and more than {self._lag.tolerable / 1000:.0f} ms are too much for its clock; how often "
                "that happens is told at the end; lower concurrency, or see what else this machine does",
            )
        )

    async def _record(self, result: GameResult) -> bool:
        """Records a game; returns whether it was the last one on its seed, which may then be revealed."""
        if not await self._patient.write(record_game, self._event.stored.id, result, _now()):
            raise SecondRunnerError(
                f"game {result.index} of the tournament {self._event.settings.name!r} was recorded by another process "
                "meanwhile, probably on another machine; let only one of the two play it"
            )
        self._recorded += 1
        self._report_progress()
        if self._is_enough(result):
            self.drain()
        return not self._event.settings.shares_deals or self._completes_group(result.group)

    def _completes_group(self, group: int) -> bool:
        """Counts a recorded game of a deal group and tells whether it was the last."""
        self._recorded_of_group[group] += 1
        seats = self._event.settings.seats
        first = group * seats
        before = sum(len(range(max(first, one.start), min(first + seats, one.stop))) for one in self._done)
        if before + self._recorded_of_group[group] < seats:
            return False
        del self._recorded_of_group[group]  # a long event does not fill the memory
        return True

    def _report_progress(self) -> None:
        self._on_progress(Progress(self._recorded, self._event.games))


def _finish(session: Session, event: Event, games: int, now: datetime) -> None:
    """Closes an event whose games are all recorded, so many, and has them count for Elo if they are to."""
    _count(session, event, games if event.settings.rated else 0, now)
    finish_tournament(session, event.stored.id, now)


def _count(session: Session, event: Event, games: int, now: datetime) -> None:
    """Has the first games of an event count for Elo; the ratings are what these say, whenever somebody looks."""
    count_for_elo(session, event.stored.id, games)
    rebuild_ratings(session, now)


def _gaps(done: Sequence[range], games: int) -> Iterator[int]:
    """Yields the indices below `games` that are in none of some ascending ranges."""
    first = 0
    for one in done:
        yield from range(first, one.start)
        first = one.stop
    yield from range(first, games)


def _now() -> datetime:
    return datetime.now(UTC)
