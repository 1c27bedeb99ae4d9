"""The contract of a format: a module of railfab.exports.formats with an `EXPORT`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from railfab.fabric import Design
from railfab.fabric.file_sets import Content, Document
from railfab.fabric.host_names import HostNames
from railfab.intent import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFormat:
    """One format. help: the files that it has and the tool that reads them.

    documents: name and text of each file; the same design gives the same texts. It raises RailfabError for a design
    that the format cannot say. with_plan: whether `railfab plan -o` writes them too. of_job: the files of a job on the
    design, text or bytes, beside those; only_jobs: there are no others. equal: why it can say only fabrics whose parts
    are equal, as those of a live one may not be; empty for a format that can say others.
    """

    help: str
    documents: Callable[[Design, HostNames], Iterator[Document]]
    with_plan: bool = False
    of_job: Callable[[Design, HostNames, Job], Iterator[Content]] | None = None
    only_jobs: bool = False
    equal: str = ""
