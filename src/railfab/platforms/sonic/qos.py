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
    lags = {lag.name: lag.members for lag in model.interfaces if isinstance(lag, Lag)}
    rates = port_rates(model)
    return tuple(
        QosPort(name=name, qos=port, rate_gbps=rates.get(name))
        for port in model.qos.ports
        for name in lags.get(port.interface, (port.interface,))
    )


def port_rates(model: DeviceModel) -> dict[str, int | None]:
    """The speed of each port; one without has that of the nearest cage before it that is split."""
    cages = sorted((ethernet_number(breakout.cage), breakout.rate_gbps) for breakout in model.breakouts)
    rates: dict[str, int | None] = {}
    for port in model.interfaces:
        if isinstance(port, Port):
            before = [rate for number, rate in cages if number <= ethernet_number(port.name)]
            rates[port.name] = port.rate_gbps if port.rate_gbps is not None else (before[-1] if before else None)
    return rates


def ethernet_number(port: str) -> int:
    """The number in the name of a port: 8 of `Ethernet8`; -1 without one."""
    digits = port.removeprefix("Ethernet")
    return int(digits) if digits.isdecimal() else -1


def lossy_group(qos: Qos) -> int:
    """The priority group of the lossy classes: the first that has no lossless priority, 0 but for a mistake."""
    taken = {traffic_class.pfc_priority for traffic_class in qos.classes}
    return next(group for group in QUEUES if group not in taken)


def paused_classes(qos: Qos) -> frozenset[str]:
    """Names of the classes that some port pauses, which alone need headroom and must not drop at egress."""
    enabled = {priority for port in qos.ports for priority in port.pfc}
    return frozenset(traffic_class.name for traffic_class in qos.classes if traffic_class.pfc_priority in enabled)


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
    return {
        str(traffic_class.pfc_priority): str(traffic_class.pfc_priority)
        for traffic_class in qos.classes
        if traffic_class.pfc_priority is not None
    }


def _maps(qos: Qos) -> Tables:
    lossy = lossy_group(qos)
    groups = {
        traffic_class.queue: traffic_class.pfc_priority
        for traffic_class in qos.classes
        if traffic_class.pfc_priority is not None
    }
    obeyed = {
        str(traffic_class.obeyed_priority): str(traffic_class.queue)
        for traffic_class in qos.classes
        if traffic_class.obeyed_priority is not None
    }
    return {
        "DSCP_TO_TC_MAP": {classifier.name: _code_points(classifier, qos) for classifier in qos.classifiers},
        "TC_TO_QUEUE_MAP": {MAP: {str(queue): str(queue) for queue in QUEUES}},
        "TC_TO_PRIORITY_GROUP_MAP": {MAP: {str(queue): str(groups.get(queue, lossy)) for queue in QUEUES}},
        "MAP_PFC_PRIORITY_TO_QUEUE": {MAP: obeyed} if obeyed else {},
    }


def _code_points(classifier: Classifier, qos: Qos) -> Row:
    """The class of every code point: a switch keeps its own for those that a map lacks."""
    queues = {traffic_class.name: traffic_class.queue for traffic_class in qos.classes}
    stated_points = dict(classifier.dscp)
    return {str(point): str(queues[stated_points.get(point, qos.default_class)]) for point in CODE_POINTS}


def _port(port: QosPort, qos: Qos, *, pfc_to_pg_map: str | None) -> Tables:
    settings = port.qos
    priorities = ",".join(map(str, settings.pfc)) or None
    row = stated(
        dscp_to_tc_map=settings.classifier,
        tc_to_queue_map=MAP,
        tc_to_pg_map=MAP,
        pfc_to_queue_map=MAP
        if any(traffic_class.obeyed_priority is not None for traffic_class in qos.classes)
        else None,
        pfc_to_pg_map=pfc_to_pg_map,
        pfc_enable=priorities,
        pfcwd_sw_enable=priorities if qos.watchdog else None,
    )
    tables: list[Tables] = [{"PORT_QOS_MAP": {port.name: row}}]
    tables += (_queue(traffic_class, port, qos) for traffic_class in qos.classes)
    return merged(tables)


def _queue(traffic_class: TrafficClass, port: QosPort, qos: Qos) -> Tables:
    """The queue of a class on a port, with its scheduler, which is that of the port's speed where it limits a rate."""
    name, scheduler = _scheduler(traffic_class, port)
    profile = qos.profile(port.qos.profile) if port.qos.profile else None
    has_ramp = profile is not None and traffic_class.name in {*port.qos.ecn, *port.qos.wred}
    ramp = threshold_name(profile.name, traffic_class.name) if profile and has_ramp else None
    row = stated(scheduler=name, wred_profile=ramp)
    return {"QUEUE": {key(port.name, traffic_class.queue): row}, "SCHEDULER": {name: scheduler}}


def threshold_name(profile: str, traffic_class: str) -> str:
    """The name of what a class has on the ports of a profile: a WRED profile, and the end of one of buffers."""
    return f"{profile}_{traffic_class}"


def _scheduler(traffic_class: TrafficClass, port: QosPort) -> tuple[str, Row]:
    """The scheduler of a class on a port. A limit is in bytes per second (sonic-scheduler, pir), so it needs the speed;
    `cir` is as high, since a `pir` needs one."""
    row = (
        {"type": "STRICT"}
        if traffic_class.scheduling is Scheduling.STRICT
        else stated(type="DWRR", weight=traffic_class.weight)
    )
    if traffic_class.rate_percent is None or port.rate_gbps is None:
        return traffic_class.name, row
    rate = port.rate_gbps * BYTES_PER_GBIT * traffic_class.rate_percent // 100
    return f"{traffic_class.name}_{port.rate_gbps}g", {**row, **stated(meter_type="bytes", cir=rate, pir=rate)}


def _ramps(qos: Qos) -> Tables:
    ramps = {
        threshold_name(profile.name, thresholds.traffic_class): _ramp(ramp, marks=thresholds.ecn is not None)
        for profile in qos.profiles
        for thresholds in profile.thresholds
        if (ramp := thresholds.ecn or thresholds.wred) is not None
    }
    return {"WRED_PROFILE": ramps}


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
    watchdog = qos.watchdog
    if watchdog is None:
        return {}
    watched = [port.name for port in ports if port.qos.pfc] or [port.name for port in ports]
    row = stated(action="drop", detection_time=watchdog.detect_ms, restoration_time=watchdog.recover_ms)
    rows: dict[str, Row] = {name: dict(row) for name in watched}
    return {"PFC_WD": {"GLOBAL": stated(POLL_INTERVAL=poll_ms(watchdog)), **rows}}


def poll_ms(watchdog: PfcWatchdog) -> int:
    """Polling interval of the watchdog: half of the shorter of its times, within the limits of SONiC [ms]."""
    least, usual = POLLS_MS
    return max(least, min(usual, watchdog.detect_ms // 2, watchdog.recover_ms // 2))


def trimming(qos: Qos) -> Iterator[tuple[str, Row]]:
    """Packet trimming of the switch (sonic-trimming)."""
    settings = qos.trimming
    if settings is not None:
        queue = qos.traffic_class(settings.traffic_class).queue
        yield "GLOBAL", stated(size=settings.size_bytes, dscp_value=settings.dscp, queue_index=queue)
