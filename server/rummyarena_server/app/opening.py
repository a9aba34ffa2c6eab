"""Opens tournaments: looks at their bots, pins them, and finds or makes the tournament in the store."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeAlias

import trio

from rummyarena_server.config import BotSettings, ConfigError, TournamentFile
from rummyarena_server.hosting import BotCommand, bot_environment, obstacle, visible
from rummyarena_server.store.errors import StoreError
from rummyarena_server.store.history import entrants
from rummyarena_server.store.records import differences, find_tournament, open_tournament, pin_entrant, set_aside
from rummyarena_server.store.results import StoredTournament, TournamentPlan
from rummyarena_server.store.store import Store, open_store
from rummyarena_server.tournament.bots import Report, Trouble
from rummyarena_server.tournament.event import Event, plan
from rummyarena_server.tournament.patience import PatientStore
from rummyarena_server.tournament.pins import HeldVersion, PinError, pin_of, pinned, version_of, version_pin
from rummyarena_server.tournament.runner import claim
from rummyarena_server.tournament.seeds import SECRET_BYTES

Fork: TypeAlias = Callable[[str | None], None]
"""Hears the name under which the tournament that differs is kept, or `None` where the one that is there does not."""


class ChangedTournamentError(Exception):
    """A tournament of this name is in the store and is not the one the file describes."""

    def __init__(self, name: str, changed: list[str]) -> None:
        super().__init__(
            f"the tournament {name!r} was begun with other settings:\n"
            + "\n".join(f"  {one}" for one in changed)
            + "\nUndo the change to go on with it, or begin a new tournament: give the file another name, "
            "or add --fork, which keeps the old one aside."
        )


class ImportedTournamentError(Exception):
    """A tournament of this name was played elsewhere and read from a file; nothing is left of it to play.

    `instead`: what to do.
    """

    def __init__(self, name: str, instead: str) -> None:
        super().__init__(f"the tournament {name!r} was imported from a file of records and cannot be played: {instead}")


async def planned(file: TournamentFile, database: str, fork: Fork | None, *, has_door: bool) -> TournamentPlan:
    """Returns the tournament that a file describes, its bots pinned as they are now.

    `has_door`: whether bots can come in that are started elsewhere. `ConfigError` for bots that cannot be started, come
    in or be pinned, unless the tournament is over, whose table needs no bots.
    """
    found = plan(file.settings, secrets.token_bytes(SECRET_BYTES))
    pins, problems = await trio.to_thread.run_sync(partial(_look_at_bots, file, has_door=has_door))
    if not problems:
        return pinned(found, pins)
    if await _is_over(database, found, fork):
        return found
    raise ConfigError(file.path, problems)


async def opened(store: Store, tournament: TournamentPlan, fork: Fork | None) -> StoredTournament:
    """Returns the stored tournament, made if it is new.

    `ChangedTournamentError` if the stored one differs, `ImportedTournamentError` if it was played elsewhere. `fork`:
    one that differs is kept under another name, and a new one is made; `SecondRunnerError` if it is being played.
    """
    if fork is not None:
        await _set_aside(store, tournament, fork)
    found = await store.read(find_tournament, tournament.name)
    if found is not None and found.imported:
        raise ImportedTournamentError(
            tournament.name, "give this file another name, or add --fork, which keeps the imported one aside"
        )
    stored = await store.write(open_tournament, tournament, _now())
    if isinstance(stored, list):
        raise ChangedTournamentError(tournament.name, stored)
    return stored


async def held_versions(event: Event, store: Store, report: Report) -> dict[int, HeldVersion]:
    """Returns the versions of the bots that are started elsewhere, by their numbers; the event is told of them."""
    stored = await store.read(entrants, event.stored.id)
    numbers = [number for number, bot in enumerate(event.settings.bots) if bot.connected]
    held = {number: version_of(stored[number].pin) for number in numbers}
    event.versions.update((number, version) for number, version in held.items() if version is not None)

    def tell(name: str, sentence: str) -> None:
        report(Trouble(name, sentence))

    patient = PatientStore(store, partial(tell, event.settings.name))
    return {
        number: HeldVersion(
            held[number], partial(_keep, event, patient, number), partial(tell, event.settings.bots[number].name)
        )
        for number in numbers
    }


# --- inside ----------------------------------------------------------------------------------------------------------


def _look_at_bots(file: TournamentFile, *, has_door: bool) -> tuple[list[str], list[str]]:
    """Returns the pins of the bots, and a sentence for each with which no game can be played."""
    pins, problems = [], []
    known: dict[Path, str] = {}
    for number, bot in enumerate(file.settings.bots):
        why = _hindrance(bot, file.directory, has_door=has_door)
        try:
            pins.append(pin_of(bot, file.directory, known) if why is None else "")
        except PinError as error:
            why = f"cannot be pinned: {visible(str(error))}"
        if why is not None:
            problems.append(f'bots[{number}] "{visible(bot.name)}" {why}')
    return pins, problems


def _hindrance(bot: BotSettings, directory: Path, *, has_door: bool) -> str | None:
    if bot.connected:
        how = "is started elsewhere: play this file with `rummyarena serve`, which lets it in"
        return None if has_door else how
    why = obstacle(BotCommand(bot.name, bot.command, directory), bot_environment("", ""))
    return None if why is None else f"cannot be started: {visible(why)}"


async def _is_over(database: str, tournament: TournamentPlan, fork: Fork | None) -> bool:
    """Tells whether the tournament is stored and was played to its end; one that will be set aside is not meant."""
    try:
        store = open_store(database, must_exist=True)
    except StoreError:  # what is wrong with the database is said once the bots can be started
        return False
    try:
        stored = await store.read(find_tournament, tournament.name)
        if stored is None or stored.status != "finished":
            return False
        return fork is None or not await store.read(differences, tournament)
    finally:
        store.close()


async def _set_aside(store: Store, tournament: TournamentPlan, fork: Fork) -> None:
    """Makes the name free if a tournament has it that differs."""
    stored = await store.read(find_tournament, tournament.name)
    if stored is None:
        return
    if not await store.read(differences, tournament):
        fork(None)
        return
    with claim(store, stored):
        fork(await store.write(set_aside, stored, _now()))


async def _keep(event: Event, patient: PatientStore, number: int, version: str) -> None:
    """Stores the version of a bot, which is shown unless the file names one."""
    event.versions[number] = version
    shown = event.settings.bots[number].version or version
    await patient.write(pin_entrant, event.stored.id, number, version_pin(version), shown)


def _now() -> datetime:
    return datetime.now(UTC)
