"""Results in SQL: `models` are the tables, `records` what is done with them, `results` the values that go in and out.

`store` opens a database for trio, `database` knows SQLite's ways. Nothing here knows how tournaments are played.
"""
