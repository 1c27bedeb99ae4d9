"""Check that the numbers of an intent divide and combine, before anything is computed from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ipaddress import IPv4Network

from railfab.errors import RailfabError, TopologyError
from railfab.intent import FabricIntent
from railfab.text.remedies import Choice, remedy, setting, values
from railfab.topology.catalogue import models_of, nearest

Errors = Iterator[RailfabError]


def _models_exist(intent: FabricIntent) -> Errors:
    backend = intent.backend
    tiers = {"segments": backend.segments, "spines": backend.spines, "super_spines": backend.super_spines}
    known = models_of(intent)
    for key, tier in tiers.items():
        if tier and tier.model not in known:
            problem = f"switch {tier.model!r} is not in the catalogue"
            yield TopologyError(f"backend.{key}.model", problem, nearest(tier.model, known))


def _nic_ports_divide_among_planes(intent: FabricIntent) -> Errors:
    ports, planes = intent.hosts.nic_ports, intent.backend.planes
    if ports % planes:
        yield TopologyError(
            "backend.planes",
            f"the {ports} ports of a NIC do not divide evenly among {planes} planes",
            remedy(*values("backend.planes", divisors(ports))),
        )


def _nic_ports_divide_among_rail_switches(intent: FabricIntent) -> Errors:
    hosts, switches = intent.hosts, intent.backend.segments.rail_switches
    if hosts.nic_ports % intent.backend.planes:
        return
    per_nic = hosts.nic_ports // intent.backend.planes
    ports, side_by_side = hosts.nics * per_nic, min(per_nic, switches)
    where = "backend.segments.rail_switches"
    if ports % switches:
        problem = f"the {ports} NIC ports of a host do not divide evenly among {switches} rail switches"
        yield TopologyError(where, problem, remedy(*values(where, divisors(ports))))
    elif per_nic % side_by_side or switches % side_by_side or hosts.nics % (switches // side_by_side):
        problem = f"{hosts.nics} rails of {per_nic} ports do not divide evenly among {switches} rail switches"
        multiples = (number for number in divisors(ports) if number % per_nic == 0)
        yield TopologyError(where, problem, remedy(*values(where, multiples)))


def _pairs_have_two_ports(intent: FabricIntent) -> Errors:
    hosts, backend = intent.hosts, intent.backend
    if hosts.attach not in ("mlag", "esi"):
        return
    if hosts.nic_ports != 2:
        problem = f"{hosts.attach} needs NICs with 2 ports, and nic_ports is {hosts.nic_ports}"
        other = (setting("hosts.attach", attach) for attach in ("routed", "vlan"))
        yield TopologyError("hosts.attach", problem, remedy(setting("hosts.nic_ports", 2), *other))
    if backend.segments.rail_switches % 2:
        problem = f"{hosts.attach} needs pairs of rail switches, and a segment has {backend.segments.rail_switches}"
        where, count = "backend.segments.rail_switches", backend.segments.rail_switches
        even = (number for number in (count - 1, count + 1) if number)
        yield TopologyError(where, problem, remedy(*values(where, even)))
    if backend.planes > 1:
        problem = f"the ports of a NIC are in {backend.planes} planes, and a LAG cannot span planes"
        other = (setting("hosts.attach", attach) for attach in ("routed", "vlan"))
        yield TopologyError("hosts.attach", problem, remedy(*other, setting("backend.planes", 1)))


def _pods_are_connected(intent: FabricIntent) -> Errors:
    backend = intent.backend
    if backend.pods > 1 and backend.super_spines is None:
        problem = f"{backend.pods} pods are not connected"
        one = setting("backend.pods", 1)
        yield TopologyError("backend.pods", problem, remedy(Choice("super_spines", verb="add"), one))


def _spraying_needs_reordering(intent: FabricIntent) -> Errors:
    names = {"packet": "packet spraying", "adaptive": "adaptive routing of packets"}
    name = names.get(intent.profile.ecmp)
    if name is not None and not intent.hosts.reorder:
        problem = f"{name} needs NICs that reorder packets, and hosts.reorder is false"
        other = (setting("profile.ecmp", ecmp) for ecmp in ("flow", "flowlet"))
        yield TopologyError("profile.ecmp", problem, remedy(setting("hosts.reorder", True), *other))


def _aggregates_have_contributors(intent: FabricIntent) -> Errors:
    if intent.profile.bgp.aggregate_hosts and intent.hosts.attach != "routed":
        problem = f"hosts with attach: {intent.hosts.attach} have no routed links; their subnets are announced"
        choices = setting("profile.bgp.aggregate_hosts", False), setting("hosts.attach", "routed")
        yield TopologyError("profile.bgp.aggregate_hosts", problem, remedy(*choices))


def _address_families_match(intent: FabricIntent) -> Errors:
    profile = intent.profile
    if profile.family == "ipv6" and intent.hosts.attach != "routed":
        problem = f"attach: {intent.hosts.attach} supports only IPv4"
        choices = setting("profile.family", "ipv4"), setting("hosts.attach", "routed")
        yield TopologyError("profile.family", problem, remedy(*choices))
    for name, pool in profile.addresses:
        if pool is not None and isinstance(pool, IPv4Network) != (profile.family == "ipv4"):
            problem = f"{pool} is not an {profile.family} prefix"
            yield TopologyError(f"profile.addresses.{name}", problem, f"Use an {profile.family} prefix")


def _explicit_ports_cover_every_rail(intent: FabricIntent) -> Errors:
    ports, rails = intent.backend.segments.ports, intent.hosts.nics
    if isinstance(ports, str):
        return
    if missing := [rail for rail in range(1, rails + 1) if not ports.get(rail)]:
        problem = f"no ports are assigned to {listed('rail', missing)}"
        yield TopologyError("backend.segments.ports", problem, "Add them")
    if extra := [rail for rail in ports if not 1 <= rail <= rails]:
        problem = f"ports are assigned to {listed('rail', extra)}, and hosts have {rails}"
        yield TopologyError("backend.segments.ports", problem, "Remove them")


def divisors(number: int) -> list[int]:
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]


def listed(what: str, numbers: list[int]) -> str:
    """Numbers with their noun, such as `rails 3, 4`."""
    return f"{what}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


SHAPE: tuple[Callable[[FabricIntent], Errors], ...] = (
    _models_exist,
    _nic_ports_divide_among_planes,
    _nic_ports_divide_among_rail_switches,
    _pairs_have_two_ports,
    _pods_are_connected,
    _spraying_needs_reordering,
    _aggregates_have_contributors,
    _address_families_match,
    _explicit_ports_cover_every_rail,
)
