"""Formats whose tables follow from results, round by round.

A round is made from the schedule seed and the complete results of all earlier rounds, and stored before its first game
starts. Every round has as many tables as any other, each of them one deal group of `seats` games: table t of round r
is deal group r T + t, where a round has T tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from sqlalchemy.orm import Session

from rummyarena_server.store.rounds import PlayedGame, played_games, round_tables
from rummyarena_server.tournament.schedule import ScheduledGame, rotated
from rummyarena_server.tournament.tables import Table


@dataclass(frozen=True, slots=True)
class Round:
    """A round, numbered from 0, as a schedule that ends with it; the games of earlier rounds are not known any more.

    `tables`: the entrants of each as they sit at rotation 0.
    """

    number: int
    tables: tuple[Table, ...]

    @property
    def seats(self) -> int:
        """The number of seats of a table."""
        return len(self.tables[0])

    @property
    def indices(self) -> range:
        """The indices of its games."""
        games = len(self.tables) * self.seats
        return range(self.number * games, (self.number + 1) * games)

    def __len__(self) -> int:
        return self.indices.stop

    def game(self, index: int) -> ScheduledGame:
        """Returns the game with this index; `IndexError` if it is none of this round's."""
        if index not in self.indices:
            raise IndexError(f"game {index} of round {self.number}, which has {self.indices}")
        return rotated(index, self.tables[index // self.seats - self.number * len(self.tables)])


class Pairing(Protocol):
    """Makes the rounds of one tournament, one after the other; equal results give equal rounds."""

    def next_round(self) -> Round | None:
        """Returns the round after those that were noted; `None` if there is none."""
        ...

    def note(self, played: Round, games: Sequence[PlayedGame]) -> None:
        """Notes the next round and all its results, in the order of the schedule."""
        ...


@runtime_checkable
class Rounds(Protocol):
    """A format whose tables follow from results."""

    @property
    def seats(self) -> int:
        """The number of seats of a table."""
        ...

    @property
    def tables_a_round(self) -> int:
        """The number of tables, so of deal groups, in every round."""
        ...

    @property
    def rounds(self) -> int | None:
        """The number of rounds, `None` if there is no end to them."""
        ...

    def pairing(self) -> Pairing:
        """Returns what makes the rounds, before the first of them."""
        ...


def resumed(session: Session, tournament_id: int, rounds: Rounds) -> tuple[Pairing, Round | None]:
    """Returns what makes the rounds after those whose games are all recorded, and the one that was opened besides.

    There is none after a complete round whose successor was not stored yet.
    """
    pairing, number = rounds.pairing(), 0
    while tables := round_tables(session, tournament_id, number):
        opened = Round(number, tables)
        games = played_games(session, tournament_id, opened.indices)
        if len(games) < len(opened.indices):
            return pairing, opened
        pairing.note(opened, games)
        number += 1
    return pairing, None
