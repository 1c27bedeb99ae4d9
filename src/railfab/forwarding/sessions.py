"""Which BGP and BFD sessions are up, and why the others are not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import NamedTuple

from railfab.device import DEFAULT_INSTANCE, BgpNeighbor, BgpSpeaker, Family, Interface, IpAddress, NextHop, Remote
from railfab.forwarding.bfd import BfdTiming, bfd_timing
from railfab.forwarding.config import SwitchConfig
from railfab.forwarding.faults import NO_SILENT_FAULTS, SilentFaults
from railfab.forwarding.lags import InterfaceLink, InterfaceLinks
from railfab.forwarding.ports import Configs
from railfab.topology import PortKey


class PrefixCounts(NamedTuple):
    """Prefixes of one address family of a session. accepted: of the received ones, by the import policy."""

    received: int = 0
    accepted: int = 0
    sent: int = 0
    installed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BgpSession:
    """A configured BGP neighbour. state: `idle`, `active` or `established`, as a switch reports it.

    enabled: whether it, its group, the BGP speaker and the network instance are.
    key: of the neighbour on its device. interface: over which it is connected; None when its address is in no subnet.
    peer: the interface of an unnumbered session, the address of a numbered one. peer_key: of the neighbour at the
    other end. remote_as: as configured, or that of the peer; 0 while unknown. internal: whether both ends are of one
    AS. families: configured here; received, sent: those whose routes come and go, none while it is down.
    peer_router_id: the BGP identifier of the other end, as its OPEN message has it; None while it is down.
    keeps_next_hop: whether the peer announces the next hop that it uses itself. to_client: whether it reflects to this
    end. reason: why it is not established, empty when it is. refused: whether one end refuses the OPEN message of the
    other, so that both try again and again. bfd_up, bfd: None without BFD.
    prefixes: numbers of prefixes by family; none while it is down.
    """

    device: str
    key: str
    interface: str | None
    peer: str
    peer_device: str | None
    peer_interface: str | None
    peer_key: str | None
    remote_as: int
    internal: bool = False
    families: tuple[Family, ...] = (Family.IPV4,)
    received: tuple[Family, ...] = ()
    sent: tuple[Family, ...] = ()
    keeps_next_hop: bool = False
    to_client: bool = False
    state: str
    reason: str
    refused: bool = False
    bfd_up: bool | None
    bfd: BfdTiming | None = None
    peer_router_id: IPv4Address | None = None
    enabled: bool = True
    prefixes: Mapping[Family, PrefixCounts] = field(default_factory=dict)

    @property
    def network_instance(self) -> str:
        instance, _, _ = self.key.rpartition(" ")
        return instance or DEFAULT_INSTANCE

    @property
    def established(self) -> bool:
        return not self.reason

    @property
    def total(self) -> PrefixCounts:
        """Numbers of prefixes of all families together."""
        counts = self.prefixes.values()
        return PrefixCounts(*map(sum, zip(*counts, strict=True))) if counts else PrefixCounts()


Sessions = Mapping[str, Mapping[str, BgpSession]]
"""Every configured session without its numbers of prefixes, by device, then key, in the order of the model."""


@dataclass(frozen=True, slots=True)
class _SessionEnd:
    """One end of a session that may come up: a switch, its interface, and its neighbour."""

    config: SwitchConfig
    port: PortKey
    neighbor: BgpNeighbor
    interface: Interface | None

    @classmethod
    def of(cls, config: SwitchConfig, port: PortKey, neighbor: BgpNeighbor) -> _SessionEnd:
        """The end of a neighbour on an interface, which a switch may not have."""
        return cls(config, port, neighbor, config.interfaces.get(port[1]))

    @property
    def device(self) -> str:
        return self.port[0]

    @property
    def where(self) -> str:
        return f"{self.port[0]} {self.port[1]}"

    @property
    def routed(self) -> bool:
        """Whether its interface routes in the network instance of the neighbour: enabled, and attached to it."""
        return self.interface is not None and self.interface.network_instance == self.neighbor.network_instance


@dataclass(frozen=True, slots=True)
class SessionInputs:
    """Inputs of the sessions, as they are after a change."""

    links: InterfaceLinks
    configs: Configs
    silent: SilentFaults = NO_SILENT_FAULTS


def sessions(now: SessionInputs, touched: Iterable[PortKey], changed: Collection[str], before: Sessions) -> Sessions:
    """The sessions with those of touched ports and of changed switches computed again.

    changed: switches whose configuration is new; all their sessions are computed. A switch that hangs keeps its own.
    """
    configs = now.configs
    found: dict[str, Mapping[str, BgpSession]] = dict(before)
    for name in changed:
        if name not in configs:
            found.pop(name, None)
            continue
        fresh = {key: _session(now, name, key) for key in configs[name].neighbors}
        if found.get(name) != fresh or list(found[name]) != list(fresh):
            found[name] = fresh
    renewed: dict[str, dict[str, BgpSession]] = {}
    for node, interface in touched:
        if node in changed or node not in configs or node in now.silent.hung:
            continue
        for key in configs[node].sessions_on.get(interface, ()):
            session = _session(now, node, key)
            if found[node][key] != session:
                if node not in renewed:
                    found[node] = renewed[node] = dict(found[node])
                renewed[node][key] = session
    return found


def _session(now: SessionInputs, device: str, key: str) -> BgpSession:
    configs = now.configs
    config = configs[device]
    neighbor, interface = config.neighbors[key], config.interface_of.get(key)
    link = now.links.of((device, interface)) if interface is not None else None
    peer = link.peer if link is not None else None
    near = _SessionEnd.of(config, (device, interface or ""), neighbor)
    far = _far_end(near, configs.get(peer[0]), peer) if peer else None
    state, reason = _condition(now, near, far, link)
    established = far if not reason else None
    bfd_up = _bfd_up(now, near, far, link)
    internal = far is not None and far.config.asn == config.asn
    return BgpSession(
        device=device,
        key=key,
        interface=interface,
        peer=str(neighbor.peer),
        peer_device=peer[0] if peer else None,
        peer_interface=peer[1] if peer else None,
        peer_key=far.neighbor.key if far else None,
        remote_as=_remote_as(near, far),
        internal=internal,
        families=neighbor.families,
        received=_passed(established, near) if established else (),
        sent=_passed(near, established) if established else (),
        keeps_next_hop=far is not None and _keeps_next_hop(far.neighbor, internal),
        to_client=far is not None and far.neighbor.reflector_client,
        state=state,
        reason=reason,
        refused=bool(reason) and far is not None and any(reason == text for _, text in _refusals(near, far)),
        bfd_up=bfd_up,
        bfd=bfd_timing(neighbor.bfd, far.neighbor.bfd if far and bfd_up else None) if neighbor.bfd else None,
        peer_router_id=established.config.router_id if established else None,
        enabled=neighbor.enabled,
    )


def _far_end(near: _SessionEnd, config: SwitchConfig | None, peer: PortKey) -> _SessionEnd | None:
    """The neighbour at the other end of the cable: the one meant for this end, or any other."""
    if config is None:
        return None
    keys = config.sessions_on.get(peer[1], ())
    if len(keys) > 1:
        keys = tuple(sorted(keys, key=lambda key: not _is_meant(config.neighbors[key], near)))
    return _SessionEnd.of(config, peer, config.neighbors[keys[0]]) if keys else None


def _keeps_next_hop(neighbor: BgpNeighbor, internal: bool) -> bool:
    """Whether a switch announces routes with the next hop that it uses, which others have no route to."""
    return neighbor.next_hop is NextHop.UNCHANGED or (internal and neighbor.next_hop is NextHop.DEFAULT)


def _is_meant(neighbor: BgpNeighbor, near: _SessionEnd) -> bool:
    """Whether the far end's neighbour is this end: both unnumbered, or the address is on this interface."""
    if isinstance(neighbor.peer, str) or isinstance(near.neighbor.peer, str):
        return neighbor.unnumbered and near.neighbor.unnumbered
    return _has(near.interface, neighbor.peer) and neighbor.peer.version == near.neighbor.peer.version


def _has(interface: Interface | None, address: IpAddress) -> bool:
    return interface is not None and any(held.ip == address for held in interface.addresses)


def _remote_as(near: _SessionEnd, far: _SessionEnd | None) -> int:
    """The AS number of a peer as configured; of one that is only internal or external, its own, 0 while unknown."""
    if not isinstance(near.neighbor.remote_as, Remote):
        return near.neighbor.remote_as
    return (far.config.asn if far else None) or 0


def _condition(
    now: SessionInputs, near: _SessionEnd, far: _SessionEnd | None, link: InterfaceLink | None
) -> tuple[str, str]:
    """The state of a session, and why it is not established."""
    device, neighbor, configs = near.device, near.neighbor, now.configs
    if not neighbor.enabled:
        return "idle", f"{device} has shut down its neighbour {neighbor.peer}"
    if near.port[1] == "":
        return "idle" if neighbor.multihop_ttl is None else "active", f"{neighbor.peer} is in no subnet of {device}"
    if link is None:
        return "idle", f"{near.where} has no cable"
    if link.reason:
        return "idle", link.reason
    if not near.routed:
        return "idle", _unrouted(near)
    peer, interface = link.peer
    if peer not in configs or configs[peer].model.bgp is None:
        return "active", f"{peer} runs no BGP"
    if far is None:
        return "active", f"{peer} has no neighbour on {interface}"
    if reason := now.silent.between(near.port, far.port):
        return "active", reason
    return next(_session_faults(near, far), ("established", ""))


def _unrouted(end: _SessionEnd) -> str:
    return f"{end.where} does not route: its subinterface is disabled, or in no network instance"


def _session_faults(near: _SessionEnd, far: _SessionEnd) -> Iterator[tuple[str, str]]:
    """Reasons why a session over a working link is down, each with the state that it stays in."""
    if not far.routed:
        yield "active", _unrouted(far)
    if not far.neighbor.enabled:
        yield "active", f"{far.device} has shut down its neighbour {far.neighbor.peer}"
    yield from _addressing(near, far)
    for one, other in ((near, far), (far, near)):
        source = one.neighbor.update_source
        if source not in (None, one.port[1]):
            yield "active", f"{one.device} opens the session from {source}, which {other.device} does not expect"
    if (near.neighbor.password is None) != (far.neighbor.password is None):
        with_one, without = (near, far) if near.neighbor.password else (far, near)
        yield "active", f"{with_one.device} has a password for the session, {without.device} has none"
    yield from _refusals(near, far)


def _refusals(near: _SessionEnd, far: _SessionEnd) -> Iterator[tuple[str, str]]:
    """Reasons to refuse the OPEN message of the other end (RFC 4271, 6.2)."""
    yield from _as_numbers(near, far)
    yield from _as_numbers(far, near)
    yield from _router_ids(near, far)


def _addressing(near: _SessionEnd, far: _SessionEnd) -> Iterator[tuple[str, str]]:
    """Both ends unnumbered, or each configured with an address of the other's interface."""
    if near.neighbor.unnumbered != far.neighbor.unnumbered:
        numbered, other = (far, near) if near.neighbor.unnumbered else (near, far)
        yield "active", f"{numbered.where} is numbered, {other.where} is not"
    for one, other in ((near, far), (far, near)):
        if isinstance(one.neighbor.peer, str):
            if one.interface is None or not one.interface.unnumbered:
                yield "active", f"{one.where} has no IPv6 link-local"
        elif not _has(other.interface, one.neighbor.peer):
            yield "active", f"{one.device} expects {one.neighbor.peer}, which is not on {other.where}"


def _as_numbers(one: _SessionEnd, other: _SessionEnd) -> Iterator[tuple[str, str]]:
    """The end that expects another AS number ends each session after the OPEN message; both ends begin again."""
    expected, same = one.neighbor.remote_as, one.config.asn == other.config.asn
    if expected is Remote.EXTERNAL and same:
        yield "active", f"{one.device} and {other.device} are both AS {one.config.asn}, the session is external"
    elif expected is Remote.INTERNAL and not same:
        yield "active", f"{one.device} expects its own AS {one.config.asn}, {other.device} is AS {other.config.asn}"
    elif not isinstance(expected, Remote) and expected != other.config.asn:
        yield "active", f"{one.device} expects AS {expected}, {other.device} is AS {other.config.asn}"


def _router_ids(near: _SessionEnd, far: _SessionEnd) -> Iterator[tuple[str, str]]:
    """Two speakers of one AS need different identifiers (RFC 6286, 2.2); those of different ASes do not."""
    found = near.config.router_id
    if near.config.asn == far.config.asn and found is not None and found == far.config.router_id:
        yield "active", f"{near.device} and {far.device} are of one AS and both have the router ID {found}"


def _passed(sender: _SessionEnd, receiver: _SessionEnd) -> tuple[Family, ...]:
    """The families that both ends have, and whose next hops one end can name to the other; none in a VRF.

    IPv4 routes over IPv6 need a sender that has IPv6 next hops and a receiver with the capability of RFC 8950; IPv6
    routes over IPv4 an IPv6 address on both interfaces.
    """
    if any(end.neighbor.network_instance != DEFAULT_INSTANCE for end in (sender, receiver)):
        return ()
    usable = {Family.IPV4, Family.IPV6}
    if _is_ipv6(sender.neighbor):
        if not _names_ipv6_next_hops(sender.config.model.bgp, receiver.config.model.bgp):
            usable.discard(Family.IPV4)
    elif not all(end.interface and _has_ipv6(end.interface) for end in (sender, receiver)):
        usable.discard(Family.IPV6)
    return tuple(found for found in sender.neighbor.families if found in usable and found in receiver.neighbor.families)


def _names_ipv6_next_hops(sender: BgpSpeaker | None, receiver: BgpSpeaker | None) -> bool:
    """Whether one speaker announces IPv4 routes with IPv6 next hops and the other one takes them."""
    if sender is None or receiver is None:
        return False
    return sender.advertise_ipv6_next_hops and receiver.receive_ipv6_next_hops


def _is_ipv6(neighbor: BgpNeighbor) -> bool:
    return isinstance(neighbor.peer, str) or neighbor.peer.version == 6


def _has_ipv6(interface: Interface) -> bool:
    return interface.unnumbered or any(address.version == 6 for address in interface.addresses)


def _bfd_up(now: SessionInputs, near: _SessionEnd, far: _SessionEnd | None, link: InterfaceLink | None) -> bool | None:
    """Whether BFD is up: it needs a working link, and BFD and the addresses of the session at both ends.

    None for a session without it.
    """
    if near.neighbor.bfd is None:
        return None
    if far is None or far.neighbor.bfd is None or not (near.neighbor.enabled and far.neighbor.enabled):
        return False
    reachable = near.routed and far.routed and next(_addressing(near, far), None) is None
    reachable = reachable and not now.silent.between(near.port, far.port)
    return reachable and link is not None and link.oper_up
