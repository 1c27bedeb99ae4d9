"""NIC settings of hosts: scripts and environments that agree with the switches, for NVIDIA, Broadcom and AMD NICs.

`railfab.hosts.files` writes them; it is imported on use.
"""

from typing import TYPE_CHECKING

from railfab.import_on_use import imported_on_use

if TYPE_CHECKING:
    from railfab.hosts.catalogue import NicModel, needs_settings, nic_findings, nic_models, nic_notes
else:
    __getattr__ = imported_on_use(
        __name__, {"catalogue": ("NicModel", "needs_settings", "nic_findings", "nic_models", "nic_notes")}
    )

__all__ = ["NicModel", "needs_settings", "nic_findings", "nic_models", "nic_notes"]
