"""The twin: virtual switches behind real gNMI servers, over a simulated fabric that can be controlled while it runs."""

from railfab.twin.control import Control, connect, running
from railfab.twin.serve import serve
from railfab.twin.service import BASE_PORT, Twin
from railfab.twin.status import SwitchStatus, TwinStatus

__all__ = ["BASE_PORT", "Control", "SwitchStatus", "Twin", "TwinStatus", "connect", "running", "serve"]
