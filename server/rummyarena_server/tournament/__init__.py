"""Tournaments: who plays whom (`schedule`) on which cards (`seeds`), and what that is worth (`rating`, `ladder`)."""
