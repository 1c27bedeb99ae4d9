"""What stated traffic takes up in a buffer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railfab.intent import RoceTraffic
from railfab.qos import chip_of, queue_bound

SPECTRUM_4 = chip_of("Spectrum-4")
"""Cells of 192 bytes."""


def test_a_frame_carries_every_header_of_rocev2() -> None:
    """Ethernet 14, tag 4, IPv6 40, UDP 8, BTH 12, RETH 16, ICRC 4, check sequence 4."""
    bound = queue_bound(RoceTraffic(packet_bytes=4096, message_bytes=4096, senders=1), SPECTRUM_4, mtu_bytes=9216)
    assert bound.frame_bytes - bound.payload_bytes == 14 + 4 + 40 + 8 + 12 + 16 + 4 + 4


def test_vxlan_adds_its_own_headers() -> None:
    traffic = RoceTraffic(packet_bytes=4096, message_bytes=4096)
    bare, inside = (queue_bound(traffic, SPECTRUM_4, mtu_bytes=9216, vxlan=vxlan) for vxlan in (False, True))
    assert inside.frame_bytes - bare.frame_bytes == 14 + 40 + 8 + 8


def test_a_message_is_counted_packet_by_packet_in_cells() -> None:
    """64 KiB in 16 packets of 4198 bytes, 22 cells each; one byte more needs one more packet, of one cell."""
    assert SPECTRUM_4.in_cells(4198) == 22 * 192
    even = queue_bound(RoceTraffic(packet_bytes=4096, message_bytes=65_536, senders=8), SPECTRUM_4, mtu_bytes=9216)
    odd = queue_bound(RoceTraffic(packet_bytes=4096, message_bytes=65_537, senders=8), SPECTRUM_4, mtu_bytes=9216)
    assert even.queue_bytes == 8 * 16 * 22 * 192 == 540_672
    assert odd.queue_bytes == 8 * (16 * 22 + 1) * 192


@pytest.mark.parametrize(("mtu_bytes", "payload"), [(1500, 1420), (9216, 4096)])
def test_a_packet_is_no_larger_than_the_mtu(mtu_bytes: int, payload: int) -> None:
    bound = queue_bound(RoceTraffic(packet_bytes=4096, message_bytes=100_000), SPECTRUM_4, mtu_bytes=mtu_bytes)
    assert bound.payload_bytes == payload


@given(
    packet_bytes=st.integers(64, 9216),
    message_bytes=st.integers(64, 10**9),
    more_bytes=st.integers(0, 10**5),
    senders=st.integers(1, 4095),
    mtu_bytes=st.integers(1500, 9398),
    vxlan=st.booleans(),
)
def test_larger_messages_and_more_senders_never_fill_less(
    packet_bytes: int, message_bytes: int, more_bytes: int, senders: int, mtu_bytes: int, vxlan: bool
) -> None:
    def held(message: int, from_senders: int) -> int:
        traffic = RoceTraffic(packet_bytes=packet_bytes, message_bytes=message, senders=from_senders)
        return queue_bound(traffic, SPECTRUM_4, mtu_bytes=mtu_bytes, vxlan=vxlan).queue_bytes

    assert senders * message_bytes < held(message_bytes, senders)
    assert held(message_bytes, senders) <= held(message_bytes + more_bytes, senders)
    assert held(message_bytes, senders) < held(message_bytes, senders + 1)
