"""Flows of a job: the transfer of each, and the reason why it has no path."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from railfab.forwarding import TRAFFIC_CLASSES, Blocked, ForwardingState, LinkTable, blocked, flow, obstacle
from railfab.sim import Flow, Paths, Recovery, Transport
from railfab.sim.fluid import fluid_rates
from railfab.topology import PortKey
from railfab.twin.status import PassingFlow
from railfab.units import bytes_per_s
from railfab.workload import Background, Transfer

BACKGROUND_STREAM = 1 << 16
"""Sets the queue pairs of background traffic apart from those of a job."""


class JobFlows:
    """The flows of the present stage, and the asynchronous ones of former stages. Not thread-safe."""

    def __init__(self, links: LinkTable) -> None:
        self.transfers: dict[int, Transfer] = {}
        self.asynchronous: dict[int, Transfer] = {}
        self.background: dict[int, Background] = {}
        self._links = links
        self._last = 0
        self._begun: tuple[tuple[Transfer, ...], list[Flow]] = ((), [])

    def clear(self) -> None:
        self.transfers.clear()
        self.asynchronous.clear()
        self.background.clear()
        self._begun = ((), [])

    def use(self, links: LinkTable) -> None:
        """Make flows for other cables from now on."""
        self._links, self._begun = links, ((), [])

    def begin(
        self,
        transfers: tuple[Transfer, ...],
        now_ns: int,
        add_transport: Callable[[Transport], int],
        active: Collection[int] = (),
    ) -> list[Flow]:
        """New flows for these transfers, in place of the former ones; a number is never used again.

        add_transport: makes a transport known to the engine; its number. active: flows that are under way.
        """
        if transfers is not self._begun[0]:
            rates = {transfer.rate_gbps for transfer in transfers} - {None}
            paced = {rate: add_transport(Transport(dcqcn=None, rate_gbps=rate)) for rate in rates}
            known: dict[tuple[PortKey, PortKey, int], Flow] = {}
            self._begun = (transfers, [self._flow(transfer, paced, known) for transfer in transfers])
        first = self._last + 1
        self._last += len(transfers)
        self.asynchronous = {number: transfer for number, transfer in self.asynchronous.items() if number in active}
        before: tuple[int, ...] = ()
        if any(transfer.asynchronous for transfer in transfers):
            before = tuple(self.asynchronous)
            self.asynchronous |= {number: each for number, each in enumerate(transfers, first) if each.asynchronous}
        self.transfers = {number: each for number, each in enumerate(transfers, first) if not each.asynchronous}
        return [
            replace(
                plain,
                id=number,
                after=tuple(first + place for place in transfer.after) or before,
                start_ns=0 if transfer.after or before else now_ns + transfer.gap_ns,
            )
            for number, (transfer, plain) in enumerate(zip(transfers, self._begun[1], strict=True), first)
        ]

    def begin_background(
        self, wanted: Iterable[Background], add_transport: Callable[[Transport], int]
    ) -> Iterator[Flow]:
        """Endless flows of a fixed rate. add_transport: makes a transport known to the engine; its number."""
        for traffic in wanted:
            self._last += 1
            self.background[self._last] = traffic
            plain = flow(self._links, self._last, traffic.source, traffic.target, 0, stream=BACKGROUND_STREAM)
            transport = Transport(dcqcn=None, rate_gbps=traffic.rate_gbps, recovery=Recovery.NONE)
            number = TRAFFIC_CLASSES.index(traffic.traffic_class)
            yield replace(plain, traffic_class=number, transport=add_transport(transport), endless=True)

    def _flow(
        self,
        transfer: Transfer,
        paced: Mapping[float | None, int],
        known: dict[tuple[PortKey, PortKey, int], Flow],
    ) -> Flow:
        """The flow of a transfer, without a number, and without those that it waits for. paced: transports by rate.

        known: flows so far by their ends and stream.
        """
        ends = (transfer.source, transfer.target, transfer.stream)
        if ends not in known:
            known[ends] = flow(self._links, 0, transfer.source, transfer.target, 0, stream=transfer.stream)
        plain, size = known[ends], max(1, round(transfer.payload_bytes)) if transfer.payload_bytes else 0
        transport = paced.get(transfer.rate_gbps, plain.transport)
        return replace(plain, payload_bytes=size, gap_ns=transfer.gap_ns, transport=transport)

    def stalled(self, state: ForwardingState, paths: Paths) -> Iterator[str]:
        """Why the flows without a path have none."""
        for _, transfer, there, back in self._without_path(paths):
            yield obstacle(state, transfer.source, transfer.target, there) or obstacle(
                state, transfer.target, transfer.source, back
            )

    def blocked(self, state: ForwardingState, paths: Paths) -> Iterator[tuple[int, Blocked, Sequence[int]]]:
        """Where switches drop the packets of flows without a path, and the links that these pass before."""
        for number, transfer, there, _ in self._without_path(paths):
            if drop := blocked(state, transfer.source, transfer.target, there):
                yield number, *drop

    def passing(self, paths: Paths, link: int, active: Collection[int]) -> Iterator[PassingFlow]:
        """The flows under way whose packets take a link. active: numbers of flows that are not done."""
        takes = (paths.links == link).any(axis=1)
        for number in paths.id[takes].tolist():
            if number not in active:
                continue
            if traffic := self.background.get(number):
                yield PassingFlow(traffic.source, traffic.target, None)
            else:
                transfer = self.transfers.get(number) or self.asynchronous[number]
                yield PassingFlow(transfer.source, transfer.target, round(transfer.payload_bytes))

    def _without_path(self, paths: Paths) -> Iterator[tuple[int, Transfer | Background, list[int], list[int]]]:
        """Number and ends of each, and its links there and back, as far as they lead."""
        for place in np.flatnonzero(paths.stalled).tolist():
            number = int(paths.id[place])
            transfer = self.transfers.get(number) or self.asynchronous.get(number) or self.background[number]
            there, back = (row[row >= 0].tolist() for row in (paths.links[place], paths.back[place]))
            yield number, transfer, there, back

    def ideal_s(self, paths: Paths, payload_gbps: NDArray[np.float64]) -> float:
        """Time that the flows with a path take at max-min fair rates [s]. payload_gbps: (link,).

        Where switches choose for each packet or burst, only the first and the last link of a flow count.
        """
        routed = [place for place in np.flatnonzero(~paths.stalled).tolist() if int(paths.id[place]) in self.transfers]
        rates = fluid_rates(_fixed(paths)[routed], bytes_per_s(1.0) * payload_gbps)
        sizes = np.array([self.transfers[int(paths.id[place])].payload_bytes for place in routed])
        return float((sizes / rates).max(initial=0.0))


def _fixed(paths: Paths) -> NDArray[np.int64]:
    """(flow, hop) the links that all packets of a flow take, -1 behind the last."""
    links = paths.links.copy()
    last = links[np.arange(len(links)), np.maximum(0, (links >= 0).sum(axis=1) - 1)]
    links[paths.dynamic, 1] = last[paths.dynamic]
    links[paths.dynamic, 2:] = -1
    return links
