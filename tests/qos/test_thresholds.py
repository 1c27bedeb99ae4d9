"""ECN ramp and XOFF from the round trip of the longest path, or as the intent states them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.qos.switches import POD64, path_of

from railfab.intent import Lossless, Ramp, RoleRamps, SwitchRole
from railfab.qos import QueueThresholds, lossless_thresholds
from railfab.qos.thresholds import KMIN_FLOOR_BYTES

RATES = st.sampled_from([25, 50, 100, 200, 400, 800])
METRES = st.floats(0.5, 2000)


def thresholds(
    rate_gbps: int, round_trip_ns: int, lossless: Lossless | None = None, role: SwitchRole = "leaf"
) -> QueueThresholds:
    return lossless_thresholds(
        rate_gbps=rate_gbps, round_trip_ns=round_trip_ns, lossless=lossless or Lossless(), role=role
    )


def test_the_round_trip_of_pod64_worked_by_hand() -> None:
    """90 m there and back at 5 ns/m, three switches twice, 9,254 bytes twice at 100G and twice at 400G, two NICs."""
    assert POD64.cable_m == 90
    assert POD64.switches == 3
    assert POD64.sending_ns(9216) == pytest.approx(2 * 9254 / 12.5 + 2 * 9254 / 50)
    assert 900 + 6000 + POD64.sending_ns(9216) + 2000 == pytest.approx(10_751, abs=1)
    assert POD64.round_trip_ns(9216) == 10_800


@given(cable_m=METRES, more_m=st.floats(0, 500), mtu_bytes=st.integers(1500, 9000), tiers=st.integers(1, 2))
def test_longer_cables_larger_packets_and_more_tiers_never_take_less_time(
    cable_m: float, more_m: float, mtu_bytes: int, tiers: int
) -> None:
    near = path_of(cable_m, tiers=tiers).round_trip_ns(mtu_bytes)
    assert near <= path_of(cable_m + more_m, tiers=tiers).round_trip_ns(mtu_bytes + 100)
    assert near < path_of(cable_m, tiers=tiers + 1).round_trip_ns(mtu_bytes)
    assert near >= 2 * 2 * tiers * cable_m * 5


@given(rate_gbps=RATES, cable_m=METRES, mtu_bytes=st.integers(1500, 9398))
def test_ecn_acts_before_pfc(rate_gbps: int, cable_m: float, mtu_bytes: int) -> None:
    found = thresholds(rate_gbps, path_of(cable_m).round_trip_ns(mtu_bytes))
    assert KMIN_FLOOR_BYTES <= found.kmin_bytes < found.kmax_bytes < found.xoff_bytes
    assert found.bdp_bytes <= found.kmin_bytes
    assert found.xoff_bytes - found.kmax_bytes == found.bdp_bytes
    assert 0 < found.pmax_percent <= 100


@given(rate_gbps=RATES, round_trip_ns=st.integers(1000, 10**6), more_ns=st.integers(0, 10**6))
def test_thresholds_grow_with_speed_and_round_trip(rate_gbps: int, round_trip_ns: int, more_ns: int) -> None:
    near, far = thresholds(rate_gbps, round_trip_ns), thresholds(rate_gbps, round_trip_ns + more_ns)
    fast = thresholds(2 * rate_gbps, round_trip_ns)
    for larger in (far, fast):
        assert larger.kmin_bytes >= near.kmin_bytes
        assert larger.kmax_bytes >= near.kmax_bytes
        assert larger.xoff_bytes >= near.xoff_bytes


def test_800g_over_2_km_differs_from_40_m() -> None:
    """Two cables of 2 km up and two down are 80 us there and back, ten times the rest."""
    near, far = (path_of(cable_m, rate_gbps=800).round_trip_ns(9216) for cable_m in (40, 2000))
    assert (near, far) == (10_000, 88_400)
    assert [thresholds(800, ns).kmin_bytes for ns in (near, far)] == [1_000_000, 8_840_000]
    assert [thresholds(800, ns).xoff_bytes for ns in (near, far)] == [4_000_000, 35_360_000]


def test_thresholds_of_pod64() -> None:
    host, uplink = (thresholds(rate_gbps, 10_800) for rate_gbps in (100, 400))
    assert (host.kmin_bytes, host.kmax_bytes, host.xoff_bytes) == (150_000, 450_000, 585_000)
    assert (uplink.kmin_bytes, uplink.kmax_bytes, uplink.xoff_bytes) == (540_000, 1_620_000, 2_160_000)


def test_a_stated_ramp_replaces_the_rule_for_its_speed_alone() -> None:
    lossless = Lossless(ecn={400: Ramp(kmin_bytes=1_600_000, kmax_bytes=6_400_000, pmax_percent=20)})
    stated, other = thresholds(400, 10_800, lossless), thresholds(100, 10_800, lossless)
    assert (stated.kmin_bytes, stated.kmax_bytes, stated.pmax_percent) == (1_600_000, 6_400_000, 20)
    assert stated.xoff_bytes == 6_400_000 + 540_000
    assert stated.stated
    assert other == thresholds(100, 10_800)


def test_the_ramp_of_a_role_wins_over_that_of_all_switches_and_both_over_the_rule() -> None:
    every, leaf = Ramp(kmin_bytes=1_600_000, kmax_bytes=6_400_000), Ramp(kmin_bytes=800_000, kmax_bytes=3_200_000)
    lossless = Lossless(ecn={400: every}, ecn_by_role=RoleRamps(leaf={400: leaf}, super_spine={800: leaf}))
    roles: tuple[SwitchRole, ...] = ("leaf", "spine", "super_spine")
    of_400g = [thresholds(400, 10_800, lossless, role) for role in roles]
    assert [found.kmin_bytes for found in of_400g] == [800_000, 1_600_000, 1_600_000]
    assert [found.xoff_bytes for found in of_400g] == [3_740_000, 6_940_000, 6_940_000]
    of_800g = [thresholds(800, 10_800, lossless, role) for role in roles]
    assert [found.kmin_bytes for found in of_800g] == [1_080_000, 1_080_000, 800_000]
    assert [found.stated for found in of_800g] == [False, False, True]
