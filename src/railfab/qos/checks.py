"""What a careful colleague would say of the buffer of one switch."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.findings import DesignCode, Finding, Severity
from railfab.intent import RoceTraffic
from railfab.qos.buffers import HEADROOM_PERCENT, BufferPlan
from railfab.qos.traffic import QueueBound, in_cells

WASTE = 1.25
"""Cells over bytes of a full packet from which headroom, counted in bytes, is too little to trust."""

MORE_BUFFER = "Use a model with more buffer, or fewer lossless ports on this one"


def buffer_findings(where: str, plan: BufferPlan) -> Iterator[Finding]:
    """Errors and warnings about one switch.

    They hold the uncut division against the chip: a cut is an offer, and nothing may rest on it. Those of the lossless
    class and its traffic read the same on every switch.
    """
    for findings in (_headroom, _marks_before_limit, _signals, _traffic):
        yield from findings(where, plan)


def _headroom(where: str, plan: BufferPlan) -> Iterator[Finding]:
    needed, count = plan.uncut.needed_headroom_bytes, _lossless_ports(plan)
    told = f"headroom of {count} lossless ports is {_mb(needed)}"
    remedy = "Use shorter cables, fewer lossless ports, or a model with more buffer"
    if needed > plan.buffer_bytes:
        yield Finding(
            severity=Severity.ERROR,
            code=DesignCode.HEADROOM,
            where=where,
            problem=f"{told}, more than the {_mb(plan.buffer_bytes)} of the chip's buffer",
            remedy=remedy,
        )
    elif 100 * needed > HEADROOM_PERCENT * plan.buffer_bytes:
        yield Finding(
            severity=Severity.WARNING,
            code=DesignCode.HEADROOM_SHARE,
            where=where,
            problem=f"{told}, more than {HEADROOM_PERCENT} % of the buffer of {_mb(plan.buffer_bytes)}, "
            f"and leaves {_mb(plan.uncut.lossless_bytes)} that lossless queues share",
            remedy=f"{remedy}; or let ports share headroom where the platform can",
        )


def _marks_before_limit(where: str, plan: BufferPlan) -> Iterator[Finding]:
    """Kmax, which is below XOFF, is below what the chip grants too. Where headroom leaves nothing, that says it all."""
    if not plan.lossless.ecn or plan.uncut.needed_headroom_bytes > plan.buffer_bytes:
        return
    limit = plan.uncut.granted_xoff_bytes
    late = {
        port.load.rate_gbps: port.thresholds.kmax_bytes
        for port in plan.uncut.ports
        if port.thresholds.kmax_bytes >= limit
    }
    if late:
        told = " and ".join(f"{rate}G ports ({_mb(kmax)})" for rate, kmax in sorted(late.items()))
        act = "pauses" if plan.lossless.pfc else "drops"
        yield Finding(
            severity=Severity.ERROR,
            code=DesignCode.ECN_TOO_LATE,
            where=where,
            problem=f"Kmax of {told} is not below the {_mb(limit)} at which the chip {act} "
            f"when a quarter of its {_lossless_ports(plan)} lossless ports fill, so that ECN acts too late",
            remedy=MORE_BUFFER,
        )


def _signals(where: str, plan: BufferPlan) -> Iterator[Finding]:
    if plan.lossless.ecn:
        return
    if plan.lossless.pfc:
        code = DesignCode.PFC_WITHOUT_ECN
        problem = "the lossless class has PFC without ECN: senders are stopped, never slowed, and pauses spread"
        remedy = "Turn `lossless.ecn` on, unless the hosts pace their senders by other means"
    else:
        code = DesignCode.NO_CONGESTION_CONTROL
        problem = "the lossless class has neither PFC nor ECN: nothing holds senders back, and its queues drop"
        remedy = "Turn `lossless.pfc` or `lossless.ecn` on, or write `lossless: off`"
    yield Finding(severity=Severity.WARNING, code=code, where=where, problem=problem, remedy=remedy)


def _traffic(where: str, plan: BufferPlan) -> Iterator[Finding]:
    traffic, bound = plan.lossless.traffic, plan.bound
    if traffic is None or bound is None:
        return
    if bound.payload_bytes < traffic.packet_bytes:
        yield _too_large(where, traffic, bound)
    if plan.lossless.pfc and in_cells(bound.frame_bytes) > WASTE * bound.frame_bytes:
        yield _too_small(where, traffic, bound)


def _too_large(where: str, traffic: RoceTraffic, bound: QueueBound) -> Finding:
    return Finding(
        severity=Severity.WARNING,
        code=DesignCode.PACKET_SIZE,
        where=where,
        problem=f"`traffic.packet_bytes` {traffic.packet_bytes} does not fit the MTU with the headers of RoCEv2, "
        f"which leave {bound.payload_bytes}",
        remedy=f"State at most {bound.payload_bytes}, or raise `mtu`",
    )


def _too_small(where: str, traffic: RoceTraffic, bound: QueueBound) -> Finding:
    return Finding(
        severity=Severity.WARNING,
        code=DesignCode.SMALL_PACKETS,
        where=where,
        problem=f"packets of {traffic.packet_bytes} bytes take {in_cells(bound.frame_bytes)} bytes of buffer "
        f"for frames of {bound.frame_bytes}, and headroom is counted in frames",
        remedy="Send larger packets, or take headroom from the vendor's tables for small ones",
    )


def _lossless_ports(plan: BufferPlan) -> int:
    return sum(port.load.count for port in plan.uncut.ports)


def _mb(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.2f} MB"
