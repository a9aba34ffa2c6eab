"""Rounds of bots whose strengths are known, played without games, for the tests of Swiss tournaments and ladders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import log
from random import Random

from rummyarena_server.store.rounds import PlayedGame
from rummyarena_server.tournament.rounds import Pairing, Round, Rounds

Play = Callable[[tuple[int, ...]], PlayedGame]


@dataclass
class Played:
    """Rounds with their results."""

    pairing: Pairing
    rounds: list[Round] = field(default_factory=list)
    games: list[list[PlayedGame]] = field(default_factory=list)


def by_number(table: tuple[int, ...]) -> PlayedGame:
    """The lower number always wins."""
    return PlayedGame(table, tuple(sorted(table).index(one) + 1 for one in table))


def by_strength(random: Random, elo_apart: float) -> Play:
    """By the model of Plackett and Luce: each bot is so much stronger than the one with the next number."""

    def play(table: tuple[int, ...]) -> PlayedGame:
        fortune = [-one * elo_apart * log(10) / 400 - log(-log(random.random())) for one in table]
        return PlayedGame(table, tuple(1 + sum(other > own for other in fortune) for own in fortune))

    return play


def at_random(random: Random) -> Play:
    """Any ranks, ties among them; now and then all forfeit."""

    def play(table: tuple[int, ...]) -> PlayedGame:
        ranks = sorted(random.choices(range(1, len(table) + 1), k=len(table)))
        shared = [ranks.index(rank) + 1 for rank in ranks]
        random.shuffle(shared)
        return PlayedGame(table, tuple(shared), rated=random.random() < 0.9)

    return play


def play(rounds: Rounds, count: int, play_game: Play) -> Played:
    """Plays so many rounds from the first, or fewer if there are no more."""
    played = Played(rounds.pairing())
    while len(played.rounds) < count and (following := played.pairing.next_round()) is not None:
        games = [play_game(following.game(index).table) for index in following.indices]
        played.pairing.note(following, games)
        played.rounds.append(following)
        played.games.append(games)
    return played


def resumed_after(rounds: Rounds, played: Played, count: int) -> Round | None:
    """What comes after the first rounds for somebody who has only these and their results."""
    pairing = rounds.pairing()
    for one, games in zip(played.rounds[:count], played.games, strict=False):
        pairing.note(one, games)
    return pairing.next_round()
