"""Renders QoS: `/qos`, for the 7220 IXR-D4, D5, H4 and H5 (Broadcom XGS).

Each traffic class gets a queue, a forwarding class and, if lossless, a PFC queue. Each port profile gets a buffer
allocation profile and, for each class with a marking ramp, a queue management profile. Ports share a PFC mapping
profile where they have PFC for the same priorities. There is one scheduler policy, named `fabric`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from railfab.device import (
    Classifier,
    ClassThresholds,
    Interface,
    Lag,
    Port,
    PortProfile,
    PortQos,
    Qos,
    Scheduling,
    TrafficClass,
)
from railfab.platforms.shared.json_tree import Json

NAME = "fabric"
PFC_PREFIX = "pfc-"
LINECARD, FORWARDING_COMPLEX = 1, "0"
MARKS, DROPS = ({"traffic-type": "all", "drop-probability": "all", "enable-ecn": marks} for marks in (True, False))
"""Keys of the WRED slopes that mark ECN and that drop all packets; marking needs traffic type `all`."""

STRICT, WEIGHTED = 0, 1
"""Sequence numbers of the two schedulers; SR Linux requires this order."""
STRICT_PRIORITY = "strict"
"""Value of the leaf `priority` of a scheduler, without which its inputs share by weight."""

FORWARDING_CLASSES = 8
OF_TUNNELS = "vxlan-default"
"""Leaf with the classifier of packets that leave VXLAN, by their own DSCP (Nokia, QoS Guide
25.3, DSCP classifier policy configuration for input traffic, Using a DSCP classifier for VXLAN traffic)."""


def pfc_queue(name: str) -> str:
    """Name of the PFC queue of a class; names such as `pfc3` are the system's."""
    return PFC_PREFIX + name


def marking_name(profile: str, traffic_class: str, qos: Qos) -> str:
    """Name of the queue management profile of a class: the port profile's for the first lossless class."""
    first = next((cls.name for cls in qos.classes if cls.lossless), None)
    return profile if traffic_class == first else f"{profile}-{traffic_class}"


Units = Mapping[str, Sequence[int]]
"""Indices of the bridged subinterfaces of ports and LAGs; one without any has the routed subinterface 0."""


def bridged_units(interfaces: Iterable[Interface]) -> Units:
    """The VLANs of every bridged interface, which are the indices of its subinterfaces."""
    bridged = (
        (interface.name, interface.vlans)
        for interface in interfaces
        if isinstance(interface, Port | Lag) and interface.vlans
    )
    return {
        name: sorted({*vlans.tagged, *([] if vlans.untagged is None else [vlans.untagged])}) for name, vlans in bridged
    }


Named = Collection[tuple[str | None, str]]


class Ramped(NamedTuple):
    """Port profiles and classes of which a port marks the class, and of which one drops it by a ramp."""

    marked: Named
    dropped: Named

    @classmethod
    def of(cls, qos: Qos) -> Ramped:
        """Ramped classes of all ports."""
        return cls(
            {(port.profile, name) for port in qos.ports for name in port.ecn},
            {(port.profile, name) for port in qos.ports for name in port.wred},
        )

    def has(self, named: tuple[str | None, str]) -> bool:
        """Whether a port does either."""
        return named in self.marked or named in self.dropped


def render_qos(qos: Qos, units: Units, *, ends_tunnels: bool = False) -> Json:
    """`/qos`. ends_tunnels: whether VXLAN packets end here, which no classifier of a port sees decapsulated."""
    ramped = Ramped.of(qos)
    ports = [entry for port in qos.ports for entry in _port(port, qos, ramped, units.get(port.interface, (0,)))]
    tree: Json = {
        "queues": _queues(qos),
        "forwarding-classes": {"forwarding-class": list(_forwarding_classes(qos))},
        "scheduler-policies": {"scheduler-policy": [{"name": NAME, "scheduler": _schedulers(qos)}]},
        "pfc-mapping-profile": [_pfc_mapping(name, port, qos) for name, port in pfc_mappings(qos).items()],
        "interfaces": {"interface": ports},
        "linecard": [{"slot": LINECARD, "forwarding-complex": [_headroom_pool(qos)]}],
    }
    if qos.classifiers:
        tree["classifiers"] = {"dscp-policy": [_classifier(classifier) for classifier in qos.classifiers]}
        if ends_tunnels:
            tree["classifiers"][OF_TUNNELS] = qos.classifiers[0].name
    management = {
        "queue-management-profile": [
            marking for profile in qos.profiles for marking in _markings(profile, qos, ramped)
        ],
        "buffer-allocation-profile": [_buffers(profile, qos) for profile in qos.profiles],
    }
    if filled := {name: parts for name, parts in management.items() if parts}:
        tree["buffer-management"] = filled
    if ramped.marked:
        tree["explicit-congestion-notification"] = {}
    return tree


def _queues(qos: Qos) -> Json:
    queues: Json = {"queue": [{"name": cls.name, "queue-index": cls.queue} for cls in qos.classes]}
    if qos.lossless():
        queues["pfc-queue"] = [
            {"pfc-queue-name": pfc_queue(cls.name), "queue-index": cls.pfc_priority} for cls in qos.lossless()
        ]
    # Without it the queue-depth counters of telemetry.yml do not change.
    return queues | {"queue-depth-sampling": {"admin-state": "enable"}}


def _forwarding_classes(qos: Qos) -> Iterator[Json]:
    """Index 0 receives every code point that no policy names, so the default class has it."""
    wanted = {cls.name: 0 if cls.name == qos.default_class else cls.queue for cls in qos.classes}
    free = [index for index in range(1, FORWARDING_CLASSES) if index not in wanted.values()]
    for name, index in wanted.items():
        number = index if index or name == qos.default_class else free.pop(0)
        yield {"name": name, "forwarding-class-index": number, "output": {"unicast-queue": name}}


def _classifier(classifier: Classifier) -> Json:
    points = [{"value": point, "forwarding-class": name} for point, name in classifier.dscp]
    return {"name": classifier.name} | ({"dscp": points} if points else {})


def _schedulers(qos: Qos) -> list[Json]:
    strict = [cls for cls in qos.classes if cls.scheduling is Scheduling.STRICT]
    weighted = [cls for cls in qos.classes if cls.scheduling is Scheduling.WEIGHTED]
    schedulers: list[Json] = []
    if strict:
        schedulers.append({"sequence": STRICT, "priority": STRICT_PRIORITY, "input": [_input(cls) for cls in strict]})
    if weighted:
        schedulers.append({"sequence": WEIGHTED, "input": [_input(cls) | {"weight": cls.weight} for cls in weighted]})
    return schedulers


def _input(cls: TrafficClass) -> Json:
    tree: Json = {"id": cls.name, "queue-name": cls.name}
    return tree if cls.rate_percent is None else tree | {"peak-rate-percent": cls.rate_percent}


def _markings(profile: PortProfile, qos: Qos, ramped: Ramped) -> Iterator[Json]:
    """Queue management profiles of the classes that are marked, or dropped by a ramp, on any port, or could be."""
    for cls in qos.classes:
        thresholds = profile.of(cls.name)
        named = (profile.name, cls.name)
        if ramped.has(named) or (thresholds is not None and has_ramp(thresholds)):
            yield _marking(named, marking_name(profile.name, cls.name, qos), thresholds, ramped)


def _marking(named: tuple[str, str], name: str, thresholds: ClassThresholds | None, ramped: Ramped) -> Json:
    """ECN marking by the instantaneous queue length (weight factor 0), not its average, as DCQCN requires."""
    tree: Json = {"name": name, "weight-factor": 0}
    thresholds = thresholds or ClassThresholds(traffic_class=named[1])
    ramps = ((MARKS, thresholds.ecn, ramped.marked), (DROPS, thresholds.wred, ramped.dropped))
    slopes = [
        {
            **key,
            "min-threshold": str(ramp.kmin_bytes),
            "max-threshold": str(ramp.kmax_bytes),
            "max-drop-probability-percent": ramp.pmax_percent,
            "slope-enabled": named in enabled,
        }
        for key, ramp, enabled in ramps
        if ramp is not None
    ]
    return tree | ({"wred": {"wred-slope": slopes}} if slopes else {})


def has_ramp(thresholds: ClassThresholds) -> bool:
    """Whether packets of the class are marked or dropped by a ramp."""
    return thresholds.ecn is not None or thresholds.wred is not None


def _buffers(profile: PortProfile, qos: Qos) -> Json:
    queues = [limit for cls in qos.classes if (limit := _queue_limit(cls, profile, qos))]
    pfc_queues = [buffers for cls in qos.lossless() if (buffers := _pfc_buffers(cls, profile.of(cls.name)))]
    lists = {"queue": queues, "pfc-queue": pfc_queues}
    filled = {name: entries for name, entries in lists.items() if entries}
    return {"name": profile.name} | ({"queues": filled} if filled else {})


def _queue_limit(cls: TrafficClass, profile: PortProfile, qos: Qos) -> Json | None:
    """The egress limit of a queue that has one, is lossless or is marked."""
    thresholds = profile.of(cls.name) or ClassThresholds(traffic_class=cls.name)
    limit = thresholds.limit_bytes
    if limit is None and (cls.lossless or has_ramp(thresholds)):
        limit = default_limit_bytes(qos)
    return None if limit is None else {"queue-name": cls.name, "maximum-burst-size": limit}


def default_limit_bytes(qos: Qos) -> int:
    """Egress limit that a lossless queue cannot reach: twice the xoff threshold of every port [bytes].

    It must be set: a marking slope needs a queue limit, and the default limit, a share of the free buffer, would drop
    lossless packets.
    """
    profiles = {
        profile.name: sum(thresholds.xoff_bytes or 0 for thresholds in profile.thresholds) for profile in qos.profiles
    }
    return max(2 * sum(profiles.get(port.profile or "", 0) for port in qos.ports), 1)


def _pfc_buffers(cls: TrafficClass, thresholds: ClassThresholds | None) -> Json | None:
    """Thresholds of a PFC queue, where there are any."""
    xoff, share = (thresholds.xoff_bytes, thresholds.headroom_percent) if thresholds else (None, None)
    leaves = {"maximum-burst-size": xoff, "maximum-pfc-reserved-share-percentage": share}
    stated = {leaf: value for leaf, value in leaves.items() if value is not None}
    return {"pfc-queue-name": pfc_queue(cls.name)} | stated if stated else None


def pfc_mappings(qos: Qos) -> dict[str, PortQos]:
    """Name of each PFC mapping profile, and a port that uses it.

    `fabric` has all priorities; ports with fewer share a profile that is named after theirs, and a port with other
    priorities than the switch has its own.
    """
    every = pfc_priorities(qos.classes)
    mappings = {NAME: PortQos(interface="", pfc=every)}
    return mappings | {mapping_name(port, every): port for port in qos.ports if port.pfc}


def pfc_priorities(classes: Iterable[TrafficClass]) -> tuple[int, ...]:
    """Every priority of which classes send pause frames, or which they obey."""
    priorities = {priority for cls in classes for priority in (cls.pfc_priority, cls.obeyed_priority)}
    return tuple(sorted(priority for priority in priorities if priority is not None))


def mapping_name(port: PortQos, every: tuple[int, ...]) -> str:
    """Name of the PFC mapping profile of a port."""
    if port.priorities:
        return f"{NAME}-{port.interface}"
    return NAME if port.pfc == every else "-".join((NAME, *map(str, port.pfc)))


def _pfc_mapping(name: str, port: PortQos, qos: Qos) -> Json:
    """Maps each lossless class to its PFC queue, and each priority to the queue that its pause frames stop."""
    frames: Json = {}
    classes = qos.classes_on(port)
    obeying = [cls for cls in classes if cls.obeyed_priority in port.pfc]
    if obeying:
        frames["queue"] = [
            {"queue-name": cls.name, "pfc-pause-frame-priority": cls.obeyed_priority, "enable-pfc": True}
            for cls in obeying
        ]
    if qos.watchdog is not None:
        timers = {"detection-timer": qos.watchdog.detect_ms, "recovery-timer": qos.watchdog.recover_ms}
        frames["deadlock"] = {"enable": True, **timers}
    sending = [cls for cls in classes if cls.pfc_priority in port.pfc]
    tree: Json = {"name": name}
    if sending:
        tree["received-traffic"] = {"unicast-mapping": {"pfc-queue": [_pfc_source(cls) for cls in sending]}}
    return tree | ({"received-pfc-pause-frames": frames} if frames else {})


def _pfc_source(cls: TrafficClass) -> Json:
    return {
        "pfc-queue-name": pfc_queue(cls.name),
        "forwarding-class": [cls.name],
        "pfc-pause-frame-priority": cls.pfc_priority,
    }


def _headroom_pool(qos: Qos) -> Json:
    return {"name": FORWARDING_COMPLEX, "input": {"pfc-buffer-reservation": qos.headroom_pool_percent}}


def _port(port: PortQos, qos: Qos, ramped: Ramped, units: Sequence[int]) -> list[Json]:
    """PFC, buffers and scheduler are bound to the port, the classifier to its subinterfaces."""
    output: Json = {"scheduler": {"scheduler-policy": NAME}}
    entry: Json = {
        "interface-id": port.interface,
        "interface-ref": {"interface": port.interface},
        "output": output,
    }
    if port.pfc:
        every = pfc_priorities(qos.classes)
        entry["pfc"] = {"pfc-mapping-profile": mapping_name(port, every), "pfc-enable": True}
    if port.profile is not None:
        output["buffer-allocation-profile"] = port.profile
        if port.pfc:
            entry["input"] = {"pfc-buffer-allocation-profile": port.profile}
        if queues := _marked_queues(port, qos, ramped):
            output["queues"] = {"queue": queues}
    if port.classifier is None:
        return [entry]
    return [entry, *(_classification(port.interface, index, port.classifier) for index in units)]


def _marked_queues(port: PortQos, qos: Qos, ramped: Ramped) -> list[Json]:
    """Bindings of the classes that the port marks, and of those whose slope is there but disabled for all its ports."""
    profile = qos.profile(port.profile or "")
    ramps = (
        {thresholds.traffic_class for thresholds in profile.thresholds if has_ramp(thresholds)} if profile else set()
    )
    idle = {name for name in ramps if not ramped.has((port.profile, name))}
    return [
        {"queue-name": cls.name, "queue-management-profile": marking_name(port.profile or "", cls.name, qos)}
        for cls in qos.classes
        if cls.name in {*port.ecn, *port.wred, *idle}
    ]


def _classification(interface: str, index: int, classifier: str) -> Json:
    return {
        "interface-id": f"{interface}.{index}",
        "interface-ref": {"interface": interface, "subinterface": index},
        "input": {"classifiers": {"dscp-policy": classifier}},
    }
