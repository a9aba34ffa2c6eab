"""The referee: deals, asks, judges and keeps the clocks of a game, whoever sits at its seats.

`game` plays one game to its end, `players` is what it needs of a bot, `clock` measures time, `record` is what remains.
It speaks views and moves and knows nothing of the wire, so a game runs in a test as well as over a network.
"""
