"""Table positions (notation.md 5.1): what lies where, as plain values, read from and written to JSON objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from rummyarena_rules.cards import Card, text_of
from rummyarena_rules.reading import (
    Reader,
    a_text,
    by_seat,
    card_list,
    fail,
    list_of,
    marked_cards,
    one_card,
    one_of,
    record_of,
    whole,
)
from rummyarena_rules.table import Phase, Public, State


class PositionError(ValueError):
    """A position that cannot be; the text names the place in it and what is wrong there."""


@dataclass(frozen=True, slots=True)
class PlacedDiscard:
    """A card of the discards: in thai with its marks; `ago`: turns since it was discarded, 1 is one turn ago."""

    card: Card
    head: bool = False
    seat: int | None = None
    ago: int = 1


@dataclass(frozen=True, slots=True)
class PlacedMeld:
    """A meld; `placers` in the order of its cards."""

    owner: int
    cards: tuple[Card, ...]
    placers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Position:
    """A table position; the fields are those of notation.md 5.1, `None` where the default depends on other fields."""

    deal: int = 1
    direction: int = 1
    turn: int = 0
    dealer: int | None = None
    phase: Literal["draw", "play"] = "draw"
    hands: Mapping[int, tuple[Card, ...]] = field(default_factory=dict)
    discards: tuple[PlacedDiscard, ...] = ()
    stock: tuple[Card, ...] = ()
    rest: Literal["stock", "aside"] = "stock"
    melds: tuple[PlacedMeld, ...] = ()
    born: tuple[int, ...] = ()
    last_turn: bool | None = None
    down: tuple[int, ...] = ()
    buys: Mapping[int, int] = field(default_factory=dict)
    totals: tuple[int, ...] | None = None


_BOTH: Final = {"deal", "turn", "dealer", "phase", "hands", "discards", "stock", "rest", "melds", "totals"}
FIELDS: Final = {"thai": _BOTH | {"direction", "born", "last_turn"}, "liverpool": _BOTH | {"down", "buys"}}


def read_position(game: str, seats: int, place: str, raw: object) -> Position:
    """Returns the position written as a JSON object at `place`; raises `ReadingError`."""
    return Position(**record_of(_readers(game, seats))(place, raw))


def write_position(game: str, position: Position) -> dict[str, Any]:
    """Writes a position so that `read_position` reads it back; fields with their defaults are left out."""
    default = Position()
    written: dict[str, Any] = {}
    for name in sorted(FIELDS[game]):
        value = getattr(position, name)
        if value != getattr(default, name):
            written[name] = _WRITERS.get(name, _plain)(value)
    return written


def position_of(state: State[Any, Any]) -> Position:
    """Returns the position of a deal that is on, with every card placed; `Ruleset.state_of` makes a state of it again.

    A position leaves out how the deal came there: who is known to hold what, the card drawn in this turn, penalties,
    the number of turns and of reshuffles, jokers owed, the seed, and the head once it has left the row. A birth or a
    down of this turn becomes an earlier one, the first seat the one after the dealer. A set of liverpool that could be
    a run as well becomes one (L11). `ValueError` between deals, while the shoe is cut and while a window is open.
    """
    public, facts = state.public, state.public.facts
    if public.phase not in (Phase.DRAW, Phase.PLAY):
        raise ValueError(f"a position has the phase draw or play, not {public.phase}")
    return Position(
        deal=public.deal,
        direction=public.direction,
        turn=public.turn,
        dealer=public.dealer,
        phase="draw" if public.phase is Phase.DRAW else "play",
        hands={seat: tuple(one.hand) for seat, one in enumerate(state.privates) if one.hand},
        discards=_placed_row(public) if hasattr(facts, "head") else _placed_pile(public),
        stock=tuple(reversed(state.stock)),
        rest="aside" if state.aside else "stock",
        melds=tuple(PlacedMeld(meld.owner, meld.cards, meld.placers) for meld in public.melds),
        born=_seats_with_a_turn(getattr(facts, "birth_turns", ())),
        last_turn=getattr(facts, "last_turn", None),
        down=_seats_with_a_turn(getattr(facts, "down_turns", ())),
        buys={seat: count for seat, count in enumerate(getattr(facts, "buys", ())) if count},
        totals=tuple(public.totals),
    )


def _seats_with_a_turn(turns: Iterable[int | None]) -> tuple[int, ...]:
    return tuple(seat for seat, turn in enumerate(turns) if turn is not None)


def _placed_pile(public: Public[Any, Any]) -> tuple[PlacedDiscard, ...]:
    return tuple(PlacedDiscard(one.card) for one in public.discards)


def _placed_row(public: Public[Any, Any]) -> tuple[PlacedDiscard, ...]:
    return tuple(
        PlacedDiscard(one.card, head=one.card is public.facts.head, ago=len(public.discards) - at)
        if one.seat is None
        else PlacedDiscard(one.card, seat=one.seat, ago=public.turn_number - one.turn)
        for at, one in enumerate(public.discards)
    )


def unplaced(deck: Iterable[Card], position: Position) -> list[Card]:
    """Returns the cards of a deck that a position places nowhere, sorted; `PositionError` if it places too many."""
    rest = sorted(deck)
    placed = [
        *(one for hand in position.hands.values() for one in hand),
        *(one.card for one in position.discards),
        *position.stock,
        *(one for meld in position.melds for one in meld.cards),
    ]
    for one in placed:
        try:
            rest.remove(one)
        except ValueError:
            raise PositionError(f"position: {one} stands in it more often than the deck has it") from None
    return rest


# --- reading ---------------------------------------------------------------------------------------------------------


def _readers(game: str, seats: int) -> dict[str, Reader]:
    seat = whole(0, seats - 1)
    readers = {
        "deal": whole(1, 7 if game == "liverpool" else None),
        "direction": one_of(1, -1),
        "turn": seat,
        "dealer": seat,
        "phase": one_of("draw", "play"),
        "hands": by_seat(seats, card_list(game)),
        "discards": _row(seats) if game == "thai" else _pile,
        "stock": card_list(game),
        "rest": one_of("stock", "aside"),
        "melds": _melds(game, seats),
        "born": list_of(seat),
        "last_turn": one_of(True, False),
        "down": list_of(seat),
        "buys": by_seat(seats, whole(0)),
        "totals": list_of(whole(), seats),
    }
    return {name: readers[name] for name in FIELDS[game]}


def _pile(place: str, value: object) -> tuple[PlacedDiscard, ...]:
    return tuple(PlacedDiscard(one) for one in card_list("liverpool")(place, value))


def _row(seats: int) -> Reader:
    def read(place: str, value: object) -> tuple[PlacedDiscard, ...]:
        words = a_text(place, value).split()
        return tuple(_row_card(f"{place}[{at}]", seats, word, len(words) - at) for at, word in enumerate(words))

    return read


def _row_card(place: str, seats: int, word: str, usual: int) -> PlacedDiscard:
    """Reads a card of the row with its marks: `*` the head, `@0` the discarder, `~5` turns ago."""
    match = re.fullmatch(r"([^*@~]+)(\*)?(?:@([0-9]))?(?:~([1-9][0-9]{0,3}))?", word)
    if not match or (match[3] and int(match[3]) >= seats):
        raise fail(place, word, "a card with the marks * (head) or @seat or @seat~turns")
    seat = int(match[3]) if match[3] else None
    return PlacedDiscard(one_card("thai")(place, match[1]), bool(match[2]), seat, int(match[4]) if match[4] else usual)


def _melds(game: str, seats: int) -> Reader:
    def read(place: str, value: object) -> tuple[PlacedMeld, ...]:
        melds: tuple[dict[str, Any], ...] = list_of(_meld_fields(game, seats))(place, value)
        for at, meld in enumerate(melds):
            if meld["id"] != f"m{at + 1}":
                raise fail(f"{place}[{at}].id", meld["id"], f"m{at + 1}")
        return tuple(_placed_meld(meld["owner"], meld["cards"]) for meld in melds)

    return read


def _meld_fields(game: str, seats: int) -> Reader:
    fields = {"id": a_text, "owner": whole(0, seats - 1), "cards": marked_cards(game, seats)}
    return record_of(fields, required=frozenset(fields))


def _placed_meld(owner: int, marked: tuple[tuple[Card, int | None], ...]) -> PlacedMeld:
    placers = tuple(owner if seat is None else seat for _, seat in marked)
    return PlacedMeld(owner, tuple(one for one, _ in marked), placers)


# --- writing ---------------------------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _write_discards(discards: tuple[PlacedDiscard, ...]) -> str:
    words = []
    for at, one in enumerate(discards):
        usual = one.seat is None or one.ago == len(discards) - at
        mark = "*" if one.head else "" if one.seat is None else f"@{one.seat}"
        words.append(f"{one.card}{mark}{'' if usual else f'~{one.ago}'}")
    return " ".join(words)


def _write_meld(number: int, meld: PlacedMeld) -> dict[str, Any]:
    words = [
        f"{one}" if seat == meld.owner else f"{one}@{seat}" for one, seat in zip(meld.cards, meld.placers, strict=True)
    ]
    return {"id": f"m{number}", "owner": meld.owner, "cards": " ".join(words)}


_WRITERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "hands": lambda hands: {str(seat): text_of(hand) for seat, hand in sorted(hands.items())},
    "discards": _write_discards,
    "stock": text_of,
    "melds": lambda melds: [_write_meld(at + 1, meld) for at, meld in enumerate(melds)],
    "buys": lambda buys: {str(seat): count for seat, count in sorted(buys.items())},
}
