"""Keys and limits of the models at a place of a document, for the remedies of error messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

from pydantic.fields import FieldInfo

from railfab.intent.model import Model, or_off

Place = tuple[int | str, ...]

MAX_SUGGESTED_PLACES = 3
"""A key that exists at more places is suggested at none."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The smallest and the largest number at a place; `exclusive`: the smallest itself is out of range."""

    smallest: float
    largest: float
    exclusive: bool

    def __str__(self) -> str:
        if self.exclusive:
            return f"a number above {self.smallest}, up to {self.largest}"
        return f"{self.smallest} to {self.largest}"


def suggestion(model: type[Model], place: Place) -> str:
    """The remedy for an unknown key: a similar key of the same place, or the place where the key exists."""
    known = sorted({name for member in _models_at(model, place[:-1]) for name in member.model_fields})
    listed = f"The keys here are {', '.join(known)}" if known else "Remove it"
    unknown = str(place[-1])
    similar = difflib.get_close_matches(unknown, known, n=1)
    if similar:
        return f"Did you mean {similar[0]!r}? {listed}"
    places = sorted(".".join(path) for path in _places_with(model, unknown))
    return f"Move it to {' or '.join(places)}. {listed}" if 0 < len(places) <= MAX_SUGGESTED_PLACES else listed


def allows_off(model: type[Model], place: Place) -> bool:
    """Whether `off` is allowed in place of the keys."""
    fields = (member.model_fields.get(str(place[-1])) for member in _models_at(model, place[:-1]))
    return any(field.json_schema_extra is or_off for field in fields if field)


def limits(model: type[Model], place: Place) -> Limits | None:
    """The limits of the number at a place; None where there are none, or where members of a union differ."""
    candidates = {stated for annotation in _annotations_at(model, place) for stated in _limits_of(annotation)}
    return candidates.pop() if len(candidates) == 1 else None


def key_limits(model: type[Model], place: Place) -> Limits | None:
    """The limits of a key that is a number, in a mapping whose keys are numbers."""
    mappings = [member for outer in _annotations_at(model, place[:-1]) for member in _members(outer)]
    keys = [get_args(member)[0] for member in mappings if get_origin(member) is dict]
    candidates = {stated for key in keys for stated in _limits_of(key)}
    return candidates.pop() if len(candidates) == 1 else None


def _limits_of(annotation: Any) -> Iterator[Limits]:
    """The limits that the constraints of an annotation state, in any member of a union."""
    if isinstance(annotation, FieldInfo):
        yield from _stated(annotation.metadata)
        yield from _limits_of(annotation.annotation)
    elif get_origin(annotation) is Annotated:
        inner, *constraints = get_args(annotation)
        yield from _stated([constraint for field in constraints for constraint in getattr(field, "metadata", ())])
        yield from _limits_of(inner)
    elif get_origin(annotation) not in (None, dict, tuple):
        for member in get_args(annotation):
            yield from _limits_of(member)


def _stated(constraints: list[Any]) -> Iterator[Limits]:
    values = {
        name: getattr(constraint, name)
        for constraint in constraints
        for name in ("ge", "gt", "le")
        if hasattr(constraint, name)
    }
    if "le" in values and ("ge" in values or "gt" in values):
        exclusive = "gt" in values
        yield Limits(values["gt" if exclusive else "ge"], values["le"], exclusive)


def _places_with(model: type[Model], key: str, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Places of the schema where a key exists; NAME represents any name."""
    if path and key in model.model_fields:
        yield path
    for name, field in model.model_fields.items():
        for inner, step in _models_in(field.annotation):
            yield from _places_with(inner, key, (*path, name, *step))


def _models_in(annotation: Any) -> Iterator[tuple[type[Model], tuple[str, ...]]]:
    """The models inside an annotation such as `Bfd | None` or `dict[str, Tenant]`, with NAME for each mapping."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation, ()
        return
    step = ("NAME",) if get_origin(annotation) is dict else ()
    for inner in get_args(annotation):
        for model, further in _models_in(inner):
            yield model, (*step, *further)


def _models_at(model: type[Model], place: Place) -> list[type[Model]]:
    """The models that are allowed at a place."""
    members = [member for annotation in _annotations_at(model, place) for member in _members(annotation)]
    return [member for member in members if _is_model(member)]


def _annotations_at(model: type[Model], place: Place) -> list[Any]:
    """The annotations, or fields of models, that describe a place."""
    annotations: list[Any] = [model]
    for part in place:
        annotations = [inner for outer in annotations for inner in _below(outer, part)]
    return annotations


def _below(annotation: Any, part: int | str) -> Iterator[Any]:
    for member in _members(annotation):
        if _is_model(member):
            field: FieldInfo | None = member.model_fields.get(str(part))
            if field is not None:
                yield field
        elif get_origin(member) is dict:
            yield get_args(member)[1]
        elif get_origin(member) is tuple:
            yield get_args(member)[0]


def _members(annotation: Any) -> Iterator[Any]:
    """The members of a union, without the constraints around them."""
    if isinstance(annotation, FieldInfo):
        annotation = annotation.annotation
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _members(get_args(annotation)[0])
    elif origin in (None, dict, tuple):
        yield annotation
    else:
        for inner in get_args(annotation):
            yield from _members(inner)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Model)
