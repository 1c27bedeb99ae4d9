"""The design of a fabric (intent, topology, device models, findings), and the endpoints of its switches."""

from typing import TYPE_CHECKING

from railfab.fabric.design import Design, NotAccepted, Say, design
from railfab.import_on_use import imported_on_use

if TYPE_CHECKING:
    from railfab.fabric.endpoints import (
        present_endpoints,
        readable_endpoints,
        require_sessions,
        resolve_endpoints,
        session_endpoints,
    )
    from railfab.fabric.jobs import fitting_job
    from railfab.fabric.limit import group_names, limited, named
else:
    __getattr__ = imported_on_use(
        __name__,
        {
            "endpoints": (
                "present_endpoints",
                "readable_endpoints",
                "require_sessions",
                "resolve_endpoints",
                "session_endpoints",
            ),
            "jobs": ("fitting_job",),
            "limit": ("group_names", "limited", "named"),
        },
    )

__all__ = [
    "Design",
    "NotAccepted",
    "Say",
    "design",
    "fitting_job",
    "group_names",
    "limited",
    "named",
    "present_endpoints",
    "readable_endpoints",
    "require_sessions",
    "resolve_endpoints",
    "session_endpoints",
]
