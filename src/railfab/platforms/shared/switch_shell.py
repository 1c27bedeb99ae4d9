"""A login at a virtual switch that runs Linux, with what its commands read, and the commands of iproute2."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence

from railfab.platforms.shared import virtual_iproute
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.shared.virtual_readings import SwitchReadings
from railfab.platforms.shared.virtual_shell import VirtualShell
from railfab.platforms.twin_face import VirtualDevice

NEIGHBOR_MAC = "02:00:00:00:00:02"


class SwitchShell(VirtualShell, ABC):
    """A login whose commands read the switch."""

    @property
    def device(self) -> VirtualDevice:
        return self.host.device

    def readings(self) -> SwitchReadings:
        return SwitchReadings(self.device)

    @abstractmethod
    def links(self) -> Sequence[Json]:
        """The devices of Linux with their addresses, as `ip -j addr show` lists them."""

    def addresses(self) -> str:
        """The same as JSON."""
        return json.dumps(self.links())

    def ip_links(self) -> str:
        return virtual_iproute.shown(self.links())

    def ip_addresses(self) -> str:
        return virtual_iproute.shown(self.links(), addresses=True)

    def brief_links(self) -> str:
        return virtual_iproute.brief(self.links())

    def brief_addresses(self) -> str:
        return virtual_iproute.brief(self.links(), addresses=True)

    def resolved(self) -> str:
        """Neighbours that ports have resolved, as `ip -j neigh show` lists them."""
        entries = [
            {"dst": str(entry.address), "dev": port.name, "lladdr": NEIGHBOR_MAC, "state": ["REACHABLE"]}
            for port in self.device.ports()
            for entry in port.resolved
        ]
        return json.dumps(entries)
