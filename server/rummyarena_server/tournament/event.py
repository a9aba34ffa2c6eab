"""A tournament as it is played: settings, schedule and secret together, and what follows from them for each game."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from rummyarena_rules.events import Seat
from rummyarena_rules.options import changed_options
from rummyarena_rules.registry import RULESETS
from rummyarena_rules.ruleset import Ruleset
from rummyarena_server.config import TournamentSettings
from rummyarena_server.referee.clock import TimeControl
from rummyarena_server.referee.outcome import GameOutcome, ranks_with_forfeits
from rummyarena_server.referee.record import FORMAT, GameSetup, SeatedBot, to_json
from rummyarena_server.store.results import (
    EntrantPlan,
    GameRecordText,
    GameResult,
    SeatForfeit,
    SeatResult,
    StoredTournament,
    TournamentPlan,
    variant_text,
)
from rummyarena_server.store.written import time_control
from rummyarena_server.tournament.formats import games_of, schedule_of, secret_of
from rummyarena_server.tournament.rounds import Rounds
from rummyarena_server.tournament.schedule import Schedule, ScheduledGame
from rummyarena_server.tournament.seeds import game_seed


@dataclass(frozen=True, slots=True)
class Event:
    """A tournament that is open in the store.

    `schedule`: the whole of it, or what makes it round by round. `versions`: what bots that are started elsewhere say
    of themselves, by their numbers; each is added before its first game.
    """

    settings: TournamentSettings
    stored: StoredTournament
    schedule: Schedule | Rounds
    ruleset: Ruleset[Any]
    options: Any
    time_control: TimeControl | None
    versions: dict[int, str] = field(default_factory=dict)

    @property
    def variant(self) -> str:
        """The variant whose Elo its games count for."""
        return variant_text(self.ruleset.name, self.ruleset.version, self.settings.seats, changed_options(self.options))

    @property
    def games(self) -> int | None:
        """How many games it has in all, `None` if there is no end to them."""
        return games_of(self.schedule)

    def setup(self, game: ScheduledGame, attempt: int = 0) -> GameSetup:
        """Returns what is fixed before a game begins; `attempt`: how many times it was begun and abandoned."""
        bots = ((self.settings.bots[entrant], self.versions.get(entrant, "")) for entrant in game.table)
        return GameSetup(
            game_id=f"{self.stored.id}.{game.index}.{attempt}",
            ruleset=self.ruleset,
            options=self.options,
            seed=self.seed(game, attempt),
            bots=tuple(SeatedBot(bot.name, bot.version or version) for bot, version in bots),
            time_control=self.time_control,
        )

    def result(
        self, game: ScheduledGame, attempt: int, outcome: GameOutcome, withdrawn: Collection[Seat] = (), lag: int = 0
    ) -> GameResult:
        """Returns what is stored of a game that was played.

        `withdrawn`: the seats whose bots were so before it. `lag`: by how many microseconds this server was late.
        """
        forfeits: dict[Seat, SeatForfeit] = {one.seat: one.reason for one in outcome.forfeits}
        forfeits |= dict.fromkeys(withdrawn, "withdrawn")
        seats = tuple(
            SeatResult(
                entrant=entrant,
                rank=outcome.ranks[seat],
                total=outcome.totals[seat],
                points=outcome.points[seat],
                forfeit=forfeits.get(seat),
                thinking=outcome.thinking[seat],
                faults=outcome.faults[seat],
            )
            for seat, entrant in enumerate(game.table)
        )
        return GameResult(
            **self._common(game, attempt),
            seats=seats,
            reason="forfeits" if forfeits else "",
            deals=len(outcome.deals),
            counted_deals=outcome.counted_deals,
            rated=outcome.rated,
            lag=lag,
            started_at=outcome.record.started_at,
            finished_at=outcome.record.finished_at,
            record=GameRecordText(format=FORMAT, text=to_json(outcome.record)) if self._keeps(forfeits) else None,
        )

    def unplayed(self, game: ScheduledGame, attempt: int, forfeited: Collection[Seat]) -> GameResult:
        """Returns what is stored of a game that was decided before it began, all bots but one at most being withdrawn.

        `forfeited`: their seats.
        """
        ranks = ranks_with_forfeits(len(game.table), forfeited, None)
        seats = tuple(
            SeatResult(entrant=entrant, rank=ranks[seat], forfeit="withdrawn" if seat in forfeited else None)
            for seat, entrant in enumerate(game.table)
        )
        return GameResult(
            **self._common(game, attempt),
            seats=seats,
            status="unplayed",
            reason="withdrawn",
            rated=len(forfeited) < len(seats),
        )

    def seed(self, game: ScheduledGame, attempt: int) -> bytes:
        """Returns the game seed of an attempt; the attempts at a game that shares its deals have the same."""
        secret = secret_of(self.schedule, self.stored.event_secret, game.group)
        if self.settings.shares_deals:
            return game_seed(secret, game.group)
        return game_seed(secret, game.group, game.rotation, attempt)

    def _keeps(self, forfeits: Collection[Seat]) -> bool:
        """Tells whether the record of a game with these forfeits is stored."""
        return self.settings.records == "all" or (self.settings.records == "forfeits" and bool(forfeits))

    def _common(self, game: ScheduledGame, attempt: int) -> dict[str, Any]:
        return {
            "index": game.index,
            "group": game.group,
            "rotation": game.rotation,
            "attempt": attempt,
            "seed": self.seed(game, attempt),
            "ruleset": self.ruleset.name,
            "rules_version": self.ruleset.version,
            "options": changed_options(self.options),
        }


def plan(settings: TournamentSettings, drawn_secret: bytes) -> TournamentPlan:
    """Returns the tournament that a file describes; `drawn_secret` is used where the file fixes none."""
    return TournamentPlan(
        name=settings.name,
        configuration=settings.configuration(),
        schedule_seed=settings.seed,
        event_secret=settings.event_secret or drawn_secret,
        secret_fixed=settings.event_secret is not None,
        entrants=tuple(EntrantPlan(bot.name, bot.version, bot.command) for bot in settings.bots),
    )


def event_of(settings: TournamentSettings, stored: StoredTournament) -> Event:
    """Returns the event of a tournament that is open in the store."""
    ruleset = RULESETS[settings.ruleset]
    options = ruleset.configure(settings.options, settings.seats)
    if isinstance(options, list):
        raise ValueError(f"the options were not checked: {options[0].message}")
    configuration = settings.configuration()
    schedule = schedule_of(configuration, settings.seed, len(settings.bots))
    return Event(settings, stored, schedule, ruleset, options, time_control(configuration))
