"""Load balancing, LLDP and management of a switch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from railfab.device.interfaces import DEFAULT_INSTANCE

MANAGEMENT_VRF = "mgmt"
"""Usual name of the VRF of the management port."""


SEVERITIES = ("emergency", "alert", "critical", "error", "warning", "notice", "informational", "debug")
"""Severities of syslog by their names in RFC 5424, from the highest."""


class BalancingMode(StrEnum):
    """Unit that is kept on one path: a flow, a burst of it, or nothing.

    ADAPTIVE: packets take the path with the least load. COLLECTIVE: flows of a collective are spread over the paths by
    their number, so that no two of one host share an uplink while another is free (Arista cluster load balancing).
    """

    FLOW = "flow"
    FLOWLET = "flowlet"
    PACKET = "packet"
    ADAPTIVE = "adaptive"
    COLLECTIVE = "collective"


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
class Lldp:
    """LLDP (IEEE 802.1AB) of a switch; on every port but the silent ones.

    hello_s: interval of its frames. hold_multiplier: a neighbour that stops sending expires after so many of them.
    system_name: with which it announces itself; None is the name of the switch.
    """

    enabled: bool = True
    silent: tuple[str, ...] = ()
    hello_s: int = 30
    hold_multiplier: int = 4
    system_name: str | None = None

    @property
    def hold_s(self) -> int:
        """Time for which others believe what it has announced."""
        return self.hello_s * self.hold_multiplier

    def runs_on(self, port: str) -> bool:
        return self.enabled and port not in self.silent


@dataclass(frozen=True, slots=True, kw_only=True)
class SyslogServer:
    """protocol: `udp` or `tcp`. level: lowest severity that is sent, by its name in RFC 5424."""

    address: str
    port: int = 514
    protocol: str = "udp"
    level: str = "informational"


@dataclass(frozen=True, slots=True, kw_only=True)
class AaaServer:
    """protocol: `tacacs` or `radius`. Its secret is in no model and no configuration text; see `Credentials`."""

    address: str
    protocol: str = "tacacs"


@dataclass(frozen=True, slots=True, kw_only=True)
class GnmiService:
    """The gNMI server of a switch. tls_profile: name of the profile on the switch that has its certificate."""

    port: int
    tls_profile: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagementAccess:
    """Management access that railfab configures. A part that is empty or None is the operator's.

    network_instance: in which the servers are reached, and gNMI is served. banner: shown before a login.
    """

    network_instance: str = DEFAULT_INSTANCE
    ntp: tuple[str, ...] = ()
    syslog: tuple[SyslogServer, ...] = ()
    aaa: tuple[AaaServer, ...] = ()
    gnmi: GnmiService | None = None
    banner: str | None = None

    def stated(self) -> ManagementAccess | None:
        """None without any part, and in the default network instance where no part is in one."""
        management = self
        if not (self.ntp or self.syslog or self.aaa or self.gnmi):
            management = replace(self, network_instance=DEFAULT_INSTANCE)
        return None if management == ManagementAccess() else management
