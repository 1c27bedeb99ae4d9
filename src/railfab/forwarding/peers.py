"""The established peers of a switch, and the two directions of its sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from railfab.device import Family
from railfab.forwarding.ports import Configs

FAMILIES = {Family.IPV4: (1, 32), Family.IPV6: (2, 128)}
"""The bit that stands for a family, and the bits of its addresses."""


class Peer(NamedTuple):
    """The other end of an established session of a switch.

    row: of the peer. link: the egress link to it. key: of the session here. peer_key: of the session there.
    received, sent: bits of the families whose routes come and go. router_id: of the peer, 0 without one. internal:
    whether both ends are of one AS. keeps_next_hop: whether its routes have the next hop that it uses itself.
    to_client, from_client: whether it reflects to this end, or this end to it.
    """

    device: str
    row: int
    asn: int
    link: int
    key: str
    peer_key: str
    received: int
    sent: int
    router_id: int
    internal: bool
    keeps_next_hop: bool
    to_client: bool
    from_client: bool


@dataclass(frozen=True)
class Peers:
    """The established peers of a switch, in the order of its interfaces, and columns of them, (peer,)."""

    members: tuple[Peer, ...] = ()

    @cached_property
    def devices(self) -> tuple[str, ...]:
        """Their names, each once."""
        return tuple(dict.fromkeys(peer.device for peer in self.members))

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        return np.array([peer.row for peer in self.members], np.int64)

    @cached_property
    def asn(self) -> NDArray[np.int64]:
        return np.array([peer.asn for peer in self.members], np.int64)

    @cached_property
    def links(self) -> NDArray[np.int64]:
        return np.array([peer.link for peer in self.members], np.int64)

    @cached_property
    def router_ids(self) -> NDArray[np.int64]:
        return np.array([peer.router_id for peer in self.members], np.int64)

    @cached_property
    def internal(self) -> NDArray[np.bool_]:
        return np.array([peer.internal for peer in self.members], bool)

    @cached_property
    def has_internal(self) -> bool:
        return any(peer.internal for peer in self.members)

    @cached_property
    def has_kept_next_hops(self) -> bool:
        return any(peer.keeps_next_hop for peer in self.members)

    @cached_property
    def keep_next_hop(self) -> NDArray[np.bool_]:
        return np.array([peer.keeps_next_hop for peer in self.members], bool)

    @cached_property
    def to_client(self) -> NDArray[np.bool_]:
        return np.array([peer.to_client for peer in self.members], bool)

    @cached_property
    def from_client(self) -> NDArray[np.bool_]:
        return np.array([peer.from_client for peer in self.members], bool)


@dataclass(frozen=True, slots=True)
class Directions:
    """One direction of the sessions of a switch. Columns (session,).

    rows, sender_asn: of the senders. filters: number of each sender's export filter, and the bits of the families.
    receiver_asn: of the receivers, or of the only one. unrestricted: whether a sender may pass on all that it has.
    clusters: those of sender and receiver, None for one that reflects nothing.
    """

    rows: NDArray[np.int64]
    sender_asn: NDArray[np.int64]
    filters: Sequence[tuple[int, int]]
    receiver_asn: Sequence[int]
    internal: NDArray[np.bool_]
    has_internal: bool
    unrestricted: NDArray[np.bool_]
    clusters: Sequence[tuple[int | None, int | None]]


def inward(configs: Configs, name: str, peers: Peers) -> Directions:
    """The announcements of the peers of a switch to it."""
    return Directions(
        rows=peers.rows,
        sender_asn=peers.asn,
        filters=[(configs[peer.device].exports[peer.peer_key], peer.received) for peer in peers.members],
        receiver_asn=(configs[name].asn or 0,),
        internal=peers.internal,
        has_internal=peers.has_internal,
        unrestricted=~peers.internal | peers.to_client,
        clusters=[(configs[peer.device].cluster, configs[name].cluster) for peer in peers.members],
    )


def outward(configs: Configs, name: str, row: int, peers: Peers) -> Directions:
    """The announcements of a switch to its peers."""
    config, count = configs[name], len(peers.members)
    return Directions(
        rows=np.full(count, row, np.int64),
        sender_asn=np.full(count, config.asn or 0, np.int64),
        filters=[(config.exports[peer.key], peer.sent) for peer in peers.members],
        receiver_asn=peers.asn.tolist(),
        internal=peers.internal,
        has_internal=peers.has_internal,
        unrestricted=~peers.internal | peers.from_client,
        clusters=[(config.cluster, configs[peer.device].cluster) for peer in peers.members],
    )
