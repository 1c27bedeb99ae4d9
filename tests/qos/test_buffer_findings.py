"""What is said of a switch's buffer: every text, when it is said, and when not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from railfab.findings import Severity
from railfab.intent import Lossless, RoceTraffic
from railfab.qos import PortLoad, buffer_findings, buffer_plan, pfc_headroom_bytes

TOMAHAWK_5 = 165_200_000
PORTS_64 = (PortLoad(800, 40, 64),)


def said(
    ports: Sequence[PortLoad] = PORTS_64, buffer_bytes: int = TOMAHAWK_5, lossless: Lossless | None = None
) -> list[tuple[Severity, str]]:
    plan = buffer_plan(ports, buffer_bytes=buffer_bytes, mtu_bytes=9216, lossless=lossless or Lossless())
    return [(found.severity, str(found)) for found in buffer_findings("pod1-spine1", plan)]


@pytest.mark.parametrize(
    ("ports", "buffer_bytes"),
    [
        ([PortLoad(100, 5, 32), PortLoad(400, 40, 8)], 132_000_000),
        ([PortLoad(400, 40, 32)], 64_000_000),
        ([PortLoad(400, 40, 64)], 113_000_000),
        ([PortLoad(400, 40, 128)], TOMAHAWK_5),
        ([PortLoad(800, 40, 64)], TOMAHAWK_5),
    ],
    ids=["pod64", "tomahawk-3", "tomahawk-4", "tomahawk-5-400g", "tomahawk-5-800g"],
)
def test_nothing_is_said_of_the_chips_that_fabrics_are_built_of(ports: list[PortLoad], buffer_bytes: int) -> None:
    traffic = RoceTraffic(message_bytes=65_536)
    assert said(ports, buffer_bytes) == said(ports, buffer_bytes, Lossless(traffic=traffic)) == []


def test_headroom_that_exceeds_the_buffer() -> None:
    assert said([PortLoad(800, 2000, 64)], 128_000_000) == [
        (
            Severity.ERROR,
            "pod1-spine1: headroom of 64 lossless ports is 136.60 MB, more than the 128.00 MB of the buffer. "
            "Use shorter cables, fewer lossless ports, or a model with more buffer.",
        )
    ]


def test_headroom_that_exceeds_its_share() -> None:
    assert said([PortLoad(400, 2000, 64)]) == [
        (
            Severity.WARNING,
            "pod1-spine1: headroom of 64 lossless ports is 68.90 MB, more than 24 % of the buffer of 165.20 MB, "
            "and leaves 79.78 MB for lossless queues. Use shorter cables, fewer lossless ports, or a model with "
            "more buffer; or share headroom among ports if the platform supports it.",
        )
    ]


def test_the_share_of_headroom_is_the_limit() -> None:
    """24 ports of this kind need 24 % of a buffer a hundred times what one needs."""
    one = pfc_headroom_bytes(rate_gbps=400, cable_m=2000, max_frame_bytes=9216 + 18)
    assert said([PortLoad(400, 2000, 24)], 100 * one) == []
    assert [severity for severity, _ in said([PortLoad(400, 2000, 24)], 100 * one - 1)] == [Severity.WARNING]


def test_a_buffer_too_small_for_ecn_to_act_first() -> None:
    assert said([PortLoad(400, 40, 16), PortLoad(100, 5, 1)], 9_000_000) == [
        (
            Severity.ERROR,
            "pod1-spine1: Kmax of 400G ports (1.50 MB) is not below the 1.16 MB at which the chip pauses when a "
            "quarter of its 17 lossless ports are congested, so ECN marks too late. Use a model with more "
            "buffer, or fewer lossless ports on this one.",
        )
    ]


def test_several_speeds_are_one_finding() -> None:
    ((_, text),) = said([PortLoad(400, 40, 16), PortLoad(400, 5, 16), PortLoad(800, 5, 8)], 20_000_000)
    assert "Kmax of 400G ports (1.50 MB) and 800G ports (3.00 MB) is not below the 1.20 MB at which" in text


def test_without_pfc_the_queue_drops_where_it_would_have_paused() -> None:
    ((severity, text),) = said([PortLoad(400, 40, 16)], 9_000_000, Lossless(pfc=False))
    assert severity is Severity.ERROR
    assert (
        "is not below the 1.19 MB at which the chip drops when a quarter of its 16 lossless ports are congested" in text
    )


def test_without_ecn_there_is_no_kmax_to_compare() -> None:
    assert [severity for severity, _ in said([PortLoad(400, 40, 16)], 16_000_000, Lossless(ecn=False))] == [
        Severity.WARNING
    ]


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
    small = RoceTraffic(packet_bytes=256, message_bytes=4096)
    assert said(lossless=Lossless(traffic=small)) == [
        (
            Severity.WARNING,
            "pod1-spine1: packets of 256 bytes take 512 bytes of buffer for frames of 358, but headroom is "
            "computed from frames. Use larger packets, or the headroom tables of the vendor for small packets.",
        )
    ]
    assert said(lossless=Lossless(traffic=small, pfc=False)) == []
    assert said(lossless=Lossless(traffic=small.model_copy(update={"packet_bytes": 1024}))) == []


def test_findings_of_one_switch_come_together() -> None:
    lossless = Lossless(ecn=False, traffic=RoceTraffic(packet_bytes=9216, message_bytes=10**6))
    assert len(said([PortLoad(400, 2000, 64)], lossless=lossless)) == 3
