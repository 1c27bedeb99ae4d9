"""What pydantic found wrong with a document, as lines with file, line, key, problem and remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from railfab.errors import IntentError
from railfab.intent.document import MOST_FAULTS, Document, Location, beyond
from railfab.intent.keys import nearest, takes_off
from railfab.intent.model import NAME_PATTERN, Model
from railfab.intent.words import shown

KEY = "[key]"
"""How pydantic marks that the fault is the key itself."""

KINDS = {
    "int_type": "a valid integer",
    "float_type": "a valid number",
    "bool_type": "true or false",
    "string_type": "a valid string",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
}
"""What pydantic's type errors ask for."""


@dataclass(frozen=True, slots=True)
class Found:
    """One complaint about one place. own: problem and remedy as a model of ours says them."""

    place: Location
    detail: ErrorDetails
    own: tuple[str, str] | None = None

    @property
    def of_kind(self) -> bool:
        """It is about the kind of a value, so that another member of a union may fit better."""
        return self.own is None and (self.detail["type"] in KINDS or self.detail["type"] == "literal_error")


def intent_errors(document: Document, model: type[Model], error: ValidationError) -> list[IntentError]:
    """One error a place, in the order of the file."""
    places: dict[Location, list[Found]] = {}
    for detail in error.errors(include_url=False):
        for found in _found(document, detail):
            places.setdefault(found.place, []).append(found)
    order = {location: number for number, location in enumerate(document.lines)}

    def in_file(place: Location) -> tuple[int, int]:
        """What is missing comes last in its line."""
        return document.line(place), order.get(_without_mark(place), len(order))

    innermost = sorted(_innermost(places), key=in_file)
    first = [
        IntentError(document.where(_without_mark(place)), *_problem(model, place, places[place]))
        for place in innermost[:MOST_FAULTS]
    ]
    return [*first, *beyond(document.path, len(innermost))]


def _found(document: Document, detail: ErrorDetails) -> Iterator[Found]:
    place = _place(document, detail)
    if detail["type"] != "faults":
        yield Found(place, detail)
        return
    for fault in detail["ctx"]["faults"]:
        yield Found((*place, *fault.key.split(".")) if fault.key else place, detail, (fault.problem, fault.remedy))


def _place(document: Document, detail: ErrorDetails) -> Location:
    """Where in the user's file a fault is: pydantic also names the members of unions that it tried."""
    place: Location = ()
    here: Any = document.content
    parts = detail["loc"]
    for part in parts:
        known = here if isinstance(here, dict) else range(len(here)) if isinstance(here, list) else ()
        if part in known:
            here = here[part]
            place = (*place, part)
    if detail["type"] == "missing":
        return (*place, parts[-1])
    return (*place, KEY) if parts and parts[-1] == KEY else place


def _innermost(places: Iterable[Location]) -> Iterator[Location]:
    """Without those that hold another: a union reports each member, a list what its elements lack."""
    around = {place[:n] for place in places for n in range(len(place)) if place[-1] != KEY}
    return (place for place in places if place not in around)


def _without_mark(place: Location) -> Location:
    return place[:-1] if place and place[-1] == KEY else place


def _problem(model: type[Model], place: Location, found: Sequence[Found]) -> tuple[str, str]:
    """What is wrong and what to do, in a user's words; of a union, for the member that comes closest."""
    closest = next((one for one in found if not one.of_kind), found[0])
    if closest.own:
        return closest.own
    if closest.of_kind and len(found) > 1:
        return _no_member(found)
    return _said(model, place, closest.detail)


def _no_member(found: Sequence[Found]) -> tuple[str, str]:
    choices = [choice for one in found for choice in _choices(one.detail)]
    value = found[0].detail["input"]
    return f"{shown(value)} is not a choice", f"Use {', '.join(choices[:-1])} or {choices[-1]}"


def _choices(detail: ErrorDetails) -> list[str]:
    if detail["type"] == "literal_error":
        return re.split(r", | or ", detail["ctx"]["expected"])
    return [KINDS[detail["type"]]]


def _said(model: type[Model], place: Location, detail: ErrorDetails) -> tuple[str, str]:
    value = detail["input"]
    match detail["type"]:
        case "extra_forbidden" | "invalid_key":
            return "is not a key railfab knows", nearest(model, place)
        case "missing":
            return "is missing", "Add it"
        case "literal_error":
            return f"{shown(value)} is not a choice", f"Use {detail['ctx']['expected']}"
        case "string_pattern_mismatch" if detail["ctx"]["pattern"] == NAME_PATTERN:
            return f"{shown(value)} is not a name", "Use up to 32 lower-case letters, digits and inner hyphens"
        case "string_pattern_mismatch":
            return f"{shown(value)} cannot be shown", "Keep it on one line of plain characters"
        case "model_type" | "dict_type":
            off = ", or `off`" if takes_off(model, place) else ""
            return f"{shown(value)} does not do", f"Write its keys below it, indented{off}"
        case "string_type" if place[-1:] == (KEY,):
            return "a name is a text", "Put it in quotes"
        case "string_type" if isinstance(value, bool | int | float):
            return f"{shown(value)} is not a text", "Put it in quotes"
        case "too_short":
            return "is empty", "Give at least one"
        case kind if kind in KINDS:
            return f"{shown(value)} does not do", f"It should be {KINDS[kind]}"
    return f"{shown(value)} does not do", f"It should {detail['msg'].partition(' should ')[2]}"
