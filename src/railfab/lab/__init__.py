"""Lab backends: the same intent in network namespaces with FRR (`netns`), or in containers (`containerlab`)."""

from __future__ import annotations

from importlib import import_module

from railfab.errors import LabError
from railfab.lab.backend import Backend, Finding, LabPlace, LabPlan, LabStatus, NodeStatus, Progress

__all__ = [
    "BACKENDS",
    "Backend",
    "Finding",
    "LabPlace",
    "LabPlan",
    "LabStatus",
    "NodeStatus",
    "Progress",
    "backend",
]

BACKENDS = ("netns", "containerlab")


def backend(name: str) -> Backend:
    """The backend of that name: the `BACKEND` of the package of that name. Raises LabError."""
    if name not in BACKENDS:
        raise LabError(f"backend {name!r}", "is not known", f"Use one of {', '.join(BACKENDS)}")
    found: Backend = import_module(f"{__name__}.{name}").BACKEND
    return found
