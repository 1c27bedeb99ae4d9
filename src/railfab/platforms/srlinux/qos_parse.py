"""Parses `/qos` to the effective queues, thresholds and port bindings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from railfab.device import PfcWatchdog, PortProfile, PortQos, Qos, Scheduling, TrafficClass
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.srlinux.interfaces import front_panel, subinterface
from railfab.platforms.srlinux.qos import FORWARDING_COMPLEX, LINECARD, STRICT

DEFAULT_XOFF_BYTES = 51_200
DEFAULT_SHARE_PERCENT = 10
DEFAULT_RESERVATION_PERCENT = 1
DEFAULT_DEADLOCK_MS = 750
"""SR Linux's defaults (srl_nokia-qos 25.3.1)."""


@dataclass(frozen=True, slots=True)
class _PolicyNames:
    """Names of the policies that all ports use."""

    classifier: str | None
    scheduler: str | None
    mapping: str | None


def parse_qos(root: ConfigNode) -> Qos | None:
    """The effective QoS; None when no queue is defined."""
    qos = root.child("qos")
    if not list(qos.child("queues").entries("queue", "name")):
        return None
    bindings = {
        str(entry.value["interface-id"]): entry
        for entry in qos.child("interfaces").entries("interface", "interface-id")
    }
    ports = {name: entry for name, entry in bindings.items() if front_panel(name)}
    names = _policy_names(bindings)
    buffers = qos.child("buffer-management").entries("buffer-allocation-profile", "name")
    known = {str(profile.value["name"]) for profile in buffers}
    marking = _marking(qos) if "explicit-congestion-notification" in qos.value else frozenset()
    return Qos(
        classes=tuple(_classes(qos, names)),
        profiles=tuple(_profiles(qos)),
        ports=tuple(port for name in sorted(ports, key=front_panel) if (port := _port(name, bindings, known, marking))),
        watchdog=_watchdog(qos, names),
        headroom_pool_percent=_headroom_pool(qos),
    )


def _policy_names(bindings: Mapping[str, ConfigNode]) -> _PolicyNames:
    entries = list(bindings.values())
    return _PolicyNames(
        classifier=_common(entries, ("input", "classifiers"), "dscp-policy"),
        scheduler=_common(entries, ("output", "scheduler"), "scheduler-policy"),
        mapping=_common(entries, ("pfc",), "pfc-mapping-profile"),
    )


def _common(entries: list[ConfigNode], at: tuple[str, ...], leaf: str) -> str | None:
    """The policy that all ports with this leaf name; a port with another one is a problem."""
    nodes = [node for entry in entries if leaf in (node := entry.at(*at)).value]
    names = [node.text(leaf) for node in nodes]
    for node, name in zip(nodes, names, strict=True):
        if name != names[0]:
            node.problem(f"{name} differs from the first port's {names[0]}", "Use the same policy on all ports", leaf)
    return names[0] if names else None


def _classes(qos: ConfigNode, names: _PolicyNames) -> Iterator[TrafficClass]:
    """Traffic classes by queue. A class without code points is left out, except the default class."""
    priorities = _priorities(qos, names)
    queues = {
        str(queue.value["name"]): queue.number("queue-index") for queue in qos.child("queues").entries("queue", "name")
    }
    points = _code_points(qos, names)
    weights = _weights(qos, names)
    found = []
    for entry in qos.child("forwarding-classes").entries("forwarding-class", "name"):
        name, queue = str(entry.value["name"]), entry.child("output").text("unicast-queue") or ""
        index = queues.get(queue)
        if index is None:
            entry.problem(
                f"queue {queue or '?'} is not defined", "Define the queue with its index", "output/unicast-queue"
            )
            continue
        is_default = entry.number("forwarding-class-index") == 0
        if not is_default and name not in points:
            continue
        weight, priority = weights.get(queue), priorities.get(name)
        if priority is not None:
            _check_pause_direction(qos, names, queue, priority)
        found.append(
            TrafficClass(
                name=name,
                queue=index,
                dscp=() if is_default else points[name],
                scheduling=Scheduling.STRICT if weight is None else Scheduling.WEIGHTED,
                weight=weight,
                lossless_priority=priority,
            )
        )
    yield from sorted(found, key=lambda cls: (cls.queue, cls.name))


def _code_points(qos: ConfigNode, names: _PolicyNames) -> dict[str, tuple[int, ...]]:
    """Code points of each forwarding class, ascending; from the first policy where no port binds one."""
    policies = list(qos.child("classifiers").entries("dscp-policy", "name"))
    chosen = [policy for policy in policies if names.classifier in (None, policy.value["name"])]
    found: dict[str, list[int]] = {}
    for entry in chosen[0].entries("dscp", "value") if chosen else ():
        point, name = entry.number("value"), entry.text("forwarding-class")
        if point is not None and name is not None:
            found.setdefault(name, []).append(point)
    return {name: tuple(sorted(points)) for name, points in found.items()}


def _weights(qos: ConfigNode, names: _PolicyNames) -> dict[str, int | None]:
    """Weight of each scheduled queue; None for a strict one."""
    policies = list(qos.child("scheduler-policies").entries("scheduler-policy", "name"))
    chosen = [policy for policy in policies if names.scheduler in (None, policy.value["name"])]
    found: dict[str, int | None] = {}
    for scheduler in chosen[0].entries("scheduler", "sequence") if chosen else ():
        strict = scheduler.number("sequence") == STRICT
        for entry in scheduler.entries("input", "id"):
            weight = (
                None if strict else entry.needed("weight", entry.number("weight"), "Configure the weight of the queue")
            )
            found[entry.text("queue-name") or ""] = weight
    return found


def _mapping(qos: ConfigNode, names: _PolicyNames) -> ConfigNode | None:
    """The PFC mapping profile in use; the first one where no port uses any."""
    profiles = list(qos.entries("pfc-mapping-profile", "name"))
    chosen = [profile for profile in profiles if names.mapping in (None, profile.value["name"])]
    return chosen[0] if chosen else None


def _priorities(qos: ConfigNode, names: _PolicyNames) -> dict[str, int]:
    """PFC priority of each lossless forwarding class."""
    mapping = _mapping(qos, names)
    if mapping is None:
        return {}
    queues = mapping.at("received-traffic", "unicast-mapping").entries("pfc-queue", "pfc-queue-name")
    return {
        name: priority
        for queue in queues
        if (priority := queue.number("pfc-pause-frame-priority")) is not None
        for name in queue.words("forwarding-class")
    }


def _check_pause_direction(qos: ConfigNode, names: _PolicyNames, queue: str, priority: int) -> None:
    """Check that a queue which sends pause frames of a priority also honours received ones."""
    mapping = _mapping(qos, names)
    assert mapping is not None
    frames = mapping.child("received-pfc-pause-frames").entry("queue", "queue-name", queue)
    if not frames.flag("enable-pfc", default=False):
        frames.problem("received pause frames are ignored", "Set it to true", "enable-pfc")
    elif frames.number("pfc-pause-frame-priority") != priority:
        problem = f"differs from priority {priority}, of which its class sends pause frames"
        frames.problem(problem, f"Set it to {priority}", "pfc-pause-frame-priority")


def _watchdog(qos: ConfigNode, names: _PolicyNames) -> PfcWatchdog | None:
    mapping = _mapping(qos, names)
    if mapping is None:
        return None
    deadlock = mapping.at("received-pfc-pause-frames", "deadlock")
    if not deadlock.flag("enable", default=False):
        return None
    return PfcWatchdog(
        detect_ms=deadlock.number("detection-timer") or DEFAULT_DEADLOCK_MS,
        recover_ms=deadlock.number("recovery-timer") or DEFAULT_DEADLOCK_MS,
    )


def _headroom_pool(qos: ConfigNode) -> int:
    linecard = qos.entry("linecard", "slot", LINECARD)
    percent = (
        linecard.entry("forwarding-complex", "name", FORWARDING_COMPLEX).child("input").number("pfc-buffer-reservation")
    )
    return DEFAULT_RESERVATION_PERCENT if percent is None else percent


def _profiles(qos: ConfigNode) -> Iterator[PortProfile]:
    """One per buffer allocation profile, with the slope of the queue management profile of the same name."""
    management = qos.child("buffer-management")
    for buffers in management.entries("buffer-allocation-profile", "name"):
        name = str(buffers.value["name"])
        if profile := _profile(name, buffers, management.entry("queue-management-profile", "name", name)):
            yield profile


def _profile(name: str, buffers: ConfigNode, marking: ConfigNode) -> PortProfile | None:
    slope = _slope(marking)
    if slope is None:
        marking.problem(
            "has no ECN marking slope", "Define wred-slope all drop-probability all enable-ecn true", "wred"
        )
        return None
    kmin, kmax = slope.number("min-threshold"), slope.number("max-threshold")
    slope.needed("min-threshold", kmin, "Set the threshold in bytes")
    slope.needed("max-threshold", kmax, "Set the threshold in bytes")
    if kmin is None or kmax is None:
        return None
    if kmin > kmax:
        slope.problem(f"{kmin} is above max-threshold {kmax}", "Lower it, or raise max-threshold", "min-threshold")
    pfc = next(
        buffers.child("queues").entries("pfc-queue", "pfc-queue-name"), ConfigNode({}, buffers.path, buffers.problems)
    )
    xoff, share = pfc.number("maximum-burst-size"), pfc.number("maximum-pfc-reserved-share-percentage")
    return PortProfile(
        name=name,
        kmin_bytes=kmin,
        kmax_bytes=kmax,
        pmax_percent=100 if (pmax := slope.number("max-drop-probability-percent")) is None else pmax,
        xoff_bytes=DEFAULT_XOFF_BYTES if xoff is None else xoff,
        headroom_percent=DEFAULT_SHARE_PERCENT if share is None else share,
    )


def _slope(marking: ConfigNode) -> ConfigNode | None:
    """The ECN marking slope of a queue management profile."""
    slopes = marking.child("wred").entries("wred-slope", "traffic-type", "drop-probability", "enable-ecn")
    return next((slope for slope in slopes if slope.flag("enable-ecn", default=False)), None)


def _marking(qos: ConfigNode) -> frozenset[str]:
    """Names of the queue management profiles whose marking slope is enabled."""
    profiles = qos.child("buffer-management").entries("queue-management-profile", "name")
    slopes = {str(profile.value["name"]): _slope(profile) for profile in profiles}
    return frozenset(name for name, slope in slopes.items() if slope and slope.flag("slope-enabled", default=False))


def _port(
    name: str, bindings: Mapping[str, ConfigNode], known: set[str], marking_profiles: frozenset[str]
) -> PortQos | None:
    """Effective QoS of a port; None where it has no buffer allocation profile."""
    entry = bindings[name]
    output, pfc = entry.child("output"), entry.child("pfc")
    profile = output.text("buffer-allocation-profile")
    if profile is None:
        entry.problem("has no buffer allocation profile", "Bind the port to one", "output/buffer-allocation-profile")
        return None
    if profile not in known:
        entry.problem(
            f"{profile} is not defined", f"Use one of {_profile_names(known)}", "output/buffer-allocation-profile"
        )
        return None
    queues = output.child("queues").entries("queue", "queue-name")
    marking = [queue for queue in queues if "queue-management-profile" in queue.value]
    for queue in marking:
        _same_profile(queue, "queue-management-profile", profile)
    _same_profile(entry.child("input"), "pfc-buffer-allocation-profile", profile)
    with_pfc = pfc.flag("pfc-enable", default=False) and "pfc-mapping-profile" in pfc.value
    _check_bindings(entry, with_pfc=with_pfc)
    unit = bindings.get(subinterface(name))
    return PortQos(
        interface=name,
        profile=profile,
        pfc=with_pfc,
        ecn=profile in marking_profiles and bool(marking),
        trust_dscp=unit is not None and "dscp-policy" in unit.at("input", "classifiers").value,
    )


def _check_bindings(entry: ConfigNode, *, with_pfc: bool) -> None:
    """Check the bindings that every port must have: a scheduler and, with PFC, PFC buffers."""
    scheduler, buffers = entry.at("output", "scheduler"), entry.child("input")
    if "scheduler-policy" not in scheduler.value:
        scheduler.problem("is missing", "Bind the port to the same scheduler policy as the others", "scheduler-policy")
    if with_pfc and "pfc-buffer-allocation-profile" not in buffers.value:
        remedy = "Bind the port's profile here too, or disable PFC"
        buffers.problem("is missing, although PFC is enabled", remedy, "pfc-buffer-allocation-profile")


def _same_profile(node: ConfigNode, leaf: str, profile: str) -> None:
    """Check that a port uses one profile for everything."""
    if (found := node.text(leaf)) is not None and found != profile:
        node.problem(f"{found} differs from the port's profile {profile}", "Use one profile for the whole port", leaf)


def _profile_names(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "the profiles under buffer-management; none is defined yet"
