"""Parses the BGP tables of unified mode to the effective settings of every session."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address, ip_network

from railfab.device import (
    DEFAULT_INSTANCE,
    Aggregate,
    BfdTimers,
    BgpNeighbor,
    BgpSpeaker,
    BgpTimers,
    Family,
    IpAddress,
    NextHop,
    Remote,
)
from railfab.errors import RailfabError
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.sonic.bgp import DEFAULT_BFD, FAMILIES, UNICAST
from railfab.platforms.sonic.names import instance_name, interface_name
from railfab.platforms.sonic.tables import DOWN, UP, Tables, key, nodes, row

DEFAULT_KEEPALIVE_S, DEFAULT_HOLD_S = 60, 180
"""Timers of FRR's profile `traditional`, with which SONiC starts it (doc/user/bgp.rst, profiles)."""

NO_AS = 0
"""AS number of a neighbour for which none is stated. No speaker has it (RFC 7607)."""

_FAMILIES = {name: family for family, name in FAMILIES.items()}


class SpeakerReader:
    """The BGP speaker of a configuration."""

    def __init__(self, tree: Tables, problems: list[RailfabError]) -> None:
        self._tree, self._problems = tree, problems
        self._families = self._families_of_neighbors()

    def bgp(self) -> BgpSpeaker | None:
        """The speaker; None where the default network instance has none."""
        speaker = self._node("BGP_GLOBALS", DEFAULT_INSTANCE)
        asn = speaker.number("local_asn")
        if asn is None:
            return None
        paths = self._node("BGP_GLOBALS_AF", DEFAULT_INSTANCE, FAMILIES[Family.IPV4])
        return BgpSpeaker(
            asn=asn,
            router_id=speaker.router_id("router_id"),
            max_paths=paths.number("max_ebgp_paths") or 1,
            max_paths_internal=paths.number("max_ibgp_paths") or 1,
            multiple_as=speaker.flag("load_balance_mp_relax", default=False),
            cluster_id=speaker.router_id("rr_cluster_id"),
            neighbors=tuple(self._neighbors(asn)),
            aggregates=tuple(self._aggregates()),
        ).with_originated(self._originated())

    def _originated(self) -> Iterator[Family]:
        """The families whose connected routes the default network instance announces."""
        redistributed = self._tree.get("ROUTE_REDISTRIBUTE", {})
        names = UNICAST.items()
        return (each for each, name in names if key(DEFAULT_INSTANCE, "connected", "bgp", name) in redistributed)

    def is_drained(self) -> bool:
        """Whether the switch asks its neighbours to avoid it (RFC 8326). TSA does nothing here: bgpcfgd reads it, which
        does not run where frrcfgd does (docker-fpm-frr, supervisord.conf.j2; frrcfgd.py, table_handler_list)."""
        speakers = [node for _, node in nodes(self._tree, "BGP_GLOBALS", self._problems) if "local_asn" in node.value]
        shut = [node.flag("graceful_shutdown", default=False) for node in speakers]
        return bool(shut) and all(shut)

    def _node(self, table: str, *parts: str) -> ConfigNode:
        return ConfigNode(row(self._tree, table, *parts), f"{table}|{key(*parts)}", self._problems)

    def _neighbors(self, asn: int) -> Iterator[BgpNeighbor]:
        for parts, node in nodes(self._tree, "BGP_NEIGHBOR", self._problems):
            if len(parts) == 2:
                yield self._neighbor(parts[0], parts[1], node, asn)

    def _neighbor(self, vrf: str, name: str, node: ConfigNode, asn: int) -> BgpNeighbor:
        """A session, with what it has from its peer group."""
        group = node.text("peer_group_name")
        settings = self._with(node, row(self._tree, "BGP_PEER_GROUP", vrf, group) if group else {})
        families = dict(self._of_families(vrf, name, group))
        active = tuple(family for family, entry in families.items() if entry.text("admin_status") == UP)
        first = next((families[family] for family in active), ConfigNode({}, node.path, self._problems))
        limits = (families[family].number("max_prefix_limit") for family in active if family in UNICAST)
        keepalive, hold = settings.number("keepalive"), settings.number("holdtime")
        return BgpNeighbor(
            peer=_peer(name),
            remote_as=_remote(settings, asn),
            timers=BgpTimers(
                keepalive_s=DEFAULT_KEEPALIVE_S if keepalive is None else keepalive,
                hold_s=DEFAULT_HOLD_S if hold is None else hold,
                connect_retry_s=settings.number("conn_retry"),
                advertisement_interval_s=settings.number("min_adv_interval"),
            ),
            network_instance=instance_name(vrf),
            description=settings.text("name") or "",
            enabled=settings.text("admin_status") != DOWN,
            update_source=_source(settings.text("local_addr")),
            multihop_ttl=settings.number("ebgp_multihop_ttl"),
            families=active,
            import_policies=first.words("route_map_in"),
            export_policies=first.words("route_map_out"),
            reflector_client=first.flag("rrclient", default=False),
            next_hop=_next_hop(first),
            bfd=_bfd(settings),
            prefix_limit=next(limits, None),
        )

    def _of_families(self, vrf: str, name: str, group: str | None) -> Iterator[tuple[Family, ConfigNode]]:
        of_neighbor = self._families.get((vrf, name), {})
        for family, text in FAMILIES.items():
            shared = row(self._tree, "BGP_PEER_GROUP_AF", vrf, group, text) if group else {}
            stated = of_neighbor.get(family)
            if stated is not None or shared:
                yield family, self._with(stated or self._node("BGP_NEIGHBOR_AF", vrf, name, text), shared)

    def _with(self, node: ConfigNode, shared: dict[str, object]) -> ConfigNode:
        return node if not shared else ConfigNode({**shared, **node.value}, node.path, self._problems)

    def _families_of_neighbors(self) -> dict[tuple[str, str], dict[Family, ConfigNode]]:
        families: dict[tuple[str, str], dict[Family, ConfigNode]] = {}
        for parts, node in nodes(self._tree, "BGP_NEIGHBOR_AF", self._problems):
            if len(parts) == 3 and parts[2] in _FAMILIES:
                families.setdefault((parts[0], parts[1]), {})[_FAMILIES[parts[2]]] = node
        return families

    def _aggregates(self) -> Iterator[Aggregate]:
        for parts, node in nodes(self._tree, "BGP_GLOBALS_AF_AGGREGATE_ADDR", self._problems):
            try:
                prefix = ip_network(parts[-1])
            except ValueError:
                node.problem(f"{parts[-1]} is no prefix", "Use VRF|FAMILY|PREFIX as its key")
                continue
            only = node.flag("summary_only", default=False)
            yield Aggregate(prefix=prefix, summary_only=only, network_instance=instance_name(parts[0]))


def _peer(name: str) -> IpAddress | str:
    try:
        return ip_address(name)
    except ValueError:
        return interface_name(name)


def _source(text: str | None) -> str | None:
    return None if text is None else interface_name(text)


def _remote(node: ConfigNode, asn: int) -> int | Remote:
    kind = node.text("peer_type")
    if kind in ("internal", "external"):
        return Remote(kind)
    number = node.number("asn") or NO_AS
    return Remote.INTERNAL if number == asn else number


def _next_hop(node: ConfigNode) -> NextHop:
    if node.flag("nhself", default=False) and node.flag("nexthop_self_force", default=False):
        return NextHop.SELF
    return NextHop.UNCHANGED if node.flag("unchanged_nexthop", default=False) else NextHop.DEFAULT


def _bfd(node: ConfigNode) -> BfdTimers | None:
    if not node.flag("bfd", default=False):
        return None
    leaves = ("desired_minimum_tx_interval", "required_minimum_receive", "detection_multiplier")
    interval, receive, multiplier = (node.number(leaf) for leaf in leaves)
    interval_ms = interval or DEFAULT_BFD.interval_ms
    receive_ms = receive or DEFAULT_BFD.interval_ms
    return BfdTimers(
        interval_ms=interval_ms,
        multiplier=multiplier or DEFAULT_BFD.multiplier,
        receive_ms=None if receive_ms == interval_ms else receive_ms,
    )
