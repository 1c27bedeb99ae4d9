"""Control plane, route reflectors, failure detection, and load balancing."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.documents.explain.subject import Subject
from railfab.text.counted import counted
from railfab.topology import Net, Role
from railfab.topology.route_scale import table_use

CONTROL = {
    "ebgp": "eBGP runs on every link between switches (RFC 7938): AS paths prevent loops.",
    "ibgp": "iBGP runs in one AS, on every link between switches; a reflector is the next hop of what it reflects.",
    "evpn": "eBGP carries the routes of the underlay, and BGP EVPN over it those of hosts.",
}
TIER = {Role.LEAF: "rail switch", Role.SPINE: "spine", Role.SUPER: "super-spine"}
NO_SIZE = "compare with the data sheet of {model}, whose table sizes are not in the catalogue"
SINGLE = (
    "Each routed host link is announced as a prefix of its own. `profile.bgp.aggregate_hosts` announces one for each "
    "rail of a rail switch: an address is reached over its own link only, so no route could lead around a failed one."
)
AGGREGATED = (
    "A rail switch announces one prefix for the host links of each rail, also while one of them is down: an address is "
    "reached over its own link only, so no route could lead around it, and its packets are dropped at its rail switch."
)
EQUAL = "Equal paths have equal shares of the flows, whatever bandwidth is left behind each after a failure."
WEIGHTED = (
    "Each switch announces the bandwidth behind its routes (link bandwidth community), and equal paths share the flows "
    "in proportion to it."
)
SPREAD = {
    "flow": "Each flow stays on one path, which a hash of its addresses and ports chooses: packets stay in order, but "
    "a few large flows may share one link.",
    "flowlet": "A flow may change its path after a pause that is long enough to keep packets in order.",
    "packet": "Each packet may take any path, so that all paths are used evenly; the NICs reorder the packets.",
    "adaptive": "Each packet takes the path with the least load; the NICs reorder the packets.",
    "collective": "The switches tell the flows of a collective apart by their queue pairs, and spread them evenly over "
    "the paths by their number; each flow stays on its path.",
}


def control(subject: Subject) -> Iterator[str]:
    """BGP sessions, route reflectors, and the detection time of BFD."""
    profile = subject.intent.profile
    yield CONTROL[profile.control_plane]
    reflectors = [node.name for node in subject.topology.nodes if node.reflector and node.net is Net.BACKEND]
    if reflectors:
        yield (
            f"{counted(len(reflectors), 'route reflector')}, at most {profile.reflectors} in each pod and in the top "
            f"tier (`reflectors`), the first being {reflectors[0]}."
        )
    if profile.data_plane == "vxlan":
        sources = sum(node.vtep is not None for node in subject.topology.nodes if node.net is Net.BACKEND)
        yield f"Packets of hosts are encapsulated in VXLAN between the loopbacks of {counted(sources, 'rail switch')}."
    if profile.bfd:
        yield (
            f"BFD detects a lost neighbor after {profile.bfd.multiplier} x {profile.bfd.interval_ms} ms = "
            f"{profile.bfd.detection_ms:,} ms."
        )


def tables(subject: Subject) -> Iterator[str]:
    """Prefixes and next-hop groups of each tier, and how hosts are announced."""
    for use in table_use(subject.topology, subject.intent):
        size = f"{use.model.name} has room for {use.model.routes:,}" if use.model.routes else NO_SIZE
        yield (
            f"A {TIER[use.role]} holds {counted(use.prefixes, 'prefix')} in {counted(use.groups, 'next-hop group')}: "
            f"{size.format(model=use.model.name)}."
        )
    if subject.intent.hosts.attach == "routed" and subject.dimensions.spines is not None:
        yield AGGREGATED if subject.intent.profile.bgp.aggregate_hosts else SINGLE


def balancing(subject: Subject) -> Iterator[str]:
    """Number of equal paths, and the unit of load balancing."""
    plan, spines, supers = subject.dimensions, subject.dimensions.spines, subject.dimensions.supers
    if spines is None:
        return
    paths = spines.count if spines.bundle else plan.uplinks
    kind = "one per port channel" if spines.bundle else "one per uplink"
    yield f"A rail switch has {counted(paths, 'equal path')} up, {kind}."
    yield WEIGHTED if subject.intent.profile.bgp.weighted_ecmp else EQUAL
    if supers:
        paths = plan.supers_per_group if supers.bundle else plan.spine_uplinks
        yield f"A spine has {counted(paths, 'equal path')} to other pods."
    yield SPREAD[subject.intent.profile.ecmp]
