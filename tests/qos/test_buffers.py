"""How a switch divides its buffer: laws for any ports and traffic, and figures that were worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from railfab.intent import Lossless, RoceTraffic
from railfab.qos import BufferPlan, PortLoad, buffer_plan

LEAF = (PortLoad(100, 5, 32), PortLoad(400, 40, 8))
"""A rail switch of pod64."""
TRIDENT_4, TOMAHAWK_5 = 132_000_000, 165_200_000

LOADS = st.builds(PortLoad, st.sampled_from([25, 50, 100, 200, 400, 800]), st.floats(0.5, 2000), st.integers(1, 128))
PORTS = st.lists(LOADS, min_size=1, max_size=4)
BUFFERS = st.integers(1_000_000, 500_000_000)
MTUS = st.integers(1500, 9398)
TRAFFIC = st.builds(
    RoceTraffic,
    packet_bytes=st.integers(64, 9216),
    message_bytes=st.integers(64, 10**8),
    senders=st.integers(1, 256),
)


def plan(
    ports: Sequence[PortLoad],
    buffer_bytes: int = TRIDENT_4,
    mtu_bytes: int = 9216,
    traffic: RoceTraffic | None = None,
    pfc: bool = True,
) -> BufferPlan:
    lossless = Lossless(traffic=traffic, pfc=pfc)
    return buffer_plan(ports, buffer_bytes=buffer_bytes, mtu_bytes=mtu_bytes, lossless=lossless)


@given(ports=PORTS, buffer_bytes=BUFFERS, mtu_bytes=MTUS, traffic=st.none() | TRAFFIC, pfc=st.booleans())
def test_the_parts_add_up_to_the_buffer(
    ports: list[PortLoad], buffer_bytes: int, mtu_bytes: int, traffic: RoceTraffic | None, pfc: bool
) -> None:
    found = plan(ports, buffer_bytes, mtu_bytes, traffic, pfc)
    for part in filter(None, (found.uncut, found.cut)):
        assert part.headroom_bytes + part.lossless_bytes + part.lossy_bytes == buffer_bytes
        assert min(part.headroom_bytes, part.lossless_bytes, part.lossy_bytes, part.granted_xoff_bytes) >= 0
        assert part.headroom_bytes == min(buffer_bytes, part.needed_headroom_bytes)


@given(ports=PORTS, more_m=st.floats(0, 500), more_mtu=st.integers(0, 500))
def test_longer_cables_and_larger_packets_never_need_less_headroom(
    ports: list[PortLoad], more_m: float, more_mtu: int
) -> None:
    longer = [replace(load, cable_m=load.cable_m + more_m) for load in ports]
    near, far = plan(ports, mtu_bytes=8000), plan(longer, mtu_bytes=8000 + more_mtu)
    assert far.uncut.needed_headroom_bytes >= near.uncut.needed_headroom_bytes


@given(cable_m=st.floats(0.5, 2000), count=st.integers(1, 128), rate=st.sampled_from([10, 25, 40, 50, 100, 200, 400]))
def test_a_faster_port_needs_more_headroom(cable_m: float, count: int, rate: int) -> None:
    slow, fast = (plan([PortLoad(speed, cable_m, count)]).uncut for speed in (rate, 2 * rate))
    assert fast.needed_headroom_bytes > slow.needed_headroom_bytes


@given(ports=PORTS, buffer_bytes=BUFFERS, mtu_bytes=MTUS, traffic=TRAFFIC)
def test_a_cut_never_takes_more_and_keeps_the_order(
    ports: list[PortLoad], buffer_bytes: int, mtu_bytes: int, traffic: RoceTraffic
) -> None:
    """Kmin < Kmax < XOFF holds in the cut, and what the chip grants is above Kmax wherever it was before."""
    found = plan(ports, buffer_bytes, mtu_bytes, traffic)
    assert found.cut is not None
    assert found.saved_bytes >= 0
    assert found.cut.needed_headroom_bytes <= found.uncut.needed_headroom_bytes
    for before, after in zip(found.uncut.ports, found.cut.ports, strict=True):
        old, new = before.thresholds, after.thresholds
        assert (new.kmin_bytes, new.kmax_bytes) == (old.kmin_bytes, old.kmax_bytes)
        assert new.kmin_bytes < new.kmax_bytes < new.xoff_bytes <= old.xoff_bytes
        if found.uncut.granted_xoff_bytes > old.kmax_bytes:
            assert found.cut.granted_xoff_bytes > new.kmax_bytes


@given(ports=PORTS, traffic=TRAFFIC, more_bytes=st.integers(0, 10**6), more_senders=st.integers(0, 8))
def test_larger_messages_and_more_senders_never_save_more(
    ports: list[PortLoad], traffic: RoceTraffic, more_bytes: int, more_senders: int
) -> None:
    larger = traffic.model_copy(
        update={"message_bytes": traffic.message_bytes + more_bytes, "senders": traffic.senders + more_senders}
    )
    little, much = plan(ports, traffic=traffic), plan(ports, traffic=larger)
    assert little.cut is not None
    assert much.cut is not None
    assert little.saved_bytes >= much.saved_bytes
    for few, many in zip(little.cut.ports, much.cut.ports, strict=True):
        assert few.thresholds.xoff_bytes <= many.thresholds.xoff_bytes


@given(ports=PORTS, buffer_bytes=BUFFERS, mtu_bytes=MTUS)
def test_large_messages_in_full_packets_leave_nothing_to_cut(
    ports: list[PortLoad], buffer_bytes: int, mtu_bytes: int
) -> None:
    found = plan(ports, buffer_bytes, mtu_bytes, RoceTraffic(packet_bytes=9216, message_bytes=10**10, senders=64))
    assume(mtu_bytes <= 9216)
    assert found.cut == found.uncut
    assert found.saved_bytes == 0


@given(ports=PORTS, mtu_bytes=MTUS, traffic=TRAFFIC)
def test_stated_traffic_fits_the_pool_without_a_pause(
    ports: list[PortLoad], mtu_bytes: int, traffic: RoceTraffic
) -> None:
    """With every port as full as stated, the dynamic threshold is still at least that, where the cut is one."""
    found = plan(ports, mtu_bytes=mtu_bytes, traffic=traffic)
    assert found.cut is not None
    assert found.bound is not None
    assume(found.cut.lossless_bytes < found.uncut.lossless_bytes)
    held = found.bound.queue_bytes * sum(load.count for load in ports)
    assert found.cut.lossless_bytes - held >= found.bound.queue_bytes


def test_a_rail_switch_of_pod64() -> None:
    """32 x 44 433 + 8 x 96 512 bytes of headroom, 66 % shared, the rest lossy."""
    found = plan(LEAF).uncut
    assert [port.thresholds.headroom_bytes for port in found.ports] == [44_433, 96_512]
    assert found.headroom_bytes == 32 * 44_433 + 8 * 96_512 == 2_193_952
    assert found.lossless_bytes == 87_120_000
    assert found.lossy_bytes == 132_000_000 - 2_193_952 - 87_120_000


def test_the_threshold_that_a_pool_grants() -> None:
    """A quarter of pod64's ports at XOFF hold 8.6 MB, which leaves 78.52; of 64 x 800G with half of Tomahawk 5's buffer
    none reaches 4 MB."""
    assert plan(LEAF).uncut.granted_xoff_bytes == 87_120_000 - 8 * 575_000 - 2 * 2_000_000
    assert plan([PortLoad(800, 40, 64)], 80_000_000).uncut.granted_xoff_bytes == 52_800_000 // 17


def test_ports_of_little_xoff_stop_at_it_before_the_others_do() -> None:
    """32 x 100G stop at 575 kB; of what is left, a quarter of 32 x 400G and the free part take 1/9 each."""
    ports = [PortLoad(100, 5, 32), PortLoad(400, 40, 32)]
    found = plan(ports, buffer_bytes=28_000_000).uncut
    assert found.granted_xoff_bytes == int((18_480_000 - 8 * 575_000) / 9)
    assert 575_000 < found.granted_xoff_bytes < 2_000_000


def test_what_64_kib_messages_save_on_pod64() -> None:
    """XOFF is what 8 senders have outstanding, but above Kmax on the fast ports; the pool what all ports hold, and
    twice the largest XOFF that one of them may go to."""
    found = plan(LEAF, traffic=RoceTraffic(message_bytes=65_536))
    assert found.cut is not None
    assert [port.thresholds.xoff_bytes for port in found.cut.ports] == [557_056, 1_500_000 + 4198]
    assert [port.thresholds.headroom_bytes for port in found.cut.ports] == [44_433 - 5036, 96_512 - 5036]
    assert found.cut.lossless_bytes == 39 * 557_056 + 2 * 1_504_198
    assert found.saved_bytes == 40 * 5036 + 87_120_000 - found.cut.lossless_bytes == 62_587_860


def test_large_messages_save_headroom_alone() -> None:
    found = plan(LEAF, traffic=RoceTraffic(message_bytes=10**7))
    assert found.cut is not None
    assert found.cut.lossless_bytes == found.uncut.lossless_bytes
    assert found.saved_bytes == 40 * (9234 - 4198)


def test_headroom_comes_out_of_the_shared_pool_before_it_comes_out_of_the_last_tenth() -> None:
    found = plan([PortLoad(800, 300, 64)], buffer_bytes=64_000_000).uncut
    assert found.headroom_bytes == 64 * 434_432
    assert found.lossy_bytes == 6_400_000
    assert found.lossless_bytes == 64_000_000 - found.headroom_bytes - 6_400_000


def test_without_pfc_no_headroom_is_kept() -> None:
    found = plan(LEAF, traffic=RoceTraffic(message_bytes=65_536), pfc=False)
    assert found.cut is not None
    assert (found.uncut.headroom_bytes, found.cut.headroom_bytes) == (0, 0)


def test_without_stated_traffic_there_is_no_cut() -> None:
    found = plan(LEAF)
    assert (found.cut, found.bound, found.saved_bytes) == (None, None, 0)


def test_a_switch_without_lossless_ports_keeps_no_headroom() -> None:
    found = plan([], traffic=RoceTraffic(message_bytes=65_536))
    assert found.uncut.headroom_bytes == 0
    assert found.cut is not None
    assert found.cut.lossless_bytes == 0
