"""Checks of switches by themselves, and of the two ends of every link: ports, BGP, BFD, PFC, ECN and DSCP maps.

The ends of a link may be of different platforms: a setting that one of them does not state is not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from railfab.device.agreement_qos import QOS_CHECKS
from railfab.device.buffers import SWITCH_ROLES
from railfab.device.interfaces import Fec, IpInterface, Loopback, Port
from railfab.device.link_ends import SAME, STATES_ALL, ConfiguredSwitch, LinkEnd, PlatformTraits, mismatch
from railfab.device.model import DeviceModel
from railfab.device.polarisation import polarised_tiers
from railfab.device.qos import ClassPriority, ClassThresholds, TrafficClass
from railfab.device.routing import BgpNeighbor, Family, Remote
from railfab.findings import DifferenceCode, Finding, error, warning
from railfab.intent import Lossless
from railfab.topology import TIERS, Link, Topology

Check = Callable[[LinkEnd, LinkEnd], Iterator[Finding]]
NO_TRAITS: Mapping[str, PlatformTraits] = {}


def disagreements(
    topology: Topology,
    models: Mapping[str, DeviceModel],
    traits: Mapping[str, PlatformTraits] = NO_TRAITS,
    lossless: Lossless | None = None,
) -> tuple[Finding, ...]:
    """Mistakes within these switches, mismatched ends of the links between them, and ports that are not configured.

    traits: by platform; one without any states everything. lossless: what the intent says of the lossless class, which
    may state other ECN thresholds for each role.
    """
    switches = {
        node.name: ConfiguredSwitch(
            node=node,
            model=models[node.name],
            traits=traits.get(models[node.name].platform, STATES_ALL),
        )
        for node in topology.switches()
        if node.name in models
    }
    findings = [finding for switch in switches.values() for finding in _switch_mistakes(switch)]
    findings.extend(_shared_addresses(switches, topology))
    findings.extend(polarised_tiers(topology, {name: switch.model.load_balancing for name, switch in switches.items()}))
    for link in topology.links:
        if link.a.node in switches and link.z.node in switches and link.a.cage and link.z.cage:
            findings.extend(_link_mistakes(link, switches, topology, lossless))
    return tuple(findings)


def _shared_addresses(switches: Mapping[str, ConfiguredSwitch], topology: Topology) -> Iterator[Finding]:
    """Addresses that two switches have, or one of a switch of which there is no model here; gateways are shared.

    An intended anycast gateway is one also on a platform whose configuration does not say that it is.
    """
    owners = {node.loopback: node.name for node in topology.switches() if node.loopback is not None}
    anycast = {(gateway.node, gateway.address.ip) for gateway in topology.gateways if gateway.anycast}
    for name, switch in switches.items():
        for interface in switch.model.interfaces:
            for address in interface.addresses:
                owner = owners.setdefault(address.ip, name)
                if owner != name and not {(owner, address.ip), (name, address.ip)} <= anycast:
                    problem = f"has {address.ip}, which is an address of {owner}"
                    where = f"{name} {interface.name}"
                    yield error(DifferenceCode.ADDRESS_SHARED, where, problem, "Give one of both another address")


def _switch_mistakes(switch: ConfiguredSwitch) -> Iterator[Finding]:
    model = switch.model
    if model.bgp is None:
        yield error(DifferenceCode.BGP_MISSING, model.name, "has no BGP speaker", "Deploy the intent")
    for interface in model.interfaces:
        if isinstance(interface, Loopback) and not interface.addresses:
            where = f"{model.name} {interface.name}"
            yield error(DifferenceCode.LOOPBACK_WITHOUT_ADDRESS, where, "has no address", "Deploy the intent")
    if model.qos is not None:
        for traffic_class in model.qos.classes:
            yield from _other_priority(f"{model.name} class {traffic_class.name}", traffic_class)
        for port in model.qos.ports:
            for priority in port.priorities:
                yield from _other_priority(f"{model.name} {port.interface} class {priority.traffic_class}", priority)
        for profile in model.qos.profiles:
            for thresholds in profile.thresholds:
                yield from _ecn_order(f"{model.name} profile {profile.name}", thresholds)


def _other_priority(where: str, priorities: TrafficClass | ClassPriority) -> Iterator[Finding]:
    sent, obeyed = priorities.pfc_priority, priorities.obeyed_priority
    if sent != obeyed:
        problem = f"sends pause frames of {_priority(sent)} and obeys those of {_priority(obeyed)}"
        yield error(DifferenceCode.PFC_PRIORITY_MISMATCH, where, problem, "Configure the same priority for both")


def _priority(priority: int | None) -> str:
    return "no priority" if priority is None else f"priority {priority}"


def _ecn_order(where: str, thresholds: ClassThresholds) -> Iterator[Finding]:
    """Marking has to begin below Kmax, and Kmax to be below XOFF, so that senders slow down before they are paused."""
    if thresholds.ecn is None:
        return
    place, ramp = f"{where} class {thresholds.traffic_class}", thresholds.ecn
    kmin, kmax = ramp.kmin_bytes, ramp.kmax_bytes
    if kmin >= kmax:
        problem = f"kmin_bytes {kmin:,} is not below kmax_bytes {kmax:,}"
        yield error(DifferenceCode.ECN_ORDER, place, problem, "Deploy the intent")
    if thresholds.xoff_bytes is not None and kmax >= thresholds.xoff_bytes:
        problem = f"kmax_bytes {kmax:,} is not below xoff_bytes {thresholds.xoff_bytes:,}, so PFC acts before ECN"
        yield error(DifferenceCode.ECN_ORDER, place, problem, "Deploy the intent")


def _link_mistakes(
    link: Link, switches: Mapping[str, ConfiguredSwitch], topology: Topology, lossless: Lossless | None
) -> Iterator[Finding]:
    ends = []
    for port in (link.a, link.z):
        switch = switches[port.node]
        configured = switch.interfaces.get(port.name)
        if configured is None:
            where = f"{port.node} {port.name}"
            yield error(DifferenceCode.INTERFACE_MISSING, where, "is not configured", "Deploy the intent")
        else:
            cage = topology.model_of(switch.node).interface(str(switch.node.platform), port.cage, None)
            ramp = lossless.ramp(link.rate_gbps, SWITCH_ROLES[switch.node.role]) if lossless else None
            ends.append(LinkEnd(switch=switch, port=configured, cage=cage, ramp=ramp))
    if len(ends) == 2:
        for check in CHECKS:
            yield from check(*ends)


def _port_settings(a: LinkEnd, z: LinkEnd) -> Iterator[Finding]:
    for end in (a, z):
        if not (end.port.enabled and end.routed.enabled):
            yield error(DifferenceCode.INTERFACE_DISABLED, end.where, "is shut down", "Enable it")
    if isinstance(a.port, Port) and isinstance(z.port, Port):
        if a.states("port_speed") and z.states("port_speed"):
            yield from mismatch(DifferenceCode.SPEED_MISMATCH, a, z, "speed", a.rate_gbps, z.rate_gbps)
        if a.states("fec") and z.states("fec") and not _is_default_fec(a, z, a.port.fec, z.port.fec):
            yield from mismatch(DifferenceCode.FEC_MISMATCH, a, z, "FEC", a.port.fec, z.port.fec)
    yield from mismatch(DifferenceCode.LAG_MISMATCH, a, z, "membership in a LAG", a.lag is not None, z.lag is not None)
    if a.lag and z.lag:
        yield from mismatch(DifferenceCode.LAG_MISMATCH, a, z, "LACP", a.lag.lacp, z.lag.lacp)


def _is_default_fec(a: LinkEnd, z: LinkEnd, left: Fec | None, right: Fec | None) -> bool:
    """Whether one end states RS(544,514) and the other uses it without a setting for it, as with PAM4."""
    pairs = ((a, left, right), (z, right, left))
    return any(
        stated is None and implied is Fec.RS_544 and not end.states("fec_rs_544") for end, stated, implied in pairs
    )


def _routed_settings(a: LinkEnd, z: LinkEnd) -> Iterator[Finding]:
    left, right = a.routed, z.routed
    if a.states("mtu") and z.states("mtu"):
        yield from mismatch(DifferenceCode.MTU_MISMATCH, a, z, "MTU", left.mtu_bytes, right.mtu_bytes)
    yield from mismatch(DifferenceCode.UNNUMBERED_MISMATCH, a, z, "IPv6 unnumbered", left.unnumbered, right.unnumbered)
    for version in (4, 6):
        ours, theirs = (
            tuple(net for net in interface.subnets if net.version == version) for interface in (left, right)
        )
        if ours and theirs and not set(ours) & set(theirs):
            yield from mismatch(DifferenceCode.SUBNET_MISMATCH, a, z, "subnet", ours, theirs)


def _bgp_sessions(a: LinkEnd, z: LinkEnd) -> Iterator[Finding]:
    """Sessions over a link; the link between the switches of a pair may have none."""
    paired = TIERS[a.switch.node.role] == TIERS[z.switch.node.role]
    if a.switch.model.bgp is None or z.switch.model.bgp is None or (paired and not (a.neighbor or z.neighbor)):
        return
    for end, peer in ((a, z), (z, a)):
        if end.neighbor is None:
            problem = f"has no BGP neighbour towards {peer.name}"
            yield error(DifferenceCode.BGP_NEIGHBOR_MISSING, end.where, problem, "Deploy the intent")
        else:
            yield from _remote_as(end, end.neighbor, peer)
            yield from _peer_address(end, end.neighbor, peer)
    if a.neighbor and z.neighbor:
        yield from _session_settings(a, z, a.neighbor, z.neighbor)


def _remote_as(end: LinkEnd, neighbor: BgpNeighbor, peer: LinkEnd) -> Iterator[Finding]:
    local, remote = (side.switch.model.bgp for side in (end, peer))
    assert local is not None
    assert remote is not None
    expected = neighbor.remote_as
    if isinstance(expected, Remote):
        agree = (local.asn == remote.asn) is (expected is Remote.INTERNAL)
        text = f"expects an AS that is {'its own' if expected is Remote.INTERNAL else 'not its own'}"
    else:
        agree, text = expected == remote.asn, f"expects AS {expected}"
    if not agree:
        problem = f"{text}, but {peer.name} is in AS {remote.asn}"
        yield error(DifferenceCode.REMOTE_AS_MISMATCH, end.where, problem, "Correct the remote AS")


def _peer_address(end: LinkEnd, neighbor: BgpNeighbor, peer: LinkEnd) -> Iterator[Finding]:
    """Whether the peer has the address with which this end has a session, among those of the subnet they share."""
    addresses = [address for address in peer.routed.addresses if _is_in(neighbor, address)]
    if addresses and all(address.ip != neighbor.peer for address in addresses):
        has = ", ".join(str(address.ip) for address in addresses)
        problem = f"expects {neighbor.peer} as its BGP neighbour, but {peer.where} has {has}"
        yield error(DifferenceCode.PEER_ADDRESS_MISMATCH, end.where, problem, "Correct the address of one end")


def _is_in(neighbor: BgpNeighbor, address: IpInterface) -> bool:
    return not isinstance(neighbor.peer, str) and neighbor.peer in address.network


def _session_settings(a: LinkEnd, z: LinkEnd, left: BgpNeighbor, right: BgpNeighbor) -> Iterator[Finding]:
    if a.states("bfd") and z.states("bfd"):
        yield from mismatch(DifferenceCode.BFD_MISMATCH, a, z, "BFD", left.bfd, right.bfd)
    families = sorted(left.families), sorted(right.families)
    yield from mismatch(DifferenceCode.FAMILY_MISMATCH, a, z, "the set of BGP families", *map(tuple, families))
    yield from _next_hops(a, z, left, right)
    passwords = left.password is not None, right.password is not None
    yield from mismatch(DifferenceCode.BGP_PASSWORD_MISMATCH, a, z, "the BGP password", *passwords)
    if left.timers.hold_s != right.timers.hold_s:
        problem = f"BGP hold times differ: {left.timers.hold_s} s and {right.timers.hold_s} s, and the smaller one acts"
        yield warning(DifferenceCode.BGP_TIMERS_MISMATCH, f"{a.where} and {z.where}", problem, SAME)


def _next_hops(a: LinkEnd, z: LinkEnd, left: BgpNeighbor, right: BgpNeighbor) -> Iterator[Finding]:
    """IPv4 routes of a session between link-local addresses, whose next hops are IPv6 addresses (RFC 8950)."""
    if not (left.unnumbered and right.unnumbered and Family.IPV4 in {*left.families} & {*right.families}):
        return
    for sender, receiver in ((a, z), (z, a)):
        announcing, receiving = sender.switch.model.bgp, receiver.switch.model.bgp
        assert announcing is not None
        assert receiving is not None
        if not (announcing.advertise_ipv6_next_hops and receiving.receive_ipv6_next_hops):
            problem = f"gets no IPv4 routes of {sender.where}, as next hops that are IPv6 addresses are off at one end"
            yield error(DifferenceCode.NEXT_HOP_MISMATCH, receiver.where, problem, "Switch them on at both ends")


CHECKS: tuple[Check, ...] = (_port_settings, _routed_settings, _bgp_sessions, *QOS_CHECKS)
