"""Verification of switches against the intent: configuration, link ends, interfaces, cabling, BGP and BFD."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping

from nornir.core import Nornir

from railfab.deploy.run import OnDone, inspect_all, preview_all
from railfab.device import (
    BgpNeighbor,
    DeviceModel,
    Lag,
    Observed,
    ObservedBgpSession,
    ObservedInterface,
    deviations,
    disagreements,
    interfaces_of_peers,
)
from railfab.errors import ConfigError, Problems, each
from railfab.fabric import Design
from railfab.findings import DifferenceCode, Finding, error
from railfab.platforms import platform
from railfab.topology import Port, Topology
from railfab.units import counted

POLL_S = 1.0


def verify_all(nornir: Nornir, fabric: Design, *, wait_s: float, on_done: OnDone) -> tuple[Finding, ...]:
    """Every difference between the switches and the intent.

    Repeated until nothing is found or wait_s has passed, because sessions need seconds to come up after a change.
    Raises DeviceError when a switch cannot be read.
    """
    deadline = time.monotonic() + wait_s
    found = tuple(_findings(fabric, inspect_all(nornir, on_done)))
    while found and time.monotonic() < deadline:
        time.sleep(POLL_S)
        found = tuple(_findings(fabric, inspect_all(nornir, on_done)))
    return (*found, *unmodelled_differences(nornir, fabric, found))


def unmodelled_differences(nornir: Nornir, fabric: Design, found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Lines that a deploy would change on switches whose models equal the intent: unmodelled configuration.

    found: findings so far; a switch with a finding about its configuration (`NAME: ...`) is left out.
    """
    named = {finding.where.partition(": ")[0] for finding in found if ": " in finding.where}
    others = nornir.filter(filter_func=lambda host: host.name not in named)
    outcomes = preview_all(others, fabric.texts, lambda _name: None) if others.inventory.hosts else []
    return tuple(_unmodelled(outcome.name, outcome.diff) for outcome in outcomes if outcome.changed)


def _unmodelled(name: str, diff: str) -> Finding:
    lines = [line for line in diff.splitlines() if line[:1] in {"+", "-"} and line[:3] not in {"+++", "---"}]
    first = (lines or diff.splitlines())[0]
    problem = f"differs from the rendered intent in {counted(len(lines), 'line')}, the first is '{first}'"
    return error(DifferenceCode.UNMODELLED_DIFFERENCE, name, problem, "Deploy the intent; --plan shows every line")


def _findings(fabric: Design, inspected: Mapping[str, tuple[str, Observed]]) -> Iterator[Finding]:
    models: dict[str, DeviceModel] = {}
    for name, (text, observed) in inspected.items():
        try:
            models[name] = platform(fabric.models[name].platform).parse(text)
        except (ConfigError, Problems) as invalid:
            for one in each(invalid):
                yield error(DifferenceCode.CONFIGURATION_INVALID, f"{name}: {one.where}", one.problem, one.remedy)
        yield from _live(fabric, name, observed)
    for name, model in models.items():
        yield from deviations(model, fabric.models[name])
    yield from disagreements(fabric.topology, models)


def _live(fabric: Design, name: str, observed: Observed) -> Iterator[Finding]:
    """Findings about the interfaces and sessions of one switch."""
    interfaces = {interface.name: interface for interface in observed.interfaces}
    for port, peer, _ in fabric.topology.ports_of(name):
        if port.cage:
            where = f"{name} {port.name}"
            yield from _interface(where, interfaces.get(port.name), peer, fabric.intent.profile.mtu)
    yield from _sessions(fabric, name, observed)


def _sessions(fabric: Design, name: str, observed: Observed) -> Iterator[Finding]:
    """Findings about the BGP sessions of one switch; each is named by its interface, or the address of its peer."""
    model = fabric.models[name]
    sessions = {(session.network_instance, session.peer): session for session in observed.sessions}
    interfaces = interfaces_of_peers(model)
    peers = _peers(fabric.topology, model, interfaces)
    for neighbor in model.neighbors:
        where = f"{name} {interfaces.get(neighbor.key, neighbor.key)}"
        found = sessions.get((neighbor.network_instance, neighbor.peer))
        yield from _session(where, found, peers.get(neighbor.key, str(neighbor.peer)), neighbor)


def _peers(topology: Topology, model: DeviceModel, interfaces: Mapping[str, str]) -> Mapping[str, str]:
    """The switch with which each neighbour has its session, by the key of the neighbour, where the topology has it."""
    nodes = {port.name: peer.node for port, peer, _ in topology.ports_of(model.name)}
    lags = (interface for interface in model.interfaces if isinstance(interface, Lag) and interface.members)
    nodes |= {lag.name: nodes[lag.members[0]] for lag in lags}
    loopbacks = {str(node.loopback): node.name for node in topology.switches()}
    found = {
        neighbor.key: nodes.get(interfaces.get(neighbor.key, "")) or loopbacks.get(str(neighbor.peer))
        for neighbor in model.neighbors
    }
    return {key: name for key, name in found.items() if name is not None}


def _interface(where: str, found: ObservedInterface | None, peer: Port, mtu_bytes: int) -> Iterator[Finding]:
    if found is None:
        yield error(
            DifferenceCode.INTERFACE_MISSING,
            where,
            "does not exist on the switch",
            "Deploy the intent, or check its breakout",
        )
        return
    if not found.oper_up:
        yield error(
            DifferenceCode.INTERFACE_DOWN,
            where,
            f"is down, its link to {peer.node} does not work",
            "Check the cable and the far end",
        )
    if found.mtu_bytes is not None and found.mtu_bytes != mtu_bytes:
        yield error(
            DifferenceCode.MTU_MISMATCH,
            where,
            f"has MTU {found.mtu_bytes}, the intent says {mtu_bytes}",
            "Deploy the intent",
        )
    seen = (found.neighbor_device or peer.node, found.neighbor_interface or peer.name)
    if seen != (peer.node, peer.name):
        problem = f"is cabled to {' '.join(seen)}, the intent says {peer.node} {peer.name}"
        yield error(DifferenceCode.MISCABLED, where, problem, "Correct the cabling")


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
