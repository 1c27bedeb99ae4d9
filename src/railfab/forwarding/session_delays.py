"""How long an end of a BGP session takes to notice what has become of it. Times in ns."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from railfab.device import BgpNeighbor
from railfab.forwarding.bfd import bfd_timing
from railfab.forwarding.config import SwitchConfig
from railfab.forwarding.faults import NO_SILENT_FAULTS, SilentFaults
from railfab.forwarding.lags import InterfaceLinks
from railfab.forwarding.pending import SessionKey
from railfab.forwarding.ports import Configs
from railfab.forwarding.sessions import BgpSession
from railfab.topology import PortKey
from railfab.units import NS_PER_MS, NS_PER_S

HANDSHAKE_NS = 200 * NS_PER_MS
"""Resolution of the address, TCP and the messages OPEN and KEEPALIVE; an estimate."""

CONNECT_RETRY_S = 120
"""Where none is configured (RFC 4271, section 10; srl_nokia-bgp, connect-retry)."""


@dataclass(frozen=True, slots=True)
class SessionChange:
    """A change of configurations and links. changed: switches with another configuration. silent: faults after it."""

    before: Configs
    configs: Configs
    links: InterfaceLinks
    changed: Collection[str]
    silent: SilentFaults = NO_SILENT_FAULTS


def delay_ns(shown: BgpSession | None, follows: BgpSession, change: SessionChange) -> int | None:
    """Time until an end notices; None for never.

    It notices at once what happens to its own port and configuration, and what the far end tells it. A far end that
    has gone silent it notices when the detection time of BFD is over (RFC 5880, 6.8.4), or else the hold time, which
    is the lower one of both ends (RFC 4271, 4.2).
    """
    if shown is None:
        return 0
    if follows.established and not shown.established:
        return _delay_up_ns(follows, change)
    if not _is_known(shown, change.configs):
        return 0
    lost = (shown.established and not follows.established) or (shown.bfd_up and follows.bfd_up is False)
    if not lost or not _silent(shown, change):
        return 0
    if shown.bfd_up and (detection_ms := _detection_ms(shown, change)) is not None:
        return detection_ms * NS_PER_MS
    hold_s = min(end.timers.hold_s for end in _ends(shown, change.configs))
    return hold_s * NS_PER_S if hold_s else None


def reopened(change: SessionChange) -> frozenset[SessionKey]:
    """The ends of sessions whose OPEN message is another one than before; a session has one (RFC 4271, section 4.2).

    The message has the AS number and the router ID of the switch, and the capabilities of the session (RFC 5492).
    """
    ends: set[SessionKey] = set()
    for device in change.changed:
        before, now = change.before.get(device), change.configs.get(device)
        if before is not None and now is not None:
            was = before.neighbors
            ends |= {(device, key) for key in now.neighbors if key in was and _open(before, key) != _open(now, key)}
    return frozenset(ends)


def _open(config: SwitchConfig, key: str) -> tuple[object, ...]:
    """What the OPEN message of a session has."""
    neighbor, bgp, model = config.neighbors[key], config.model.bgp, config.model
    if bgp is None:
        return ()
    instances = (each.router_id for each in model.network_instances if each.name == neighbor.network_instance)
    return bgp.asn, next(instances, None) or bgp.router_id, neighbor.families, bgp.receive_ipv6_next_hops


def starts_bfd(shown: BgpSession | None, follows: BgpSession) -> bool:
    """Whether BFD comes up."""
    return bool(follows.bfd_up) and not (shown is not None and shown.bfd_up)


def bfd_start_ns(session: BgpSession, configs: Configs) -> int:
    """Time until BFD is up at both ends: each sends Down, then Init, an interval apart.

    An end that is not up sends at most once a second, whatever its interval (RFC 5880, 6.2 and 6.8.3).
    """
    timers = [end.bfd for end in _ends(session, configs) if end.bfd is not None]
    return 2 * max(bfd_timing(found, None).transmit_ms for found in timers) * NS_PER_MS


def without_bfd(session: BgpSession, configs: Configs) -> BgpSession:
    """A session as long as its BFD is not up."""
    neighbor = _neighbors(configs, session.device).get(session.key)
    if neighbor is None or neighbor.bfd is None:
        return session
    return replace(session, bfd_up=False, bfd=bfd_timing(neighbor.bfd, None))


def connecting(session: BgpSession, configs: Configs) -> BgpSession:
    """A session that will be established, as long as it is not."""
    reason = f"{session.device} connects to {session.peer_device} {session.peer_interface}"
    session = without_bfd(session, configs)
    return replace(session, state="connect", reason=reason, received=(), sent=(), peer_router_id=None)


def retry_ns(session: BgpSession, configs: Configs) -> int:
    """Time between two tries to connect: that of the end that tries more often."""
    tries = (end.timers.connect_retry_s or CONNECT_RETRY_S for end in _ends(session, configs))
    return min(tries, default=CONNECT_RETRY_S) * NS_PER_S


def _is_known(session: BgpSession, configs: Configs) -> bool:
    """Whether both ends of a session that was up are still configured."""
    return session.key in _neighbors(configs, session.device) and (
        not session.established or session.peer_key in _neighbors(configs, session.peer_device)
    )


def _neighbors(configs: Configs, device: str | None) -> Mapping[str, BgpNeighbor]:
    config = configs.get(device or "")
    return config.neighbors if config else {}


def _ends(session: BgpSession, configs: Configs) -> tuple[BgpNeighbor, ...]:
    near = _neighbors(configs, session.device).get(session.key)
    far = _neighbors(configs, session.peer_device).get(session.peer_key or "")
    return tuple(end for end in (near, far) if end is not None)


def _delay_up_ns(session: BgpSession, change: SessionChange) -> int:
    """An end that is configured connects at once; otherwise the first of both that tries again does."""
    if session.device in change.changed or session.peer_device in change.changed:
        return HANDSHAKE_NS
    return retry_ns(session, change.configs) + HANDSHAKE_NS


def _detection_ms(session: BgpSession, change: SessionChange) -> int | None:
    """Time after which BFD takes a session down; None without BFD.

    An end that alone receives nothing tells the other one, which still hears it (RFC 5880, 6.8.6: state Down).
    """
    timing, own = session.bfd, _neighbors(change.configs, session.device)[session.key].bfd
    if timing is None or own is None:
        return None
    near, far = (session.device, session.interface), (session.peer_device, session.peer_interface)
    if far in change.silent.losing and near not in change.silent.losing:
        return own.multiplier * timing.transmit_ms
    return timing.detection_ms


def _silent(session: BgpSession, change: SessionChange) -> bool:
    """Whether an end can see the end of a session only in that nothing comes any more.

    Its own link is up and its own configuration is as it was; the far end cannot send, or not from its address.
    """
    if session.device in change.changed or session.interface is None:
        return False
    if session.peer_device is None or session.peer_interface is None:
        return False
    near, far = (session.device, session.interface), (session.peer_device, session.peer_interface)
    if not _is_up(change.links, near):
        return False
    if not _is_up(change.links, far):
        return True
    if change.silent.between(near, far):
        return True
    before, now = (held.get(session.peer_device) for held in (change.before, change.configs))
    if before is None or now is None:
        return False
    return before.interfaces.get(session.peer_interface) != now.interfaces.get(session.peer_interface)


def _is_up(links: InterfaceLinks, interface: PortKey) -> bool:
    link = links.of(interface)
    return link is not None and link.oper_up
