"""Live state against the intent: sessions, neighbours, MTU, and that both ends of every link agree."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping

from nornir.core import Nornir

from railfab.deploy.run import OnDone, inspect_all, preview_all
from railfab.device import DeviceModel, Observed, ObservedInterface, ObservedSession, changes, disagreements
from railfab.errors import ConfigError, Problems, each
from railfab.fabric import Design
from railfab.findings import DifferenceCode, Finding, error
from railfab.platforms import platform
from railfab.topology import Port

POLL_S = 1.0


def verify_all(nornir: Nornir, fabric: Design, *, wait_s: float, on_done: OnDone) -> tuple[Finding, ...]:
    """Every difference between the switches and the intent; empty is what an operator wants to read.

    Sessions need seconds to come up after a change, so it looks again until nothing is found or wait_s has passed.
    Raises DeviceError when a switch cannot be read.
    """
    deadline = time.monotonic() + wait_s
    found = tuple(_findings(fabric, inspect_all(nornir, on_done)))
    while found and time.monotonic() < deadline:
        time.sleep(POLL_S)
        found = tuple(_findings(fabric, inspect_all(nornir, on_done)))
    return (*found, *differences_unnamed(nornir, fabric, found))


def differences_unnamed(nornir: Nornir, fabric: Design, found: Iterable[Finding]) -> tuple[Finding, ...]:
    """What a deploy would change on switches whose models are as intended: lines for which the model has no word.

    found: findings so far; a switch whose configuration is among them, as `NAME: ...`, is named already.
    """
    named = {finding.where.partition(": ")[0] for finding in found if ": " in finding.where}
    others = nornir.filter(filter_func=lambda host: host.name not in named)
    outcomes = preview_all(others, fabric.configurations(), lambda _name: None) if others.inventory.hosts else []
    return tuple(_unnamed(outcome.name, outcome.diff) for outcome in outcomes if outcome.changed)


def _unnamed(name: str, diff: str) -> Finding:
    lines = [line for line in diff.splitlines() if line[:1] in {"+", "-"} and line[:3] not in {"+++", "---"}]
    first = (lines or diff.splitlines())[0]
    problem = f"differs from what the intent renders to in {len(lines)} lines, first {first!r}"
    return error(DifferenceCode.UNMODELLED_DIFFERENCE, name, problem, "Deploy the intent; --plan shows all of it")


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
        for change in changes(model, fabric.models[name]):
            yield error(
                DifferenceCode.CONFIGURATION_DIFFERS, f"{name}: {change.path}", change.problem, "Deploy the intent"
            )
    yield from disagreements(fabric.topology, models)


def _live(fabric: Design, name: str, observed: Observed) -> Iterator[Finding]:
    """State of one switch's interfaces and sessions."""
    interfaces = {interface.name: interface for interface in observed.interfaces}
    sessions = {session.interface: session for session in observed.sessions}
    expected = {neighbor.interface: neighbor for neighbor in fabric.models[name].bgp.neighbors}
    for port, peer, _ in fabric.topology.ports_of(name):
        place = f"{name} {port.name}"
        yield from _interface(place, interfaces.get(port.name), peer, fabric.intent.profile.mtu)
        if port.name in expected:
            wants_bfd = expected[port.name].bfd and fabric.models[name].bfd is not None
            yield from _session(place, sessions.get(port.name), peer.node, wants_bfd=wants_bfd)


def _interface(place: str, found: ObservedInterface | None, peer: Port, mtu_bytes: int) -> Iterator[Finding]:
    if found is None:
        yield error(
            DifferenceCode.INTERFACE_MISSING,
            place,
            "does not exist on the switch",
            "Deploy the intent, or check its breakout",
        )
        return
    if not found.oper_up:
        yield error(
            DifferenceCode.INTERFACE_DOWN, place, f"is down; it leads to {peer.node}", "Check the cable and the far end"
        )
    if found.mtu_bytes is not None and found.mtu_bytes != mtu_bytes:
        yield error(
            DifferenceCode.MTU_MISMATCH,
            place,
            f"has MTU {found.mtu_bytes}, the intent says {mtu_bytes}",
            "Deploy the intent",
        )
    seen = (found.neighbor_device or peer.node, found.neighbor_interface or peer.name)
    if seen != (peer.node, peer.name):
        problem = f"is cabled to {' '.join(seen)}, the intent says {peer.node} {peer.name}"
        yield error(DifferenceCode.MISCABLED, place, problem, "Correct the cabling")


def _session(place: str, found: ObservedSession | None, peer: str, *, wants_bfd: bool) -> Iterator[Finding]:
    if found is None:
        yield error(DifferenceCode.BGP_NEIGHBOR_MISSING, place, f"has no BGP session with {peer}", "Deploy the intent")
        return
    if not found.established:
        yield error(
            DifferenceCode.BGP_DOWN,
            place,
            f"BGP with {peer} is {found.state}",
            "Check the link and the far end's AS number",
        )
    if found.neighbor_device is not None and found.neighbor_device != peer:
        yield error(
            DifferenceCode.BGP_WRONG_PEER,
            place,
            f"BGP peer is {found.neighbor_device}, the intent says {peer}",
            "Correct the cabling",
        )
    if wants_bfd and found.bfd_up is not True:
        yield error(DifferenceCode.BFD_DOWN, place, f"BFD with {peer} is not up", "Check BFD on both ends")
