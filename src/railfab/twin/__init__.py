"""The twin: virtual switches behind real gNMI servers, over a simulated fabric that can be controlled while it runs."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from railfab.twin.control import Control, connect, running
from railfab.twin.detached import FoundTwin, found_twins, start_detached, stop, twin_command
from railfab.twin.link_parts import Direction
from railfab.twin.served import require_served, require_traffic
from railfab.twin.status import SwitchOperation, SwitchStatus, TwinStatus

if TYPE_CHECKING:
    from railfab.twin.service import BASE_PORT, Twin
    from railfab.twin.serving import serve

__all__ = [
    "BASE_PORT",
    "Control",
    "Direction",
    "FoundTwin",
    "SwitchOperation",
    "SwitchStatus",
    "Twin",
    "TwinStatus",
    "connect",
    "found_twins",
    "require_served",
    "require_traffic",
    "running",
    "serve",
    "start_detached",
    "stop",
    "twin_command",
]

_SERVING = {"BASE_PORT": "service", "Twin": "service", "serve": "serving"}


def __getattr__(name: str) -> Any:
    """Import what serves on use: it brings simulator and servers, and who controls a twin needs neither."""
    if name in _SERVING:
        return getattr(import_module(f"{__name__}.{_SERVING[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
