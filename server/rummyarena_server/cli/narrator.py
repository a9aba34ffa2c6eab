"""Games on the terminal: one played now, one that waits for a bot started by hand, one that was recorded."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rummyarena_rules.events import REFEREE, DealStarted, Event, Viewer, redact
from rummyarena_rules.ruleset import Ruleset
from rummyarena_rules.shoe import SEED_BYTES
from rummyarena_rules.transcript import event_json, event_text
from rummyarena_server.cli.output import UsageError, complain, say
from rummyarena_server.cli.rulebook import find_ruleset
from rummyarena_server.hosting import BotCommand, visible
from rummyarena_server.referee.clock import SECOND, TimeControl
from rummyarena_server.referee.outcome import GameOutcome
from rummyarena_server.referee.record import Forfeit, GameRecord, GameSetup, SeatedBot, replay
from rummyarena_server.tournament.bots import Trouble
from rummyarena_server.tournament.single import Invitation, SingleGame, Watchers

_CLOCK = TimeControl(decision=5 * SECOND, bank=60 * SECOND)
_BY_HAND = "your bot"


@dataclass(frozen=True, slots=True)
class Table:
    """What a command line says of a game: `seats` has a command for each seat, `None` for a bot started by hand."""

    ruleset: str
    seats: tuple[BotCommand | None, ...]
    options: Sequence[str] = ()
    clock: bool = True
    seed: str | None = None


def single_game(table: Table) -> SingleGame:
    """Returns the game of a table; `UsageError` names what cannot be."""
    ruleset = find_ruleset(table.ruleset)
    if len(table.seats) not in ruleset.seats:
        allowed = f"{ruleset.seats.start} to {ruleset.seats.stop - 1}"
        raise UsageError(f"{table.ruleset} is for {allowed} seats, here are {len(table.seats)}: name a bot for each")
    setup = GameSetup(
        game_id="game",
        ruleset=ruleset,
        options=_options(ruleset, len(table.seats), table.options),
        seed=_seed(table.seed),
        bots=tuple(SeatedBot(_BY_HAND if one is None else one.name) for one in table.seats),
        time_control=_CLOCK if table.clock else None,
    )
    return SingleGame(setup, table.seats)


def _options(ruleset: Ruleset[Any], seats: int, words: Sequence[str]) -> Any:
    said = [_option(word) for word in words]
    twice = {name for name, _ in said if sum(name == other for other, _ in said) > 1}
    if twice:
        raise UsageError(f"--option {visible(', '.join(sorted(twice)))} is given more than once: leave out all but one")
    configured = ruleset.configure(dict(said), seats)
    if isinstance(configured, list):
        raise UsageError("; ".join(refusal.message for refusal in configured))
    return configured


def _option(word: str) -> tuple[str, object]:
    name, equals, value = word.partition("=")
    if not (name and equals):
        raise UsageError(f"{visible(word)} is no option: write NAME=VALUE, such as max_deals=1")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value  # a word, such as reshuffle


def _seed(digits: str | None) -> bytes:
    if digits is None:
        return secrets.token_bytes(SEED_BYTES)
    try:
        seed = bytes.fromhex(digits)
    except ValueError:
        seed = b""
    if len(seed) != SEED_BYTES:
        raise UsageError(f"--seed {visible(digits)}: a game's seed is {2 * SEED_BYTES} hex digits")
    return seed


class Narrator:
    """Tells a game as it goes, as one viewer may see it, in notation or as a line of JSON an event."""

    def __init__(self, setup: GameSetup, show: int | None, *, as_json: bool) -> None:
        if show is not None and not 0 <= show < setup.seats:
            raise UsageError(f"--show {show}: the seats are 0 to {setup.seats - 1}")
        self._setup = setup
        self._viewer: Viewer = REFEREE if show is None else show
        self._as_json = as_json

    def watchers(self, invite: Callable[[Invitation], None]) -> Watchers:
        """Returns who is to hear of the game."""
        return Watchers(self.tell, invite, tell_trouble)

    def begin(self) -> None:
        """Tells what is played, by whom and how."""
        setup = self._setup
        if self._as_json:
            say(json.dumps(_setup_json(setup), ensure_ascii=False))
            return
        say(
            f"{setup.ruleset.name}, {setup.seats} seats, {'no clock' if setup.time_control is None else 'with a clock'}"
        )
        for seat, bot in enumerate(setup.bots):
            say(f"seat {seat}: {visible(bot.name)}{f' ({visible(bot.version)})' if bot.version else ''}")

    def tell(self, events: Sequence[Event]) -> None:
        """Tells what happened."""
        for event in events:
            seen = redact(event, self._viewer)
            if self._as_json:
                say(json.dumps(event_json(seen)))
            else:
                say(("\n" if isinstance(event, DealStarted) else "") + event_text(seen))

    def end(self, ranks: Sequence[int], totals: Sequence[int], forfeits: Sequence[Forfeit]) -> None:
        """Tells who won."""
        if self._as_json:
            over = {"ranks": list(ranks), "totals": list(totals)}
            say(json.dumps({"over": over | {"forfeits": [[one.seat, one.reason] for one in forfeits]}}))
            return
        reasons = {one.seat: f", forfeited ({one.reason})" for one in forfeits}
        say("")
        for seat in sorted(range(self._setup.seats), key=lambda seat: (ranks[seat], seat)):
            name = visible(self._setup.bots[seat].name)
            say(f"{ranks[seat]}. {name} (seat {seat}): {totals[seat]} points{reasons.get(seat, '')}")


def _setup_json(setup: GameSetup) -> Mapping[str, object]:
    bots = [{"name": bot.name, "version": bot.version} for bot in setup.bots]
    return {"ruleset": setup.ruleset.name, "rules_version": setup.ruleset.version, "bots": bots}


def tell_end(narrator: Narrator, outcome: GameOutcome) -> None:
    """Tells the end of a game that was just played."""
    narrator.end(outcome.ranks, outcome.totals, outcome.forfeits)


def tell_record(record: GameRecord, narrator: Narrator) -> None:
    """Tells a recorded game from its beginning."""
    narrator.begin()
    for event in replay(record):
        narrator.tell([event])


def tell_trouble(trouble: Trouble) -> None:
    """Tells what went wrong with a bot."""
    complain(trouble.told())


def tell_invitation(invitation: Invitation) -> None:
    """Tells where a bot that is started by hand connects."""
    say(f"Waiting for the bot at seat {invitation.seat}. Start it in another terminal with these in its environment:")
    say(f"  RUMMYARENA_ADDRESS={invitation.address} RUMMYARENA_TOKEN={invitation.token}")
    say(f"or pass them on its command line: --address {invitation.address} --token {invitation.token}")
