"""The command that shows all that is known of the bots of a tournament, their seats and their luck."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from difflib import get_close_matches
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, Final, get_args

import trio
from cyclopts import Parameter
from rich.table import Table

from rummyarena_server.app import reading
from rummyarena_server.cli.output import (
    UsageError,
    figures_table,
    json_text,
    plain_table,
    say,
    show_table,
    shown_name,
    with_bar,
)
from rummyarena_server.cli.places import DATABASE, AsJson, Database, named
from rummyarena_server.cli.plan import between, evenly_seated
from rummyarena_server.cli.tournaments import described, no_tournament
from rummyarena_server.hosting import visible
from rummyarena_server.store.results import SeatForfeit

if TYPE_CHECKING:
    from rummyarena_server.tournament.balance import Balance
    from rummyarena_server.tournament.bars import Estimate
    from rummyarena_server.tournament.figures import Meeting, Statistics

MOST_COMPARED: Final = 16
"""Bots compared with each other at once: as many columns as a terminal has room for."""

_REASONS: Final[tuple[SeatForfeit, ...]] = get_args(SeatForfeit)


def statistics(
    name: str,
    /,
    *,
    bot: Annotated[
        tuple[str, ...],
        Parameter(help="Compares this bot with others so named, or if it is the only one with all.", negative=""),
    ] = (),
    as_json: AsJson = False,
    db: Database = DATABASE,
) -> int:
    """Shows what the complete deal groups of a tournament say of its bots, its seats and its luck, with error bars.

    Example: rummyarena tournament statistics "demo of thai"

    Parameters
    ----------
    name
        The name of the tournament.
    """
    database = named(db)
    found = trio.run(reading.read_statistics, db, name)
    if found is None:
        raise no_tournament(name, database)
    compared = _named_bots([one.name for one in found.summary.bots], bot)
    if as_json:
        say(json_text(_all(found)))
        return 0
    say(described(found.summary))
    say(_counted(found))
    if found.statistics is not None:
        say(_balance(found.statistics.balance, found.summary.seats))
    for meaning, table in tables(found, compared):
        say(f"\n{meaning}")
        show_table(table)
    say("")
    if found.statistics is not None and not compared and len(found.summary.bots) > MOST_COMPARED:
        say(
            f"Only the {MOST_COMPARED} strongest are compared with each other here; compare others with --bot NAME "
            "--bot NAME, one with all others with --bot NAME, and see all with --json."
        )
    say("What each column means is told in docs/statistics.md.")
    return 0


def tables(found: reading.InDetail, compared: Sequence[int] = ()) -> Iterator[tuple[str, Table]]:
    """Yields tables, each with what it means, of all that is known of a tournament.

    `compared`: the numbers of the bots to be compared with each other, the strongest ones if there are none.
    """
    names = [one.name for one in found.summary.bots]
    if found.statistics is not None:
        yield (
            "Strength in Elo about the mean of all, and points beyond the opponents', with 95 % bars:",
            figures_table(names, found.statistics.figures),
        )
        yield from _comparisons(names, found.statistics, compared)
        yield "Seat effect: what a seat is worth, whoever sits there; 50 % is fair:", _seat_table(found.statistics)
        yield (
            "Variance saved by exchanging the seats; at 75 % a game tells as much as four on their own:",
            _saved_table(found.statistics),
        )
    if found.forfeits:
        yield "Forfeited games by reason, of the bots that forfeited any:", _forfeit_table(names, found)


def _counted(found: reading.InDetail) -> str:
    if found.statistics is None:
        return "There is nothing to compare yet: no rated game is in a complete deal group."
    counted = f"Complete deal groups: {found.statistics.groups}; rated games in them: {found.statistics.games}"
    return f"{counted}." if found.summary.status == "finished" else f"{counted}. It is not over yet."


def _balance(balance: Balance, seats: int) -> str:
    """Says how even games are."""
    entrants = range(len(balance.meetings))
    sentence = f"Every two bots met in {between(balance.met(entrants))} of them"
    if seats > 2:
        sentence += f"; each sat next after each other in {between(balance.neighbours(entrants))}"
    return f"{sentence}. {evenly_seated(balance.seat_difference)}"


def _named_bots(names: Sequence[str], asked: Sequence[str]) -> list[int]:
    """Returns the numbers of the bots that were asked for, each once; `UsageError` for one that is not there."""
    for name in asked:
        if name not in names:
            near = get_close_matches(name, names, n=1)
            hint = f"did you mean {visible(near[0])}?" if near else "`rummyarena tournament show NAME` names its bots"
            raise UsageError(f"--bot {visible(name)}: no bot of the tournament is called that; {hint}")
    numbers = [names.index(name) for name in dict.fromkeys(asked)]
    if len(numbers) > MOST_COMPARED:
        raise UsageError(f"--bot: at most {MOST_COMPARED} bots are compared at once, not {len(numbers)}")
    return numbers


def _comparisons(names: Sequence[str], found: Statistics, compared: Sequence[int]) -> Iterator[tuple[str, Table]]:
    """Yields the tables of each bot against each other; a bot alone is compared with all."""
    ranking = sorted(range(len(names)), key=lambda one: -found.figures.strength[one].value)
    shown = [one for one in ranking if one in compared] or ranking[:MOST_COMPARED]
    if len(shown) > 1:
        yield (
            "Likelihood of superiority, in percent: how sure it is that the row's bot is stronger than the column's:",
            _superiority_table(names, found, shown),
        )
        pairs = list(combinations(shown, 2))
    else:
        pairs = [(shown[0], other) for other in ranking if other != shown[0]]
    yield (
        "Head to head: places better than, equal to and behind the opponent's, and the mean score of a deal group:",
        _meeting_table(names, found, _seen_so(found.meetings, pairs)),
    )


def _seen_so(meetings: Iterable[Meeting], pairs: Iterable[tuple[int, int]]) -> Iterator[Meeting]:
    """Yields the meeting of each bot and opponent, as the bot sees it; nothing where they never met."""
    met = {(one.bot, one.opponent): one for one in meetings}
    for bot, opponent in pairs:
        if (bot, opponent) in met:
            yield met[bot, opponent]
        elif (opponent, bot) in met:
            yield met[opponent, bot].turned_round()


def _superiority_table(names: Sequence[str], found: Statistics, shown: Sequence[int]) -> Table:
    table = plain_table("", "bot", *(str(place) for place in range(1, len(shown) + 1)))
    table.padding = (0, 1, 0, 0)  # half of what is usual, so that all columns and the names fit a terminal
    for place, one in enumerate(shown, 1):
        cells = (_whole_percent(found.figures.superiority[one][other]) if other != one else "-" for other in shown)
        table.add_row(str(place), shown_name(names[one]), *cells)
    return table


def _meeting_table(names: Sequence[str], found: Statistics, met: Iterable[Meeting]) -> Table:
    table = plain_table("bot", "opponent", "wins", "ties", "losses", "score", "stronger", "deal groups")
    for one in met:
        table.add_row(
            shown_name(names[one.bot]),
            shown_name(names[one.opponent]),
            *(str(number) for number in (one.wins, one.ties, one.losses)),
            _share(one.score),
            f"{found.figures.superiority[one.bot][one.opponent]:.1%}",
            str(one.score.groups),
        )
    return table


def _seat_table(found: Statistics) -> Table:
    table = plain_table("seat", "score", "points a deal", "deal groups")
    for seat, one in enumerate(found.seats):
        points = "-" if one.points is None else with_bar(one.points, "+z.1f")
        table.add_row(str(seat), _share(one.score), points, str(one.score.groups))
    return table


def _saved_table(found: Statistics) -> Table:
    table = plain_table("variance", "saved", text_columns=("variance",))
    for of, saved in (("of places", found.saved.places), ("of points", found.saved.points)):
        table.add_row(of, "- (too few deal groups)" if saved is None else f"{saved:.0%}")
    return table


def _forfeit_table(names: Sequence[str], found: reading.InDetail) -> Table:
    table = plain_table("bot", "forfeits", *_REASONS)
    for number, reasons in sorted(found.forfeits.items(), key=lambda one: (-sum(one[1].values()), one[0])):
        counts = (reasons.get(reason, 0) for reason in _REASONS)
        table.add_row(shown_name(names[number]), str(sum(reasons.values())), *map(str, counts))
    return table


def _share(one: Estimate) -> str:
    """Returns a share with the ends of its bar, which near 0 and 1 is longer to one side."""
    return f"{one.value:.1%} ({100 * one.low:.1f}-{100 * one.high:.1f})"


def _whole_percent(likelihood: float) -> str:
    """Returns a likelihood in whole percent, which never claims to be certain."""
    percent = round(100 * likelihood)
    return "<1" if percent < 1 else ">99" if percent > 99 else str(percent)


def _all(found: reading.InDetail) -> dict[str, Any]:
    """Returns all that is known, for JSON."""
    values = None if found.statistics is None else asdict(found.statistics)
    forfeits = [dict(found.forfeits.get(number, {})) for number in range(len(found.summary.bots))]
    return asdict(found.summary) | {"statistics": values, "forfeits": forfeits}
