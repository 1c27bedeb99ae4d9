"""Why PFC and ECN did, or did not, act at a port of a saved run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from railfab.errors import RailfabError
from railfab.sim.replay.saved import Port, SavedFlow, SavedPause, SavedPort, SavedRun, port_name
from railfab.sim.replay.storm import Branch, storms

MOST_LISTED = 10


@dataclass(frozen=True, slots=True)
class Ecn:
    """to_kmin_bytes: how far the longest queue stayed below kmin; negative above it. None: no threshold."""

    acted: bool
    reason: str
    marked_packets: int
    sent_packets: int
    peak_bytes: int
    kmin_bytes: float | None
    kmax_bytes: float | None
    to_kmin_bytes: float | None
    to_kmin_percent: float | None


@dataclass(frozen=True, slots=True)
class CountedPort:
    """A port, and how many XOFFs it got or caused."""

    port: str
    xoffs: int


@dataclass(frozen=True, slots=True)
class Pfc:
    """XOFF for what comes in by a port.

    threshold_bytes: at the first XOFF, else at the moment nearest to it. to_xoff_bytes: least difference to it, not
    above 0 if XOFF was sent. caused_by: ports of the switch whose queues held most of these bytes when XOFF was sent.
    """

    port: str
    acted: bool
    reason: str
    xoff_sent: int
    first_xoff_ns: float | None
    held_peak_bytes: int
    threshold_bytes: float | None
    to_xoff_bytes: float | None
    to_xoff_percent: float | None
    headroom_peak_bytes: int
    headroom_limit_bytes: float
    refused_packets: int
    caused_by: tuple[CountedPort, ...]


@dataclass(frozen=True, slots=True)
class Sender:
    """A flow through a queue, and its octets."""

    flow: int
    src: int
    dst: int
    sent_bytes: int
    entered_by: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """pfc: for what comes in by the port. feeders: the same of the ports by which the flows of its queue come in, the
    nearest to XOFF first. paused_by: XOFFs by the peer, and the queues of the peer that caused them. pauses: ports that
    this port's queue paused. trees: storms with this port in them, or with the peer that it paused.

    A port that is a text is NODE:PORT.
    """

    port: SavedPort
    ecn: Ecn
    pfc: Pfc
    feeders: tuple[Pfc, ...]
    paused_by: tuple[CountedPort, ...]
    paused: str
    pauses: tuple[CountedPort, ...]
    senders: tuple[Sender, ...]
    trees: tuple[Branch, ...]
    notes: tuple[str, ...]


def explain(run: SavedRun, name: str) -> Explanation:
    """Explain a port, NODE:PORT. Raises RailfabError for a port that is not there."""
    port = _port(run, name)
    at = (port.node, port.port)
    senders = _senders(run, at)
    concerned = {at, (port.peer, port.peer_port)} if port.xoff_sent else {at}
    fed_by = {sender.entered_by for sender in senders} - {port.name} if port.is_switch else set()
    feeders = [pfc_of(run, one) for one in run.ports if one.name in fed_by]
    return Explanation(
        port=port,
        ecn=ecn_of(run, port),
        pfc=pfc_of(run, port),
        feeders=tuple(sorted(feeders, key=_nearness)),
        paused_by=_paused_by(run, port),
        paused=_paused(run, port),
        pauses=_pauses(run, at),
        senders=senders,
        trees=tuple(tree for tree in storms(run) if concerned & set(tree.ports())),
        notes=_notes(run),
    )


def _port(run: SavedRun, name: str) -> SavedPort:
    node, colon, number = name.partition(":")
    if not (colon and node.isdecimal() and number.isdecimal()):
        raise RailfabError(name, "is not the name of a port", "Name it as NODE:PORT, for example 3:1")
    found = [port for port in run.ports if (port.node, port.port) == (int(node), int(number))]
    if found:
        return found[0]
    of_node = [port.name for port in run.ports if port.node == int(node)]
    if of_node:
        more = f" and {len(of_node) - MOST_LISTED} more" if len(of_node) > MOST_LISTED else ""
        remedy = f"Its ports: {', '.join(of_node[:MOST_LISTED])}{more}"
        raise RailfabError(name, f"node {node} has no port {number}", remedy)
    raise RailfabError(name, f"there is no node {node} with links", f"See the ports of {run.name} in links.csv")


def _percent(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole else 0.0


def ecn_of(run: SavedRun, port: SavedPort) -> Ecn:
    """The longest queue against kmin."""
    margin = None if port.kmin_bytes is None else port.kmin_bytes - port.peak_bytes
    return Ecn(
        acted=port.marked_packets > 0,
        reason=_ecn_reason(run, port),
        marked_packets=port.marked_packets,
        sent_packets=port.sent_packets,
        peak_bytes=port.peak_bytes,
        kmin_bytes=port.kmin_bytes,
        kmax_bytes=port.kmax_bytes,
        to_kmin_bytes=margin,
        to_kmin_percent=None if margin is None or port.kmin_bytes is None else _percent(margin, port.kmin_bytes),
    )


def _ecn_reason(run: SavedRun, port: SavedPort) -> str:
    if not port.is_switch:
        return "a host marks no packets"
    if not run.ecn or port.kmin_bytes is None:
        return "ECN is off in this scenario (ecn 0)"
    peak, kmin = f"the queue was at most {port.peak_bytes:,} bytes long", port.kmin_bytes
    if port.marked_packets:
        share = f"{port.marked_packets:,} of {port.sent_packets:,} packets marked"
        return f"{share}: {peak}, {_percent(port.peak_bytes - kmin, kmin):.0f} % above kmin ({kmin:,.0f})"
    if port.peak_bytes > kmin:
        return f"no packet marked by chance: {peak}, above kmin ({kmin:,.0f}), below which no packet is marked"
    margin = kmin - port.peak_bytes
    return f"no packet marked: {peak}, {margin:,.0f} bytes ({_percent(margin, kmin):.0f} %) below kmin ({kmin:,.0f})"


def pfc_of(run: SavedRun, port: SavedPort) -> Pfc:
    """What comes in by a port against the threshold of XOFF."""
    first = next((pause for pause in run.pauses if _is_xoff_of(pause, port)), None)
    margin, threshold = port.margin_bytes, None
    if margin is not None:
        threshold = port.held_peak_bytes - port.headroom_peak_bytes + margin
    if first is not None:
        threshold = first.threshold_bytes
    return Pfc(
        port=port.name,
        acted=port.xoff_sent > 0,
        reason=_pfc_reason(run, port, first, margin),
        xoff_sent=port.xoff_sent,
        first_xoff_ns=None if first is None else first.sent_ns,
        held_peak_bytes=port.held_peak_bytes,
        threshold_bytes=threshold,
        to_xoff_bytes=margin,
        to_xoff_percent=None if margin is None or not threshold else _percent(margin, threshold),
        headroom_peak_bytes=port.headroom_peak_bytes,
        headroom_limit_bytes=port.headroom_limit_bytes,
        refused_packets=port.refused_packets,
        caused_by=_counted(
            (pause.node, pause.cause_port)
            for pause in run.pauses
            if _is_xoff_of(pause, port) and pause.cause_port is not None
        ),
    )


def _is_xoff_of(pause: SavedPause, port: SavedPort) -> bool:
    return pause.kind == "xoff" and (pause.node, pause.port) == (port.node, port.port)


def _pfc_reason(run: SavedRun, port: SavedPort, first: SavedPause | None, margin: float | None) -> str:
    if not port.is_switch:
        return "a host sends no XOFF"
    dropped = f"; {port.refused_packets:,} packets dropped for want of buffer" if port.refused_packets else ""
    if not run.pfc:
        return f"PFC is off in this scenario (pfc 0){dropped}"
    if port.xoff_sent:
        to = f"{port.xoff_sent:,} XOFF to {port.peer_name}"
        if first is None:
            return f"{to}{dropped}"
        held = f"{first.held_bytes + first.headroom_bytes:,} bytes held, threshold {first.threshold_bytes:,.0f}"
        return f"{to}, the first at {first.sent_ns / 1e6:.3f} ms: {held}{dropped}"
    if margin is None:
        return f"no XOFF: nothing that came in by it had to wait{dropped}"
    share = _percent(margin, margin + port.held_peak_bytes)
    near = f"at most {port.held_peak_bytes:,} bytes held, {margin:,.0f} bytes ({share:.0f} %) below the threshold"
    return f"no XOFF: {near}{dropped}"


def _nearness(pfc: Pfc) -> tuple[float, float]:
    """Ports that sent XOFF first, then by the distance to XOFF."""
    return (-pfc.xoff_sent, float("inf") if pfc.to_xoff_bytes is None else pfc.to_xoff_bytes)


def _senders(run: SavedRun, at: Port) -> tuple[Sender, ...]:
    """Flows through the queue of a port, those with the most octets first."""
    into = {(port.peer, port.peer_port): (port.node, port.port) for port in run.ports}
    found = [_sender(flow, at, into) for flow in run.flows if at in flow.path and flow.sent_bytes]
    return tuple(sorted(found, key=lambda sender: (-sender.sent_bytes, sender.flow)))


def _sender(flow: SavedFlow, at: Port, into: dict[Port, Port]) -> Sender:
    place = flow.path.index(at)
    entered = into[flow.path[place - 1]] if place else at
    return Sender(flow.flow, flow.src, flow.dst, flow.sent_bytes, port_name(entered))


def _counted(ports: Iterable[Port]) -> tuple[CountedPort, ...]:
    counts: dict[Port, int] = defaultdict(int)
    for port in ports:
        counts[port] += 1
    most_first = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return tuple(CountedPort(port_name(port), count) for port, count in most_first)


def _paused_by(run: SavedRun, port: SavedPort) -> tuple[CountedPort, ...]:
    at = (port.node, port.port)
    return _counted(
        (pause.node, pause.cause_port)
        for pause in run.pauses
        if pause.kind == "xoff" and (pause.peer, pause.peer_port) == at and pause.cause_port is not None
    )


def _pauses(run: SavedRun, at: Port) -> tuple[CountedPort, ...]:
    return _counted(
        (pause.peer, pause.peer_port)
        for pause in run.pauses
        if pause.kind == "xoff" and pause.cause_port is not None and (pause.node, pause.cause_port) == at
    )


def _paused(run: SavedRun, port: SavedPort) -> str:
    if not port.xoff_received:
        return "never paused"
    share = _percent(port.paused_ns, run.end_ns)
    time = f"{port.paused_ns / 1e3:,.1f} us ({share:.1f} % of the run)"
    return f"paused by {port.peer_name} with {port.xoff_received:,} XOFF, {time}"


def _notes(run: SavedRun) -> tuple[str, ...]:
    found = []
    if run.stuck:
        found.append(run.stuck)
    if run.pauses_missed:
        found.append(f"{run.pauses_missed:,} pause frames are not in the saved run, because they were too many")
    return tuple(found)
