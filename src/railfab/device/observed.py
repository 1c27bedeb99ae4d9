"""Live state of one switch, limited to what every platform reports."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedInterface:
    """Live state of one interface. enabled: administrative state; None where not reported.

    mtu_bytes: largest IP packet. neighbor_device, neighbor_interface: from LLDP.
    """

    name: str
    oper_up: bool
    enabled: bool | None = None
    mtu_bytes: int | None = None
    neighbor_device: str | None = None
    neighbor_interface: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedBgpSession:
    """A BGP session over an interface. bfd_up: None when the session has no BFD."""

    interface: str
    state: str
    remote_as: int | None = None
    neighbor_device: str | None = None
    bfd_up: bool | None = None

    @property
    def established(self) -> bool:
        return self.state == "established"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The live state of one switch."""

    interfaces: tuple[ObservedInterface, ...]
    sessions: tuple[ObservedBgpSession, ...]
