"""The gNMI agent of an embedded lab: one process that serves the state of every switch from Linux and FRR."""

from railfab.lab.agent.leaves import encode
from railfab.lab.agent.linux_metrics import Measurement, bfd_metrics, bgp_metrics, daemon_metrics, interface_metrics
from railfab.lab.agent.target import LinuxSwitch

__all__ = ["LinuxSwitch", "Measurement", "bfd_metrics", "bgp_metrics", "daemon_metrics", "encode", "interface_metrics"]
