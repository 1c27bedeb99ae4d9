"""The address plan, field by field, and the AS plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from railfab.documents.explain.subject import Subject
from railfab.text.counted import counted
from railfab.topology import Link, Node, Role
from railfab.topology.addresses import (
    CLASSIC_LEAVES,
    CLASSIC_LINKS,
    CLASSIC_PODS,
    CLASSIC_RAILS,
    OCTET,
    UPLINKS_PER_SWITCH,
    ClassicPlan,
    Fields,
    WidePlan,
    address_plan,
)
from railfab.topology.numbering import FIRST_LEAF, LAST, AsPlan

HOST_FIELDS = ("plane", "rail", "pod", "segment", "leaf of the rail", "host and port", "end of the link")
LOOPBACK_FIELDS = ("tier", "plane", "pod", "switch")
LINK_FIELDS = ("tier", "plane", "pod", "switch", "uplink", "end of the link")
BITS = "Numbers in the fields count from 0"


def addresses(subject: Subject) -> Iterator[str]:
    """The address plan in use and the reason; then each kind of address with an example."""
    plan = address_plan(subject.dimensions)
    if isinstance(plan, WidePlan):
        yield from _wide(subject, plan)
    else:
        assert isinstance(plan, ClassicPlan)
        yield from _classic(subject)
    yield from _fabric_links(subject, plan)


def outgrown(subject: Subject) -> list[str]:
    """The reasons why the classic plan is too small for a fabric; empty if it is not."""
    plan, intent, own = subject.dimensions, subject.intent, subject.intent.profile.addresses
    links, leaves = plan.growth_hosts * plan.links_per_nic_and_leaf, _classic_leaves(subject)
    limits = (
        (plan.intent.hosts.nics, CLASSIC_RAILS, "rails"),
        (plan.growth_pods, CLASSIC_PODS, "pods"),
        (plan.growth_leaves, leaves, "rail switches of a pod"),
        (links, CLASSIC_LINKS, "links of a rail on a switch"),
        (plan.spines.count if plan.spines else 0, OCTET - 1, "spines of a pod"),
        (plan.supers.count if plan.supers else 0, OCTET - 1, "super-spines"),
    )
    numbered = max(plan.uplinks, plan.spine_uplinks) if intent.profile.underlay == "numbered" else 0
    reasons = ["its addresses are IPv6"] if intent.profile.family == "ipv6" else []
    reasons += ["the intent states pools"] if own.hosts or own.loopbacks or own.fabric_links else []
    reasons += ["it has several planes"] if intent.backend.planes > 1 else []
    if numbered > UPLINKS_PER_SWITCH:
        reasons.append(f"a switch has {numbered} numbered uplinks, more than {UPLINKS_PER_SWITCH}")
    reasons += [f"it may grow to {count:,} {what}, more than {most}" for count, most, what in limits if count > most]
    return reasons


def _classic_leaves(subject: Subject) -> int:
    """Largest number of rail switches per pod in the classic plan: a whole octet for a single pod."""
    return CLASSIC_LEAVES if subject.dimensions.growth_pods > 1 else OCTET - 1


def _classic(subject: Subject) -> Iterator[str]:
    plan = subject.dimensions
    pods = f"{CLASSIC_PODS} pods" if plan.growth_pods > 1 else "a single pod"
    yield (
        "The classic plan, in which pods and leaves are octets, has room for "
        f"{pods} of {_classic_leaves(subject)} rail switches, {CLASSIC_RAILS} rails and {CLASSIC_LINKS} links of a "
        f"rail on a switch. This fabric may grow to {counted(plan.growth_pods, 'pod')} of "
        f"{counted(plan.growth_leaves, 'rail switch')}, {counted(subject.intent.hosts.nics, 'rail')} and "
        f"{counted(plan.growth_hosts * plan.links_per_nic_and_leaf, 'such link')}."
    )
    if subject.intent.hosts.attach == "routed":
        yield _classic_host(subject)
    leaf = subject.first[Role.LEAF]
    tiers = [f"10.255.pod.leaf, {leaf.loopback} for {leaf.name}"]
    if spine := subject.first.get(Role.SPINE):
        tiers.append(f"10.254.pod.spine, {spine.loopback} for {spine.name}")
    if top := subject.first.get(Role.SUPER):
        tiers.append(f"10.253.0.n, {top.loopback} for {top.name}")
    yield f"Loopbacks: {'; '.join(tiers)}."


def _classic_host(subject: Subject) -> str:
    link, leaf = _last_host_link(subject)
    number = subject.dimensions.leaf_number(leaf.segment or 0, leaf.index)
    assert link.a.address is not None
    return (
        f"Host links of rail r on leaf l of pod p are /31s of 10.(16+r).(16(p-1)+l-1).0/24, the switch having the even "
        f"address: {link.a.node} {link.a.name} has {link.a.address}, as it is on rail {link.a.rail}, pod {leaf.pod}, "
        f"leaf {number}: 16 + {link.a.rail} = {16 + (link.a.rail or 0)} and "
        f"16 x {leaf.pod - 1} + {number} - 1 = {16 * (leaf.pod - 1) + number - 1}."
    )


def _last_host_link(subject: Subject) -> tuple[Link, Node]:
    """The last host link, and its switch."""
    found = next(link for link in reversed(subject.topology.links) if link.a.rail is not None)
    return found, subject.topology.node(found.z.node)


def _wide(subject: Subject, plan: WidePlan) -> Iterator[str]:
    reasons = "; ".join(outgrown(subject))
    yield (
        f"The classic plan is too small ({reasons}), so an address is a sequence of bit fields, wide enough for the "
        f"largest size of the fabric. {BITS}."
    )
    if subject.intent.hosts.attach == "routed":
        yield f"Host links: {_row(HOST_FIELDS, plan.host_fields)}."
        link, _ = _last_host_link(subject)
        assert link.a.address is not None
        decoded = _decoded(HOST_FIELDS, plan.host_fields, int(link.a.address.ip))
        yield f"{link.a.node} {link.a.name} has {link.a.address}: {decoded}."
    yield f"Loopbacks: {_row(LOOPBACK_FIELDS, plan.loopback_fields)}."
    leaf = subject.first[Role.LEAF]
    assert leaf.loopback is not None
    yield f"{leaf.name} has {leaf.loopback}: {_decoded(LOOPBACK_FIELDS, plan.loopback_fields, int(leaf.loopback))}."


def _row(names: Sequence[str], fields: Fields) -> str:
    """The widths of all fields that are not empty."""
    widths = ", ".join(f"{name} {width}" for name, width in zip(names, fields.widths, strict=True) if width)
    room = fields.pool.max_prefixlen - fields.pool.prefixlen
    return f"{widths}; {counted(fields.bits, 'bit')} of the {room} that {fields.pool} has"


def _decoded(names: Sequence[str], fields: Fields, address: int) -> str:
    """The value of each field of an address."""
    rest, found = address - int(fields.pool.network_address), []
    for name, width in reversed(list(zip(names, fields.widths, strict=True))):
        if width:
            found.append(f"{name} {rest & (1 << width) - 1}")
        rest >>= width
    return ", ".join(reversed(found))


def _fabric_links(subject: Subject, plan: ClassicPlan | WidePlan) -> Iterator[str]:
    if subject.intent.backend.spines is None:
        return
    if subject.intent.profile.underlay == "unnumbered":
        yield "Links between switches have no addresses: sessions run over IPv6 link-local addresses (RFC 5549)."
        return
    link = next(link for link in subject.topology.links if link.a.rail is None and link.a.address is not None)
    bits = f", as {_row(LINK_FIELDS, plan.link_fields)}" if isinstance(plan, WidePlan) else ""
    yield (
        f"Links between switches are numbered from {plan.pools.fabric_links}{bits}; the upper end has the even "
        f"address: {link.a.node} {link.a.name} has {link.a.address}, {link.z.node} {link.z.name} {link.z.address}."
    )


def as_numbers(subject: Subject) -> Iterator[str]:
    """AS numbers of leaves, spines and super-spines; or the one of iBGP."""
    profile, plan = subject.intent.profile, AsPlan(subject.dimensions)
    if profile.control_plane == "ibgp":
        yield f"With iBGP all switches are in AS {profile.asn}."
        return
    leaf, step = subject.first[Role.LEAF], plan.pod_width
    switches = counted(subject.dimensions.growth_leaves, "rail switch")
    yield (
        f"Each rail switch has its own AS number: {FIRST_LEAF} + {step} x pod + leaf, {leaf.asn} for "
        f"{leaf.name}. A pod uses {step:,} numbers, since it may grow to {switches}."
    )
    if spine := subject.first.get(Role.SPINE):
        top = subject.first.get(Role.SUPER)
        yield (
            f"All spines of a pod share one, {spine.asn} in the first"
            + (f", and all super-spines share {top.asn}" if top else "")
            + " (RFC 7938, section 5.2): leaves do not send routes from one spine to another."
        )
    highest = f"The highest number at its largest size, {plan.last_leaf},"
    yield f"{highest} is private like all others (RFC 6996: up to {LAST})."
