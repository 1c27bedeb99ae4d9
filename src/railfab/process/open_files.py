"""The number of files, sockets among them, that this process may have open."""

from __future__ import annotations

import math
import resource
from contextlib import suppress


def allow_open_files() -> None:
    """Raise the soft limit to the hard one: many systems begin with 1,024, and a switch takes one or two."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # a system may refuse "unlimited"
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def most_open_files() -> float:
    """The soft limit; infinite without one."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return math.inf if limit == resource.RLIM_INFINITY else limit
