"""What is said of a switch's buffer: every text, when it is said, and when not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.qos.switches import LEAF, TOMAHAWK_5, path_of, traits

from railfab.findings import Severity
from railfab.intent import Lossless, Ramp, RoceTraffic
from railfab.qos import PortLoad, SwitchTraits, buffer_findings, buffer_plan, chip_of, headroom_terms

PORTS_64 = (PortLoad(800, 40, 64),)


def switch(buffer_bytes: int = TOMAHAWK_5, silicon: str = "Tomahawk 5") -> SwitchTraits:
    """A switch of a network with a round trip of 10 us, as the numbers below have it."""
    return traits(silicon, buffer_bytes, path=path_of(40, rate_gbps=800))


def said(
    ports: Sequence[PortLoad] = PORTS_64,
    buffer_bytes: int = TOMAHAWK_5,
    lossless: Lossless | None = None,
    silicon: str = "Tomahawk 5",
) -> list[tuple[Severity, str]]:
    plan = buffer_plan(ports, switch(buffer_bytes, silicon), lossless or Lossless())
    return [(found.severity, str(found)) for found in buffer_findings("pod1-spine1", plan)]


@pytest.mark.parametrize(
    ("ports", "buffer_bytes", "silicon"),
    [
        (LEAF, 132_000_000, "Trident 4"),
        ([PortLoad(400, 40, 32)], 64_000_000, "Tomahawk 3"),
        ([PortLoad(400, 40, 64)], 113_000_000, "Tomahawk 4"),
        ([PortLoad(400, 40, 128)], TOMAHAWK_5, "Tomahawk 5"),
        ([PortLoad(800, 40, 64)], TOMAHAWK_5, "Tomahawk 5"),
    ],
    ids=["pod64", "tomahawk-3", "tomahawk-4", "tomahawk-5-400g", "tomahawk-5-800g"],
)
def test_nothing_is_said_of_the_chips_that_fabrics_are_built_of(
    ports: Sequence[PortLoad], buffer_bytes: int, silicon: str
) -> None:
    traffic = Lossless(traffic=RoceTraffic(message_bytes=65_536))
    assert said(ports, buffer_bytes, silicon=silicon) == said(ports, buffer_bytes, traffic, silicon) == []


def test_headroom_that_exceeds_the_buffer() -> None:
    assert said([PortLoad(400, 2000, 128)], 128_000_000) == [
        (
            Severity.ERROR,
            "pod1-spine1: headroom of 128 lossless ports is 205.67 MB, more than the 128.00 MB of the buffer. "
            "Use shorter cables, fewer lossless ports, or a model with more buffer.",
        )
    ]


def test_headroom_that_exceeds_its_share() -> None:
    assert said([PortLoad(400, 2000, 64)]) == [
        (
            Severity.WARNING,
            "pod1-spine1: headroom of 64 lossless ports is 102.84 MB, more than 24 % of the buffer of 165.20 MB, "
            "and leaves 45.84 MB for lossless queues. Use shorter cables, fewer lossless ports, or a model with "
            "more buffer; or share headroom among ports if the platform supports it.",
        )
    ]


def test_the_share_of_headroom_is_the_limit() -> None:
    """24 ports of this kind need 24 % of a buffer a hundred times what one needs for half small packets."""
    one = headroom_terms(rate_gbps=400, cable_m=2000, mtu_bytes=9216, chip=chip_of("Tomahawk 5")).total
    assert said([PortLoad(400, 2000, 24)], 100 * one) == []
    assert [severity for severity, _ in said([PortLoad(400, 2000, 24)], 100 * one - 1)] == [Severity.WARNING]


def test_a_buffer_too_small_for_ecn_to_act_first() -> None:
    assert said([PortLoad(400, 40, 16), PortLoad(100, 5, 1)], 9_000_000) == [
        (
            Severity.WARNING,
            "pod1-spine1: headroom of 17 lossless ports is 4.42 MB, more than 24 % of the buffer of 9.00 MB, and "
            "leaves 3.68 MB for lossless queues. Use shorter cables, fewer lossless ports, or a model with more "
            "buffer; or share headroom among ports if the platform supports it.",
        ),
        (
            Severity.ERROR,
            "pod1-spine1: Kmax of 400G ports (1.50 MB) is not below the 0.71 MB at which the chip pauses when a "
            "quarter of its 17 lossless ports are congested, so ECN marks too late. Use a model with more "
            "buffer, or fewer lossless ports on this one.",
        ),
    ]


def test_several_speeds_are_one_finding() -> None:
    (_, headroom), (_, text) = said([PortLoad(400, 40, 16), PortLoad(400, 5, 16), PortLoad(800, 5, 8)], 27_000_000)
    assert "headroom of 40 lossless ports is 11.33 MB, more than 24 % of the buffer" in headroom
    assert "Kmax of 400G ports (1.50 MB) and 800G ports (3.00 MB) is not below the 1.18 MB at which" in text


def test_without_pfc_the_queue_drops_where_it_would_have_paused() -> None:
    ((severity, text),) = said([PortLoad(400, 40, 16)], 8_000_000, Lossless(pfc=False))
    assert severity is Severity.ERROR
    assert (
        "is not below the 1.44 MB at which the chip drops when a quarter of its 16 lossless ports are congested" in text
    )


def test_without_ecn_there_is_no_kmax_to_compare() -> None:
    (first, headroom), (second, class_) = said([PortLoad(400, 40, 16)], 9_000_000, Lossless(ecn=False))
    assert (first, second) == (Severity.WARNING, Severity.WARNING)
    assert headroom.startswith("pod1-spine1: headroom of 16 lossless ports is 4.28 MB, more than 24 % of the buffer")
    assert class_.startswith("pod1-spine1: the lossless class has PFC without ECN: ")


def ramp(kmin_bytes: int, kmax_bytes: int) -> Lossless:
    return Lossless(ecn={800: Ramp(kmin_bytes=kmin_bytes, kmax_bytes=kmax_bytes)})


def test_a_stated_ramp_that_suits_the_path_and_the_buffer() -> None:
    assert said(lossless=ramp(1_000_000, 4_000_000)) == []


def test_a_stated_ramp_that_starts_below_the_data_in_flight_of_one_flow() -> None:
    assert said(lossless=ramp(999_999, 4_000_000)) == [
        (
            Severity.WARNING,
            "profile.lossless.ecn.800: kmin_bytes 999,999 is less than 800 Gb/s x 10 us = 1,000,000, the data in "
            "flight of one flow over the longest path, so a single flow is marked and slowed. "
            "State 800: {kmin_bytes: 1000000, kmax_bytes: 4000000}.",
        )
    ]
    ((_, text),) = said(lossless=ramp(500_000, 900_000))
    assert text.endswith("State 800: {kmin_bytes: 1000000, kmax_bytes: 3000000}.")
    assert said(lossless=ramp(1_000_000, 1_000_001)) == []
    ((_, text),) = said(lossless=Lossless(ecn={800: Ramp(kmin_bytes=1, kmax_bytes=2, pmax_percent=20)}))
    assert text.endswith("State 800: {kmin_bytes: 1000000, kmax_bytes: 3000000, pmax_percent: 20}.")


def test_a_stated_ramp_that_ends_above_what_the_chip_grants() -> None:
    """Its remedy is enough."""
    ((severity, text),) = said(lossless=ramp(1_000_000, 20_000_000))
    assert severity is Severity.ERROR
    assert "Kmax of 800G ports (20.00 MB) is not below the 6.41 MB at which the chip pauses" in text
    assert text.endswith("State 800: {kmin_bytes: 1000000, kmax_bytes: 6413646}.")
    assert said(lossless=ramp(1_000_000, 6_413_646)) == []
    ((_, text),) = said(lossless=ramp(10_000_000, 20_000_000))
    assert text.endswith("State 800: {kmin_bytes: 1000000, kmax_bytes: 6413646}.")


def test_neither_pfc_nor_ecn() -> None:
    assert said(lossless=Lossless(pfc=False, ecn=False)) == [
        (
            Severity.WARNING,
            "pod1-spine1: the lossless class has neither PFC nor ECN: nothing slows the senders, and its "
            "queues drop packets. Set profile.lossless.pfc: true or profile.lossless.ecn: true, or write "
            "`lossless: off`.",
        )
    ]


def test_pfc_without_ecn() -> None:
    assert said(lossless=Lossless(ecn=False)) == [
        (
            Severity.WARNING,
            "pod1-spine1: the lossless class has PFC without ECN: senders are paused but not slowed, and "
            "pauses spread. Set profile.lossless.ecn: true (unless the hosts limit their senders by other "
            "means).",
        )
    ]


def test_ecn_without_pfc_is_a_choice() -> None:
    assert said(lossless=Lossless(pfc=False)) == []


def test_packets_that_the_mtu_does_not_hold() -> None:
    assert said(lossless=Lossless(traffic=RoceTraffic(packet_bytes=9216, message_bytes=10**6))) == [
        (
            Severity.WARNING,
            "pod1-spine1: `traffic.packet_bytes` 9216 exceeds the 9136 bytes that the MTU leaves after the "
            "headers of RoCEv2. Use at most 9136, or raise `mtu`.",
        )
    ]
    assert said(lossless=Lossless(traffic=RoceTraffic(packet_bytes=9136, message_bytes=10**6))) == []


def test_packets_so_small_that_cells_stay_empty() -> None:
    """Where headroom of all ports is not for small packets; a port alone has enough."""
    small = RoceTraffic(packet_bytes=256, message_bytes=4096)
    assert said(lossless=Lossless(traffic=small)) == [
        (
            Severity.WARNING,
            "pod1-spine1: packets of 256 bytes take 508 bytes of buffer for frames of 358, and the 39.65 MB of "
            "headroom are less than the 73.77 MB that all ports at once need for small packets. Use larger packets, "
            "shorter cables, or a model with more buffer.",
        )
    ]
    assert said([PortLoad(800, 40, 16)], lossless=Lossless(traffic=small)) == []
    assert said(lossless=Lossless(traffic=small, pfc=False)) == []
    assert said(lossless=Lossless(traffic=small.model_copy(update={"packet_bytes": 1024}))) == []


def test_findings_of_one_switch_come_together() -> None:
    lossless = Lossless(ecn=False, traffic=RoceTraffic(packet_bytes=9216, message_bytes=10**6))
    assert len(said([PortLoad(400, 2000, 64)], lossless=lossless)) == 3
