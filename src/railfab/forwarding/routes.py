"""BGP: which routes every switch has, and over which next hops.

A switch's best path to a group of prefixes is the shortest AS path that its peers announce to it; peers at equal
length are equal-cost next hops (multipath with AS-path relax). The routes are the one stable state of these equations,
and are reached by computing switches again until none differs: after a change only those that it concerns. A route of
length k rests on routes of length k - 1, down to an originator, so there is exactly one stable state.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from railfab.forwarding.best_paths import BestPaths
from railfab.forwarding.config import SwitchConfig
from railfab.forwarding.interning import NO_HOPS, NO_PATH
from railfab.forwarding.links import LinkTable
from railfab.forwarding.ports import Configs, PortStates
from railfab.forwarding.prefixes import Connected, Prefix, PrefixGroups, prefix_groups
from railfab.forwarding.route_table import UNREACHED, Peers, Routes, policies_in_use
from railfab.forwarding.sessions import Sessions


@dataclass(frozen=True, slots=True)
class RoutingInputs:
    """What routes follow from, as it is after a change."""

    links: LinkTable
    configs: Configs
    ports: PortStates
    sessions: Sessions


def routes(now: RoutingInputs, nodes: Collection[str], before: Routes, before_configs: Configs) -> Routes:
    """The routes after a change. nodes: those with another configuration, port or session than before.

    The same object as before when no route and no number of prefixes differs.
    """
    configs = now.configs
    connected = _connected(now, nodes, before.connected)
    peers = _peers(now, nodes, before.peers)
    groups = before.groups
    if connected is not before.connected or policies_in_use(configs) != policies_in_use(before_configs):
        groups = prefix_groups(connected, before.tables.policies, policies_in_use(configs))
    speakers = {name for name in nodes if _speaker(configs.get(name)) != _speaker(before_configs.get(name))}
    speakers |= {name for name in nodes if peers.get(name) != before.peers.get(name)}
    announcers = {name for name in nodes if _announcer(configs.get(name)) != _announcer(before_configs.get(name))}
    if not speakers and not announcers and groups is before.groups:
        return before
    draft, origins = _draft(before, connected, peers, groups)
    best_paths = BestPaths(draft, configs)
    best_paths.mark_origins(origins)
    best_paths.mark(speakers | {peer for name in announcers for peer, _ in peers.get(name, ())})
    best_paths.run()
    if np.array_equal(groups.sizes, before.groups.sizes):
        touched = best_paths.computed
        draft.counts.update({name: held for name, held in before.counts.items() if name not in touched})
    return draft


def _connected(now: RoutingInputs, nodes: Iterable[str], before: Connected) -> Connected:
    """The loopbacks, and the subnets of numbered ports that are up. The same object when nothing differs."""
    fresh = {name: _own_prefixes(now, now.configs[name]) if name in now.configs else None for name in nodes}
    if all(before.get(name) == own for name, own in fresh.items()):
        return before
    kept = {**before, **fresh}
    return {name: own for name, own in sorted(kept.items()) if own is not None}


def _own_prefixes(now: RoutingInputs, config: SwitchConfig) -> dict[Prefix, int | None]:
    name = config.model.name
    own: dict[Prefix, int | None] = {(int(config.model.loopback), 32): None}
    for interface, prefix in config.subnets:
        state = now.ports.get(name, {}).get(interface)
        if state is not None and state.oper_up:
            own[prefix] = now.links.egress[name, interface]
    return own


def _peers(now: RoutingInputs, nodes: Iterable[str], before: Mapping[str, Peers]) -> Mapping[str, Peers]:
    """The established peers. Of a switch that has the same as before, the same object."""
    found = dict(before)
    for name in nodes:
        if name not in now.configs:
            found.pop(name, None)
            continue
        places = now.configs[name].places
        up = sorted(
            (places.get(interface, len(places)), session.peer_device or "", now.links.egress[name, interface])
            for interface, session in now.sessions[name].items()
            if session.established
        )
        fresh = tuple((peer, link) for _, peer, link in up)
        if found.get(name) != fresh:
            found[name] = fresh
    return found


def _draft(
    before: Routes, connected: Connected, peers: Mapping[str, Peers], groups: PrefixGroups
) -> tuple[Routes, list[tuple[int, set[str]]]]:
    """A copy to compute in, with a column for each group; and each column whose originators differ, with those that do.

    A group starts with the routes of the group that its first prefix was in.
    """
    old = np.array([before.groups.numbers.get(prefix, -1) for prefix in groups.examples], np.int64)
    known = np.flatnonzero(old >= 0)
    shape = (len(before.rows), len(old))
    distance = np.full(shape, UNREACHED, np.int16)
    path, hops = np.full(shape, NO_PATH, np.int32), np.full(shape, NO_HOPS, np.int32)
    distance[:, known] = before.distance[:, old[known]]
    path[:, known], hops[:, known] = before.path[:, old[known]], before.hops[:, old[known]]
    draft = replace(
        before, connected=connected, groups=groups, peers=peers, distance=distance, path=path, hops=hops, counts={}
    )
    differing = [
        (column, set(names).symmetric_difference(before.groups.keys[place][0] if place >= 0 else ()))
        for column, ((names, _), place) in enumerate(zip(groups.keys, old.tolist(), strict=True))
        if place < 0 or names != before.groups.keys[place][0]
    ]
    return draft, differing


def _speaker(config: SwitchConfig | None) -> tuple[int, int, int] | None:
    """What a switch's own routes depend on, beside its peers."""
    return None if config is None else (config.asn, config.import_policy, config.max_paths)


def _announcer(config: SwitchConfig | None) -> tuple[int, int] | None:
    """What the routes of a switch's peers depend on."""
    return None if config is None else (config.asn, config.export_policy)
