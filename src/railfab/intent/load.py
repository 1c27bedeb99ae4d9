"""Reads YAML into models; what is wrong is said with file, line, key, problem and remedy, all of it at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from railfab.errors import IntentError, RailfabError, raise_all
from railfab.intent.fabric import FabricIntent
from railfab.intent.job import Job
from railfab.intent.model import Model

M = TypeVar("M", bound=Model)
Location = tuple[int | str, ...]

MAX_BYTES = 1_000_000
"""An intent is a page; a file larger than this is another kind of file."""


def load_intent(path: Path) -> FabricIntent:
    """The fabric described in a file. Raises IntentError, or Problems, with every fault that is in it."""
    return _load(path, FabricIntent)


def load_job(path: Path) -> Job:
    """The job described in a file. Raises IntentError, or Problems, with every fault that is in it."""
    return _load(path, Job)


def json_schema() -> dict[str, Any]:
    """JSON Schema of the intent, for editors."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **FabricIntent.model_json_schema()}


def _load(path: Path, model: type[M]) -> M:
    root = _compose(path)
    document = _construct(path, root)
    _right_kind(path, document, model)
    try:
        return model.model_validate(document)
    except ValidationError as error:
        lines = dict(_lines(root))
        faults = [_intent_error(path, lines, model, detail) for detail in _distinct(error.errors())]
        raise_all(sorted(faults, key=lambda fault: _line_of(fault)))
        raise


def _right_kind(path: Path, document: Mapping[str, Any], model: type[Model]) -> None:
    """A job where a fabric belongs, or the reverse, is one fault, not one a key."""
    if model is FabricIntent and "job" in document and "fabric" not in document:
        raise IntentError(str(path), "is a job, not a fabric", "Name the fabric's file")
    if model is Job and "fabric" in document and "job" not in document:
        raise IntentError(str(path), "is a fabric, not a job", "Name the job's file")


def _compose(path: Path) -> yaml.Node:
    """The file as a YAML node tree, which knows its lines."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise IntentError(str(path), f"is larger than {MAX_BYTES} bytes", "Name an intent file")
        node = yaml.compose(content.decode("utf-8"), Loader=yaml.SafeLoader)
    except FileNotFoundError:
        raise IntentError(str(path), "no such file", "Check the path") from None
    except OSError as error:
        problem = f"cannot be read ({(error.strerror or str(error)).lower()})"
        raise IntentError(str(path), problem, "Name a readable text file") from None
    except UnicodeDecodeError:
        raise IntentError(str(path), "is no UTF-8 text", "Name a text file") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise IntentError(f"{path}:{line}", f"is not YAML ({error.problem})", "Mend the syntax there") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise IntentError(str(path), f"is not YAML ({str(error).splitlines()[0]})", "Mend the syntax") from None
    if not isinstance(node, yaml.MappingNode):
        raise IntentError(str(path), "holds no mapping", "Begin with `version: 1`")
    return node


class _Loader(yaml.SafeLoader):
    """Refuses what YAML would silently resolve: doubled keys, and aliases (with them, growth without bound)."""


def _construct(path: Path, root: yaml.Node) -> Any:
    faults = list(_structural_faults(path, root, set()))
    raise_all(faults)
    loader = _Loader("")
    try:
        return loader.construct_document(root)
    except (yaml.YAMLError, ValueError) as error:
        raise IntentError(str(path), f"is not YAML ({str(error).splitlines()[0]})", "Mend the syntax") from None
    finally:
        loader.dispose()


def _structural_faults(path: Path, node: yaml.Node, seen: set[int]) -> Iterable[RailfabError]:
    where = f"{path}:{node.start_mark.line + 1}"
    if id(node) in seen:
        yield IntentError(where, "an alias repeats a part of the file", "Write it out")
        return
    if isinstance(node, yaml.ScalarNode):
        return
    seen.add(id(node))
    keys: set[str] = set()
    for child in node.value:
        if not isinstance(node, yaml.MappingNode):
            yield from _structural_faults(path, child, seen)
            continue
        key, value = child
        if not isinstance(key, yaml.ScalarNode):
            yield IntentError(where, "a key is not a word", "Use plain keys")
        elif key.value in keys:
            line = key.start_mark.line + 1
            yield IntentError(f"{path}:{line}", f"key {key.value!r} is given twice", "Keep one of them")
        else:
            keys.add(key.value)
        yield from _structural_faults(path, value, seen)


def _lines(node: yaml.Node, location: Location = ()) -> Iterable[tuple[Location, int]]:
    """The line of every key and list element, by location."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield (*location, key.value), key.start_mark.line + 1
            yield from _lines(value, (*location, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield (*location, index), value.start_mark.line + 1
            yield from _lines(value, (*location, index))


def _distinct(details: Iterable[ErrorDetails]) -> Iterable[ErrorDetails]:
    """One fault per place, the innermost: a union reports each of its members, a list what its elements lack."""
    by_place = {_place(detail): detail for detail in reversed(list(details))}
    for place, detail in sorted(by_place.items(), key=lambda entry: str(entry[0])):
        if not any(other != place and other[: len(place)] == place for other in by_place):
            yield detail


def _place(detail: ErrorDetails) -> Location:
    """Where in the user's file a fault is."""
    return tuple(part for part in detail["loc"] if not _is_union_tag(part))


def _is_union_tag(part: int | str) -> bool:
    """pydantic writes the member of a union into the location, as in `hosts.literal['all']`."""
    return isinstance(part, str) and (part in {"constrained-int", "int"} or part.startswith(("literal[", "tuple[")))


def _intent_error(path: Path, lines: dict[Location, int], model: type[Model], detail: ErrorDetails) -> IntentError:
    location = _place(detail)
    line = next((lines[location[:n]] for n in range(len(location), 0, -1) if location[:n] in lines), 1)
    key = ".".join(str(part) for part in location)
    where = f"{path}:{line}: {key}" if key else f"{path}:{line}"
    return IntentError(where, *_problem(model, location, detail))


def _line_of(fault: RailfabError) -> int:
    return int(fault.where.split(": ")[0].rpartition(":")[2])


def _problem(model: type[Model], location: Location, detail: ErrorDetails) -> tuple[str, str]:
    """What is wrong and what to do, in a user's words."""
    context = detail.get("ctx", {})
    match detail["type"]:
        case "extra_forbidden":
            return "is not a key railfab knows", _nearest(model, location)
        case "missing":
            return "is missing", "Add it"
        case "value_error":
            problem, _, remedy = str(context["error"]).partition("; ")
            remedy = remedy or "Correct it"
            return problem, remedy[0].upper() + remedy[1:]
        case "literal_error":
            return f"{detail['input']!r} is not a choice", f"Use {context['expected']}"
        case "string_pattern_mismatch":
            return f"{detail['input']!r} is not a name", "Use up to 32 lower-case letters, digits and inner hyphens"
        case "model_type" | "dict_type":
            return f"{_shown(detail['input'])} does not do", "Write its keys below it, indented"
    message = detail["msg"].removeprefix("Input ")
    return f"{_shown(detail['input'])} does not do", f"It {message}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _nearest(model: type[Model], location: Location) -> str:
    """The key the user may have meant, among those of the model at that place."""
    keys = _keys_at(model, location[:-1])
    guess = difflib.get_close_matches(str(location[-1]), keys, n=1)
    if guess:
        return f"Did you mean {guess[0]!r}? Known here: {', '.join(keys)}"
    return f"Known here: {', '.join(keys)}" if keys else "Remove it"


def _keys_at(model: type[Model], location: Location) -> list[str]:
    """The keys of the model nested at a location."""
    found: type[Model] | None = model
    for part in location:
        if found is None or isinstance(part, int):
            continue
        field = found.model_fields.get(part)
        found = _nested(field.annotation) if field else None
    return sorted(found.model_fields) if found else []


def _nested(annotation: Any) -> type[Model] | None:
    """The model inside an annotation such as `Bfd | None` or `tuple[Phase, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        if (found := _nested(inner)) is not None:
            return found
    return None
