"""NIC settings of hosts: scripts and environments that agree with the switches, for NVIDIA, Broadcom and AMD NICs."""

from railfab.hosts.catalogue import NicModel, needs_settings, nic_findings, nic_models
from railfab.hosts.files import MARKS, nic_files, nic_settings
from railfab.hosts.settings import Setting

__all__ = ["MARKS", "NicModel", "Setting", "needs_settings", "nic_files", "nic_findings", "nic_models", "nic_settings"]
