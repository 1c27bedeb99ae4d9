"""The twin: virtual switches behind real gNMI servers, over a simulated fabric that can be controlled while it runs."""

from railfab.twin.control import Control, connect, running
from railfab.twin.detached import FoundTwin, found_twins, start_detached, stop, twin_command
from railfab.twin.link_parts import Direction
from railfab.twin.operations import SwitchOperation
from railfab.twin.serve import serve
from railfab.twin.service import BASE_PORT, Twin, require_served
from railfab.twin.status import SwitchStatus, TwinStatus

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
    "running",
    "serve",
    "start_detached",
    "stop",
    "twin_command",
]
