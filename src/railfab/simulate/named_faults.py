"""Faults of a fabric as a user names them, as changes of its state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from railfab.errors import RailfabError
from railfab.forwarding import FabricChange, SwitchFault
from railfab.text.counted import listed
from railfab.topology import PortKey, Topology


def faults(texts: Iterable[str], topology: Topology) -> FabricChange | None:
    """The change that these faults make; None without any. Each is KIND=WHERE, a kind of KINDS.

    Raises RailfabError for a kind, node, interface or rate that there is not.
    """
    change = FabricChange({})
    made = False
    for text in texts:
        kind, _, where = text.partition("=")
        if kind not in KINDS or not where:
            raise RailfabError(f"--fault {text}", "it is not a known fault", f"Use one of {listed(FORMS)}")
        change = KINDS[kind](change, text, where, topology)
        made = True
    return change if made else None


def _cable(change: FabricChange, text: str, where: str, topology: Topology) -> FabricChange:
    node, _, interface = where.partition(":")
    return replace(change, cut=change.cut | {_port(text, node, interface, topology)})


def _switch(change: FabricChange, text: str, where: str, topology: Topology) -> FabricChange:
    known = [node.name for node in topology.switches()]
    if where not in known:
        raise RailfabError(f"--fault {text}", f"the fabric has no switch {where}", f"Use a name such as {known[0]}")
    return replace(change, switch_faults={**change.switch_faults, where: SwitchFault.OFF})


def _host(change: FabricChange, text: str, where: str, topology: Topology) -> FabricChange:
    return replace(change, cut=change.cut | frozenset(_host_ports(text, where, topology)))


def _slow_host(change: FabricChange, text: str, where: str, topology: Topology) -> FabricChange:
    host, _, rate = where.partition(":")
    ports = _host_ports(text, host, topology)
    rate_gbps = _rate_gbps(text, rate, f"slow-host={host}:10")
    return replace(change, slow={**change.slow, **dict.fromkeys(ports, rate_gbps)})


def _slow_port(change: FabricChange, text: str, where: str, topology: Topology) -> FabricChange:
    node, _, place = where.partition(":")
    interface, _, rate = place.rpartition(":")
    port = _port(text, node, interface or rate, topology)
    rate_gbps = _rate_gbps(text, rate if interface else "", f"slow-port={node}:{interface or rate}:10")
    return replace(change, reduced={**change.reduced, port: rate_gbps})


def _rate_gbps(text: str, rate: str, example: str) -> float:
    try:
        rate_gbps = float(rate)
    except ValueError:
        rate_gbps = 0.0
    if not 0.0 < rate_gbps < float("inf"):
        remedy = f"Use a rate in Gb/s, such as {example}"
        raise RailfabError(f"--fault {text}", f"{rate or 'nothing'} is no rate above 0", remedy)
    return rate_gbps


def _host_ports(text: str, host: str, topology: Topology) -> list[PortKey]:
    """The cabled ports of a host. Raises RailfabError for a host that there is not."""
    known = [node.name for node in topology.hosts()]
    if host not in known:
        raise RailfabError(f"--fault {text}", f"the fabric has no host {host}", f"Use a name such as {known[0]}")
    return [key for key in _ports(topology) if key[0] == host]


def _ports(topology: Topology) -> list[PortKey]:
    return [(port.node, port.name) for port, _, _ in topology.ports()]


def _port(text: str, node: str, interface: str, topology: Topology) -> PortKey:
    known = _ports(topology)
    if (node, interface) in known:
        return node, interface
    ports = [port for port in known if port[0] == node]
    problem = f"{node} has no cabled port {interface}" if ports else f"the fabric has no node {node}"
    example = ":".join((ports or known)[0])
    raise RailfabError(f"--fault {text}", problem, f"Use a port such as {example}")


KINDS: Mapping[str, Callable[[FabricChange, str, str, Topology], FabricChange]] = {
    "cable": _cable,
    "switch": _switch,
    "host": _host,
    "slow-host": _slow_host,
    "slow-port": _slow_port,
}
"""Faults by name: a cable that is cut, a switch or host without power, a host that takes packets from its NICs at a
rate, and a cable that carries a rate at most, in both directions."""
FORMS = ("cable=NODE:INTERFACE", "switch=NAME", "host=NAME", "slow-host=HOST:GBPS", "slow-port=NODE:INTERFACE:GBPS")
