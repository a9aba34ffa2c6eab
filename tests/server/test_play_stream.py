"""The play stream over a real network with the real SDK: whole games, many at once, and bots that die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import grpc
import pytest
import trio
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

import rummyarena
from rummyarena import Decision, Event, Move
from rummyarena.client import ConnectionFailedError, play
from rummyarena.session import Bot
from rummyarena.settings import Settings
from rummyarena.v1 import play_pb2, play_pb2_grpc
from rummyarena_rules import moves as rules
from rummyarena_rules.liverpool import LIVERPOOL
from rummyarena_rules.registry import RULESETS
from rummyarena_rules.ruleset import AnyView
from rummyarena_rules.thai import THAI
from rummyarena_server.referee.clock import SECOND, Deadlines, TimeControl
from rummyarena_server.referee.game import Game
from rummyarena_server.referee.outcome import GameOutcome
from rummyarena_server.referee.players import LocalPlayer, Player
from rummyarena_server.referee.record import GameSetup, SeatedBot
from rummyarena_server.rpc.bridge import AddressError
from rummyarena_server.rpc.instances import Instance
from rummyarena_server.rpc.play import PLAY_METHOD
from rummyarena_server.rpc.server import Server, open_server
from tests.referee.helpers import randomly

ROOT = Path(__file__).parents[2]
RANDOM_BOT = ROOT / "sample_bots" / "python" / "random_legal.py"
A_MINUTE = TimeControl(decision=60 * SECOND, bank=0)
WHOLE_TEST = 60  # seconds, a limit for what hangs


def first_candidate(decision: Decision) -> Move:
    return decision.candidates[0]


def random_legal(decision: Decision) -> Move:
    return decision.random.choice(decision.candidates)


def connect(nursery: trio.Nursery, server: Server, token: str, bot: Bot) -> None:
    """Has a bot play in a thread until the server ends its stream."""
    settings = Settings(server.address, token, "1", max_concurrent_games=16, candidate_limit=64)
    nursery.start_soon(partial(trio.to_thread.run_sync, play, bot, settings))


def start_bot(words: list[str], server: Server, instance: Instance) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        words,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT / "sdk" / "python"),
            "RUMMYARENA_ADDRESS": server.address,
            "RUMMYARENA_TOKEN": instance.token,
        },
    )


def a_setup(
    number: int, seats: int = 2, *, ruleset: str = "thai", options: Mapping[str, object] | None = None
) -> GameSetup:
    rules = RULESETS[ruleset]
    configured = rules.configure({"max_deals": 2} if options is None else options, seats)
    assert not isinstance(configured, list), configured
    return GameSetup(
        game_id=f"game {number}",
        ruleset=rules,
        options=configured,
        seed=number.to_bytes(32, "big"),
        bots=tuple(SeatedBot(f"bot {seat}") for seat in range(seats)),
        time_control=A_MINUTE,
    )


async def play_game(deadlines: Deadlines, setup: GameSetup, *players: Player) -> GameOutcome:
    with Game(setup, players, deadlines) as game:
        outcome = await game.play()
        game.announce(outcome)
        return outcome


async def test_bots_of_the_sdk_play_whole_games() -> None:
    with trio.fail_after(WHOLE_TEST):
        async with open_server("127.0.0.1:0") as server, trio.open_nursery() as nursery:
            instances = [server.registry.register(name) for name in ("one", "two")]
            for instance, bot in zip(instances, (first_candidate, random_legal), strict=True):
                connect(nursery, server, instance.token, bot)
                assert await instance.wait_ready()
            outcomes = {}

            async def one(number: int) -> None:
                outcomes[number] = await play_game(server.deadlines, a_setup(number), *instances)

            async with trio.open_nursery() as games:
                for number in range(8):
                    games.start_soon(one, number)
            for instance in instances:
                server.registry.remove(instance)
    assert all(outcome.faults == (0, 0) and not outcome.forfeits for outcome in outcomes.values())


class Witness:
    """Plays at random and writes down every event, as it was told."""

    def __init__(self, on_decision: Callable[[int], object] = lambda _: None) -> None:
        self.events: list[int] = []
        self.games: list[str] = []
        self._asked = 0
        self._on_decision = on_decision

    def decide(self, decision: Decision) -> Move:
        self._asked += 1
        self._on_decision(self._asked)
        return random_legal(decision)

    def game_started(self, game: rummyarena.Game) -> None:
        self.games.append(game.game_id)

    def observe(self, game: rummyarena.Game, events: Sequence[Event]) -> None:
        self.events += [one.sequence for one in events]


@pytest.mark.parametrize("seats", LIVERPOOL.seats)
async def test_bots_of_the_sdk_play_liverpool(seats: int) -> None:
    # given: every number of seats, each with a preset, and the cutter asked
    presets = list(LIVERPOOL.presets.values())
    options = {**presets[seats % len(presets)], "cut_mode": "choose", "max_turns_per_deal": 6 * seats}
    witness = Witness()
    with trio.fail_after(WHOLE_TEST):
        async with open_server("127.0.0.1:0") as server, trio.open_nursery() as nursery:
            instances = [server.registry.register(f"bot {seat}") for seat in range(seats)]
            bots: list[Bot] = [witness, *[random_legal] * (seats - 1)]
            for instance, bot in zip(instances, bots, strict=True):
                connect(nursery, server, instance.token, bot)
                assert await instance.wait_ready()
            setup = a_setup(seats, seats, ruleset="liverpool", options=options)
            outcome = await play_game(server.deadlines, setup, *instances)
            for instance in instances:
                server.registry.remove(instance)
    assert len(outcome.deals) == 7
    assert (outcome.faults, outcome.forfeits) == ((0,) * seats, ())
    assert witness.events == list(range(1, outcome.record.events + 1))


async def test_a_bot_that_loses_its_stream_again_and_again_plays_the_same_game() -> None:
    async def played(losses: int) -> tuple[GameOutcome, Witness]:
        async with open_server("127.0.0.1:0") as server, trio.open_nursery() as nursery:
            instance = server.registry.register("one")
            token = trio.lowlevel.current_trio_token()
            witness = Witness(
                lambda asked: token.run_sync_soon(lose, instance) if asked % 5 == 0 and asked <= 5 * losses else None
            )
            connect(nursery, server, instance.token, witness)
            assert await instance.wait_ready()
            outcome = await play_game(server.deadlines, a_setup(1), instance, randomly(THAI))
            await instance.wait_ready()
            server.registry.remove(instance)
        return outcome, witness

    def lose(instance: Instance) -> None:
        if instance._outlet is not None:
            instance._outlet.abort(grpc.StatusCode.UNAVAILABLE, "the connection is lost")

    with trio.fail_after(WHOLE_TEST):
        undisturbed, _ = await played(losses=0)
        outcome, witness = await played(losses=4)
    assert outcome.record == undisturbed.record
    assert witness.games == ["game 1"]
    assert witness.events == list(range(1, outcome.record.events + 1))


async def test_the_same_games_come_over_the_wire_and_in_this_process() -> None:
    # given: a bot that draws from its random seed alone, on the wire and without one
    def draw(decision: Decision) -> Move:
        return decision.candidates[decision.random_seed % len(decision.candidates)]

    def draw_here(view: AnyView, random_seed: int) -> rules.Move:
        moves = THAI.candidates(view, 64).moves
        return moves[random_seed % len(moves)]

    with trio.fail_after(WHOLE_TEST):
        async with open_server("127.0.0.1:0") as server, trio.open_nursery() as nursery:
            instance = server.registry.register("one")
            connect(nursery, server, instance.token, draw)
            assert await instance.wait_ready()
            alone = await play_game(server.deadlines, a_setup(1), instance, randomly(THAI))
            here = await play_game(server.deadlines, a_setup(1), LocalPlayer(draw_here), randomly(THAI))
            async with trio.open_nursery() as games:
                for number in range(2, 6):
                    games.start_soon(play_game, server.deadlines, a_setup(number), instance, randomly(THAI))
                among_others = await play_game(server.deadlines, a_setup(1), instance, randomly(THAI))
            server.registry.remove(instance)
    assert alone.record == here.record == among_others.record


async def test_a_killed_bot_is_noticed_and_its_games_end() -> None:
    with trio.fail_after(WHOLE_TEST):
        async with open_server("127.0.0.1:0", reconnect=SECOND // 5) as server:
            instance = server.registry.register("one")
            process = start_bot([sys.executable, "-c", SLEEPER], server, instance)
            try:
                assert await instance.wait_ready()
                async with trio.open_nursery() as nursery:

                    async def kill() -> None:
                        await trio.sleep(0.3)  # real time: the bot is thinking then
                        process.send_signal(signal.SIGKILL)

                    nursery.start_soon(kill)
                    outcome = await play_game(server.deadlines, a_setup(1), randomly(THAI), instance)
            finally:
                process.kill()
                process.wait()
    assert [(one.seat, one.reason) for one in outcome.forfeits] == [(1, "gone")]
    assert outcome.ranks == (1, 2)


SLEEPER = """
import time
from rummyarena import run
def bot(decision):
    time.sleep(1000)
run(bot)
"""


async def test_a_sample_bot_plays_as_a_process(tmp_path: Path) -> None:
    with trio.fail_after(WHOLE_TEST):
        async with open_server(f"unix:{tmp_path}/play.sock") as server:
            instance = server.registry.register("one")
            process = start_bot([sys.executable, str(RANDOM_BOT)], server, instance)
            try:
                assert await instance.wait_ready()
                outcome = await play_game(
                    server.deadlines, a_setup(1, options={"max_deals": 1}), randomly(THAI), instance
                )
                server.registry.remove(instance)
                code = await trio.to_thread.run_sync(process.wait)
            finally:
                process.kill()
                process.wait()
    assert code == 0
    assert not outcome.forfeits


async def test_a_wrong_token_is_explained() -> None:
    async with open_server("127.0.0.1:0") as server:
        with pytest.raises(ConnectionFailedError, match="does not know this token"):
            await trio.to_thread.run_sync(play, first_candidate, Settings(server.address, "wrong"))


async def test_garbage_ends_the_stream_with_invalid_argument() -> None:
    def speak(address: str, token: str) -> grpc.StatusCode:
        with grpc.insecure_channel(address) as channel:
            call: grpc.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(PLAY_METHOD)
            stream = call(iter([b"\xff\xff\xff"]), metadata=(("authorization", f"Bearer {token}"),))
            with pytest.raises(grpc.RpcError) as caught:
                list(stream)
            code: grpc.StatusCode = caught.value.code()
            return code

    async with open_server("127.0.0.1:0") as server:
        instance = server.registry.register("one")
        code = await trio.to_thread.run_sync(speak, server.address, instance.token)
    assert code is grpc.StatusCode.INVALID_ARGUMENT


async def test_drain_ends_the_stream_normally() -> None:
    def speak(address: str, token: str) -> list[str]:
        requests = [
            play_pb2.PlayRequest(hello=play_pb2.Hello(sdk_name="test")),
            play_pb2.PlayRequest(drain=play_pb2.Drain()),
        ]
        with grpc.insecure_channel(address) as channel:
            stub = play_pb2_grpc.PlayServiceStub(channel)
            stream = stub.Play(iter(requests), metadata=(("authorization", f"Bearer {token}"),))
            return [response.welcome.session_id for response in stream]

    async with open_server("127.0.0.1:0") as server:
        instance = server.registry.register("one")
        heard = await trio.to_thread.run_sync(speak, server.address, instance.token)
    assert len(heard) == 1


async def test_the_server_describes_itself() -> None:
    def ask(address: str) -> tuple[set[str], set[str]]:
        with grpc.insecure_channel(address) as channel:
            known = ProtoReflectionDescriptorDatabase(channel)
            file = known.FindFileContainingSymbol("rummyarena.v1.PlayService")
            return set(known.get_services()), {one.name for one in file.message_type}

    async with open_server("127.0.0.1:0") as server:
        services, messages = await trio.to_thread.run_sync(ask, server.address)
    assert services >= {"rummyarena.v1.PlayService", "grpc.health.v1.Health"}
    assert messages >= {"Hello", "Answer", "Probe", "GameUpdate"}


async def test_an_address_that_is_taken_is_named() -> None:
    async with open_server("127.0.0.1:0") as server:
        with pytest.raises(AddressError, match=server.address):
            async with open_server(server.address):
                pass
