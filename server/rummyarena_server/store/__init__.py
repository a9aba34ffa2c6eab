"""Results in SQL: `models` are the tables, `results` the values that go in and out.

`records` writes what is played, `history` and `standings` show it. `store` opens a database for trio, `database` knows
SQLite's ways, `lock` has one process play a tournament at a time. Nothing here knows how tournaments are played.
"""
