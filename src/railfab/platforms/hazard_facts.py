"""Facts of the intent that the conditions of hazards compare with: values of the device model of a switch."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from railfab.device import ClassThresholds, DeviceModel, Lag, Port, Scheduling, fabric_prefixes, number_of
from railfab.units import IP_BYTES, ROCE_BYTES, ROCE_PATH_MTU_BYTES, VXLAN_BYTES

DSCP_NAMES: Mapping[int, str] = {
    **{8 * precedence: f"CS{precedence}" for precedence in range(8)},
    **{8 * group + 2 * drop: f"AF{group}{drop}" for group in range(1, 5) for drop in range(1, 4)},
    46: "EF",
}
"""Names of code points, as vendors' CLIs take them."""


def _lossless_classes(model: DeviceModel, _of: str | None) -> tuple[str, ...]:
    return tuple(lossless.name for lossless in model.qos.lossless()) if model.qos else ()


def _lossless_queues(model: DeviceModel, _of: str | None) -> tuple[int, ...]:
    return tuple(lossless.queue for lossless in model.qos.lossless()) if model.qos else ()


def _lossless_priorities(model: DeviceModel, _of: str | None) -> tuple[int | None, ...]:
    return tuple(lossless.pfc_priority for lossless in model.qos.lossless()) if model.qos else ()


def _lossless_dscp(model: DeviceModel, _of: str | None) -> tuple[int | str, ...]:
    """Code points as numbers, as six bits, and by their names."""
    names = _lossless_classes(model, None)
    classifiers = model.qos.classifiers if model.qos else ()
    points = sorted({point for classifier in classifiers for point, name in classifier.dscp if name in names})
    names_of = (DSCP_NAMES[point] for point in points if point in DSCP_NAMES)
    return (*points, *(f"{point:06b}" for point in points), *names_of)


def _classes(model: DeviceModel, _of: str | None) -> tuple[str, ...]:
    return tuple(traffic_class.name for traffic_class in model.qos.classes) if model.qos else ()


def _strict_classes(model: DeviceModel, _of: str | None) -> tuple[str, ...]:
    classes = model.qos.classes if model.qos else ()
    return tuple(traffic_class.name for traffic_class in classes if traffic_class.scheduling is Scheduling.STRICT)


def _default_classes(model: DeviceModel, _of: str | None) -> tuple[str, ...]:
    return (model.qos.default_class,) if model.qos else ()


def _lossy_weight(model: DeviceModel, _of: str | None) -> int | None:
    """The largest weight of a class that is not lossless."""
    classes, lossless = (model.qos.classes, model.qos.lossless()) if model.qos else ((), ())
    return max((each.weight for each in classes if each.weight is not None and each not in lossless), default=None)


def _profiles(model: DeviceModel, _of: str | None) -> tuple[str, ...]:
    return tuple(profile.name for profile in model.qos.profiles) if model.qos else ()


def _cable_m(model: DeviceModel, profile: str | None) -> int | None:
    """Length of the cables of the profile of this name, or where there is none the longest."""
    profiles = model.qos.profiles if model.qos else ()
    chosen = [candidate for candidate in profiles if candidate.name == profile] or profiles
    return max((candidate.cable_m for candidate in chosen if candidate.cable_m is not None), default=None)


def _port_cable_m(model: DeviceModel, interface: str | None) -> int | None:
    """Length of the cable of a port; None for another interface."""
    profiles = [port.profile for port in model.qos.ports if port.interface == interface] if model.qos else []
    return _cable_m(model, profiles[0]) if profiles else None


def _headroom_pool_percent(model: DeviceModel, _of: str | None) -> int | None:
    return model.qos.headroom_pool_percent if model.qos else None


def _has_inverted_ramp(model: DeviceModel, profile: str | None) -> bool:
    """Whether marking begins where it should be complete, in this profile or, where there is none, in any."""
    ramps = (thresholds.ecn for thresholds in _thresholds(model, profile))
    return any(ramp is not None and ramp.kmin_bytes >= ramp.kmax_bytes for ramp in ramps)


def _thresholds(model: DeviceModel, profile: str | None) -> list[ClassThresholds]:
    """The thresholds of the profile of this name, or where there is none of every profile."""
    profiles = model.qos.profiles if model.qos else ()
    chosen = [candidate for candidate in profiles if candidate.name == profile] or profiles
    return [thresholds for candidate in chosen for thresholds in candidate.thresholds]


def _ramps(model: DeviceModel, profile: str | None, field: str) -> list[int]:
    """A threshold of the ECN ramps of the lossless classes."""
    names = _lossless_classes(model, None)
    ramps = (thresholds.ecn for thresholds in _thresholds(model, profile) if thresholds.traffic_class in names)
    return [getattr(ramp, field) for ramp in ramps if ramp is not None]


def _kmin_bytes(model: DeviceModel, profile: str | None) -> int | None:
    return min(_ramps(model, profile, "kmin_bytes"), default=None)


def _kmax_bytes(model: DeviceModel, profile: str | None) -> int | None:
    return max(_ramps(model, profile, "kmax_bytes"), default=None)


def _pmax_percent(model: DeviceModel, profile: str | None) -> int | None:
    return max(_ramps(model, profile, "pmax_percent"), default=None)


def _headroom_bytes(model: DeviceModel, profile: str | None) -> int | None:
    stated = (thresholds.headroom_bytes for thresholds in _thresholds(model, profile))
    return max((headroom for headroom in stated if headroom is not None), default=None)


def _least_headroom_bytes(model: DeviceModel, profile: str | None) -> int | None:
    """The smallest headroom of a lossless class; None where the switch sets it."""
    names = _lossless_classes(model, None)
    stated = (thresholds for thresholds in _thresholds(model, profile) if thresholds.traffic_class in names)
    return min((each.headroom_bytes for each in stated if each.headroom_bytes is not None), default=None)


def _headroom_pool_bytes(model: DeviceModel, _of: str | None) -> int | None:
    return model.qos.headroom_pool_bytes if model.qos else None


def _xoff_bytes(model: DeviceModel, profile: str | None) -> int | None:
    return min(
        (thresholds.xoff_bytes for thresholds in _thresholds(model, profile) if thresholds.xoff_bytes), default=None
    )


def _rate_gbps(model: DeviceModel, interface: str | None) -> int | None:
    """Speed of a port, also of one of a breakout; None for another interface."""
    port = model.interface(interface or "")
    if isinstance(port, Port) and port.rate_gbps is not None:
        return port.rate_gbps
    lanes = (breakout for breakout in model.breakouts if (interface or "").startswith(f"{breakout.cage}/"))
    return next((breakout.rate_gbps for breakout in lanes), None)


def _mtu_bytes_of(model: DeviceModel, interface: str | None) -> int | None:
    """IP MTU of an interface; None where it is not set."""
    named = model.interface(interface or "")
    return named.mtu_bytes if named else None


def _mtu_bytes(model: DeviceModel, interface: str | None) -> int | None:
    """IP MTU of an interface of the intent, or the largest of all."""
    named = model.interface(interface) if interface else None
    if named is not None:
        return named.mtu_bytes
    return max((port.mtu_bytes for port in model.interfaces if port.mtu_bytes), default=None)


def _roce_mtu_bytes(_model: DeviceModel, _of: str | None) -> int:
    """IP MTU that every RoCE packet fits: the largest payload over IPv6, in VXLAN."""
    return ROCE_PATH_MTU_BYTES + ROCE_BYTES + IP_BYTES["ipv6"] + VXLAN_BYTES["ipv6"]


def _pools_bytes(model: DeviceModel, _of: str | None) -> int | None:
    """The shared buffer and the headroom pool together; None where a pool is the platform's default."""
    qos = model.qos
    if qos is None or qos.shared_pool_bytes is None or qos.headroom_pool_bytes is None:
        return None
    return qos.shared_pool_bytes + qos.headroom_pool_bytes


def _xoff_above_limit(model: DeviceModel, profile: str | None) -> bool:
    """Whether a lossless queue drops at its limit before its XOFF threshold is reached."""
    names = _lossless_classes(model, None)
    return any(
        thresholds.xoff_bytes >= thresholds.limit_bytes
        for thresholds in _thresholds(model, profile)
        if thresholds.traffic_class in names and thresholds.xoff_bytes and thresholds.limit_bytes
    )


def _max_paths(model: DeviceModel, _of: str | None) -> int | None:
    return model.bgp.max_paths if model.bgp else None


def _max_paths_internal(model: DeviceModel, _of: str | None) -> int | None:
    return model.bgp.max_paths_internal if model.bgp else None


CLI_WORDS = {"lag": "port-channel", "vlan": "Vlan", "loopback": "loopback"}
"""Words of CLIs in the manner of Cisco's for kinds of interfaces; operands are compared with them as they are."""


def _interfaces(model: DeviceModel, _of: str | None) -> tuple[str, ...]:
    """The names of interfaces, and those that CLIs give to LAGs, SVIs and loopbacks."""
    names = [port.name for port in model.interfaces]
    named = (re.fullmatch(r"(lag|vlan|loopback)(\d+)", name) for name in names)
    return (*names, *(f"{CLI_WORDS[match[1]]}{match[2]}" for match in named if match))


def _bridged(model: DeviceModel, _of: str | None) -> tuple[str, ...]:
    """The names of ports and LAGs that are in VLANs, as `interfaces` has them."""
    routed = {port.name for port in model.interfaces if isinstance(port, Port) and port.vlans is None}
    return tuple(name for name in _interfaces(model, None) if name not in routed)


def _cages(model: DeviceModel, _of: str | None) -> tuple[str, ...]:
    """The numbers of the ports of the intent on their module, as CLIs have them: `20` of `Ethernet1/20`."""
    names = (port.name for port in model.interfaces if isinstance(port, Port))
    numbers = (re.fullmatch(r"[A-Za-z]+\d+/(\d+)(?:/\d+)?", name) for name in names)
    return tuple(sorted({match[1] for match in numbers if match} | {breakout.cage for breakout in model.breakouts}))


def _vrfs(model: DeviceModel, _of: str | None) -> tuple[str, ...]:
    return tuple(instance.name for instance in model.network_instances)


def _vlans(model: DeviceModel, _of: str | None) -> tuple[int, ...]:
    return tuple(vlan.vlan_id for vlan in model.vlans)


def _peers(model: DeviceModel, _of: str | None) -> tuple[str, ...]:
    return tuple(str(neighbor.peer) for neighbor in model.neighbors)


def _router_ids(model: DeviceModel, _of: str | None) -> tuple[str, ...]:
    return (str(model.bgp.router_id),) if model.bgp and model.bgp.router_id else ()


def _bfd_timers(model: DeviceModel, _of: str | None) -> tuple[str, ...]:
    """The BFD timers of sessions, in the words of CLIs in the manner of Cisco's."""
    timers = {neighbor.bfd for neighbor in model.neighbors if neighbor.bfd}
    words = [(bfd, word) for bfd in timers for word in ("min-rx", "min_rx")]
    return tuple(f"{bfd.interval_ms} {word} {bfd.interval_ms} multiplier {bfd.multiplier}" for bfd, word in words)


def _unnumbered(model: DeviceModel, _of: str | None) -> tuple[str, ...]:
    return tuple(port.name for port in model.interfaces if port.unnumbered)


def _families(model: DeviceModel, peer: str | None) -> tuple[str, ...]:
    """The address families of the session with this peer, or where there is none of every session."""
    sessions = [neighbor for neighbor in model.neighbors if str(neighbor.peer) == peer] or model.neighbors
    return tuple(sorted({str(family) for neighbor in sessions for family in neighbor.families}))


def _family_words(model: DeviceModel, _of: str | None) -> tuple[str, ...]:
    """The address families of all sessions, and the words of CLIs for them: `ipv4` for `ipv4-unicast`, `evpn`."""
    families = _families(model, None)
    return tuple(word for family in families for word in (family, *family.split("-")))


def _lag_count(model: DeviceModel, _of: str | None) -> int | None:
    """Number of LAGs that a switch prepares, from 0 to the highest."""
    return max((number_of(port.name) + 1 for port in model.interfaces if isinstance(port, Lag)), default=None)


def _hold_s(model: DeviceModel, _of: str | None) -> int | None:
    return max((neighbor.timers.hold_s for neighbor in model.neighbors), default=None)


def _policies(model: DeviceModel, _of: str | None) -> tuple[str, ...]:
    """The policies that its sessions use."""
    return tuple(sorted(model.used_policies))


def _prefixes(model: DeviceModel, _of: str | None) -> tuple[str, ...]:
    return tuple(sorted(map(str, fabric_prefixes(model))))


def _marked_queues(model: DeviceModel, profile: str | None) -> tuple[int, ...]:
    """The queues that a profile marks, or where there is none of this name any."""
    queues = {traffic_class.name: traffic_class.queue for traffic_class in model.qos.classes} if model.qos else {}
    marked = (thresholds.traffic_class for thresholds in _thresholds(model, profile) if thresholds.ecn is not None)
    return tuple(sorted(queues[name] for name in marked if name in queues))


def _marked_classes(model: DeviceModel, interface: str | None) -> tuple[str, ...]:
    """The classes that an interface marks, whose name may be that of a CLI."""
    name = re.sub(r"port-channel(?=\d)", "lag", interface or "")
    ports = model.qos.ports if model.qos else ()
    return next((port.ecn for port in ports if port.interface == name), ())


Fact = Callable[[DeviceModel, str | None], Any]
FACTS: Mapping[str, Fact] = {
    "lossless_classes": _lossless_classes,
    "lossless_queues": _lossless_queues,
    "lossless_priorities": _lossless_priorities,
    "lossless_dscp": _lossless_dscp,
    "classes": _classes,
    "strict_classes": _strict_classes,
    "default_classes": _default_classes,
    "lossy_weight": _lossy_weight,
    "profiles": _profiles,
    "cable_m": _cable_m,
    "port_cable_m": _port_cable_m,
    "headroom_pool_percent": _headroom_pool_percent,
    "lag_count": _lag_count,
    "kmin_bytes": _kmin_bytes,
    "kmax_bytes": _kmax_bytes,
    "pmax_percent": _pmax_percent,
    "headroom_bytes": _headroom_bytes,
    "headroom_pool_bytes": _headroom_pool_bytes,
    "xoff_bytes": _xoff_bytes,
    "rate_gbps": _rate_gbps,
    "mtu_bytes": _mtu_bytes,
    "roce_mtu_bytes": _roce_mtu_bytes,
    "pools_bytes": _pools_bytes,
    "max_paths": _max_paths,
    "max_paths_internal": _max_paths_internal,
    "hold_s": _hold_s,
    "interfaces": _interfaces,
    "bridged": _bridged,
    "cages": _cages,
    "vlans": _vlans,
    "vrfs": _vrfs,
    "peers": _peers,
    "unnumbered": _unnumbered,
    "router_ids": _router_ids,
    "bfd_timers": _bfd_timers,
    "families": _family_words,
    "policies": _policies,
    "prefixes": _prefixes,
}
"""Values of the intent that a condition may name, from its device model and an argument: the name of an interface, or
of a port profile."""

CONFIGURED_FACTS: Mapping[str, Fact] = {
    "configured_peers": _peers,
    "configured_headroom_bytes": _least_headroom_bytes,
    "configured_lossless_dscp": _lossless_dscp,
    "configured_marked_classes": _marked_classes,
    "configured_marked_queues": _marked_queues,
    "configured_mtu_bytes": _mtu_bytes_of,
    "configured_max_paths": _max_paths,
    "configured_families": _families,
    "has_inverted_ramp": _has_inverted_ramp,
    "xoff_above_limit": _xoff_above_limit,
}
"""Facts about the configuration itself, from the model that was parsed of it."""
