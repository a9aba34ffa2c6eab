"""The seeds of games, each derived from the event secret, specified to the byte.

The secret is 32 bytes, the texts are ASCII with decimal numbers::

    game seed = SHA-256(secret || "deals/GROUP")                    the games of a group share their deals
    game seed = SHA-256(secret || "deals/GROUP/ROTATION")           each game has deals of its own
    game seed = SHA-256(secret || "deals/GROUP/ROTATION/ATTEMPT")   the same, begun again after ATTEMPT (1, 2 ...) tries
    digest    = SHA-256(game seed)

The digest is published before the first deal, the seed when the last game on it is recorded, the secret at the end of
the event: then anybody can redo every shuffle. A ladder may have no end. Each of its waves, numbered from 0, has a
secret of its own, which stands in the place of the event secret above and is revealed when the wave is complete; the
event secret never is::

    wave secret = SHA-256(event secret || "wave/NUMBER")
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

SECRET_BYTES: Final = 32


def game_seed(secret: bytes, group: int, rotation: int | None = None, attempt: int = 0) -> bytes:
    """Returns the seed of a game, 32 bytes; without `rotation`, the one that all games of a deal group share.

    `attempt`: how many times the game was begun and abandoned. Shared deals are played again on the same seed, for they
    are only dealt to bots that carry nothing from one game to another: `ValueError` for an attempt without a rotation.
    """
    if len(secret) != SECRET_BYTES:
        raise ValueError(f"an event secret is {SECRET_BYTES} bytes, not {len(secret)}")
    if rotation is None and attempt:
        raise ValueError("deals that a group shares have no attempts")
    numbers = [group] + ([] if rotation is None else [rotation]) + ([attempt] if attempt else [])
    return sha256(secret + "/".join(["deals", *map(str, numbers)]).encode("ascii")).digest()


def wave_secret(secret: bytes, number: int) -> bytes:
    """Returns the secret of a wave of a ladder, 32 bytes, from which the seeds of its games are derived."""
    return sha256(secret + f"wave/{number}".encode("ascii")).digest()


def digest(seed: bytes) -> bytes:
    """Returns what is published of a game seed before its first deal; it proves later that the deals were fixed."""
    return sha256(seed).digest()
