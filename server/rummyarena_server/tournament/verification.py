"""Whether what is written of a game is true: each check, what it found, or why it could not be made.

All that is random follows from the seed, so carrying out the recorded moves again makes every shuffle, cut and
reshuffle anew; a card that is not where the seed put it makes a move illegal or the result another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from rummyarena_rules.events import DealEnded, DealStarted, Event, Seat, ShoeCut, StockReshuffled
from rummyarena_rules.moves import Move
from rummyarena_rules.notation import canonical, move_text
from rummyarena_rules.ruleset import Result
from rummyarena_server.referee.clock import TimeControl
from rummyarena_server.referee.outcome import ranks_with_forfeits
from rummyarena_server.referee.players import FAULTS, Turn
from rummyarena_server.referee.record import (
    Forfeit,
    GameRecord,
    Origin,
    RecordedMove,
    RecordError,
    Replay,
    UnknownRulesError,
    WrittenGame,
    WrittenResult,
    record_of,
    setup_of,
)
from rummyarena_server.tournament.seeds import game_seed

_WHOLE: Final = "the file is as it was written"
_NOT_WHOLE: Final = "the file was changed after it was written"
_MOST_NAMED: Final = 3  # contradictions of one kind in one game; the rest follows from the first, mostly


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check came to; `right` is `None` where it could not be made, and `found` says why."""

    check: str
    right: bool | None
    found: str


def check_game(game: WrittenGame) -> Iterator[Finding]:
    """Yields what can be found out about a game from what is written of it, a finding for each check."""
    yield _check_whole(game)
    yield _check_digest(game)
    yield _check_seed(game)
    try:
        yield from _check_unkept(game) if game.play is None else _check_play(game)
    except UnknownRulesError as error:
        yield from _unchecked(str(error), "moves", "verdicts", "result")
    except RecordError as error:
        yield Finding("moves", False, str(error))
        yield from _unchecked("the moves do not fit the rules", "verdicts", "result")
    yield _check_times(game)


def _check_play(game: WrittenGame) -> Iterator[Finding]:
    """Yields what the moves show; `RecordError`, before the first finding, if they cannot be a game of the rules."""
    record = record_of(game)
    course = _follow(record)
    yield Finding("moves", True, course.told())
    yield _finding("verdicts", _wrong_verdicts(record, course), "each is what the moves, faults and times have it")
    yield _check_result(game, record, course)


def _check_unkept(game: WrittenGame) -> Iterator[Finding]:
    """Yields what shows without moves; `RecordError`, before the first finding, if the rules have no such game."""
    with suppress(UnknownRulesError):  # the rest can be told without the rules
        setup_of(game)
    if game.result is not None and game.result.status == "unplayed":
        yield from _unchecked("it was decided before it began", "moves", "verdicts")
        yield _finding("result", _wrong_unplayed(game.result), "as the forfeits have it")
    else:
        yield from _unchecked("its moves were not kept", "moves", "verdicts", "result")


def _unchecked(why: str, *checks: str) -> Iterator[Finding]:
    return (Finding(check, None, why) for check in checks)


def _finding(check: str, wrong: Iterable[str], right: str) -> Finding:
    named = list(wrong)
    more = f"; and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    return Finding(check, not named, "; ".join(named[:_MOST_NAMED]) + more if named else right)


def _check_whole(game: WrittenGame) -> Finding:
    if game.is_whole is None:
        return Finding("checksum", None, "there is none")
    return Finding("checksum", game.is_whole, _WHOLE if game.is_whole else _NOT_WHOLE)


# --- the seed --------------------------------------------------------------------------------------------------------


def _check_digest(game: WrittenGame) -> Finding:
    if game.digest is None:
        return Finding("digest", None, "the record does not say it")
    digest = sha256(game.seed).digest()
    if digest != game.digest:
        return Finding("digest", False, f"that of the seed is {digest.hex()}, not {game.digest.hex()}")
    return Finding("digest", True, f"SHA-256 of the seed is {digest.hex()}")


def _check_seed(game: WrittenGame) -> Finding:
    origin = game.origin
    if origin is None:
        return Finding("seed", None, "the record names no tournament from whose secret it could follow")
    if not origin.fits(len(game.bots)):
        return Finding("seed", False, f"{_place(origin)} is not what game {origin.index} plays")
    if origin.secret is None:
        return Finding("seed", None, "the tournament's secret is not revealed")
    if origin.secret_digest != sha256(origin.secret).digest():
        return Finding("seed", False, f"the secret {origin.secret.hex()} is not the one whose digest is said")
    if origin.shares_deals:
        seed = game_seed(origin.secret, origin.group)
    else:
        seed = game_seed(origin.secret, origin.group, origin.rotation, origin.attempt)
    if seed != game.seed:
        why = f"from the secret and {_place(origin)} follows {seed.hex()}, not {game.seed.hex()}"
        return Finding("seed", False, why)
    return Finding("seed", True, f"it follows from the secret and {_place(origin)}")


def _place(origin: Origin) -> str:
    return f"group {origin.group}, rotation {origin.rotation}, attempt {origin.attempt}"


# --- the moves -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Step:
    """Moves that were carried out at once: the number of the first, when, and what the fallbacks would have been."""

    first: int
    moves: tuple[RecordedMove, ...]
    turn: Turn
    fallbacks: tuple[Move | None, ...]


@dataclass(slots=True)
class _Course:
    """How a recorded game went, as carrying it out again shows.

    `deals`: for each that ended, how many moves had been carried out and the totals then. `owing`: the seats that owed
    an answer when it ended.
    """

    steps: list[_Step] = field(default_factory=list)
    deals: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    shuffles: int = 0
    cuts: int = 0
    reshuffles: int = 0
    result: Result | None = None
    totals: tuple[int, ...] = ()
    owing: tuple[Seat, ...] = ()

    def note(self, event: Event, moves: int) -> None:
        """Notes an event that followed so many moves."""
        self.shuffles += isinstance(event, DealStarted)
        self.cuts += isinstance(event, ShoeCut)
        self.reshuffles += isinstance(event, StockReshuffled)
        if isinstance(event, DealEnded):
            self.deals.append((moves, event.totals))

    def told(self) -> str:
        """Returns what was made again, for people."""
        moves = sum(len(one.moves) for one in self.steps)
        made = [f"{self.shuffles} shuffles", f"{self.cuts} cuts", f"{self.reshuffles} reshuffles"]
        return f"all {moves} are legal; from the seed follow {', '.join(made)}"


def _follow(record: GameRecord) -> _Course:
    """Carries out a record; `RecordError` names the first move that does not fit."""
    course, game, ruleset = _Course(), Replay(record), record.setup.ruleset
    while not game.is_at_end:
        moves = game.due()
        if moves:
            public = game.state.public
            fallbacks = tuple(
                None if one.verdict == "played" else ruleset.fallback(ruleset.view(game.state, one.seat))
                for one in moves
            )
            course.steps.append(_Step(game.moves, moves, (public.deal, public.turn_number), fallbacks))
        for event in game.advance():
            course.note(event, game.moves)
    game.finish()
    course.result = ruleset.result(game.state)
    course.totals = tuple(game.state.public.totals)
    course.owing = tuple(ruleset.decisions(game.state))
    _check_end(record, course)
    return course


def _check_end(record: GameRecord, course: _Course) -> None:
    """Raises `RecordError` unless the game ended where the rules or its forfeits end it, and not later."""
    seats, moves = record.setup.seats, len(record.moves)
    decided = [one.moves for one in record.forfeits][seats - 2 :]  # by the last forfeit but one at the latest
    if decided and decided[0] < moves:
        raise RecordError(f"move {decided[0]}: the game was over by forfeits, but goes on")
    if not decided and course.result is None:
        raise RecordError(f"the record ends after {moves} moves, but the game is not over")


# --- the verdicts ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Account:
    """What stands against a seat so far.

    `bank`: the least and the most that can be left in it. `is_gone`: it is forfeited for something else than faults.
    """

    bank: tuple[int, int]
    forfeited_at: int | None
    is_gone: bool
    faults: int = 0
    third_fault_at: int | None = None
    fault_in: Turn | None = None


def _wrong_verdicts(record: GameRecord, course: _Course) -> Iterator[str]:
    control = record.setup.time_control
    bank = control.bank if control else 0
    forfeits = {one.seat: one for one in record.forfeits}
    accounts = [_account(bank, forfeits.get(seat)) for seat in range(record.setup.seats)]
    for step in course.steps:
        for number, (one, fallback) in enumerate(zip(step.moves, step.fallbacks, strict=True), step.first):
            wrong = [
                *_wrong_fallback(record, one, fallback),
                *_wrong_verdict(accounts[one.seat], one, step),
                *_wrong_time(accounts[one.seat], one, record.thinking[number], control),
            ]
            yield from (f"move {number}: seat {one.seat} {why}" for why in wrong)
    yield from _wrong_forfeits(record, course, accounts)


def _account(bank: int, forfeit: Forfeit | None) -> _Account:
    is_gone = forfeit is not None and forfeit.reason != "faults"
    return _Account((bank, bank), forfeit.moves if forfeit else None, is_gone)


def _wrong_fallback(record: GameRecord, one: RecordedMove, fallback: Move | None) -> Iterator[str]:
    if one.verdict == "played":
        return
    game = record.setup.ruleset.name
    played, due = (None if move is None else canonical(game, move) for move in (one.move, fallback))
    if played != due:
        yield f"is {one.verdict}, so that the fallback is due: {'-' if due is None else move_text(due)}"


def _wrong_verdict(account: _Account, one: RecordedMove, step: _Step) -> Iterator[str]:
    at = account.forfeited_at
    if one.verdict == "forfeited":
        # A bot that is gone while a move of its is refused has its forfeit noted behind the fallback for that move.
        if at is None or at > step.first + (len(step.moves) if account.is_gone else 0):
            yield "is not forfeited yet"
        return
    is_alone = len(step.moves) == 1 and one.verdict in ("played", "rest")  # in a window it may be gone after its answer
    if at is not None and (at < step.first or (at == step.first and is_alone)):
        yield f"was forfeited before, so that this cannot be {one.verdict}"
    has_fault = account.fault_in == step.turn
    if (one.verdict == "rest") != has_fault:
        yield f"has {'a' if has_fault else 'no'} fault in this turn before, so that this cannot be {one.verdict}"
    if one.verdict in ("late", "refused"):
        account.faults += 1
        account.fault_in = step.turn
        if account.faults == FAULTS:
            account.third_fault_at = step.first


def _wrong_time(account: _Account, one: RecordedMove, spent: int, control: TimeControl | None) -> Iterator[str]:
    """Checks the time of a move against the clock and books it; without a clock nobody is late."""
    if one.verdict == "rest" and spent:
        yield f"was not asked, but took {spent} microseconds"
    if control is None:
        if one.verdict == "late":
            yield "cannot be late, for there was no clock"
        return
    least, most = (control.decision + bank for bank in account.bank)
    if one.verdict == "late" and spent <= least:
        yield f"was in time: it took {spent} of {least} microseconds"
    if one.verdict in ("played", "refused") and spent > most:
        yield f"was late: it took {spent} of {most} microseconds"
    if one.verdict != "rest":
        # A move that took no time may be a further one of an answer, after which nothing is added to the bank.
        bonus = (control.increment if spent else 0, control.increment)
        beyond = max(0, spent - control.decision)
        low, high = (max(0, bank - beyond) + more for bank, more in zip(account.bank, bonus, strict=True))
        account.bank = low, high


def _wrong_forfeits(record: GameRecord, course: _Course, accounts: Sequence[_Account]) -> Iterator[str]:
    starts = {step.first for step in course.steps} | {len(record.moves)}
    seats = [one.seat for one in record.forfeits]
    for seat in sorted({seat for seat in seats if seats.count(seat) > 1}):
        yield f"seat {seat} is forfeited more than once"
    if sorted(one.moves for one in record.forfeits) != [one.moves for one in record.forfeits]:
        yield "the forfeits do not stand in the order in which they came"
    for one in record.forfeits:
        if one.moves not in starts or (one.moves == len(record.moves) and course.result is not None):
            yield f"seat {one.seat} cannot be forfeited after {one.moves} moves"
        if one.reason == "faults" and not _is_third_fault(one, record, course, accounts[one.seat]):
            yield f"seat {one.seat} is forfeited for faults, but its third is not there"
    for seat, account in enumerate(accounts):
        if account.third_fault_at is not None and account.forfeited_at is None:
            yield f"seat {seat} has {account.faults} faults, but is not forfeited"


def _is_third_fault(one: Forfeit, record: GameRecord, course: _Course, account: _Account) -> bool:
    if one.moves == len(record.moves):  # it ended the game: the fallback was not played any more
        return account.faults == FAULTS - 1 and one.seat in course.owing
    return account.third_fault_at == one.moves


# --- the result ------------------------------------------------------------------------------------------------------


def _check_result(game: WrittenGame, record: GameRecord, course: _Course) -> Finding:
    if game.result is None:
        return Finding("result", None, "the record does not say it")
    return _finding("result", _wrong_result(game.result, record, course), "places, totals and points are as played")


def _wrong_result(said: WrittenResult, record: GameRecord, course: _Course) -> Iterator[str]:
    seats = record.setup.seats
    forfeits = {one.seat: one for one in record.forfeits}
    counted = [totals for moves, totals in course.deals if all(one.moves >= moves for one in record.forfeits)]
    yield from _unlike("status", said.status, "finished")
    yield from _unlike("reason", said.reason, "forfeits" if forfeits else "")
    yield from _unlike("rated", said.rated, len(forfeits) < seats)
    yield from _unlike("deals", said.deals, len(course.deals))
    yield from _unlike("counted_deals", said.counted_deals, len(counted))
    ranks = ranks_with_forfeits(seats, forfeits.keys(), course.result)
    points = counted[-1] if counted else (0,) * seats
    for seat, one in enumerate(said.seats):
        yield from _unlike(f"seat {seat}, rank", one.rank, ranks[seat])
        yield from _unlike(f"seat {seat}, total", one.total, course.totals[seat])
        yield from _unlike(f"seat {seat}, points", one.points, points[seat])
        forfeit = forfeits.get(seat)
        if one.forfeit != (forfeit.reason if forfeit else None) and not _was_withdrawn(one.forfeit, forfeit):
            yield from _unlike(f"seat {seat}, forfeit", one.forfeit, forfeit.reason if forfeit else None)
        yield from _wrong_faults(seat, one.faults, record, course)


def _was_withdrawn(said: str | None, forfeit: Forfeit | None) -> bool:
    """Tells whether a bot that was withdrawn before the game is said to be so, and left its seat at once."""
    return said == "withdrawn" and forfeit is not None and (forfeit.reason, forfeit.moves) == ("exited", 0)


def _wrong_faults(seat: Seat, said: int, record: GameRecord, course: _Course) -> Iterator[str]:
    played = sum(one.seat == seat and one.verdict in ("late", "refused") for one in record.moves)
    is_by_forfeits = course.result is None
    # What is answered while forfeits end the game is not carried out any more, but a fault is one all the same.
    if said != played and not (is_by_forfeits and seat in course.owing and said == played + 1):
        yield from _unlike(f"seat {seat}, faults", said, played)


def _wrong_unplayed(said: WrittenResult) -> Iterator[str]:
    withdrawn = {seat for seat, one in enumerate(said.seats) if one.forfeit is not None}
    seats = len(said.seats)
    if len(withdrawn) < seats - 1:
        yield f"{seats - len(withdrawn)} bots were there to play it"
    yield from _unlike("reason", said.reason, "withdrawn")
    yield from _unlike("rated", said.rated, len(withdrawn) < seats)
    yield from _unlike("deals", said.deals, 0)
    for seat, (one, rank) in enumerate(zip(said.seats, ranks_with_forfeits(seats, withdrawn, None), strict=True)):
        yield from _unlike(f"seat {seat}, rank", one.rank, rank)
        yield from _unlike(f"seat {seat}, forfeit", one.forfeit, "withdrawn" if seat in withdrawn else None)
        for name, value in (("total", one.total), ("points", one.points), ("faults", one.faults)):
            yield from _unlike(f"seat {seat}, {name}", value, 0)


def _unlike(name: str, said: object, expected: object) -> Iterator[str]:
    if said != expected:
        yield f"{name}: said is {_word(said)}, it is {_word(expected)}"


def _word(value: object) -> str:
    return "nothing" if value in (None, "") else str(value)


# --- times -----------------------------------------------------------------------------------------------------------


def _check_times(game: WrittenGame) -> Finding:
    if game.started_at is None and game.finished_at is None and game.play is None:
        return Finding("times", None, "it was not played")
    return _finding("times", _wrong_times(game), "thinking adds up, and the end follows the beginning")


def _wrong_times(game: WrittenGame) -> Iterator[str]:
    if game.started_at is not None and game.finished_at is not None and game.finished_at < game.started_at:
        yield f"it ended at {game.finished_at}, before it began at {game.started_at}"
    if game.play is None or game.result is None or len(game.play.thinking) != len(game.play.moves):
        return
    spent = [0] * len(game.bots)
    for move, microseconds in zip(game.play.moves, game.play.thinking, strict=True):
        spent[move.seat] += microseconds
    for seat, (one, total) in enumerate(zip(game.result.seats, spent, strict=True)):
        yield from _unlike(f"seat {seat}, thinking", one.thinking, total)
