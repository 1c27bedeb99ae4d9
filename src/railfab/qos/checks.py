"""Checks of the buffer of one switch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from railfab.findings import DesignCode, Finding, error, warning
from railfab.intent import Ramp, RoceTraffic
from railfab.qos.buffers import HEADROOM_PERCENT, BufferPlan, PortBuffers
from railfab.qos.headroom import MIXED_PERCENT, occupancy
from railfab.qos.thresholds import KMAX_TO_KMIN, QueueThresholds
from railfab.qos.traffic import QueueBound
from railfab.text.remedies import Choice, remedy, setting

STATE = "state"
MORE_BUFFER = "Use a model with more buffer, or fewer lossless ports on this one"


def buffer_findings(where: str, plan: BufferPlan) -> Iterator[Finding]:
    """Errors and warnings about one switch.

    They use the uncut division of the buffer: the cut for stated traffic is optional. Findings about the lossless class
    and its traffic have the same text on every switch.
    """
    for findings in (_headroom, _marks_before_limit, _stated_ramps, _signals, _traffic):
        yield from findings(where, plan)


def _headroom(where: str, plan: BufferPlan) -> Iterator[Finding]:
    needed, count = plan.uncut.mixed_headroom_bytes, _lossless_ports(plan)
    classes = f"{plan.traits.classes} classes on " if plan.traits.classes > 1 else ""
    headroom = f"headroom of {classes}{count} lossless ports is {_mb(needed)}"
    advice = "Use shorter cables, fewer lossless ports, or a model with more buffer"
    if needed > plan.buffer_bytes:
        problem = f"{headroom}, more than the {_mb(plan.buffer_bytes)} of the buffer"
        yield error(DesignCode.HEADROOM, where, problem, advice)
    elif 100 * needed > HEADROOM_PERCENT * plan.buffer_bytes:
        problem = (
            f"{headroom}, more than {HEADROOM_PERCENT} % of the buffer of {_mb(plan.buffer_bytes)}, "
            f"and leaves {_mb(plan.uncut.lossless_bytes)} for lossless queues"
        )
        advice += "; or share headroom among ports if the platform supports it"
        yield warning(DesignCode.HEADROOM_SHARE, where, problem, advice)


def _marks_before_limit(where: str, plan: BufferPlan) -> Iterator[Finding]:
    """Check that Kmax is also below the dynamic threshold of the chip; not if headroom uses the whole buffer."""
    if not plan.lossless.ecn or plan.uncut.mixed_headroom_bytes > plan.buffer_bytes:
        return
    limit = plan.uncut.granted_xoff_bytes
    late = {port.load.rate_gbps: port.thresholds for port in plan.uncut.ports if port.thresholds.kmax_bytes >= limit}
    if late:
        ports = " and ".join(
            f"{rate}G ports ({_mb(thresholds.kmax_bytes)})" for rate, thresholds in sorted(late.items())
        )
        act = "pauses" if plan.lossless.pfc else "drops"
        yield error(
            DesignCode.ECN_TOO_LATE,
            where,
            f"Kmax of {ports} is not below the {_mb(limit)} at which the chip {act} "
            f"when a quarter of its {_lossless_ports(plan)} lossless ports are congested, so ECN marks too late",
            _earlier(plan, late, limit),
        )


def _earlier(plan: BufferPlan, late: Mapping[int, QueueThresholds], limit: int) -> str:
    """The remedy for ramps, by speed, that end at a limit or above: to state others where that is enough."""
    if not all(thresholds.stated and thresholds.bdp_bytes < limit - 1 for thresholds in late.values()):
        return MORE_BUFFER
    return remedy(_stated(plan, {rate: _below(thresholds, limit) for rate, thresholds in late.items()}))


def _below(thresholds: QueueThresholds, limit: int) -> Ramp:
    """The ramp with Kmax below a limit, and Kmin at the bandwidth-delay product where it was above."""
    kmin = thresholds.kmin_bytes if thresholds.kmin_bytes < limit - 1 else thresholds.bdp_bytes
    return _ramp(thresholds, kmin, limit - 1)


def _ramp(thresholds: QueueThresholds, kmin_bytes: int, kmax_bytes: int) -> Ramp:
    return Ramp(kmin_bytes=kmin_bytes, kmax_bytes=kmax_bytes, pmax_percent=thresholds.pmax_percent)


def _stated(plan: BufferPlan, ramps: Mapping[int, Ramp]) -> Choice:
    """The choice to state other ramps for some speeds, each where the intent states that of the speed."""
    stated, shown = plan.lossless.ramps(plan.traits.role), []
    changes: dict[str, dict[int, object]] = {}
    for rate, ramp in ramps.items():
        key = plan.lossless.ramp_key(rate, plan.traits.role) or "ecn"
        by_speed = changes.setdefault(f"profile.lossless.{key}", _dumped(stated[key]))
        by_speed[rate] = ramp.model_dump()
        shown.append(f"{'' if key == 'ecn' else f'{key}.'}{rate}: {{{_keys(ramp)}}}")
    return Choice(", ".join(shown), changes, STATE)


def _dumped(ramps: Mapping[int, Ramp]) -> dict[int, object]:
    return {rate: ramp.model_dump() for rate, ramp in ramps.items()}


def _keys(ramp: Ramp) -> str:
    """A ramp as YAML, without what is the default."""
    return ", ".join(f"{key}: {value}" for key, value in ramp.model_dump(exclude_defaults=True).items())


def _stated_ramps(_where: str, plan: BufferPlan) -> Iterator[Finding]:
    """Check that a stated Kmin lets one flow fill the link: below the bandwidth-delay product it is marked early."""
    early = {port.load.rate_gbps: port for port in plan.uncut.ports if _marks_early(port)}
    for rate, port in sorted(early.items()):
        thresholds, path = port.thresholds, plan.traits.path
        round_trip_us = path.round_trip_ns(plan.traits.mtu_bytes) / 1000
        ramp = _ramp(thresholds, thresholds.bdp_bytes, max(thresholds.kmax_bytes, KMAX_TO_KMIN * thresholds.bdp_bytes))
        yield warning(
            DesignCode.ECN_TOO_EARLY,
            f"profile.lossless.{plan.lossless.ramp_key(rate, plan.traits.role)}.{rate}",
            f"kmin_bytes {thresholds.kmin_bytes:,} is less than {rate} Gb/s x {round_trip_us:g} us = "
            f"{thresholds.bdp_bytes:,}, the data in flight of one flow over the longest path, so a single flow is "
            "marked and slowed",
            remedy(_stated(plan, {rate: ramp})),
        )


def _marks_early(port: PortBuffers) -> bool:
    return port.thresholds.stated and port.thresholds.kmin_bytes < port.thresholds.bdp_bytes


def _signals(where: str, plan: BufferPlan) -> Iterator[Finding]:
    if plan.lossless.ecn:
        return
    if plan.lossless.pfc:
        code = DesignCode.PFC_WITHOUT_ECN
        problem = "the lossless class has PFC without ECN: senders are paused but not slowed, and pauses spread"
        proposal = remedy(setting("profile.lossless.ecn", True, "unless the hosts limit their senders by other means"))
    else:
        code = DesignCode.NO_CONGESTION_CONTROL
        problem = "the lossless class has neither PFC nor ECN: nothing slows the senders, and its queues drop packets"
        keys = "profile.lossless.pfc", "profile.lossless.ecn"
        off = Choice("`lossless: off`", {"profile.lossless": False}, "write")
        proposal = remedy(*(setting(key, True) for key in keys), off)
    yield warning(code, where, problem, proposal)


def _traffic(where: str, plan: BufferPlan) -> Iterator[Finding]:
    traffic, bound = plan.lossless.traffic, plan.bound
    if traffic is None or bound is None:
        return
    if bound.payload_bytes < traffic.packet_bytes:
        yield _too_large(where, traffic, bound)
    if plan.lossless.pfc and _lacks_headroom(plan, bound):
        yield _too_small(where, plan, traffic, bound)


def _too_large(where: str, traffic: RoceTraffic, bound: QueueBound) -> Finding:
    return warning(
        DesignCode.PACKET_SIZE,
        where,
        f"`traffic.packet_bytes` {traffic.packet_bytes} exceeds the {bound.payload_bytes} bytes "
        "that the MTU leaves after the headers of RoCEv2",
        remedy(
            Choice(f"at most {bound.payload_bytes}", {"profile.lossless.traffic.packet_bytes": bound.payload_bytes}),
            Choice("`mtu`", verb="raise"),
        ),
    )


def _lacks_headroom(plan: BufferPlan, bound: QueueBound) -> bool:
    """Whether the stated packets fill more buffer than half small packets do, and headroom is not for small ones."""
    waste = plan.traits.chip.in_cells(bound.frame_bytes) / bound.frame_bytes
    enough = plan.uncut.headroom_bytes >= plan.uncut.worst_headroom_bytes
    return not enough and waste > occupancy(plan.traits.chip, MIXED_PERCENT)


def _too_small(where: str, plan: BufferPlan, traffic: RoceTraffic, bound: QueueBound) -> Finding:
    cells = plan.traits.chip.in_cells(bound.frame_bytes)
    return warning(
        DesignCode.SMALL_PACKETS,
        where,
        f"packets of {traffic.packet_bytes} bytes take {cells} bytes of buffer for frames of {bound.frame_bytes}, and "
        f"the {_mb(plan.uncut.headroom_bytes)} of headroom are less than the {_mb(plan.uncut.worst_headroom_bytes)} "
        "that all ports at once need for small packets",
        "Use larger packets, shorter cables, or a model with more buffer",
    )


def _lossless_ports(plan: BufferPlan) -> int:
    return sum(port.load.count for port in plan.uncut.ports)


def _mb(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.2f} MB"
