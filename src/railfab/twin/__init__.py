"""Virtual switches: a fabric's forwarding and traffic behind real gNMI servers, remote-controlled while they run."""

from railfab.twin.control import Control, connect, running
from railfab.twin.serve import serve
from railfab.twin.service import BASE_PORT, Twin
from railfab.twin.status import SwitchStatus, TwinStatus

__all__ = ["BASE_PORT", "Control", "SwitchStatus", "Twin", "TwinStatus", "connect", "running", "serve"]
