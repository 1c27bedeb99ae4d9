"""Defaults of settings that a switch shows although no one set them (`nv config show --all`), by path without keys."""

from __future__ import annotations

DEFAULTS = {
    "/interface/link/mtu": "9216",
    "/interface/link/fec": "auto",
    "/interface/link/auto-negotiate": "enabled",
    "/interface/bond/mode": "lacp",
    "/interface/bond/lacp-rate": "fast",
    "/interface/bond/lacp-bypass": "disabled",
    "/nve/vxlan/arp-nd-suppress": "enabled",
    "/nve/vxlan/encapsulation/dscp/action": "derive",
    "/nve/vxlan/decapsulation/dscp/action": "derive",
    "/vrf/router/bgp/address-family/multipaths/ebgp": "64",
    "/vrf/router/bgp/address-family/multipaths/ibgp": "64",
    "/vrf/router/bgp/path-selection/multipath/aspath-ignore": "disabled",
    "/vrf/router/bgp/neighbor/shutdown": "disabled",
    "/qos/pfc/tx": "enable",
    "/qos/pfc/rx": "enable",
    "/qos/pfc/cable-length": "10",
    "/qos/roce/mode": "lossless",
    "/qos/pfc-watchdog/polling-interval": "100",
    "/qos/pfc-watchdog/robustness": "3",
    "/system/lldp/state": "enabled",
    "/system/lldp/tx-interval": "30",
    "/system/lldp/tx-hold-multiplier": "4",
    "/system/gnmi-server/port": "9339",
    "/router/adaptive-routing/state": "disabled",
    "/interface/router/adaptive-routing/state": "disabled",
}


def default_of(path: str) -> str | None:
    return DEFAULTS.get(path)
