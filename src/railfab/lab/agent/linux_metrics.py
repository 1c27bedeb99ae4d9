"""Canonical metrics from the output of Linux and FRR. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from railfab.units import BITS_PER_BYTE

IFF_UP = 0x1
OPERSTATE_UNKNOWN = "unknown"
"""operstate of an interface whose driver does not report it; it counts as up while the interface is enabled."""

FAMILIES = {"ipv4Unicast": "ipv4-unicast", "ipv6Unicast": "ipv6-unicast"}
"""FRR's keys of `addressFamilyInfo`, and their values of the label `afi_safi`."""

BGP_STATES = {"Idle": 1, "Connect": 2, "Active": 3, "OpenSent": 4, "OpenConfirm": 5, "Established": 6}
"""FRR's `bgpState`, numbered as in BGP4-MIB."""


class Measurement(NamedTuple):
    """Value of one canonical metric of a switch. keys: keys of the native path that are not labels."""

    metric: str
    labels: Mapping[str, str]
    value: float
    keys: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFacts:
    """State of one interface from /sys/class/net. speed_mbps: None when unknown."""

    name: str
    operstate: str
    flags: int
    carrier_changes: int
    speed_mbps: int | None


RECEIVE = {"bytes": 0, "errors": 2, "discards": 3}
TRANSMIT = {"bytes": 8, "errors": 10, "discards": 11}
"""Columns of /proc/net/dev after the interface name (Linux net/core/net-procfs.c: dev_seq_printf_stats)."""


def interface_metrics(proc_net_dev: str, facts: Mapping[str, LinkFacts]) -> Iterator[Measurement]:
    """Counters and states of the interfaces in `facts`."""
    for name, columns in _rows(proc_net_dev):
        if name not in facts:
            continue
        labels = {"interface": name}
        for direction, columns_of in (("receive", RECEIVE), ("transmit", TRANSMIT)):
            for counter, column in columns_of.items():
                yield Measurement(f"fabric_interface_{direction}_{counter}_total", labels, columns[column])
        yield from _state_metrics(facts[name], labels)


def _rows(proc_net_dev: str) -> Iterator[tuple[str, list[int]]]:
    """Name and columns of each interface, after the two header lines."""
    for line in proc_net_dev.splitlines()[2:]:
        name, _, columns = line.partition(":")
        yield name.strip(), [int(column) for column in columns.split()]


def _state_metrics(facts: LinkFacts, labels: Mapping[str, str]) -> Iterator[Measurement]:
    admin_up = bool(facts.flags & IFF_UP)
    oper_up = facts.operstate == "up" or (facts.operstate == OPERSTATE_UNKNOWN and admin_up)
    yield Measurement("fabric_interface_oper_up", labels, oper_up)
    yield Measurement("fabric_interface_admin_up", labels, admin_up)
    yield Measurement("fabric_interface_carrier_transitions_total", labels, facts.carrier_changes)
    if facts.speed_mbps is not None and facts.speed_mbps > 0:
        yield Measurement(
            "fabric_interface_speed_bytes_per_second", labels, facts.speed_mbps * 1_000_000 / BITS_PER_BYTE
        )


def daemon_metrics(expected: Iterable[str], failed: Collection[str]) -> Iterator[Measurement]:
    """State of each daemon that the switch should run; one that has ended has a series too."""
    for daemon in expected:
        yield Measurement("fabric_daemon_up", {"daemon": daemon}, daemon not in failed)


def bgp_metrics(neighbors: Mapping[str, Any]) -> Iterator[Measurement]:
    """Metrics of `show bgp vrf default neighbors json`; an unnumbered peer is named by its interface."""
    for peer, neighbor in neighbors.items():
        if not isinstance(neighbor, Mapping) or "bgpState" not in neighbor:
            continue
        labels = {"peer": peer}
        yield Measurement("fabric_bgp_session_state", labels, BGP_STATES.get(neighbor["bgpState"], BGP_STATES["Idle"]))
        established = neighbor.get("connectionsEstablished", 0)
        yield Measurement("fabric_bgp_established_transitions_total", labels, established)
        for family, counters in neighbor.get("addressFamilyInfo", {}).items():
            yield from _prefix_metrics(labels | {"afi_safi": FAMILIES.get(family, family)}, counters)


def _prefix_metrics(labels: Mapping[str, str], counters: Mapping[str, Any]) -> Iterator[Measurement]:
    for direction, key in (("accepted", "acceptedPrefixCounter"), ("sent", "sentPrefixCounter")):
        if key in counters:
            yield Measurement("fabric_bgp_prefixes", {**labels, "direction": direction}, counters[key])


def bfd_metrics(peers: Sequence[Mapping[str, Any]], counters: Sequence[Mapping[str, Any]]) -> Iterator[Measurement]:
    """Metrics of `show bfd peers json` and `show bfd peers counters json`; named by interface if known."""
    failures = {_bfd_session(entry): entry.get("session-down", 0) for entry in counters}
    for peer in peers:
        session, keys = _bfd_session(peer), {"local-discriminator": str(peer["id"])}
        labels = {"peer": session[0] or session[1]}
        yield Measurement("fabric_bfd_session_up", labels, peer["status"] == "up", keys)
        if session in failures:
            yield Measurement("fabric_bfd_failure_transitions_total", labels, failures[session], keys)


def _bfd_session(entry: Mapping[str, Any]) -> tuple[str, str]:
    """Interface and address; the counters do not include the discriminator."""
    return str(entry.get("interface", "")), str(entry["peer"])
