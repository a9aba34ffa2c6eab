"""Rounds, pinned entrants, which games count for Elo, how late the server was, and imported tournaments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_COUNT_ALL = """
UPDATE tournament SET rated_games = (SELECT COUNT(*) FROM game WHERE game.tournament_id = tournament.id)
WHERE status = 'finished'
"""


def upgrade() -> None:
    """Adds what older tournaments lack; the games of those that are finished count for Elo, as they did."""
    op.create_table(
        "round",
        sa.Column("tournament_id", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("tables", sa.String, nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tournament_id", "number", name="pk_round"),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"], name="fk_round_tournament_id_tournament"),
    )
    op.add_column("tournament", sa.Column("rated_games", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("tournament", sa.Column("imported", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("entrant", sa.Column("pin", sa.String, nullable=False, server_default=""))
    op.add_column("game", sa.Column("lag", sa.BigInteger, nullable=False, server_default="0"))
    op.execute(_COUNT_ALL)
