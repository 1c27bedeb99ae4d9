"""The gNMI agent of an embedded lab: one process that answers for every switch, from the kernel and from FRR."""

from railfab.lab.agent.leaves import encode
from railfab.lab.agent.readings import Reading, bfd_readings, bgp_readings, interface_readings
from railfab.lab.agent.target import LinuxSwitch

__all__ = ["LinuxSwitch", "Reading", "bfd_readings", "bgp_readings", "encode", "interface_readings"]
