"""Starting bots, and making sure that they end."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import IO, Final, cast

import trio

from rummyarena_server.hosting.commands import BotCommand, StartFailure, explain, explain_log
from rummyarena_server.hosting.environment import TOKEN
from rummyarena_server.hosting.exits import open_pidfd, until_exit
from rummyarena_server.hosting.lifeline import Lifeline, open_lifeline
from rummyarena_server.hosting.output import OutputLog, OutputLogs, drain, drain_rest

_LOGGER: Final = logging.getLogger(__name__)
_DEATH_SECONDS: Final = 5.0
_GROUP_SECONDS: Final = 0.5
_LOOK_SECONDS: Final = 0.002  # between two looks


class BotProcess:
    """A bot that was started: its first process, the process group of that, and its output."""

    def __init__(self, command: BotCommand, process: subprocess.Popen[bytes], log: OutputLog) -> None:
        self.command = command
        self.pid = process.pid
        self._process = process
        self._pidfd = open_pidfd(process.pid)
        self._pipe = cast("IO[bytes]", process.stdout)  # it was started with a pipe
        self._log = log
        self._over = trio.Event()
        os.set_blocking(self._pipe.fileno(), False)

    @property
    def log(self) -> Path:
        """The file that has the output, complete once the bot has ended; there is none if it printed nothing."""
        return self._log.path

    @property
    def status(self) -> int | None:
        """The exit status as `describe` reads it: a code, or a negative signal number; `None` while the bot runs."""
        return self._status() if self._over.is_set() else None

    async def wait(self) -> int:
        """Returns the exit status once the bot has ended, nothing of its group is left and its output is kept."""
        await self._over.wait()
        return self._status()

    async def stop(self, grace: float) -> int:
        """Asks the whole group to end (SIGTERM), kills it after `grace` seconds, and returns the exit status.

        The bot has ended when this returns or raises: a cancelled `stop` kills at once.
        """
        try:
            self._signal(signal.SIGTERM)
            with trio.move_on_after(grace):
                await self.wait()
        finally:
            self._signal(signal.SIGKILL)
            with trio.CancelScope(shield=True):
                status = await self.wait()
        return status

    def last_lines(self, count: int = 10) -> list[str]:
        """Returns the last lines of output, fit to be shown to people."""
        return self._log.last_lines(count)

    async def attend(self, lifeline: Lifeline) -> None:
        """Keeps the output until the bot ends, then ends what it left behind; if cancelled, ends it all at once.

        The host runs this once for every bot.
        """
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(drain, self._pipe, self._log)
                try:
                    await until_exit(self._process, self._pidfd)
                finally:
                    await self._end(lifeline)
                    nursery.cancel_scope.cancel()
        finally:
            self._close()

    async def _end(self, lifeline: Lifeline) -> None:
        """Kills what is left of the group, then reaps the first process.

        In this order, for the number of the group cannot be given to another as long as that process is not reaped.
        Without a pidfd it is reaped already; then only the number of a group that is empty anyway could be taken, and
        only within the microseconds that have passed since. A fork cannot escape: it fails or is killed with the rest.
        """
        self._kill_group(signal.SIGKILL)
        with trio.move_on_after(_DEATH_SECONDS, shield=True):
            await until_exit(self._process, self._pidfd)
        lifeline.release(self.pid)
        if self._process.poll() is None:
            _LOGGER.error("Process %d was killed but does not end; it may hang in a file system.", self.pid)
        await self._until_group_is_gone()

    async def _until_group_is_gone(self) -> None:
        """Waits for the other killed processes, which take some milliseconds more to die where the machine is busy.

        Not for long: dead ones that nobody reaps would stay in the group.
        """
        with trio.move_on_after(_GROUP_SECONDS, shield=True):
            while self._is_group_there():  # noqa: ASYNC110 - no event tells of the death of others' children
                await trio.sleep(_LOOK_SECONDS)

    def _is_group_there(self) -> bool:
        try:
            os.killpg(self.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def _close(self) -> None:
        drain_rest(self._pipe, self._log)
        self._pipe.close()
        self._log.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
        self._over.set()

    def _status(self) -> int:
        status = self._process.returncode
        return -signal.SIGKILL if status is None else status  # None: the process that does not end

    def _signal(self, number: signal.Signals) -> None:
        if self._process.returncode is None and not self._over.is_set():
            self._kill_group(number)

    def _kill_group(self, number: signal.Signals) -> None:
        # PermissionError: macOS says so of a group of zombies, Linux of one whose processes all changed their user.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


class Host:
    """The place where bots run; made by `open_host`."""

    def __init__(self, nursery: trio.Nursery, lifeline: Lifeline, logs: OutputLogs) -> None:
        self._nursery = nursery
        self._lifeline = lifeline
        self._logs = logs

    def start(self, command: BotCommand, environment: Mapping[str, str]) -> BotProcess | StartFailure:
        """Starts a bot with exactly this environment; its output goes to a new file in the host's folder."""
        try:
            log = self._logs.open(command.name)
        except OSError as error:
            return explain_log(command, self._logs.folder, error)
        if TOKEN in environment:
            self._lifeline.expect(environment[TOKEN])
        try:
            process = _popen(command, environment)
        except (OSError, ValueError) as error:  # ValueError: a NUL byte in a word, an = in the name of a variable
            self._lifeline.give_up()
            log.close()
            return explain(command, error)
        self._lifeline.watch(process.pid)
        bot = BotProcess(command, process, log)
        self._nursery.start_soon(bot.attend, self._lifeline)
        return bot


@contextlib.asynccontextmanager
async def open_host(folder: Path) -> AsyncIterator[Host]:
    """Opens a place where bots run, with a folder for their logs; leaving it kills the bots that still run.

    Raises `OSError` where the folder cannot be made. What the block raises comes in a group, as from any nursery.
    """
    logs = OutputLogs(folder)
    async with open_lifeline() as lifeline, trio.open_nursery() as nursery:
        yield Host(nursery, lifeline, logs)
        nursery.cancel_scope.cancel()


def _popen(command: BotCommand, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Starts the process from this thread, in half a millisecond and with no code of ours between fork and exec."""
    return subprocess.Popen(
        command.words,
        bufsize=0,
        cwd=command.directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
