"""NIC settings of hosts: scripts and environments that agree with the switches, for NVIDIA, Broadcom and AMD NICs.

`railfab.hosts.files` writes them; it is imported on use.
"""

from railfab.hosts.catalogue import NicModel, needs_settings, nic_findings, nic_models, nic_notes

__all__ = ["NicModel", "needs_settings", "nic_findings", "nic_models", "nic_notes"]
