"""The games of a tournament as they are handed on: with the secret of their seeds, once it is revealed."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from sqlalchemy.orm import Session

from rummyarena_server.store.imports import Revealed, revealed_of, revealed_of_all
from rummyarena_server.store.results import StoredTournament
from rummyarena_server.store.written import KeptGame, kept_games, recorded_in
from rummyarena_server.tournament.formats import schedule_of, secret_of
from rummyarena_server.tournament.waves import Ladder


@dataclass(frozen=True, slots=True)
class TournamentSecret:
    """The secret of a tournament: its digest, which may be told at any time, and itself once it is revealed.

    `digest`: `None` where each wave of a ladder has a secret of its own, or a file of games did not say it.
    """

    digest: bytes | None
    secret: bytes | None


def tournament_secret(tournament: StoredTournament) -> TournamentSecret:
    """Returns what may be told of a tournament's secret."""
    said = json.loads(tournament.configuration)
    if tournament.imported:
        told = revealed_of_all(said)
        return TournamentSecret(told.digest, told.secret)
    if said.get("format") == "ladder":
        return TournamentSecret(None, None)
    secret = tournament.event_secret
    return TournamentSecret(sha256(secret).digest(), secret if tournament.status == "finished" else None)


def written_games(session: Session, tournament: StoredTournament, after: int, limit: int) -> list[KeptGame]:
    """Returns a page of the recorded games of a tournament, with what may be told of the secrets of their seeds."""
    kept = kept_games(session, tournament, after, limit)
    secrets = _Secrets(session, tournament)
    return [_with_secret(one, secrets) for one in kept]


def _with_secret(kept: KeptGame, secrets: _Secrets) -> KeptGame:
    origin = kept.game.origin
    if origin is None:
        return kept
    told = secrets.of(origin.index, origin.group)
    return replace(kept, game=replace(kept.game, origin=replace(origin, secret_digest=told.digest, secret=told.secret)))


class _Secrets:
    """What may be told of the secrets of one tournament, by the indices and deal groups of its games."""

    def __init__(self, session: Session, tournament: StoredTournament) -> None:
        self._session = session
        self._tournament = tournament
        self._said: dict[str, Any] = json.loads(tournament.configuration)
        bots = len(self._said["bots"])
        self._schedule = None if tournament.imported else schedule_of(self._said, tournament.schedule_seed, bots)
        self._is_over = tournament.status == "finished"
        self._complete: dict[int, bool] = {}

    def of(self, index: int, group: int) -> Revealed:
        """Returns what may be told of the secret of a game."""
        if self._schedule is None:
            return revealed_of(self._said, index)
        secret = secret_of(self._schedule, self._tournament.event_secret, group)
        is_revealed = self._is_over
        if isinstance(self._schedule, Ladder):
            is_revealed = is_revealed or self._is_complete(self._schedule, group // self._schedule.tables_a_round)
        return Revealed(sha256(secret).digest(), secret if is_revealed else None)

    def _is_complete(self, ladder: Ladder, wave: int) -> bool:
        if wave not in self._complete:
            games = ladder.tables_a_round * ladder.seats
            indices = range(wave * games, (wave + 1) * games)
            self._complete[wave] = recorded_in(self._session, self._tournament.id, indices) == games
        return self._complete[wave]
