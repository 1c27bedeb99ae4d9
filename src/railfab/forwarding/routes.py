"""BGP: the routes of every switch, and their next hops.

A switch's best path to a group of prefixes is the shortest AS path that its peers announce to it and its filters
permit; peers at equal cost are equal-cost next hops. The routes are the one stable state of these equations, and are
reached by computing switches again until none differs: after a change only those that it concerns. A route rests on
routes of a lower cost, down to an originator, so there is exactly one stable state: every session adds to the cost, and
no setting takes from it. Where policies set local preferences this does not hold: as in BGP itself, there may then be
several stable states, of which one is reached that depends on the order of changes, or none (RFC 4264).

An aggregate is originated while there is a route to a contributor. Contributors are longer than their aggregate, so
that this has one solution too; it is reached by computing routes again until no aggregate comes or goes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from railfab.device import PrefixRange
from railfab.forwarding.attributes import NO_PATH, UNREACHED
from railfab.forwarding.best_paths import BestPaths
from railfab.forwarding.changed import changed_names
from railfab.forwarding.config import SwitchConfig
from railfab.forwarding.lags import InterfaceLinks
from railfab.forwarding.next_hop_groups import NO_HOPS
from railfab.forwarding.peers import FAMILIES, Peer, Peers
from railfab.forwarding.ports import Configs
from railfab.forwarding.prefix_groups import Connected, PrefixGroups, prefix_groups
from railfab.forwarding.prefixes import Prefix, Prefixes
from railfab.forwarding.route_table import Routes, filters_in_use
from railfab.forwarding.sessions import Sessions

MOST_AGGREGATIONS = 256
"""After this many rounds the aggregates stay as they are; only with local preferences can they come and go for ever."""


@dataclass(frozen=True, slots=True)
class RoutingInputs:
    """Inputs of the routes, as they are after a change. hung: switches that keep the routes that they have."""

    links: InterfaceLinks
    configs: Configs
    sessions: Sessions
    hung: frozenset[str] = frozenset()


def routes(
    now: RoutingInputs,
    nodes: Collection[str],
    before: Routes,
    before_configs: Configs,
    resumed: frozenset[str] = frozenset(),
) -> Routes:
    """The routes after a change. nodes: those with another configuration, port or session than before. resumed: those
    that have missed what their peers announced.

    The same object as before when no route and no number of prefixes differs.
    """
    found = _settled(now, nodes, before, before_configs, resumed)
    for _ in range(MOST_AGGREGATIONS):
        differing = aggregating(now, found)
        if not differing:
            break
        found = _settled(now, differing, found, now.configs)
    return found


@dataclass(frozen=True, slots=True)
class Draft:
    """Routes to compute in, and what has to be computed first.

    origins: by column, the switches that became or ceased to be originators. speakers: switches with other sessions or
    settings. announcers: those with other export policies. columns: by column, that of the routes before, -1 of a new
    one.
    """

    routes: Routes
    origins: list[tuple[int, set[str]]]
    speakers: set[str]
    announcers: set[str]
    columns: NDArray[np.int64]


def _settled(
    now: RoutingInputs,
    nodes: Collection[str],
    before: Routes,
    before_configs: Configs,
    resumed: frozenset[str] = frozenset(),
) -> Routes:
    """The routes with the aggregates that follow from the routes before."""
    draft = drafted(now, nodes, before, before_configs, anyway=bool(resumed))
    if draft is None:
        return before
    best_paths = BestPaths(draft.routes, now.configs, now.hung)
    best_paths.mark_origins(draft.origins)
    receivers = {peer for name in draft.announcers for peer in draft.routes.peers.get(name, Peers()).devices}
    best_paths.mark(draft.speakers | receivers | resumed)
    best_paths.run()
    keep_counts(draft, before, best_paths.computed)
    return draft.routes


def keep_counts(draft: Draft, before: Routes, computed: Collection[str]) -> None:
    """Keep the numbers of prefixes of switches that were not computed."""
    groups = draft.routes.groups
    if np.array_equal(groups.sizes, before.groups.sizes) and np.array_equal(groups.bits, before.groups.bits):
        touched = {*computed, *draft.announcers}
        draft.routes.counts.update({name: held for name, held in before.counts.items() if name not in touched})


def drafted(
    now: RoutingInputs, nodes: Collection[str], before: Routes, before_configs: Configs, *, anyway: bool = False
) -> Draft | None:
    """What follows from other sessions, ports and configurations of these switches; None where nothing does.

    anyway: a draft also where nothing follows.
    """
    configs, nodes = now.configs, [name for name in nodes if name not in now.hung]
    connected = _connected(now, nodes, before)
    peers = _peers(now, nodes, before)
    groups = before.groups
    if connected is not before.connected or _has_other_filters(configs, before_configs):
        groups = prefix_groups(connected, before.tables.policies, filters_in_use(configs))
    pairs = {name: (configs.get(name), before_configs.get(name)) for name in nodes}
    speakers = {name for name, (new, old) in pairs.items() if new is not old and _speaker(new) != _speaker(old)}
    speakers |= {name for name in nodes if peers.get(name) != before.peers.get(name)}
    announcers = {name for name, (new, old) in pairs.items() if new is not old and _announcer(new) != _announcer(old)}
    if not speakers and not announcers and groups is before.groups and not anyway:
        return None
    return Draft(*_draft(before, connected, peers, groups), speakers, announcers, _columns_before(before, groups))


def aggregating(now: RoutingInputs, found: Routes) -> list[str]:
    """The switches of which an aggregate comes or goes with these routes."""
    names = [name for name, config in now.configs.items() if config.aggregates and name not in now.hung]
    return [name for name in names if _own_prefixes(now, name, found) != found.connected.get(name)]


def _has_other_filters(configs: Configs, before: Configs) -> bool:
    """Whether the sessions of all switches together have other filters than before."""
    pairs = ((configs.get(name), before.get(name)) for name in changed_names(configs, before))
    differs = any((new and new.filters) != (old and old.filters) for new, old in pairs)
    return differs and filters_in_use(configs) != filters_in_use(before)


def _speaker(config: SwitchConfig | None) -> object:
    return None if config is None else config.speaker


def _announcer(config: SwitchConfig | None) -> object:
    return None if config is None else config.announcer


def _connected(now: RoutingInputs, nodes: Iterable[str], before: Routes) -> Connected:
    """The prefixes that switches originate. The same object when nothing differs."""
    fresh = {name: _own_prefixes(now, name, before) if name in now.configs else None for name in nodes}
    if all(before.connected.get(name) == own for name, own in fresh.items()):
        return before.connected
    kept = {**before.connected, **fresh}
    return {name: own for name, own in sorted(kept.items()) if own is not None}


def _own_prefixes(now: RoutingInputs, name: str, before: Routes) -> dict[Prefix, int | None]:
    """The prefixes of loopbacks, the subnets of ports that are up, and the aggregates that are announced."""
    config = now.configs[name]
    own: dict[Prefix, int | None] = dict.fromkeys(config.loopbacks)
    for interface, prefix in config.subnets:
        link = now.links.of((name, interface))
        if link is not None and link.oper_up:
            own[prefix] = link.link
    for prefix, ranges in sorted(config.aggregates, key=lambda held: -held[0][2]):
        if prefix not in own and _has_route(before, name, own, ranges):
            own[prefix] = None
    return own


def _has_route(table: Routes, name: str, own: Mapping[Prefix, object], ranges: tuple[PrefixRange, ...]) -> bool:
    """Whether a switch has a route to a prefix in these ranges: an own one, or one that it has learned."""
    if Prefixes(list(own)).inside(ranges).any():
        return True
    columns = table.groups.inside(ranges)
    return bool((table.cost[table.rows[name], columns] < UNREACHED).any())


def _peers(now: RoutingInputs, nodes: Iterable[str], before: Routes) -> Mapping[str, Peers]:
    """The established peers. Of a switch that has the same as before, the same object."""
    found = dict(before.peers)
    for name in nodes:
        if name not in now.configs:
            found.pop(name, None)
            continue
        places = now.configs[name].places
        up = [(places.get(interface, len(places)), peer) for interface, peer in _established(now, name, before.rows)]
        fresh = Peers(tuple(peer for _, peer in sorted(up)))
        if found.get(name) != fresh:
            found[name] = fresh
    return found


def _established(now: RoutingInputs, name: str, rows: Mapping[str, int]) -> Iterator[tuple[str, Peer]]:
    """The peer at the other end of each session that is up, by the interface."""
    clients = now.configs[name].clients
    for key, session in now.sessions[name].items():
        if session.reason or session.peer_device is None or session.peer_key is None or session.interface is None:
            continue
        link = now.links.of((name, session.interface))
        assert link is not None
        yield (
            session.interface,
            Peer(
                device=session.peer_device,
                row=rows[session.peer_device],
                asn=session.remote_as,
                link=link.link,
                key=key,
                peer_key=session.peer_key,
                received=sum(FAMILIES[family][0] for family in session.received),
                sent=sum(FAMILIES[family][0] for family in session.sent),
                router_id=int(session.peer_router_id or 0),
                internal=session.internal,
                keeps_next_hop=session.keeps_next_hop,
                to_client=session.to_client,
                from_client=key in clients,
            ),
        )


def _columns_before(before: Routes, groups: PrefixGroups) -> NDArray[np.int64]:
    return np.array([before.groups.numbers.get(prefix, -1) for prefix in groups.examples], np.int64)


def _draft(
    before: Routes, connected: Connected, peers: Mapping[str, Peers], groups: PrefixGroups
) -> tuple[Routes, list[tuple[int, set[str]]]]:
    """A copy to compute in, with a column for each group; and each column whose originators differ, with those that do.

    A group starts with the routes of the group that its first prefix was in.
    """
    old = _columns_before(before, groups)
    known = np.flatnonzero(old >= 0)
    shape = (len(before.rows), len(old))
    cost = np.full(shape, UNREACHED)
    best, hops = np.full(shape, NO_PATH, np.int32), np.full(shape, NO_HOPS, np.int32)
    cost[:, known] = before.cost[:, old[known]]
    best[:, known], hops[:, known] = before.best[:, old[known]], before.hops[:, old[known]]
    bandwidth = np.zeros(shape, np.int32)
    bandwidth[:, known] = before.bandwidth[:, old[known]]
    draft = replace(
        before,
        connected=connected,
        groups=groups,
        peers=peers,
        cost=cost,
        best=best,
        hops=hops,
        programmed=hops,
        bandwidth=bandwidth,
        counts={},
    )
    differing = [
        (column, set(names).symmetric_difference(before.groups.keys[place][0] if place >= 0 else ()))
        for column, ((names, _, _), place) in enumerate(zip(groups.keys, old.tolist(), strict=True))
        if place < 0 or names != before.groups.keys[place][0]
    ]
    return draft, differing
