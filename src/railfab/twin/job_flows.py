"""Flows of a job: the transfer of each, its path through the present fabric, and the reason why it has none."""

from __future__ import annotations

from collections.abc import Iterable

from railfab.forwarding import ForwardingState, LinkTable, flow_path
from railfab.sim import QUEUES, Flow, Path
from railfab.workload import Transfer


class JobFlows:
    """The flows under way. stalled: the reason why a flow has no path. Not thread-safe."""

    def __init__(self, links: LinkTable) -> None:
        self.transfers: dict[int, Transfer] = {}
        self.paths: dict[int, Path | None] = {}
        self.stalled: dict[int, str] = {}
        self._links = links
        self._last = 0

    def clear(self) -> None:
        self.transfers.clear()
        self.paths.clear()
        self.stalled.clear()

    def begin(self, state: ForwardingState, transfers: Iterable[Transfer]) -> list[Flow]:
        """New flows for these transfers, in place of the former ones; a number is never used again."""
        self.clear()
        flows = []
        for transfer in transfers:
            self._last += 1
            self.transfers[self._last] = transfer
            flows.append(Flow(id=self._last, payload_bytes=transfer.payload_bytes, path=self.route(state, self._last)))
        return flows

    def route(self, state: ForwardingState, flow: int) -> Path | None:
        """The present path of a flow; without one, the reason is noted."""
        transfer = self.transfers[flow]
        found = flow_path(state, transfer.source, transfer.target, transfer.stream)
        self.stalled.pop(flow, None)
        if isinstance(found, str):
            self.stalled[flow] = found
        path = self.paths[flow] = None if isinstance(found, str) else found
        return path

    def passes(self, flow: int, nodes: frozenset[str]) -> bool:
        """Whether a flow or its notifications pass one of these nodes; a flow without a path always may."""
        path = self.paths.get(flow)
        if path is None:
            return True
        links = (*path.links, *(queue // QUEUES for queue in path.back))
        return any(self._links.keys[link][0] in nodes for link in links)
