"""What BGP would conclude: who announces which prefixes to whom, and the next hops each switch uses.

Prefixes that have the same origins and meet the same answer at every policy go the same way, so they are worked out
together, as one *group*. Paths grow by one AS number a hop, so a group is spread in rounds: in each, switches without a
route take all that the last round's switches announce to them. Equal lengths are equal costs (multipath relax).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network

from railfab.device import DeviceModel, PrefixRange
from railfab.forwarding.ports import Models, PortState
from railfab.forwarding.sessions import BgpSession
from railfab.forwarding.wiring import Wiring
from railfab.topology import PortKey

Policy = tuple[PrefixRange, ...]
Prefix = tuple[int, int]
"""Network and length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Prefixes that go together. permits: the policies that let them pass."""

    prefixes: tuple[Prefix, ...]
    origins: tuple[str, ...]
    permits: frozenset[Policy]


@dataclass(frozen=True, slots=True)
class _Best:
    path: tuple[int, ...]
    links: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Routes:
    """connected: per switch, the egress link of each of its own prefixes (None for the loopback).

    groups: number of the group of each prefix. next_hops: egress links by switch and group, in the order of the
    model's interfaces, at most its max_paths.
    """

    connected: Mapping[str, Mapping[Prefix, int | None]]
    groups: Mapping[Prefix, int]
    next_hops: Mapping[tuple[str, int], tuple[int, ...]]
    lengths: tuple[int, ...]

    def egress(self, switch: str, address: IPv4Address) -> tuple[int, ...]:
        """The links a packet to this address may leave by; none when there is no route, or it is the switch itself."""
        own = self.connected.get(switch, {})
        for length in self.lengths:
            prefix = (int(address) >> (32 - length) << (32 - length), length)
            if prefix in own:
                link = own[prefix]
                return () if link is None else (link,)
            group = self.groups.get(prefix)
            if group is not None and (switch, group) in self.next_hops:
                return self.next_hops[switch, group]
        return ()


def routes(
    wiring: Wiring, models: Models, ports: Mapping[PortKey, PortState], found: Mapping[PortKey, BgpSession]
) -> tuple[Routes, dict[PortKey, BgpSession]]:
    """The routes of every switch, and the sessions with their numbers of prefixes."""
    connected = {name: _connected(wiring, model, ports) for name, model in models.items()}
    groups = _groups(models, connected)
    peers = _peers(wiring, models, found)
    next_hops: dict[tuple[str, int], tuple[int, ...]] = {}
    counts: dict[PortKey, list[int]] = defaultdict(lambda: [0, 0, 0])
    for number, group in enumerate(groups):
        best = _spread(models, peers, group)
        _count(wiring, models, peers, group, best, counts)
        next_hops.update({(name, number): route.links for name, route in best.items() if route.links})
    number_of = {prefix: number for number, group in enumerate(groups) for prefix in group.prefixes}
    lengths = {prefix[1] for own in connected.values() for prefix in own}
    table = Routes(
        connected=connected,
        groups=number_of,
        next_hops=next_hops,
        lengths=tuple(sorted(lengths, reverse=True)),
    )
    return table, {key: _with_counts(session, counts.get(key)) for key, session in found.items()}


def _with_counts(session: BgpSession, counts: list[int] | None) -> BgpSession:
    if counts is None:
        return session
    return replace(session, received=counts[0], sent=counts[1], installed=counts[2])


def _key(network: IPv4Network) -> Prefix:
    return int(network.network_address), network.prefixlen


def _connected(wiring: Wiring, model: DeviceModel, ports: Mapping[PortKey, PortState]) -> dict[Prefix, int | None]:
    """The loopback, and the subnets of numbered ports that are up."""
    own: dict[Prefix, int | None] = {(int(model.loopback), 32): None}
    for interface in model.interfaces:
        state = ports.get((model.name, interface.name))
        if interface.address is not None and state is not None and state.oper_up:
            own[_key(interface.address.network)] = wiring.egress[model.name, interface.name]
    return own


def permits(policy: Iterable[PrefixRange], prefix: Prefix) -> bool:
    """Whether one of the ranges contains the prefix."""
    network, length = prefix
    for entry in policy:
        shift = 32 - entry.prefix.prefixlen
        inside = length >= entry.prefix.prefixlen and network >> shift == int(entry.prefix.network_address) >> shift
        if inside and entry.ge <= length <= entry.le:
            return True
    return False


def _groups(models: Models, connected: Mapping[str, Mapping[Prefix, int | None]]) -> list[Group]:
    origins: dict[Prefix, list[str]] = defaultdict(list)
    for name, own in connected.items():
        for prefix in own:
            origins[prefix].append(name)
    speakers = [model.bgp for model in models.values()]
    policies = {policy for bgp in speakers for policy in (bgp.import_prefixes, bgp.export_prefixes)}
    together: dict[tuple[tuple[str, ...], frozenset[Policy]], list[Prefix]] = defaultdict(list)
    for prefix, names in origins.items():
        passed = frozenset(policy for policy in policies if permits(policy, prefix))
        together[tuple(names), passed].append(prefix)
    return [
        Group(prefixes=tuple(prefixes), origins=names, permits=passed) for (names, passed), prefixes in together.items()
    ]


_Peers = Mapping[str, tuple[tuple[str, int], ...]]
"""Per switch, its established peers and the link to each, in the order of the model's interfaces."""


def _peers(wiring: Wiring, models: Models, found: Mapping[PortKey, BgpSession]) -> _Peers:
    order = {
        (name, interface.name): place
        for name, model in models.items()
        for place, interface in enumerate(model.interfaces)
    }
    peers: dict[str, list[tuple[int, str, int]]] = {name: [] for name in models}
    for key, session in found.items():
        if session.established and session.peer_device is not None:
            peers[key[0]].append((order.get(key, len(order)), session.peer_device, wiring.egress[key]))
    return {name: tuple((peer, link) for _, peer, link in sorted(entries)) for name, entries in peers.items()}


def _spread(models: Models, peers: _Peers, group: Group) -> dict[str, _Best]:
    """The best route of each switch that has one."""
    best = {name: _Best((), ()) for name in group.origins}
    frontier = set(group.origins)
    while frontier:
        offers: dict[str, list[tuple[tuple[int, ...], int]]] = defaultdict(list)
        for name in models:
            if name in best or models[name].bgp.import_prefixes not in group.permits:
                continue
            for peer, link in peers[name]:
                if peer in frontier and _announces(models, group, peer, name, best[peer]):
                    offers[name].append(((models[peer].bgp.asn, *best[peer].path), link))
        for name, found in offers.items():
            best[name] = _Best(found[0][0], tuple(link for _, link in found[: models[name].bgp.max_paths]))
        frontier = set(offers)
    return best


def _announces(models: Models, group: Group, sender: str, receiver: str, route: _Best) -> bool:
    """Whether its export policy lets it, and the receiver's AS is not on the path already."""
    return models[sender].bgp.export_prefixes in group.permits and models[receiver].bgp.asn not in route.path


def _count(
    wiring: Wiring,
    models: Models,
    peers: _Peers,
    group: Group,
    best: Mapping[str, _Best],
    counts: Mapping[PortKey, list[int]],
) -> None:
    """Add the group's prefixes to what each session receives, sends and installs."""
    many = len(group.prefixes)
    for name, entries in peers.items():
        for peer, link in entries:
            if peer not in best or not _announces(models, group, peer, name, best[peer]):
                continue
            near, far = wiring.near[link], wiring.far(link)
            mine = counts[near.node, near.name]
            mine[0] += many
            counts[far.node, far.name][1] += many
            mine[2] += many if name in best and link in best[name].links else 0
