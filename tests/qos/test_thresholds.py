"""The arithmetic of lossless queues, against the figures of its sources."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railfab.qos import lossless_thresholds, pfc_headroom_bytes

RATES = st.sampled_from([25, 50, 100, 200, 400, 800])
METRES = st.floats(0.5, 2000)


@pytest.mark.parametrize(
    ("rate_gbps", "cable_m", "bytes_"),
    [(100, 5, 44_397), (100, 40, 48_772), (100, 300, 81_272), (400, 5, 78_976), (400, 40, 96_476), (800, 40, 174_396)],
)
def test_headroom_is_that_of_the_published_formula(rate_gbps: int, cable_m: float, bytes_: int) -> None:
    """Port MTU 9216 (frames), IEEE 802.1Qbb response bounds; NVIDIA ships 44 032 and 49 152 for 100G at 5 and 40 m."""
    assert pfc_headroom_bytes(rate_gbps=rate_gbps, cable_m=cable_m, max_frame_bytes=9216) == pytest.approx(
        bytes_, abs=1
    )


@given(rate_gbps=RATES, cable_m=METRES, mtu_bytes=st.integers(1500, 9398))
def test_ecn_acts_before_pfc(rate_gbps: int, cable_m: float, mtu_bytes: int) -> None:
    found = lossless_thresholds(rate_gbps=rate_gbps, cable_m=cable_m, mtu_bytes=mtu_bytes)
    assert 0 < found.kmin_bytes < found.kmax_bytes < found.xoff_bytes
    assert 0 < found.pmax_percent <= 100


@given(rate_gbps=RATES, cable_m=METRES, more_m=st.floats(0, 500), mtu_bytes=st.integers(1500, 9000))
def test_a_longer_cable_or_larger_frame_never_needs_less_headroom(
    rate_gbps: int, cable_m: float, more_m: float, mtu_bytes: int
) -> None:
    near = lossless_thresholds(rate_gbps=rate_gbps, cable_m=cable_m, mtu_bytes=mtu_bytes).headroom_bytes
    far = lossless_thresholds(rate_gbps=rate_gbps, cable_m=cable_m + more_m, mtu_bytes=mtu_bytes + 100).headroom_bytes
    assert far > near


def test_thresholds_at_100_and_400G() -> None:
    host = lossless_thresholds(rate_gbps=100, cable_m=5, mtu_bytes=9216)
    uplink = lossless_thresholds(rate_gbps=400, cable_m=40, mtu_bytes=9216)
    assert (host.kmin_bytes, host.kmax_bytes, host.xoff_bytes) == (150_000, 450_000, 575_000)
    assert (uplink.kmin_bytes, uplink.kmax_bytes, uplink.xoff_bytes) == (500_000, 1_500_000, 2_000_000)


@pytest.mark.parametrize(("rate_gbps", "quanta"), [(25, 80), (40, 118), (50, 147), (100, 394), (200, 453)])
def test_the_response_time_is_that_of_its_speed(rate_gbps: int, quanta: int) -> None:
    """Pause quanta of 512 bits, as SONiC computes with; without cable and frames nothing else is left."""
    bare = pfc_headroom_bytes(rate_gbps=rate_gbps, cable_m=0, max_frame_bytes=0)
    assert bare == quanta * 512 // 8 + 3 * 20 + 64


@given(rate_gbps=RATES, cable_m=METRES, lossless_frame_bytes=st.integers(64, 9216))
def test_a_smaller_lossless_frame_saves_the_difference_once(
    rate_gbps: int, cable_m: float, lossless_frame_bytes: int
) -> None:
    """Our own frame, behind which the pause waits, may be of any class."""
    port = {"rate_gbps": rate_gbps, "cable_m": cable_m, "max_frame_bytes": 9216}
    saved = pfc_headroom_bytes(**port) - pfc_headroom_bytes(**port, lossless_frame_bytes=lossless_frame_bytes)
    assert saved == pytest.approx(9216 - lossless_frame_bytes, abs=1)
