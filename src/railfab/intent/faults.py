"""Errors of pydantic about a document, as lines with file, line, key, problem and remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from railfab.errors import IntentError
from railfab.intent.document import MAX_FAULTS, Document, Location, remaining_faults
from railfab.intent.keys import allows_off, key_limits, limits, suggestion
from railfab.intent.model import NAME_PATTERN, PREFIX_PATTERN, Model
from railfab.text.display import display
from railfab.yaml_reader.values import INTEGER

KEY = "[key]"
"""Pydantic's mark for a fault of the key itself."""

KINDS = {
    "int_type": "an integer",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "a text",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
}
"""The kind of value that each type error of pydantic expects."""
OUT_OF_RANGE = ("greater_than", "greater_than_equal", "less_than", "less_than_equal")
"""Pydantic's errors for a number beyond its limits."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """One error of pydantic about one place. text: problem and remedy, where a model of railfab states them."""

    place: Location
    detail: ErrorDetails
    text: tuple[str, str] | None = None

    @property
    def is_wrong_kind(self) -> bool:
        """Whether the value is of another kind, so that another member of a union may fit better."""
        return self.text is None and (self.detail["type"] in KINDS or self.detail["type"] == "literal_error")


def intent_errors(document: Document, model: type[Model], error: ValidationError) -> list[IntentError]:
    """One error per place, in the order of the file."""
    places: dict[Location, list[Complaint]] = {}
    for detail in error.errors(include_url=False):
        for complaint in _complaints(document, detail):
            places.setdefault(complaint.place, []).append(complaint)

    order = {location: number for number, location in enumerate(_locations(document.content))}

    def in_file(place: Location) -> tuple[int, int]:
        """A missing key comes last in its line."""
        return document.line(place), order.get(_without_mark(place), len(order))

    innermost = sorted(_innermost(places), key=in_file)
    first = [
        IntentError(document.where(_without_mark(place)), *_problem(model, place, places[place]))
        for place in innermost[:MAX_FAULTS]
    ]
    return [*first, *remaining_faults(document.path, len(innermost))]


def _locations(content: Any, around: Location = ()) -> Iterator[Location]:
    """The places of a content, in the order of the file."""
    entries = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for part, value in entries:
        yield (*around, part)
        yield from _locations(value, (*around, part))


def _complaints(document: Document, detail: ErrorDetails) -> Iterator[Complaint]:
    place = _place(document, detail)
    if detail["type"] != "faults":
        yield Complaint(place, detail)
        return
    for fault in detail["ctx"]["faults"]:
        fault_place = (*place, *fault.key.split(".")) if fault.key else place
        yield Complaint(fault_place, detail, (fault.problem, fault.remedy))


def _place(document: Document, detail: ErrorDetails) -> Location:
    """The place of a fault in the user's file: pydantic also names the members of unions that it tried."""
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
    """The places that contain no other: a union reports each member, a list the faults of its elements."""
    around = {place[:n] for place in places for n in range(len(place)) if place[-1] != KEY}
    return (place for place in places if place not in around)


def _without_mark(place: Location) -> Location:
    return place[:-1] if place and place[-1] == KEY else place


def _problem(model: type[Model], place: Location, complaints: Sequence[Complaint]) -> tuple[str, str]:
    """(problem, remedy) of a place; of a union, for the member that fits best."""
    closest = next((complaint for complaint in complaints if not complaint.is_wrong_kind), complaints[0])
    if closest.text:
        return closest.text
    if closest.is_wrong_kind and len(complaints) > 1:
        return _no_member(complaints)
    return _described(model, place, closest.detail)


def _no_member(complaints: Sequence[Complaint]) -> tuple[str, str]:
    choices = [choice for complaint in complaints for choice in _choices(complaint.detail)]
    value = complaints[0].detail["input"]
    return f"{display(value)} is not a choice", f"Use {', '.join(choices[:-1])} or {choices[-1]}"


def _choices(detail: ErrorDetails) -> list[str]:
    if detail["type"] == "literal_error":
        return re.split(r", | or ", detail["ctx"]["expected"])
    return [KINDS[detail["type"]]]


def _described(model: type[Model], place: Location, detail: ErrorDetails) -> tuple[str, str]:
    """(problem, remedy) of an error that pydantic itself found."""
    value = detail["input"]
    match detail["type"]:
        case "extra_forbidden" | "invalid_key":
            return "unknown key", suggestion(model, place)
        case "missing":
            return "the key is missing", "Add it"
        case "literal_error":
            return f"{display(value)} is not a choice", f"Use {detail['ctx']['expected']}"
        case "string_pattern_mismatch" if detail["ctx"]["pattern"] == NAME_PATTERN:
            return f"{display(value)} is not a name", "Use up to 32 lower-case letters, digits and inner hyphens"
        case "string_pattern_mismatch" if detail["ctx"]["pattern"] == PREFIX_PATTERN:
            return (
                f"{display(value)} is no prefix of names",
                "Use lower-case letters, digits and hyphens, and end it with a hyphen",
            )
        case "string_pattern_mismatch":
            return f"{display(value)} contains an unprintable character", "Use one line of printable characters"
        case "string_too_short":
            return "the text is empty", "Write at least 1 character"
        case "string_too_long":
            limit = detail["ctx"]["max_length"]
            return f"{display(value)} has more than {limit} characters", f"Write at most {limit}"
        case "too_short" if detail["ctx"]["field_type"] == "Dictionary":
            return "the mapping is empty", "Write at least one key below, or leave the key out"
        case "too_short":
            return "the list is empty", "Add at least one element"
        case "int_parsing_size":  # more than 64 bits, where a union or a literal was tried
            return f"{display(value)} is out of range", f"Use {_range(model, place, detail) or 'a smaller number'}"
        case kind if kind in OUT_OF_RANGE:
            return f"{display(value)} is out of range", f"Use {_range(model, place, detail)}"
    return _wrong_kind(model, place, detail)


def _wrong_kind(model: type[Model], place: Location, detail: ErrorDetails) -> tuple[str, str]:
    """(problem, remedy) of a value of another kind than its key takes."""
    value = detail["input"]
    match detail["type"]:
        case "model_type" | "dict_type":
            off = ", or write off without quotes" if allows_off(model, place) else ""
            return f"{display(value)} is not a mapping", f"Write the keys below, indented{off}"
        case "string_type" if place[-1:] == (KEY,):
            return "a name must be a text", "Put it in quotes"
        case "string_type" if isinstance(value, bool | int | float):
            return f"{display(value)} is not a text", "Put it in quotes"
        case "int_type" | "int_parsing" | "float_type" if isinstance(value, str) and INTEGER.fullmatch(value):
            return f"{display(value)} in quotes is a text", "Write the number without quotes"
        case "int_type" | "int_parsing" | "int_from_float":
            return f"{display(value)} is not an integer", f"Use {_range(model, place, detail) or 'an integer'}"
        case "float_type" | "finite_number":
            return f"{display(value)} is not a number", f"Use {_range(model, place, detail) or 'a number'}"
        case "tuple_type":
            return f"{display(value)} is not a list", "Write a list in square brackets"
        case "bool_type":
            return f"{display(value)} is not a boolean", "Use true or false"
    return f"{display(value)} is not {KINDS[detail['type']]}", f"Write {KINDS[detail['type']]}"


def _range(model: type[Model], place: Location, detail: ErrorDetails) -> str:
    """The numbers that a place takes; where its models state several ranges, the limit that the value broke."""
    stated = key_limits(model, place[:-1]) if place[-1:] == (KEY,) else limits(model, place)
    return str(stated) if stated else str(detail["msg"]).partition(" should be ")[2]
