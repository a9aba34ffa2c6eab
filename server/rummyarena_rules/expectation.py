"""What a scenario expects of a state (notation.md 5.4): reading it and comparing it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rummyarena_rules.cards import JOKER, Card, text_of
from rummyarena_rules.events import Event, Seat
from rummyarena_rules.moves import Move
from rummyarena_rules.notation import move_text, parse_move
from rummyarena_rules.reading import (
    Reader,
    a_text,
    an_object,
    by_seat,
    card_list,
    inside,
    list_of,
    marked_cards,
    one_card,
    one_of,
    optional,
    printable,
    record_of,
    shown,
    whole,
)
from rummyarena_rules.ruleset import AnyPublic, AnyState, NextDeal, Ruleset
from rummyarena_rules.table import Phase, TableMeld


@dataclass(slots=True)
class Played:
    """A scenario under way; `openings` and `ledger_totals`: one a deal of a ledger."""

    ruleset: Ruleset[Any]
    state: AnyState
    answers: dict[Seat, Move | None] = field(default_factory=dict)
    openings: list[NextDeal] = field(default_factory=list)
    ledger_totals: list[tuple[int, ...]] = field(default_factory=list)

    def apply(self, events: Iterable[Event]) -> None:
        """Applies events to the state."""
        for event in events:
            self.ruleset.evolve(self.state, event)


# --- reading ---------------------------------------------------------------------------------------------------------


def expectation_reader(game: str, seats: int) -> Reader:
    """Makes the reader of the field `expect`."""
    seat, cards = whole(0, seats - 1), card_list(game)
    numbers = list_of(whole(), seats)
    opening = {"dealer": seat, "first": seat, "direction": one_of(1, -1), "cutter": seat, "deal": whole(1)}
    cut = {"cutter": seat, "cut_needed": whole(1)} if game == "liverpool" else {}
    ledger = {name: opening[name] for name in ("dealer", "direction", "first")} | cut
    return record_of(
        {
            "hands": by_seat(seats, cards),
            "hand_counts": by_seat(seats, whole(0)),
            "discards": cards,
            "melds": _melds(game, seats),
            "stock": cards,
            **{name: whole(0) for name in _COUNTS},
            "turn": seat,
            "phase": one_of(*map(str, Phase)),
            "end": one_of(None, "knock", "exhausted", "out", "blocked", "turn_limit"),
            "knocker": optional(seat),
            "knock_card": one_card(game),
            "dark": one_of(True, False),
            "out": optional(seat),
            "penalties": list_of(_required({"seat": seat, "rule": a_text, "card": one_card(game)})),
            "scores": numbers,
            "totals": numbers,
            "next": optional(record_of(opening)),
            "offered": record_of({"yes": list_of(a_text), "no": list_of(a_text)}),
            "fallback": list_of(a_text),
            **cut,
            "deals": list_of(record_of(ledger | {"order": list_of(seat, seats), "totals": numbers})),
            "over": one_of(True, False),
            "winners": list_of(seat),
            "ranks": list_of(whole(1, seats), seats),
            "setup": one_of("bad_seats", "bad_option"),
        }
    )


_LONGEST_TOLD: Final = 400
_COUNTS: Final = ("stock_count", "discards_count", "aside_count", "deck_count", "joker_count")


def _required(fields: Mapping[str, Reader]) -> Reader:
    return record_of(fields, required=frozenset(fields))


def _melds(game: str, seats: int) -> Reader:
    meld = _required({"owner": whole(0, seats - 1), "cards": marked_cards(game, seats)})

    def read(place: str, value: object) -> dict[str, Any]:
        return {name: meld(inside(place, name), one) for name, one in an_object(place, value).items()}

    return read


# --- comparing -------------------------------------------------------------------------------------------------------


def differences(played: Played, expect: Mapping[str, Any]) -> list[str]:
    """Returns a sentence for each expectation that is not met."""
    found = []
    for name, expected in expect.items():
        sentence = _COMPARERS[name](played, expected)
        if sentence:
            found.append(f"{name}: {sentence}")
    return found


def _differs(expected: object, got: object) -> str | None:
    return None if expected == got else f"expected {_told(expected)}, got {_told(got)}"


def _told(value: object) -> str:
    """Writes a value as a scenario file does, but a text or a card on its own without quotation marks."""
    if isinstance(value, str | Card):
        return printable(str(value), _LONGEST_TOLD)
    return shown(value, _LONGEST_TOLD)


def _equal(get: Callable[[Played], object]) -> Callable[[Played, Any], str | None]:
    return lambda played, expected: _differs(expected, get(played))


def _result_field(name: str) -> Callable[[Played, Any], str | None]:
    return _equal(lambda played: getattr(played.state.public.result, name, None))


def _same_cards(expected: Iterable[Card], got: Iterable[Card]) -> str | None:
    return _differs(text_of(sorted(expected)), text_of(sorted(got)))


def _hands(played: Played, expected: Mapping[Seat, tuple[Card, ...]]) -> str | None:
    sentences = [_same_cards(cards, played.state.privates[seat].hand) for seat, cards in expected.items()]
    return (
        "; ".join(f"seat {seat} {sentence}" for seat, sentence in zip(expected, sentences, strict=True) if sentence)
        or None
    )


def _hand_counts(played: Played, expected: Mapping[Seat, int]) -> str | None:
    counts = played.state.public.hand_counts
    return _differs(expected, {seat: counts[seat] for seat in expected})


def _table_melds(played: Played, expected: Mapping[str, Mapping[str, Any]]) -> str | None:
    found = {f"m{number}": meld for number, meld in enumerate(played.state.public.melds, 1)}
    for name, one in expected.items():
        if name not in found:
            return f"there is no {printable(name)}"
        sentence = _meld(found[name], one, with_placers=played.ruleset.name == "thai")
        if sentence:
            return f"{name} {sentence}"
    return None


def _meld(meld: TableMeld, expected: Mapping[str, Any], *, with_placers: bool) -> str | None:
    owner = expected["owner"]
    marked = [(card, owner if seat is None else seat) for card, seat in expected["cards"]]
    got = list(zip(meld.cards, meld.placers, strict=True))
    if not with_placers:  # who placed a card counts in thai only
        marked, got = [(card, owner) for card, _ in marked], [(card, owner) for card, _ in got]
    if not meld.is_run:  # a set is written in any order
        marked, got = sorted(marked), sorted(got)
    if (owner, marked) == (meld.owner, got):
        return None
    return f"expected {_meld_text(owner, marked)}, got {_meld_text(meld.owner, got)}"


def _meld_text(owner: Seat, placed: Iterable[tuple[Card, Seat]]) -> str:
    words = [f"{card}" if seat == owner else f"{card}@{seat}" for card, seat in placed]
    return f"{' '.join(words)} of seat {owner}"


def _stock(played: Played, expected: tuple[Card, ...]) -> str | None:
    return _differs(text_of(expected), text_of(played.state.stock[::-1][: len(expected)]))


def _all_cards(played: Played) -> Counter[Card]:
    state = played.state
    found = Counter(state.stock)
    found.update(state.aside)
    found.update(one.card for one in state.public.discards)
    for private in state.privates:
        found.update(private.hand)
    for meld in state.public.melds:
        found.update(meld.cards)
    return found


def _penalties(played: Played, expected: tuple[Mapping[str, Any], ...]) -> str | None:
    got = [(one.seat, one.rule, str(one.card)) for one in getattr(played.state.public.facts, "penalties", ())]
    return _differs(sorted((one["seat"], one["rule"], str(one["card"])) for one in expected), sorted(got))


def _cut_needed(public: AnyPublic, deal: int) -> int | None:
    """Returns the exact cut of a deal (L5); only the options of liverpool have hand sizes for it."""
    sizes = getattr(public.options, "hand_sizes", None)
    return sizes and public.seats * sizes[deal - 1] + 1


def _described(opening: NextDeal, public: AnyPublic) -> dict[str, Any]:
    """Returns what can be expected of a deal's opening; cutter and clockwise order are those of L3."""
    seats = public.seats
    order = [(opening.first + opening.direction * step) % seats for step in range(seats)]
    return {
        "deal": opening.deal,
        "dealer": opening.dealer,
        "direction": opening.direction,
        "first": opening.first,
        "cutter": (opening.dealer - 1) % seats,
        "cut_needed": _cut_needed(public, opening.deal),
        "order": tuple(order),
    }


def _next(played: Played, expected: Mapping[str, Any] | None) -> str | None:
    following = played.ruleset.next_deal(played.state.public)
    described = None if following is None else _described(following, played.state.public)
    if expected is None or described is None:
        return _differs(expected, described)
    return _differs(expected, {name: described[name] for name in expected})


def _deals(played: Played, expected: tuple[Mapping[str, Any], ...]) -> str | None:
    got = [
        _described(opening, played.state.public) | {"totals": totals}
        for opening, totals in zip(played.openings, played.ledger_totals, strict=True)
    ]
    if len(got) != len(expected):
        return f"expected {len(expected)} deals, got {len(got)}"
    return _differs(
        list(expected), [{name: deal[name] for name in one} for one, deal in zip(expected, got, strict=True)]
    )


def _offered(played: Played, expected: Mapping[str, tuple[str, ...]]) -> str | None:
    wrong = [text for text in expected.get("yes", ()) if not _is_legal(played, text)]
    wrong_no = [text for text in expected.get("no", ()) if _is_legal(played, text)]
    sentences = [f"{shown(text)} must be legal" for text in wrong]
    sentences += [f"{shown(text)} must not be legal" for text in wrong_no]
    return ", ".join(sentences) or None


def _is_legal(played: Played, text: str) -> bool:
    move = parse_move(played.ruleset.name, text)
    view = played.ruleset.view(played.state, played.state.public.turn)
    return move is not None and played.ruleset.check(view, move) is None


def _fallback(played: Played, expected: tuple[str, ...]) -> str | None:
    """Plays fallbacks on a copy until the turn of the seat on turn is over; the others decline to buy."""
    ruleset, state = played.ruleset, played.state.copy()
    seat, turn = state.public.turn, state.public.turn_number
    texts = []
    while state.public.phase is not Phase.OVER and state.public.turn_number == turn:
        if state.public.phase is Phase.PLAY and not state.privates[seat].hand:
            return f"seat {seat} has no card, so there is nothing it could discard"
        answers = {one: ruleset.fallback(ruleset.view(state, one)) for one in ruleset.decisions(state)}
        move = answers.get(seat)
        if move is not None:
            texts.append(move_text(move))
        for event in ruleset.resolve(state, answers):
            ruleset.evolve(state, event)
    return _differs(list(expected), texts)


def _ranks(played: Played, expected: tuple[int, ...]) -> str | None:
    result = played.ruleset.result(played.state)
    return _differs(expected, result.ranks if result else None)


def _winners(played: Played, expected: tuple[int, ...]) -> str | None:
    result = played.ruleset.result(played.state)
    return _differs(expected, result.winners if result else ())


_COMPARERS: Final[Mapping[str, Callable[[Played, Any], str | None]]] = {
    "hands": _hands,
    "hand_counts": _hand_counts,
    "discards": lambda played, cards: _differs(
        text_of(cards), text_of(one.card for one in played.state.public.discards)
    ),
    "melds": _table_melds,
    "stock": _stock,
    "stock_count": _equal(lambda played: played.state.public.stock_count),
    "discards_count": _equal(lambda played: len(played.state.public.discards)),
    "aside_count": _equal(lambda played: played.state.public.aside_count),
    "deck_count": _equal(lambda played: _all_cards(played).total()),
    "joker_count": _equal(lambda played: _all_cards(played)[JOKER]),
    "turn": _equal(lambda played: played.state.public.turn),
    "phase": _equal(lambda played: str(played.state.public.phase)),
    "end": _result_field("end"),
    "knocker": _result_field("seat"),
    "knock_card": _result_field("knock_card"),
    "dark": _result_field("dark"),
    "out": _result_field("seat"),
    "penalties": _penalties,
    "scores": _result_field("scores"),
    "totals": _equal(lambda played: tuple(played.state.public.totals)),
    "next": _next,
    "offered": _offered,
    "fallback": _fallback,
    "cutter": _equal(lambda played: (played.state.public.dealer - 1) % played.state.public.seats),
    "cut_needed": _equal(lambda played: _cut_needed(played.state.public, played.state.public.deal)),
    "deals": _deals,
    "over": _equal(lambda played: played.state.public.over),
    "winners": _winners,
    "ranks": _ranks,
}
