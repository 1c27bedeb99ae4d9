"""Buffer usage of RoCEv2 traffic: frames with all their headers, in whole cells."""

from __future__ import annotations

from dataclasses import dataclass

from railfab.intent import RoceTraffic
from railfab.qos.chip import Chip
from railfab.qos.frames import ETHERNET_HEADER_BYTES
from railfab.units import VXLAN_BYTES

VLAN_TAG_BYTES = 4
IP_HEADERS_BYTES = 40 + 8 + 12 + 16 + 4
"""IPv6 (IPv4 has 20 less), UDP, BTH, RETH, ICRC. Linux, include/rdma/ib_pack.h: IB_GRH_BYTES, IB_UDP_BYTES,
IB_BTH_BYTES, IB_ICRC_BYTES; RETH is `struct rxe_reth` of drivers/infiniband/sw/rxe/rxe_hdr.h, 8 + 4 + 4. Only the first
packet of a write has a RETH; to count it in all of them errs on the safe side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueBound:
    """The largest queue of the stated traffic.

    payload_bytes: of a full packet, limited by the MTU. frame_bytes: such a packet with all headers and its check
    sequence. queue_bytes: all messages in flight to one port, in cells.
    """

    payload_bytes: int
    frame_bytes: int
    queue_bytes: int


def queue_bound(traffic: RoceTraffic, chip: Chip, *, mtu_bytes: int, vxlan: bool = False) -> QueueBound:
    """The largest queue on one port: one message in flight of each sender.

    mtu_bytes: largest IP packet on the fabric's links, the outer one with VXLAN.
    """
    headers = IP_HEADERS_BYTES + (VXLAN_BYTES["ipv6"] if vxlan else 0)
    payload = min(traffic.packet_bytes, mtu_bytes - headers)
    overhead = headers + ETHERNET_HEADER_BYTES + VLAN_TAG_BYTES
    full, rest = divmod(traffic.message_bytes, payload)
    message = full * chip.in_cells(payload + overhead) + (chip.in_cells(rest + overhead) if rest else 0)
    return QueueBound(payload_bytes=payload, frame_bytes=payload + overhead, queue_bytes=traffic.senders * message)
