"""The containerlab backend: a fabric in containers, booted by the `containerlab` binary."""

from typing import TYPE_CHECKING

from railfab.import_on_use import imported_on_use

if TYPE_CHECKING:
    from railfab.lab.containerlab.backend import BACKEND, ContainerlabBackend
    from railfab.lab.containerlab.binary import Container, Containerlab, ExecResult
    from railfab.lab.containerlab.generate import ContainerlabFiles, lab_files
    from railfab.lab.containerlab.settings import Settings, load_settings
    from railfab.lab.containerlab.topology_check import check, check_file
else:
    __getattr__ = imported_on_use(
        __name__,
        {
            "backend": ("BACKEND", "ContainerlabBackend"),
            "binary": ("Container", "Containerlab", "ExecResult"),
            "topology_check": ("check", "check_file"),
            "generate": ("ContainerlabFiles", "lab_files"),
            "settings": ("Settings", "load_settings"),
        },
    )

__all__ = [
    "BACKEND",
    "Container",
    "Containerlab",
    "ContainerlabBackend",
    "ContainerlabFiles",
    "ExecResult",
    "Settings",
    "check",
    "check_file",
    "lab_files",
    "load_settings",
]
