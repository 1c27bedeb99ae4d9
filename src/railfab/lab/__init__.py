"""Lab backends: a fabric in network namespaces with FRR (`netns`), or in containers (`containerlab`)."""

from __future__ import annotations

from importlib import import_module

from railfab.errors import LabError
from railfab.lab.backend import Backend, LabPlace, LabPlan, LabStatus, NodeStatus, Progress, Requirement, lab_plan
from railfab.lab.unenforced import unenforced, unenforced_requirements

__all__ = [
    "BACKENDS",
    "Backend",
    "LabPlace",
    "LabPlan",
    "LabStatus",
    "NodeStatus",
    "Progress",
    "Requirement",
    "backend",
    "lab_plan",
    "unenforced",
    "unenforced_requirements",
]

BACKENDS = ("netns", "containerlab")


def backend(name: str) -> Backend:
    """The backend of that name. Raises LabError."""
    if name not in BACKENDS:
        raise LabError(f"backend {name!r}", "does not exist", f"Use one of {', '.join(BACKENDS)}")
    found: Backend = import_module(f"{__name__}.{name}").BACKEND
    return found
