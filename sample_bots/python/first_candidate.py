"""Plays the first candidate of every decision: the shortest bot there is, but no fool; good moves are listed first."""

from rummyarena import Decision, Move, run


def first_candidate(decision: Decision) -> Move:
    return decision.candidates[0]


if __name__ == "__main__":
    run(first_candidate)
