"""Scenario files (notation.md 5): reading and running them.

What the rules do otherwise than a scenario expects is returned as sentences. A file that cannot be understood raises
`ReadingError`, which names the place in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rummyarena_rules.cards import STANDARD_DECK
from rummyarena_rules.events import DealEnd, DealEnded, DealStarted, Event, PenaltyCharged, Seat, ShoeCut
from rummyarena_rules.expectation import Played, differences, expectation_reader
from rummyarena_rules.moves import Move
from rummyarena_rules.notation import parse_move
from rummyarena_rules.position import PositionError, read_position
from rummyarena_rules.reading import (
    a_text,
    an_object,
    fail,
    list_of,
    one_of,
    optional,
    read_json,
    record_of,
    shown,
    whole,
)
from rummyarena_rules.registry import RULESETS
from rummyarena_rules.ruleset import NextDeal, Reason, Refusal, Ruleset
from rummyarena_rules.shoe import SEED_BYTES

_FORMAT: Final = 1
_SEED: Final = bytes(SEED_BYTES)  # a scenario holds for every shuffle


@dataclass(frozen=True, slots=True)
class ScenarioMove:
    """A move of a scenario as text, and the reason of its refusal, or `ok`."""

    seat: Seat
    text: str
    expect: str


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario; `place` tells where it stands in its file."""

    game: str
    place: str
    id: str
    title: str
    options: Mapping[str, object]
    seats: int
    position: Mapping[str, Any]
    moves: tuple[ScenarioMove, ...]
    expect: Mapping[str, Any]


# --- reading ---------------------------------------------------------------------------------------------------------


def read_scenarios(text: str) -> tuple[Scenario, ...]:
    """Returns the scenarios of a file's text; raises `ReadingError`."""
    raw = read_json(text)
    fields = {"format": one_of(_FORMAT), "game": one_of(*RULESETS), "scenarios": list_of(an_object)}
    file = record_of(fields, required=frozenset(fields))("file", raw)
    found = tuple(_read(file["game"], f"scenarios[{at}]", one) for at, one in enumerate(file["scenarios"]))
    seen: set[str] = set()
    for one in found:
        if one.id in seen:
            raise fail(f"{one.place}.id", one.id, "an id that no other scenario of the file has")
        seen.add(one.id)
    return found


def _read(game: str, place: str, raw: Mapping[str, Any]) -> Scenario:
    fields = {
        "id": a_text,
        "title": a_text,
        "note": a_text,
        "options": an_object,
        "seats": whole(1),
        "position": an_object,
        "moves": list_of(an_object),
        "expect": an_object,
    }
    required = frozenset({"id", "title", "seats", "position", "expect"})
    given = record_of(fields, required=required)(place, raw)
    seats = given["seats"]
    moves = given.get("moves", ())
    return Scenario(
        game,
        place,
        given["id"],
        given["title"],
        given.get("options", {}),
        seats,
        _checked_position(game, f"{place}.position", seats, given["position"]),
        tuple(_read_move(f"{place}.moves[{at}]", seats, one) for at, one in enumerate(moves)),
        expectation_reader(game, seats)(f"{place}.expect", given["expect"]),
    )


def _read_move(place: str, seats: int, raw: Mapping[str, Any]) -> ScenarioMove:
    fields = {"seat": whole(0, seats - 1), "move": a_text, "expect": one_of("ok", *map(str, Reason))}
    given = record_of(fields, required=frozenset(fields))(place, raw)
    return ScenarioMove(given["seat"], given["move"], given["expect"])


def _checked_position(game: str, place: str, seats: int, raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Checks the words of a position of any kind; whether it can be is seen when it is built."""
    if "fresh" in raw:
        return an_object(place, record_of({"fresh": record_of(_deal_fields(game, seats))})(place, raw))
    if "ledger" in raw:
        return an_object(place, record_of({"ledger": record_of(_ledger_fields(game, seats))})(place, raw))
    if seats in RULESETS[game].seats:
        read_position(game, seats, place, raw)
    return raw


def _deal_fields(game: str, seats: int) -> dict[str, Any]:
    fields = {"deal": whole(1, 7 if game == "liverpool" else None), "dealer": whole(0, seats - 1)}
    return fields | ({"direction": one_of(1, -1)} if game == "thai" else {})


def _ledger_fields(game: str, seats: int) -> dict[str, Any]:
    of_game: dict[str, Any] = {"exact_cut": one_of(True, False)}
    if game == "thai":
        of_game = {"foolish": one_of(True, False), "knocker": optional(whole(0, seats - 1))}
    deals = list_of(record_of({"scores": list_of(whole(), seats), **of_game}, required=frozenset({"scores"})))
    return _deal_fields(game, seats) | {"totals": list_of(whole(), seats), "deals": deals}


# --- running ---------------------------------------------------------------------------------------------------------


def run(scenario: Scenario) -> list[str]:
    """Returns what differed from the expectations, one sentence each; none if the scenario passes."""
    ruleset = RULESETS[scenario.game]
    options = ruleset.configure(scenario.options, scenario.seats)
    if isinstance(options, list):
        return _refused(scenario.expect.get("setup", "ok"), options)
    if "setup" in scenario.expect:
        return [f"setup: expected {scenario.expect['setup']}, got ok"]
    try:
        played = _set_up(ruleset, options, scenario)
    except PositionError as error:
        return [str(error)]
    return [*_play(played, scenario.moves), *differences(played, scenario.expect)]


def _refused(expected: str, refusals: Sequence[Refusal]) -> list[str]:
    if any(refusal.reason == expected for refusal in refusals):
        return []
    return [f"setup: expected {expected}, got {refusal.reason}: {refusal.message}" for refusal in refusals]


def _set_up(ruleset: Ruleset[Any], options: Any, scenario: Scenario) -> Played:
    raw = scenario.position
    if "fresh" not in raw and "ledger" not in raw:
        position = read_position(scenario.game, scenario.seats, "position", raw)
        return Played(ruleset, ruleset.state_of(position, options, scenario.seats))
    played = Played(ruleset, ruleset.start(options, scenario.seats, _SEED))
    given = raw.get("fresh", raw.get("ledger"))
    opening = ruleset.opening(
        played.state.public, given.get("deal", 1), given.get("dealer", 0), given.get("direction", 1)
    )
    if "fresh" in raw:
        played.apply(ruleset.deal(played.state, opening))
    else:
        played.state.public.totals = list(given.get("totals", played.state.public.totals))
        _keep_ledger(played, opening, given.get("deals", ()))
    return played


def _keep_ledger(played: Played, opening: NextDeal, deals: Sequence[Mapping[str, Any]]) -> None:
    """Plays the accounts of deals without cards (notation.md 5.3)."""
    following: NextDeal | None = opening
    for deal in deals:
        if following is None:
            raise PositionError("position.ledger.deals: the game is over before the last of them")
        played.openings.append(following)
        played.apply(_ledger_events(played, following, deal))
        played.ledger_totals.append(tuple(played.state.public.totals))
        following = played.ruleset.next_deal(played.state.public)


def _ledger_events(played: Played, opening: NextDeal, deal: Mapping[str, Any]) -> Iterator[Event]:
    public, knocker = played.state.public, deal.get("knocker")
    yield DealStarted(opening.deal, opening.dealer, opening.direction, opening.first, ())
    if deal.get("exact_cut"):
        yield ShoeCut((opening.dealer - 1) % public.seats, exact=True, position=0)
    if deal.get("foolish"):
        yield PenaltyCharged(opening.dealer, "foolish", STANDARD_DECK[0])
    totals, over = played.ruleset.settle(public, deal["scores"])
    end = _ledger_end(played.ruleset.name, knocker)
    yield DealEnded(end, knocker, None, False, ((),) * public.seats, deal["scores"], totals, over)


def _ledger_end(game: str, knocker: Seat | None) -> DealEnd:
    """Returns how a deal of a ledger ended; in liverpool scores do not tell, so it is the end that names no seat."""
    if game == "liverpool":
        return "blocked"
    return "exhausted" if knocker is None else "knock"


def _play(played: Played, moves: Sequence[ScenarioMove]) -> Iterator[str]:
    for at, one in enumerate(moves):
        outcome = _answer(played, one.seat, parse_move(played.ruleset.name, one.text))
        if outcome != one.expect:
            yield f"moves[{at}] {shown(one.text)}: expected {one.expect}, got {outcome}"


def _answer(played: Played, seat: Seat, move: Move | None) -> str:
    """Lets a seat play or answer; returns `ok` or the reason of the refusal."""
    if move is None:
        return Reason.MALFORMED
    ruleset, state = played.ruleset, played.state
    refusal = ruleset.check(ruleset.view(state, seat, answered=seat in played.answers), move)
    if refusal:
        return refusal.reason
    played.answers[seat] = move
    if played.answers.keys() == ruleset.decisions(state).keys():
        answers, played.answers = played.answers, {}
        played.apply(ruleset.resolve(state, answers))
    return "ok"
