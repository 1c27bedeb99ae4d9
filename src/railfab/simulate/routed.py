"""A design whose switches run their configurations: the links that flows between NIC ports take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.forwarding import (
    FabricChange,
    ForwardingState,
    LinkTable,
    Marking,
    converge,
    flow,
    obstacle,
    unconfigured,
)
from railfab.sim import Engine, Framing
from railfab.topology import PortKey
from railfab.units import bytes_per_s

Connection = tuple[PortKey, PortKey, int]
"""Source, target, and what tells connections between the same two ports apart."""
Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RoutedFabric:
    """The converged state of a fabric."""

    state: ForwardingState

    @property
    def links(self) -> LinkTable:
        """The links by number."""
        return self.state.links

    @cached_property
    def payload_bytes_per_s(self) -> Floats:
        """(link,) what a link carries of payload of RoCE [bytes/s]; 0 for one that is down."""
        network, framing = self.state.network, Framing()
        share = framing.octets_per_wire / framing.octets_per_payload
        rate_gbps = np.where(network.up, network.rate_gbps, 0.0)
        taken_gbps = network.rx_gbps[network.far]
        return np.asarray(share * bytes_per_s(1.0) * np.minimum(rate_gbps, taken_gbps))

    def paths(self, connections: Sequence[Connection]) -> Numbers:
        """(connection, hop) the links of each, -1 behind the last. Raises RailfabError for one that has no path."""
        engine = Engine(self.state.network, self.state.routing)
        engine.add(
            [
                replace(flow(self.links, number, source, target, 1, stream=stream), id=number)
                for number, (source, target, stream) in enumerate(connections)
            ]
        )
        engine.run(1.0, stop_when_done=False)
        paths = engine.flow_paths()
        for number in np.flatnonzero(paths.stalled).tolist():
            source, target, _ = connections[number]
            links = paths.links[number][paths.links[number] >= 0].tolist()
            reason = obstacle(self.state, source, target, links) or "no way back"
            where = f"{' '.join(source)} to {' '.join(target)}"
            raise RailfabError(where, f"no path: {reason}", "Leave the fault out, or take the host out of the job")
        return paths.links[:, : max(1, int((paths.links >= 0).sum(axis=1).max(initial=1)))]

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


def routed(design: Design, *, seed: int = 1, change: FabricChange | None = None) -> RoutedFabric:
    """The fabric with the configurations that its platforms render.

    seed: of the hashes of switches that configure none. change: faults, made after it has converged.
    Raises as `Design.models` does.
    """
    marks = design.intent.profile.lossless
    marking = Marking(seed=seed) if marks is None else Marking(dscp=marks.dscp, priority=marks.priority, seed=seed)
    state = unconfigured(LinkTable(design.topology), framing=Framing(), marking=marking)
    state = converge(state, FabricChange(design.models))
    return RoutedFabric(state if change is None else converge(state, change))
