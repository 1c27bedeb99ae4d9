"""State leaves of a virtual SR Linux switch that no metric carries: of its ports, their optics and LLDP, and of itself.

Names, types and enumerations are those of Nokia's models 25.3.1. Temperatures, load and serial numbers are drawn from
the names, so that they are the same in every run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from hashlib import sha256
from typing import Any

from railfab.device import Fec
from railfab.gnmi.values import Uint64
from railfab.platforms.shared.virtual_addresses import mac_address
from railfab.platforms.twin_face import RouteCounts, VirtualChassis, VirtualLag, VirtualMember, VirtualPort

VERSION = "25.3.1"
MEMORY_BYTES = 32 << 30

_DOWN_REASONS = {
    "disabled": "port-admin-disabled",
    "breakout": "unsupported-breakout-port",
    "fec": "unsupported-fec",
    "no-signal": "lower-layer-down",
}
_FEC = {
    (Fec.RS_544, True): "cl119-rs544",
    (Fec.RS_544, False): "cl91-rs544",
    (Fec.RS_528, False): "cl91-rs528",
    (Fec.BASE_R, False): "cl74-baser",
}
"""By code, and whether the port is faster than 100 Gb/s."""

_MODULES = {
    400: ("QSFPDD", "400GBASE-DR4", "MPO-1x12", "3HE15275AA"),
    200: ("QSFP56", "200GBASE-DR4", "MPO-1x12", "3HE16556AA"),
    100: ("QSFP28", "100GBASE-DR", "LC", "3HE16564AA"),
}
"""Form factor, compliance code, connector and part number of a transceiver, by the speed of its port [Gb/s]."""


def port_leaves(device: str, port: VirtualPort) -> dict[str, Any]:
    """State of a port: reason why it is down, subinterface, FEC, transceiver, and entries of LLDP and ARP."""
    return {
        **dict(_interface(port)),
        **dict(_transceiver(device, port)),
        **dict(_lldp(port)),
        **dict(_resolved(port)),
    }


def _interface(port: VirtualPort) -> Iterator[tuple[str, Any]]:
    here = f"/interface[name={port.name}]"
    if port.fault:
        yield f"{here}/oper-down-reason", _DOWN_REASONS[port.fault]
    if port.lag is None:
        yield from _subinterface(port.name, routed=port.routed, oper_up=not port.fault)
    fec = _FEC.get((port.fec, port.rate_gbps > 100), "disabled") if port.fec else "disabled"
    yield f"{here}/ethernet/forward-error-correction/operational-host-if-fec", fec


def _subinterface(name: str, *, routed: bool, oper_up: bool) -> Iterator[tuple[str, Any]]:
    unit = f"/interface[name={name}]/subinterface[index=0]"
    yield f"{unit}/name", f"{name}.0"
    yield f"{unit}/oper-state", "up" if routed and oper_up else "down"
    if not oper_up:
        yield f"{unit}/oper-down-reason", "port-down"


def lag_leaves(_device: str, lag: VirtualLag) -> dict[str, Any]:
    """State of a LAG and its members (srl_nokia-interfaces-lag, srl_nokia-lacp)."""
    return dict(_lag(lag))


def _lag(lag: VirtualLag) -> Iterator[tuple[str, Any]]:
    here = f"/interface[name={lag.name}]"
    if not lag.oper_up:
        yield f"{here}/oper-down-reason", "no-active-links" if lag.enabled else "port-admin-disabled"
    yield from _subinterface(lag.name, routed=lag.routed, oper_up=lag.oper_up)
    for member in lag.members:
        path = f"{here}/lag/member[name={member.port}]"
        yield f"{path}/oper-state", "up" if member.used else "down"
        if not member.used:
            yield f"{path}/oper-down-reason", _member_fault(lag, member)
        yield f"{path}/lacp/synchronization", "IN_SYNC" if member.used else "OUT_SYNC"
        yield f"{path}/lacp/collecting", member.used
        yield f"{path}/lacp/distributing", member.used
        if member.partner is not None:
            yield f"{path}/lacp/partner-id", mac_address(member.partner)


def _member_fault(lag: VirtualLag, member: VirtualMember) -> str:
    """One of the reasons of srl_nokia-interfaces-lag, member-link-oper-down-reason."""
    if not lag.enabled:
        return "lag-admin-disabled"
    if not member.fault:
        return "lacp-down"
    return "port-disabled" if member.fault == "disabled" else "port-oper-disabled"


def _transceiver(device: str, port: VirtualPort) -> Iterator[tuple[str, Any]]:
    here, light = f"/interface[name={port.name}]/transceiver", port.optics
    form, code, connector, part = _MODULES.get(int(port.rate_gbps), _MODULES[400])
    yield f"{here}/oper-state", "down" if port.fault == "disabled" else "up"
    yield f"{here}/form-factor", form
    yield f"{here}/ethernet-pmd", code
    yield f"{here}/connector-type", connector
    yield f"{here}/vendor", "NOKIA"
    yield f"{here}/vendor-part-number", part
    yield f"{here}/serial-number", f"NK{_number(device + port.name, 10**9):09d}"
    yield f"{here}/wavelength", Decimal("1310.00")
    yield f"{here}/temperature/latest-value", round(light.temperature_celsius)
    yield f"{here}/temperature/high-alarm-threshold", 75
    yield f"{here}/voltage/latest-value", Decimal(f"{light.volts:.4f}")
    for lane in range(1, port.lanes + 1):
        channel = f"{here}/channel[index={lane}]"
        yield f"{channel}/wavelength", Decimal("1310.00")
        yield f"{channel}/laser-bias-current/latest-value", Decimal(f"{light.bias_ma:.3f}")
        yield f"{channel}/input-power/low-alarm-condition", light.receive_dbm < -10
        yield f"{channel}/input-power/low-alarm-threshold", Decimal("-10.00")
        yield f"{channel}/input-power/low-warning-threshold", Decimal("-6.00")


def _lldp(port: VirtualPort) -> Iterator[tuple[str, Any]]:
    here = f"/system/lldp/interface[name={port.name}]"
    yield f"{here}/oper-state", "up" if port.lldp and not port.fault else "down"
    for neighbor in port.neighbors:
        path = f"{here}/neighbor[id={mac_address(neighbor.name)}]"
        yield f"{path}/chassis-id", mac_address(neighbor.name)
        yield f"{path}/chassis-id-type", "MAC_ADDRESS"
        yield f"{path}/port-id-type", "INTERFACE_NAME"
        yield f"{path}/port-description", neighbor.description
        yield f"{path}/system-description", f"SRLinux-v{VERSION} {neighbor.name}"
        yield f"{path}/first-message", date(neighbor.since_s)


def _resolved(port: VirtualPort) -> Iterator[tuple[str, Any]]:
    """Entries of ARP and neighbour discovery (srl_nokia-interfaces-nbr)."""
    for entry in port.resolved:
        here = f"/interface[name={port.name}]/subinterface[index=0]"
        if entry.address.version == 4:
            neighbor = f"{here}/ipv4/arp/neighbor[ipv4-address={entry.address}]"
        else:
            neighbor = f"{here}/ipv6/neighbor-discovery/neighbor[ipv6-address={entry.address}]"
            yield f"{neighbor}/current-state", "reachable"
            yield f"{neighbor}/is-router", False
        yield f"{neighbor}/link-layer-address", mac_address(f"{entry.device} {entry.port}")
        yield f"{neighbor}/origin", "dynamic"
        yield f"{neighbor}/datapath-programming/status", "success"


def device_leaves(chassis: VirtualChassis) -> dict[str, Any]:
    """The release, the boards with their temperature, load and memory, and the sizes of the routing tables."""
    return {
        "/system/information/version": f"v{VERSION}",
        "/system/information/description": f"SRLinux-v{VERSION} {chassis.system_name}",
        "/system/information/last-booted": date(chassis.started_s),
        **dict(_own_lldp(chassis)),
        **dict(_platform(chassis)),
        **{path: value for counts in chassis.routes for path, value in _routes(counts)},
        **_groups(chassis.groups),
    }


def _own_lldp(chassis: VirtualChassis) -> Iterator[tuple[str, Any]]:
    if chassis.lldp:
        yield "/system/lldp/system-name", chassis.system_name
        yield "/system/lldp/chassis-id", mac_address(chassis.name)
        yield "/system/lldp/chassis-id-type", "MAC_ADDRESS"


def _platform(chassis: VirtualChassis) -> Iterator[tuple[str, Any]]:
    name, board = chassis.name, chassis.model.upper().replace("-", " ", 1)
    yield "/platform/chassis/type", board
    yield "/platform/chassis/oper-state", "up"
    yield "/platform/chassis/serial-number", f"NS{_number(name, 10**9):09d}"
    yield "/platform/chassis/hw-mac-address", mac_address(name)
    yield "/platform/chassis/last-booted", date(chassis.started_s)
    for slot in ("/platform/control[slot=A]", "/platform/linecard[slot=1]"):
        yield f"{slot}/oper-state", "up"
        yield f"{slot}/type", board
        yield f"{slot}/serial-number", f"NS{_number(name + slot, 10**9):09d}"
        yield f"{slot}/software-version", f"v{VERSION}"
        yield f"{slot}/last-booted", date(chassis.started_s)
        instant = 38 + _number(name + slot, 12)
        yield f"{slot}/temperature/instant", instant
        yield f"{slot}/temperature/maximum", instant + 4
        yield f"{slot}/temperature/alarm-status", False
    yield from _load(name)
    for tray in range(1, 7):
        yield f"/platform/fan-tray[id={tray}]/oper-state", "up"
        yield f"/platform/fan-tray[id={tray}]/fan/speed", 40 + _number(name, 15)
    for supply in (1, 2):
        yield f"/platform/power-supply[id={supply}]/oper-state", "up"


def _load(name: str) -> Iterator[tuple[str, Any]]:
    """Load of the processor and memory of the control board."""
    busy = 8 + _number(f"{name} cpu", 15)
    for leaf in ("instant", "average-1", "average-5", "average-15"):
        yield f"/platform/control[slot=A]/cpu[index=all]/total/{leaf}", busy
    used = 22 + _number(f"{name} memory", 12)
    yield "/platform/control[slot=A]/memory/physical", Uint64(MEMORY_BYTES)
    yield "/platform/control[slot=A]/memory/free", Uint64(MEMORY_BYTES * (100 - used) // 100)
    yield "/platform/control[slot=A]/memory/utilization", used


def _routes(counts: RouteCounts) -> Iterator[tuple[str, Any]]:
    table = f"/network-instance[name=default]/route-table/{counts.family}"
    yield f"{table}/statistics/active-routes", counts.active
    yield f"{table}/statistics/active-routes-with-ecmp", counts.ecmp
    yield f"{table}/statistics/fib-failed-routes", 0
    yield f"{table}/statistics/total-routes", Uint64(counts.active)
    for name, count in (("bgp", counts.bgp), ("local", counts.active - counts.bgp)):
        yield f"{table}/route-summary/route-type[ip-route-type-name={name}]/active-routes", count


@lru_cache(maxsize=256)
def _groups(widths: tuple[int, ...]) -> Mapping[str, Any]:
    """The members of next-hop groups; those of routes of interfaces are left out."""
    groups = "/network-instance[name=default]/route-table/next-hop-group"
    return {
        f"{groups}[index={index}]/next-hop[id={member}]/resolved": "true"
        for index, width in enumerate(widths, start=1)
        for member in range(width)
    }


def date(unix_s: float) -> str:
    """A time as RFC 3339 text with milliseconds."""
    return datetime.fromtimestamp(unix_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _number(text: str, below: int) -> int:
    """A number from 0 that belongs to a text."""
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big") % below
