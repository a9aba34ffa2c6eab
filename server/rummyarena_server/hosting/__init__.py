"""Bots as processes of this machine: started, heard and, in any case, ended.

`processes` starts and stops them, `commands` says what is started and why it could not be, `environment` what a bot is
given, `output` keeps what it prints, `exits` how it ended; `lifeline` and `warden` end the bots of a server that was
killed.

What holds whatever a bot does: it is a session and a process group of its own, and the bot is its first process. When
that ends, when the bot is stopped, when the host is closed or cancelled and when the server itself is killed, the whole
group is killed. What does not hold: a process that leaves the group on purpose (setsid, setpgid) is not followed, and a
bot runs as the user of the server, who may read the tokens of the other bots from the process list. Run what you do not
trust in a process namespace of its own.
"""

from __future__ import annotations

from rummyarena_server.hosting.commands import BotCommand, StartFailure, obstacle
from rummyarena_server.hosting.environment import bot_environment
from rummyarena_server.hosting.exits import describe
from rummyarena_server.hosting.output import visible
from rummyarena_server.hosting.processes import BotProcess, Host, open_host

__all__ = [
    "BotCommand",
    "BotProcess",
    "Host",
    "StartFailure",
    "bot_environment",
    "describe",
    "obstacle",
    "open_host",
    "visible",
]
