"""The default network instance, its BGP speaker and BFD: `/network-instance[name=default]` and `/bfd`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address

from railfab.device import BfdTimers, Bgp, BgpNeighbor, DeviceModel, Interface, PrefixRange
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux.interfaces import SYSTEM, front_panel, port_of, subinterface
from railfab.platforms.srlinux.policy import EVERYTHING, EXPORT, IMPORT, parse_policy

INSTANCE = "default"
IPV4_UNICAST = "srl_nokia-common:ipv4-unicast"
GROUP, GROUP_WITHOUT_BFD = "fabric", "fabric-without-bfd"
US_PER_MS = 1000
NOT_PER_NEIGHBOR = ("afi-safi", "export-policy", "failure-detection", "import-policy", "timers")
DEFAULT_KEEPALIVE_S, DEFAULT_HOLD_S = 30, 90
"""SR Linux's defaults (srl_nokia-bgp, container timers)."""


def render_instance(model: DeviceModel) -> list[Json]:
    routed = [interface.name for interface in model.interfaces if interface.unnumbered or interface.address]
    return [
        {
            "name": INSTANCE,
            "type": "srl_nokia-network-instance:default",
            "admin-state": "enable",
            # IPv4 packets arrive on unnumbered ports, which have no IPv4 address (RFC 5549).
            "ip-forwarding": {"receive-ipv4-check": False},
            "interface": [{"name": subinterface(name)} for name in (*routed, SYSTEM)],
            "protocols": {"srl_nokia-bgp:bgp": _bgp(model.bgp)},
        }
    ]


def _bgp(bgp: Bgp) -> Json:
    tree: Json = {
        "admin-state": "enable",
        "autonomous-system": bgp.asn,
        "router-id": str(bgp.router_id),
        "ebgp-default-policy": {"import-reject-all": True, "export-reject-all": True},
        "afi-safi": [_ipv4_unicast(bgp.max_paths)],
        "group": _groups(bgp),
    }
    unnumbered = [neighbor for neighbor in bgp.neighbors if neighbor.address is None]
    numbered = [neighbor for neighbor in bgp.neighbors if neighbor.address is not None]
    if unnumbered:
        tree["dynamic-neighbors"] = {"interface": [_dynamic(neighbor) for neighbor in unnumbered]}
    if numbered:
        tree["neighbor"] = [_static(neighbor) for neighbor in numbered]
    return tree


def _ipv4_unicast(max_paths: int) -> Json:
    return {
        "afi-safi-name": IPV4_UNICAST,
        "admin-state": "enable",
        "multipath": {"allow-multiple-as": True, "ebgp": {"maximum-paths": max_paths}},
        "ipv4-unicast": {"advertise-ipv6-next-hops": True, "receive-ipv6-next-hops": True},
    }


def _groups(bgp: Bgp) -> list[Json]:
    names = [GROUP] + [GROUP_WITHOUT_BFD] * any(not neighbor.bfd for neighbor in bgp.neighbors)
    return [
        {
            "group-name": name,
            "admin-state": "enable",
            "import-policy": [IMPORT],
            "export-policy": [EXPORT],
            "failure-detection": {"enable-bfd": name == GROUP},
            "timers": {"keepalive-interval": bgp.keepalive_s, "hold-time": bgp.hold_s},
        }
        for name in names
    ]


def _group_of(neighbor: BgpNeighbor) -> str:
    return GROUP if neighbor.bfd else GROUP_WITHOUT_BFD


def _dynamic(neighbor: BgpNeighbor) -> Json:
    return {
        "interface-name": subinterface(neighbor.interface),
        "peer-group": _group_of(neighbor),
        "allowed-peer-as": [str(neighbor.remote_as)],
    }


def _static(neighbor: BgpNeighbor) -> Json:
    return {
        "peer-address": str(neighbor.address),
        "peer-group": _group_of(neighbor),
        "peer-as": neighbor.remote_as,
    }


def render_bfd(model: DeviceModel) -> Json | None:
    """BFD timers of every port with a BGP session; the peer group decides whether a session uses BFD."""
    if model.bfd is None or not model.bgp.neighbors:
        return None
    interval_us = model.bfd.interval_ms * US_PER_MS
    return {
        "subinterface": [
            {
                "id": subinterface(name),
                "admin-state": "enable",
                "desired-minimum-transmit-interval": interval_us,
                "required-minimum-receive": interval_us,
                "detection-multiplier": model.bfd.multiplier,
            }
            for name in dict.fromkeys(neighbor.interface for neighbor in model.bgp.neighbors)
        ]
    }


def attached(root: ConfigNode) -> frozenset[str]:
    """The subinterfaces that the default network instance routes."""
    instance = root.entry("network-instance", "name", INSTANCE)
    return frozenset(str(entry.value["name"]) for entry in instance.entries("interface", "name"))


@dataclass(frozen=True, slots=True)
class _Group:
    """Settings of a peer group."""

    imports: tuple[PrefixRange, ...]
    exports: tuple[PrefixRange, ...]
    keepalive_s: int
    hold_s: int
    bfd: bool
    peer_as: int | None
    enabled: bool = True

    @property
    def shared(self) -> tuple[object, ...]:
        """Settings that the model has once for all sessions."""
        return self.imports, self.exports, self.keepalive_s, self.hold_s


def parse_bfd(root: ConfigNode) -> tuple[BfdTimers | None, frozenset[str]]:
    """Timers common to all BFD sessions, and the ports on which BFD is enabled."""
    entries = [entry for entry in root.child("bfd").entries("subinterface", "id") if entry.enabled(default=False)]
    timers = [_timers(entry) for entry in entries]
    for entry, own in zip(entries, timers, strict=True):
        if own != timers[0]:
            entry.problem(
                "timers differ from those of the first subinterface", "Configure the same timers for all BFD sessions"
            )
    return (timers[0] if timers else None), frozenset(port_of(str(entry.value["id"])) for entry in entries)


def _timers(entry: ConfigNode) -> BfdTimers:
    default_us, default_multiplier = 1_000_000, 3
    transmit = entry.number("desired-minimum-transmit-interval") or default_us
    receive = entry.number("required-minimum-receive") or default_us
    if transmit != receive:
        remedy = "Set both intervals to the same value"
        entry.problem(
            f"{receive} us differs from the transmit interval of {transmit} us", remedy, "required-minimum-receive"
        )
    multiplier = entry.number("detection-multiplier") or default_multiplier
    return BfdTimers(interval_ms=transmit // US_PER_MS, multiplier=multiplier)


def parse_bgp(root: ConfigNode, interfaces: Sequence[Interface], bfd_ports: frozenset[str]) -> Bgp | None:
    """The effective BGP configuration; None after noting a problem when it has no AS number or router id."""
    instance = root.entry("network-instance", "name", INSTANCE)
    bgp = instance.at("protocols", "bgp")
    asn = bgp.needed("autonomous-system", bgp.number("autonomous-system"), "Configure the switch's AS number")
    router_id = bgp.needed("router-id", bgp.address("router-id"), "Configure the switch's router id")
    groups = _parse_groups(root, bgp)
    if asn is None or router_id is None:
        return None
    shared = next(iter(groups.values()), _Group((), (), DEFAULT_KEEPALIVE_S, DEFAULT_HOLD_S, False, None))
    running = instance.enabled(default=True) and bgp.enabled(default=True)
    neighbors = list(_parse_neighbors(bgp, groups, interfaces, bfd_ports)) if running else []
    return Bgp(
        asn=asn,
        router_id=router_id,
        max_paths=_parse_family(bgp),
        keepalive_s=shared.keepalive_s,
        hold_s=shared.hold_s,
        import_prefixes=shared.imports,
        export_prefixes=shared.exports,
        neighbors=tuple(sorted(neighbors, key=lambda neighbor: front_panel(neighbor.interface))),
    )


def _parse_family(bgp: ConfigNode) -> int:
    """Maximum number of paths of IPv4 unicast; other settings than the model assumes are problems."""
    family = bgp.entry("afi-safi", "afi-safi-name", "ipv4-unicast")
    next_hops, multipath = family.child("ipv4-unicast"), family.child("multipath")
    if not family.enabled(default=False):
        family.problem("IPv4 unicast is not enabled", "Set it to enable; railfab's fabrics route IPv4", "admin-state")
    for node, leaf in (
        (next_hops, "advertise-ipv6-next-hops"),
        (next_hops, "receive-ipv6-next-hops"),
        (multipath, "allow-multiple-as"),
    ):
        if not node.flag(leaf, default=leaf == "allow-multiple-as"):
            node.problem("false is not supported", "Set it to true", leaf)
    return multipath.child("ebgp").number("maximum-paths") or 1


def _parse_groups(root: ConfigNode, bgp: ConfigNode) -> dict[str, _Group]:
    rejects = bgp.child("ebgp-default-policy")
    groups: dict[str, _Group] = {}
    for entry in bgp.entries("group", "group-name"):
        group = _parse_group(root, entry, bgp, rejects)
        groups[str(entry.value["group-name"])] = group
        if group.shared != next(iter(groups.values())).shared:
            entry.problem("policies or timers differ from those of the first group", "Configure the same in all groups")
    return groups


def _parse_group(root: ConfigNode, entry: ConfigNode, bgp: ConfigNode, rejects: ConfigNode) -> _Group:
    """Settings of one group; policies that it does not set are inherited from BGP."""
    timers = entry.child("timers")
    _refuse_override(entry, ("afi-safi",))
    without: dict[str, tuple[PrefixRange, ...]] = {
        side: () if rejects.flag(f"{side}-reject-all", default=True) else (EVERYTHING,) for side in ("import", "export")
    }
    keepalive, hold = timers.number("keepalive-interval"), timers.number("hold-time")
    return _Group(
        imports=parse_policy(root, _policies(entry, bgp, "import-policy"), without=without["import"]),
        exports=parse_policy(root, _policies(entry, bgp, "export-policy"), without=without["export"]),
        keepalive_s=DEFAULT_KEEPALIVE_S if keepalive is None else keepalive,
        hold_s=DEFAULT_HOLD_S if hold is None else hold,
        bfd=entry.child("failure-detection").flag("enable-bfd", default=False),
        peer_as=entry.number("peer-as"),
        enabled=entry.enabled(default=True),
    )


def _policies(entry: ConfigNode, bgp: ConfigNode, leaf: str) -> tuple[str, ...]:
    return entry.words(leaf) or bgp.words(leaf)


def _refuse_override(entry: ConfigNode, leaves: Iterable[str]) -> None:
    """Report settings of this entry that the model has once for all sessions."""
    for leaf in leaves:
        if leaf in entry.value:
            entry.problem(
                "overrides the setting of all sessions", "Remove it; railfab supports one value for all", leaf
            )


def _parse_neighbors(
    bgp: ConfigNode, groups: dict[str, _Group], interfaces: Sequence[Interface], bfd_ports: frozenset[str]
) -> Iterator[BgpNeighbor]:
    """The configured and enabled sessions, each over a port."""
    for entry in bgp.child("dynamic-neighbors").entries("interface", "interface-name"):
        group, port = _parse_peer_group(entry, groups), port_of(str(entry.value["interface-name"]))
        if (remote_as := _allowed_as(entry)) is not None and group and group.enabled:
            yield BgpNeighbor(interface=port, remote_as=remote_as, bfd=group.bfd and port in bfd_ports)
    for entry in bgp.entries("neighbor", "peer-address"):
        group, found = _parse_peer_group(entry, groups), _parse_peer(entry, interfaces)
        remote_as = entry.number("peer-as") or (group.peer_as if group else None)
        _refuse_override(entry, NOT_PER_NEIGHBOR)
        if remote_as is None:
            entry.problem("is missing", "Configure the peer's AS number here or in its group", "peer-as")
        elif group and found and group.enabled and entry.enabled(default=True):
            address, port = found
            bfd = group.bfd and port in bfd_ports
            yield BgpNeighbor(interface=port, remote_as=remote_as, address=address, bfd=bfd)


def _parse_peer_group(entry: ConfigNode, groups: dict[str, _Group]) -> _Group | None:
    name = entry.text("peer-group")
    if name not in groups:
        entry.problem(f"{name or 'no group'} is not defined", f"Use one of {_group_names(groups)}", "peer-group")
    return groups.get(name or "")


def _group_names(names: Iterable[str]) -> str:
    return ", ".join(names) or "the peer groups; none is defined yet"


def _allowed_as(entry: ConfigNode) -> int | None:
    allowed = entry.words("allowed-peer-as")
    if len(allowed) == 1 and allowed[0].isdecimal():
        return int(allowed[0])
    entry.problem(
        f"{' '.join(allowed) or 'nothing'} is not one AS number", "Set it to the peer's AS number", "allowed-peer-as"
    )
    return None


def _parse_peer(entry: ConfigNode, interfaces: Sequence[Interface]) -> tuple[IPv4Address, str] | None:
    """Address of a numbered neighbour and the port in whose subnet it is."""
    try:
        address = IPv4Address(str(entry.value["peer-address"]))
    except AddressValueError:
        entry.problem("is not an IPv4 address", "Use an IPv4 address, or dynamic-neighbors")
        return None
    for interface in interfaces:
        if interface.network is not None and address in interface.network:
            return address, interface.name
    entry.problem("is in no port's subnet", "Configure a port in its subnet, within the network instance")
    return None
