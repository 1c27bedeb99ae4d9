"""How a switch divides its buffer: laws for any ports and traffic, and figures that were worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st
from tests.qos.switches import LEAF, TRIDENT_4, traits

from railfab.intent import Lossless, RoceTraffic
from railfab.qos import BufferPlan, PortLoad, buffer_plan
from railfab.qos.buffers import HEADROOM_PERCENT, LOSSY_PERCENT

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
    silicon: str = "Trident 4",
) -> BufferPlan:
    lossless = Lossless(traffic=traffic, pfc=pfc)
    return buffer_plan(ports, traits(silicon, buffer_bytes, mtu_bytes=mtu_bytes), lossless)


@given(ports=PORTS, buffer_bytes=BUFFERS, mtu_bytes=MTUS, traffic=st.none() | TRAFFIC, pfc=st.booleans())
def test_the_parts_add_up_to_the_buffer(
    ports: list[PortLoad], buffer_bytes: int, mtu_bytes: int, traffic: RoceTraffic | None, pfc: bool
) -> None:
    found = plan(ports, buffer_bytes, mtu_bytes, traffic, pfc)
    for part in filter(None, (found.uncut, found.cut)):
        assert part.headroom_bytes + part.lossless_bytes + part.lossy_bytes == buffer_bytes
        assert min(part.headroom_bytes, part.lossless_bytes, part.lossy_bytes, part.granted_xoff_bytes) >= 0


@given(ports=PORTS, buffer_bytes=BUFFERS, mtu_bytes=MTUS)
def test_headroom_is_for_small_packets_unless_that_takes_too_much(
    ports: list[PortLoad], buffer_bytes: int, mtu_bytes: int
) -> None:
    """Up to 24 % it is for small packets alone; beyond, ports share 24 %, or what half small packets need."""
    found = plan(ports, buffer_bytes, mtu_bytes).uncut
    assert found.mixed_headroom_bytes <= found.worst_headroom_bytes
    if 100 * found.worst_headroom_bytes <= HEADROOM_PERCENT * buffer_bytes:
        assert found.headroom_bytes == found.worst_headroom_bytes
    elif 100 * found.mixed_headroom_bytes <= HEADROOM_PERCENT * buffer_bytes:
        assert found.headroom_bytes == HEADROOM_PERCENT * buffer_bytes // 100
    else:
        assert found.headroom_bytes == min(found.mixed_headroom_bytes, buffer_bytes)


@given(ports=PORTS, buffer_bytes=BUFFERS)
def test_other_classes_get_no_more_than_their_share(ports: list[PortLoad], buffer_bytes: int) -> None:
    """What headroom does not need is shared by the lossless queues."""
    assert plan(ports, buffer_bytes).uncut.lossy_bytes <= -(-buffer_bytes * LOSSY_PERCENT // 100)


@given(ports=PORTS, more_m=st.floats(0, 500), more_mtu=st.integers(0, 500))
def test_longer_cables_and_larger_packets_never_need_less_headroom(
    ports: list[PortLoad], more_m: float, more_mtu: int
) -> None:
    longer = [replace(load, cable_m=load.cable_m + more_m) for load in ports]
    near, far = plan(ports, mtu_bytes=8000), plan(longer, mtu_bytes=8000 + more_mtu)
    assert far.uncut.mixed_headroom_bytes >= near.uncut.mixed_headroom_bytes
    assert far.uncut.worst_headroom_bytes >= near.uncut.worst_headroom_bytes


@given(cable_m=st.floats(0.5, 2000), count=st.integers(1, 128), rate=st.sampled_from([10, 25, 40, 50, 100, 200, 400]))
def test_a_faster_port_needs_more_headroom(cable_m: float, count: int, rate: int) -> None:
    slow, fast = (plan([PortLoad(speed, cable_m, count)]).uncut for speed in (rate, 2 * rate))
    assert fast.mixed_headroom_bytes > slow.mixed_headroom_bytes


@given(ports=PORTS, buffer_bytes=BUFFERS, mtu_bytes=MTUS, traffic=TRAFFIC)
def test_a_cut_never_takes_more_and_keeps_the_order(
    ports: list[PortLoad], buffer_bytes: int, mtu_bytes: int, traffic: RoceTraffic
) -> None:
    """Kmin < Kmax < XOFF holds in the cut, and what the chip grants is above Kmax wherever it was before."""
    found = plan(ports, buffer_bytes, mtu_bytes, traffic)
    assert found.cut is not None
    assert found.saved_bytes >= 0
    assert found.cut.mixed_headroom_bytes <= found.uncut.mixed_headroom_bytes
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
    """32 x 322,770 + 8 x 775,284 bytes of headroom for small packets, a tenth for other classes, the rest shared."""
    found = plan(LEAF).uncut
    assert [port.headroom.mixed_bytes for port in found.ports] == [150_732, 283_974]
    assert [port.headroom.worst_bytes for port in found.ports] == [322_770, 775_284]
    assert found.headroom_bytes == 32 * 322_770 + 8 * 775_284 == 16_530_912
    assert found.lossy_bytes == 13_200_000
    assert found.lossless_bytes == 132_000_000 - 16_530_912 - 13_200_000


def test_64_ports_of_800g_share_headroom() -> None:
    """For small packets alone they would need 77 MB of Tomahawk 5's 165.2; they share 24 %, more than 27 MB for half
    small packets, and more than the 29.4 MB that SONiC's profile of the Arista 7060X6 shares among all ports."""
    found = plan([PortLoad(800, 40, 64)], 165_200_000, silicon="Tomahawk 5").uncut
    assert found.headroom_bytes == 165_200_000 * 24 // 100
    assert 29_423_360 < found.headroom_bytes < found.worst_headroom_bytes
    assert found.mixed_headroom_bytes < found.headroom_bytes


def test_the_threshold_that_a_pool_grants() -> None:
    """A quarter of pod64's ports at XOFF hold 9 MB, which leaves 93; of 64 x 800G with half of Tomahawk 5's buffer none
    reaches its XOFF."""
    found = plan(LEAF).uncut
    assert found.granted_xoff_bytes == found.lossless_bytes - 8 * 585_000 - 2 * 2_160_000
    found = plan([PortLoad(800, 40, 64)], 80_000_000, silicon="Tomahawk 5").uncut
    assert found.granted_xoff_bytes == found.lossless_bytes // 17


def test_ports_of_little_xoff_stop_at_it_before_the_others_do() -> None:
    """32 x 100G stop at 585 kB; of what is left, a quarter of 32 x 400G and the free part take 1/9 each."""
    ports = [PortLoad(100, 5, 32), PortLoad(400, 40, 32)]
    found = plan(ports, buffer_bytes=36_000_000).uncut
    assert found.granted_xoff_bytes == int((found.lossless_bytes - 8 * 585_000) / 9)
    assert 585_000 < found.granted_xoff_bytes < 2_160_000


def test_what_64_kib_messages_save_on_pod64() -> None:
    """XOFF is what 8 senders have outstanding, but above Kmax on the fast ports; the pool what all ports hold, and
    twice the largest XOFF that one of them may go to."""
    found = plan(LEAF, traffic=RoceTraffic(message_bytes=65_536))
    assert found.cut is not None
    queue = 8 * 16 * 14 * 318
    assert [port.thresholds.xoff_bytes for port in found.cut.ports] == [queue, 1_620_000 + 4198]
    assert found.cut.lossless_bytes == 39 * queue + 2 * 1_624_198
    smaller = found.uncut.headroom_bytes - found.cut.headroom_bytes
    assert smaller == (32 * 16 + 8 * 15) * 318 == 200_976
    assert found.saved_bytes == smaller + found.uncut.lossless_bytes - found.cut.lossless_bytes == 76_997_284


def test_large_messages_save_headroom_alone() -> None:
    """It goes to the lossless queues, which such messages can fill."""
    found = plan(LEAF, traffic=RoceTraffic(message_bytes=10**7))
    assert found.cut is not None
    assert found.cut.headroom_bytes < found.uncut.headroom_bytes
    assert found.cut.lossless_bytes - found.uncut.lossless_bytes == (
        found.uncut.headroom_bytes - found.cut.headroom_bytes
    )
    assert found.saved_bytes == 0


def test_headroom_comes_out_of_the_shared_pool_before_it_comes_out_of_the_last_tenth() -> None:
    found = plan([PortLoad(800, 300, 64)], buffer_bytes=64_000_000, silicon="Tomahawk 5").uncut
    assert found.headroom_bytes == found.mixed_headroom_bytes
    assert found.lossy_bytes == 6_400_000
    assert found.lossless_bytes == 64_000_000 - found.headroom_bytes - 6_400_000


def test_a_port_gets_its_platforms_default_where_that_is_more() -> None:
    """SR Linux gives every port of a 7220 IXR-D5 132 kB; here a megabyte."""
    (port,) = buffer_plan([PortLoad(100, 5, 1)], traits(default_headroom_bytes=10**6), Lossless()).uncut.ports
    assert port.headroom.worst_bytes == 10**6


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
