"""Games that were begun and not recorded."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Makes the table of attempts."""
    op.create_table(
        "attempt",
        sa.Column("tournament_id", sa.Integer, nullable=False),
        sa.Column("schedule_index", sa.BigInteger, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("seed", sa.LargeBinary, nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("abandoned_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("tournament_id", "schedule_index", "attempt", name="pk_attempt"),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"], name="fk_attempt_tournament_id_tournament"),
    )
