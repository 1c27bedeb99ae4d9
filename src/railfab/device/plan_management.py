"""Management access of a switch, from the intent."""

from __future__ import annotations

from railfab.device.plan_switch import PlannedSwitch
from railfab.device.system import AaaServer, GnmiService, ManagementAccess, SyslogServer
from railfab.topology import Net


def planned_management(switch: PlannedSwitch) -> ManagementAccess | None:
    """Compute the management access that the intent states; None where it states nothing.

    Switches are managed in the VRF of their management port. Those of the management network have their servers where
    its links are; their gNMI server stays as it is, since moving it would end the access over which it is moved.
    """
    intent = switch.fabric.intent.management
    if intent is None:
        return None
    services, in_network = intent.services, switch.node.net is Net.MANAGEMENT
    gnmi = None if in_network else intent.gnmi
    return ManagementAccess(
        network_instance=switch.network_instance if in_network else intent.vrf,
        ntp=tuple(map(str, services.ntp)),
        syslog=tuple(
            SyslogServer(
                address=str(address),
                port=intent.syslog.port,
                protocol=intent.syslog.protocol,
                level=intent.syslog.level,
            )
            for address in services.syslog
        ),
        aaa=tuple(AaaServer(address=str(address), protocol=intent.aaa.protocol) for address in services.aaa),
        gnmi=GnmiService(port=gnmi.port, tls_profile=gnmi.tls_profile) if gnmi else None,
        banner=intent.banner,
    ).stated()
