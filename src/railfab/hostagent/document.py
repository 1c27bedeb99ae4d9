"""What an agent knows of its host, as the document that `railfab agent --once --output json` prints, version 1."""

from __future__ import annotations

from dataclasses import dataclass

VERSION = 1


@dataclass(frozen=True, slots=True)
class NicNeighbor:
    """The device at the other end of the cable by LLDP, and its port, as the device calls them."""

    switch: str
    port: str


@dataclass(frozen=True, slots=True)
class NicLink:
    """The link of a port. fec: as ethtool names it, such as `RS`; None where the driver does not say."""

    up: bool
    rate_gbps: float | None
    fec: str | None


@dataclass(frozen=True, slots=True)
class NicPcie:
    """PCIe: speed of a lane [GT/s], lanes, and what they carry one way; max: the best that the NIC can have."""

    speed_gtps: float | None
    lanes: int | None
    rate_gbps: float | None
    max_speed_gtps: float | None
    max_lanes: int | None
    max_rate_gbps: float | None


@dataclass(frozen=True, slots=True)
class NicGid:
    """An address in the GID table of the port's RDMA device. kind: `RoCE v2` or `IB/RoCE v1`."""

    index: int
    kind: str
    gid: str


@dataclass(frozen=True, slots=True)
class NicSetting:
    """A setting. read: the text as it is read back; None where it is unknown, or where the host has none. ok: whether
    it is as wanted; None where it is unknown. problem: why it is unknown, or why it is no fault that there is none."""

    setting: str
    wanted: str
    read: str | None
    ok: bool | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class NicDocument:
    """A port of a NIC. nic: its name in the cabling plan. interface: of Linux. rdma: its RDMA device."""

    nic: str
    interface: str
    rdma: str | None
    model: str
    family: str
    rail: int | None
    plane: int | None
    neighbor: NicNeighbor | None
    link: NicLink
    pcie: NicPcie
    gids: tuple[NicGid, ...]
    settings: tuple[NicSetting, ...]


@dataclass(frozen=True, slots=True)
class HostDocument:
    """A host. checked: when (UTC, RFC 3339). settings: of the whole host. faults: what is missing or cannot be read."""

    version: int
    fabric: str
    host: str
    checked: str
    nics: tuple[NicDocument, ...]
    settings: tuple[NicSetting, ...]
    faults: tuple[str, ...]
