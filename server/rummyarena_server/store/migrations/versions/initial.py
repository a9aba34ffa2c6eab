"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Makes all tables; a database only goes forward, so there is no way back."""
    _make_entries()
    _make_games()
    _make_ratings()


def _make_entries() -> None:
    op.create_table(
        "bot",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_bot"),
        sa.UniqueConstraint("name", name="uq_bot_name"),
    )
    op.create_table(
        "tournament",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("configuration", sa.String, nullable=False),
        sa.Column("schedule_seed", sa.BigInteger, nullable=False),
        sa.Column("event_secret", sa.LargeBinary, nullable=False),
        sa.Column("secret_fixed", sa.Boolean, nullable=False),
        sa.Column("status", sa.String, nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_tournament"),
        sa.UniqueConstraint("name", name="uq_tournament_name"),
        sa.CheckConstraint("status IN ('running', 'finished')", name=op.f("ck_tournament_status")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "entrant",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("tournament_id", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("bot_id", sa.Integer, nullable=False),
        sa.Column("version", sa.String, nullable=False),
        sa.Column("command", sa.String, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_entrant"),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"], name="fk_entrant_tournament_id_tournament"),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name="fk_entrant_bot_id_bot"),
        sa.UniqueConstraint("tournament_id", "number", name="uq_entrant_tournament_id_number"),
    )
    op.create_index("ix_entrant_bot_id", "entrant", ["bot_id"])


def _make_games() -> None:
    op.create_table(
        "game",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("tournament_id", sa.Integer, nullable=False),
        sa.Column("schedule_index", sa.BigInteger, nullable=False),
        sa.Column("deal_group", sa.BigInteger, nullable=False),
        sa.Column("rotation", sa.Integer, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("seed", sa.LargeBinary, nullable=False),
        sa.Column("ruleset", sa.String, nullable=False),
        sa.Column("rules_version", sa.Integer, nullable=False),
        sa.Column("options", sa.String, nullable=False),
        sa.Column("status", sa.String, nullable=False),
        sa.Column("reason", sa.String, nullable=False),
        sa.Column("deals", sa.Integer, nullable=False),
        sa.Column("counted_deals", sa.Integer, nullable=False),
        sa.Column("rated", sa.Boolean, nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_game"),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"], name="fk_game_tournament_id_tournament"),
        sa.UniqueConstraint("tournament_id", "schedule_index", name="uq_game_tournament_id_schedule_index"),
        sa.CheckConstraint("status IN ('finished', 'unplayed')", name=op.f("ck_game_status")),
    )
    op.create_table(
        "seat",
        sa.Column("game_id", sa.Integer, nullable=False),
        sa.Column("seat", sa.Integer, nullable=False),
        sa.Column("entrant_id", sa.Integer, nullable=False),
        sa.Column("rank", sa.Integer, nullable=False),
        sa.Column("total", sa.Integer, nullable=False),
        sa.Column("points", sa.Integer, nullable=False),
        sa.Column("forfeit", sa.String, nullable=True),
        sa.Column("thinking", sa.BigInteger, nullable=False),
        sa.Column("faults", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("game_id", "seat", name="pk_seat"),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name="fk_seat_game_id_game"),
        sa.ForeignKeyConstraint(["entrant_id"], ["entrant.id"], name="fk_seat_entrant_id_entrant"),
    )
    op.create_index("ix_seat_entrant_id", "seat", ["entrant_id"])
    op.create_table(
        "record",
        sa.Column("game_id", sa.Integer, nullable=False),
        sa.Column("format", sa.Integer, nullable=False),
        sa.Column("codec", sa.String, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("game_id", name="pk_record"),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name="fk_record_game_id_game"),
    )


def _make_ratings() -> None:
    op.create_table(
        "rating",
        sa.Column("variant", sa.String, nullable=False),
        sa.Column("bot_id", sa.Integer, nullable=False),
        sa.Column("elo", sa.Float, nullable=False),
        sa.Column("games", sa.Integer, nullable=False),
        sa.Column("wins", sa.Integer, nullable=False),
        sa.Column("draws", sa.Integer, nullable=False),
        sa.Column("losses", sa.Integer, nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("variant", "bot_id", name="pk_rating"),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name="fk_rating_bot_id_bot"),
    )
