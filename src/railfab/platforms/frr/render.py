"""Renders a device model to FRR configuration, as a tree of lines.

Every line is written as FRR 8.4 shows it, and FRR's default values are omitted as FRR omits them; otherwise every push
would report changes. No peer groups: a change to a group resets all of its sessions, a change to a neighbour only its
own.
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import BfdTimers, DeviceModel, Interface, IpInterface, Lag, NetworkInstance, natural
from railfab.platforms.frr.names import bfd_profile_name, device_name
from railfab.platforms.frr.render_bgp import routers
from railfab.platforms.frr.render_policy import policy_lines
from railfab.platforms.shared.line_tree import Line

DEFAULTS = "datacenter"
DEFAULT_BFD_MULTIPLIER = 3
DEFAULT_BFD_INTERVAL_MS = 300
ROUTER_ADVERTISEMENTS = "no ipv6 nd suppress-ra"


def render(model: DeviceModel) -> tuple[Line, ...]:
    """The whole configuration of one switch."""
    return (
        *_header(model),
        *(_network_instance(instance) for instance in model.network_instances if instance.vni is not None),
        *(_interface(interface) for interface in sorted(model.interfaces, key=_interface_order)),
        *routers(model),
        *policy_lines(model),
        *_bfd(model),
    )


def _header(model: DeviceModel) -> tuple[Line, ...]:
    return (
        Line(f"frr defaults {DEFAULTS}"),
        *((Line(f"hostname {model.name}"),) if model.name else ()),
        Line("log syslog informational"),
        Line("service integrated-vtysh-config"),
    )


def _network_instance(instance: NetworkInstance) -> Line:
    """A VRF that the system has not made is shown only with its VNI."""
    return Line(f"vrf {instance.name}", (Line(f"vni {instance.vni}"),))


def _interface_order(interface: Interface) -> tuple[tuple[int, str], ...]:
    return natural(device_name(interface.name))


def _interface(interface: Interface) -> Line:
    """FRR reduces white space in a description to single blanks, and sorts the lines as text."""
    lines = sorted(_address(address) for address in interface.addresses)
    if isinstance(interface, Lag):
        lines = [*_ethernet_segment(interface), *lines]
    if interface.description:
        lines.insert(0, f"description {' '.join(interface.description.split())}")
    if interface.unnumbered:
        lines.append(ROUTER_ADVERTISEMENTS)
    if not interface.enabled:
        lines.append("shutdown")
    return Line(f"interface {device_name(interface.name)}", tuple(map(Line, lines)))


def _ethernet_segment(lag: Lag) -> Iterator[str]:
    """The Ethernet segment of a bond, with the LACP system of its switches (FRR 8.4, doc/user/evpn.rst, EVPN
    multihoming)."""
    if lag.esi is not None:
        yield f"evpn mh es-id {lag.esi}"
    if lag.system_mac is not None:
        yield f"evpn mh es-sys-mac {lag.system_mac}"


def _address(address: IpInterface) -> str:
    return f"{'ip' if address.version == 4 else 'ipv6'} address {address}"


def _bfd(model: DeviceModel) -> tuple[Line, ...]:
    """One BFD profile for all sessions with the same timers; none when BFD is off."""
    used = {neighbor.bfd for neighbor in model.neighbors if neighbor.bfd is not None}
    profiles = sorted(used, key=lambda timers: (timers.interval_ms, timers.multiplier))
    return (Line("bfd", tuple(map(_profile, profiles))),) if profiles else ()


def _profile(timers: BfdTimers) -> Line:
    lines = []
    if timers.multiplier != DEFAULT_BFD_MULTIPLIER:
        lines.append(Line(f"detect-multiplier {timers.multiplier}"))
    if timers.interval_ms != DEFAULT_BFD_INTERVAL_MS:
        lines.append(Line(f"transmit-interval {timers.interval_ms}"))
        lines.append(Line(f"receive-interval {timers.interval_ms}"))
    return Line(f"profile {bfd_profile_name(timers)}", tuple(lines))
