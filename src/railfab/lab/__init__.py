"""Lab backends: a fabric in network namespaces with FRR (`netns`), or in containers (`containerlab`)."""

from typing import TYPE_CHECKING

from railfab.import_on_use import imported_on_use

if TYPE_CHECKING:
    from railfab.lab.contract import (
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
    from railfab.lab.unenforced_features import unenforced, unenforced_requirements
else:
    __getattr__ = imported_on_use(
        __name__,
        {
            "contract": (
                *("LabBackend", "LabPlace", "LabPlan", "LabStart", "LabStatus"),
                *("NodeStatus", "Progress", "Requirement", "lab_plan"),
            ),
            "registry": ("BACKENDS", "backend"),
            "running": ("Lab",),
            "unenforced_features": ("unenforced", "unenforced_requirements"),
        },
    )

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
