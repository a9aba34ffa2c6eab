"""The rulebook of Rummy Arena: two rummy games as pure functions over frozen values and small states.

Nothing here does I/O, reads a clock or draws randomness that was not handed in; only the standard library is imported.
"""
