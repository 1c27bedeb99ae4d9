"""QoS of a switch: traffic classes, thresholds by speed and cable length, and what each port uses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from railfab.device.buffers import PortThresholds
from railfab.device.interfaces import lag_name
from railfab.device.plan_switch import PlannedConnection, PlannedSwitch
from railfab.device.qos import (
    Classifier,
    ClassThresholds,
    EcnRamp,
    PacketTrimming,
    PfcWatchdog,
    PortProfile,
    PortQos,
    Qos,
    Scheduling,
    TrafficClass,
)
from railfab.intent import Lossless, StorageClass, Trimming
from railfab.qos import ALPHA, ETHERNET_HEADER_BYTES, profile_name

CLASSIFIER = "fabric"
DEFAULT, ROCE, STORAGE, CNP = "default", "roce", "storage", "cnp"

DCTCP_PMAX_PERCENT = 100
"""DCTCP marks every packet above one queue length (RFC 8257, section 3.1: a single threshold K), so the ramp of a TCP
class is one frame long. K is at least a seventh of the bandwidth-delay product (Alizadeh et al., SIGCOMM 2010, equation
13); Kmin of the lossless class is more than that."""


@dataclass(frozen=True)
class Classes:
    """The traffic classes of an intent. storage, trimming: None without.

    Without PFC the classes of RoCE are lossy: nothing is paused, and a queue drops at its dynamic threshold.
    """

    lossless: Lossless
    storage: StorageClass | None
    trimming: Trimming | None
    mtu_bytes: int

    @cached_property
    def of_roce(self) -> tuple[tuple[str, int], ...]:
        """The classes of RoCE, lossless with PFC, and their priorities."""
        storage = self.storage
        more = ((STORAGE, storage.priority),) if storage is not None and storage.lossless else ()
        return ((ROCE, self.lossless.priority), *more)

    @cached_property
    def paused(self) -> tuple[int, ...]:
        """The priorities with PFC."""
        return tuple(sorted(priority for _, priority in self.of_roce)) if self.lossless.pfc else ()

    @cached_property
    def marked(self) -> tuple[str, ...]:
        """The classes with ECN; that of TCP always has it."""
        tcp = (STORAGE,) if self.storage is not None and not self.storage.lossless else ()
        return (*(name for name, _ in self.of_roce if self.lossless.ecn), *tcp)


def planned_qos(switch: PlannedSwitch) -> Qos | None:
    """The QoS of a switch, with a profile for each speed and cable; None without a lossless class on its network."""
    profile = switch.profile
    if profile.lossless is None or switch.node.name not in switch.fabric.buffers:
        return None
    buffers = switch.fabric.buffers[switch.node.name]
    planned = Classes(
        lossless=profile.lossless,
        storage=profile.storage_class,
        trimming=profile.ultra_ethernet.packet_trimming,
        mtu_bytes=profile.mtu,
    )
    by_name = sorted(buffers.thresholds, key=lambda thresholds: thresholds.name)
    return Qos(
        classes=tuple(_classes(planned)),
        default_class=DEFAULT,
        classifiers=(_classifier(planned),),
        profiles=tuple(_port_profile(thresholds, planned) for thresholds in by_name),
        ports=tuple(_port(name, connection, planned) for name, connection in _ports(switch)),
        watchdog=_watchdog(planned.lossless),
        headroom_pool_percent=buffers.headroom_pool_percent,
        headroom_pool_bytes=buffers.plan.uncut.headroom_bytes,
        shared_pool_bytes=buffers.plan.uncut.lossless_bytes,
        trimming=_trimming(planned.trimming),
    )


def _trimming(trimming: Trimming | None) -> PacketTrimming | None:
    """Trimmed packets have the queue of CNPs: the sooner they arrive, the sooner the loss is repaired."""
    return PacketTrimming(size_bytes=trimming.size_bytes, dscp=trimming.dscp, traffic_class=CNP) if trimming else None


def _profile_of(connection: PlannedConnection) -> str:
    return profile_name(connection.port.rate_gbps, connection.link.cable_m)


def _ports(switch: PlannedSwitch) -> Iterator[tuple[str, PlannedConnection]]:
    """The ports and LAGs that have QoS, each with its connection or one of them; a LAG has it for its members."""
    for connection in switch.connections:
        if connection.port.bundle is None:
            yield connection.port.name, connection
    for number, members in switch.lags.items():
        yield lag_name(number), members[0]


def _port(name: str, connection: PlannedConnection, planned: Classes) -> PortQos:
    return PortQos(
        interface=name,
        profile=_profile_of(connection),
        classifier=CLASSIFIER,
        pfc=planned.paused,
        ecn=planned.marked,
    )


def _port_profile(thresholds: PortThresholds, planned: Classes) -> PortProfile:
    ramp = EcnRamp(
        kmin_bytes=thresholds.kmin_bytes, kmax_bytes=thresholds.kmax_bytes, pmax_percent=thresholds.pmax_percent
    )
    limits = [ClassThresholds(traffic_class=name, ecn=ramp, alpha=ALPHA) for name, _ in planned.of_roce]
    if planned.lossless.pfc:
        limits = [_paused(limit, thresholds) for limit in limits]
    if planned.storage is not None and not planned.storage.lossless:
        above = thresholds.kmin_bytes + planned.mtu_bytes + ETHERNET_HEADER_BYTES
        step = EcnRamp(kmin_bytes=thresholds.kmin_bytes, kmax_bytes=above, pmax_percent=DCTCP_PMAX_PERCENT)
        limits.append(ClassThresholds(traffic_class=STORAGE, ecn=step))
    return PortProfile(name=thresholds.name, thresholds=tuple(limits), cable_m=thresholds.cable_m)


def _paused(limits: ClassThresholds, thresholds: PortThresholds) -> ClassThresholds:
    return replace(
        limits,
        xoff_bytes=thresholds.xoff_bytes,
        xon_offset_bytes=thresholds.xon_offset_bytes,
        headroom_bytes=thresholds.headroom_bytes,
        headroom_percent=thresholds.headroom_percent,
    )


def _classes(planned: Classes) -> Iterator[TrafficClass]:
    lossless, storage = planned.lossless, planned.storage
    rest = 100 - lossless.weight - (storage.weight if storage else 0)
    yield TrafficClass(name=DEFAULT, queue=0, scheduling=Scheduling.WEIGHTED, weight=rest)
    yield _weighted(ROCE, lossless.priority, lossless.weight, lossless=lossless.pfc)
    if storage is not None:
        yield _weighted(STORAGE, storage.priority, storage.weight, lossless=storage.lossless and lossless.pfc)
    yield TrafficClass(
        name=CNP, queue=lossless.cnp_queue, scheduling=Scheduling.STRICT, rate_percent=_cnp_rate(lossless)
    )


def _weighted(name: str, priority: int, weight: int, *, lossless: bool) -> TrafficClass:
    paused = priority if lossless else None
    return TrafficClass(
        name=name,
        queue=priority,
        scheduling=Scheduling.WEIGHTED,
        weight=weight,
        pfc_priority=paused,
        obeyed_priority=paused,
    )


def _cnp_rate(lossless: Lossless) -> int | None:
    return lossless.cnp_rate_percent if lossless.cnp_rate_percent < 100 else None


def _classifier(planned: Classes) -> Classifier:
    points = [(planned.lossless.dscp, ROCE), (planned.lossless.cnp_dscp, CNP)]
    if planned.storage is not None:
        points.append((planned.storage.dscp, STORAGE))
    if planned.trimming is not None:
        points.append((planned.trimming.dscp, CNP))
    return Classifier(name=CLASSIFIER, dscp=tuple(sorted(points)))


def _watchdog(lossless: Lossless) -> PfcWatchdog | None:
    watchdog = lossless.watchdog if lossless.pfc else None
    return PfcWatchdog(detect_ms=watchdog.detect_ms, recover_ms=watchdog.recover_ms) if watchdog else None
