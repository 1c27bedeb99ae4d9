"""The ports that a run listens on, checked before anything is started."""

from __future__ import annotations

import shutil
import socket

from railfab.errors import LabError
from railfab.process.listeners import bind_problem
from railfab.units import PROMETHEUS_PORT

LOCALHOST = "127.0.0.1"


def free_ports(metrics: int, prometheus: int | None, twin: range = range(0)) -> int | None:
    """Choose the port of Prometheus; None when it is not wanted or not installed.

    metrics: 0 is any. twin: ports of its switches. prometheus: 0 for none, None for its usual port or, where that is
    taken, any free one.
    Raises LabError for a stated port that is in use.
    """
    for port in twin:
        _require_free("--twin-port", port)
    if metrics:
        _require_free("--metrics-port", metrics)
    if prometheus == 0 or shutil.which("prometheus") is None:
        return None
    if prometheus is None:
        return PROMETHEUS_PORT if _bind_problem(PROMETHEUS_PORT) is None else _any_free_port()
    _require_free("--prometheus-port", prometheus)
    return prometheus


def _require_free(option: str, port: int) -> None:
    if (reason := _bind_problem(port)) is not None:
        problem = f"cannot be listened on ({reason})"
        raise LabError(f"{LOCALHOST}:{port}", problem, f"End what uses it, or choose another {option}")


def _bind_problem(port: int) -> str | None:
    """Reason why a server cannot listen on the port; None when it can."""
    try:
        socket.create_server((LOCALHOST, port)).close()
    except OSError as error:
        return bind_problem(error, port)
    return None


def _any_free_port() -> int:
    with socket.create_server((LOCALHOST, 0)) as listening:
        return int(listening.getsockname()[1])
