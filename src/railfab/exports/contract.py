"""The contract of a format: a module of railfab.exports.formats with an `EXPORT`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from railfab.fabric import Design
from railfab.fabric.file_sets import Document
from railfab.fabric.host_names import HostNames


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFormat:
    """One format. help: the files that it has and the tool that reads them.

    documents: name and text of each file; the same design gives the same texts. It raises RailfabError for a design
    that the format cannot say. with_plan: whether `railfab plan -o` writes them too.
    """

    help: str
    documents: Callable[[Design, HostNames], Iterator[Document]]
    with_plan: bool = False
