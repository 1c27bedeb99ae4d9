"""Results of other commands as sections of a report, from what they print with `--output json`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from railfab.documents.markdown import table_lines
from railfab.documents.report import ReportSection
from railfab.errors import RailfabError
from railfab.text.counted import counted

PRINTED_BY = "simulate, measured, verify and doctor"
REMEDY = f"Give a file that {PRINTED_BY} print with --output json"
GB = 1e9


def result_section(path: Path) -> ReportSection:
    """The section of a file of results. Raises RailfabError for a file that is none."""
    try:
        document = json.loads(path.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise RailfabError(str(path), f"cannot be read: {getattr(error, 'strerror', None) or error}", REMEDY) from None
    except json.JSONDecodeError as error:
        raise RailfabError(f"{path}:{error.lineno}", f"is not JSON: {error.msg}", REMEDY) from None
    try:
        section = document_section(document)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise RailfabError(str(path), "lacks parts of its document", REMEDY) from None
    if section is None:
        raise RailfabError(str(path), f"is no document of {PRINTED_BY}", REMEDY)
    return section


def document_section(document: Any) -> ReportSection | None:
    """The section of a document of a command; None for another one. Raises KeyError and the like for a part of one."""
    for keys, section in KINDS:
        if isinstance(document, dict) and keys <= document.keys():
            title, lines = section(document)
            return ReportSection(title, "\n".join(lines))
    return None


def _simulated(document: Mapping[str, Any]) -> tuple[str, Iterator[str]]:
    columns = ("fabric", "tier", "GPUs", "step s", "computation s", "exposed communication s", "bubble s")
    rows = (
        (
            design["fabric"],
            estimate["tier"],
            f"{estimate['gpus']:,}",
            f"{estimate['step_s']:.4g}",
            f"{estimate['compute_s']:.4g}",
            f"{sum(estimate['exposed_s'].values()):.4g}",
            f"{estimate['bubble_s']:.4g}",
        )
        for design in document["designs"]
        for estimate in [design["estimate"]]
    )
    return f"Job {document['job']}", table_lines(columns, list(rows))


def _measured(document: Mapping[str, Any]) -> tuple[str, Iterator[str]]:
    columns = ("run", "operation", "ranks", "size bytes", "measured GB/s", "closed form GB/s", "% of ceiling", "limit")
    rows = [
        (
            run["file"],
            run["op"],
            run["ranks"],
            f"{size['size_bytes']:,}",
            f"{size['measured_bytes_per_s'] / GB:.2f}",
            f"{size['closed_form_bytes_per_s'] / GB:.2f}",
            f"{size['share']:.0%}",
            size["limit"],
        )
        for run in document["runs"]
        for size in run["sizes"]
    ]
    return f"Measured on {document['fabric']}", table_lines(columns, rows)


def _verified(document: Mapping[str, Any]) -> tuple[str, Iterator[str]]:
    def lines() -> Iterator[str]:
        yield f"{counted(len(document['checked']), 'switch')} checked, {counted(len(document['findings']), 'finding')}."
        yield ""
        yield from (f"- {each['severity']} {each['where']}: {each['problem']}" for each in document["findings"])

    return f"State of {document['fabric']}", lines()


def _diagnosed(document: Mapping[str, Any]) -> tuple[str, Iterator[str]]:
    def lines() -> Iterator[str]:
        read = f"{document['read']} of {counted(document['switches'], 'switch')} read, {document['window_s']:.0f} s"
        yield f"{read} of telemetry: {counted(len(document['causes']), 'cause')}."
        yield ""
        for cause in document["causes"]:
            yield f"{cause['rank']}. {cause['title']} ({cause['confidence']:.0%})"

    return f"Diagnosis of {document['fabric']}", lines()


KINDS: tuple[tuple[frozenset[str], Callable[[Mapping[str, Any]], tuple[str, Iterable[str]]]], ...] = (
    (frozenset(("job", "designs")), _simulated),
    (frozenset(("fabric", "runs", "differences")), _measured),
    (frozenset(("fabric", "checked", "findings")), _verified),
    (frozenset(("causes", "symptoms", "window_s")), _diagnosed),
)
"""Keys of the document of each command, and its section."""
