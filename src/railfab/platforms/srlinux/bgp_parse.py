"""Parses `/network-instance/protocols/bgp` and `/bfd` to the effective settings of every session."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from railfab.device import (
    BfdTimers,
    BgpNeighbor,
    BgpSpeaker,
    BgpTimers,
    DeviceModel,
    Family,
    IpAddress,
    NextHop,
    Remote,
    interfaces_of_peers,
)
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.shared.json_tree import bare
from railfab.platforms.srlinux.bgp import FAMILIES, US_PER_MS, PeerGroup, bfd_interface
from railfab.platforms.srlinux.names import interface_of, subinterface

DEFAULT_KEEPALIVE_S, DEFAULT_HOLD_S = 30, 90
DEFAULT_BFD_US, DEFAULT_MULTIPLIER = 1_000_000, 3
"""SR Linux's defaults (srl_nokia-bgp, srl_nokia-bfd 25.3.1)."""

_FAMILIES = {bare(name): family for family, name in FAMILIES.items()}
ZONE = "%"
"""In a link-local peer address, before its subinterface. Such a neighbour is unmodelled: a session over an interface
has no address in the model."""

NO_AS = 0
"""AS number of a neighbour for which neither it nor its group states one. No speaker has it (RFC 7607)."""

_OWN_LEAVES = frozenset({"peer-address", "peer-as", "peer-group", "description", "admin-state"})
"""Leaves of a neighbour that are not settings of its group."""


class SrlinuxSpeaker:
    """The BGP speaker of one network instance, and its sessions with the settings that they inherit."""

    def __init__(self, instance: ConfigNode, policies: frozenset[str]) -> None:
        self._node = instance.at("protocols", "bgp")
        self._name = str(instance.value["name"])
        self._running = instance.enabled(default=True) and self._node.enabled(default=True)
        self._policies = policies
        self._groups = {str(node.value["group-name"]): node for node in self._node.entries("group", "group-name")}
        self._settings = {name: self._inherited((node, self._node)) for name, node in self._groups.items()}

    def bgp(self) -> BgpSpeaker | None:
        """The speaker; None without BGP, or after noting that it has no AS number."""
        node = self._node
        if not node.value:
            return None
        asn = node.needed("autonomous-system", node.number("autonomous-system"), "Configure the switch's AS number")
        if asn is None:
            return None
        rejects, advertised = node.child("ebgp-default-policy"), node.child("route-advertisement")
        ipv4 = node.entry("afi-safi", "afi-safi-name", "ipv4-unicast")
        multipath, next_hops = ipv4.child("multipath"), ipv4.child("ipv4-unicast")
        return BgpSpeaker(
            asn=asn,
            router_id=node.router_id("router-id"),
            max_paths=multipath.child("ebgp").number("maximum-paths") or 1,
            max_paths_internal=multipath.child("ibgp").number("maximum-paths") or 1,
            multiple_as=multipath.flag("allow-multiple-as", default=True),
            advertise_ipv6_next_hops=next_hops.flag("advertise-ipv6-next-hops", default=False),
            receive_ipv6_next_hops=next_hops.flag("receive-ipv6-next-hops", default=False),
            requires_policy=all(rejects.flag(f"{side}-reject-all", default=True) for side in ("import", "export")),
            rapid_withdrawal=(
                advertised.flag("rapid-withdrawal", default=False) if "rapid-withdrawal" in advertised.value else None
            ),
            cluster_id=node.child("route-reflector").router_id("cluster-id"),
            neighbors=tuple(self._neighbors(asn)),
        )

    def _neighbors(self, own_as: int) -> Iterator[BgpNeighbor]:
        for node in self._node.child("dynamic-neighbors").entries("interface", "interface-name"):
            group, name = self._group_name(node), interface_of(str(node.value["interface-name"]))
            if group is not None and name is not None:
                yield self._neighbor(name, _allowed_as(node, own_as), self._settings[group])
        for node in self._node.entries("neighbor", "peer-address"):
            if ZONE in str(node.value["peer-address"]):
                continue
            group, address = self._group_name(node), node.address("peer-address")
            if group is None or address is None:
                continue
            number = node.number("peer-as") or self._groups[group].number("peer-as") or NO_AS
            settings = self._settings[group]
            if not node.value.keys() <= _OWN_LEAVES:
                settings = self._inherited((node, self._groups[group], self._node))
            settings = replace(settings, enabled=settings.enabled and node.enabled(default=True))
            neighbor = self._neighbor(address, _remote(number, own_as), settings)
            yield replace(neighbor, description=node.text("description") or "")

    def _group_name(self, node: ConfigNode) -> str | None:
        name = node.text("peer-group")
        if name in self._groups:
            return name
        known = ", ".join(self._groups) or "the peer groups; none is defined yet"
        node.problem(f"{name or 'no group'} is not defined", f"Use one of {known}", "peer-group")
        return None

    def _neighbor(self, peer: IpAddress | str, remote_as: int | Remote, settings: PeerGroup) -> BgpNeighbor:
        return BgpNeighbor(
            peer=peer,
            remote_as=remote_as,
            timers=settings.timers,
            network_instance=self._name,
            enabled=self._running and settings.enabled,
            update_source=settings.local_address,
            multihop_ttl=settings.multihop_ttl,
            families=settings.families,
            import_policies=settings.imports,
            export_policies=settings.exports,
            reflector_client=settings.reflector_client,
            next_hop=self._next_hop(settings),
            prefix_limit=settings.prefix_limit,
            bfd=_UNKNOWN_BFD if settings.bfd else None,
        )

    def _next_hop(self, settings: PeerGroup) -> NextHop:
        if settings.next_hop_self:
            return NextHop.SELF
        evpn = self._node.entry("afi-safi", "afi-safi-name", "evpn").child("evpn")
        keeps = settings.families == (Family.EVPN,) and evpn.flag("inter-as-vpn", default=False)
        return NextHop.UNCHANGED if keeps else NextHop.DEFAULT

    def _inherited(self, nodes: tuple[ConfigNode, ...]) -> PeerGroup:
        """Settings of a session: of its nodes, the innermost first, the first that has a leaf decides."""
        timers = tuple(node.child("timers") for node in nodes if "timers" in node.value)
        keepalive, hold = (_first(timers, leaf) for leaf in ("keepalive-interval", "hold-time"))
        source = next(
            (node.child("transport").text("local-address") for node in nodes if "transport" in node.value), None
        )
        multihop = next((node.child("multihop") for node in nodes if "multihop" in node.value), None)
        return PeerGroup(
            timers=BgpTimers(
                keepalive_s=DEFAULT_KEEPALIVE_S if keepalive is None else keepalive,
                hold_s=DEFAULT_HOLD_S if hold is None else hold,
                connect_retry_s=_first(timers, "connect-retry"),
                advertisement_interval_s=_first(timers, "minimum-advertisement-interval"),
            ),
            families=self._families(nodes),
            imports=self._named_policies(nodes, "import-policy"),
            exports=self._named_policies(nodes, "export-policy"),
            bfd=_flag(nodes, "failure-detection", "enable-bfd"),
            enabled=all(node.enabled(default=True) for node in nodes),
            local_address=interface_of(source) if source else None,
            multihop_ttl=multihop.number("maximum-hops") if multihop and multihop.enabled(default=False) else None,
            reflector_client=_flag(nodes, "route-reflector", "client"),
            next_hop_self=next(
                (node.flag("next-hop-self", default=False) for node in nodes if "next-hop-self" in node.value), False
            ),
            prefix_limit=_prefix_limit(nodes),
        )

    def _families(self, nodes: tuple[ConfigNode, ...]) -> tuple[Family, ...]:
        """The enabled families; an inner node overrides an outer one."""
        states: dict[str, bool] = {}
        for node in reversed(nodes):
            for entry in node.entries("afi-safi", "afi-safi-name"):
                if "admin-state" in entry.value:
                    states[str(entry.value["afi-safi-name"])] = entry.enabled(default=False)
        return tuple(family for name, family in _FAMILIES.items() if states.get(name))

    def _named_policies(self, nodes: tuple[ConfigNode, ...], leaf: str) -> tuple[str, ...]:
        node = next((node for node in nodes if leaf in node.value), None)
        names = node.words(leaf) if node else ()
        for name in names:
            if name not in self._policies:
                ConfigNode({}, f"/routing-policy/policy[name={name}]", self._node.problems).problem(
                    "is not defined", "Define the policy, or remove it from the peer group"
                )
        return names


_UNKNOWN_BFD = BfdTimers(interval_ms=0, multiplier=0)
"""Timers of a session with BFD until `with_bfd` finds those of its subinterface."""


def _first(nodes: tuple[ConfigNode, ...], leaf: str) -> int | None:
    return next((number for node in nodes if (number := node.number(leaf)) is not None), None)


def _prefix_limit(nodes: tuple[ConfigNode, ...]) -> int | None:
    """The innermost limit of received prefixes that does not end the session; one that does is unmodelled."""
    for node in nodes:
        for entry in node.entries("afi-safi", "afi-safi-name"):
            limit = entry.at(bare(str(entry.value["afi-safi-name"])), "prefix-limit-received")
            if limit.flag("prevent-teardown", default=False):
                return limit.number("max-received-routes")
    return None


def _flag(nodes: tuple[ConfigNode, ...], container: str, leaf: str) -> bool:
    """A boolean leaf of the innermost node that has it; false without one."""
    inner_nodes = (node.child(container) for node in nodes if container in node.value)
    return next((inner.flag(leaf, default=False) for inner in inner_nodes if leaf in inner.value), False)


def _allowed_as(node: ConfigNode, own_as: int) -> int | Remote:
    """The AS number of a session over an interface; several numbers, or none, are any other AS."""
    allowed = node.words("allowed-peer-as")
    for word in allowed:
        if not all(part.isdecimal() for part in word.split("..")):
            node.problem(
                f"{word} is not an AS number", "Use an AS number, or a range such as 65001..65010", "allowed-peer-as"
            )
    if len(allowed) == 1 and allowed[0].isdecimal():
        return _remote(int(allowed[0]), own_as)
    return Remote.EXTERNAL


def _remote(number: int, own_as: int) -> int | Remote:
    return Remote.INTERNAL if number == own_as else number


def with_bfd(model: DeviceModel, root: ConfigNode) -> DeviceModel:
    """The model with the BFD timers of each session: those of its subinterface, if BFD is enabled there."""
    if model.bgp is None:
        return model
    entries = root.child("bfd").entries("subinterface", "id")
    timers = {str(entry.value["id"]): _timers(entry) for entry in entries if entry.enabled(default=False)}
    interfaces = interfaces_of_peers(model)

    def timed(neighbor: BgpNeighbor) -> BgpNeighbor:
        name = bfd_interface(neighbor, interfaces.get(neighbor.key))
        return replace(neighbor, bfd=timers.get(subinterface(name)) if name else None)

    neighbors = tuple(timed(neighbor) if neighbor.bfd is not None else neighbor for neighbor in model.bgp.neighbors)
    return replace(model, bgp=replace(model.bgp, neighbors=neighbors))


def _timers(entry: ConfigNode) -> BfdTimers:
    """Timers of a subinterface, to whole milliseconds."""
    leaves = ("desired-minimum-transmit-interval", "required-minimum-receive")
    stated = (entry.number(leaf) for leaf in leaves)
    interval_ms, receive_ms = ((DEFAULT_BFD_US if us is None else us) // US_PER_MS for us in stated)
    multiplier = entry.number("detection-multiplier")
    return BfdTimers(
        interval_ms=interval_ms,
        multiplier=DEFAULT_MULTIPLIER if multiplier is None else multiplier,
        receive_ms=None if receive_ms == interval_ms else receive_ms,
    )
