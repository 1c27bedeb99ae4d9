"""The embedded backend: a network namespace per node, FRR and an SSH server per switch, one gNMI agent."""

from typing import TYPE_CHECKING

from railfab.import_on_use import imported_on_use

if TYPE_CHECKING:
    from railfab.lab.netns.backend import BACKEND, NetnsBackend
else:
    __getattr__ = imported_on_use(
        __name__,
        {
            "backend": ("BACKEND", "NetnsBackend"),
        },
    )

__all__ = [
    "BACKEND",
    "NetnsBackend",
]
