"""A job in a file of any format: railfab's own, a workload text, or the traces of ranks."""

from __future__ import annotations

from pathlib import Path

from railfab.errors import IntentError
from railfab.intent import Job
from railfab.intent.document import STDIN, Document
from railfab.intent.load import load_job_file
from railfab.workload.closed_form import RecordedJob
from railfab.workload.recorded.chakra import rank_files, read_rank_traces
from railfab.workload.recorded.layer_table import is_layer_table, read_layer_table

MOST_TEXT_BYTES = 200_000_000
"""Largest workload text, of some two million rows."""
BEGINNING_BYTES = 200


def job_files(path: Path) -> tuple[Path, ...]:
    """The files that have the job of a path: itself, or the traces of all ranks."""
    return rank_files(path) or (path,)


def load_any_job(path: Path) -> tuple[Job | RecordedJob, Document]:
    """The job in a file, and where each key stands in it.

    path: a job (YAML), a workload text, or the traces of ranks PREFIX.RANK.et by their prefix, or by one of them.
    Raises IntentError, or Problems, with the faults of the file.
    """
    if path == STDIN:
        return load_job_file(path)
    if files := rank_files(path):
        return read_rank_traces(path, files), Document(path, {})
    if path.is_file() and is_layer_table(_beginning(path)):
        return read_layer_table(path, _text(path)), Document(path, {})
    return load_job_file(path)


def _beginning(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(BEGINNING_BYTES).decode(errors="replace")
    except OSError:
        return ""


def _text(path: Path) -> str:
    with path.open("rb") as file:
        held = file.read(MOST_TEXT_BYTES + 1)
    if len(held) > MOST_TEXT_BYTES:
        raise IntentError(str(path), f"it has more than {MOST_TEXT_BYTES:,} bytes", "Use a smaller file")
    try:
        return held.decode()
    except UnicodeDecodeError:
        raise IntentError(str(path), "it is no UTF-8", "Save it as UTF-8") from None
