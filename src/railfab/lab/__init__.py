"""Lab backends: a fabric in network namespaces with FRR (`netns`), or in containers (`containerlab`)."""

from __future__ import annotations

from railfab.lab.backend import (
    LabBackend,
    LabPlace,
    LabPlan,
    LabStart,
    LabStatus,
    NodeStatus,
    Progress,
    Requirement,
    lab_plan,
)
from railfab.lab.registry import BACKENDS, backend
from railfab.lab.running import Lab
from railfab.lab.unenforced import unenforced, unenforced_requirements

__all__ = [
    "BACKENDS",
    "Lab",
    "LabBackend",
    "LabPlace",
    "LabPlan",
    "LabStart",
    "LabStatus",
    "NodeStatus",
    "Progress",
    "Requirement",
    "backend",
    "lab_plan",
    "unenforced",
    "unenforced_requirements",
]
