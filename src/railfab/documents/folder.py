"""Write the documents of a plan as files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from railfab.documents.addresses import addresses, as_numbers
from railfab.documents.cabling import cabling
from railfab.documents.host_routes import BATCH_HEADING, host_batches
from railfab.documents.plan import Plan
from railfab.documents.prefixes import subnets
from railfab.documents.sizing import gpu_count
from railfab.documents.summary import summary
from railfab.documents.table import Table
from railfab.fabric import Say
from railfab.fabric.file_sets import Document, write_folder

TABLES: Mapping[str, Callable[[Plan], Table]] = {
    "cabling": lambda plan: cabling(plan.topology, plan.intent, plan.positions),
    "addresses": lambda plan: addresses(plan.topology),
    "subnets": lambda plan: subnets(plan.topology, plan.intent),
    "as-numbers": lambda plan: as_numbers(plan.topology),
    "bill-of-materials": lambda plan: plan.bill,
    "power": lambda plan: plan.power,
    "gpu-count": lambda plan: gpu_count(plan.topology, plan.intent),
    "failure-domains": lambda plan: plan.failures,
}
"""The tables by the stem of their files."""
EMPTY: Mapping[str, Iterable[Document]] = MappingProxyType({})
HOSTS = "hosts"
"""Folder of the `ip -batch` files of hosts, and of the settings of their NICs."""


def write_documents(
    plan: Plan, folder: Path, say: Say = lambda _: None, further: Mapping[str, Iterable[Document]] = EMPTY
) -> list[Path]:
    """Write all documents into a folder. Other files are kept, except those of an earlier plan that are obsolete:
    batches for removed hosts, and NIC settings of a fabric that needs none.

    say: called with the name of each document. further: documents that are written with them, by what the summary says
    of them.
    Raises RailfabError if the folder cannot be used.
    """
    files = write_folder(folder, chain(_documents(plan, say, further), *further.values()))
    _remove_stale(folder / HOSTS, set(files))
    return files


def _documents(plan: Plan, say: Say, further: Iterable[str]) -> Iterator[Document]:
    from railfab.draw import topology_svg
    from railfab.hosts.files import nic_files

    say("summary.md")
    yield "summary.md", summary(plan, further)
    say("topology.svg")
    yield "topology.svg", topology_svg(plan.topology, plan.intent.hosts, plan.findings)
    for name, table in TABLES.items():
        say(f"{name}.csv")
        yield f"{name}.csv", table(plan).csv()
    say(f"{HOSTS}/")
    for name, text in host_batches(plan.topology, plan.intent):
        yield f"{HOSTS}/{name}", text
    for name, text in nic_files(plan.topology, plan.intent):
        yield f"{HOSTS}/{name}", text


def _remove_stale(folder: Path, written: set[Path]) -> None:
    """Remove files that a plan has written (by their first line) and that are not written now."""
    from railfab.hosts.files import MARKS

    batches = {path.name: BATCH_HEADING.format(host=path.name.partition(".")[0]) for path in folder.glob("*.batch")}
    for name, mark in (batches | dict(MARKS)).items():
        path = folder / name
        if path not in written and path.is_file():
            with path.open(encoding="utf-8", errors="replace") as file:
                is_ours = file.readline().startswith(mark)
            if is_ours:
                path.unlink()
    with suppress(OSError):  # not empty
        folder.rmdir()
