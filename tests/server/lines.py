"""A server without a network, and bots on the line: what the play stream's transcripts are spoken through."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc
import trio
import trio.testing

from rummyarena.v1 import move_pb2, play_pb2
from rummyarena_rules.thai import Thai
from rummyarena_server.referee.clock import SECOND, Deadlines, TimeControl, now
from rummyarena_server.referee.game import Game
from rummyarena_server.referee.outcome import GameOutcome
from rummyarena_server.referee.players import Player, Sitting
from rummyarena_server.referee.record import GameSetup, SeatedBot
from rummyarena_server.rpc.instances import Instance, Registry
from rummyarena_server.rpc.play import PlaySession, open_play

# In a fresh deal of thai with two seats, seat 1 is the first on turn (T4); the bot of these tests sits there.

DRAW = move_pb2.Move(draw=move_pb2.Draw())
PASS = move_pb2.Move(pass_move=move_pb2.Pass())


class FakeStream:
    """Notes what the endpoint does with its stream."""

    def __init__(self) -> None:
        self.woken = 0
        self.ended: str | grpc.StatusCode | None = None
        self.message = ""

    def wake(self) -> None:
        self.woken += 1

    def finish(self) -> None:
        self.ended = self.ended or "finished"

    def abort(self, code: grpc.StatusCode, message: str) -> None:
        self.ended, self.message = self.ended or code, self.message or message


class Line:
    """A bot on the line: says requests, hears responses; it reads only when it hears."""

    def __init__(self, registry: Registry, instance: Instance) -> None:
        self.stream = FakeStream()
        session = open_play(registry, {"authorization": f"Bearer {instance.token}"}, self.stream)
        assert isinstance(session, PlaySession), session
        self.session = session

    def say(self, request: play_pb2.PlayRequest) -> None:
        self.session.receive(request.SerializeToString(), now())

    def hello(
        self,
        games: int = 4,
        candidates: int = 64,
        wants: play_pb2.Wants.ValueType = play_pb2.WANTS_VIEW,
        resumes: Mapping[str, int] | None = None,
    ) -> Line:
        self.say(
            play_pb2.PlayRequest(
                hello=play_pb2.Hello(
                    sdk_name="test",
                    max_concurrent_games=games,
                    candidate_limit=candidates,
                    wants=wants,
                    resumes=[play_pb2.Resume(game_id=one, last_sequence=last) for one, last in (resumes or {}).items()],
                )
            )
        )
        return self

    def answer(self, update: play_pb2.GameUpdate, *moves: move_pb2.Move) -> None:
        self.say(
            play_pb2.PlayRequest(
                answers=[play_pb2.Answer(game_id=update.game_id, decision_id=update.decision.decision_id, moves=moves)]
            )
        )

    def probe(self, update: play_pb2.GameUpdate, *moves: move_pb2.Move) -> play_pb2.ProbeResult:
        probe = play_pb2.Probe(game_id=update.game_id, decision_id=update.decision.decision_id, moves=moves)
        self.say(play_pb2.PlayRequest(probes=[probe]))
        (result,) = self.hear().probe_results
        return result

    def hear(self) -> play_pb2.PlayResponse:
        frame = self.session.next_frame()
        return play_pb2.PlayResponse() if frame is None else play_pb2.PlayResponse.FromString(frame)

    async def hears(self) -> play_pb2.PlayResponse:
        """Hears what is there when the games have done what they can."""
        await trio.testing.wait_all_tasks_blocked()
        return self.hear()

    async def update(self) -> play_pb2.GameUpdate:
        response = await self.hears()
        assert len(response.updates) == 1, response
        return response.updates[0]

    def endings(self) -> list[object]:
        """How the stream ended, if it did."""
        return [] if self.stream.ended is None else [self.stream.ended]

    def drop(self) -> None:
        self.session.closed()


class Place:
    """A server without a network: a registry, a clock and games."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.deadlines = Deadlines()
        self.registry = Registry(self.deadlines, server_version="1.2.3")
        self.outcomes: dict[str, GameOutcome] = {}
        self.failures: list[Exception] = []
        self.nursery = nursery
        nursery.start_soon(self.deadlines.run)

    def open(self, *players: Player, game_id: str = "g", **changes: Any) -> trio.CancelScope:
        """Has a game played; cancelling what it returns abandons the game."""
        scope = trio.CancelScope()
        self.nursery.start_soon(self._play, a_setup(len(players), game_id, **changes), players, scope)
        return scope

    async def _play(self, setup: GameSetup, players: Sequence[Player], scope: trio.CancelScope) -> None:
        try:
            with scope, Game(setup, players, self.deadlines) as game:
                outcome = await game.play()
                self.outcomes[setup.game_id] = outcome
                game.announce(outcome, reveal_seed=True)
        except (RuntimeError, ValueError) as failure:
            self.failures.append(failure)


def a_setup(
    seats: int,
    game_id: str = "g",
    *,
    ruleset: Thai | None = None,
    deals: int = 1,
    time_control: TimeControl | None = None,
) -> GameSetup:
    ruleset = ruleset or Thai()
    options = ruleset.configure({"max_deals": deals}, seats)
    assert not isinstance(options, list)
    return GameSetup(
        game_id=game_id,
        ruleset=ruleset,
        options=options,
        seed=bytes(31) + b"\1",
        bots=tuple(SeatedBot(f"bot {seat}") for seat in range(seats)),
        time_control=time_control,
    )


def sitting_of(instance: Instance) -> Sitting:
    desk = instance.desk("g")
    assert desk is not None
    return desk.sitting


@asynccontextmanager
async def a_place() -> AsyncIterator[Place]:
    async with trio.open_nursery() as nursery:
        yield Place(nursery)
        nursery.cancel_scope.cancel()


FIVE_AND_TEN = TimeControl(decision=5 * SECOND, bank=10 * SECOND)
