"""QoS of a switch: traffic classes, thresholds by speed and cable length, and what each port uses."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device.interfaces import lag_name
from railfab.device.plan_switch import Connection, PlannedSwitch
from railfab.device.qos import (
    Classifier,
    ClassThresholds,
    EcnRamp,
    PfcWatchdog,
    PortProfile,
    PortQos,
    Qos,
    Scheduling,
    TrafficClass,
)
from railfab.device.switch_buffers import PortThresholds
from railfab.intent import Lossless
from railfab.qos import profile_name

CLASSIFIER = "fabric"
DEFAULT, ROCE, CNP = "default", "roce", "cnp"


def planned_qos(switch: PlannedSwitch) -> Qos | None:
    """The QoS of a switch, with a profile for each speed and cable; None without a lossless class on its network."""
    lossless = switch.profile.lossless
    if lossless is None or switch.node.name not in switch.fabric.buffers:
        return None
    buffers = switch.fabric.buffers[switch.node.name]
    return Qos(
        classes=_classes(lossless),
        default_class=DEFAULT,
        classifiers=(_classifier(lossless),),
        profiles=tuple(map(_port_profile, sorted(buffers.thresholds, key=lambda found: found.name))),
        ports=tuple(_port(name, found, lossless) for name, found in _ports(switch)),
        watchdog=_watchdog(lossless),
        headroom_pool_percent=buffers.headroom_pool_percent,
    )


def _profile_of(connection: Connection) -> str:
    return profile_name(connection.port.rate_gbps, connection.link.cable_m)


def _ports(switch: PlannedSwitch) -> Iterator[tuple[str, Connection]]:
    """The ports and LAGs that have QoS, each with its connection or one of them; a LAG has it for its members."""
    for found in switch.connections:
        if found.port.bundle is None:
            yield found.port.name, found
    for number, members in switch.lags.items():
        yield lag_name(number), members[0]


def _port(name: str, connection: Connection, lossless: Lossless) -> PortQos:
    return PortQos(
        interface=name,
        profile=_profile_of(connection),
        classifier=CLASSIFIER,
        pfc=(lossless.priority,) if lossless.pfc else (),
        ecn=(ROCE,) if lossless.ecn else (),
    )


def _port_profile(thresholds: PortThresholds) -> PortProfile:
    ramp = EcnRamp(
        kmin_bytes=thresholds.kmin_bytes, kmax_bytes=thresholds.kmax_bytes, pmax_percent=thresholds.pmax_percent
    )
    roce = ClassThresholds(
        traffic_class=ROCE,
        ecn=ramp,
        xoff_bytes=thresholds.xoff_bytes,
        headroom_percent=thresholds.headroom_percent,
    )
    return PortProfile(name=thresholds.name, thresholds=(roce,))


def _classes(lossless: Lossless) -> tuple[TrafficClass, ...]:
    return (
        TrafficClass(name=DEFAULT, queue=0, scheduling=Scheduling.WEIGHTED, weight=100 - lossless.weight),
        TrafficClass(
            name=ROCE,
            queue=lossless.priority,
            scheduling=Scheduling.WEIGHTED,
            weight=lossless.weight,
            pfc_priority=lossless.priority,
            obeyed_priority=lossless.priority,
        ),
        TrafficClass(
            name=CNP, queue=lossless.cnp_queue, scheduling=Scheduling.STRICT, rate_percent=_cnp_rate(lossless)
        ),
    )


def _cnp_rate(lossless: Lossless) -> int | None:
    return lossless.cnp_rate_percent if lossless.cnp_rate_percent < 100 else None


def _classifier(lossless: Lossless) -> Classifier:
    points = ((lossless.dscp, ROCE), (lossless.cnp_dscp, CNP))
    return Classifier(name=CLASSIFIER, dscp=tuple(sorted(points)))


def _watchdog(lossless: Lossless) -> PfcWatchdog | None:
    found = lossless.watchdog
    return PfcWatchdog(detect_ms=found.detect_ms, recover_ms=found.recover_ms) if found else None
