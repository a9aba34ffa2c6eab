"""Plays any candidate, each with the same chance.

It draws from `decision.random` only, so the same games come out when they are played again.
"""

from rummyarena import Decision, Move, run


def random_legal(decision: Decision) -> Move:
    return decision.random.choice(decision.candidates)


if __name__ == "__main__":
    run(random_legal)
