"""What is committed of the plan of each design: its documents, and its picture for docs/designs.md.

python -m tests.topology.design_goldens [DESIGN ...]      writes them anew
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from railfab.documents import Plan, planned
from railfab.documents.folder import TABLES, write_documents
from railfab.documents.summary import summary
from railfab.draw import topology_svg
from railfab.intent.starters import designs

ROOT = Path(__file__).parents[2]
FABRICS = ROOT / "inventory" / "fabrics"
GOLDEN = ROOT / "tests" / "golden" / "designs"
PICTURES = ROOT / "docs" / "designs"

WHOLE_LINES, HEAD_LINES = 260, 8
"""A document of more lines is kept as its first few, and a hash of all."""
LARGE_HOSTS = 1024
"""Fabrics of more hosts keep only what says it in few lines: the other documents have a million."""
SHORT = ("bill-of-materials", "gpu-count", "failure-domains")


def golden(name: str) -> tuple[dict[str, str], str]:
    """The documents of a design by name, as they are kept, and its picture."""
    plan = planned(FABRICS / f"{name}.yml")
    written = _short(plan) if len(plan.topology.hosts()) > LARGE_HOSTS else _written(plan)
    return {document: _kept(text) for document, text in written.items()}, topology_svg(plan.topology, plan.intent.hosts)


def _short(plan: Plan) -> dict[str, str]:
    return {"summary.md": summary(plan), **{f"{name}.csv": TABLES[name](plan).csv() for name in SHORT}}


def _written(plan: Plan) -> dict[str, str]:
    """What `railfab plan FILE -o DIR` writes, with the batch of one host; the picture is in the docs."""
    with TemporaryDirectory() as folder:
        files = write_documents(plan, Path(folder))
        hosts = [path for path in files if path.parent.name == "hosts"]
        kept = [path for path in files if path not in hosts and path.suffix != ".svg"]
        return {str(path.relative_to(folder)): path.read_text() for path in [*kept, *islice(hosts, 1)]}


def _kept(text: str) -> str:
    lines = text.splitlines(keepends=True)
    if len(lines) <= WHOLE_LINES:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()
    return "".join(lines[:HEAD_LINES]) + f"... {len(lines)} lines, SHA-256 {digest}\n"


def committed(name: str) -> dict[str, str]:
    folder = GOLDEN / name
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def write(name: str, documents: Mapping[str, str], picture: str) -> None:
    shutil.rmtree(GOLDEN / name, ignore_errors=True)
    for document, text in documents.items():
        path = GOLDEN / name / document
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    PICTURES.mkdir(exist_ok=True)
    (PICTURES / f"{name}.svg").write_text(picture)


if __name__ == "__main__":
    for design in sys.argv[1:] or designs():
        write(design, *golden(design))
