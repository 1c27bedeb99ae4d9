"""The ways of the flows under way, laid out as flat arrays for one numpy pass a step.

A *cell* is the share of one flow in one queue. Cells form a table of (row, flow), flattened; each flow's last queue is
in the last row, so that everything moves one row down a step, and short ways leave their upper cells unused. One row
more, the *sink*, is the receiver. *Landing* arrays have the sink row, cell arrays have not. Queues and ingresses that
these flows use get local numbers; the number after the last stands for unused cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from railfab.sim.network import QUEUES, Floats, Flow, Framing, Ints, Network, Path

LOCAL = -1
"""In a table of links: no link leads here."""


class Layout:
    """Where each flow goes, as index arrays. Every flow has a path.

    queue_ids: (queue,) link * QUEUES + number. ingress_links: (ingress,). queue_of, ingress_of: (cell,) local numbers.
    nic_of: (flow,) local queue. entry: (flow,) landing of what a sender emits. link_into: (landing,) or LOCAL.
    delay_steps: (landing,). rest_ns: (cell,) from leaving the cell to the receiver.
    pause_target: (ingress + 1,) local queue that the ingress can stop.
    """

    def __init__(self, flows: Sequence[Flow], network: Network, framing: Framing, step_ns: int) -> None:
        self.flows = tuple(flows)
        self.paths = tuple(_path(flow) for flow in flows)
        self.count = len(flows)
        self.rows = max((len(path.links) - 1 for path in self.paths), default=0)
        self.cells = self.rows * self.count
        queue, ingress, into = self._tables()
        nics = np.array([path.links[0] * QUEUES + path.queues[0] for path in self.paths], np.int64)
        self.queue_ids = np.unique(np.concatenate((queue[queue >= 0], nics)))
        self.ingress_links = np.unique(ingress[ingress >= 0])
        self.queues, self.ingresses = len(self.queue_ids), len(self.ingress_links)
        self.queue_of = _local(queue, self.queue_ids)
        self.nic_of = _local(nics, self.queue_ids)
        self.ingress_of = _local(ingress, self.ingress_links)
        self.link_into = into
        self.entry = np.array([self._row(path, 0) * self.count + f for f, path in enumerate(self.paths)], np.int64)
        self._timing(network, step_ns)
        self._ports(network, framing, step_ns)

    def _row(self, path: Path, hop: int) -> int:
        """The row of the queue that the hop-th link of a path leads to."""
        return self.rows - (len(path.links) - 1) + hop

    def _hops(self) -> Iterator[tuple[int, int, Path, int]]:
        """Every landing: its number, the flow's number and path, and the index of the link leading into it."""
        for f, path in enumerate(self.paths):
            for hop in range(len(path.links)):
                yield self._row(path, hop) * self.count + f, f, path, hop

    def _tables(self) -> tuple[Ints, Ints, Ints]:
        queue, ingress = np.full(self.cells, -1, np.int64), np.full(self.cells, -1, np.int64)
        into = np.full(self.cells + self.count, LOCAL, np.int64)
        for landing, _, path, hop in self._hops():
            into[landing] = path.links[hop]
            if hop + 1 < len(path.links):
                queue[landing] = path.links[hop + 1] * QUEUES + path.queues[hop + 1]
                ingress[landing] = path.links[hop] if path.lossless[hop] else -1
        return queue, ingress, into

    def _timing(self, network: Network, step_ns: int) -> None:
        delay_ns = np.where(self.link_into >= 0, network.delay_ns[self.link_into], 0.0)
        self.delay_steps = np.maximum(1, np.rint(delay_ns / step_ns)).astype(np.int64)
        table = delay_ns.reshape(self.rows + 1, self.count)
        self.rest_ns = np.cumsum(table[::-1], axis=0)[::-1][1:].ravel()
        self.back_ns = np.array([path.back_ns for path in self.paths])
        self.slots = int(self.delay_steps.max(initial=1)) + 1
        ticks, landings = np.arange(self.slots)[:, None], len(self.link_into)
        self.landing_index = ((ticks + self.delay_steps) % self.slots) * landings + np.arange(landings)
        pause_ns = network.pause_delay_ns[self.ingress_links]
        self.pause_steps = np.append(np.maximum(1, np.rint(pause_ns / step_ns)), 1).astype(np.int64)
        self.transit_steps = int(self.delay_steps.reshape(self.rows + 1, self.count).sum(axis=0).max(initial=1))

    def _ports(self, network: Network, framing: Framing, step_ns: int) -> None:
        port_ids = self.queue_ids // QUEUES
        ports, port_of = np.unique(port_ids, return_inverse=True)
        self.ports = len(ports)
        self.port_of = np.append(port_of, self.ports)
        self.several_queues = len(ports) < self.queues
        self.several_flows = len(np.unique(self.nic_of)) < self.count
        rate = network.rate_gbps[port_ids] / 8 * framing.octets_per_wire
        self.rate = np.append(rate, 0.0)
        self.capacity = self.rate * step_ns
        self.port_capacity = np.zeros(self.ports + 1)
        self.port_capacity[self.port_of] = self.capacity
        targets = self.ingress_links * QUEUES + network.pause_queue[self.ingress_links]
        self.pause_target = np.append(_local(targets, self.queue_ids), self.queues)

    def by_queue(self, cells: Floats) -> Floats:
        """(cell,) summed to (queue + 1,)."""
        return np.asarray(np.bincount(self.queue_of, cells, self.queues + 1), float)

    def by_ingress(self, cells: Floats) -> Floats:
        """(cell,) summed to (ingress + 1,); lossless traffic only, the rest is in the last place."""
        return np.asarray(np.bincount(self.ingress_of, cells, self.ingresses + 1), float)

    def by_flow(self, cells: Floats) -> Floats:
        """(cell,) summed to (flow,)."""
        return np.asarray(cells.reshape(self.rows, self.count).sum(axis=0))


def _path(flow: Flow) -> Path:
    assert flow.path is not None
    return flow.path


def _local(ids: Ints, known: Ints) -> Ints:
    """The places of ids in `known`, which is sorted; one past its end for those that are not in it."""
    if not len(known):
        return np.zeros(len(ids), np.int64)
    place = np.minimum(np.searchsorted(known, ids), len(known) - 1)
    return np.where(known[place] == ids, place, len(known))
