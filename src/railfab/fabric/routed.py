"""A design whose switches run their configurations: the links that flows between NIC ports take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from railfab.device import DeviceModel, Qos
from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.fabric.design import render_text
from railfab.fabric.route_links import RouteLinks, candidate_links
from railfab.forwarding import (
    Connections,
    FabricChange,
    ForwardingState,
    LinkTable,
    Marking,
    PortUse,
    connection_ends,
    converge,
    obstacle,
    uncomputed,
    unconfigured,
)
from railfab.platforms import platform
from railfab.sim import Balancing, Framing, Network
from railfab.sim.walks import flow_links
from railfab.topology import Net, PortKey, Role
from railfab.units import bytes_per_s
from railfab.workload.transfer import Gpu

SPREADING = frozenset({Balancing.SPRAY, Balancing.ADAPTIVE})
"""Ways of switches to choose with which the packets of a flow take all links of a group."""
Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RoutedFabric:
    """The converged state of a fabric. planned: without faults. slow: what the rates of links are divided by. use: what
    PCIe is divided for."""

    state: ForwardingState
    planned: ForwardingState
    slow: Mapping[int, float] = field(default_factory=dict)
    use: PortUse | None = None

    @property
    def links(self) -> LinkTable:
        """The links by number."""
        return self.state.links

    def with_seed(self, seed: int) -> RoutedFabric:
        """The fabric with other hashes on the switches that configure no seed of their own."""
        marking = replace(self.state.marking, seed=seed)
        return replace(self, state=replace(self.state, marking=marking))

    def with_slow_links(self, factors: Mapping[PortKey, float]) -> RoutedFabric:
        """The fabric whose links from these ports have their rates divided."""
        return replace(self, slow={self.links.egress[port]: factor for port, factor in factors.items()})

    @cached_property
    def without_faults(self) -> RoutedFabric:
        """The fabric as it is planned, without slow links."""
        return RoutedFabric(self.planned, self.planned)

    def in_use(self, use: Callable[[], PortUse]) -> RoutedFabric:
        """The fabric whose ports of a NIC have the share of PCIe that they use."""
        return replace(self, use=use()) if self.links.has_pcie_limits else self

    @property
    def links_count(self) -> int:
        """Number of directed links."""
        return len(self.links.keys)

    @cached_property
    def _network(self) -> Network:
        return self.state.network if self.use is None else self.state.network_in_use(self.use)

    @cached_property
    def network(self) -> Network:
        """The network of the state, with its slow links."""
        network = self._network
        factors = np.ones(network.links)
        factors[list(self.slow)] = list(self.slow.values())
        return replace(network, rate_gbps=network.rate_gbps / factors)

    @cached_property
    def payload_bytes_per_s(self) -> Floats:
        """(link,) what a link carries of payload of RoCE [bytes/s]; 0 for one that is down."""
        rates = _payload_bytes_per_s(self._network)
        for link, factor in self.slow.items():
            rates[link] /= factor
        return rates

    @property
    def planned_bytes_per_s(self) -> Floats:
        """(link,) the same without faults."""
        return self.without_faults.payload_bytes_per_s

    def ports_up(self, nics: Mapping[Gpu, Sequence[PortKey]]) -> dict[Gpu, list[PortKey]]:
        """The ports of each GPU whose links are up; all of them where none is."""
        return {
            gpu: [port for port in ports if self.state.port(port).oper_up] or list(ports) for gpu, ports in nics.items()
        }

    @cached_property
    def balancing(self) -> frozenset[Balancing]:
        """Ways in which the configured switches choose links."""
        modes = self.state.network.balancing[[self.links.switches[name] for name in self.state.configs]]
        return frozenset(map(Balancing, modes.tolist()))

    def ends(self, connections: Connections) -> RouteLinks:
        """The links of the two ports of each connection."""
        egress = np.array([self.links.egress[port] for port in connections.ports], np.int64)
        return RouteLinks.single(np.column_stack((egress[connections.source], egress[connections.target] ^ 1)))

    def paths(self, connections: Connections) -> RouteLinks:
        """The links of each connection: all that its packets may take where switches choose for each packet, else those
        that hashes choose. Raises RailfabError for one that has no path, and TooManyTransfers."""
        links, arrives = flow_links(self.state.network, self.state.routing, connection_ends(self.links, connections))
        for number in np.flatnonzero(~arrives).tolist():
            self._raise_obstacle(connections[number], links[number][links[number] >= 0].tolist())
        if self.balancing <= SPREADING:
            return self.candidates(connections)
        return RouteLinks.single(links[:, : max(1, int((links >= 0).sum(axis=1).max(initial=1)))])

    def candidates(self, connections: Connections) -> RouteLinks:
        """All links that the packets of each connection may take. Raises as `paths` does."""
        ends, network = self.ends(connections).links, self.network
        links, lost = candidate_links(network, self.state.routing, ends[:, 0], network.far[ends[:, 1]])
        for number in lost.tolist():
            self._raise_obstacle(connections[number], [])
        return links

    def _raise_obstacle(self, connection: tuple[PortKey, PortKey, int], links: Sequence[int]) -> NoReturn:
        source, target, _ = connection
        reason = obstacle(self.state, source, target, links) or "no way back"
        where = f"{' '.join(source)} to {' '.join(target)}"
        raise RailfabError(where, f"no path: {reason}", "Leave the fault out, or take the host out of the job")

    def name_of(self, link: int) -> str:
        """Both ends of a link."""
        near, far = self.links.keys[link], self.links.far_key(link)
        return f"{' '.join(near)} > {' '.join(far)}"

    def choices(self, link: int, target: PortKey) -> tuple[int, ...]:
        """The links that the switch before a link chooses from for packets to a host port, this one among them."""
        node = self.links.keys[link][0]
        address = self.links.near[self.links.egress[target]].address
        if self.links.is_host(node) or address is None:
            return (link,)
        return self.state.egress(node, address.ip) or (link,)


def uncomputed_routes(design: Design) -> str:
    """Reason why no routes can be computed for a design; empty where they can."""
    if design.intent.profile.transport == "uet":
        return "the routes of Ultra Ethernet are not computed"
    parts = ((model.name, part) for model in _used_models(design).values() for part in uncomputed(model))
    name, part = next(parts, ("", None))
    return f"no routes are computed for {part.feature} ({name} {part.where})" if part else ""


def _used_models(design: Design) -> dict[str, DeviceModel]:
    """The models of the switches of the networks that a job uses."""
    nodes = design.topology.by_name
    return {name: model for name, model in design.models.items() if nodes[name].net in (Net.BACKEND, Net.STORAGE)}


def require_routes(design: Design) -> None:
    """Raise RailfabError for a design of which no routes can be computed."""
    if text := uncomputed_routes(design):
        problem = f"no collective can run on its links: {text}"
        raise RailfabError(str(design.path), problem, "Use simulate --tier closed-form")


def models_in_effect(design: Design, used: Mapping[str, DeviceModel]) -> dict[str, DeviceModel]:
    """Models of a design with the buffers that a switch uses where its configuration states none, as its twin does.

    What configurations state of buffers is the same on switches of one kind and role with the same ports: it is read
    of one of them.
    """
    effects: dict[tuple[str, str, Role, tuple[str, ...], Qos], Qos | None] = {}
    models = {}
    for name, model in used.items():
        node, rendering = design.topology.node(name), platform(model.platform)
        if rendering.twin is None or model.qos is None:
            models[name] = model
            continue
        ports = tuple(interface.name for interface in model.interfaces)
        kind = (model.platform, str(node.model), node.role, ports, model.qos)
        if kind not in effects:
            face = rendering.twin()
            stated = face.datastore(name, rendering.render(model)).replaced(render_text(model))
            effects[kind] = face.in_effect(model, stated).qos
        models[name] = replace(model, qos=effects[kind])
    return models


def routed(design: Design, change: FabricChange | None = None) -> RoutedFabric:
    """The fabric with the configurations that its platforms render.

    change: faults, made after it has converged. Raises RailfabError for a design without routes, and as `Design.models`
    does.
    """
    require_routes(design)
    marks = design.intent.profile.lossless
    marking = Marking() if marks is None else Marking(dscp=marks.dscp, priority=marks.priority)
    state = unconfigured(LinkTable(design.topology), framing=Framing(), marking=marking)
    planned = converge(state, FabricChange(models_in_effect(design, _used_models(design))))
    return RoutedFabric(planned if change is None else converge(planned, change), planned)


def payload_share(framing: Framing) -> float:
    """Payload over what takes time on the wire."""
    return framing.octets_per_wire / framing.octets_per_payload


def _payload_bytes_per_s(network: Network) -> Floats:
    rate_gbps = np.where(network.up, network.rate_gbps, 0.0)
    return np.asarray(payload_share(Framing()) * bytes_per_s(1.0) * np.minimum(rate_gbps, network.rx_gbps[network.far]))
