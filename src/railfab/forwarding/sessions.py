"""Which BGP and BFD sessions are up, and why the others are not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from railfab.device import BgpNeighbor
from railfab.forwarding.config import SwitchConfig
from railfab.forwarding.links import LinkTable
from railfab.forwarding.ports import Configs, PortStates
from railfab.topology import PortKey


@dataclass(frozen=True, slots=True, kw_only=True)
class BgpSession:
    """A configured BGP neighbour. state: `idle`, `active` or `established`, as a switch reports it.

    peer: the interface of an unnumbered session, the address of a numbered one. reason: why it is not established,
    empty when it is. bfd_up: None without BFD. received, sent, installed: prefixes, 0 while down.
    """

    device: str
    interface: str
    peer: str
    peer_device: str | None
    peer_interface: str | None
    remote_as: int
    state: str
    reason: str
    bfd_up: bool | None
    received: int = 0
    sent: int = 0
    installed: int = 0

    @property
    def established(self) -> bool:
        return not self.reason


Sessions = Mapping[str, Mapping[str, BgpSession]]
"""Every configured session without its numbers of prefixes, by device, then interface, in the order of the model."""


def sessions(
    links: LinkTable,
    configs: Configs,
    ports: PortStates,
    touched: Iterable[PortKey],
    changed: Collection[str],
    before: Sessions,
) -> Sessions:
    """The sessions with those of touched ports and of changed switches computed again.

    changed: switches whose configuration is new; all their sessions are computed.
    """
    found: dict[str, Mapping[str, BgpSession]] = dict(before)
    for name in changed:
        if name not in configs:
            found.pop(name, None)
            continue
        fresh = {interface: _session(links, configs, ports, (name, interface)) for interface in configs[name].neighbors}
        if found.get(name) != fresh or list(found[name]) != list(fresh):
            found[name] = fresh
    renewed: dict[str, dict[str, BgpSession]] = {}
    for node, interface in touched:
        if node in changed or node not in configs or interface not in configs[node].neighbors:
            continue
        session = _session(links, configs, ports, (node, interface))
        if found[node][interface] != session:
            if node not in renewed:
                found[node] = renewed[node] = dict(found[node])
            renewed[node][interface] = session
    return found


def _session(links: LinkTable, configs: Configs, ports: PortStates, key: PortKey) -> BgpSession:
    neighbor, link = configs[key[0]].neighbors[key[1]], links.egress.get(key)
    peer = links.far_key(link) if link is not None else None
    state, reason = "idle", f"{key[0]} {key[1]} has no cable"
    if peer is not None:
        reason = ports[key[0]][key[1]].reason
        if not reason:
            state, reason = next(_objections(configs, key, peer), ("established", ""))
    return BgpSession(
        device=key[0],
        interface=key[1],
        peer=str(neighbor.address) if neighbor.address else key[1],
        peer_device=peer[0] if peer else None,
        peer_interface=peer[1] if peer else None,
        remote_as=neighbor.remote_as,
        state=state,
        reason=reason,
        bfd_up=_bfd_up(configs, ports, neighbor, key, peer),
    )


def _objections(configs: Configs, key: PortKey, peer: PortKey) -> Iterator[tuple[str, str]]:
    """What keeps a session over a working link down: the state that it stays in, and the reason."""
    mine, theirs = configs[key[0]], configs.get(peer[0])
    if theirs is None:
        yield "active", f"{peer[0]} runs no BGP"
    elif peer[1] not in theirs.neighbors:
        yield "active", f"{peer[0]} has no neighbour on {peer[1]}"
    else:
        yield from _addressing(mine, theirs, key, peer)
        yield from _as_numbers(mine, theirs, key, peer)
        yield from _as_numbers(theirs, mine, peer, key)


def _as_numbers(mine: SwitchConfig, theirs: SwitchConfig, key: PortKey, peer: PortKey) -> Iterator[tuple[str, str]]:
    expected = mine.neighbors[key[1]].remote_as
    if expected != theirs.asn:
        yield "idle", f"{key[0]} expects AS {expected}, {peer[0]} is AS {theirs.asn}"
    elif mine.asn == theirs.asn:
        yield "idle", f"{key[0]} and {peer[0]} are both AS {theirs.asn}, but the session is configured as external"


def _addressing(mine: SwitchConfig, theirs: SwitchConfig, key: PortKey, peer: PortKey) -> Iterator[tuple[str, str]]:
    """Both ends unnumbered, or each configured with the other's address inside its own subnet."""
    if (mine.neighbors[key[1]].address is None) != (theirs.neighbors[peer[1]].address is None):
        numbered, other = (key, peer) if mine.neighbors[key[1]].address else (peer, key)
        yield "active", f"{numbered[0]} {numbered[1]} is numbered, {other[0]} {other[1]} is not"
        return
    for here, there, near, far in ((key, peer, mine, theirs), (peer, key, theirs, mine)):
        own, remote, address = near.interfaces[here[1]], far.interfaces[there[1]], near.neighbors[here[1]].address
        if address is None:
            if not own.unnumbered:
                yield "active", f"{here[0]} {here[1]} has no IPv6 link-local"
        elif remote.address is None or remote.address.ip != address:
            yield "active", f"{here[0]} expects {address}, which is not on {there[0]} {there[1]}"
        elif own.address is None or address not in own.address.network:
            yield "active", f"{address} is outside the subnet of {here[0]} {here[1]}"


def _bfd_up(
    configs: Configs, ports: PortStates, neighbor: BgpNeighbor, key: PortKey, peer: PortKey | None
) -> bool | None:
    """Whether BFD is up: it needs a working link and BFD at both ends. None for a session without it."""
    if not _runs_bfd(configs[key[0]], neighbor):
        return None
    if peer is None or peer[0] not in configs:
        return False
    theirs = configs[peer[0]].neighbors.get(peer[1])
    return bool(theirs and ports[key[0]][key[1]].oper_up and _runs_bfd(configs[peer[0]], theirs))


def _runs_bfd(config: SwitchConfig, neighbor: BgpNeighbor) -> bool:
    return config.model.bfd is not None and neighbor.bfd
