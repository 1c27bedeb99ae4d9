"""Thresholds with their formulas, and the division of the buffer of a chip."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import SwitchBuffers
from railfab.documents.explain.formats import capacity, kilobytes, megabytes
from railfab.documents.explain.subject import Subject
from railfab.documents.pause import divides_buffer, has_headroom, is_configured, platform_of
from railfab.intent import Lossless, StorageClass
from railfab.qos import PortBuffers, SwitchTraits, headroom_terms
from railfab.qos.buffers import CONGESTED
from railfab.qos.frames import PAUSE_FRAME_BYTES
from railfab.qos.headroom import CABLE_NS_PER_M, response_bits
from railfab.qos.path import NIC_NS
from railfab.qos.thresholds import KMAX_TO_KMIN, KMIN_FLOOR_BYTES
from railfab.text.counted import counted
from railfab.units import BITS_PER_BYTE, FIBRE_NS_PER_M, bytes_per_ns


def thresholds(subject: Subject) -> Iterator[str]:
    """Thresholds and headroom of each kind of port."""
    profile = subject.intent.profile
    if profile.lossless is None:
        yield "No class is lossless: there is no PFC, no ECN and no headroom."
        return
    yield _class(profile.lossless)
    if profile.storage_class is not None:
        yield _storage_class(profile.storage_class, profile.lossless)
    said: set[object] = set()
    for kind in subject.plan.buffers:
        for text in _kind(kind):
            if text not in said:
                said.add(text)
                yield text


def _kind(kind: SwitchBuffers) -> Iterator[str]:
    yield _path(kind)
    for port in kind.plan.uncut.ports:
        yield _ramp(port, kind)
        if kind.plan.lossless.pfc:
            yield _headroom(port, kind)


def _class(lossless: Lossless) -> str:
    mechanisms = " and ".join(name for name, on in (("ECN", lossless.ecn), ("PFC", lossless.pfc)) if on)
    return (
        f"RoCE has DSCP {lossless.dscp}, queue and priority {lossless.priority}; congestion notifications DSCP "
        f"{lossless.cnp_dscp}. {mechanisms or 'Neither ECN nor PFC'} limit{'' if ' ' in mechanisms else 's'} "
        "its senders."
    )


def _storage_class(storage: StorageClass, lossless: Lossless) -> str:
    """The class of storage beside that of the GPUs."""
    place = f"Storage has DSCP {storage.dscp} and queue {storage.priority}"
    shares = f"Under congestion it has {storage.weight} % of the bandwidth, and RoCE of the GPUs {lossless.weight} %."
    if storage.lossless:
        means = "pause frames of its own priority, " if lossless.pfc else ""
        return f"{place}, {means}the thresholds of RoCE, and headroom of its own. {shares}"
    return (
        f"{place}, a lossy one without headroom: ECN marks every packet above Kmin, as DCTCP expects, and TCP repairs "
        f"what is dropped. {shares}"
    )


def _path(kind: SwitchBuffers) -> str:
    """The round trip that the thresholds of a network follow from."""
    path, mtu = kind.plan.traits.path, kind.plan.traits.mtu_bytes
    cables = f"2 x {path.cable_m:,g} m x {FIBRE_NS_PER_M:g} ns/m of cable"
    switches = f"2 x {path.switches} x {path.switch_ns:,} ns of switches"
    return (
        f"The longest path has {path.cable_m:,g} m of cable and {counted(path.switches, 'switch')}. A round trip takes "
        f"{cables}, {switches}, {path.sending_ns(mtu):,.0f} ns to send a packet on each link, and 2 x {NIC_NS:,} ns of "
        f"NICs: {path.round_trip_ns(mtu) / 1000:g} us. The times of switches and NICs are estimates."
    )


def _ramp(port: PortBuffers, kind: SwitchBuffers) -> str:
    rate, found, traits = port.load.rate_gbps, port.thresholds, kind.plan.traits
    round_trip_us = traits.path.round_trip_ns(traits.mtu_bytes) / 1000
    bdp, kmin, kmax = map(kilobytes, (found.bdp_bytes, found.kmin_bytes, found.kmax_bytes))
    if found.stated:
        ramp = f"The intent states Kmin {kmin} and Kmax {kmax}"
    else:
        floor = kilobytes(KMIN_FLOOR_BYTES)
        ramp = f"Kmin is this value, but at least {floor}: {kmin}. Kmax is {KMAX_TO_KMIN} x Kmin = {kmax}"
    of_role = f" of each {traits.role.replace('_', '-')}" if kind.plan.lossless.ecn_by_role else ""
    sentences = [f"{rate}G ports{of_role}: {capacity(rate)} x {round_trip_us:g} us = {bdp}."]
    if kind.plan.lossless.ecn:
        sentences.append(f"{ramp}, with {found.pmax_percent} % marked there.")
    if kind.plan.lossless.pfc:
        sentences.append(_xoff(kind, kilobytes(found.xoff_bytes), bdp))
    return " ".join(sentences)


def _xoff(kind: SwitchBuffers, xoff: str, bdp: str) -> str:
    after = "so that senders have one round trip to react to a mark."
    if is_configured(kind, "xoff_bytes"):
        return f"XOFF is Kmax + {bdp} = {xoff}, {after}"
    chosen = f"XOFF is chosen by the switch, as {platform_of(kind)} has no setting for it"
    return f"{chosen}; Kmax + {bdp} = {xoff} is planned, {after}"


def _headroom(port: PortBuffers, kind: SwitchBuffers) -> str:
    load, traits, chip = port.load, kind.plan.traits, kind.plan.traits.chip
    found = headroom_terms(rate_gbps=load.rate_gbps, cable_m=load.cable_m, mtu_bytes=traits.mtu_bytes, chip=chip)
    cable = f"2 x {load.cable_m:g} m x {CABLE_NS_PER_M:.3f} ns/m x {bytes_per_ns(load.rate_gbps):g} bytes/ns"
    return (
        f"Headroom of each {load.rate_gbps}G port with {load.cable_m:g} m, with {chip.uncertainty} figures of "
        f"{chip.name}: our frame {found.our_frame:,}; the pause frame {PAUSE_FRAME_BYTES}; cable {cable} = "
        f"{found.cable:,.0f}; MAC, PHY and chip {found.arriving:,.0f}; response "
        f"{response_bits(load.rate_gbps):,} bits / {BITS_PER_BYTE} = {found.response:,.0f}. If half of the packets are "
        f"small, these {found.in_flight:,.0f} bytes fill {found.occupancy:.2f} times as much in cells of "
        f"{chip.cell_bytes}; with the frame of the peer, {found.their_frame:,}, and {found.pipeline:,} of the pipeline "
        f"this is {found.total:,} bytes. The port may use {port.headroom.worst_bytes:,}, {_most(port, traits)}"
        + ("." if has_headroom(kind) else f"; the switch chooses it, as {platform_of(kind)} has no setting for it.")
    )


def _most(port: PortBuffers, traits: SwitchTraits) -> str:
    """The reason for the most headroom that a port may use."""
    if port.headroom.worst_bytes == traits.default_headroom_bytes:
        return "the platform's default"
    if port.headroom.worst_bytes == traits.chip.published_bytes(port.load.rate_gbps, port.load.cable_m):
        return "the largest figure that a vendor publishes for this chip"
    return "enough if all packets are small"


def division(subject: Subject) -> Iterator[str]:
    """Buffer of each kind of switch: headroom, lossless queues, other classes; and the savings for stated traffic."""
    for kind in subject.plan.buffers:
        yield _divided(kind)
        yield from _granted(kind)
    yield from _cut(subject)


def _divided(kind: SwitchBuffers) -> str:
    uncut, whole = kind.plan.uncut, kind.plan.buffer_bytes
    ports = counted(sum(port.load.count for port in uncut.ports), "lossless port")
    if kind.plan.traits.classes > 1:
        ports += f" with {kind.plan.traits.classes} classes each"
    return (
        f"{kind.where}: {megabytes(whole)} of {kind.model.silicon}. "
        + (_headroom_share(kind, ports) if kind.plan.lossless.pfc else f"{ports} without PFC: no headroom")
        + ("" if divides_buffer(kind) else f" (planned: {platform_of(kind)} divides the buffer by itself)")
        + f"; lossless queues share {megabytes(uncut.lossless_bytes)}, and {megabytes(uncut.lossy_bytes)} are left "
        "for other classes."
    )


def _headroom_share(kind: SwitchBuffers, ports: str) -> str:
    uncut, whole = kind.plan.uncut, kind.plan.buffer_bytes
    share = f"{megabytes(uncut.headroom_bytes)}, {100 * uncut.headroom_bytes / whole:.1f} % of the buffer"
    if uncut.headroom_bytes == uncut.worst_headroom_bytes:
        return f"Headroom of {ports} is {share}, enough even if all packets are small"
    return (
        f"Headroom of {ports} is {share}: all of them together need {megabytes(uncut.mixed_headroom_bytes)} if half of "
        f"the packets are small, and {megabytes(uncut.worst_headroom_bytes)} if all are"
    )


def _granted(kind: SwitchBuffers) -> Iterator[str]:
    if ports := kind.plan.uncut.ports:
        fastest = max(ports, key=lambda port: port.thresholds.kmax_bytes)
        kmax, granted = fastest.thresholds.kmax_bytes, kind.plan.uncut.granted_xoff_bytes
        act = "pauses" if kind.plan.lossless.pfc else "drops from"
        whatever = ", whatever its XOFF" if is_configured(kind, "xoff_bytes") else ""
        yield (
            f"When {100 * CONGESTED:g} % of these ports are congested, the chip {act} a queue at {megabytes(granted)}"
            f"{whatever}; Kmax of {fastest.load.rate_gbps}G ports, {megabytes(kmax)}, is "
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
