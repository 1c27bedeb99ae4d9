"""Load balancing and management of a switch."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from railfab.device.interfaces import DEFAULT_INSTANCE
from railfab.device.routing import SecretReference


class BalancingMode(StrEnum):
    """Unit that is kept on one path: a flow, a burst of it, or nothing."""

    FLOW = "flow"
    FLOWLET = "flowlet"
    PACKET = "packet"
    ADAPTIVE = "adaptive"


class HashField(StrEnum):
    """Header fields that the hash of equal-cost paths can take."""

    SOURCE_ADDRESS = "source-address"
    DESTINATION_ADDRESS = "destination-address"
    PROTOCOL = "protocol"
    SOURCE_PORT = "source-port"
    DESTINATION_PORT = "destination-port"
    QUEUE_PAIR = "queue-pair"
    FLOW_LABEL = "flow-label"
    INGRESS_PORT = "ingress-port"
    VLAN = "vlan"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadBalancing:
    """Choice among equal-cost paths. fields: empty is the platform's default. seed: None is the platform's default.

    flowlet_gap_us: idle time after which a flow may take another path.
    """

    mode: BalancingMode = BalancingMode.FLOW
    fields: tuple[HashField, ...] = ()
    seed: int | None = None
    flowlet_gap_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SyslogServer:
    """protocol: `udp` or `tcp`."""

    address: str
    port: int = 514
    protocol: str = "udp"


@dataclass(frozen=True, slots=True, kw_only=True)
class AaaServer:
    """protocol: `tacacs` or `radius`."""

    address: str
    protocol: str
    secret: SecretReference


@dataclass(frozen=True, slots=True, kw_only=True)
class GnmiService:
    """The gNMI server of a switch. tls_profile: name of its certificate on the switch."""

    port: int
    tls_profile: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Management:
    """Management access that railfab configures; None in a model leaves all of it to the operator."""

    network_instance: str = DEFAULT_INSTANCE
    ntp: tuple[str, ...] = ()
    syslog: tuple[SyslogServer, ...] = ()
    aaa: tuple[AaaServer, ...] = ()
    ssh: bool = True
    gnmi: GnmiService | None = None
