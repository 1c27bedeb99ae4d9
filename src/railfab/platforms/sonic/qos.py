"""Renders classes, classifiers, PFC, ECN and scheduling (sonic-dscp-tc-map, -port-qos-map, -scheduler, -queue, ...).

A traffic class has the number of its queue; a priority group the number of the priority that its pause frames have. A
queue is named by its scheduler, a port's thresholds by its buffer profiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from railfab.device import (
    Classifier,
    DeviceModel,
    EcnRamp,
    Lag,
    PfcWatchdog,
    Port,
    PortQos,
    Qos,
    Scheduling,
    TrafficClass,
)
from railfab.platforms.sonic.tables import TRUE, Row, Tables, key, merged, stated

MAP = "fabric"
"""Name of the maps that a switch has only one of."""

SPECTRUM = "Spectrum"
"""Beginning of the names of NVIDIA's chips."""

QUEUES = range(8)
CODE_POINTS = range(64)
COLOURS = ("green", "yellow", "red")
POLLS_MS = (100, 200)
"""Least polling interval of the watchdog, and the usual one (sonic-pfcwd, POLL_INTERVAL)."""

BYTES_PER_GBIT = 125_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class QosPort:
    """A physical port with QoS. rate_gbps: None where the model has none."""

    name: str
    qos: PortQos
    rate_gbps: int | None


def qos_ports(model: DeviceModel) -> tuple[QosPort, ...]:
    """The ports with QoS; a LAG has it on each of its members."""
    if model.qos is None:
        return ()
    lags = {found.name: found.members for found in model.interfaces if isinstance(found, Lag)}
    rates = port_rates(model)
    return tuple(
        QosPort(name=name, qos=found, rate_gbps=rates.get(name))
        for found in model.qos.ports
        for name in lags.get(found.interface, (found.interface,))
    )


def port_rates(model: DeviceModel) -> dict[str, int | None]:
    """The speed of each port; one without has that of the nearest cage before it that is split."""
    cages = sorted((ethernet_number(found.cage), found.rate_gbps) for found in model.breakouts)
    found: dict[str, int | None] = {}
    for port in model.interfaces:
        if isinstance(port, Port):
            before = [rate for number, rate in cages if number <= ethernet_number(port.name)]
            found[port.name] = port.rate_gbps if port.rate_gbps is not None else (before[-1] if before else None)
    return found


def ethernet_number(port: str) -> int:
    """The number in the name of a port: 8 of `Ethernet8`; -1 without one."""
    digits = port.removeprefix("Ethernet")
    return int(digits) if digits.isdecimal() else -1


def lossy_group(qos: Qos) -> int:
    """The priority group of the lossy classes: the first that has no lossless priority, 0 but for a mistake."""
    taken = {found.pfc_priority for found in qos.classes}
    return next(group for group in QUEUES if group not in taken)


def paused_classes(qos: Qos) -> frozenset[str]:
    """Names of the classes that some port pauses, which alone need headroom and must not drop at egress."""
    enabled = {priority for port in qos.ports for priority in port.pfc}
    return frozenset(found.name for found in qos.classes if found.pfc_priority in enabled)


def render_qos(model: DeviceModel) -> Tables:
    """Everything of QoS but the buffers."""
    qos, ports = model.qos, qos_ports(model)
    if qos is None:
        return {}
    groups = _groups_of_priorities(qos) if has_spectrum(model) else {}
    rows = [_port(port, qos, pfc_to_pg_map=MAP if groups else None) for port in ports]
    maps: Tables = {"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {MAP: groups} if groups else {}}
    return merged((_maps(qos), maps, *rows, _ramps(qos), _watchdog(qos, ports)))


def has_spectrum(model: DeviceModel) -> bool:
    """Whether a switch has one of NVIDIA's chips."""
    return model.silicon.startswith(SPECTRUM)


def _groups_of_priorities(qos: Qos) -> Row:
    """The priority group of each priority of pause frames, which is stated for NVIDIA's chips only
    (qos_config.j2, pfc_to_pg_map_supported_asics)."""
    return {str(found.pfc_priority): str(found.pfc_priority) for found in qos.classes if found.pfc_priority is not None}


def _maps(qos: Qos) -> Tables:
    lossy = lossy_group(qos)
    groups = {found.queue: found.pfc_priority for found in qos.classes if found.pfc_priority is not None}
    obeyed = {
        str(found.obeyed_priority): str(found.queue) for found in qos.classes if found.obeyed_priority is not None
    }
    return {
        "DSCP_TO_TC_MAP": {found.name: _code_points(found, qos) for found in qos.classifiers},
        "TC_TO_QUEUE_MAP": {MAP: {str(queue): str(queue) for queue in QUEUES}},
        "TC_TO_PRIORITY_GROUP_MAP": {MAP: {str(queue): str(groups.get(queue, lossy)) for queue in QUEUES}},
        "MAP_PFC_PRIORITY_TO_QUEUE": {MAP: obeyed} if obeyed else {},
    }


def _code_points(classifier: Classifier, qos: Qos) -> Row:
    """The class of every code point: a switch keeps its own for those that a map lacks."""
    queues = {found.name: found.queue for found in qos.classes}
    stated_points = dict(classifier.dscp)
    return {str(point): str(queues[stated_points.get(point, qos.default_class)]) for point in CODE_POINTS}


def _port(port: QosPort, qos: Qos, *, pfc_to_pg_map: str | None) -> Tables:
    own = port.qos
    priorities = ",".join(map(str, own.pfc)) or None
    row = stated(
        dscp_to_tc_map=own.classifier,
        tc_to_queue_map=MAP,
        tc_to_pg_map=MAP,
        pfc_to_queue_map=MAP if any(found.obeyed_priority is not None for found in qos.classes) else None,
        pfc_to_pg_map=pfc_to_pg_map,
        pfc_enable=priorities,
        pfcwd_sw_enable=priorities if qos.watchdog else None,
    )
    tables: list[Tables] = [{"PORT_QOS_MAP": {port.name: row}}]
    tables += (_queue(found, port, qos) for found in qos.classes)
    return merged(tables)


def _queue(found: TrafficClass, port: QosPort, qos: Qos) -> Tables:
    """The queue of a class on a port, with its scheduler, which is that of the port's speed where it limits a rate."""
    name, scheduler = _scheduler(found, port)
    profile = qos.profile(port.qos.profile) if port.qos.profile else None
    has_ramp = profile is not None and found.name in {*port.qos.ecn, *port.qos.wred}
    ramp = threshold_name(profile.name, found.name) if profile and has_ramp else None
    row = stated(scheduler=name, wred_profile=ramp)
    return {"QUEUE": {key(port.name, found.queue): row}, "SCHEDULER": {name: scheduler}}


def threshold_name(profile: str, traffic_class: str) -> str:
    """The name of what a class has on the ports of a profile: a WRED profile, and the end of one of buffers."""
    return f"{profile}_{traffic_class}"


def _scheduler(found: TrafficClass, port: QosPort) -> tuple[str, Row]:
    """The scheduler of a class on a port. A limit is in bytes per second (sonic-scheduler, pir), so it needs the speed;
    `cir` is as high, since a `pir` needs one."""
    row = {"type": "STRICT"} if found.scheduling is Scheduling.STRICT else stated(type="DWRR", weight=found.weight)
    if found.rate_percent is None or port.rate_gbps is None:
        return found.name, row
    rate = port.rate_gbps * BYTES_PER_GBIT * found.rate_percent // 100
    return f"{found.name}_{port.rate_gbps}g", {**row, **stated(meter_type="bytes", cir=rate, pir=rate)}


def _ramps(qos: Qos) -> Tables:
    found = {
        threshold_name(profile.name, thresholds.traffic_class): _ramp(ramp, marks=thresholds.ecn is not None)
        for profile in qos.profiles
        for thresholds in profile.thresholds
        if (ramp := thresholds.ecn or thresholds.wred) is not None
    }
    return {"WRED_PROFILE": found}


def _ramp(ramp: EcnRamp, *, marks: bool) -> Row:
    row = {"ecn": "ecn_all" if marks else "ecn_none"}
    for colour in COLOURS:
        row |= stated(
            **{
                f"wred_{colour}_enable": TRUE,
                f"{colour}_min_threshold": ramp.kmin_bytes,
                f"{colour}_max_threshold": ramp.kmax_bytes,
                f"{colour}_drop_probability": ramp.pmax_percent,
            }
        )
    return row


def _watchdog(qos: Qos, ports: Sequence[QosPort]) -> Tables:
    """The watchdog of the ports with PFC; of all where none has it."""
    found = qos.watchdog
    if found is None:
        return {}
    watched = [port.name for port in ports if port.qos.pfc] or [port.name for port in ports]
    row = stated(action="drop", detection_time=found.detect_ms, restoration_time=found.recover_ms)
    rows: dict[str, Row] = {name: dict(row) for name in watched}
    return {"PFC_WD": {"GLOBAL": stated(POLL_INTERVAL=poll_ms(found)), **rows}}


def poll_ms(found: PfcWatchdog) -> int:
    """How often the watchdog looks: half of the shorter of its times, within what SONiC takes."""
    least, usual = POLLS_MS
    return max(least, min(usual, found.detect_ms // 2, found.recover_ms // 2))


def trimming(qos: Qos) -> Iterator[tuple[str, Row]]:
    """Packet trimming of the switch (sonic-trimming)."""
    found = qos.trimming
    if found is not None:
        queue = qos.traffic_class(found.traffic_class).queue
        yield "GLOBAL", stated(size=found.size_bytes, dscp_value=found.dscp, queue_index=queue)
