"""Where a bot plays: read from the arguments of `run`, the command line and the environment, in this order."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

ADDRESS_VARIABLE: Final = "RUMMYARENA_ADDRESS"
TOKEN_VARIABLE: Final = "RUMMYARENA_TOKEN"  # noqa: S105 - the name of a variable

_FLAGS: Final = ("--address", "--token")
_ADDRESS: Final = re.compile(r"unix:.+|(dns:(///)?)?[^\s/]+:[0-9]{1,5}")
_LARGEST_NUMBER: Final = 2**32 - 1  # of the contract's fields


class SettingsError(ValueError):
    """Something is missing or cannot be; the text says what, where and how to fix it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a bot connects; `SettingsError` for numbers that cannot be.

    `address`: `host:port` or `unix:/path`. `max_concurrent_games`: 1 or more. `candidate_limit`: 0 (none) or more, of
    which the server heeds up to 256. `patience`: seconds in which the server may come up, or come back when the
    connection was lost; the server gives a bot up that is not back within 30 seconds, unless it was set up otherwise.
    """

    address: str
    token: str
    bot_version: str = ""
    max_concurrent_games: int = 4
    candidate_limit: int = 64
    patience: float = 30.0

    def __post_init__(self) -> None:
        _check_number("max_concurrent_games", self.max_concurrent_games, least=1)
        _check_number("candidate_limit", self.candidate_limit, least=0)


def find_place(
    address: str | None,
    token: str | None,
    words: Sequence[str],
    environment: Mapping[str, str] = os.environ,
) -> tuple[str, str]:
    """Returns address and token; `words` are those of the command line, of which others than ours are left alone.

    `SettingsError` for what is missing or cannot be, and for a flag that looks like a slip in one of ours.
    """
    parser = ArgumentParser(description="A bot of Rummy Arena.", allow_abbrev=False)
    parser.add_argument("--address", help=f"host:port or unix:/path of the server (or {ADDRESS_VARIABLE})")
    parser.add_argument("--token", help=f"the token of this bot (or {TOKEN_VARIABLE})")
    flags, others = parser.parse_known_args(words)
    _refuse_slips(others)
    address = address or flags.address or environment.get(ADDRESS_VARIABLE)
    token = token or flags.token or environment.get(TOKEN_VARIABLE)
    return _checked_address(address), _checked_token(token)


def _refuse_slips(others: Sequence[str]) -> None:
    for flag in (word.partition("=")[0] for word in others if word.startswith("-")):
        meant = get_close_matches(flag, _FLAGS, n=1, cutoff=0.8)
        if meant:
            raise SettingsError(
                f"unknown flag {flag}; did you mean {meant[0]}? "
                "(If it is a flag of your bot's own, pass run(..., arguments=[]) and give address and token otherwise.)"
            )


def _checked_address(address: str | None) -> str:
    if not address:
        raise SettingsError(f"no address: pass --address HOST:PORT or set {ADDRESS_VARIABLE}")
    if not _ADDRESS.fullmatch(address):
        raise SettingsError(f"{address!r} is not an address: write host:port, such as 127.0.0.1:7777, or unix:/path")
    return address


def _checked_token(token: str | None) -> str:
    if not token:
        raise SettingsError(f"no token: pass --token TOKEN or set {TOKEN_VARIABLE}")
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise SettingsError("the token has characters that no token has: copy it again, without blanks")
    return token


def _check_number(name: str, value: int, *, least: int) -> None:
    if not least <= value <= _LARGEST_NUMBER:
        raise SettingsError(f"{name} = {value}: allowed are {least} to {_LARGEST_NUMBER}")
