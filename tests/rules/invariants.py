"""What must hold in every game of every ruleset; the conformance suite and scripts/soak both use it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from rummyarena_rules.cards import CARDS, JOKER, Card
from rummyarena_rules.events import DealEnded, DealStarted, Event, Seat, redact
from rummyarena_rules.moves import Cut, Knock, Move
from rummyarena_rules.ruleset import AnyState, AnyView, Ruleset
from tests.rules.games import CANDIDATE_LIMIT

Viewer = Seat | None


def all_cards(state: AnyState) -> Counter[Card]:
    found = Counter(state.stock)
    found.update(state.aside)
    found.update(one.card for one in state.public.discards)
    for private in state.privates:
        found.update(private.hand)
    for meld in state.public.melds:
        found.update(meld.cards)
    return found


def cards_named(value: Any) -> set[Card]:
    """Every card that stands anywhere in a value."""
    found: set[Card] = set()
    _find_cards(value, found)
    return found


def _find_cards(value: Any, found: set[Card]) -> None:
    if type(value) is Card:
        found.add(value)
    elif isinstance(value, tuple | list):
        for one in value:
            _find_cards(one, found)
    else:
        for name in _field_names(type(value)):
            _find_cards(getattr(value, name), found)


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
        self._shoe: Counter[Card] | None = None

    def check(self, state: AnyState, event: Event) -> None:
        if isinstance(event, DealStarted):
            self._shoe = Counter(event.shoe)
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
        self._seen: dict[Viewer, set[Card]] = {viewer: set() for viewer in (*range(state.public.seats), None)}

    def check(self, state: AnyState, event: Event) -> None:
        on_table = cards_on_table(state)
        for viewer, seen_before in self._seen.items():
            seen = on_table if viewer is None else on_table.union(state.privates[viewer].hand)
            if not isinstance(event, DealEnded):
                assert cards_named(redact(event, viewer)) - seen <= seen_before, (viewer, event)
            self._seen[viewer] = seen


def check_counts(state: AnyState) -> None:
    """Public counts are the true counts, known cards are in the hands they are said to be in, hands are sorted."""
    public = state.public
    assert public.stock_count == len(state.stock)
    assert public.aside_count == len(state.aside)
    assert public.hand_counts == [len(private.hand) for private in state.privates]
    for known, private in zip(public.known, state.privates, strict=True):
        assert known == sorted(known)
        assert private.hand == sorted(private.hand)
        assert not Counter(known) - Counter(private.hand)


def check_offers(ruleset: Ruleset[Any], state: AnyState, seat: Seat) -> tuple[Move, ...]:
    """What is offered to a seat that owes an answer, and the fallback, are legal; returns the offered moves."""
    view = ruleset.view(state, seat)
    offered = ruleset.candidates(view, CANDIDATE_LIMIT)
    assert len(offered.moves) <= CANDIDATE_LIMIT
    assert len(set(offered.moves)) == len(offered.moves)
    assert [move for move in offered.moves if ruleset.check(view, move)] == []
    fallback = ruleset.fallback(view)
    assert fallback is None or ruleset.check(view, fallback) is None
    return offered.moves


def mutations(state: AnyState, seat: Seat, moves: tuple[Move, ...], draws: random.Random) -> Iterator[Move]:
    """Moves made illegal by a card that the seat can neither hold nor gather."""
    hidden = sorted(set(CARDS) - cards_to_be_seen(state, seat) - {JOKER})
    for move in moves:
        names = [name for name in _field_names(type(move)) if cards_named(getattr(move, name))]
        if not names or not hidden or isinstance(move, Knock | Cut):
            continue
        name = draws.choice(names)
        yield replace(move, **{name: _with(getattr(move, name), draws.choice(hidden))})


def _with(value: Any, strange: Card) -> Any:
    """Puts a strange card in the place of the last one."""
    if isinstance(value, Card):
        return strange
    return (*value[:-1], _with(value[-1], strange))


def check_twin(ruleset: Ruleset[Any], state: AnyState, seat: Seat, draws: random.Random) -> bool:
    """Rearranging unseen cards changes nothing that a seat is told (V09, I4); returns whether any card moved."""
    twin = rearranged(state, seat, draws)
    view, other = ruleset.view(state, seat), ruleset.view(twin, seat)
    assert view == other
    offered = ruleset.candidates(view, CANDIDATE_LIMIT)
    assert offered == ruleset.candidates(other, CANDIDATE_LIMIT)
    assert all(ruleset.check(other, move) is None for move in offered.moves)
    assert ruleset.fallback(view) == ruleset.fallback(other)
    return twin != state


def rearranged(state: AnyState, seat: Seat, draws: random.Random) -> AnyState:
    """A state that differs from `state` only in where the cards lie that `seat` has not seen."""
    twin = state.copy()
    pool = [*twin.stock, *twin.aside]
    unknown = {
        other: Counter(twin.privates[other].hand) - Counter(twin.public.known[other]) for other in others(state, seat)
    }
    for cards in unknown.values():
        pool += cards.elements()
    draws.shuffle(pool)
    for other, cards in unknown.items():
        fresh = [pool.pop() for _ in range(cards.total())]
        twin.privates[other].hand = sorted([*twin.public.known[other], *fresh])
    twin.aside = tuple(pool.pop() for _ in twin.aside)
    twin.stock = pool
    return twin


class Invariants:
    """All of the above over one game, for long runs."""

    def __init__(self, ruleset: Ruleset[Any], state: AnyState, draws: random.Random) -> None:
        self._ruleset = ruleset
        self._draws = draws
        self._checks: Iterable[Any] = (Conserved(), Folded(ruleset, state), Unleaked(state))
        self.decisions = 0
        self.deals = 0

    def after(self, state: AnyState, event: Event) -> None:
        self.deals += isinstance(event, DealEnded)
        for one in self._checks:
            one.check(state, event)

    def before(self, state: AnyState, answers: dict[Seat, Move | None]) -> None:
        check_counts(state)
        for seat in answers:
            self.decisions += 1
            moves = check_offers(self._ruleset, state, seat)
            view: AnyView = self._ruleset.view(state, seat)
            for move in mutations(state, seat, moves[:4], self._draws):
                assert self._ruleset.check(view, move), move
            check_twin(self._ruleset, state, seat, self._draws)
