"""Alembic's environment: migrates over the connection it is handed, within that connection's transaction."""

from __future__ import annotations

from alembic import context

from rummyarena_server.store.models import Table

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Table.metadata,
    render_as_batch=True,  # SQLite changes a table by making it anew
)
context.run_migrations()
