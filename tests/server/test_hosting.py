"""Whatever a bot does: it is heard, nothing of it outlives its end, and nobody else feels it.

The bots are real processes: small scripts, run by this interpreter without its site packages, which starts in 10 ms.
"""

from __future__ import annotations

import errno
import io
import os
import resource
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import IO

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from rummyarena_server import hosting
from rummyarena_server.hosting import (
    BotCommand,
    BotProcess,
    Host,
    StartFailure,
    bot_environment,
    describe,
    open_host,
    visible,
    warden,
)
from rummyarena_server.hosting.lifeline import Lifeline
from rummyarena_server.hosting.output import HEAD_BYTES, TAIL_BYTES, OutputLog, OutputLogs
from rummyarena_server.hosting.warden import left

IDLE = r"import os, time; os.write(1, b'ready\n'); time.sleep(600)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {IDLE}"
# A bot with two children in its group, one of which ignores SIGTERM. It prints their numbers.
PARENT = f"""
import subprocess, sys
for child in ({IDLE!r}, {STUBBORN!r}):
    print(subprocess.Popen([sys.executable, "-I", "-S", "-c", child], stdout=subprocess.DEVNULL).pid, flush=True)
"""
LIVING_PARENT = PARENT + IDLE
PATIENCE = 10.0  # seconds for what takes milliseconds; only a test that fails waits so long


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[Host]:
    async with open_host(tmp_path / "logs") as host:
        yield host


@pytest.fixture(params=["the system's event", "polling"])
def way_to_wait(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Hosting as this system does it, and as it does where there is no pidfd: macOS, old kernels, strict containers."""

    def refuse(pid: int) -> int:
        raise OSError(errno.ENOSYS, f"no pidfd for {pid}")

    if request.param == "polling":
        monkeypatch.setattr(os, "pidfd_open", refuse, raising=False)
    return str(request.param)


def python(script: str, *words: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", script, *words)


def start(host: Host, script: str, *words: str, name: str = "bot") -> BotProcess:
    environment = bot_environment("127.0.0.1:1", "token")
    process = host.start(BotCommand(name, python(script, *words), Path("/")), environment)
    assert isinstance(process, BotProcess), process
    return process


async def end_of(process: BotProcess) -> int:
    with trio.fail_after(PATIENCE):
        return await process.wait()


async def printed(process: BotProcess, count: int) -> list[str]:
    """Returns the first lines of a bot as soon as there are so many."""
    await eventually(lambda: len(process.last_lines(count)) == count)
    return process.last_lines(count)


def is_running(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    try:
        os.kill(pid, 0)
        return not Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].startswith(" Z")
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self/stat").exists()  # macOS, where whoever adopts a process reaps it


async def assert_gone(*pids: int) -> None:
    # A killed process needs a moment to end, and those that are not our children cannot be waited for.
    await eventually(lambda: not any(map(is_running, pids)))


async def eventually(condition: Callable[[], bool]) -> None:
    with trio.fail_after(PATIENCE):
        while not condition():  # noqa: ASYNC110 - what other processes do sets no event
            await trio.sleep(0.005)


# --- a bot that behaves ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("way_to_wait")
async def test_a_bot_that_ends_leaves_its_status_and_its_output(host: Host) -> None:
    process = start(host, "import sys; print('to stdout', flush=True); sys.exit('to stderr')")

    assert await end_of(process) == 1

    assert process.status == 1
    assert process.last_lines() == ["to stdout", "to stderr"]
    assert process.log.read_text() == "to stdout\nto stderr\n"


@pytest.mark.usefixtures("way_to_wait")
async def test_a_bot_asked_to_stop_may_say_a_last_word(host: Host) -> None:
    last_word = r"lambda *_: (os.write(1, b'good-bye\n'), sys.exit(0))"
    script = f"import os, signal, sys; signal.signal(signal.SIGTERM, {last_word}); {IDLE}"
    process = start(host, script)
    await printed(process, 1)
    assert process.status is None

    assert await process.stop(grace=PATIENCE) == 0

    assert process.last_lines() == ["ready", "good-bye"]


async def test_a_bot_that_has_ended_may_be_stopped_and_waited_for_again(host: Host) -> None:
    process = start(host, "raise SystemExit(4)")

    assert [await end_of(process), await process.stop(0), await process.stop(5), await process.wait()] == [4, 4, 4, 4]


async def test_a_bot_reads_nothing_and_is_a_session_and_a_group_of_its_own(host: Host) -> None:
    process = start(host, "import os, sys; print(sys.stdin.read() == '', os.getsid(0), os.getpgrp())")

    await end_of(process)

    assert process.last_lines() == [f"True {process.pid} {process.pid}"]


async def test_a_bot_runs_in_its_directory_with_a_relative_program(host: Host, tmp_path: Path) -> None:
    program = tmp_path / "bot.sh"
    program.write_text("#!/bin/sh\nls\n")
    program.chmod(0o755)

    process = host.start(BotCommand("relative", ("./bot.sh",), tmp_path), {})

    assert isinstance(process, BotProcess)
    assert await end_of(process) == 0
    assert process.last_lines() == ["bot.sh", "logs"]


async def test_an_idle_bot_outlives_the_threads_of_trio(host: Host) -> None:
    # Real time, for it is about real threads: trio's workers retire after 10 s, and a bot started in one with a
    # parent-death signal would be killed with it.
    await trio.to_thread.run_sync(os.getpid)
    process = start(host, IDLE)
    await trio.to_thread.run_sync(os.getpid)

    with trio.move_on_after(15):
        await process.wait()

    assert process.status is None
    assert is_running(process.pid)


# --- what a bot is given ---------------------------------------------------------------------------------------------


def test_the_environment_holds_what_is_documented_and_no_secret() -> None:
    inherited = {
        "AWS_SECRET_ACCESS_KEY": "secret",
        "HOME": "/home/ann",
        "LC_ALL": "C.UTF-8",
        "PATH": "/usr/bin",
        "PYTHONPATH": "/somewhere",
        "RUMMYARENA_TOKEN": "somebody else's",
        "TZ": "UTC",
    }

    assert bot_environment("unix:/run/arena", "abc", inherited) == {
        "HOME": "/home/ann",
        "LC_ALL": "C.UTF-8",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}/usr/bin",
        "PYTHONUNBUFFERED": "1",
        "RUMMYARENA_ADDRESS": "unix:/run/arena",
        "RUMMYARENA_TOKEN": "abc",
        "TZ": "UTC",
    }


async def test_nothing_of_the_servers_environment_reaches_a_bot(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_PASSWORD", "secret")
    process = start(host, "import os; print(*sorted(os.environ), sep='\\n')")

    await end_of(process)

    names = set(process.last_lines(100))
    assert {"RUMMYARENA_ADDRESS", "RUMMYARENA_TOKEN", "PATH"} <= names
    # LC_CTYPE and the like are set by Python itself; macOS adds one of its own.
    assert not {name for name in names if "PASSWORD" in name or name == "PYTHONPATH"}


async def test_python_is_the_interpreter_of_the_server(host: Host) -> None:
    command = BotCommand("bot", ("python", "-I", "-c", "import sys; print(sys.prefix)"), Path("/"))

    process = host.start(command, bot_environment("a", "t", {"PATH": "/usr/bin"}))

    assert isinstance(process, BotProcess)
    await end_of(process)
    assert process.last_lines() == [sys.prefix]


async def test_a_bot_inherits_no_open_file(host: Host) -> None:
    first = start(host, IDLE)
    second = start(host, "import os; print(os.listdir('/dev/fd'))")

    await end_of(second)

    listing = 1  # the descriptor that the listing itself uses
    assert len(second.last_lines()[0].split(",")) == 3 + listing
    assert first.status is None


# --- a bot that misbehaves -------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("way_to_wait")
async def test_a_bot_that_ignores_sigterm_is_killed(host: Host) -> None:
    process = start(host, STUBBORN)
    await printed(process, 1)

    with trio.fail_after(PATIENCE):
        assert await process.stop(grace=0.05) == -signal.SIGKILL

    await assert_gone(process.pid)


@pytest.mark.usefixtures("way_to_wait")
async def test_children_end_with_a_bot_that_is_stopped(host: Host) -> None:
    process = start(host, LIVING_PARENT)
    *children, _ready = await printed(process, 3)

    with trio.fail_after(PATIENCE):
        assert await process.stop(grace=PATIENCE) == -signal.SIGTERM

    await assert_gone(*map(int, children))


@pytest.mark.usefixtures("way_to_wait")
async def test_children_end_with_a_bot_that_dies(host: Host) -> None:
    process = start(host, PARENT + "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")

    assert await end_of(process) == -signal.SIGSEGV

    children = process.last_lines()
    assert len(children) == 2
    await assert_gone(*map(int, children))


async def test_a_suspended_bot_is_killed(host: Host) -> None:
    process = start(host, IDLE)
    await printed(process, 1)
    os.kill(process.pid, signal.SIGSTOP)

    with trio.fail_after(PATIENCE):
        await process.stop(grace=0.05)

    assert process.status in (-signal.SIGTERM, -signal.SIGKILL)  # it has got both before it could look at either


async def test_a_process_that_left_the_group_holds_nothing_up(host: Host) -> None:
    # It keeps the pipe open and writes on. That it lives on is the documented limit of process groups.
    noise = "while True: print('noise', flush=True)"
    leave = f"import subprocess, sys; words = [sys.executable, '-I', '-S', '-c', {noise!r}]\n"
    process = start(host, leave + "print(subprocess.Popen(words, start_new_session=True).pid)")

    assert await end_of(process) == 0

    escaped = int(process.log.read_text().split(maxsplit=1)[0])
    await assert_gone(escaped)  # of the closed pipe, as it insists on writing


async def test_a_bot_that_closes_its_output_lives_on(host: Host) -> None:
    process = start(host, "import os, time; print('closing', flush=True); os.close(1); os.close(2); time.sleep(600)")
    await printed(process, 1)

    with trio.move_on_after(0.1):
        await process.wait()

    assert process.status is None
    assert await process.stop(grace=PATIENCE) == -signal.SIGTERM


async def test_of_a_flood_the_beginning_and_the_end_are_kept(host: Host) -> None:
    lines = 1_000_000
    process = start(host, f"import sys\nfor n in range({lines}): sys.stdout.write('%09d\\n' % n)")

    with trio.fail_after(60):
        assert await process.wait() == 0

    head, note, tail = process.log.read_bytes().partition(b"\n[... %d bytes" % (lines * 10 - HEAD_BYTES - TAIL_BYTES))
    assert note
    assert head.startswith(b"000000000\n000000001\n")
    assert len(head) == HEAD_BYTES
    assert tail.endswith(b"\n000999998\n000999999\n")
    assert len(tail) < TAIL_BYTES + 100
    assert process.last_lines(2) == ["000999998", "000999999"]


async def test_a_flood_without_end_disturbs_nobody(host: Host) -> None:
    flood = start(host, "import os\nwhile True: os.write(1, b'x' * 65536)")
    neighbour = start(host, "print('unharmed')")

    assert await end_of(neighbour) == 0
    await eventually(lambda: flood.log.stat().st_size >= HEAD_BYTES)
    assert await flood.stop(grace=PATIENCE) == -signal.SIGTERM

    assert flood.log.stat().st_size < HEAD_BYTES + TAIL_BYTES + 100
    [line] = flood.last_lines()
    assert line == "x" * 197 + "..."


async def test_garbage_and_control_characters_are_shown_and_not_obeyed(host: Host) -> None:
    script = r"import os; os.write(1, b'\xff\x00\n\x1b[2J\x1b]0;title\x07\r\n\tat bot\n\n\xe2\x80\xaefdp.exe')"
    process = start(host, script)

    await end_of(process)

    assert process.last_lines() == [
        r"\xff\x00",
        r"\x1b[2J\x1b]0;title\x07",
        "    at bot",
        r"\u202efdp.exe",
    ]
    assert process.last_lines(0) == []


# --- a bot that cannot be started ------------------------------------------------------------------------------------


def refusal(host: Host, command: BotCommand, environment: dict[str, str] | None = None) -> StartFailure:
    failure = host.start(command, environment or {"PATH": "/usr/bin:/bin"})
    assert isinstance(failure, StartFailure)
    return failure


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of programs that do not start."""
    (tmp_path / "text").write_text("no program")
    (tmp_path / "binary").write_bytes(b"\x7fELF for another machine")
    (tmp_path / "binary").chmod(0o755)
    (tmp_path / "script").write_text("#!/nowhere/ruby\n")
    (tmp_path / "script").chmod(0o755)
    (tmp_path / "source").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("greedo",), 'there is no program "greedo" in PATH; install it or write its full path'),
        (("text",), 'there is no program "text" in PATH; write "./text" for the file in {folder}'),
        (("./greedy",), "there is no file {folder}/greedy; build it or correct the path"),
        (("/nowhere/greedy",), "there is no file /nowhere/greedy; build it or correct the path"),
        (("./text/greedy",), "there is no file {folder}/text/greedy; build it or correct the path"),
        (("./text",), "{folder}/text is not executable; allow it (chmod +x) or start it with its interpreter"),
        (("./source",), "{folder}/source is a directory; name a program in it"),
        (
            ("./binary",),
            """{folder}/binary is no program for this machine; \
build it here, or begin it with a #! line if it is a script""",
        ),
        (
            ("./script",),
            """the interpreter that {folder}/script names in its first line does not exist; \
install it or correct the line""",
        ),
        (("./te\0xt",), "its command or environment cannot be passed to a program (embedded null byte)"),
        (("./\x1b[2J",), r"there is no file {folder}/\x1b[2J; build it or correct the path"),
    ],
)
async def test_a_command_that_does_not_start_is_explained(
    host: Host, folder: Path, words: tuple[str, ...], reason: str
) -> None:
    failure = refusal(host, BotCommand("greedy", words, folder))

    expected = f'The bot "greedy" cannot be started: {reason.format(folder=folder)}.'
    assert (failure.sentence, failure.is_ours) == (expected, False)


async def test_a_directory_that_is_missing_is_explained(host: Host, tmp_path: Path) -> None:
    failure = refusal(host, BotCommand("a\nb", ("true",), tmp_path / "none"))

    reason = f"its directory {tmp_path}/none does not exist; create it or correct the path"
    assert failure.sentence == rf'The bot "a\nb" cannot be started: {reason}.'


async def test_a_bot_that_did_not_start_leaves_nothing(host: Host, tmp_path: Path) -> None:
    before = open_descriptors()

    refusal(host, BotCommand("greedy", ("greedo",), tmp_path))

    assert open_descriptors() == before
    assert list((tmp_path / "logs").iterdir()) == []


@pytest.mark.parametrize("room", [0, 1, 2, 4])
async def test_a_server_out_of_descriptors_blames_itself(host: Host, tmp_path: Path, room: int) -> None:
    before = open_descriptors()
    lowest_free = min(set(range(len(before) + 1)) - before)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free + room, hard))
    try:
        failure = refusal(host, BotCommand("greedy", ("true",), tmp_path))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert failure.is_ours
    assert "this server may open no more files" in failure.sentence
    assert open_descriptors() == before


async def test_a_server_without_room_for_logs_blames_itself(host: Host, tmp_path: Path) -> None:
    (tmp_path / "logs").rmdir()

    failure = refusal(host, BotCommand("greedy", ("true",), tmp_path))

    assert failure.is_ours
    assert f"no log can be written in {tmp_path}/logs (No such file or directory)" in failure.sentence


def test_a_command_without_words_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="at least one word"):
        BotCommand("greedy", (), Path("/"))


# --- the end of everything -------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("way_to_wait")
async def test_bots_end_with_their_host(tmp_path: Path) -> None:
    async with open_host(tmp_path) as host:
        process = start(host, LIVING_PARENT)
        *children, _ready = await printed(process, 3)

    assert process.status == -signal.SIGKILL
    await assert_gone(process.pid, *map(int, children))


@pytest.mark.usefixtures("way_to_wait")
async def test_bots_end_when_their_host_is_cancelled(tmp_path: Path) -> None:
    with trio.CancelScope() as scope:
        async with open_host(tmp_path) as host:
            process = start(host, LIVING_PARENT)
            *children, _ready = await printed(process, 3)
            unattended = start(host, IDLE)  # nothing has looked at it yet when everything is cancelled
            scope.cancel()

    assert (process.status, unattended.status) == (-signal.SIGKILL, -signal.SIGKILL)
    assert process.log.read_text().endswith("ready\n")
    await assert_gone(process.pid, unattended.pid, *map(int, children))


async def test_a_cancelled_stop_kills_at_once(host: Host) -> None:
    process = start(host, STUBBORN)
    await printed(process, 1)

    with trio.fail_after(PATIENCE), trio.move_on_after(0.05):
        await process.stop(grace=3600)

    assert process.status == -signal.SIGKILL


SERVER = """
import sys, trio
from pathlib import Path
from rummyarena_server.hosting import BotCommand, bot_environment, open_host

async def main(folder: Path, *words: str) -> None:
    async with open_host(folder) as host:
        stopped = host.start(BotCommand("stopped", words, folder), {})
        await stopped.stop(grace=1)
        bot = host.start(BotCommand("bot", words, folder), {})
        while len(lines := bot.last_lines()) < 3:
            await trio.sleep(0.005)
        print(bot.pid, *lines[:2], flush=True)
        await bot.wait()

trio.run(main, Path(sys.argv[1]), *sys.argv[2:])
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
async def test_bots_end_with_a_server_that_is_killed(tmp_path: Path, number: signal.Signals) -> None:
    sources = Path(hosting.__file__).parents[2]
    async with trio.open_nursery():
        server = await trio.lowlevel.open_process(
            (sys.executable, "-c", SERVER, str(tmp_path), *python(LIVING_PARENT)),
            env={"PYTHONPATH": str(sources)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert server.stdout is not None
        with trio.fail_after(PATIENCE):
            pids = [int(word) for word in (await server.stdout.receive_some()).split()]

        server.send_signal(number)
        await server.wait()

        assert len(pids) == 3
        await assert_gone(*pids)
        await server.stdout.aclose()


async def test_the_warden_is_told_of_every_bot_and_of_its_end(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as told, os.fdopen(writer, "wb", buffering=0) as pipe:
        async with trio.open_nursery() as nursery:
            host = Host(nursery, Lifeline(pipe), OutputLogs(tmp_path))
            process = start(host, IDLE)
            assert [told.readline(), told.readline()] == [b"?token\n", b"+%d\n" % process.pid]
            await process.stop(grace=PATIENCE)
        assert told.readline() == b"-%d\n" % process.pid


async def test_the_warden_is_told_of_a_bot_that_could_not_be_started(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as told, os.fdopen(writer, "wb", buffering=0) as pipe:
        async with trio.open_nursery() as nursery:
            host = Host(nursery, Lifeline(pipe), OutputLogs(tmp_path))
            nothing = BotCommand("nothing", ("./nothing",), tmp_path)
            assert isinstance(host.start(nothing, bot_environment("", "token")), StartFailure)
        assert [told.readline(), told.readline()] == [b"?token\n", b"!\n"]


def test_the_warden_kills_what_was_not_released() -> None:
    assert left([b"?one\n", b"+100\n", b"+200\n", b"-100\n", b"?two\n", b"!\n", b"+300\n"]) == ({200, 300}, b"")


def test_the_warden_knows_of_a_bot_that_is_being_started() -> None:
    assert left([b"?one\n", b"+100\n", b"?two\n", b"-100\n"]) == (set(), b"two")


# What is between fork and exec: it gets its mark, and is a group of its own, only after a moment.
BEING_STARTED = """
import os, sys, time
time.sleep(0.3)
os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)"], {"RUMMYARENA_TOKEN": "mark of a test"})
"""


def test_the_warden_finds_a_bot_that_was_being_started_when_its_server_was_killed() -> None:
    with subprocess.Popen(python(BEING_STARTED), start_new_session=True) as bot:
        subprocess.run([sys.executable, "-I", "-S", warden.__file__], input=b"?mark of a test\n", check=True)
        assert bot.wait(PATIENCE) == -signal.SIGKILL


def test_a_lost_warden_is_reported_once_and_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb", buffering=0) as pipe:
        lifeline = Lifeline(pipe)
        lifeline.watch(100)
        lifeline.release(100)

    assert [record.getMessage() for record in caplog.records] == [
        "The process that guards the bots is gone: should this server be killed, its bots will live on."
    ]


def test_a_warden_that_does_not_read_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb"), os.fdopen(writer, "wb", buffering=0) as pipe:
        lifeline = Lifeline(pipe)
        for group in range(1_000, 40_000):
            lifeline.watch(group)

    assert len(caplog.records) == 1


@pytest.mark.usefixtures("way_to_wait")
async def test_twenty_bots_leave_no_zombies_and_no_descriptors(tmp_path: Path) -> None:
    before = open_descriptors()

    async with open_host(tmp_path) as host:
        processes = [start(host, (IDLE, STUBBORN, "raise SystemExit(1)", PARENT)[n % 4]) for n in range(20)]
        async with trio.open_nursery() as nursery:
            for process in processes:
                nursery.start_soon(process.stop, 0.05)

    assert open_descriptors() == before
    assert not any(is_child(process.pid) for process in processes)


def is_child(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG) is not None
    except ChildProcessError:
        return False


def open_descriptors() -> set[int]:
    """Returns what this process has open, without the descriptor that the listing itself uses."""
    return {int(path.name) for path in list(Path("/dev/fd").iterdir()) if path.exists()}


# --- logs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("greedy", "greedy"),
        ("../../etc/passwd", "etc_passwd"),
        ("Ann's bot, v2.0", "Ann_s_bot_v2_0"),
        ("..", "bot"),
        ("", "bot"),
        ("ไพ่\u202e\x00\n", "bot"),
        ("-rf", "rf"),
        ("x" * 300, "x" * 40),
    ],
)
def test_a_log_has_a_safe_name(tmp_path: Path, name: str, safe: str) -> None:
    log = OutputLogs(tmp_path).open(name)
    log.keep(b"hello")
    log.close()

    assert [path.name for path in tmp_path.iterdir()] == [f"{safe}-1.log"]


def test_no_log_is_ever_overwritten(tmp_path: Path) -> None:
    for run, logs in enumerate((OutputLogs(tmp_path), OutputLogs(tmp_path))):
        for name in ("a/b", "a.b", "a_b"):
            log = logs.open(name)
            log.keep(f"{name} in run {run}".encode())
            log.close()

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "a_b-1.log": "a/b in run 0",
        "a_b-2.log": "a.b in run 0",
        "a_b-3.log": "a_b in run 0",
        "a_b-4.log": "a/b in run 1",
        "a_b-5.log": "a.b in run 1",
        "a_b-6.log": "a_b in run 1",
    }


def test_a_silent_bot_leaves_no_log(tmp_path: Path) -> None:
    OutputLogs(tmp_path).open("silent").close()

    assert list(tmp_path.iterdir()) == []


async def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(NotADirectoryError):
        async with open_host(tmp_path / "file" / "logs"):
            pytest.fail("there is no place for logs")


class KeptFile(io.BytesIO):
    """A file whose content can be read after it was closed."""

    content = b""

    def close(self) -> None:
        self.content = self.getvalue()
        super().close()


@given(st.lists(st.binary(max_size=40), max_size=20), st.integers(0, 50), st.integers(1, 50))
def test_a_log_is_whole_or_says_what_is_left_out(chunks: list[bytes], head: int, tail: int) -> None:
    file, output = KeptFile(), b"".join(chunks)
    log = OutputLog(Path("not there"), file, head, tail)
    for chunk in chunks:
        log.keep(chunk)
    log.close()

    left_out = len(output) - head - tail
    note = b"\n[... %d bytes of output are left out here ...]\n" % left_out
    expected = output if left_out <= 0 else output[:head] + note + output[-tail:]
    assert file.content == expected


class FullDisk(io.RawIOBase):
    """A file on a disk that has no room left."""

    def writable(self) -> bool:
        return True

    def write(self, _: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_ends_the_log_and_not_the_bot(caplog: pytest.LogCaptureFixture) -> None:
    full: IO[bytes] = io.BufferedWriter(FullDisk())
    log = OutputLog(Path("bot-1.log"), full)

    log.keep(b"one\n")
    log.keep(b"two\n")
    log.close()

    assert log.last_lines(5) == ["one", "two"]
    assert [record.getMessage() for record in caplog.records] == [
        "The log bot-1.log is not continued: No space left on device."
    ]


# --- words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, "exited with code 0"),
        (1, "exited with code 1"),
        (-signal.SIGSEGV, "was killed by SIGSEGV"),
        (-signal.SIGKILL, "was killed by SIGKILL"),
        (-120, "was killed by signal 120"),
    ],
)
def test_an_exit_status_is_described(status: int, words: str) -> None:
    assert describe(status) == words


@given(st.text())
def test_visible_text_prints_on_one_line(text: str) -> None:
    assert visible(text).isprintable()


def test_visible_text_keeps_what_prints() -> None:
    assert visible("ไพ่ รัมมี่ “rummy” ♠") == "ไพ่ รัมมี่ “rummy” ♠"
