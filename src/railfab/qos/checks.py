"""Checks of the buffer of one switch."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.findings import DesignCode, Finding, Severity
from railfab.intent import RoceTraffic
from railfab.qos.buffers import HEADROOM_PERCENT, BufferPlan
from railfab.qos.traffic import QueueBound, in_cells
from railfab.remedies import Choice, remedy, setting

WASTE = 1.25
"""Ratio of buffer cells to bytes of a full packet above which headroom, computed in bytes, is too small."""

MORE_BUFFER = "Use a model with more buffer, or fewer lossless ports on this one"


def buffer_findings(where: str, plan: BufferPlan) -> Iterator[Finding]:
    """Errors and warnings about one switch.

    They use the uncut division of the buffer: the cut for stated traffic is optional. Findings about the lossless class
    and its traffic have the same text on every switch.
    """
    for findings in (_headroom, _marks_before_limit, _signals, _traffic):
        yield from findings(where, plan)


def _headroom(where: str, plan: BufferPlan) -> Iterator[Finding]:
    needed, count = plan.uncut.needed_headroom_bytes, _lossless_ports(plan)
    headroom = f"headroom of {count} lossless ports is {_mb(needed)}"
    advice = "Use shorter cables, fewer lossless ports, or a model with more buffer"
    if needed > plan.buffer_bytes:
        yield Finding(
            severity=Severity.ERROR,
            code=DesignCode.HEADROOM,
            where=where,
            problem=f"{headroom}, more than the {_mb(plan.buffer_bytes)} of the buffer",
            remedy=advice,
        )
    elif 100 * needed > HEADROOM_PERCENT * plan.buffer_bytes:
        yield Finding(
            severity=Severity.WARNING,
            code=DesignCode.HEADROOM_SHARE,
            where=where,
            problem=f"{headroom}, more than {HEADROOM_PERCENT} % of the buffer of {_mb(plan.buffer_bytes)}, "
            f"and leaves {_mb(plan.uncut.lossless_bytes)} for lossless queues",
            remedy=f"{advice}; or share headroom among ports if the platform supports it",
        )


def _marks_before_limit(where: str, plan: BufferPlan) -> Iterator[Finding]:
    """Check that Kmax is also below the dynamic threshold of the chip; not if headroom uses the whole buffer."""
    if not plan.lossless.ecn or plan.uncut.needed_headroom_bytes > plan.buffer_bytes:
        return
    limit = plan.uncut.granted_xoff_bytes
    late = {
        port.load.rate_gbps: port.thresholds.kmax_bytes
        for port in plan.uncut.ports
        if port.thresholds.kmax_bytes >= limit
    }
    if late:
        ports = " and ".join(f"{rate}G ports ({_mb(kmax)})" for rate, kmax in sorted(late.items()))
        act = "pauses" if plan.lossless.pfc else "drops"
        yield Finding(
            severity=Severity.ERROR,
            code=DesignCode.ECN_TOO_LATE,
            where=where,
            problem=f"Kmax of {ports} is not below the {_mb(limit)} at which the chip {act} "
            f"when a quarter of its {_lossless_ports(plan)} lossless ports are congested, so ECN marks too late",
            remedy=MORE_BUFFER,
        )


def _signals(where: str, plan: BufferPlan) -> Iterator[Finding]:
    if plan.lossless.ecn:
        return
    if plan.lossless.pfc:
        code = DesignCode.PFC_WITHOUT_ECN
        problem = "the lossless class has PFC without ECN: senders are paused but not slowed, and pauses spread"
        found = remedy(setting("profile.lossless.ecn", True, "unless the hosts limit their senders by other means"))
    else:
        code = DesignCode.NO_CONGESTION_CONTROL
        problem = "the lossless class has neither PFC nor ECN: nothing slows the senders, and its queues drop packets"
        keys = "profile.lossless.pfc", "profile.lossless.ecn"
        off = Choice("`lossless: off`", {"profile.lossless": False}, "write")
        found = remedy(*(setting(key, True) for key in keys), off)
    yield Finding(severity=Severity.WARNING, code=code, where=where, problem=problem, remedy=found)


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
        problem=f"`traffic.packet_bytes` {traffic.packet_bytes} exceeds the {bound.payload_bytes} bytes "
        "that the MTU leaves after the headers of RoCEv2",
        remedy=remedy(
            Choice(f"at most {bound.payload_bytes}", {"profile.lossless.traffic.packet_bytes": bound.payload_bytes}),
            Choice("`mtu`", verb="raise"),
        ),
    )


def _too_small(where: str, traffic: RoceTraffic, bound: QueueBound) -> Finding:
    return Finding(
        severity=Severity.WARNING,
        code=DesignCode.SMALL_PACKETS,
        where=where,
        problem=f"packets of {traffic.packet_bytes} bytes take {in_cells(bound.frame_bytes)} bytes of buffer "
        f"for frames of {bound.frame_bytes}, but headroom is computed from frames",
        remedy="Use larger packets, or the headroom tables of the vendor for small packets",
    )


def _lossless_ports(plan: BufferPlan) -> int:
    return sum(port.load.count for port in plan.uncut.ports)


def _mb(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.2f} MB"
