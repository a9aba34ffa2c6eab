"""The commands for tournaments and their results."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, Final

import trio
from cyclopts import Parameter
from cyclopts.validators import Number

from rummyarena_server.app import archiving, playing, reading
from rummyarena_server.cli.demo import demo_files
from rummyarena_server.cli.output import (
    UsageError,
    Watch,
    all_games,
    complain,
    doubts_about,
    json_text,
    played_as,
    recorded_games,
    say,
    show_figures,
    show_games,
    show_ladder,
    show_standings,
    show_tournaments,
    told_digest,
    told_wave,
)
from rummyarena_server.cli.places import DATABASE, LOGS, TOKENS, AsJson, Database, Tokens, named
from rummyarena_server.config import TournamentFile, load
from rummyarena_server.hosting import visible
from rummyarena_server.store.results import TournamentSummary
from rummyarena_server.tournament.event import Event
from rummyarena_server.tournament.waves import CommittedWave

INTERRUPTION: Final = "Interrupted. What was recorded is kept; run the same command again to go on."
_FORK: Final = "Keeps a tournament of this name that differs under another name, and begins a new one."
_NOT_NEGATIVE: Final = Number(gte=0)
_SIGNALLED: Final = 128  # an exit status beyond it says which signal ended a program

Fork = Annotated[bool, Parameter(negative="", help=_FORK)]


def demo(*, db: Database = DATABASE) -> int:
    """Plays two small tournaments between the sample bots: one of Thai Rummy, one of Liverpool Rummy.

    Their secrets are fixed and they have no clock, so that they end in the same tables everywhere.

    Example: rummyarena demo --db sqlite:///demo.db
    """
    for file in demo_files():
        status = _play(file, db)
        if status:
            return status
    return 0


def run(file: Path, /, *, fork: Fork = False, db: Database = DATABASE) -> int:
    """Plays a tournament, or what is left of it; once it is over, shows its table.

    With other settings or other bots than it was begun with it is refused, or with --fork begun anew.

    Example: rummyarena tournament run friday.toml

    Parameters
    ----------
    file
        The tournament file (TOML), see docs/tournament-files.md.
    """
    return _play(load(file), db, fork=fork)


def serve(file: Path, /, *, address: str = "127.0.0.1:7777", fork: Fork = False, db: Database = DATABASE) -> int:
    """Plays a tournament as `tournament run` does, and lets in the bots that are started elsewhere.

    These have connected = true in the file. Each gets a token, which is printed; the connection is not encrypted.

    Example: rummyarena serve friday.toml --address 0.0.0.0:7777

    Parameters
    ----------
    file
        The tournament file (TOML), see docs/tournament-files.md.
    address
        Where to listen: HOST:PORT, or unix:PATH.
    """
    tournament = load(file)
    tokens = Tokens(tournament.settings.name)
    expected = [bot.name for bot in tournament.settings.bots if bot.connected]

    def tell(bound: str) -> None:
        say(f"Bots are let in at {bound}. Their tokens, which {TOKENS} keeps:")
        for bot in expected:
            say(f"  {visible(bot)}: RUMMYARENA_ADDRESS={bound} RUMMYARENA_TOKEN={tokens.of(bot)}")

    return _play(tournament, db, playing.Door(address, tokens.of, tell) if expected else None, fork=fork)


def show(
    name: str,
    /,
    *,
    after: Annotated[int, Parameter(help="Lists the games that follow the one with this number.")] = -1,
    games: Annotated[int, Parameter(help="How many games to list at most.", validator=_NOT_NEGATIVE)] = 20,
    as_json: AsJson = False,
    db: Database = DATABASE,
) -> int:
    """Shows a tournament: its table, and games with the ids by which they can be replayed.

    Example: rummyarena tournament show "demo of thai"

    Parameters
    ----------
    name
        The name of the tournament.
    """
    database = named(db)
    found = trio.run(reading.read_tournament, db, name, after, games)
    secret = trio.run(archiving.read_secret, db, name)
    if found is None or secret is None:
        raise no_tournament(name, database)
    if as_json:
        say(
            json_text(
                asdict(found.summary)
                | {"standings": _dicts(found.table.standings), "games": _dicts(found.games)}
                | {"figures": None if found.figures is None else asdict(found.figures)}
                | {"secret_digest": _hex(secret.digest), "secret": _hex(secret.secret), "wave": _wave(found.wave)}
                | {"timing": None if found.table.timing is None else asdict(found.table.timing)}
            )
        )
        return 0
    say(described(found.summary))
    if secret.digest is not None:
        say(told_digest(secret.digest))
    if secret.secret is not None:
        say(f"It is revealed now: {secret.secret.hex()}")
    if found.wave is not None:
        say(told_wave(found.wave))
    if found.summary.status != "finished":
        say("The table is provisional; it counts complete deal groups only.")
    show_standings(found.summary.variant, found.table.standings, found.table.ladder)
    if doubts := doubts_about(found.table.timing):
        say(doubts)
    if found.figures is not None:
        say("")
        show_figures([bot.name for bot in found.summary.bots], found.figures)
        say("Strength is in Elo about the mean of all; bars are 95 %. More: rummyarena tournament statistics NAME")
    if found.games:
        say("")
        show_games(found.games)
        if len(found.games) == games and found.games[-1].index + 1 != found.summary.games:
            say(f"More: --after {found.games[-1].index}")
    return 0


def listed(*, as_json: AsJson = False, db: Database = DATABASE) -> int:
    """Lists the tournaments of a database.

    Example: rummyarena tournament list
    """
    database = named(db)
    found = trio.run(reading.read_tournaments, db)
    if as_json:
        say(json_text(_dicts(found)))
    elif found:
        show_tournaments(found)
    else:
        say(f"No tournament has been played yet in {database}.")
    return 0


def standings(*, as_json: AsJson = False, db: Database = DATABASE) -> int:
    """Shows the Elo of all bots that have played rated games.

    Example: rummyarena standings --db sqlite:///demo.db
    """
    shown = named(db)
    if not as_json:
        say(f"Database: {shown}")
    ladder = trio.run(reading.read_ladder, db)
    if as_json:
        say(json_text(_dicts(ladder.ratings)))
        return 0
    if not ladder.ratings:
        say("No tournament with rated games has been finished yet.")
    show_ladder(ladder.ratings)
    for one in ladder.unfinished:
        recorded = f"{recorded_games(one.recorded, one.games)} are recorded"
        rated = "not rated yet" if one.rated_games == 0 else f"rated as far as its first {one.rated_games} games"
        say(f"{visible(one.name)} is unfinished and {rated}: {recorded}; run it again to go on.")
    return 0


def _hex(value: bytes | None) -> str | None:
    return None if value is None else value.hex()


def _wave(wave: CommittedWave | None) -> dict[str, Any] | None:
    return None if wave is None else {"number": wave.number, "secret_digest": wave.secret_digest.hex()}


def no_tournament(name: str, database: str) -> UsageError:
    """Returns what is said where a database, as it can be shown, has no tournament of this name."""
    return UsageError(f"there is no tournament {visible(name)} in {database}: `rummyarena tournament list` names them")


def _play(file: TournamentFile, database: str, door: playing.Door | None = None, *, fork: bool = False) -> int:
    say(f"Database: {named(database)}; what the bots print: {LOGS}/")
    opened: list[Event] = []
    with Watch() as watch:
        listeners = watch.listeners

        def note(event: Event) -> None:
            opened.append(event)
            listeners.opened(event)

        heard = replace(listeners, opened=note)
        table = trio.run(playing.run_tournament, file, database, LOGS, heard, door, _tell_of_fork if fork else None)
    if table.stopped_by is not None:
        return _stopped(opened[0], table, table.stopped_by)
    show_standings(opened[0].variant, table.standings, table.ladder)
    _complain_of_lag(table)
    _complain_of_early_end(opened[0], table)
    for one in table.standings:
        if one.forfeits:
            how_many = "all its games" if one.forfeits == one.games else f"{one.forfeits} of its {one.games} games"
            complain(f"{visible(one.name)} has forfeited {how_many}; what it printed is in {LOGS}/")
    return 0


def _tell_of_fork(kept_as: str | None) -> None:
    if kept_as is None:
        say("Nothing differs from the tournament of this name, which is therefore not set aside.")
    else:
        say(f"The tournament of this name differs and is kept as {visible(kept_as)}; a new one begins.")


def _stopped(event: Event, table: playing.Table, number: int) -> int:
    """Shows what can be said of a tournament that was broken off."""
    if any(one.games for one in table.standings):
        say("The table so far is provisional; it counts complete deal groups only.")
        show_standings(event.variant, table.standings, table.ladder)
        _complain_of_lag(table)
    complain(INTERRUPTION)
    return _SIGNALLED + number


def _complain_of_early_end(event: Event, table: playing.Table) -> None:
    played = sum(one.games for one in table.standings) // event.settings.seats
    if event.games is not None and played < event.games:
        complain(f"It has ended after {played} of {event.games} games: too few of its bots were left for a table.")


def _complain_of_lag(table: playing.Table) -> None:
    if doubts := doubts_about(table.timing):
        complain(doubts)


def described(one: TournamentSummary) -> str:
    """Returns a line about what a tournament is and how far it has come."""
    state = "finished" if one.status == "finished" else f"{recorded_games(one.recorded, one.games)} recorded"
    state += ", imported from a file" if one.imported else ""
    deals = "deals shared in a group" if one.shares_deals else "deals of its own in each game"
    return (
        f"{visible(one.name)}: {played_as(one.format)}{visible(one.variant)}, {len(one.bots)} bots, "
        f"{all_games(one.games)}, {deals}; {state}"
    )


def _dicts(values: Any) -> list[dict[str, Any]]:
    return [asdict(value) for value in values]
