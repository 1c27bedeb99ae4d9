"""Verification of switches against the intent: configuration, link ends, interfaces, cabling, BGP and BFD."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from nornir.core import Nornir

from railfab.deploy.cabling import Cabling, CablingSource, CablingState, cabling_of
from railfab.deploy.live_qos import qos_findings
from railfab.deploy.run import OnDone, inspect_all
from railfab.device import (
    BgpNeighbor,
    DeviceModel,
    Lag,
    Observed,
    ObservedBgpSession,
    ObservedInterface,
    interfaces_of_peers,
    svi_name,
)
from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.fabric.audit import configuration_findings, most_harmful_first
from railfab.fabric.nic_agreement import NicAgreement, NicCoverage, NicStates
from railfab.findings import DifferenceCode, Finding, Severity, error, warning, without_accepted
from railfab.platforms import Pending, Running, platform
from railfab.topology import CabledPort, Topology

POLL_S = 1.0
DEPLOY = "Deploy the intent"


@dataclass(frozen=True, slots=True)
class Verification:
    """Every difference between the switches that were read and the intent, in the order of `most_harmful_first`.

    checked: their names, sorted. unread: the error of each other switch, by name. cabling: of all of them. nics: those
    compared with their switch ports; None where none were to be.
    """

    findings: tuple[Finding, ...]
    checked: tuple[str, ...]
    unread: Mapping[str, RailfabError]
    cabling: Cabling
    nics: NicCoverage | None = None


def verify_all(
    nornir: Nornir,
    fabric: Design,
    *,
    wait_s: float,
    accept: Collection[str] = (),
    nics: NicStates | None = None,
    on_done: OnDone = lambda _name: None,
) -> Verification:
    """Compare the switches with the intent, and with the NICs at their ports.

    Repeated until nothing is found but notes and findings with a code of `accept`, or wait_s has passed, because
    sessions need seconds to come up after a change; a switch that could not be read is not tried again. Raises
    RailfabError when none can be read.
    """
    deadline = time.monotonic() + wait_s
    owned = {name for name, host in nornir.inventory.hosts.items() if host["endpoint"].owns_system}
    unread: dict[str, RailfabError] = {}
    while True:
        read = inspect_all(nornir.filter(filter_func=lambda host: host.name not in unread), on_done)
        unread.update(read.unread)
        states = {name: observed for name, (_, observed) in read.answers.items()}
        cabling = cabling_of(fabric.topology, nornir.inventory.hosts.keys(), states)
        findings = most_harmful_first((*_findings(fabric, read.answers, owned), *_wrong_hosts(cabling)))
        left, _ = without_accepted(findings, accept)
        if all(finding.severity is Severity.NOTE for finding in left) or time.monotonic() >= deadline:
            verified = Verification(findings, tuple(sorted(read.answers)), unread, cabling)
            return verified if nics is None else _with_nics(verified, fabric, nics, _models(fabric, read.answers))
        time.sleep(POLL_S)


def _with_nics(
    verified: Verification, fabric: Design, nics: NicStates, models: Mapping[str, DeviceModel]
) -> Verification:
    """The verification with the NICs, whose documents do not change however often switches are read."""
    agreement = NicAgreement(fabric, nics, models)
    findings = most_harmful_first((*verified.findings, *agreement.findings()))
    return replace(verified, findings=findings, nics=agreement.coverage)


def _findings(
    fabric: Design, inspected: Mapping[str, tuple[Running, Observed]], owned: Collection[str]
) -> Iterator[Finding]:
    """owned: switches whose operating system a deploy configures too."""
    for name, (running, _) in inspected.items():
        if running.pending is not None:
            yield pending_finding(name, running.pending)
    drained = [name for name, (running, _) in inspected.items() if running.drained]
    texts = {name: running.text for name, (running, _) in inspected.items()}
    yield from configuration_findings(fabric, texts, drained)
    for name, (running, observed) in inspected.items():
        yield from live_findings(fabric, name, observed, owns_system=name in owned)
        yield from qos_findings(name, fabric.models[name], observed, partial(_model, fabric, name, running.text))


def _models(fabric: Design, inspected: Mapping[str, tuple[Running, Observed]]) -> dict[str, DeviceModel]:
    """The models of running configurations, by the names of switches that have one."""
    models = ((name, _model(fabric, name, running.text)) for name, (running, _) in inspected.items())
    return {name: model for name, model in models if model is not None}


def _model(fabric: Design, name: str, text: str) -> DeviceModel | None:
    """The model of a running configuration; None where a finding about the configuration says why there is none."""
    if text == fabric.texts[name]:
        return fabric.models[name]
    try:
        return platform(fabric.models[name].platform).parse(text)
    except RailfabError:
        return None


def pending_finding(name: str, pending: Pending) -> Finding:
    """A change on a switch that is neither confirmed nor reverted."""
    change = pending.change
    if change is None:
        by, remedy = pending.description, "Confirm or revert it on the switch"
    else:
        by = f"deploy {change.deploy} of {change.user}@{change.host}"
        remedy = "Wait until it ends, or run railfab deploy where it was begun"
    problem = f"is neither confirmed nor reverted ({by})"
    return error(DifferenceCode.CHANGE_PENDING, f"{name}: a change", problem, remedy)


def live_findings(fabric: Design, name: str, observed: Observed, *, owns_system: bool = False) -> Iterator[Finding]:
    """Findings about the interfaces and sessions of one switch.

    owns_system: whether a deploy sets what the operating system has; the remedy names how to set it elsewhere.
    """
    external = {} if owns_system else platform(fabric.models[name].platform).capabilities.external
    if observed.hashes_source_port is False:
        yield _without_port(fabric, name)
    yield from _missing_vnis(fabric, name, observed)
    interfaces = {interface.name: interface for interface in observed.interfaces}
    for port, peer, _ in fabric.topology.ports_of(name):
        if port.cage:
            where = f"{name} {port.name}"
            found = interfaces.get(port.name)
            yield from _interface(where, found, peer, fabric.intent.profile.mtu, external)
            if observed.lldp and peer.node in fabric.models and found is not None and found.oper_up:
                yield from _silent(where, found, peer)
    yield from _sessions(fabric, name, observed)


def _missing_vnis(fabric: Design, name: str, observed: Observed) -> Iterator[Finding]:
    """VLANs of an overlay whose VNI a switch does not have, so that its hosts do not reach those of other switches.

    No deploy makes the devices of an operating system.
    """
    remedy = platform(fabric.models[name].platform).capabilities.external.get("vxlan", DEPLOY)
    for vlan in fabric.planned_models[name].vlans:
        if vlan.vni is not None and observed.vnis is not None and vlan.vni not in observed.vnis:
            problem = f"has no VNI {vlan.vni}, its hosts do not reach those of other switches"
            yield error(DifferenceCode.VNI_MISSING, f"{name} {svi_name(vlan.vlan_id)}", problem, remedy)


def _without_port(fabric: Design, name: str) -> Finding:
    """All queue pairs of two NICs have the same addresses, protocol and destination port (4791)."""
    problem = "has no source port, so that all RoCE between two NICs takes one path"
    remedy = platform(fabric.models[name].platform).capabilities.external.get("hash_source_port", DEPLOY)
    return error(DifferenceCode.HASH_WITHOUT_PORT, f"{name} ECMP hash", problem, remedy)


def _sessions(fabric: Design, name: str, observed: Observed) -> Iterator[Finding]:
    """Findings about the BGP sessions of one switch; each is named by its interface, or the address of its peer."""
    model = fabric.models[name]
    sessions = {(session.network_instance, session.peer): session for session in observed.sessions}
    interfaces = interfaces_of_peers(model)
    peers = session_peers(fabric.topology, model, interfaces)
    for neighbor in model.neighbors:
        where = f"{name} {interfaces.get(neighbor.key, neighbor.key)}"
        found = sessions.get((neighbor.network_instance, neighbor.peer))
        yield from _session(where, found, peers.get(neighbor.key, str(neighbor.peer)), neighbor)


def session_peers(topology: Topology, model: DeviceModel, interfaces: Mapping[str, str]) -> Mapping[str, str]:
    """The switch with which each neighbour has its session, by the key of the neighbour, where the topology has it."""
    nodes = {port.name: peer.node for port, peer, _ in topology.ports_of(model.name)}
    lags = (interface for interface in model.interfaces if isinstance(interface, Lag) and interface.members)
    nodes |= {lag.name: nodes[lag.members[0]] for lag in lags}
    peers: dict[str, str] = {}
    for neighbor in model.neighbors:
        if (name := nodes.get(interfaces.get(neighbor.key, ""))) is not None:
            peers[neighbor.key] = name
        elif not isinstance(neighbor.peer, str) and (node := topology.by_loopback.get(neighbor.peer)) is not None:
            peers[neighbor.key] = node.name
    return peers


def _interface(
    where: str, found: ObservedInterface | None, peer: CabledPort, mtu_bytes: int, external: Mapping[str, str]
) -> Iterator[Finding]:
    """external: how to set what a deploy does not, see Capabilities."""
    if found is None:
        yield error(
            DifferenceCode.INTERFACE_MISSING,
            where,
            "does not exist on the switch",
            "Deploy the intent, or check its breakout",
        )
        return
    if found.enabled is False:
        remedy = external.get("enabled", DEPLOY).format(interface=found.name, value="up")
        yield error(
            DifferenceCode.INTERFACE_DISABLED, where, f"is shut down, its link to {peer.node} does not work", remedy
        )
    elif not found.oper_up:
        yield error(
            DifferenceCode.INTERFACE_DOWN,
            where,
            f"is down, its link to {peer.node} does not work",
            "Check the cable and the far end",
        )
    if found.mtu_bytes is not None and found.mtu_bytes != mtu_bytes:
        remedy = external.get("mtu", DEPLOY).format(interface=found.name, value=mtu_bytes)
        problem = f"has MTU {found.mtu_bytes}, the intent says {mtu_bytes}"
        yield error(DifferenceCode.MTU_MISMATCH, where, problem, remedy)
    seen = (found.neighbor_device or peer.node, found.neighbor_interface or peer.name)
    if seen != (peer.node, peer.name):
        problem = f"is cabled to {' '.join(seen)}, the intent says {peer.node} {peer.name}"
        yield error(DifferenceCode.MISCABLED, where, problem, "Correct the cabling")


def _wrong_hosts(cabling: Cabling) -> Iterator[Finding]:
    """Cables of hosts without LLDP, by the addresses that answer on them."""
    for link in cabling.of(CablingState.WRONG):
        if link.source is CablingSource.ARP:
            problem = f"resolves {link.seen}, the intent says {link.peer} {link.peer_interface}"
            where, remedy = f"{link.switch} {link.interface}", "Correct the cabling, or the addresses of the host"
            yield error(DifferenceCode.MISCABLED, where, problem, remedy)


def _silent(where: str, found: ObservedInterface, peer: CabledPort) -> Iterator[Finding]:
    """A switch at the other end that does not say which one it is: its cabling is not known to be right."""
    if found.neighbor_device is None or found.neighbor_interface is None:
        lacking = "no LLDP" if found.neighbor_device is None else "no port in LLDP"
        problem = f"receives {lacking} from {peer.node}, so that its cabling is not verified"
        yield warning(
            DifferenceCode.LLDP_SILENT, where, problem, f"Enable LLDP on both ends of the link to {peer.node}"
        )


def _session(where: str, found: ObservedBgpSession | None, peer: str, neighbor: BgpNeighbor) -> Iterator[Finding]:
    if found is None:
        yield error(DifferenceCode.BGP_NEIGHBOR_MISSING, where, f"has no BGP session with {peer}", "Deploy the intent")
        return
    if not found.established:
        yield error(
            DifferenceCode.BGP_DOWN,
            where,
            f"BGP with {peer} is {found.state}",
            "Check the link and the far end's AS number",
        )
    if found.neighbor_device is not None and found.neighbor_device != peer:
        yield error(
            DifferenceCode.BGP_WRONG_PEER,
            where,
            f"BGP peer is {found.neighbor_device}, the intent says {peer}",
            "Correct the cabling",
        )
    if neighbor.bfd is not None and found.bfd_up is not True:
        yield error(DifferenceCode.BFD_DOWN, where, f"BFD with {peer} is not up", "Check BFD on both ends")
