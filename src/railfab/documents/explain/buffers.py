"""Thresholds with their formulas, and the division of the buffer of a chip."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.documents.explain.formats import capacity, kilobytes, megabytes
from railfab.documents.explain.subject import Subject
from railfab.fabric import SwitchBuffers
from railfab.intent import Lossless
from railfab.qos import Thresholds
from railfab.qos.buffers import CONGESTED, HEADROOM_PERCENT
from railfab.qos.thresholds import (
    ETHERNET_HEADER_BYTES,
    FABRIC_RTT_NS,
    KMAX_TO_KMIN,
    KMIN_FLOOR_BYTES,
    PAUSE_FRAME_BYTES,
    response_bits,
)
from railfab.units import BITS_PER_BYTE, ETHERNET_OVERHEAD_BYTES, FIBRE_NS_PER_M, bytes_per_ns, counted


def thresholds(subject: Subject) -> Iterator[str]:
    """Thresholds and headroom of each kind of port."""
    profile = subject.intent.profile
    if profile.lossless is None:
        yield "No class is lossless: there is no PFC, no ECN and no headroom."
        return
    yield _class(profile.lossless)
    kinds: dict[tuple[int, float], Thresholds] = {}
    for kind in subject.plan.buffers:
        for port in kind.plan.uncut.ports:
            kinds.setdefault((port.load.rate_gbps, port.load.cable_m), port.thresholds)
    for (rate, metres), found in sorted(kinds.items()):
        yield _ramp(rate, metres, found)
        if profile.lossless.pfc:
            yield _headroom(rate, metres, found, profile.mtu)


def _class(lossless: Lossless) -> str:
    mechanisms = " and ".join(name for name, on in (("ECN", lossless.ecn), ("PFC", lossless.pfc)) if on)
    return (
        f"RoCE has DSCP {lossless.dscp}, queue and priority {lossless.priority}; congestion notifications DSCP "
        f"{lossless.cnp_dscp}. {mechanisms or 'Neither ECN nor PFC'} limit{'' if ' ' in mechanisms else 's'} "
        "its senders."
    )


def _ramp(rate: int, metres: float, found: Thresholds) -> str:
    bdp = round(FABRIC_RTT_NS * bytes_per_ns(rate))
    floor = f"at least {kilobytes(KMIN_FLOOR_BYTES)}: {kilobytes(found.kmin_bytes)}"
    return (
        f"{rate}G ports with {metres:g} m: {capacity(rate)} x {FABRIC_RTT_NS / 1000:g} us = {kilobytes(bdp)}. Kmin is "
        f"this value, but {floor}. Kmax is {KMAX_TO_KMIN} x Kmin = {kilobytes(found.kmax_bytes)}, with "
        f"{found.pmax_percent} % "
        f"marked there. XOFF is Kmax + {kilobytes(bdp)} = {kilobytes(found.xoff_bytes)}, so that senders have "
        "one round trip to react to a mark."
    )


def _headroom(rate: int, metres: float, found: Thresholds, mtu: int) -> str:
    frame = mtu + ETHERNET_HEADER_BYTES + ETHERNET_OVERHEAD_BYTES
    cable = 2 * metres * FIBRE_NS_PER_M * bytes_per_ns(rate)
    response = response_bits(rate) / BITS_PER_BYTE
    return (
        f"Headroom of such a port: cable 2 x {metres:g} m x {FIBRE_NS_PER_M:g} ns/m x {bytes_per_ns(rate):g} bytes/ns "
        f"= {cable:,.10g}; response {response_bits(rate):,} bits / {BITS_PER_BYTE} = {response:,.10g}; two frames of "
        f"{frame:,}; the pause frame, {PAUSE_FRAME_BYTES}: {found.headroom_bytes:,} bytes in total."
    )


def division(subject: Subject) -> Iterator[str]:
    """Buffer of each kind of switch: headroom, lossless queues, other classes; and the savings for stated traffic."""
    for kind in subject.plan.buffers:
        yield _divided(kind)
        yield from _granted(kind)
    yield from _cut(subject)


def _divided(kind: SwitchBuffers) -> str:
    uncut, whole = kind.plan.uncut, kind.plan.buffer_bytes
    count = sum(port.load.count for port in uncut.ports)
    ports = f"{counted(count, 'lossless port')} need{'s' if count == 1 else ''}"
    need = f"{megabytes(uncut.needed_headroom_bytes)} of headroom"
    share = f"{100 * uncut.needed_headroom_bytes / whole:.1f} % ({HEADROOM_PERCENT} % at most)"
    return (
        f"{kind.where}: {megabytes(whole)} of {kind.model.silicon}. {ports} "
        + (f"{need}, {share}" if kind.plan.lossless.pfc else "no headroom without PFC")
        + f"; lossless queues share {megabytes(uncut.lossless_bytes)}, and {megabytes(uncut.lossy_bytes)} are left "
        "for other classes."
    )


def _granted(kind: SwitchBuffers) -> Iterator[str]:
    if ports := kind.plan.uncut.ports:
        fastest = max(ports, key=lambda port: port.thresholds.kmax_bytes)
        kmax, granted = fastest.thresholds.kmax_bytes, kind.plan.uncut.granted_xoff_bytes
        act = "pauses" if kind.plan.lossless.pfc else "drops from"
        yield (
            f"When {100 * CONGESTED:g} % of these ports are congested, the chip {act} a queue at {megabytes(granted)}, "
            f"whatever its XOFF; Kmax of {fastest.load.rate_gbps}G ports, {megabytes(kmax)}, is "
            f"{'below' if kmax < granted else 'not below'} that."
        )


def _cut(subject: Subject) -> Iterator[str]:
    lossless = subject.intent.profile.lossless
    if lossless is None:
        return
    if lossless.traffic is None:
        yield "`lossless.traffic` is not stated, so the buffers are not reduced to it."
        return
    for kind in subject.plan.buffers:
        if kind.plan.cut is not None and kind.plan.bound is not None:
            cut, traffic = kind.plan.cut, lossless.traffic
            yield (
                f"{kind.where}: {counted(traffic.senders, 'message')} of {traffic.message_bytes:,} bytes in packets of "
                f"{traffic.packet_bytes:,} fill {kind.plan.bound.queue_bytes:,} bytes of a queue; "
                f"{megabytes(cut.headroom_bytes)} of headroom and {megabytes(cut.lossless_bytes)} shared are enough, "
                f"which saves {megabytes(kind.plan.saved_bytes)}."
            )
