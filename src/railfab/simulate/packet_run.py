"""A component of flows, packet by packet: when each ends, and what the queues did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from railfab.sim import QUEUES, Dcqcn, Engine, Flow, Framing, Network, Recovery, Transport, plain_network
from railfab.sim.fast_forward import FastForward, FastForwardPolicy
from railfab.sim.network import assembled, beside
from railfab.simulate.canonical import CanonicalForm
from railfab.simulate.chosen_links import ChosenLinks
from railfab.simulate.ordered import Floats, Numbers

FRAMING = Framing()
REORDERED_PACKETS = 1024
"""How far packets may overtake each other where NICs take them in any order: half of what a receiver keeps here."""
POLICY = FastForwardPolicy(repeats=False, trains=False)
"""What fast-forward leaves out: packets of ports whose flows meet no queue."""
DELAY_GBPS = 100_000.0
"""Rate of the cable that delays cross, so high that they do not wait for each other."""
LONGEST_TIMES, LONGEST_NS = 50, 5e9
"""Simulated time after which a run ends without a result: so many times the estimate, and this."""
MOST_SENT_TIMES = 4
"""Packets that may be sent, over those that have to be."""
STUCK_NS = 20e6
"""Time for which queues in a circle wait for each other before that counts as a deadlock."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PacketOutcome:
    """Results of a run. ends_ns: (flow,) when each flow of the form is acknowledged. marked, pauses, dropped: packets
    with a mark, XOFF frames and packets that were lost, on all links together."""

    ends_ns: Floats
    marked: int
    pauses: int
    dropped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketSettings:
    """Settings of a run beside the network. reorders: NICs take packets in any order, and ask for those that are lost;
    others go back to the first that is missing. seed: of what switches choose at random."""

    reorders: bool = False
    seed: int = 1

    @property
    def transport(self) -> Transport:
        """Rate control and recovery of NICs."""
        if not self.reorders:
            return Transport(dcqcn=Dcqcn())
        return Transport(dcqcn=Dcqcn(), recovery=Recovery.SELECTIVE, reorder_packets=REORDERED_PACKETS)

    def key(self, form: CanonicalForm) -> str:
        """The key of the outcome of a form: without choices of switches it does not depend on their seed."""
        recovery = "any-order" if self.reorders else "in-order"
        return f"{form.key}-{recovery}-{self.seed}" if form.is_balanced else f"{form.key}-{recovery}"


class UnfinishedRun(Exception):
    """A run that does not end. links: of the fabric, those whose queues wait for each other; none: other reasons."""

    def __init__(self, problem: str, links: tuple[int, ...] = ()) -> None:
        super().__init__(problem)
        self.problem, self.links = problem, links


def run_packets(
    form: CanonicalForm,
    network: Network,
    estimate_s: float,
    settings: PacketSettings,
    policy: FastForwardPolicy = POLICY,
    advance: Callable[[FastForward, float], bool] = FastForward.run,
) -> PacketOutcome:
    """Run a component. network: of the whole fabric. estimate_s: about how long it takes. policy: of fast-forward.

    advance: an engine to a time.

    Raises UnfinishedRun where packets wait for each other, or too many are lost.
    """
    part = assembled(network, form.links, form.nodes, form.near, form.far)
    if (form.payload_bytes == 0).any():
        part = beside(part, _delay_cable(part))
    chosen = ChosenLinks(form, part)
    seed = settings.seed if form.is_balanced else 1
    routed = Engine(part, chosen.routing, seed=seed, framing=FRAMING, transports=(settings.transport,))
    engine = FastForward(routed, policy)
    engine.add(_flows(form, chosen.paths, part))
    limit_ns = LONGEST_TIMES * estimate_s * 1e9 + LONGEST_NS
    slice_ns = max(1e6, estimate_s * 1e9 / 5)
    hops = (chosen.paths >= 0).sum(axis=1)
    most = MOST_SENT_TIMES * int((-(-form.payload_bytes // FRAMING.payload_bytes) * hops).sum()) + 1_000_000
    while not advance(engine, engine.now_ns + slice_ns):
        if queues := engine.deadlock(STUCK_NS):
            links = tuple(dict.fromkeys(int(form.links[queue // QUEUES]) for queue in queues))
            raise UnfinishedRun("packets wait for each other in a circle (a deadlock of PFC)", links)
        if engine.now_ns > limit_ns or engine.engine.progress()[0] > most:
            raise UnfinishedRun(_unfinished(engine))
    return _outcome(engine)


def _outcome(engine: FastForward) -> PacketOutcome:
    counters = engine.counters()
    lost = counters.dropped_packets.sum() + counters.refused_packets.sum() + counters.rx_dropped_packets.sum()
    return PacketOutcome(
        ends_ns=engine.flows().finish_ns,
        marked=int(counters.marked_packets.sum()),
        pauses=int(counters.xoff_sent.sum()),
        dropped=int(lost),
    )


def _unfinished(engine: FastForward) -> str:
    flows, outcome = engine.flows(), _outcome(engine)
    left = len(engine.active())
    return (
        f"{left:,} of {len(flows.id):,} flows had not ended after {engine.now_ns / 1e9:.2f} s, "
        f"with {outcome.dropped:,} packets lost"
    )


def _delay_cable(network: Network) -> Network:
    """Two nodes with a cable, for flows that only take time."""
    least = float(min(network.delay_ns.min(), network.pause_delay_ns.min()))
    ends, rate = np.arange(2), np.full(2, DELAY_GBPS)
    return plain_network(ends, ends[::-1], np.zeros(2, bool), rate, delay_ns=least, classes=network.classes)


def _flows(form: CanonicalForm, paths: Numbers, network: Network) -> list[Flow]:
    """The flows of a form. paths: (flow, hop) links of each, or of its acknowledgements only.

    What passes before the first byte includes the way of the last packet and of its acknowledgement, as the latency of
    a step does that NCCL measures.
    """
    waits: list[list[int]] = [[] for _ in form.payload_bytes]
    for earlier, later in zip(form.earlier.tolist(), form.later.tolist(), strict=True):
        waits[later].append(earlier)
    paths = np.where(form.payload_bytes[:, None] > 0, paths, -1)
    paths[form.payload_bytes == 0, 0] = network.links - 2
    gaps = np.maximum(0, form.latency_ns - way_ns(paths, form.payload_bytes, network)).tolist()
    flows = []
    for number, (row, size) in enumerate(zip(paths.tolist(), form.payload_bytes.tolist(), strict=True)):
        links = tuple(link for link in row if link >= 0)
        flow = Flow(
            id=number,
            source=int(network.near[links[0]]),
            target=int(network.far[links[-1]]),
            payload_bytes=max(1, size),
            start_ns=0 if waits[number] else gaps[number],
            after=tuple(waits[number]),
            gap_ns=gaps[number],
            links=links,
            balanced=form.is_balanced and size > 0,
        )
        flows.append(flow)
    return flows


def way_ns(paths: Numbers, payload_bytes: Numbers, network: Network) -> Numbers:
    """(flow,) time from the last bit of a flow at its NIC to its acknowledgement, on an idle network."""
    frame = np.minimum(payload_bytes, FRAMING.payload_bytes) + FRAMING.header_bytes + FRAMING.gap_bytes
    acknowledgement = FRAMING.ack_bytes + FRAMING.gap_bytes
    used = paths >= 0
    ns_per_byte = np.where(used, 8.0 / network.rate_gbps[paths], 0.0)
    delays = np.where(used, network.delay_ns[paths] + network.delay_ns[paths ^ 1], 0.0)
    sent = frame[:, None] * ns_per_byte
    sent[:, 0] = 0.0
    total = (sent + delays + acknowledgement * np.where(used, 8.0 / network.rate_gbps[paths ^ 1], 0.0)).sum(axis=1)
    return np.asarray(np.rint(total), np.int64)
