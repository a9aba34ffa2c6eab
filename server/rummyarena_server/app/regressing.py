"""Plays regression tests: a new version of a bot against its base, stored as a tournament that counts for no Elo."""

from __future__ import annotations

import secrets
import signal
import unicodedata
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import trio

from rummyarena_server.app.opening import ImportedTournamentError, opened
from rummyarena_server.app.playing import Stopping, ready_bots
from rummyarena_server.config import NAME_LENGTH, TournamentSettings
from rummyarena_server.hosting import BotCommand, bot_environment, obstacle, visible
from rummyarena_server.store.history import games
from rummyarena_server.store.records import find_tournament, finish_tournament
from rummyarena_server.store.results import GameResult, GameSummary, StoredTournament, canonical_json
from rummyarena_server.store.store import Store, open_store
from rummyarena_server.tournament.bots import MOST_EXITS, EventBots, Report, Trouble
from rummyarena_server.tournament.event import Event, event_of, plan
from rummyarena_server.tournament.pins import PinError, pin_of, pinned
from rummyarena_server.tournament.regression import Evidence, Played, Question
from rummyarena_server.tournament.runner import Progress, Runner
from rummyarena_server.tournament.seeds import SECRET_BYTES
from rummyarena_server.tournament.timing import Timing, timing

_DIGEST_DIGITS: Final = 16
_GAMES_AT_ONCE: Final = 1000
_INSTEAD_OF_IMPORTED: Final = (
    "name another database with --db, or add --seed with any new text, which makes it another test"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressionTest:
    """A new bot and its base, what is asked of them, and the games that are to answer it.

    `options`: those that differ from the defaults. `files`: patterns of files that the bots are made of beside those
    that their commands name. `seed`: a text that fixes the deals, which are foreseeable then.
    """

    new: BotCommand
    base: BotCommand
    question: Question
    ruleset: str
    options: Mapping[str, Any]
    clock: bool
    concurrency: int
    files: tuple[str, ...] = ()
    seed: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """What the entrants are called, in the order of their numbers."""
        copies = range(2, self.question.seats)
        return ("new", "base", *(f"base-{number}" for number in copies))


@dataclass(frozen=True, slots=True)
class Planned:
    """The tournament that a test is, and the pins of its entrants in the order of their numbers."""

    settings: TournamentSettings
    pins: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listeners:
    """Who hears how a test comes along.

    `opened` once, with what was recorded before; `progress` after each game; `trouble` about bots; `finishing` when a
    signal has asked it to stop and it only plays to their end the games that have begun.
    """

    opened: Callable[[Evidence], None]
    progress: Callable[[Evidence], None]
    trouble: Report
    finishing: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a test.

    `tournament`: the name under which its games are stored. `broken`: the bots that cannot play, for which there is no
    verdict. `stopped_by`: the number of the signal that broke it off before there was one. `timing`: whether the clock
    was right; `None` without one, or without games.
    """

    tournament: str
    evidence: Evidence
    broken: tuple[Trouble, ...] = ()
    stopped_by: int | None = None
    timing: Timing | None = None


async def run_regression(test: RegressionTest, database: str, logs: Path, listeners: Listeners) -> Outcome:
    """Plays a regression test, or what is left of it, until there is a verdict, which is final.

    A test is known by all that bears on its result, the bots' commands and the contents of the files they name
    included: run again, it goes on or tells its verdict without playing, and with a changed bot it is another test.

    SIGINT or SIGTERM stops it as a tournament. `logs`: the folder for what the bots print. Raises what `run_tournament`
    does, but for bots that cannot be started, which are broken; and `PinError`, before anything is opened.
    """
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        tournament = await trio.to_thread.run_sync(planned, test)
        store = open_store(database)
        try:
            run = _Run(test, tournament, store, listeners)
            await run.read()
            listeners.opened(run.evidence)
            return await run.to_its_end(logs, signals)
        finally:
            store.close()


def planned(test: RegressionTest) -> Planned:
    """Returns the tournament that a test is; reads the files of its bots, `PinError` names one that cannot be."""
    commands = [test.new, *[test.base] * (test.question.seats - 1)]
    settings = TournamentSettings.model_validate(
        {
            "name": "regression test",
            "ruleset": test.ruleset,
            "seats": test.question.seats,
            "options": dict(test.options),
            "cycles": test.question.most_groups,
            "rated": False,
            "trusted": True,
            "clock": "on" if test.clock else "off",
            "concurrency": test.concurrency,
            "secret": None if test.seed is None else sha256(f"regression test/{test.seed}".encode()).hexdigest(),
            "bots": [
                {"name": name, "command": [*one.words], "files": [*test.files]}
                for name, one in zip(test.names, commands, strict=True)
            ],
        }
    )
    pins = tuple(_pins(settings, test.new.directory))
    return Planned(settings.model_copy(update={"name": _name(test, settings, pins)}), pins)


def _pins(settings: TournamentSettings, directory: Path) -> Iterator[str]:
    known: dict[Path, str] = {}
    for bot in settings.bots:
        try:
            yield pin_of(bot, directory, known)
        except PinError as error:
            raise PinError(f"{bot.name}: {error}") from None


def _name(test: RegressionTest, settings: TournamentSettings, pins: Sequence[str]) -> str:
    """Returns the name of a test, which tells it from every other one."""
    identity = [settings.configuration(), settings.secret, asdict(test.question), pins]
    digest = sha256(canonical_json(identity).encode()).hexdigest()[:_DIGEST_DIGITS]
    longest = (NAME_LENGTH - _DIGEST_DIGITS - len(" against , ")) // 2
    shown = (unicodedata.normalize("NFC", visible(one.name))[:longest].strip() for one in (test.new, test.base))
    new, base = (one or "a bot" for one in shown)
    return f"{new} against {base}, {digest}"


class _Run:
    """One run of a test."""

    def __init__(self, test: RegressionTest, tournament: Planned, store: Store, listeners: Listeners) -> None:
        self.evidence = Evidence(test.question)
        self._test = test
        self._settings = tournament.settings
        self._pins = tournament.pins
        self._store = store
        self._listeners = listeners
        self._stored: StoredTournament | None = None
        self._withdrawn: tuple[int, ...] = ()
        self._last_trouble: dict[str, Trouble] = {}

    async def read(self) -> None:
        """Reads all that is recorded; `ImportedTournamentError` if it was recorded elsewhere."""
        evidence = Evidence(self._test.question)
        numbers = {name: number for number, name in enumerate(self._test.names)}
        self._stored = await self._store.read(find_tournament, self._settings.name)
        if self._stored is not None and self._stored.imported:
            raise ImportedTournamentError(self._settings.name, _INSTEAD_OF_IMPORTED)
        async for page in _pages(self._store, self._stored):
            evidence.add(Played.of_summary(game, numbers) for game in page)
        self.evidence = evidence

    async def to_its_end(self, logs: Path, signals: AsyncIterator[int]) -> Outcome:
        """Plays until enough is known, and closes the test if there is a verdict."""
        stopping = Stopping(self._listeners.finishing)
        broken = () if self.evidence.is_enough else self._that_cannot_start()
        if not (self.evidence.is_enough or broken):
            event = event_of(self._settings, await self._open())
            async with stopping.heeding(signals):
                while not (self.evidence.is_enough or self._withdrawn or stopping.number):
                    await self._play(event, logs, stopping)
                    await self.read()  # what is told now is what the next run tells
        broken = broken or self._that_cannot_play()
        stopped_by = None if self.evidence.is_enough or broken else stopping.number
        return Outcome(self._settings.name, self.evidence, broken, stopped_by, await self._closed(not broken))

    async def _closed(self, may_close: bool) -> Timing | None:
        """Closes the test if it may be and has a verdict, and returns whether its clock was right."""
        if self._stored is None:
            return None
        if may_close and self.evidence.verdict is not None and self._stored.status == "running":
            await self._store.write(finish_tournament, self._stored.id, _now())
        return await self._store.read(timing, self._stored.id)

    async def _open(self) -> StoredTournament:
        drawn = plan(self._settings, secrets.token_bytes(SECRET_BYTES))
        return await opened(self._store, pinned(drawn, self._pins), None)

    async def _play(self, event: Event, logs: Path, stopping: Stopping) -> None:
        """Plays games until enough is known, or until a bot is withdrawn, whose games would be forfeited unplayed."""
        games_at_once = trio.CancelScope()
        seated: list[EventBots] = []

        def note_trouble(trouble: Trouble) -> None:
            self._withdrawn = tuple(seated[0].withdrawn_seats(range(event.settings.seats))) if seated else ()
            if self._withdrawn:
                games_at_once.cancel()
            else:
                self._last_trouble[trouble.bot] = trouble
                self._listeners.trouble(trouble)

        async with ready_bots(event, self._test.new.directory, logs, note_trouble) as (bots, server):
            seated.append(bots)
            runner = Runner(event, bots, self._store, server.deadlines, _ignore, note_trouble, self._take)
            stopping.use(runner.drain)
            with games_at_once:
                await runner.run()

    def _take(self, result: GameResult) -> bool:
        """Takes a game that was just recorded, and returns whether it was the last that is needed."""
        self.evidence.add([Played.of_result(result)])
        self._listeners.progress(self.evidence)
        return self.evidence.is_enough

    def _that_cannot_start(self) -> tuple[Trouble, ...]:
        environment = bot_environment("", "")
        pair = zip(self._test.names, (self._test.new, self._test.base), strict=False)
        found = ((name, obstacle(command, environment)) for name, command in pair)
        return tuple(Trouble(name, f"cannot be started: {why}") for name, why in found if why is not None)

    def _that_cannot_play(self) -> tuple[Trouble, ...]:
        """Returns what is wrong with the bots that were withdrawn, or that forfeited every game."""
        if self.evidence.broken:
            how = f"has forfeited all of its {self.evidence.games} games"
            return tuple(
                self._with_output(self._test.names[one], f"{how} ({', '.join(self.evidence.reasons(one))})")
                for one in self.evidence.broken
            )
        if self.evidence.verdict is not None:
            return ()
        how = f"is withdrawn after {MOST_EXITS} exits in a row"
        return tuple(self._with_output(self._test.names[one], how) for one in self._withdrawn)

    def _with_output(self, name: str, sentence: str) -> Trouble:
        """Returns what is wrong with a bot, with the last that was heard of it."""
        last = self._last_trouble.get(name)
        if last is None:
            return Trouble(name, sentence)
        return replace(last, sentence=f"{sentence}; the last time it {last.sentence}")


async def _pages(store: Store, stored: StoredTournament | None) -> AsyncIterator[Sequence[GameSummary]]:
    """Yields the recorded games of a tournament, many at a time."""
    after = -1
    while stored is not None:
        page = await store.read(games, stored.id, after=after, limit=_GAMES_AT_ONCE)
        if not page:
            return
        yield page
        after = page[-1].index


def _ignore(_progress: Progress) -> None:
    pass


def _now() -> datetime:
    return datetime.now(UTC)
