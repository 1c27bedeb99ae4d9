"""Fabrics and jobs from files; what is wrong is said with file, line, key, problem and remedy, all of it at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from railfab.errors import IntentError, RailfabError, each, raise_all
from railfab.intent.catalogue import CatalogueFile, SwitchEntry
from railfab.intent.document import Document, read_document
from railfab.intent.fabric import FabricIntent
from railfab.intent.faults import intent_errors
from railfab.intent.job import Job
from railfab.intent.model import Model
from railfab.intent.words import one_line, shown

M = TypeVar("M", bound=Model)

KINDS: Mapping[type[Model], str] = {
    FabricIntent: "a fabric",
    Job: "a job",
    CatalogueFile: "a file of switch models",
}
KNOWN_BY: Mapping[str, type[Model]] = {
    "fabric": FabricIntent,
    "job": Job,
    "backend": FabricIntent,
    "phases": Job,
    "switches": CatalogueFile,
}
"""What kind a file is, by the first of these keys that it has."""


def load_intent(path: Path) -> FabricIntent:
    """The fabric described in a file, with the switch models of the catalogue file that it names.

    Raises IntentError, or Problems, with every fault that is in either.
    """
    document = read_document(path)
    try:
        intent = _validated(document, FabricIntent)
    except RailfabError as error:
        raise_all([*each(error), *_catalogue_errors(document)])
        raise
    if intent.catalogue is None:
        return intent
    return intent.model_copy(update={"switches": _catalogue(document) | intent.switches})


def load_job(path: Path) -> Job:
    """The job described in a file. Raises IntentError, or Problems, with every fault that is in it."""
    return _validated(read_document(path), Job)


def json_schema() -> dict[str, Any]:
    """JSON Schema of the intent, for editors."""
    from pydantic.json_schema import GenerateJsonSchema

    class WithoutTitles(GenerateJsonSchema):
        """A title made of a key says no more than the key."""

        def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
            return False

    schema = FabricIntent.model_json_schema(schema_generator=WithoutTitles)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _validated(document: Document, model: type[M]) -> M:
    _right_kind(document, model)
    try:
        return model.model_validate(document.content)
    except ValidationError as error:
        raise_all(intent_errors(document, model, error))
        raise


def _right_kind(document: Document, wanted: type[Model]) -> None:
    """A job where a fabric belongs, or the reverse, is one fault, not one a key."""
    kinds = [kind for key, kind in KNOWN_BY.items() if key in document.content]
    if kinds and wanted not in kinds:
        problem = f"is {KINDS[kinds[0]]}, not {KINDS[wanted]}"
        raise IntentError(str(document.path), problem, f"Name {KINDS[wanted]}")


def _catalogue_errors(document: Document) -> Sequence[RailfabError]:
    try:
        _catalogue(document)
    except RailfabError as error:
        return each(error)
    return ()


def _catalogue(document: Document) -> dict[str, SwitchEntry]:
    """The switch models of the file that `catalogue` names, from the folder of the intent."""
    name = document.content.get("catalogue")
    if not isinstance(name, str) or not _may_name_a_file(name):
        return {}
    path = document.path.parent / name
    _check_file(document, path, name)
    file = read_document(path, "switches:")
    switches = _validated(file, CatalogueFile).switches
    raise_all(_given_twice(document, file))
    return switches


def _may_name_a_file(name: str) -> bool:
    """What may not is a fault of the intent itself."""
    return name != "" and "\0" not in name and name.encode(errors="replace").decode() == name


def _check_file(document: Document, path: Path, name: str) -> None:
    """Said of the intent's line, as it is there that the file is named."""
    try:
        problem = "" if path.is_file() else "is no file" if path.exists() else "is not there"
    except OSError as error:
        problem = f"cannot be read ({one_line(error.strerror or str(error)).lower()})"
    if problem:
        remedy = "Name a file of switch models, from the folder of this one"
        raise IntentError(document.where(("catalogue",)), f"{shown(name)} {problem}", remedy)


def _given_twice(document: Document, file: Document) -> list[IntentError]:
    """Switch models that the intent and its catalogue file both have."""
    ours, theirs = document.content.get("switches"), file.content["switches"]
    return [
        IntentError(
            document.where(("switches", name)),
            f"{file.path}:{file.line(('switches', name))} has it too",
            "Keep one of them",
        )
        for name in (ours if isinstance(ours, dict) else ())
        if name in theirs
    ]
