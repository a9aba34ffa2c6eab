"""The command that says what a tournament file will play."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from rummyarena_server.app.planning import Plan, planned
from rummyarena_server.cli.output import all_games, json_text, plain_table, say, show_table, shown_name
from rummyarena_server.cli.places import AsJson
from rummyarena_server.config import load
from rummyarena_server.hosting import visible
from rummyarena_server.tournament.balance import Balance, Spread


def plan(file: Path, /, *, as_json: AsJson = False) -> int:
    """Says what a tournament file will play, how evenly and on which deals, without starting anything.

    Example: rummyarena tournament plan friday.toml

    Parameters
    ----------
    file
        The tournament file (TOML), see docs/tournament-files.md.
    """
    found = planned(load(file).settings)
    if as_json:
        say(json_text(_for_programs(found)))
    else:
        _show(found)
    return 0


def _show(found: Plan) -> None:
    settings = found.settings
    bots = f"{len(settings.bots)} bots"
    if challengers := [visible(bot.name) for bot in settings.bots if bot.challenger]:
        bots += f", against all others: {', '.join(challengers)}"
    say(f"{visible(settings.name)}: {settings.format}, {visible(found.variant)}, {bots}")
    say(_length(found))
    say(f"The games of a deal group {_deals(found)}: {found.why}.")
    say("")
    _show_first_games(found)
    if found.balance is not None:
        say("")
        _show_balance(found, found.balance)


def _length(found: Plan) -> str:
    seats, tables = found.settings.seats, found.tables_a_round
    if found.games is None:
        return f"{all_games(None)}, in waves of {tables * seats}: {tables} deal groups of {seats} games"
    rounds = "" if found.rounds is None else f" in {found.rounds} rounds of {tables} tables"
    return f"{all_games(found.games)}{rounds}: {found.games // seats} deal groups of {seats} games"


def _deals(found: Plan) -> str:
    return "are played on the same deals" if found.settings.shares_deals else "have deals of their own"


def _show_first_games(found: Plan) -> None:
    table = plain_table(
        "game", "group", "bots in the order of the seats", text_columns=("bots in the order of the seats",)
    )
    for game in found.first:
        table.add_row(str(game.index), str(game.group), shown_name(", ".join(game.bots)))
    show_table(table)
    if found.balance is None:
        say("Later rounds follow from the results.")


def _show_balance(found: Plan, balance: Balance) -> None:
    say(f"How even {'all' if balance.games == found.games else 'the first'} {balance.games} games are:")
    has_neighbours = found.settings.seats > 2
    table = plain_table("", "meetings", *(["follow each other"] if has_neighbours else []), text_columns=("",))
    for one in found.evenness:
        table.add_row(one.who, between(one.meetings), *([between(one.neighbours)] if has_neighbours else []))
    show_table(table)
    say(evenly_seated(balance.seat_difference))


def evenly_seated(difference: int) -> str:
    """Says how even the seats are, from `Balance.seat_difference`."""
    if difference == 0:
        return "Everybody sits in every seat equally often."
    return f"Nobody sits in one seat more than {difference} games oftener than in another."


def between(spread: Spread) -> str:
    """Returns a spread in words."""
    return str(spread.least) if spread.least == spread.most else f"{spread.least} to {spread.most}"


def _for_programs(found: Plan) -> dict[str, object]:
    settings = found.settings
    return {
        "name": settings.name,
        "format": settings.format,
        "variant": found.variant,
        "seats": settings.seats,
        "bots": [{"name": bot.name, "challenger": bot.challenger} for bot in settings.bots],
        "games": found.games,
        "rounds": found.rounds,
        "tables_a_round": found.tables_a_round or None,
        "deals": "shared" if settings.shares_deals else "own",
        "why": found.why,
        "first_games": [asdict(game) for game in found.first],
        "balance": None if found.balance is None else asdict(found.balance),
        "evenness": [
            {"who": one.who, "meetings": one.meetings._asdict(), "neighbours": one.neighbours._asdict()}
            for one in found.evenness
        ],
    }
