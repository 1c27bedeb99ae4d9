"""The canonical form of a component: equal for those that differ in the names of hosts, rails, pods and ports only.

Colours of flows, links and nodes are refined by those of their neighbours (Weisfeiler and Leman, 1968); among flows
that stay equal one is marked and colours are refined again. Forms are compared as a whole, so that equal ones have
equal results; components that are alike may get different forms where they have many equal flows, which costs a run.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from railfab.simulate.components import Component
from railfab.simulate.network_colours import ODD, Colours, NetworkColours, mixed
from railfab.simulate.ordered import Numbers

MOST_MARKS = 64
"""Flows that are marked among equal ones; the order of those that are equal still is that in which they came."""
MOST_STEPS = 2_000_000
"""Steps of refinement times flows; the colours of a larger component stay as they are then."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CanonicalForm:
    """A component whose flows, links and nodes have canonical numbers.

    order: (flow,) the flow of the component that each is. links: (link,) of the fabric; 2i and 2i + 1 are a cable.
    nodes: (node,) of the fabric. near, far: (link,) of these nodes. paths: (flow, hop) of these links; is_balanced:
    switches choose among those that leave them. key: digest of all of it.
    """

    order: Numbers
    links: Numbers
    nodes: Numbers
    near: Numbers
    far: Numbers
    payload_bytes: Numbers
    latency_ns: Numbers
    paths: Numbers
    earlier: Numbers
    later: Numbers
    is_balanced: bool
    key: str


def _sums(place: Numbers, values: Colours, count: int) -> Colours:
    """Sums of values by place, modulo 2**64: equal for equal multisets."""
    sums = np.zeros(count, np.uint64)
    np.add.at(sums, place, values)
    return sums


class _Refinement:
    """Colours of flows; links and nodes have numbers of their own here."""

    def __init__(self, component: Component, network: NetworkColours) -> None:
        paths = component.paths
        self._flow, hop = np.nonzero(paths >= 0)
        used = paths[self._flow, hop]
        cables = np.unique(used >> 1)
        self.links = np.column_stack((2 * cables, 2 * cables + 1)).ravel()
        self._link = 2 * np.searchsorted(cables, used >> 1) + (used & 1)
        hop = np.zeros_like(hop) if component.is_balanced else hop
        self._hop = mixed(hop.astype(np.uint64) * ODD[4] + ODD[3])
        ends = np.concatenate((network.near[self.links], network.far[self.links]))
        self.nodes, numbers = np.unique(ends, return_inverse=True)
        self._near, self._far = np.split(numbers, 2)
        self.steps_left = MOST_STEPS // len(paths)
        self._earlier, self._later = component.earlier, component.later
        fields = (component.payload_bytes, component.latency_ns)
        self.flow_colours = np.zeros(len(paths), np.uint64)
        for values in fields:
            self.flow_colours = mixed(self.flow_colours * ODD[0] + values.astype(np.uint64) + ODD[1])
        self._link_colours, self._node_colours = network.links[self.links], network.nodes[self.nodes]

    def refine(self) -> None:
        """Refine until the number of colours no longer grows, or there were too many steps."""
        classes = 0
        while self.steps_left > 0:
            self.steps_left -= 1
            self._step()
            now = len(np.unique(self.flow_colours)) + len(np.unique(self._link_colours))
            if now <= classes:
                return
            classes = now

    def _step(self) -> None:
        flows, links, nodes = self.flow_colours, self._link_colours, self._node_colours
        on_links = _sums(self._link, mixed(flows[self._flow] ^ self._hop), len(links))
        ends = nodes[self._near] * ODD[0] + nodes[self._far] * ODD[1]
        back = links.reshape(-1, 2)[:, ::-1].ravel()
        self._link_colours = mixed(links * ODD[2] + mixed(ends) + on_links * ODD[3] + back * ODD[4])
        out = _sums(self._near, mixed(links * ODD[1]), len(nodes))
        into = _sums(self._far, mixed(links * ODD[2]), len(nodes))
        self._node_colours = mixed(nodes * ODD[0] + out * ODD[3] + into * ODD[4])
        along = _sums(self._flow, mixed(links[self._link] ^ self._hop), len(flows))
        before = _sums(self._later, mixed(flows[self._earlier] * ODD[1]), len(flows))
        after = _sums(self._earlier, mixed(flows[self._later] * ODD[2]), len(flows))
        self.flow_colours = mixed(flows * ODD[0] + along + before * ODD[3] + after * ODD[4])

    def mark(self) -> bool:
        """Mark one of the flows of the smallest set of equal ones; False where there is none."""
        colours, place, counts = np.unique(self.flow_colours, return_inverse=True, return_counts=True)
        if len(colours) == len(place):
            return False
        alike = np.where(counts > 1, counts, len(place) + 1)
        chosen = int(np.flatnonzero(place == int(alike.argmin()))[0])
        self.flow_colours[chosen] = mixed(self.flow_colours[chosen : chosen + 1] + ODD[4])[0]
        return True


def canonical(component: Component, network: NetworkColours) -> CanonicalForm:
    """The canonical form of a component."""
    refinement = _Refinement(component, network)
    refinement.refine()
    for _ in range(MOST_MARKS):
        if refinement.steps_left <= 0 or not refinement.mark():
            break
        refinement.refine()
    return numbered(component, network, np.argsort(refinement.flow_colours, kind="stable"))


def numbered(component: Component, network: NetworkColours, order: Numbers) -> CanonicalForm:
    """The form in which flows are in this order, and links and nodes in that of the first flow that crosses them."""
    paths = component.paths[order]
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    used = paths[paths >= 0]
    first = used[np.sort(np.unique(used >> 1, return_index=True)[1])]
    links = np.column_stack((first, first ^ 1)).ravel()
    number = dict(zip(links.tolist(), range(len(links)), strict=True))
    paths = np.array([number.get(link, -1) for link in paths.ravel().tolist()], np.int64).reshape(paths.shape)
    ends = np.column_stack((network.near[links], network.far[links])).ravel()
    nodes = ends[np.sort(np.unique(ends, return_index=True)[1])]
    pairs = np.column_stack((place[component.earlier], place[component.later]))
    pairs = pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))]
    parts = (component.payload_bytes[order], component.latency_ns[order], paths, pairs)
    node = dict(zip(nodes.tolist(), range(len(nodes)), strict=True))
    places = np.array([node[end] for end in ends.tolist()], np.int64)
    digest = blake2b(digest_size=16)
    for part in (*parts, places, network.links[links], network.nodes[nodes]):
        digest.update(f"{part.shape}".encode() + np.ascontiguousarray(part).tobytes())
    return CanonicalForm(
        order=order,
        links=network.link_of[links],
        nodes=network.node_of[nodes],
        near=places[::2],
        far=places[1::2],
        payload_bytes=parts[0],
        latency_ns=parts[1],
        paths=paths,
        earlier=pairs[:, 0],
        later=pairs[:, 1],
        is_balanced=component.is_balanced,
        key=digest.hexdigest(),
    )
