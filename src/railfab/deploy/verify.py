"""Verification of switches against the intent: configuration, link ends, interfaces, cabling, BGP and BFD."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping

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
from railfab.fabric import Design, parsed
from railfab.findings import DifferenceCode, Finding, error
from railfab.platforms import Pending, Running, platform
from railfab.topology import Port, Topology
from railfab.units import counted

POLL_S = 1.0
DEPLOY = "Deploy the intent"
OF_THE_SYSTEM = (DifferenceCode.INTERFACE_DISABLED, DifferenceCode.MTU_MISMATCH)


def verify_all(nornir: Nornir, fabric: Design, *, wait_s: float, on_done: OnDone) -> tuple[Finding, ...]:
    """Every difference between the switches and the intent.

    Repeated until nothing is found or wait_s has passed, because sessions need seconds to come up after a change.
    Raises DeviceError when a switch cannot be read.
    """
    deadline = time.monotonic() + wait_s
    owned = {name for name, host in nornir.inventory.hosts.items() if host["endpoint"].owns_system}
    found = tuple(_findings(fabric, inspect_all(nornir, on_done), owned))
    while found and time.monotonic() < deadline:
        time.sleep(POLL_S)
        found = tuple(_findings(fabric, inspect_all(nornir, on_done), owned))
    return (*found, *unmodelled_differences(nornir, fabric, found))


def unmodelled_differences(nornir: Nornir, fabric: Design, found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Lines that a deploy would change on switches whose models equal the intent: unmodelled configuration.

    found: findings so far; a switch with a finding about its configuration (`NAME: ...`) or about what its operating
    system has (`NAME PORT`) is left out.
    """
    named = {finding.where.partition(": ")[0] for finding in found if ": " in finding.where}
    named |= {finding.where.partition(" ")[0] for finding in found if finding.code in OF_THE_SYSTEM}
    others = nornir.filter(filter_func=lambda host: host.name not in named)
    previews = preview_all(others, fabric.texts, lambda _name: None) if others.inventory.hosts else []
    return tuple(_unmodelled(found.name, found.diff) for found in previews if found.changed)


def _unmodelled(name: str, diff: str) -> Finding:
    lines = [line for line in diff.splitlines() if line[:1] in {"+", "-"} and line[:3] not in {"+++", "---"}]
    first = (lines or diff.splitlines())[0]
    problem = f"differs from the rendered intent in {counted(len(lines), 'line')}, the first is '{first}'"
    return error(DifferenceCode.UNMODELLED_DIFFERENCE, name, problem, "Deploy the intent; --plan shows every line")


def _findings(
    fabric: Design, inspected: Mapping[str, tuple[Running, Observed]], owned: Collection[str]
) -> Iterator[Finding]:
    """owned: switches whose operating system a deploy configures too."""
    models, invalid = parsed(fabric, {name: running.text for name, (running, _) in inspected.items()})
    yield from invalid
    for name, (running, observed) in inspected.items():
        if running.pending is not None:
            yield _pending(name, running.pending)
        yield from _live(fabric, name, observed, owns_system=name in owned)
    for name, model in models.items():
        yield from deviations(model, fabric.models[name])
    yield from disagreements(fabric.topology, models)


def _pending(name: str, pending: Pending) -> Finding:
    change = pending.change
    if change is None:
        by, remedy = pending.description, "Confirm or revert it on the switch"
    else:
        by = f"deploy {change.deploy} of {change.user}@{change.host}"
        remedy = "Wait until it ends, or run railfab deploy where it was begun"
    problem = f"is neither confirmed nor reverted ({by})"
    return error(DifferenceCode.CHANGE_PENDING, f"{name}: a change", problem, remedy)


def _live(fabric: Design, name: str, observed: Observed, *, owns_system: bool = False) -> Iterator[Finding]:
    """Findings about the interfaces and sessions of one switch.

    owns_system: whether a deploy sets what the operating system has; the remedy names how to set it elsewhere.
    """
    external = {} if owns_system else platform(fabric.models[name].platform).capabilities.external
    interfaces = {interface.name: interface for interface in observed.interfaces}
    for port, peer, _ in fabric.topology.ports_of(name):
        if port.cage:
            where = f"{name} {port.name}"
            yield from _interface(where, interfaces.get(port.name), peer, fabric.intent.profile.mtu, external)
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


def _interface(
    where: str, found: ObservedInterface | None, peer: Port, mtu_bytes: int, external: Mapping[str, str]
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
