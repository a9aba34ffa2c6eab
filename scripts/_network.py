"""What `bench network` measures: games through the whole server, and a bare grpc.aio echo asked in the same way.

Both are one process that asks and one that answers, over loopback, on streams of the same number:

- the arena: games of thai between bots that answer at once, through referee, bridge and wire, as tournaments play them;
- the echo: a grpc.aio server that sends as many bytes as a decision has, and a client that returns as many as an answer
  has, one message a decision: what gRPC can do at best where nothing is batched and nothing is thought.

How long an answer takes is measured where it is asked for: from putting the question until what follows it was told.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import quantiles
from typing import Any, Final

import grpc
import trio

from rummyarena.v1 import move_pb2, play_pb2, view_pb2
from rummyarena_rules.events import DealStarted, Event
from rummyarena_rules.registry import RULESETS
from rummyarena_server.referee.game import Game
from rummyarena_server.referee.players import Question, Sitting
from rummyarena_server.referee.record import GameSetup, SeatedBot
from rummyarena_server.rpc.instances import Instance
from rummyarena_server.rpc.play import PLAY_METHOD
from rummyarena_server.rpc.server import Server, open_server

_LOOPBACK: Final = "127.0.0.1:0"
_ECHO_METHOD: Final = "/rummyarena.bench.Echo/Echo"
_WARM_UP: Final = 1.0  # seconds that are not counted: streams open, caches fill


@dataclass(frozen=True, slots=True)
class Load:
    """Who plays: `bots` on a stream each, `games` that each plays at once, with how many candidates a decision."""

    bots: int
    games: int
    candidates: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Figures:
    """What came out: `rate` decisions a second; `p50` and `p99` of an answer, microseconds; mean bytes of both ways."""

    rate: float
    p50: float
    p99: float
    asked_bytes: float
    answered_bytes: float


def measure(kind: str, *words: object) -> Figures:
    """Runs one measurement in a process of its own, for a process has one asyncio loop with gRPC."""
    command = [sys.executable, str(Path(__file__)), kind, *map(str, words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=_environment())
    return Figures(**json.loads(done.stdout))


def measure_idle(streams: int) -> float:
    """Returns the bytes of memory that each of so many idle streams takes of the server."""
    command = [sys.executable, str(Path(__file__)), "idle", str(streams)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=_environment())
    return float(done.stdout)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def _figures(rate: float, answers: Sequence[int], asked_bytes: float, answered_bytes: float) -> Figures:
    cuts = quantiles(answers, n=100)
    return Figures(rate, cuts[49], cuts[98], asked_bytes, answered_bytes)


class _Client:
    """The process that answers; it says how many bytes it read and wrote, and in how many decisions."""

    def __init__(self, *words: object) -> None:
        command = [sys.executable, str(Path(__file__)), *map(str, words)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment())

    def end(self) -> tuple[float, float]:
        """Stops it and returns the mean bytes of a decision and of an answer."""
        told, _ = self._process.communicate(b"end\n")
        read, wrote, decisions = json.loads(told)
        return read / max(decisions, 1), wrote / max(decisions, 1)


# --- the arena -------------------------------------------------------------------------------------------------------


async def _arena(load: Load) -> Figures:
    answers: list[int] = []
    async with open_server(_LOOPBACK) as server:
        instances = [server.registry.register(f"bot {number}") for number in range(load.bots)]
        tokens = [instance.token for instance in instances]
        client = await trio.to_thread.run_sync(
            partial(_Client, "bots", server.address, load.games, load.candidates, *tokens)
        )
        for instance in instances:
            await instance.wait_ready()
        async with trio.open_nursery() as nursery:
            for table in range(load.bots // 2 * load.games):
                pair = instances[table // load.games * 2 :][:2]
                nursery.start_soon(_play_on, server, pair, table, answers)
            await trio.sleep(_WARM_UP)
            answers.clear()
            started = time.perf_counter()
            await trio.sleep(load.seconds)
            taken, seconds = list(answers), time.perf_counter() - started
            nursery.cancel_scope.cancel()
        sizes = await trio.to_thread.run_sync(client.end)
    return _figures(len(taken) / seconds, taken, *sizes)


class _Timed:
    """A bot at one table, measured: a player that hands all on to the bot's instance."""

    def __init__(self, instance: Instance, ask: Callable[[], None]) -> None:
        self.begin, self.tell, self.reject, self.end = instance.begin, instance.tell, instance.reject, instance.end
        self._instance = instance
        self._note = ask

    def ask(self, sitting: Sitting, question: Question) -> None:
        self._note()
        self._instance.ask(sitting, question)


async def _play_on(server: Server, instances: Sequence[Instance], table: int, answers: list[int]) -> None:
    """Plays one game after the other at a table; one seat is asked at a time, and something follows each answer."""
    ruleset, number, asked_at = RULESETS["thai"], 0, 0
    options = ruleset.configure({"max_deals": 1}, 2)

    def note_question() -> None:
        nonlocal asked_at
        asked_at = time.perf_counter_ns()

    def note_events(events: Sequence[Event]) -> None:
        if not isinstance(events[0], DealStarted):
            answers.append((time.perf_counter_ns() - asked_at) // 1000)

    players = [_Timed(instance, note_question) for instance in instances]
    while True:
        number += 1
        setup = GameSetup(
            game_id=f"{table}.{number}",
            ruleset=ruleset,
            options=options,
            seed=(table << 32 | number).to_bytes(32, "big"),
            bots=(SeatedBot("one"), SeatedBot("other")),
        )
        with Game(setup, players, server.deadlines, note_events) as game:
            outcome = await game.play()
            if outcome.forfeits:
                raise RuntimeError(f"a bot of the benchmark was forfeited: {outcome.forfeits}")
            game.announce(outcome)


async def _bots(address: str, games: int, candidates: int, tokens: Sequence[str]) -> None:
    """Plays all streams in one process, answering each frame with one."""
    count = [0, 0, 0]
    async with grpc.aio.insecure_channel(address) as channel:
        streams = [asyncio.create_task(_one_bot(channel, games, candidates, token, count)) for token in tokens]
        await _until_ended(streams)
    print(json.dumps(count))


async def _until_ended(streams: Sequence[asyncio.Task[None]]) -> None:
    """Lets the streams run until the process is told to end; raises what one of them raised before."""
    end = asyncio.create_task(asyncio.to_thread(sys.stdin.readline))
    await asyncio.wait([*streams, end], return_when=asyncio.FIRST_COMPLETED)
    for stream in streams:
        if stream.done():
            stream.result()
        stream.cancel()
    await asyncio.gather(*streams, return_exceptions=True)


async def _one_bot(channel: grpc.aio.Channel, games: int, candidates: int, token: str, count: list[int]) -> None:
    play: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(PLAY_METHOD)
    call = play(metadata=(("authorization", f"Bearer {token}"),))
    hello = play_pb2.Hello(sdk_name="bench", max_concurrent_games=games, candidate_limit=candidates)
    await call.write(play_pb2.PlayRequest(hello=hello).SerializeToString())
    async for frame in call:
        response = play_pb2.PlayResponse.FromString(frame)
        answers = [_answer(update) for update in response.updates if update.HasField("decision")]
        if answers:
            reply = play_pb2.PlayRequest(answers=answers).SerializeToString()
            count[0], count[1], count[2] = count[0] + len(frame), count[1] + len(reply), count[2] + len(answers)
            await call.write(reply)


def _answer(update: play_pb2.GameUpdate) -> play_pb2.Answer:
    decision = update.decision
    move = decision.candidates[0] if decision.candidates else _plain_move(update.view)
    return play_pb2.Answer(game_id=update.game_id, decision_id=decision.decision_id, moves=[move])


def _plain_move(view: view_pb2.View) -> move_pb2.Move:
    """Draws, or passes at an empty stock, and discards the card drawn: always legal, without looking for moves."""
    if view.public_part.phase == view_pb2.PHASE_DRAW and view.public_part.stock_count == 0:
        return move_pb2.Move(pass_move=move_pb2.Pass())
    if view.public_part.phase == view_pb2.PHASE_DRAW:
        return move_pb2.Move(draw=move_pb2.Draw())
    return move_pb2.Move(discard=move_pb2.Discard(card=view.private_part.drawn))


# --- the echo --------------------------------------------------------------------------------------------------------


async def _echo(streams: int, outstanding: int, asked_bytes: int, answered_bytes: int, seconds: float) -> Figures:
    """Keeps `outstanding` messages under way on each stream and measures each from its sending to its answer."""
    answers: list[int] = []
    question = bytes(asked_bytes)

    async def ask(answered: AsyncIterator[bytes], context: grpc.aio.ServicerContext[Any, Any]) -> None:
        sent: list[int] = []
        for _ in range(outstanding):
            sent.append(time.perf_counter_ns())
            await context.write(question)
        async for _ in answered:  # in the order of asking
            at = time.perf_counter_ns()
            answers.append((at - sent.pop(0)) // 1000)
            sent.append(at)
            await context.write(question)

    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_stream_rpc_method_handler(ask)
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("rummyarena.bench.Echo", {"Echo": handler}),))
    port = server.add_insecure_port(_LOOPBACK)
    await server.start()
    client = _Client("echoes", f"127.0.0.1:{port}", streams, answered_bytes)
    await asyncio.sleep(_WARM_UP)
    answers.clear()
    started = time.perf_counter()
    await asyncio.sleep(seconds)
    taken, spent = list(answers), time.perf_counter() - started
    await asyncio.to_thread(client.end)
    await server.stop(None)
    return _figures(len(taken) / spent, taken, asked_bytes, answered_bytes)


async def _echoes(address: str, streams: int, answered_bytes: int) -> None:
    answer = bytes(answered_bytes)

    async def one() -> None:
        echo: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(_ECHO_METHOD)
        call = echo()
        async for _ in call:
            await call.write(answer)

    async with grpc.aio.insecure_channel(address) as channel:
        await _until_ended([asyncio.create_task(one()) for _ in range(streams)])
    print(json.dumps([0, 0, 1]))


# --- idle streams ----------------------------------------------------------------------------------------------------


async def _idle(streams: int) -> float:
    """Returns the growth of this process for each stream that said Hello and has no game."""
    async with open_server(_LOOPBACK) as server:
        first = await _connect(server, 1)  # what the first stream loads is not of the others
        before = _resident()
        others = await _connect(server, streams)
        grown = _resident() - before
        for client in (first, others):
            await trio.to_thread.run_sync(client.end)
    return grown / streams


async def _connect(server: Server, streams: int) -> _Client:
    instances = [server.registry.register(f"bot {number}") for number in range(streams)]
    tokens = [instance.token for instance in instances]
    client = await trio.to_thread.run_sync(partial(_Client, "bots", server.address, 1, 0, *tokens))
    for instance in instances:
        await instance.wait_ready()
    return client


def _resident() -> int:
    """Returns this process's resident memory in bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _run(kind: str, words: Sequence[str]) -> None:
    match kind:
        case "arena":
            bots, games, candidates, seconds = words
            load = Load(int(bots), int(games), int(candidates), float(seconds))
            print(json.dumps(asdict(trio.run(_arena, load))))
        case "echo":
            streams, outstanding, asked, answered, seconds = words
            figures = asyncio.run(_echo(int(streams), int(outstanding), int(asked), int(answered), float(seconds)))
            print(json.dumps(asdict(figures)))
        case "idle":
            print(trio.run(_idle, int(words[0])))
        case "bots":
            asyncio.run(_bots(words[0], int(words[1]), int(words[2]), words[3:]))
        case "echoes":
            asyncio.run(_echoes(words[0], int(words[1]), int(words[2])))
        case _:
            raise ValueError(f"no measurement is called {kind!r}")


if __name__ == "__main__":
    _run(sys.argv[1], sys.argv[2:])
