"""The lab backends by name."""

from __future__ import annotations

from importlib import import_module

from railfab.errors import LabError
from railfab.lab.contract import LabBackend

BACKENDS = ("netns", "containerlab")


def backend(name: str) -> LabBackend:
    """The backend of that name. Raises LabError."""
    if name not in BACKENDS:
        raise LabError(f"backend {name!r}", "does not exist", f"Use one of {', '.join(BACKENDS)}")
    chosen: LabBackend = import_module(f"railfab.lab.{name}").BACKEND
    return chosen
