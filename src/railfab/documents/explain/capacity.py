"""Why there are so many uplinks, spines and super-spines, and which sizes fit how many tiers."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.documents.explain.subject import Subject
from railfab.documents.explain.words import capacity, counted, ratio
from railfab.topology import Role
from railfab.topology.scale import scale, three_tiers, two_tiers


def uplinks(subject: Subject) -> Iterator[str]:
    """What a full rail switch needs, what the intent says, and what that gives."""
    plan, backend = subject.dimensions, subject.intent.backend
    if plan.spines is None:
        return
    stated = "as the intent states" if "oversubscription" in backend.model_fields_set else "as it is by default"
    yield f"Each tier may be oversubscribed {backend.oversubscription:g}:1 at most, {stated}."
    yield _full(subject)
    yield _chosen(subject)
    down = plan.segments.hosts * plan.links_per_host_and_leaf * subject.intent.hosts.rate_gbps
    up = plan.uplinks * plan.spines.rate_gbps
    yield f"So {capacity(down)} of hosts now share {capacity(up)} up: {ratio(down, up)}."
    full = plan.growth_hosts * plan.links_per_host_and_leaf * subject.intent.hosts.rate_gbps
    if full > down:
        yield f"With the {counted(plan.growth_hosts, 'host')} that a segment may grow to, it is {ratio(full, up)}."


def _full(subject: Subject) -> str:
    plan, spines = subject.dimensions, subject.dimensions.spines
    assert spines is not None
    exact, full, rate = plan.exact_uplinks, plan.uplinks_of_full_leaf, capacity(spines.rate_gbps)
    rounded = "" if exact == full else f", rounded up from {exact:.4g}"
    ports = plan.segments.ports
    if not isinstance(ports, str):
        cages = max(sum(len(ports[rail]) for rail in rails) for rails in plan.rails_of.values())
        why = f"The {counted(cages, 'cage')} of a rail switch that the intent gives to rails let hosts send"
    elif (bound := subject.intent.backend.growth.hosts) is not None:
        why = f"The {counted(bound, 'host')} that `growth` allows a segment send"
    else:
        peers = f" that lead to no peer, {plan.leaf_model.cages - plan.peer_links}," if plan.peer_links else ""
        return (
            f"A full rail switch divides its cages{peers} between hosts and uplinks: {full} uplinks of {rate} carry "
            f"what all other cages let in{rounded}."
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
    rounded = "" if count == plan.uplinks_of_full_leaf else ", rounded up so that every spine has as many"
    return f"The intent states no number of links, so a full rail switch decides: {to_spines}{rounded}."


def _against_full(count: int, full: int) -> str:
    if count == full:
        return "just what a full rail switch needs"
    return f"{abs(count - full)} {'more' if count > full else 'fewer'} than a full rail switch needs"


def spines(subject: Subject) -> Iterator[str]:
    """Ports of a spine, and which counts divide."""
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
    yield f"A rail switch spreads over all {own.count}, so one that fails takes {share:.4g} % of its uplinks."


def _either(numbers: list[int]) -> str:
    """`1, 2, 4, 8 or 16`"""
    *most, last = map(str, numbers)
    return f"{', '.join(most)} or {last}" if most else last


def super_spines(subject: Subject) -> Iterator[str]:
    """Groups, links and capacity between pods."""
    plan = subject.dimensions
    own, model, spines = plan.supers, plan.super_model, plan.spines
    if own is None or model is None or spines is None:
        return
    yield _meeting(subject)
    down = plan.leaves_per_pod * plan.links_per_leaf * spines.rate_gbps
    up = plan.spine_uplinks * own.rate_gbps
    yield f"{capacity(down)} of rail switches below a spine share {capacity(up)} to other pods: {ratio(down, up)}."
    ports = subject.intent.backend.pods * plan.spines_per_group * plan.links_per_spine
    below = f"{counted(subject.intent.backend.pods, 'pod')} x {counted(plan.spines_per_group, 'spine')}"
    yield (
        f"A super-spine has {below} x {counted(plan.links_per_spine, 'link')}: {counted(ports, 'port')} of "
        f"{capacity(own.rate_gbps)}, on a {model.name} with {counted(model.cages, 'cage')}."
    )


def _meeting(subject: Subject) -> str:
    plan, own = subject.dimensions, subject.intent.backend.super_spines
    assert own is not None
    links = f"by {counted(plan.links_per_spine, 'link')} each: {counted(plan.spine_uplinks, 'uplink')}"
    if own.links_per_spine is None:
        links += f", as a full spine needs {plan.uplinks_of_full_spine}"
    if own.groups == 1:
        return f"Every spine meets every one of the {counted(own.count, 'super-spine')}, {links}."
    return (
        f"{own.count:,} super-spines stand in {own.groups} groups of {plan.supers_per_group}; each group meets "
        f"{counted(plan.spines_per_group, 'spine')} of every pod, {links}."
    )


def sizes(subject: Subject) -> Iterator[str]:
    """What two and three tiers of such switches take."""
    found, planes = scale(subject.dimensions), subject.intent.backend.planes
    of = " in each plane" if planes > 1 else ""
    yield (
        f"{counted(found.ports, 'NIC port')} of {capacity(found.rate_gbps)}{of}: two tiers of radix {found.radix} take "
        f"{two_tiers(found.radix):,} without blocking (k^2/2), three take {three_tiers(found.radix):,} (k^3/4)."
    )
    if not found.fits_two_tiers:
        yield f"Two tiers would need radix {found.two_tier_radix}; there are {_tiers(subject)}."
    elif subject.counts[Role.SUPER]:
        yield f"Two tiers would do; there are {_tiers(subject)}, for pods that stand apart or are to grow."


def _tiers(subject: Subject) -> str:
    return {1: "one", 2: "two", 3: "three"}[1 + (subject.counts[Role.SPINE] > 0) + (subject.counts[Role.SUPER] > 0)]
