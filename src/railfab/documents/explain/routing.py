"""Control plane, reflectors, failure detection, and what is spread over equal paths."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.documents.explain.subject import Subject
from railfab.documents.explain.words import counted
from railfab.topology import Net

CONTROL = {
    "ebgp": "eBGP runs on every link between switches (RFC 7938): each tier's AS numbers tell where a route has been.",
    "ibgp": "iBGP runs in one AS, so switches learn from route reflectors.",
    "evpn": "eBGP carries the underlay, and BGP EVPN on top of it carries what hosts are attached by.",
}
SPREAD = {
    "flow": "Each flow stays on one path, which a hash of its addresses and ports chooses: packets stay in order, but "
    "a few large flows may meet on one link.",
    "flowlet": "A flow may change its path in a pause that is long enough for packets to stay in order.",
    "packet": "Each packet takes any path, so that all are used alike; the hosts say that their NICs put packets back "
    "in order.",
}


def control(subject: Subject) -> Iterator[str]:
    """Who speaks to whom, and how soon a lost neighbour is noticed."""
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
        yield f"Hosts' packets cross in VXLAN, between the loopbacks of {counted(sources, 'rail switch')}."
    if profile.bfd:
        detected = profile.bfd.interval_ms * profile.bfd.multiplier
        yield (
            f"BFD notices a silent neighbour after {profile.bfd.multiplier} x {profile.bfd.interval_ms} ms = "
            f"{detected:,} ms."
        )


def balancing(subject: Subject) -> Iterator[str]:
    """How many equal paths there are, and what is spread over them."""
    plan, spines, supers = subject.dimensions, subject.dimensions.spines, subject.dimensions.supers
    if spines is None:
        return
    paths = spines.count if spines.bundle else plan.uplinks
    kind = "one a port channel" if spines.bundle else "one an uplink"
    yield f"A rail switch has {counted(paths, 'equal path')} up, {kind}."
    if supers:
        paths = plan.supers_per_group if supers.bundle else plan.spine_uplinks
        yield f"A spine has {counted(paths, 'equal path')} to other pods."
    yield SPREAD[subject.intent.profile.ecmp]
