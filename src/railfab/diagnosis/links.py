"""Causes in links: cut cables, dark fibres, bad optics, swapped plugs, and loss in one direction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Generator, Iterator, Mapping

from railfab.deploy.cabling import CablingSource, CablingState, cabling_of
from railfab.diagnosis.model import CandidateCause, Evidence, EvidenceKind, FaultPlace, Symptom, SymptomKind
from railfab.diagnosis.observations import Observations, PortEnd, PortName

RECEIVED, SENT = "fabric_interface_receive_packets_total", "fabric_interface_transmit_packets_total"
RECEIVE_POWER = "fabric_optic_receive_power_dbm"
LIGHT_DBM = -15.0
"""Received light below which no optic of these links works; receivers without any report -30 dBm or less."""
SENT_PACKETS = 20.0
"""Packets that an end must have sent before a peer that has received none counts as one that receives nothing."""
MOST_RECEIVED = 0.02
"""Received share of what the peer sent up to which a port counts as one that receives nothing."""
MOST_WITHOUT_SESSION = 0.9
"""The same where the sessions of both ends are down: the window may have begun before the loss."""


def link_causes(seen: Observations, symptoms: Collection[Symptom], dead: Collection[str]) -> Iterator[CandidateCause]:
    """The causes of links and hosts. dead: switches that are down or hang, whose links and sessions are as well."""
    poor = _ports_with(symptoms, SymptomKind.BIT_ERRORS)
    flapping = _ports_with(symptoms, SymptomKind.FLAP)
    apart = _ports_with(symptoms, SymptomKind.SESSION_DOWN)
    evidence = {
        (symptom.place.switch, symptom.place.interface): symptom.text
        for symptom in symptoms
        if symptom.kind in (SymptomKind.BIT_ERRORS, SymptomKind.FLAP)
    }
    misplaced = yield from _cabling(seen)
    down: list[PortEnd] = []
    for ends in _links(seen):
        names = {end.name for end in ends}
        if any(end.port.node in dead or end.peer.node in dead for end in ends) or names & misplaced:
            continue
        if bad := names & poor:
            places = tuple(FaultPlace(*port) for port in sorted(bad))
            yield _cause("optic", places, [(port, evidence[port]) for port in sorted(bad)], EvidenceKind.METRIC)
        elif bad := names & flapping:
            place = FaultPlace(*min(bad))
            yield _cause("link-flap", (place,), [(port, evidence[port]) for port in sorted(bad)], EvidenceKind.METRIC)
        elif any(seen.is_up(end.name) is False for end in ends):
            if all(seen.is_enabled(end.name) is not False for end in ends):
                down.append(ends[0])
        elif all(seen.is_up(end.name) for end in ends):
            yield from _losing(seen, ends, without_session=names <= apart)
    yield from _down(seen, down)


def _ports_with(symptoms: Collection[Symptom], kind: SymptomKind) -> set[PortName]:
    return {(symptom.place.switch, symptom.place.interface) for symptom in symptoms if symptom.kind is kind}


def _links(seen: Observations) -> Iterator[tuple[PortEnd, ...]]:
    """The ends of each link that are on switches."""
    yield from seen.switch_links()
    yield from ((end,) for end in seen.host_ends())


def _cabling(seen: Observations) -> Generator[CandidateCause, None, set[PortName]]:
    """Cables that are not as planned; returns their ports."""
    observed = {name: state for name, (_, state) in seen.inspected.items()}
    cabling = cabling_of(seen.fabric.topology, tuple(observed), observed)
    swapped: set[PortName] = set()
    for pair in cabling.swaps:
        ports = sorted({port for cable in pair for port in cable if port in seen.ends})
        swapped.update(ports)
        text = [(port, "LLDP shows the far end of the other cable") for port in ports]
        yield _cause("cables-swapped", tuple(FaultPlace(*port) for port in ports), text, EvidenceKind.LLDP)
    wrong = [
        link
        for link in cabling.of(CablingState.WRONG)
        if (link.switch, link.interface) not in swapped and link.source is not None
    ]
    known = {node.name for node in seen.fabric.topology.nodes}
    for link in wrong:
        if link.source is not CablingSource.ARP and (link.seen or "").split(" ")[0] not in known:
            continue  # a node of another name: its configuration says so, or nothing does
        port = link.switch, link.interface
        swapped.add(port)
        text = [(port, f"sees {link.seen}, the intent says {link.peer} {link.peer_interface}")]
        yield _cause("miscabled", (FaultPlace(*port),), text, EvidenceKind.LLDP)
    return swapped


def _losing(seen: Observations, ends: tuple[PortEnd, ...], *, without_session: bool) -> Iterator[CandidateCause]:
    """A port that receives little or nothing of what the other end sends. without_session: both ends have none."""
    if len(ends) < 2:
        return
    window = seen.window if without_session else seen.window.second_half
    received, sent = (window.port_growth((metric,)) for metric in (RECEIVED, SENT))
    most = MOST_WITHOUT_SESSION if without_session else MOST_RECEIVED
    for near, far in (ends, ends[::-1]):
        packets, arrived = sent.get(far.name, 0.0), received.get(near.name)
        if arrived is not None and packets > SENT_PACKETS and arrived <= most * packets:
            text = f"received {arrived:,.0f} packets while {far.port.node} {far.port.name} sent {packets:,.0f}"
            yield _cause("one-way-loss", (FaultPlace(*near.name),), [(near.name, text)], EvidenceKind.METRIC)


def _down(seen: Observations, down: list[PortEnd]) -> Iterator[CandidateCause]:
    """Links that are down although both ends are enabled: of whole hosts, dark ones, and the others by their switch."""
    links_of_host: dict[str, int] = defaultdict(int)
    for end in seen.host_ends():
        links_of_host[end.peer.node] += 1
    by_host: dict[str, list[PortEnd]] = defaultdict(list)
    cut: list[PortEnd] = []
    for end in down:
        (by_host[end.peer.node] if end.is_host else cut).append(end)
    for host, ends in by_host.items():
        if len(ends) == links_of_host[host] > 1:
            yield _cause("host-down", (FaultPlace(host=host),), [(end.name, "is down") for end in ends])
        else:
            cut += ends
    power = seen.window.port_values(RECEIVE_POWER)
    for end in list(cut):
        if dark := _dark(seen, end, power):
            cut.remove(end)
            text = [(dark, "receives no light, the far end does")]
            yield _cause("dark-fibre", (FaultPlace(*dark),), text, EvidenceKind.METRIC)
    for ends in _by_switch(cut):
        places = tuple(FaultPlace(*end.name) for end in ends)
        yield _cause("link-cut", places, [(end.name, "is enabled and down") for end in ends])


def _dark(seen: Observations, end: PortEnd, power: Mapping[PortName, float]) -> PortName | None:
    """The port of a link that receives no light while the other end does."""
    far = seen.ends.get((end.peer.node, end.peer.name))
    if far is None:
        return None
    levels = {port.name: power.get(port.name) for port in (end, far)}
    lit = {name: level > LIGHT_DBM for name, level in levels.items() if level is not None}
    if len(lit) == 2 and sum(lit.values()) == 1:
        return next(name for name, is_lit in lit.items() if not is_lit)
    return None


def _by_switch(cut: list[PortEnd]) -> Iterator[list[PortEnd]]:
    """Cut links in groups of one switch and one kind of peer, the largest first: several at once have one reason."""
    left = list(cut)
    while left:
        groups: dict[tuple[str, bool], list[PortEnd]] = defaultdict(list)
        for end in left:
            groups[end.port.node, end.is_host].append(end)
            if not end.is_host:
                groups[end.peer.node, False].append(end)
        group = max(groups.values(), key=len)
        yield group
        left = [end for end in left if end not in group]


def _cause(
    code: str,
    places: tuple[FaultPlace, ...],
    texts: list[tuple[PortName, str]],
    kind: EvidenceKind = EvidenceKind.STATE,
) -> CandidateCause:
    source = {EvidenceKind.METRIC: "telemetry", EvidenceKind.LLDP: "LLDP"}.get(kind, "state of the ports")
    evidence = tuple(Evidence(kind=kind, place=FaultPlace(*port), text=text, source=source) for port, text in texts)
    return CandidateCause(code=code, places=places, evidence=evidence)
