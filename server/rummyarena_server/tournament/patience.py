"""Writing to a store that cannot be written at the moment: the event waits, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, Final, ParamSpec, TypeVar

import trio
from sqlalchemy.orm import Session

from rummyarena_server.store.errors import StoreUnavailable
from rummyarena_server.store.store import Store

P = ParamSpec("P")
T = TypeVar("T")

PAUSE_SECONDS: Final = 1.0
"""How long it takes from one try to the next; a try at a locked database takes some seconds itself."""


class PatientStore:
    """Writes in the end, however long the disk is full or the database locked.

    `tell` hears why it waits, again when the reason changes, and that it goes on; of several writes that wait at once,
    once.
    """

    def __init__(self, store: Store, tell: Callable[[str], None]) -> None:
        self._store = store
        self._tell = tell
        self._reason = ""

    async def write(self, function: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Returns what the function returns once all that it wrote is safe."""
        while True:
            try:
                written = await self._store.write(function, *args, **kwargs)
            except StoreUnavailable as error:
                self._note(str(error))
                await trio.sleep(PAUSE_SECONDS)
            else:
                self._note("")
                return written

    def _note(self, reason: str) -> None:
        if reason != self._reason:
            self._reason = reason
            self._tell(f"waits, and nothing is lost: {reason}" if reason else "goes on: its results can be kept again")
