"""What must hold in every game of every ruleset; the conformance suite and scripts/soak both use it."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from rummyarena_rules.cards import STANDARD_DECK, Card
from rummyarena_rules.events import DealEnded, DealStarted, Event, Seat, redact
from rummyarena_rules.moves import Cut, Knock, Move
from rummyarena_rules.ruleset import AnyState, AnyView, Candidates, Ruleset
from tests.rules.games import CANDIDATE_LIMIT, play
from tests.rules.random_options import RandomGame

Viewer = Seat | None


def all_cards(state: AnyState) -> list[Card]:
    """Every card of a state, sorted."""
    found = [*state.stock, *state.aside]
    found += [one.card for one in state.public.discards]
    for private in state.privates:
        found += private.hand
    for meld in state.public.melds:
        found += meld.cards
    found.sort()
    return found


def cards_named(value: Any) -> set[Card]:
    """Every card that stands anywhere in a value."""
    found: set[Card] = set()
    pending = [value]
    while pending:
        one = pending.pop()
        kind = type(one)
        if kind is Card:
            found.add(one)
        elif kind is tuple or kind is list:
            pending += one
        elif kind is not int and one is not None:
            pending += [getattr(one, name) for name in _field_names(kind)]
    return found


_FIELD_NAMES: dict[type[Any], tuple[str, ...]] = {}


def _field_names(kind: type[Any]) -> tuple[str, ...]:
    names = _FIELD_NAMES.get(kind)
    if names is None:
        names = _FIELD_NAMES[kind] = tuple(one.name for one in fields(kind)) if is_dataclass(kind) else ()
    return names


def cards_on_table(state: AnyState) -> set[Card]:
    """The faces that everybody may see somewhere, hands that are known included."""
    public = state.public
    seen = {one.card for one in public.discards} | cards_named(public.facts)
    seen.update(*(meld.cards for meld in public.melds), *public.known)
    return seen


def cards_to_be_seen(state: AnyState, viewer: Viewer) -> set[Card]:
    """The faces that a viewer may see somewhere: on the table, in known hands, in its own hand."""
    seen = cards_on_table(state)
    return seen if viewer is None else seen.union(state.privates[viewer].hand)


def others(state: AnyState, seat: Seat) -> Iterator[Seat]:
    return (other for other in range(state.public.seats) if other != seat)


class Conserved:
    """Cards are conserved after each event: exactly the shoe of the deal."""

    def __init__(self) -> None:
        self._shoe: list[Card] = []

    def check(self, state: AnyState, event: Event) -> None:
        if isinstance(event, DealStarted):
            self._shoe = sorted(event.shoe or ())
        # In liverpool the shoe is cut after it is shuffled; before the first deal there are no cards at all.
        assert all_cards(state) == self._shoe, event


class Folded:
    """Views folded from redacted events are the views projected from the state, for every seat and a spectator."""

    def __init__(self, ruleset: Ruleset[Any], state: AnyState) -> None:
        self._ruleset = ruleset
        viewers: list[Viewer] = [*range(state.public.seats), None]
        self._views = {viewer: ruleset.view(state, viewer).copy() for viewer in viewers}

    def check(self, state: AnyState, event: Event) -> None:
        for viewer, view in self._views.items():
            self._ruleset.observe(view, redact(event, viewer))
            assert view == self._ruleset.view(state, viewer), (viewer, event)


class Unleaked:
    """No viewer receives a card that it may not know (V01, V02, V11); the deal result shows all hands."""

    def __init__(self, state: AnyState) -> None:
        self._on_table: set[Card] = set()
        self._hands: list[list[Card]] = [[] for _ in range(state.public.seats)]

    def check(self, state: AnyState, event: Event) -> None:
        """What is named must be on the table or in the viewer's hand, after the event or before it."""
        on_table = cards_on_table(state)
        hands = [private.hand.copy() for private in state.privates]
        seen = on_table | self._on_table
        unseen = cards_named(event) - seen
        for viewer in (*range(state.public.seats), None):
            received = redact(event, viewer)
            told = unseen if received is event else cards_named(received) - seen
            own = () if viewer is None else (*hands[viewer], *self._hands[viewer])
            assert told.issubset(own) or isinstance(event, DealEnded), (viewer, event)
        self._on_table, self._hands = on_table, hands


def check_counts(state: AnyState) -> None:
    """Public counts are the true counts, known cards are in the hands they are said to be in, hands are sorted."""
    public = state.public
    assert public.stock_count == len(state.stock)
    assert public.aside_count == len(state.aside)
    assert public.hand_counts == [len(private.hand) for private in state.privates]
    for seat, private in enumerate(state.privates):
        assert private.hand == sorted(private.hand)
        assert public.known[seat] == sorted(public.known[seat])
        unknown_cards(state, seat)


def check_offers(ruleset: Ruleset[Any], view: AnyView) -> Candidates:
    """What is offered to a seat that owes an answer, and the fallback, are legal; returns what is offered."""
    offered = ruleset.candidates(view, CANDIDATE_LIMIT)
    assert len(offered.moves) <= CANDIDATE_LIMIT
    assert len(set(offered.moves)) == len(offered.moves)
    assert [move for move in offered.moves if ruleset.check(view, move)] == []
    fallback = ruleset.fallback(view)
    assert fallback is None or ruleset.check(view, fallback) is None
    return offered


def mutations(state: AnyState, seat: Seat, moves: tuple[Move, ...], draws: random.Random) -> Iterator[Move]:
    """Moves made illegal by a card that the seat can neither hold nor gather."""
    hidden = sorted(_NATURALS - cards_to_be_seen(state, seat))
    for move in moves if hidden else ():
        names = [name for name in _field_names(type(move)) if cards_named(getattr(move, name))]
        if not names or isinstance(move, Knock | Cut):
            continue
        name = draws.choice(names)
        yield replace(move, **{name: _with(getattr(move, name), draws.choice(hidden))})


_NATURALS = frozenset(STANDARD_DECK)


def _with(value: Any, strange: Card) -> Any:
    """Puts a strange card in the place of the last one."""
    if isinstance(value, Card):
        return strange
    return (*value[:-1], _with(value[-1], strange))


def check_twin(ruleset: Ruleset[Any], state: AnyState, seat: Seat, draws: random.Random, offered: Candidates) -> bool:
    """Rearranging unseen cards changes nothing that a seat is told (V09, I4); returns whether any card moved.

    `offered`: the candidates that `seat` has in `state`.
    """
    twin = rearranged(state, seat, draws)
    view, other = ruleset.view(state, seat), ruleset.view(twin, seat)
    assert view == other
    assert offered == ruleset.candidates(other, CANDIDATE_LIMIT)
    assert all(ruleset.check(other, move) is None for move in offered.moves)
    assert ruleset.fallback(view) == ruleset.fallback(other)
    return twin != state


def rearranged(state: AnyState, seat: Seat, draws: random.Random) -> AnyState:
    """A state that differs from `state` only in where the cards lie that `seat` has not seen."""
    twin = state.copy()
    pool = [*twin.stock, *twin.aside]
    for other in others(state, seat):
        pool += unknown_cards(twin, other)
    pool.sort(key=lambda _: draws.random())  # a shuffle, and three times as fast as the one in `random`
    for other in others(state, seat):
        known = twin.public.known[other]
        fresh = [pool.pop() for _ in range(len(twin.privates[other].hand) - len(known))]
        twin.privates[other].hand = sorted([*known, *fresh])
    twin.aside = tuple(pool.pop() for _ in twin.aside)
    twin.stock = pool
    return twin


def unknown_cards(state: AnyState, seat: Seat) -> list[Card]:
    """The cards of a hand that are not publicly known; `ValueError` if a known card is not in the hand."""
    unknown = state.privates[seat].hand.copy()
    for card in state.public.known[seat]:
        unknown.remove(card)
    return unknown


def soak_game(name: str, number: int) -> tuple[int, int]:
    """Plays random game `number` of a ruleset with all of the above and returns how many decisions and deals it had."""
    game = RandomGame(name, number)
    invariants = Invariants(game.ruleset, game.state, game.draws)
    try:
        for event in play(game.ruleset, game.state, invariants.choose, invariants.before):
            invariants.after(game.state, event)
    except Exception as error:
        error.add_note(f"in {game}")
        raise
    return invariants.decisions, invariants.deals


class Invariants:
    """All of the above over one game, for long runs; its `choose` picks from what it has found offered."""

    def __init__(self, ruleset: Ruleset[Any], state: AnyState, draws: random.Random) -> None:
        self._ruleset = ruleset
        self._draws = draws
        self._checks: Iterable[Any] = (Conserved(), Folded(ruleset, state), Unleaked(state))
        self._offered: dict[Seat, Candidates] = {}
        self.decisions = 0
        self.deals = 0

    def choose(self, ruleset: Ruleset[Any], view: AnyView) -> Move | None:
        """Chooses any of the moves offered, after a look at all of them."""
        assert view.seat is not None
        offered = self._offered[view.seat] = check_offers(ruleset, view)
        return self._draws.choice(offered.moves) if offered.moves else ruleset.fallback(view)

    def before(self, state: AnyState, answers: dict[Seat, Move | None]) -> None:
        """Checks what the seats that owe an answer are told and offered."""
        check_counts(state)
        for seat in answers:
            self.decisions += 1
            offered = self._offered.pop(seat)
            view: AnyView = self._ruleset.view(state, seat)
            for move in mutations(state, seat, offered.moves[:4], self._draws):
                assert self._ruleset.check(view, move), move
            check_twin(self._ruleset, state, seat, self._draws, offered)

    def after(self, state: AnyState, event: Event) -> None:
        """Checks the state, all views of it and what the viewers receive."""
        self.deals += isinstance(event, DealEnded)
        for one in self._checks:
            one.check(state, event)
