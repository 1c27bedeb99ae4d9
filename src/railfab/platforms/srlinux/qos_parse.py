"""Reads `/qos` back: what the queues, thresholds and bindings do in effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from railfab.device import PfcWatchdog, PortProfile, PortQos, Qos, Scheduling, TrafficClass
from railfab.platforms.srlinux.interfaces import front_panel, subinterface
from railfab.platforms.srlinux.node import Node
from railfab.platforms.srlinux.qos import FORWARDING_COMPLEX, LINECARD, STRICT

DEFAULT_XOFF_BYTES = 51_200
DEFAULT_SHARE_PERCENT = 10
DEFAULT_RESERVATION_PERCENT = 1
DEFAULT_DEADLOCK_MS = 750
"""What SR Linux uses where nothing is configured (srl_nokia-qos 25.3.1)."""


@dataclass(frozen=True, slots=True)
class _Shared:
    """The names that all ports have in common."""

    classifier: str | None
    scheduler: str | None
    mapping: str | None


def parse_qos(root: Node) -> Qos | None:
    """The QoS in effect; None where no queue is defined."""
    qos = root.child("qos")
    if not list(qos.child("queues").entries("queue", "name")):
        return None
    bindings = {
        str(entry.value["interface-id"]): entry
        for entry in qos.child("interfaces").entries("interface", "interface-id")
    }
    ports = {name: entry for name, entry in bindings.items() if front_panel(name)}
    shared = _shared(bindings)
    buffers = qos.child("buffer-management").entries("buffer-allocation-profile", "name")
    known = {str(profile.value["name"]) for profile in buffers}
    marking = _marking(qos) if "explicit-congestion-notification" in qos.value else frozenset()
    return Qos(
        classes=tuple(_classes(qos, shared)),
        profiles=tuple(_profiles(qos)),
        ports=tuple(port for name in sorted(ports, key=front_panel) if (port := _port(name, bindings, known, marking))),
        watchdog=_watchdog(qos, shared),
        headroom_pool_percent=_headroom_pool(qos),
    )


def _shared(bindings: Mapping[str, Node]) -> _Shared:
    entries = list(bindings.values())
    return _Shared(
        classifier=_common(entries, ("input", "classifiers"), "dscp-policy"),
        scheduler=_common(entries, ("output", "scheduler"), "scheduler-policy"),
        mapping=_common(entries, ("pfc",), "pfc-mapping-profile"),
    )


def _common(entries: list[Node], at: tuple[str, ...], leaf: str) -> str | None:
    """The one policy that every port names, of those that name one."""
    nodes = [node for entry in entries if leaf in (node := entry.at(*at)).value]
    names = [node.text(leaf) for node in nodes]
    for node, name in zip(nodes, names, strict=True):
        if name != names[0]:
            node.problem(
                f"{name} is not the first port's {names[0]}", "Use one for all ports; railfab models one", leaf
            )
    return names[0] if names else None


def _classes(qos: Node, shared: _Shared) -> Iterator[TrafficClass]:
    """Every class that packets can reach, by queue. One without code points is left out, save the default class."""
    priorities = _priorities(qos, shared)
    queues = {
        str(queue.value["name"]): queue.number("queue-index") for queue in qos.child("queues").entries("queue", "name")
    }
    points = _code_points(qos, shared)
    weights = _weights(qos, shared)
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
            _must_obey(qos, shared, queue, priority)
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


def _code_points(qos: Node, shared: _Shared) -> dict[str, tuple[int, ...]]:
    """The code points of each forwarding class, ascending; of the fabric's own policy where no port binds one."""
    policies = list(qos.child("classifiers").entries("dscp-policy", "name"))
    chosen = [policy for policy in policies if shared.classifier in (None, policy.value["name"])]
    found: dict[str, list[int]] = {}
    for entry in chosen[0].entries("dscp", "value") if chosen else ():
        point, name = entry.number("value"), entry.text("forwarding-class")
        if point is not None and name is not None:
            found.setdefault(name, []).append(point)
    return {name: tuple(sorted(points)) for name, points in found.items()}


def _weights(qos: Node, shared: _Shared) -> dict[str, int | None]:
    """The weight of each scheduled queue; None for a strict one."""
    policies = list(qos.child("scheduler-policies").entries("scheduler-policy", "name"))
    chosen = [policy for policy in policies if shared.scheduler in (None, policy.value["name"])]
    found: dict[str, int | None] = {}
    for scheduler in chosen[0].entries("scheduler", "sequence") if chosen else ():
        strict = scheduler.number("sequence") == STRICT
        for entry in scheduler.entries("input", "id"):
            weight = None if strict else entry.needed("weight", entry.number("weight"), "Give the queue its weight")
            found[entry.text("queue-name") or ""] = weight
    return found


def _mapping(qos: Node, shared: _Shared) -> Node | None:
    """The PFC mapping in use; where no port uses one, the only one there is."""
    profiles = list(qos.entries("pfc-mapping-profile", "name"))
    chosen = [profile for profile in profiles if shared.mapping in (None, profile.value["name"])]
    return chosen[0] if chosen else None


def _priorities(qos: Node, shared: _Shared) -> dict[str, int]:
    """The PFC priority of each protected forwarding class."""
    mapping = _mapping(qos, shared)
    if mapping is None:
        return {}
    queues = mapping.at("received-traffic", "unicast-mapping").entries("pfc-queue", "pfc-queue-name")
    return {
        name: priority
        for queue in queues
        if (priority := queue.number("pfc-pause-frame-priority")) is not None
        for name in queue.words("forwarding-class")
    }


def _must_obey(qos: Node, shared: _Shared, queue: str, priority: int) -> None:
    """PFC is for both directions in the model: what asks for pauses of a priority has to obey them too."""
    mapping = _mapping(qos, shared)
    assert mapping is not None
    frames = mapping.child("received-pfc-pause-frames").entry("queue", "queue-name", queue)
    if not frames.flag("enable-pfc", default=False):
        frames.problem("pauses are not obeyed", "Set it to true, as every railfab fabric does", "enable-pfc")
    elif frames.number("pfc-pause-frame-priority") != priority:
        problem = f"obeys pauses of another priority than {priority}, which its class asks for"
        frames.problem(problem, f"Use {priority}", "pfc-pause-frame-priority")


def _watchdog(qos: Node, shared: _Shared) -> PfcWatchdog | None:
    mapping = _mapping(qos, shared)
    if mapping is None:
        return None
    deadlock = mapping.at("received-pfc-pause-frames", "deadlock")
    if not deadlock.flag("enable", default=False):
        return None
    return PfcWatchdog(
        detect_ms=deadlock.number("detection-timer") or DEFAULT_DEADLOCK_MS,
        recover_ms=deadlock.number("recovery-timer") or DEFAULT_DEADLOCK_MS,
    )


def _headroom_pool(qos: Node) -> int:
    linecard = qos.entry("linecard", "slot", LINECARD)
    percent = (
        linecard.entry("forwarding-complex", "name", FORWARDING_COMPLEX).child("input").number("pfc-buffer-reservation")
    )
    return DEFAULT_RESERVATION_PERCENT if percent is None else percent


def _profiles(qos: Node) -> Iterator[PortProfile]:
    """One for each buffer allocation profile, with the slope of the queue management profile of the same name."""
    management = qos.child("buffer-management")
    for buffers in management.entries("buffer-allocation-profile", "name"):
        name = str(buffers.value["name"])
        if profile := _profile(name, buffers, management.entry("queue-management-profile", "name", name)):
            yield profile


def _profile(name: str, buffers: Node, marking: Node) -> PortProfile | None:
    slope = _slope(marking)
    if slope is None:
        marking.problem("has no slope that marks", "Define wred-slope all drop-probability all enable-ecn true", "wred")
        return None
    kmin, kmax = slope.number("min-threshold"), slope.number("max-threshold")
    slope.needed("min-threshold", kmin, "Write the threshold in bytes")
    slope.needed("max-threshold", kmax, "Write the threshold in bytes")
    if kmin is None or kmax is None:
        return None
    if kmin > kmax:
        slope.problem(f"{kmin} is above the maximum of {kmax}", "Lower it, or raise max-threshold", "min-threshold")
    pfc = next(buffers.child("queues").entries("pfc-queue", "pfc-queue-name"), Node({}, buffers.path, buffers.problems))
    xoff, share = pfc.number("maximum-burst-size"), pfc.number("maximum-pfc-reserved-share-percentage")
    return PortProfile(
        name=name,
        kmin_bytes=kmin,
        kmax_bytes=kmax,
        pmax_percent=100 if (pmax := slope.number("max-drop-probability-percent")) is None else pmax,
        xoff_bytes=DEFAULT_XOFF_BYTES if xoff is None else xoff,
        headroom_percent=DEFAULT_SHARE_PERCENT if share is None else share,
    )


def _slope(marking: Node) -> Node | None:
    """The slope of a queue management profile that marks instead of dropping."""
    slopes = marking.child("wred").entries("wred-slope", "traffic-type", "drop-probability", "enable-ecn")
    return next((slope for slope in slopes if slope.flag("enable-ecn", default=False)), None)


def _marking(qos: Node) -> frozenset[str]:
    """The queue management profiles whose marking slope is switched on."""
    profiles = qos.child("buffer-management").entries("queue-management-profile", "name")
    slopes = {str(profile.value["name"]): _slope(profile) for profile in profiles}
    return frozenset(name for name, slope in slopes.items() if slope and slope.flag("slope-enabled", default=False))


def _port(name: str, bindings: Mapping[str, Node], known: set[str], marking_profiles: frozenset[str]) -> PortQos | None:
    """What acts on a port; None where it is bound to no profile."""
    entry = bindings[name]
    output, pfc = entry.child("output"), entry.child("pfc")
    profile = output.text("buffer-allocation-profile")
    if profile is None:
        entry.problem("has no buffer allocation profile", "Bind the port to one", "output/buffer-allocation-profile")
        return None
    if profile not in known:
        entry.problem(f"{profile} is not defined", f"Use one of {_listed(known)}", "output/buffer-allocation-profile")
        return None
    queues = output.child("queues").entries("queue", "queue-name")
    marking = [queue for queue in queues if "queue-management-profile" in queue.value]
    for queue in marking:
        _same_profile(queue, "queue-management-profile", profile)
    _same_profile(entry.child("input"), "pfc-buffer-allocation-profile", profile)
    with_pfc = pfc.flag("pfc-enable", default=False) and "pfc-mapping-profile" in pfc.value
    _complete(entry, with_pfc=with_pfc)
    unit = bindings.get(subinterface(name))
    return PortQos(
        interface=name,
        profile=profile,
        pfc=with_pfc,
        ecn=profile in marking_profiles and bool(marking),
        trust_dscp=unit is not None and "dscp-policy" in unit.at("input", "classifiers").value,
    )


def _complete(entry: Node, *, with_pfc: bool) -> None:
    """What the model takes for granted of every port: the scheduler, and with PFC the buffers that it needs."""
    scheduler, buffers = entry.at("output", "scheduler"), entry.child("input")
    if "scheduler-policy" not in scheduler.value:
        scheduler.problem("is missing", "Bind the port to the scheduler policy of the others", "scheduler-policy")
    if with_pfc and "pfc-buffer-allocation-profile" not in buffers.value:
        remedy = "Bind the port's profile here too, or switch PFC off"
        buffers.problem("is missing though PFC is on", remedy, "pfc-buffer-allocation-profile")


def _same_profile(node: Node, leaf: str, profile: str) -> None:
    """The model has one profile a port."""
    if (found := node.text(leaf)) is not None and found != profile:
        node.problem(f"{found} is not the port's profile {profile}", "Bind the port to one profile throughout", leaf)


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "those under buffer-management, after defining one"
