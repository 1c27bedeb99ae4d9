"""The keys that a model knows at a place, and the one that a user may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin

from pydantic.fields import FieldInfo

from railfab.intent.model import Model, or_off

Place = tuple[int | str, ...]

MOST_HOMES = 3
"""A key that is known at more places says little."""


def nearest(model: type[Model], place: Place) -> str:
    """What to do about an unknown key: the near one that is known there, or the place where it is known."""
    known = sorted({name for found in _models_at(model, place[:-1]) for name in found.model_fields})
    listed = f"Known here: {', '.join(known)}" if known else "Remove it"
    wrong = str(place[-1])
    guess = difflib.get_close_matches(wrong, known, n=1)
    if guess:
        return f"Did you mean {guess[0]!r}? {listed}"
    homes = sorted(".".join(home) for home in _homes(model, wrong))
    return f"It belongs below {' or '.join(homes)}. {listed}" if 0 < len(homes) <= MOST_HOMES else listed


def takes_off(model: type[Model], place: Place) -> bool:
    """Whether `off` may stand in place of the keys."""
    fields = (found.model_fields.get(str(place[-1])) for found in _models_at(model, place[:-1]))
    return any(field.json_schema_extra is or_off for field in fields if field)


def _homes(model: type[Model], key: str, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Places of the schema that know a key; NAME stands for any name."""
    if path and key in model.model_fields:
        yield path
    for name, field in model.model_fields.items():
        for inner, step in _models_in(field.annotation):
            yield from _homes(inner, key, (*path, name, *step))


def _models_in(annotation: Any) -> Iterator[tuple[type[Model], tuple[str, ...]]]:
    """The models inside an annotation such as `Bfd | None` or `dict[str, Tenant]`, and the names on the way."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation, ()
        return
    step = ("NAME",) if get_origin(annotation) is dict else ()
    for inner in get_args(annotation):
        for found, further in _models_in(inner):
            yield found, (*step, *further)


def _models_at(model: type[Model], place: Place) -> list[type[Model]]:
    """The models that may stand at a place."""
    annotations: list[Any] = [model]
    for part in place:
        annotations = [inner for outer in annotations for inner in _below(outer, part)]
    return [found for annotation in annotations for found in _members(annotation) if _is_model(found)]


def _below(annotation: Any, part: int | str) -> Iterator[Any]:
    for member in _members(annotation):
        if _is_model(member):
            field: FieldInfo | None = member.model_fields.get(str(part))
            if field is not None:
                yield field.annotation
        elif get_origin(member) is dict:
            yield get_args(member)[1]
        elif get_origin(member) is tuple:
            yield get_args(member)[0]


def _members(annotation: Any) -> Iterator[Any]:
    """The members of a union, without what is written around them."""
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
