"""Numbers of uplinks, spines and super-spines, and the scale of two and three tiers."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.documents.explain.formats import capacity, ratio
from railfab.documents.explain.subject import Subject
from railfab.text.counted import counted
from railfab.topology import Role
from railfab.topology.scale import scale, three_tiers, two_tiers


def uplinks(subject: Subject) -> Iterator[str]:
    """Uplinks that a full rail switch needs, uplinks of the intent, and the resulting ratio."""
    plan, backend = subject.dimensions, subject.intent.backend
    if plan.spines is None:
        return
    source = "as the intent states" if "oversubscription" in backend.model_fields_set else "by default"
    yield f"The limit of oversubscription is {backend.oversubscription:g}:1 per tier, {source}."
    yield _full(subject)
    yield _chosen(subject)
    down = plan.segments.hosts * plan.links_per_host_and_leaf * subject.intent.hosts.rate_gbps
    up = plan.uplinks * plan.spines.rate_gbps
    yield f"{capacity(down)} of hosts now share {capacity(up)} of uplinks: {ratio(down, up)}."
    full = plan.growth_hosts * plan.links_per_host_and_leaf * subject.intent.hosts.rate_gbps
    if full > down:
        yield f"With {counted(plan.growth_hosts, 'host')}, the most that a segment may have, it is {ratio(full, up)}."


def _full(subject: Subject) -> str:
    plan, spines = subject.dimensions, subject.dimensions.spines
    assert spines is not None
    exact, full, rate = plan.exact_uplinks, plan.uplinks_of_full_leaf, capacity(spines.rate_gbps)
    rounded = "" if exact == full else f", rounded up from {exact:.4g}"
    ports = plan.segments.ports
    if not isinstance(ports, str):
        cages = max(sum(len(ports[rail]) for rail in rails) for rails in plan.rails_of.values())
        why = f"The hosts on the {counted(cages, 'cage')} that the intent assigns to rails send"
    elif (bound := subject.intent.backend.growth.hosts) is not None:
        why = f"The {counted(bound, 'host')} per segment that `growth` allows send"
    else:
        peers = f" without peer links, {plan.leaf_model.cages - plan.peer_links}," if plan.peer_links else ""
        return (
            f"A full rail switch divides its cages{peers} between hosts and uplinks: {full} uplinks of {rate} carry "
            f"the traffic of all other cages{rounded}."
        )
    return f"{why} what {full} uplinks of {rate} carry{rounded}."


def _chosen(subject: Subject) -> str:
    plan, spines = subject.dimensions, subject.dimensions.spines
    assert spines is not None
    links, count = counted(plan.links_per_leaf, "link"), plan.uplinks
    to_spines = f"{counted(spines.count, 'spine')} with {links} each are {counted(count, 'uplink')}"
    if spines.links_per_leaf is not None:
        verdict = _against_full(count, plan.uplinks_of_full_leaf)
        return f"The intent states {links} between a rail switch and a spine: {to_spines}, {verdict}."
    rounded = "" if count == plan.uplinks_of_full_leaf else ", rounded up to the same number per spine"
    return f"The intent does not state the number of links, so a full rail switch determines it: {to_spines}{rounded}."


def _against_full(count: int, full: int) -> str:
    if count == full:
        return "exactly what a full rail switch needs"
    return f"{abs(count - full)} {'more' if count > full else 'fewer'} than a full rail switch needs"


def spines(subject: Subject) -> Iterator[str]:
    """Ports of a spine, and the numbers of spines that divide the uplinks."""
    plan, own, model = subject.dimensions, subject.dimensions.spines, subject.dimensions.spine_model
    if own is None or model is None:
        return
    down = plan.leaves_per_pod * plan.links_per_leaf
    leaves = counted(plan.leaves_per_pod, "rail switch")
    among = "its pod in its plane" if subject.intent.backend.planes > 1 else "its pod"
    yield (
        f"A spine has {counted(plan.links_per_leaf, 'link')} to each of the {leaves} of {among}: "
        f"{counted(down, 'port')} of {capacity(own.rate_gbps)} down"
        + (f" and {counted(plan.spine_uplinks, 'port')} up" if plan.supers else "")
        + f", on a {model.name} with {counted(model.cages, 'cage')}."
    )
    exact = plan.exact_uplinks_without_peers
    if exact == int(exact):
        divisors = [number for number in range(1, int(exact) + 1) if exact % number == 0]
        yield f"The {int(exact)} uplinks of a full rail switch divide evenly among {_either(divisors)} spines."
    share = 100 / own.count
    yield f"A rail switch uses all {own.count}, so the failure of one removes {share:.4g} % of its uplinks."


def _either(numbers: list[int]) -> str:
    """A choice of numbers, such as `1, 2, 4, 8 or 16`."""
    *most, last = map(str, numbers)
    return f"{', '.join(most)} or {last}" if most else last


def super_spines(subject: Subject) -> Iterator[str]:
    """Groups, links and capacity between pods."""
    plan = subject.dimensions
    own, model, spines = plan.supers, plan.super_model, plan.spines
    if own is None or model is None or spines is None:
        return
    yield _connections(subject)
    down = plan.leaves_per_pod * plan.links_per_leaf * spines.rate_gbps
    up = plan.spine_uplinks * own.rate_gbps
    yield f"{capacity(down)} of rail switches below a spine share {capacity(up)} to other pods: {ratio(down, up)}."
    ports = subject.intent.backend.pods * plan.spines_per_group * plan.links_per_spine
    below = f"{counted(subject.intent.backend.pods, 'pod')} x {counted(plan.spines_per_group, 'spine')}"
    yield (
        f"A super-spine has {below} x {counted(plan.links_per_spine, 'link')}: {counted(ports, 'port')} of "
        f"{capacity(own.rate_gbps)}, on a {model.name} with {counted(model.cages, 'cage')}."
    )


def _connections(subject: Subject) -> str:
    plan, own = subject.dimensions, subject.intent.backend.super_spines
    assert own is not None
    links = f"by {counted(plan.links_per_spine, 'link')} each: {counted(plan.spine_uplinks, 'uplink')}"
    if own.links_per_spine is None:
        links += f", as a full spine needs {plan.uplinks_of_full_spine}"
    if own.groups == 1:
        return f"Every spine connects to each of the {counted(own.count, 'super-spine')}, {links}."
    return (
        f"{own.count:,} super-spines form {own.groups} groups of {plan.supers_per_group}; each group connects to "
        f"{counted(plan.spines_per_group, 'spine')} of every pod, {links}."
    )


def sizes(subject: Subject) -> Iterator[str]:
    """The numbers of NIC ports that two and three tiers of these switches connect."""
    found, planes = scale(subject.dimensions), subject.intent.backend.planes
    of = " in each plane" if planes > 1 else ""
    yield (
        f"{counted(found.ports, 'NIC port')} of {capacity(found.rate_gbps)}{of}: two tiers of radix "
        f"{found.radix} connect "
        f"{two_tiers(found.radix):,} without blocking (k^2/2), three connect {three_tiers(found.radix):,} (k^3/4)."
    )
    if not found.fits_two_tiers:
        yield f"Two tiers would need radix {found.two_tier_radix}; there are {_tiers(subject)}."
    elif subject.counts[Role.SUPER]:
        yield f"Two tiers would be enough; there are {_tiers(subject)}, for separate pods or for growth."


def _tiers(subject: Subject) -> str:
    return {1: "one", 2: "two", 3: "three"}[1 + (subject.counts[Role.SPINE] > 0) + (subject.counts[Role.SUPER] > 0)]
