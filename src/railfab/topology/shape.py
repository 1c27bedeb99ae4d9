"""Whether the numbers of an intent fit each other: what must hold before anything can be counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ipaddress import IPv4Network

from railfab.errors import RailfabError, TopologyError
from railfab.intent import FabricIntent
from railfab.topology.catalogue import model_named

Errors = Iterator[RailfabError]


def _models_exist(intent: FabricIntent) -> Errors:
    backend = intent.backend
    for tier in (backend.segments, backend.spines, backend.super_spines):
        try:
            if tier:
                model_named(intent, tier.model)
        except RailfabError as error:
            yield error


def _planes_share_nic_ports(intent: FabricIntent) -> Errors:
    ports, planes = intent.hosts.nic_ports, intent.backend.planes
    if ports % planes:
        yield TopologyError(
            "backend.planes",
            f"{planes} planes cannot share the {ports} ports of a NIC evenly",
            f"Use a divisor of {ports}" if ports > 1 else "Use NICs with more ports",
        )


def _rail_switches_share_nic_ports(intent: FabricIntent) -> Errors:
    hosts, switches = intent.hosts, intent.backend.segments.rail_switches
    if hosts.nic_ports % intent.backend.planes:
        return
    per_nic = hosts.nic_ports // intent.backend.planes
    ports, side_by_side = hosts.nics * per_nic, min(per_nic, switches)
    where = "backend.segments.rail_switches"
    if ports % switches:
        problem = f"{switches} rail switches cannot share the {ports} NIC ports of a host evenly"
        yield TopologyError(where, problem, f"Use a divisor of {ports}")
    elif per_nic % side_by_side or switches % side_by_side or hosts.nics % (switches // side_by_side):
        problem = f"{switches} rail switches cannot share {hosts.nics} rails of {per_nic} ports evenly"
        yield TopologyError(where, problem, f"Use {per_nic}, or a multiple of it that divides {ports}")


def _pairs_have_two_ports(intent: FabricIntent) -> Errors:
    hosts, backend = intent.hosts, intent.backend
    if hosts.attach not in ("mlag", "esi"):
        return
    if hosts.nic_ports != 2:
        problem = f"{hosts.attach} joins two ports of a NIC, and it has {hosts.nic_ports}"
        yield TopologyError("hosts.attach", problem, "Use nic_ports: 2, or another attach")
    if backend.segments.rail_switches % 2:
        problem = f"{hosts.attach} needs pairs of rail switches, and there are {backend.segments.rail_switches}"
        yield TopologyError("backend.segments.rail_switches", problem, "Use an even number")
    if backend.planes > 1:
        problem = f"a LAG joins the ports of a NIC, and {backend.planes} planes keep them apart"
        yield TopologyError("hosts.attach", problem, "Use attach: routed or vlan, or one plane")


def _pods_are_joined(intent: FabricIntent) -> Errors:
    backend = intent.backend
    if backend.pods > 1 and backend.super_spines is None:
        yield TopologyError("backend.pods", f"nothing joins {backend.pods} pods", "Add super_spines, or use one pod")


def _sprayed_packets_are_put_in_order(intent: FabricIntent) -> Errors:
    if intent.profile.ecmp == "packet" and not intent.hosts.reorder:
        problem = "packet spraying needs NICs that put packets back in order, and hosts do not say that theirs do"
        yield TopologyError("profile.ecmp", problem, "Add reorder: true to hosts, or use flow or flowlet")


def _attachments_have_an_address_family(intent: FabricIntent) -> Errors:
    profile = intent.profile
    if profile.family == "ipv6" and intent.hosts.attach != "routed":
        problem = f"attach {intent.hosts.attach} gives hosts IPv4 subnets"
        yield TopologyError("profile.family", problem, "Use family: ipv4, or attach: routed")
    for name, pool in profile.addresses:
        if pool is not None and isinstance(pool, IPv4Network) != (profile.family == "ipv4"):
            problem = f"{pool} is not of the family {profile.family}"
            yield TopologyError(f"profile.addresses.{name}", problem, "Give a pool of that family")


def _explicit_ports_name_every_rail(intent: FabricIntent) -> Errors:
    ports, rails = intent.backend.segments.ports, intent.hosts.nics
    if isinstance(ports, str):
        return
    if missing := [rail for rail in range(1, rails + 1) if not ports.get(rail)]:
        problem = f"no ports are given for {listed('rail', missing)}"
        yield TopologyError("backend.segments.ports", problem, "Add them")
    if extra := [rail for rail in ports if not 1 <= rail <= rails]:
        problem = f"ports are given for {listed('rail', extra)}, and hosts have {rails}"
        yield TopologyError("backend.segments.ports", problem, "Remove them")


def listed(what: str, numbers: list[int]) -> str:
    """`rails 3, 4`"""
    return f"{what}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


SHAPE: tuple[Callable[[FabricIntent], Errors], ...] = (
    _models_exist,
    _planes_share_nic_ports,
    _rail_switches_share_nic_ports,
    _pairs_have_two_ports,
    _pods_are_joined,
    _sprayed_packets_are_put_in_order,
    _attachments_have_an_address_family,
    _explicit_ports_name_every_rail,
)
