"""Load fabrics and jobs from files. All faults are reported together, with file, line, key, problem and remedy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from railfab.errors import IntentError, RailfabError, each, raise_all
from railfab.intent.catalogue import CatalogueFile, SwitchEntry
from railfab.intent.document import Document, read_document
from railfab.intent.fabric import FabricIntent
from railfab.intent.faults import intent_errors
from railfab.intent.model import Model
from railfab.intent.settings import with_settings
from railfab.text.display import display, one_line

if TYPE_CHECKING:
    from railfab.intent.job import Job
    from railfab.intent.telemetry import TelemetryFile

M = TypeVar("M", bound=Model)

KINDS: Mapping[str, str] = {
    "FabricIntent": "a fabric",
    "Job": "a job",
    "CatalogueFile": "switch models",
    "TelemetryFile": "telemetry mappings",
}
"""Kinds of files, by their models, which are imported on use."""
KNOWN_BY: Mapping[str, str] = {
    "fabric": "FabricIntent",
    "job": "Job",
    "backend": "FabricIntent",
    "phases": "Job",
    "model": "Job",
    "switches": "CatalogueFile",
    "platforms": "TelemetryFile",
    "metrics": "TelemetryFile",
}
"""Model of a file, by the first of these keys that it contains."""


def load_intent(path: Path) -> FabricIntent:
    """The fabric described in a file. Raises as `load_fabric` does."""
    return load_fabric(path)[0]


def load_fabric(path: Path, settings: Sequence[str] = ()) -> tuple[FabricIntent, Document]:
    """The fabric described in a file, with the switch models of the catalogue file that it names, and where each key
    stands in the file.

    settings: other values of its keys, KEY=VALUE each. Raises IntentError, or Problems, with every fault of both files.
    """
    document = read_document(path)
    if settings:
        document = with_settings(document, settings)
    try:
        intent = _validated(document, FabricIntent)
    except RailfabError as error:
        raise_all([*each(error), *_catalogue_errors(document)])
        raise
    if intent.catalogue is None:
        return intent, document
    return intent.model_copy(update={"switches": _catalogue(document) | intent.switches}), document


def load_job(path: Path) -> Job:
    """The job described in a file. Raises as `load_job_file` does."""
    return load_job_file(path)[0]


def load_job_file(path: Path) -> tuple[Job, Document]:
    """The job described in a file, and where each key stands in it.

    Raises IntentError, or Problems, with every fault of the file.
    """
    from railfab.intent.job import Job

    document = read_document(path)
    return _validated(document, Job), document


def load_mappings(path: Path) -> tuple[TelemetryFile, Document]:
    """The telemetry mappings in a file, and where each key stands in it. Raises IntentError, or Problems."""
    from railfab.intent.telemetry import TelemetryFile

    document = read_document(path)
    return _validated(document, TelemetryFile), document


def json_schema(*, job: bool = False) -> dict[str, Any]:
    """JSON Schema of the intent, or of jobs, for editors."""
    from pydantic.json_schema import GenerateJsonSchema

    from railfab.intent.job import Job

    class WithoutTitles(GenerateJsonSchema):
        """A generator without titles: pydantic makes them from the keys, which says nothing new."""

        def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
            return False

    described: type[Model] = Job if job else FabricIntent
    schema = described.model_json_schema(schema_generator=WithoutTitles)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _validated(document: Document, model: type[M]) -> M:
    _check_kind(document, model)
    try:
        return model.model_validate(document.content)
    except ValidationError as error:
        raise_all(intent_errors(document, model, error))
        raise


def _check_kind(document: Document, expected: type[Model]) -> None:
    """Report a job in place of a fabric, or the reverse, as one fault and not as one per key."""
    kinds = [kind for key, kind in KNOWN_BY.items() if key in document.content]
    if kinds and expected.__name__ not in kinds:
        wanted = KINDS[expected.__name__]
        problem = f"the file describes {KINDS[kinds[0]]}, not {wanted}"
        raise IntentError(str(document.path), problem, f"Name a file with {wanted}")


def _catalogue_errors(document: Document) -> Sequence[RailfabError]:
    try:
        _catalogue(document)
    except RailfabError as error:
        return each(error)
    return ()


def intent_files(path: Path) -> tuple[Path, ...]:
    """The files that the fabric of a file is read from: itself, and the catalogue file that it names.

    Raises IntentError, or Problems, for a file that is not YAML.
    """
    catalogue = _catalogue_path(read_document(path))
    return (path,) if catalogue is None else (path, catalogue)


def _catalogue_path(document: Document) -> Path | None:
    """The file that `catalogue` names, relative to the folder of the intent."""
    name = document.content.get("catalogue")
    return document.path.parent / name if isinstance(name, str) and _is_file_name(name) else None


def _catalogue(document: Document) -> dict[str, SwitchEntry]:
    """The switch models of the catalogue file of an intent."""
    path = _catalogue_path(document)
    if path is None:
        return {}
    _check_file(document, path, document.content["catalogue"])
    file = read_document(path, "switches:")
    switches = _validated(file, CatalogueFile).switches
    raise_all(_duplicates(document, file))
    return switches


def _is_file_name(name: str) -> bool:
    """Whether the operating system takes it as a file name; if not, the intent itself is wrong."""
    return name != "" and "\0" not in name and name.encode(errors="replace").decode() == name


def _check_file(document: Document, path: Path, name: str) -> None:
    """Report a file that cannot be read at the line of the intent that names it."""
    try:
        problem = "" if path.is_file() else "is not a file" if path.exists() else "does not exist"
    except OSError as error:
        problem = f"cannot be read ({one_line(error.strerror or str(error)).lower()})"
    if problem:
        remedy = "Name a file of switch models, relative to the folder of the intent"
        raise IntentError(document.where(("catalogue",)), f"{display(name)} {problem}", remedy)


def _duplicates(document: Document, file: Document) -> list[IntentError]:
    """One error per switch model that both the intent and its catalogue file define."""
    in_intent, in_file = document.content.get("switches"), file.content["switches"]
    return [
        IntentError(
            document.where(("switches", name)),
            f"{file.path}:{file.line(('switches', name))} defines the same model",
            "Keep one of them",
        )
        for name in (in_intent if isinstance(in_intent, dict) else ())
        if name in in_file
    ]
