"""Hosts and switches of the backend, with their names, AS numbers and loopbacks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from railfab.topology.addresses import AddressPlan, Switch
from railfab.topology.dimensions import Dimensions
from railfab.topology.front_panel import broken_out
from railfab.topology.model import Breakout, Node, Role
from railfab.topology.numbering import AsPlan


def prefix(plane: int) -> str:
    """Name prefix of a plane: empty for the first, so that adding a second renames no node."""
    return "" if plane == 1 else f"plane{plane}-"


def host_name(pod: int, segment: int, host: int) -> str:
    return f"pod{pod}-seg{segment}-host{host}"


def leaf_name(plane: int, pod: int, segment: int, switch: int) -> str:
    return f"{prefix(plane)}pod{pod}-seg{segment}-leaf{switch}"


def spine_name(plane: int, pod: int, spine: int) -> str:
    return f"{prefix(plane)}pod{pod}-spine{spine}"


def super_name(plane: int, number: int) -> str:
    return f"{prefix(plane)}super{number}"


def numbers(count: int) -> range:
    return range(1, count + 1)


def planes(plan: Dimensions) -> range:
    return numbers(plan.intent.backend.planes)


def pods(plan: Dimensions) -> range:
    return numbers(plan.intent.backend.pods)


def segments(plan: Dimensions) -> range:
    return numbers(plan.segments.count)


def hosts(plan: Dimensions) -> Iterator[Node]:
    pcie_gbps = plan.intent.hosts.pcie_gbps
    for pod, segment, host in product(pods(plan), segments(plan), numbers(plan.segments.hosts)):
        name = host_name(pod, segment, host)
        yield Node(name=name, role=Role.HOST, pod=pod, segment=segment, index=host, pcie_gbps=pcie_gbps)


def leaves(plan: Dimensions, addresses: AddressPlan) -> Iterator[Node]:
    asns, tier = AsPlan(plan), plan.segments
    platform, breakouts = tier.platform or plan.leaf_model.platform, _breakouts(plan, Role.LEAF)
    overlay = plan.intent.profile.data_plane == "vxlan"
    for plane, pod, segment, switch in product(planes(plan), pods(plan), segments(plan), numbers(tier.rail_switches)):
        number = plan.leaf_number(segment, switch)
        yield Node(
            name=leaf_name(plane, pod, segment, switch),
            role=Role.LEAF,
            pod=pod,
            segment=segment,
            index=switch,
            platform=platform,
            model=tier.model,
            asn=asns.leaf(plane, pod, number),
            loopback=addresses.loopback(Role.LEAF, Switch(plane, pod, number)),
            breakouts=breakouts,
            plane=plane,
            vtep=addresses.loopback(Role.LEAF, Switch(plane, pod, number)) if overlay else None,
        )


def spines(plan: Dimensions, addresses: AddressPlan) -> Iterator[Node]:
    if plan.spines is None or plan.spine_model is None:
        return
    asns, breakouts = AsPlan(plan), _breakouts(plan, Role.SPINE)
    for plane, pod, spine in product(planes(plan), pods(plan), numbers(plan.spines.count)):
        yield Node(
            name=spine_name(plane, pod, spine),
            role=Role.SPINE,
            pod=pod,
            segment=None,
            index=spine,
            platform=plan.spines.platform or plan.spine_model.platform,
            model=plan.spines.model,
            asn=asns.spine(plane, pod),
            loopback=addresses.loopback(Role.SPINE, Switch(plane, pod, spine)),
            breakouts=breakouts,
            plane=plane,
            reflector=_reflects(plan, spine),
        )


def super_spines(plan: Dimensions, addresses: AddressPlan) -> Iterator[Node]:
    if plan.supers is None or plan.super_model is None:
        return
    asns, breakouts = AsPlan(plan), _breakouts(plan, Role.SUPER)
    for plane, number in product(planes(plan), numbers(plan.supers.count)):
        yield Node(
            name=super_name(plane, number),
            role=Role.SUPER,
            pod=0,
            segment=None,
            index=number,
            platform=plan.supers.platform or plan.super_model.platform,
            model=plan.supers.model,
            asn=asns.super_spine(plane),
            loopback=addresses.loopback(Role.SUPER, Switch(plane, 0, number)),
            breakouts=breakouts,
            plane=plane,
            reflector=_reflects(plan, number),
        )


def _reflects(plan: Dimensions, number: int) -> bool:
    """Whether a spine or super-spine is a route reflector: the first few are, with ibgp and evpn."""
    profile = plan.intent.profile
    return profile.control_plane != "ebgp" and number <= profile.reflectors


def _breakouts(plan: Dimensions, role: Role) -> tuple[Breakout, ...]:
    """The cages with breakout, in front-panel order; the same on all switches of a role."""
    model, platform = {
        Role.LEAF: (plan.leaf_model, plan.segments.platform),
        Role.SPINE: (plan.spine_model, plan.spines and plan.spines.platform),
        Role.SUPER: (plan.super_model, plan.supers and plan.supers.platform),
    }[role]
    assert model is not None
    names = model.interface_names(platform or model.platform, 1)
    return tuple(
        Breakout(cage_name=names[cage - 1], lanes=lanes, rate_gbps=rate_gbps)
        for cage, (lanes, rate_gbps) in sorted(broken_out(plan, role).items())
    )
