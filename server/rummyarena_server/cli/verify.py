"""The command that verifies what was played, and tells what could not be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import trio

from rummyarena_server.app import archiving, verifying
from rummyarena_server.app.verifying import Verified
from rummyarena_server.cli.output import UsageError, complain, json_text, plain_table, say, show_table
from rummyarena_server.cli.places import DATABASE, AsJson, Database, named
from rummyarena_server.hosting import visible
from rummyarena_server.tournament.pins import is_file
from rummyarena_server.tournament.verification import Finding

MOST_LISTED: Final = 100
"""Findings that are told one by one; there are counts of all."""

_GAME_ID: Final = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+", re.ASCII)
_WORDS: Final = {True: "right", False: "WRONG", None: "not checked"}


def verify(target: str, /, *, as_json: AsJson = False, db: Database = DATABASE) -> int:
    """Verifies what was played: shuffles, moves, results and seeds of games, and the tables of a tournament.

    Exits with 0 if all that could be checked is right, 1 if anything is wrong, 2 if nothing could be checked.

    Example: rummyarena verify friday.txt

    Parameters
    ----------
    target
        The id of a game, a file of games, or the name of a tournament; see docs/verification.md.
    """
    database = named(db)
    listing = _Listing()
    try:
        verified = _verified(target, db, listing)
    except archiving.GameFileError as error:
        complain(f"rummyarena: {error}")
        return 1
    if verified is None:
        raise UsageError(
            f"there is no file {visible(target)}, and {database} has no tournament of that name nor a game of that id "
            "that is over"
        )
    if not verified.is_checked:
        raise UsageError(f"{visible(target)}: {_nothing(verified)}")
    if as_json:
        say(json_text(_as_json(verified, listing)))
    else:
        _tell(verified, listing)
    return 0 if verified.is_right else 1


def _verified(target: str, database: str, listing: _Listing) -> Verified | None:
    path = Path(target)
    if _GAME_ID.fullmatch(target):
        return trio.run(verifying.verify_game, database, target, listing.note)
    if is_file(path):
        return verifying.verify_file(path, listing.note)
    return trio.run(verifying.verify_tournament, database, target, listing.note)


class _Listing:
    """What is told one by one: everything that is wrong, and of the last game everything."""

    def __init__(self) -> None:
        self.wrong: list[tuple[str, Finding]] = []
        self.last: tuple[str, Sequence[Finding]] = ("", ())

    def note(self, game_id: str, findings: Sequence[Finding]) -> None:
        self.last = game_id, findings
        if len(self.wrong) < MOST_LISTED:
            self.wrong += [(game_id, one) for one in findings if one.right is False]


# --- for people ------------------------------------------------------------------------------------------------------


def _tell(verified: Verified, listing: _Listing) -> None:
    if verified.games == 1 and not verified.tables:
        _tell_findings(f"game {visible(listing.last[0])}", listing.last[1])
    else:
        for game_id, one in listing.wrong:
            say(f"game {visible(game_id)}: {one.check} is WRONG: {visible(one.found)}")
        _tell_counts(verified)
        if verified.tables:
            _tell_findings("the tournament", verified.tables)
    if verified.held_back and verified.games != verified.held_back:
        say(f"Not checked: {_games(verified.held_back)}, for other games are still to be played on their deals.")
    say(_conclusion(verified))


def _tell_findings(what: str, findings: Sequence[Finding]) -> None:
    say(f"{what}:")
    for one in findings:
        say(f"  {one.check:<10} {_WORDS[one.right]:<11}  {visible(one.found)}")


def _tell_counts(verified: Verified) -> None:
    table = plain_table("check", "right", "wrong", "not checked", text_columns=("check",))
    for check in dict.fromkeys([*verified.right, *verified.wrong, *verified.unchecked]):
        counts = (verified.right[check], verified.wrong[check], verified.unchecked[check])
        table.add_row(check, *map(str, counts))
    show_table(table)
    for (check, why), games in verified.whys.most_common(MOST_LISTED):
        say(f"{check}: not checked in {_games(games)}: {visible(why)}")


def _conclusion(verified: Verified) -> str:
    if verified.is_right:
        return f"All that could be checked is right in {_games(verified.games)}."
    tables = [one.check for one in verified.tables if one.right is False]
    games = [f"{verified.wrong_games} of {_games(verified.games)}"] if verified.wrong_games else []
    return f"WRONG: {', '.join([*games, *tables])}."


def _nothing(verified: Verified) -> str:
    """Says why there is nothing to verify."""
    if verified.held_back:
        held_back = _games(verified.held_back)
        return (
            f"nothing can be verified yet: {held_back} held back, for others are still to be played on the same deals"
        )
    if verified.whys:
        return f"nothing can be verified: {'; '.join(why for _, why in verified.whys)}"
    return "there are no games in it"


def _games(number: int) -> str:
    return f"{number} game{'' if number == 1 else 's'}"


# --- for programs ----------------------------------------------------------------------------------------------------


def _as_json(verified: Verified, listing: _Listing) -> dict[str, Any]:
    checks = dict.fromkeys([*verified.right, *verified.wrong, *verified.unchecked])
    document: dict[str, Any] = {
        "right": verified.is_right,
        "games": verified.games,
        "wrong_games": verified.wrong_games,
        "held_back": verified.held_back,
        "checks": {
            one: {"right": verified.right[one], "wrong": verified.wrong[one], "unchecked": verified.unchecked[one]}
            for one in checks
        },
        "unchecked": [{"check": check, "why": why, "games": games} for (check, why), games in verified.whys.items()],
        "wrong": [{"game": game_id, **_finding(one)} for game_id, one in listing.wrong],
        "tables": [_finding(one) for one in verified.tables],
    }
    if verified.games == 1:
        document["findings"] = [_finding(one) for one in listing.last[1]]
    return document


def _finding(one: Finding) -> dict[str, object]:
    return {"check": one.check, "right": one.right, "found": one.found}
