"""The simulator's counters as the arrays that samples are read from; gauges over windows, as switches keep them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from railfab.forwarding import DropPlace, ForwardingState
from railfab.forwarding.sim_network import ALL_LOST
from railfab.sim import QUEUES, Counters
from railfab.sim.fast_forward import FastForward
from railfab.twin.attempts import Attempts, Values
from railfab.twin.unreceived import Unreceived
from railfab.units import NS_PER_S

MEAN_WINDOW_NS = NS_PER_S
"""Queue depth is the mean over the last of these."""

PEAK_WINDOWS = 5
"""Peaks are the highest of the present and the last of these many mean windows."""

Arrays = Mapping[str, Values]
"""Values by source: axis (link,) or (link * QUEUES + number,)."""

Places = np.ndarray[tuple[int], np.dtype[np.int64]]

RECEIVED = frozenset(
    {
        *("in_octets", "in_packets", "in_multicast", "in_broadcast", "in_errors", "in_discards", "corrupted"),
        *("refused", "priority_refused", "frames_sent", "headroom", "headroom_peak", "headroom_size"),
        "fec_uncorrected",
    }
)
"""Sources of the port that a link leads to; the others are of the port that it leaves."""

GAUGES = ("queue_depth", "queue_peak", "headroom", "headroom_peak")


class ControlTraffic:
    """Acknowledgements and CNPs of an engine in the queues that they use; the engine counts them by link.

    A switch has them in the queue that the ingress of the same port gives their class; acknowledgements are of the
    class of data. Axis (link * QUEUES + number,).
    """

    def __init__(self, engine: FastForward) -> None:
        self._engine = engine
        self.packets = np.zeros(engine.network.links * QUEUES)
        self.octets = np.zeros_like(self.packets)
        counters = engine.counters()
        self._seen = [counters.ack_packets, counters.cnp_packets]

    def count(self, counters: Counters) -> None:
        """Take what has been counted since the last time to the queues of the present network."""
        network, framing = self._engine.network, self._engine.framing
        links = np.arange(network.links)
        fresh = [counters.ack_packets, counters.cnp_packets]
        for number, size in enumerate((framing.ack_bytes, framing.cnp_bytes)):
            queue = np.where(
                network.is_switch[network.near], network.queue_of[links ^ 1, number], network.nic_queue[number]
            )
            packets = fresh[number] - self._seen[number]
            self.packets[links * QUEUES + queue] += packets
            self.octets[links * QUEUES + queue] += packets * size
        self._seen = fresh


class Storms:
    """Storms of the watchdogs by the priority that stopped the queue. Axis (link * QUEUES + priority,)."""

    def __init__(self, engine: FastForward) -> None:
        self._engine = engine
        self.count = np.zeros(engine.network.links * QUEUES)
        self._seen = engine.counters().storms

    def add(self, counters: Counters) -> None:
        """Count what is new under the priorities of the present network."""
        for link, queue in np.argwhere(counters.storms != self._seen):
            stopping = np.flatnonzero(self._engine.network.pause_queue[link] == queue)
            fresh = counters.storms[link, queue] - self._seen[link, queue]
            self.count[link * QUEUES + stopping[:1]] += fresh
        self._seen = counters.storms


class BitErrors:
    """Packets that bit errors have destroyed on links that are up. Axis (link,)."""

    def __init__(self, engine: FastForward) -> None:
        self._engine = engine
        self.count = np.zeros(engine.network.links)
        self._seen = engine.counters().lost_packets

    def add(self, counters: Counters) -> None:
        """Count what is new; what a link has lost while it was down is no error."""
        network, loss = self._engine.network, self._engine.network.loss_per_byte
        self.count += np.where((loss > 0) & (loss < ALL_LOST) & network.up, counters.lost_packets - self._seen, 0)
        self._seen = counters.lost_packets


class CounterReadings:
    """Counters of one engine, and gauges over windows of it. before: arrays of the engine before, to count on from.

    attempts: what its flows without a path send.
    """

    def __init__(self, engine: FastForward, attempts: Attempts, before: Arrays | None = None) -> None:
        self._engine, self._attempts, self._before = engine, attempts, before
        self._control, self._storms, self._errors = ControlTraffic(engine), Storms(engine), BitErrors(engine)
        self._unreceived = Unreceived(engine.network.links)
        counters = engine.counters()
        self._waiting = counters.waiting_byte_ns
        self._depth = np.zeros_like(self._waiting)
        self._old_peak = np.zeros_like(counters.peak_bytes)
        self._old_headroom = np.zeros_like(counters.headroom_peak_bytes)
        self._windows = 0
        self._latest: tuple[Counters, Arrays] | None = None

    def next_window_ns(self, now_ns: int) -> int:
        """End of the present window [simulated ns]."""
        return (now_ns // MEAN_WINDOW_NS + 1) * MEAN_WINDOW_NS

    def pass_time(self, now_ns: int) -> None:
        """Time has passed; close the window if it ends here."""
        if now_ns % MEAN_WINDOW_NS:
            return
        counters = self._engine.counters()
        self._depth = (counters.waiting_byte_ns - self._waiting) / MEAN_WINDOW_NS
        self._waiting = counters.waiting_byte_ns
        self._windows += 1
        if self._windows % PEAK_WINDOWS == 0:
            self._old_peak, self._old_headroom = counters.peak_bytes, counters.headroom_peak_bytes
            self._engine.reset_peaks()

    def before_reroute(self) -> None:
        """The network of the engine is about to change."""
        self._sent(self._engine.counters())

    def begin_at_zero(self, links: Sequence[int]) -> None:
        """The ports that these links leave count from 0 on: their switch has booted."""
        now = self.arrays()
        before = {
            name: (np.zeros_like(held) if self._before is None else self._before[name].copy())
            for name, held in now.items()
        }
        for name in now.keys() - set(GAUGES):
            places = places_of(name, links, len(now[name]) // self._engine.network.links)
            before[name][places] -= now[name][places]
        self._before, self._latest = before, None

    def _count(self, counters: Counters) -> None:
        self._control.count(counters)
        self._storms.add(counters)
        self._errors.add(counters)
        self._attempts.count()

    def arrays(self) -> Arrays:
        """The counters of the engine now, in arrays that do not change any more."""
        counters = self._engine.counters()
        if self._latest is None or self._latest[0] is not counters:
            self._latest = counters, self._arrays(counters)
        return self._latest[1]

    def _arrays(self, counters: Counters) -> Arrays:
        found = self._sent(counters)
        found["storms"], found["corrupted"] = self._storms.count.copy(), self._errors.count.copy()
        found["queue_depth"] = np.rint(self._depth.ravel())
        found["queue_peak"] = np.maximum(counters.peak_bytes, self._old_peak).ravel().astype(float)
        found["headroom_peak"] = np.maximum(counters.headroom_peak_bytes, self._old_headroom).ravel().astype(float)
        found |= self._unreceived.without(found)
        found |= self._drops(found)
        if self._before is None:
            return found
        return {name: held if name in GAUGES else held + self._before[name] for name, held in found.items()}

    def _sent(self, counters: Counters) -> dict[str, Values]:
        """What ports have sent and been sent by now, whether it arrived or not."""
        self._count(counters)
        found = {**self._queues(counters), **_pauses(counters)}
        found |= {name: _by_link(found[f"queue_{name}"]) for name in ("octets", "packets", "dropped")}
        self._unreceived.add(self._engine.network, found)
        return found

    def _drops(self, found: Arrays) -> dict[str, Values]:
        """Errors and discards by port, axis (link,); no_route and not_forwarded by the link that leaves the port.

        out_errors, not_forwarded: srl_nokia-platform-lc, packet-processing-aggregate, which says that packets beyond an
        IP MTU are "subinterface-level out-error", those beyond a port MTU "port-level out-error", and adds to them what
        has no route and what arrives with errors or too long.
        """
        blocked = self._attempts.blocked
        in_errors = found["corrupted"] + blocked[DropPlace.INGRESS_ERROR]
        unforwarded = blocked[DropPlace.INGRESS] + blocked[DropPlace.NO_ROUTE]
        return {
            "in_errors": in_errors,
            "in_discards": found["refused"] + unforwarded,
            "out_discards": found["dropped"] + blocked[DropPlace.EGRESS],
            "out_errors": blocked[DropPlace.EGRESS_ERROR],
            "no_route": _far(blocked[DropPlace.NO_ROUTE]),
            "not_forwarded": _far(in_errors + unforwarded)
            + blocked[DropPlace.EGRESS]
            + blocked[DropPlace.EGRESS_ERROR],
        }

    def _queues(self, counters: Counters) -> dict[str, Values]:
        """Axis (link * QUEUES + queue,)."""
        return {
            "queue_octets": counters.sent_bytes.ravel() + self._control.octets + self._attempts.octets,
            "queue_packets": counters.sent_packets.ravel() + self._control.packets + self._attempts.packets,
            "queue_dropped": (counters.dropped_packets + counters.storm_packets).ravel().astype(float),
            "queue_dropped_octets": (counters.dropped_bytes + counters.storm_bytes).ravel().astype(float),
            "queue_marked": counters.marked_packets.ravel().astype(float),
            "queue_marked_octets": counters.marked_bytes.ravel().astype(float),
        }


def _pauses(counters: Counters) -> dict[str, Values]:
    """Axis (link * QUEUES + priority,), and (link,) of `refused`. A frame is sent at the far end of a link, and
    received at its near end; a refresh counts at both, so that only what is on the wire differs. What is dropped of
    priority 0 is of lossy classes."""
    lossless = counters.refused_packets.astype(float)
    lossless[:, 0] = 0.0
    return {
        "frames_sent": (counters.xoff_sent + counters.xon_sent + counters.refreshed).ravel().astype(float),
        "frames_received": (counters.xoff_received + counters.xon_received + counters.refreshed).ravel().astype(float),
        "xoffs": counters.xoff_received.ravel().astype(float),
        "paused": counters.paused_ns.ravel() / NS_PER_S,
        "headroom": counters.headroom_bytes.ravel().astype(float),
        "priority_refused": lossless.ravel(),
        "refused": _by_link(counters.refused_packets.ravel().astype(float)),
    }


def port_arrays(state: ForwardingState, before: ForwardingState | None = None, held: Arrays | None = None) -> Arrays:
    """State of ports that changes with convergence only. held: the arrays of the state `before`, to begin from."""
    links = len(state.links.near)
    arrays = {name: np.zeros(links) if held is None else held[name].copy() for name in ("oper_up", "admin_up", "speed")}
    for node, states in state.ports.items():
        if before is not None and states is before.ports[node]:
            continue
        for interface, port in states.items():
            link = state.links.egress[node, interface]
            arrays["oper_up"][link], arrays["admin_up"][link] = port.oper_up, port.admin_up
            arrays["speed"][link] = port.rate_gbps * NS_PER_S / 8
    return {**arrays, "headroom_size": np.rint(state.rows.ingress_field("headroom_bytes")).ravel()}


def _far(values: Values) -> Values:
    """(link,) of each link those of the link in the other direction."""
    return np.asarray(values.reshape(-1, 2)[:, ::-1].ravel())


def _by_link(values: Values) -> Values:
    """(link * QUEUES + number,) summed to (link,)."""
    return np.asarray(values.reshape(-1, QUEUES).sum(axis=1))


def begun_at_zero(counters: Arrays, links: Sequence[int], number_of_links: int) -> Arrays:
    """The same counters and gauges, but 0 for the ports that these links leave."""
    found = {name: held.copy() for name, held in counters.items()}
    for name, held in found.items():
        held[places_of(name, links, len(held) // number_of_links)] = 0.0
    return found


def places_of(source: str, links: Sequence[int], width: int) -> Places:
    """The places of the ports that these links leave, in an array with `width` values for each link."""
    ends = np.array(links, np.int64) ^ (source in RECEIVED)
    return np.asarray((ends[:, None] * width + np.arange(width)).ravel())
