"""Messages of the play stream: requests read to values, responses as fields of a frame to be joined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import DecodeError

from rummyarena.v1 import error_pb2, play_pb2, view_pb2
from rummyarena_rules.moves import Move
from rummyarena_rules.options import changed_options
from rummyarena_rules.ruleset import Candidates, Reason, Refusal
from rummyarena_server.wire.fields import repeated, tagged
from rummyarena_server.wire.moves import VERB_NUMBERS, encode_move, read_move
from rummyarena_server.wire.reasons import rejection

ForfeitWord: TypeAlias = Literal["faults", "exited", "gone", "misuse"]

ProtocolWord: TypeAlias = Literal["stale_decision", "too_many_probes"]
"""What the protocol refuses, whatever the rules say."""

MOST_CANDIDATES: Final = 256
MOST_MOVES: Final = 100
"""Of an answer, which is more than any turn has; the rest is dropped unread."""

MOST_PROBES: Final = 256
"""Moves of a decision that may be probed."""

LONGEST_TEXT: Final = 64


@dataclass(frozen=True, slots=True)
class Hello:
    """What a bot asks for; texts are cut down to 64 printable characters, numbers to what the contract says.

    `resumes`: the number of the last event that it was told, by the game that it still knows.
    """

    sdk_name: str
    sdk_version: str
    bot_version: str
    max_concurrent_games: int
    candidate_limit: int
    wants_view: bool
    wants_events: bool
    resumes: Mapping[str, int] = field(default_factory=dict)


# --- requests --------------------------------------------------------------------------------------------------------


def parse_request(frame: bytes) -> play_pb2.PlayRequest | None:
    """Returns the message of a bot, or `None` if these bytes are none."""
    try:
        return play_pb2.PlayRequest.FromString(frame)
    except DecodeError:
        return None


def read_hello(message: play_pb2.Hello) -> Hello:
    """Returns what a bot asks for."""
    return Hello(
        sdk_name=_printable(message.sdk_name),
        sdk_version=_printable(message.sdk_version),
        bot_version=_printable(message.bot_version),
        max_concurrent_games=max(1, message.max_concurrent_games),
        candidate_limit=min(message.candidate_limit, MOST_CANDIDATES),
        wants_view=message.wants != play_pb2.WANTS_EVENTS,
        wants_events=message.wants in (play_pb2.WANTS_EVENTS, play_pb2.WANTS_BOTH),
        resumes={one.game_id: one.last_sequence for one in message.resumes},
    )


def _printable(text: str) -> str:
    return "".join(one if one.isprintable() else "?" for one in text[:LONGEST_TEXT])


def read_answer(message: play_pb2.Answer) -> tuple[Move | Refusal, ...]:
    """Returns the moves of an answer, at least one, each a refusal where it is malformed; none follows a refusal."""
    if not message.moves:
        return (Refusal(Reason.MALFORMED, "the answer has no moves"),)
    moves: list[Move | Refusal] = []
    for one in message.moves[:MOST_MOVES]:
        moves.append(read_move(one))
        if isinstance(moves[-1], Refusal):
            break
    return tuple(moves)


def read_probe(message: play_pb2.Probe) -> tuple[Move | Refusal, ...]:
    """Returns the moves of a probe, each a refusal where it is malformed; one more than may be probed at most."""
    return tuple(map(read_move, message.moves[: MOST_PROBES + 1]))


# --- responses -------------------------------------------------------------------------------------------------------


def encode_welcome(
    session_id: str, server_version: str, max_concurrent_games: int, gone_game_ids: Iterable[str] = ()
) -> bytes:
    """Returns the greeting as a field of a frame; the number of games is what the bot is granted."""
    return play_pb2.PlayResponse(
        welcome=play_pb2.Welcome(
            session_id=session_id,
            server_version=server_version,
            max_concurrent_games=max_concurrent_games,
            gone_game_ids=gone_game_ids,
        )
    ).SerializeToString()


def encode_going_away(message: str) -> bytes:
    """Returns the announcement that no more games start as a field of a frame."""
    return play_pb2.PlayResponse(going_away=play_pb2.GoingAway(message=message)).SerializeToString()


def encode_rejection(game_id: str, decision_id: str, index: int, refusal: Refusal, attempts_left: int) -> bytes:
    """Returns the refusal of the answer's move `index` (from 0) as a field of a frame."""
    return _rejected(game_id, decision_id, index, rejection(refusal), attempts_left)


def encode_stale_rejection(game_id: str, decision_id: str) -> bytes:
    """Returns the refusal of an answer to a decision that is closed or unknown as a field of a frame."""
    return _rejected(game_id, decision_id, 0, _PROTOCOL_REJECTIONS["stale_decision"], 0)


def encode_probe_result(
    game_id: str, decision_id: str, judgements: Iterable[Refusal | None], rest: ProtocolWord | None = None
) -> bytes:
    """Returns what was asked by a probe as a field of a frame; `rest`: why the moves that follow are not judged."""
    results = [play_pb2.Judgement(rejection=None if one is None else rejection(one)) for one in judgements]
    if rest is not None:
        results.append(play_pb2.Judgement(rejection=_PROTOCOL_REJECTIONS[rest]))
    one = play_pb2.ProbeResult(game_id=game_id, decision_id=decision_id, judgements=results)
    return play_pb2.PlayResponse(probe_results=[one]).SerializeToString()


_PROTOCOL_REJECTIONS: Final[dict[ProtocolWord, error_pb2.Rejection]] = {
    "stale_decision": error_pb2.Rejection(
        reason=error_pb2.ERROR_REASON_STALE_DECISION, message="this decision is closed, or was never asked of this seat"
    ),
    "too_many_probes": error_pb2.Rejection(
        reason=error_pb2.ERROR_REASON_TOO_MANY_PROBES,
        message=f"{MOST_PROBES} moves of this decision were probed, and no more may be: answer it",
    ),
}


def _rejected(game_id: str, decision_id: str, index: int, why: error_pb2.Rejection, attempts_left: int) -> bytes:
    one = play_pb2.MoveRejected(
        game_id=game_id, decision_id=decision_id, index=index, rejection=why, attempts_left=attempts_left
    )
    return play_pb2.PlayResponse(rejections=[one]).SerializeToString()


def encode_update(
    game_id: str,
    *,
    setup: bytes | None = None,
    events: Iterable[bytes] = (),
    view: bytes | None = None,
    decision: bytes | None = None,
    over: bytes | None = None,
) -> bytes:
    """Returns news of one game as a field of a frame, joined from serialised messages."""
    parts = [
        play_pb2.GameUpdate(game_id=game_id).SerializeToString(),
        repeated(play_pb2.GameUpdate.EVENTS_FIELD_NUMBER, events),
    ]
    for number, part in (
        (play_pb2.GameUpdate.VIEW_FIELD_NUMBER, view),
        (play_pb2.GameUpdate.DECISION_FIELD_NUMBER, decision),
        (play_pb2.GameUpdate.OVER_FIELD_NUMBER, over),
        (play_pb2.GameUpdate.SETUP_FIELD_NUMBER, setup),
    ):
        if part is not None:
            parts.append(tagged(number, part))
    return tagged(play_pb2.PlayResponse.UPDATES_FIELD_NUMBER, b"".join(parts))


def encode_decision(
    decision_id: str,
    verbs: Iterable[str],
    candidates: Candidates,
    random_seed: int,
    *,
    time_left: int | None = None,
    bank: int | None = None,
) -> bytes:
    """Returns a serialised `Decision`; times in microseconds, from 0, `None` without a clock."""
    head = view_pb2.Decision(
        decision_id=decision_id,
        verbs=[VERB_NUMBERS[verb] for verb in verbs],
        complete=candidates.complete,
        random_seed=random_seed,
        time_left=_duration(time_left),
        bank=_duration(bank),
    )
    return head.SerializeToString() + b"".join(map(_candidate_field, candidates.moves))


@lru_cache(1 << 14)
def _candidate_field(move: Move) -> bytes:
    """Returns a candidate with its tag; kept, for the same moves are offered again and again."""
    return tagged(view_pb2.Decision.CANDIDATES_FIELD_NUMBER, encode_move(move))


def encode_game_setup(
    *,
    ruleset: str,
    rules_version: int,
    options: Any,
    seats: int,
    seat: int,
    bot_names: Sequence[str],
    seed_digest: bytes,
    time_control: tuple[int, int, int] | None,
) -> bytes:
    """Returns a serialised `GameSetup`; `time_control`: decision, bank, increment in microseconds, `None`: no clock.

    `options`: as the ruleset's `configure` returned them. `bot_names`: empty if they are withheld.
    """
    return play_pb2.GameSetup(
        ruleset=ruleset,
        rules_version=rules_version,
        options=[_option(name, value) for name, value in changed_options(options).items()],
        seats=seats,
        seat=seat,
        bot_names=bot_names,
        seed_digest=seed_digest,
        time_control=None if time_control is None else _time_control(*time_control),
    ).SerializeToString()


def encode_game_over(
    *,
    ranks: Sequence[int],
    totals: Sequence[int],
    deals: Iterable[Sequence[int]] = (),
    forfeits: Iterable[tuple[int, ForfeitWord]] = (),
    seed: bytes | None = None,
) -> bytes:
    """Returns a serialised `GameOver`; no `ranks`: the game was abandoned. `seed`: only if no other game uses it."""
    return play_pb2.GameOver(
        ranks=ranks,
        totals=totals,
        deals=[play_pb2.DealScores(scores=scores) for scores in deals],
        forfeits=[play_pb2.Forfeit(seat=seat, reason=_FORFEIT_REASONS[reason]) for seat, reason in forfeits],
        seed=seed,
    ).SerializeToString()


_FORFEIT_REASONS: Final[dict[ForfeitWord, play_pb2.ForfeitReason.ValueType]] = {
    "faults": play_pb2.FORFEIT_REASON_FAULTS,
    "exited": play_pb2.FORFEIT_REASON_EXITED,
    "gone": play_pb2.FORFEIT_REASON_GONE,
    "misuse": play_pb2.FORFEIT_REASON_MISUSE,
}


def _option(name: str, value: object) -> play_pb2.Option:
    if isinstance(value, bool):
        return play_pb2.Option(name=name, truth=value)
    if isinstance(value, int):
        return play_pb2.Option(name=name, number=value)
    if isinstance(value, str):
        return play_pb2.Option(name=name, word=value)
    if isinstance(value, tuple):
        return play_pb2.Option(name=name, numbers=play_pb2.NumberList(numbers=value))
    raise ValueError(f"option {name} = {value!r}: the wire has switches, whole numbers, lists of them, and words")


def _time_control(decision: int, bank: int, increment: int) -> play_pb2.TimeControl:
    return play_pb2.TimeControl(decision=_duration(decision), bank=_duration(bank), increment=_duration(increment))


def _duration(microseconds: int | None) -> Duration | None:
    if microseconds is None:
        return None
    seconds, rest = divmod(microseconds, 1_000_000)
    return Duration(seconds=seconds, nanos=rest * 1000)
