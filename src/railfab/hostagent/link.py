"""The link of a port and the PCIe slot of its NIC, as sysfs has them."""

from __future__ import annotations

import re
from pathlib import Path

from railfab.hostagent.document import NicLink, NicPcie
from railfab.hostagent.ethtool import Ethtool
from railfab.hostagent.host_files import KeptFile
from railfab.hosts.nic import HostPort, System, Unreadable

GIGATRANSFERS = re.compile(rb"([\d.]+) GT/s")
SHARE_OF_DATA = {2.5: 0.8, 5.0: 0.8, 64.0: 242 / 256}
"""Share of the bits of a lane that are data, by GT/s: 8b/10b, 128b/130b, and the flits of PCIe 6 with CRC and FEC."""
SHARE_128B_130B = 128 / 130
MBPS = 1000.0


class LinkFiles:
    """The files of one port about its link and its PCIe slot. Not every one exists for each NIC."""

    def __init__(self, port: HostPort, system: System) -> None:
        interface = f"/sys/class/net/{port.interface}"
        self.carrier = KeptFile(system.path(f"{interface}/carrier"))
        self._speed = KeptFile(system.path(f"{interface}/speed"))
        self._pcie = _pair(system.path(f"{interface}/device"), "current")
        self._most = _pair(system.path(f"{interface}/device"), "max")

    def link(self, ethtool: Ethtool) -> NicLink:
        """Whether the link is up, its rate, and its FEC. The carrier of an interface that is down cannot be read."""
        rate = self.rate_mbps()
        try:
            fec = ethtool.fec()
        except Unreadable:
            fec = None
        return NicLink(self.carrier.number() == b"1", int(rate) / MBPS if rate else None, fec or None)

    def rate_mbps(self) -> bytes | None:
        """The rate of a link that is up [Mb/s]; without one the driver has -1, or the file cannot be read."""
        return self._speed.number() if self.carrier.number() == b"1" else None

    def pcie(self) -> NicPcie:
        """The PCIe link that the NIC has now, and the best that it can have."""
        (speed, lanes), (max_speed, max_lanes) = map(_pcie_link, (self._pcie, self._most))
        return NicPcie(speed, lanes, pcie_gbps(speed, lanes), max_speed, max_lanes, pcie_gbps(max_speed, max_lanes))

    def close(self) -> None:
        """Close the files."""
        for file in (self.carrier, self._speed, *self._pcie, *self._most):
            file.close()


def pcie_gbps(gigatransfers: float | None, lanes: int | None) -> float | None:
    """What a PCIe link carries in one direction before the headers of its packets [Gb/s]; None of an unknown one."""
    if gigatransfers is None or lanes is None:
        return None
    return round(gigatransfers * SHARE_OF_DATA.get(gigatransfers, SHARE_128B_130B) * lanes, 2)


def _pair(device: Path, kind: str) -> tuple[KeptFile, KeptFile]:
    return KeptFile(device / f"{kind}_link_speed"), KeptFile(device / f"{kind}_link_width")


def _pcie_link(files: tuple[KeptFile, KeptFile]) -> tuple[float | None, int | None]:
    """Gigatransfers per second of a lane, such as 32.0 of `32.0 GT/s PCIe`, and lanes; width 255 or 0: unknown."""
    speed, width = files
    match = GIGATRANSFERS.match(speed.read() or b"")
    lanes = int(width.number() or 0)
    return (float(match[1]) if match else None), (lanes if 0 < lanes <= 32 else None)
