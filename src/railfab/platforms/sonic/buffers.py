"""Renders buffer pools and profiles (sonic-buffer-pool, -buffer-profile, -buffer-pg, -buffer-queue).

Each class has on the ports of each profile of the model one profile at egress, and a lossless one also one at ingress.
There is no CABLE_LENGTH: from it SONiC makes lossless profiles of its own, and binds them instead of these
(sonic-swss, buffermgr.cpp).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import log2

from railfab.device import ClassThresholds, DeviceModel, Port, PortProfile, Qos, TrafficClass
from railfab.platforms.sonic.qos import (
    QosPort,
    has_spectrum,
    lossy_group,
    paused_classes,
    qos_ports,
    threshold_name,
    trimming,
)
from railfab.platforms.sonic.tables import Row, Tables, key, merged, stated

INGRESS_POOL, LOSSLESS_POOL, LOSSY_POOL = "ingress_lossless_pool", "egress_lossless_pool", "egress_lossy_pool"
INGRESS, EGRESS = "pg_", "egress_"
"""Beginnings of the names of profiles; the rest is of the port profile and the class."""

LOSSY_ALPHA = 3
"""Dynamic threshold of lossy traffic, as the exponent of alpha: 8 (the usual one of SONiC)."""

XON_BYTES, WIDE_XON_BYTES = 19_456, 38_912
"""Buffer up to which sending resumes on NVIDIA's chips, and on a port of eight lanes there. A priority group has it for
itself, and its headroom too unless the pool has a shared one (sonic-buildimage, device/mellanox, pg_profile_lookup.ini:
size is xon and xoff together on SN5610N-C256S2, xon alone on SN4280-O28)."""
WIDE_GBPS = 400
"""Least speed at which a port that is a whole cage has eight lanes."""

DEFAULTS = {
    "lossy_ingress": "ingress_lossy_profile",
    "lossless_ingress": "ingress_lossless_profile",
    "lossy_egress": "egress_lossy_profile",
    "lossless_egress": "egress_lossless_profile",
}
"""Profiles of ports to which the model gives none, with SONiC's usual names."""


def render_buffers(model: DeviceModel) -> Tables:
    qos = model.qos
    if qos is None:
        return {}
    ports = qos_ports(model)
    profiles = {**dict(_defaults(qos)), **dict(_profiles(qos, _resume_bytes(model, ports)))}
    tables: list[Tables] = [
        {"BUFFER_POOL": _pools(qos), "BUFFER_PROFILE": profiles, "SWITCH_TRIMMING": dict(trimming(qos))},
        *(_port(port, qos) for port in ports),
    ]
    return merged(tables)


def _resume_bytes(model: DeviceModel, ports: tuple[QosPort, ...]) -> dict[str, int]:
    """By port profile, the buffer of a priority group up to which sending resumes, on chips that state it."""
    if model.qos is None or not has_spectrum(model):
        return {}
    wide = {
        port.name
        for port in model.interfaces
        if isinstance(port, Port) and port.rate_gbps is not None and port.rate_gbps >= WIDE_GBPS
    }
    of_wide = {port.qos.profile for port in ports if port.name in wide}
    return {profile.name: WIDE_XON_BYTES if profile.name in of_wide else XON_BYTES for profile in model.qos.profiles}


def _pools(qos: Qos) -> dict[str, Row]:
    """The shared buffer at ingress, with the headroom, and the whole of both at egress, where lossless queues may take
    all of it: their packets have been accepted at ingress."""
    shared, headroom = qos.shared_pool_bytes, qos.headroom_pool_bytes
    return {
        INGRESS_POOL: stated(type="ingress", mode="dynamic", size=shared, xoff=headroom),
        LOSSLESS_POOL: stated(type="egress", mode="static", size=_whole(qos)),
        LOSSY_POOL: stated(type="egress", mode="dynamic", size=shared),
    }


def _whole(qos: Qos) -> int | None:
    """The pools together; None where the shared one is the platform's default."""
    return None if qos.shared_pool_bytes is None else qos.shared_pool_bytes + (qos.headroom_pool_bytes or 0)


def _defaults(qos: Qos) -> Iterator[tuple[str, Row]]:
    yield DEFAULTS["lossy_ingress"], stated(pool=INGRESS_POOL, size=0, dynamic_th=LOSSY_ALPHA)
    yield DEFAULTS["lossless_ingress"], stated(pool=INGRESS_POOL, size=0, dynamic_th=0)
    yield DEFAULTS["lossy_egress"], stated(pool=LOSSY_POOL, size=0, dynamic_th=LOSSY_ALPHA)
    yield DEFAULTS["lossless_egress"], stated(pool=LOSSLESS_POOL, size=0, static_th=_whole(qos))


def _profiles(qos: Qos, resume_bytes: Mapping[str, int]) -> Iterator[tuple[str, Row]]:
    for profile in qos.profiles:
        for traffic_class in qos.classes:
            name = threshold_name(profile.name, traffic_class.name)
            thresholds = profile.of(traffic_class.name) or ClassThresholds(traffic_class=traffic_class.name)
            if traffic_class.lossless:
                yield f"{INGRESS}{name}", _ingress(thresholds, resume_bytes.get(profile.name), qos)
            yield f"{EGRESS}{name}", _egress(traffic_class, thresholds, qos)


def _ingress(thresholds: ClassThresholds, resume_bytes: int | None, qos: Qos) -> Row:
    """The priority group of a lossless class. `xon_offset`: sending may resume that far below the pause threshold;
    `size`: what it has for itself."""
    size = (
        0 if resume_bytes is None else resume_bytes + (0 if qos.headroom_pool_bytes else thresholds.headroom_bytes or 0)
    )
    return stated(
        pool=INGRESS_POOL,
        size=size,
        xon=resume_bytes if resume_bytes is not None or thresholds.xon_offset_bytes is None else 0,
        xon_offset=thresholds.xon_offset_bytes,
        xoff=thresholds.headroom_bytes,
        dynamic_th=None if thresholds.alpha is None else exponent(thresholds.alpha),
    )


def _egress(traffic_class: TrafficClass, thresholds: ClassThresholds, qos: Qos) -> Row:
    """The queue of a class. A lossless one takes what there is, since its packets are held back at ingress; of a lossy
    one alpha is here, and what does not fit may be trimmed."""
    if traffic_class.name in paused_classes(qos):
        return stated(pool=LOSSLESS_POOL, size=0, static_th=_whole(qos))
    alpha = None if traffic_class.lossless else thresholds.alpha
    trims = qos.trimming is not None and qos.trimming.traffic_class != traffic_class.name
    return stated(
        pool=LOSSY_POOL,
        size=0,
        dynamic_th=LOSSY_ALPHA if alpha is None else exponent(alpha),
        packet_discard_action="trim" if trims else None,
    )


def exponent(alpha: float) -> int:
    """The exponent of two of an alpha: -3 of 1/8 (sonic-buffer-profile, dynamic_th -8 to 7)."""
    return round(log2(alpha))


def _port(port: QosPort, qos: Qos) -> Tables:
    """The priority groups and the queues of a port, each with its profile."""
    profile = qos.profile(port.qos.profile) if port.qos.profile else None
    groups = {key(port.name, lossy_group(qos)): {"profile": DEFAULTS["lossy_ingress"]}}
    queues: dict[str, Row] = {}
    for traffic_class in qos.classes:
        queues[key(port.name, traffic_class.queue)] = {"profile": _bound(profile, traffic_class, qos, ingress=False)}
        if traffic_class.pfc_priority is not None:
            groups[key(port.name, traffic_class.pfc_priority)] = {
                "profile": _bound(profile, traffic_class, qos, ingress=True)
            }
    return {"BUFFER_PG": groups, "BUFFER_QUEUE": queues}


def _bound(profile: PortProfile | None, traffic_class: TrafficClass, qos: Qos, *, ingress: bool) -> str:
    if profile is not None:
        return f"{INGRESS if ingress else EGRESS}{threshold_name(profile.name, traffic_class.name)}"
    if ingress:
        return DEFAULTS["lossless_ingress"]
    return DEFAULTS["lossless_egress" if traffic_class.name in paused_classes(qos) else "lossy_egress"]
