"""Which BGP and BFD sessions are up, and why the others are not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from railfab.device import BgpNeighbor, DeviceModel, Interface
from railfab.forwarding.ports import Models, PortState
from railfab.forwarding.wiring import Wiring
from railfab.topology import PortKey


@dataclass(frozen=True, slots=True, kw_only=True)
class BgpSession:
    """A configured BGP neighbour. state: `idle`, `active` or `established`, as a switch would say.

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


def sessions(wiring: Wiring, models: Models, ports: Mapping[PortKey, PortState]) -> dict[PortKey, BgpSession]:
    """Every configured session by device and interface, in the order of the models."""
    neighbors = {
        (name, neighbor.interface): neighbor for name, model in models.items() for neighbor in model.bgp.neighbors
    }
    return {key: _session(wiring, models, ports, neighbors, key) for key in neighbors}


def _session(
    wiring: Wiring,
    models: Models,
    ports: Mapping[PortKey, PortState],
    neighbors: Mapping[PortKey, BgpNeighbor],
    key: PortKey,
) -> BgpSession:
    neighbor, link = neighbors[key], wiring.egress.get(key)
    far = wiring.far(link) if link is not None else None
    peer = (far.node, far.name) if far is not None else None
    state, reason = "idle", f"{key[0]} {key[1]} has no cable"
    if peer is not None:
        reason = ports[key].reason
        if not reason:
            state, reason = next(_objections(models, neighbors, key, peer), ("established", ""))
    return BgpSession(
        device=key[0],
        interface=key[1],
        peer=str(neighbor.address) if neighbor.address else key[1],
        peer_device=peer[0] if peer else None,
        peer_interface=peer[1] if peer else None,
        remote_as=neighbor.remote_as,
        state=state,
        reason=reason,
        bfd_up=_bfd_up(models, ports, neighbors, key, peer),
    )


def _objections(
    models: Models, neighbors: Mapping[PortKey, BgpNeighbor], key: PortKey, peer: PortKey
) -> Iterator[tuple[str, str]]:
    """What keeps a session over a working link down, as the state it stays in and the reason."""
    theirs = neighbors.get(peer)
    if peer[0] not in models:
        yield "active", f"{peer[0]} speaks no BGP"
    elif theirs is None:
        yield "active", f"{peer[0]} has no neighbour on {peer[1]}"
    else:
        yield from _addressing(models, neighbors[key], theirs, key, peer)
        yield from _as_numbers(models, neighbors[key], key, peer)
        yield from _as_numbers(models, theirs, peer, key)


def _as_numbers(models: Models, mine: BgpNeighbor, key: PortKey, peer: PortKey) -> Iterator[tuple[str, str]]:
    asn = models[peer[0]].bgp.asn
    if mine.remote_as != asn:
        yield "idle", f"{key[0]} expects AS {mine.remote_as}, {peer[0]} is AS {asn}"
    elif models[key[0]].bgp.asn == asn:
        yield "idle", f"{key[0]} and {peer[0]} are both AS {asn}, and the session is meant to be external"


def _addressing(
    models: Models, mine: BgpNeighbor, theirs: BgpNeighbor, key: PortKey, peer: PortKey
) -> Iterator[tuple[str, str]]:
    """Both ends unnumbered, or each pointing at the other's address inside its own subnet."""
    if (mine.address is None) != (theirs.address is None):
        numbered, other = (key, peer) if mine.address else (peer, key)
        yield "active", f"{numbered[0]} {numbered[1]} is numbered, {other[0]} {other[1]} is not"
        return
    for here, there, neighbor in ((key, peer, mine), (peer, key, theirs)):
        own, far = _interface(models, here), _interface(models, there)
        if neighbor.address is None:
            if not own.unnumbered:
                yield "active", f"{here[0]} {here[1]} has no IPv6 link-local"
        elif far.address is None or far.address.ip != neighbor.address:
            yield "active", f"{here[0]} looks for {neighbor.address}, which is not on {there[0]} {there[1]}"
        elif own.address is None or neighbor.address not in own.address.network:
            yield "active", f"{neighbor.address} is outside the subnet of {here[0]} {here[1]}"


def _interface(models: Models, key: PortKey) -> Interface:
    """The interface of a port that is up, and therefore configured."""
    return next(interface for interface in models[key[0]].interfaces if interface.name == key[1])


def _bfd_up(
    models: Models,
    ports: Mapping[PortKey, PortState],
    neighbors: Mapping[PortKey, BgpNeighbor],
    key: PortKey,
    peer: PortKey | None,
) -> bool | None:
    """BFD needs a working link and BFD at both ends; a session without it is not counted."""
    if not _runs_bfd(models.get(key[0]), neighbors[key]):
        return None
    theirs = neighbors.get(peer) if peer else None
    return bool(peer and theirs and ports[key].oper_up and _runs_bfd(models.get(peer[0]), theirs))


def _runs_bfd(model: DeviceModel | None, neighbor: BgpNeighbor) -> bool:
    return model is not None and model.bfd is not None and neighbor.bfd
