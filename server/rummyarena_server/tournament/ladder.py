"""The ladder: every bot's Elo in every variant, made from the recorded games that count for it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from rummyarena_server.store.results import BotRating, RatedGame
from rummyarena_server.store.standings import bot_names, rated_games, replace_ratings
from rummyarena_server.tournament.rating import START, elo_changes


@dataclass(slots=True)
class _Account:
    """What a bot has in one variant so far."""

    elo: float = START
    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0

    def add(self, change: float, rank: int, firsts: int) -> None:
        self.elo += change
        self.games += 1
        self.wins += rank == 1 and firsts == 1
        self.draws += rank == 1 and firsts > 1
        self.losses += rank != 1


def ratings_of_games(session: Session) -> list[tuple[int, BotRating]]:
    """Returns the ratings that the games give, each with the id of its bot.

    They go in the order of the schedule, whatever the order of finishing.
    """
    accounts: defaultdict[tuple[str, int], _Account] = defaultdict(_Account)
    for game in rated_games(session):
        _book(accounts, game)
    names = bot_names(session)
    return [
        (bot_id, BotRating(variant=variant, bot=names[bot_id], **asdict(account)))
        for (variant, bot_id), account in accounts.items()
    ]


def rebuild_ratings(session: Session, now: datetime) -> None:
    """Makes all ratings again from the games."""
    replace_ratings(session, ratings_of_games(session), now)


def _book(accounts: defaultdict[tuple[str, int], _Account], game: RatedGame) -> None:
    table = [accounts[game.variant, bot] for bot in game.bots]
    changes = elo_changes([one.elo for one in table], game.ranks)
    for one, change, rank in zip(table, changes, game.ranks, strict=True):
        one.add(change, rank, game.ranks.count(1))
