"""Features of a device model: LLDP, and what switches are managed by."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from railfab.device import (
    DEFAULT_INSTANCE,
    MANAGEMENT_VRF,
    SEVERITIES,
    DeviceModel,
    Lldp,
    ManagementAccess,
)
from railfab.platforms import removals
from railfab.platforms.feature import Feature, Used


def _management(has: Callable[[ManagementAccess], bool]) -> Used:
    return lambda model: model.management is not None and has(model.management)


def _has_other_management_vrf(model: DeviceModel) -> bool:
    """Whether the servers are in a VRF that the model does not have."""
    known = {DEFAULT_INSTANCE, MANAGEMENT_VRF, *(instance.name for instance in model.network_instances)}
    return model.management is not None and model.management.network_instance not in known


def _has_servers_in_vrf_of_links(model: DeviceModel) -> bool:
    """Whether the servers are in a VRF of the model that is not that of the management port."""
    of_links = {instance.name for instance in model.network_instances} - {DEFAULT_INSTANCE, MANAGEMENT_VRF}
    return model.management is not None and model.management.network_instance in of_links


MANAGEMENT_FEATURES: Mapping[str, Feature] = {
    "management_vrf": Feature(
        "VRF of the management port with another name than mgmt",
        _has_other_management_vrf,
        removals.management_vrf,
        key="management.vrf",
    ),
    "servers_in_vrf_of_links": Feature(
        "NTP, syslog and AAA servers in a VRF that is not that of the management port",
        _has_servers_in_vrf_of_links,
        removals.management_vrf,
        key="management.isolation",
    ),
    "lldp_settings": Feature(
        "LLDP disabled, or with other intervals",
        lambda model: model.lldp != Lldp(system_name=model.lldp.system_name),
    ),
    "ntp": Feature(
        "NTP servers", _management(lambda management: bool(management.ntp)), removals.ntp, key="management.services.ntp"
    ),
    "syslog": Feature(
        "syslog servers",
        _management(lambda management: bool(management.syslog)),
        removals.syslog,
        key="management.services.syslog",
    ),
    "syslog_alerts": Feature(
        "syslog levels above critical",
        _management(lambda management: any(server.level in SEVERITIES[:2] for server in management.syslog)),
        removals.syslog_alerts,
        optional=True,
        substitutes=True,
    ),
    "syslog_levels": Feature(
        "syslog servers with different levels",
        _management(lambda management: len({server.level for server in management.syslog}) > 1),
        removals.syslog_levels,
        optional=True,
        substitutes=True,
    ),
    "syslog_tcp": Feature(
        "syslog over TCP",
        _management(lambda management: any(server.protocol == "tcp" for server in management.syslog)),
        removals.syslog,
        key="management.syslog.protocol",
    ),
    "aaa": Feature(
        "TACACS+ and RADIUS servers",
        _management(lambda management: bool(management.aaa)),
        removals.aaa,
        key="management.services.aaa",
    ),
    "gnmi_server": Feature(
        "gNMI server with a TLS profile",
        _management(lambda management: management.gnmi is not None),
        removals.gnmi_server,
        key="management.gnmi",
    ),
    "banner": Feature(
        "banner before a login",
        _management(lambda management: management.banner is not None),
        removals.banner,
        key="management.banner",
    ),
}
