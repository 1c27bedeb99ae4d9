"""Renders QoS: `/qos`, for the 7220 IXR-D4, D5, H4 and H5 (Broadcom XGS).

Each traffic class gets a queue, a forwarding class and, if lossless, a PFC queue. Each port profile gets a buffer
allocation profile and a queue management profile of its name. Everything else has one instance, named `fabric`.
"""

from __future__ import annotations

from railfab.device import PortProfile, PortQos, Qos, Scheduling, TrafficClass
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux.interfaces import subinterface

NAME = "fabric"
PFC_PREFIX = "pfc-"
LINECARD, FORWARDING_COMPLEX = 1, "0"
SLOPE = {"traffic-type": "all", "drop-probability": "all", "enable-ecn": True}
"""Key of the WRED slope that marks ECN; marking needs traffic type `all`."""

STRICT, WEIGHTED = 0, 1
"""Sequence numbers of the two schedulers; SR Linux requires this order."""


def pfc_queue(name: str) -> str:
    """Name of the PFC queue of a class; names such as `pfc3` are the system's."""
    return PFC_PREFIX + name


def render_qos(qos: Qos) -> Json:
    tree: Json = {
        "queues": _queues(qos),
        "forwarding-classes": {"forwarding-class": [_forwarding_class(cls) for cls in qos.classes]},
        "classifiers": {"dscp-policy": [{"name": NAME, "dscp": _code_points(qos)}]},
        "scheduler-policies": {"scheduler-policy": [{"name": NAME, "scheduler": _schedulers(qos)}]},
        "buffer-management": {
            "queue-management-profile": [_marking(profile) for profile in qos.profiles],
            "buffer-allocation-profile": [_buffers(profile, qos) for profile in qos.profiles],
        },
        "pfc-mapping-profile": [_pfc_mapping(qos)],
        "interfaces": {"interface": [entry for port in qos.ports for entry in _port(port, qos)]},
        "linecard": [{"slot": LINECARD, "forwarding-complex": [_headroom_pool(qos)]}],
    }
    if any(port.ecn for port in qos.ports):
        tree["explicit-congestion-notification"] = {}
    return tree


def _lossless(qos: Qos) -> tuple[TrafficClass, ...]:
    return tuple(cls for cls in qos.classes if cls.lossless_priority is not None)


def _queues(qos: Qos) -> Json:
    return {
        "queue": [{"name": cls.name, "queue-index": cls.queue} for cls in qos.classes],
        "pfc-queue": [
            {"pfc-queue-name": pfc_queue(cls.name), "queue-index": cls.lossless_priority} for cls in _lossless(qos)
        ],
        # Without it the queue-depth counters of telemetry.yml do not change.
        "queue-depth-sampling": {"admin-state": "enable"},
    }


def _forwarding_class(cls: TrafficClass) -> Json:
    """Index 0 receives every code point that no policy names, so the default class has it."""
    index = cls.queue if cls.dscp else 0
    return {"name": cls.name, "forwarding-class-index": index, "output": {"unicast-queue": cls.name}}


def _code_points(qos: Qos) -> list[Json]:
    pairs = sorted((point, cls.name) for cls in qos.classes for point in cls.dscp)
    return [{"value": point, "forwarding-class": name} for point, name in pairs]


def _schedulers(qos: Qos) -> list[Json]:
    strict = [cls for cls in qos.classes if cls.scheduling is Scheduling.STRICT]
    weighted = [cls for cls in qos.classes if cls.scheduling is Scheduling.WEIGHTED]
    found: list[Json] = []
    if strict:
        inputs = [{"id": cls.name, "queue-name": cls.name} for cls in strict]
        found.append({"sequence": STRICT, "priority": "strict", "input": inputs})
    if weighted:
        shares: list[Json] = [{"id": cls.name, "queue-name": cls.name, "weight": cls.weight} for cls in weighted]
        found.append({"sequence": WEIGHTED, "input": shares})
    return found


def _marking(profile: PortProfile) -> Json:
    """ECN marking by the instantaneous queue length (weight factor 0), not its average, as DCQCN requires."""
    slope = {
        **SLOPE,
        "min-threshold": str(profile.kmin_bytes),
        "max-threshold": str(profile.kmax_bytes),
        "max-drop-probability-percent": profile.pmax_percent,
        "slope-enabled": True,
    }
    return {"name": profile.name, "weight-factor": 0, "wred": {"wred-slope": [slope]}}


def _buffers(profile: PortProfile, qos: Qos) -> Json:
    limit = _egress_limit_bytes(qos)
    return {
        "name": profile.name,
        "queues": {
            "queue": [{"queue-name": cls.name, "maximum-burst-size": limit} for cls in _lossless(qos)],
            "pfc-queue": [
                {
                    "pfc-queue-name": pfc_queue(cls.name),
                    "maximum-burst-size": profile.xoff_bytes,
                    "maximum-pfc-reserved-share-percentage": profile.headroom_percent,
                }
                for cls in _lossless(qos)
            ],
        },
    }


def _egress_limit_bytes(qos: Qos) -> int:
    """Egress limit that a lossless queue cannot reach: twice the xoff threshold of every port [bytes].

    It must be set: a marking slope needs a queue limit, and the default limit, a share of the free buffer, would drop
    lossless packets.
    """
    return max(2 * sum(qos.profile(port.profile).xoff_bytes for port in qos.ports), 1)


def _pfc_mapping(qos: Qos) -> Json:
    """Maps each lossless class to its PFC queue; its egress queue honours pause frames of the same priority."""
    frames: Json = {
        "queue": [
            {"queue-name": cls.name, "pfc-pause-frame-priority": cls.lossless_priority, "enable-pfc": True}
            for cls in _lossless(qos)
        ]
    }
    if qos.watchdog is not None:
        timers = {"detection-timer": qos.watchdog.detect_ms, "recovery-timer": qos.watchdog.recover_ms}
        frames["deadlock"] = {"enable": True, **timers}
    queues = [
        {
            "pfc-queue-name": pfc_queue(cls.name),
            "forwarding-class": [cls.name],
            "pfc-pause-frame-priority": cls.lossless_priority,
        }
        for cls in _lossless(qos)
    ]
    mapping = {"unicast-mapping": {"pfc-queue": queues}}
    return {"name": NAME, "received-traffic": mapping, "received-pfc-pause-frames": frames}


def _headroom_pool(qos: Qos) -> Json:
    return {"name": FORWARDING_COMPLEX, "input": {"pfc-buffer-reservation": qos.headroom_pool_percent}}


def _port(port: PortQos, qos: Qos) -> list[Json]:
    """PFC, buffers and scheduler are bound to the port, the classifier to its subinterface."""
    entry: Json = {
        "interface-id": port.interface,
        "interface-ref": {"interface": port.interface},
        "output": {"buffer-allocation-profile": port.profile, "scheduler": {"scheduler-policy": NAME}},
    }
    if port.pfc:
        entry["pfc"] = {"pfc-mapping-profile": NAME, "pfc-enable": True}
        entry["input"] = {"pfc-buffer-allocation-profile": port.profile}
    if port.ecn:
        entry["output"]["queues"] = {
            "queue": [{"queue-name": cls.name, "queue-management-profile": port.profile} for cls in _lossless(qos)]
        }
    return [entry, _classifier(port)] if port.trust_dscp else [entry]


def _classifier(port: PortQos) -> Json:
    return {
        "interface-id": subinterface(port.interface),
        "interface-ref": {"interface": port.interface, "subinterface": 0},
        "input": {"classifiers": {"dscp-policy": NAME}},
    }
