"""Parses `/qos` to the effective queues, thresholds and port bindings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from railfab.device import (
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
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.srlinux.names import is_port, model_lag
from railfab.platforms.srlinux.qos import (
    FORWARDING_COMPLEX,
    LINECARD,
    NAME,
    PFC_PREFIX,
    STRICT,
    default_limit_bytes,
    marking_name,
)

DEFAULT_RESERVATION_PERCENT = 1
DEFAULT_DEADLOCK_MS = 750
DEFAULT_PMAX_PERCENT = 100
"""SR Linux's defaults (srl_nokia-qos 25.3.1)."""


def parse_qos(root: ConfigNode) -> Qos | None:
    """The effective QoS; None when no forwarding class is defined."""
    node = root.child("qos")
    if not list(node.child("forwarding-classes").entries("forwarding-class", "name")):
        return None
    reader = _Reader(node)
    qos = Qos(
        classes=tuple(reader.classes()),
        default_class=reader.default_class(),
        classifiers=tuple(reader.classifiers()),
        profiles=(),
        ports=(),
        watchdog=reader.watchdog(),
        headroom_pool_percent=reader.headroom_pool_percent(),
    )
    qos = replace(qos, classes=tuple(sorted(qos.classes, key=lambda cls: (cls.queue, cls.name))))
    profiles = tuple(reader.profiles(qos))
    return _without_default_limits(replace(qos, profiles=profiles, ports=tuple(reader.ports(qos))))


@dataclass(frozen=True, slots=True)
class _Mapping:
    """A PFC mapping profile: priority of the pause frames that a forwarding class sends, and that a queue obeys."""

    sent: Mapping[str, int]
    obeyed: Mapping[str, int]

    @property
    def priorities(self) -> tuple[int, ...]:
        return tuple(sorted({*self.sent.values(), *self.obeyed.values()}))


class _Reader:
    """The lists of `/qos` by name, and which of them the ports use most."""

    def __init__(self, qos: ConfigNode) -> None:
        self._qos = qos
        self._bindings = _by_key(qos.child("interfaces"), "interface", "interface-id")
        self._units = _by_port(self._bindings)
        self._ports = [name for name in self._units if is_port(name) or model_lag(name)]
        self._queues = _by_key(qos.child("queues"), "queue", "name")
        management = qos.child("buffer-management")
        self._buffers = _by_key(management, "buffer-allocation-profile", "name")
        self._markings = _by_key(management, "queue-management-profile", "name")
        self._classes = _by_key(qos.child("forwarding-classes"), "forwarding-class", "name")
        self._classifiers = _by_key(qos.child("classifiers"), "dscp-policy", "name")
        self._mapping_nodes = _by_key(qos, "pfc-mapping-profile", "name")
        self._mappings = {name: _mapping(found) for name, found in self._mapping_nodes.items()}
        self._slopes = {name: _slope(found) for name, found in self._markings.items()}
        self._marks = {name: _marks(slope) for name, slope in self._slopes.items()}
        self._queue_of = {name: found.child("output").text("unicast-queue") for name, found in self._classes.items()}

    def default_class(self) -> str:
        """The forwarding class with index 0; empty without one."""
        numbers = {name: found.number("forwarding-class-index") for name, found in self._classes.items()}
        return next((name for name, number in numbers.items() if number == 0), "")

    def classes(self) -> Iterator[TrafficClass]:
        """Traffic classes, with the weights and priorities that most ports use."""
        scheduled = self._scheduled()
        mapping = self._mappings.get(self._common_mapping(), _Mapping({}, {}))
        for name, found in self._classes.items():
            queue = self._queue_of[name]
            if queue not in self._queues:
                found.problem(
                    f"queue {queue or '?'} is not defined", "Define the queue with its index", "output/unicast-queue"
                )
                continue
            weight, rate = scheduled.get(queue, (None, None))
            yield TrafficClass(
                name=name,
                queue=self._queues[queue].number("queue-index") or 0,
                scheduling=Scheduling.STRICT if weight is None else Scheduling.WEIGHTED,
                weight=weight,
                pfc_priority=mapping.sent.get(name),
                obeyed_priority=mapping.obeyed.get(queue),
                rate_percent=rate,
            )

    def _scheduled(self) -> Mapping[str, tuple[int | None, int | None]]:
        """Weight and largest rate of each scheduled queue; a strict one has no weight.

        A weighted queue without a weight has weight 1, and one without a rate that of the port.
        """
        policies = _by_key(self._qos.child("scheduler-policies"), "scheduler-policy", "name")
        chosen = policies.get(self._common(("output", "scheduler"), "scheduler-policy", policies) or "")
        found: dict[str, tuple[int | None, int | None]] = {}
        for scheduler in chosen.entries("scheduler", "sequence") if chosen else ():
            strict = scheduler.number("sequence") == STRICT
            for entry in scheduler.entries("input", "id"):
                weight = None if strict else entry.number("weight") or 1
                found[entry.text("queue-name") or ""] = weight, entry.number("peak-rate-percent")
        return found

    def _common(self, at: tuple[str, ...], leaf: str, known: Iterable[str]) -> str | None:
        """The policy that most ports name; `fabric` or else the first one where no port names any."""
        nodes = (self._bindings[port].at(*at) for port in self._ports if port in self._bindings)
        names = Counter(name for node in nodes if leaf in node.value and (name := node.text(leaf)))
        if names:
            return names.most_common(1)[0][0]
        return NAME if NAME in known else next(iter(known), None)

    def _common_mapping(self) -> str:
        """The mapping profile `fabric`, or else the one that most ports use; empty without one."""
        if NAME in self._mappings:
            return NAME
        return self._common(("pfc",), "pfc-mapping-profile", self._mappings) or ""

    def classifiers(self) -> Iterator[Classifier]:
        for name, node in self._classifiers.items():
            points = (
                (entry.number("value"), entry.text("forwarding-class")) for entry in node.entries("dscp", "value")
            )
            known = {point: cls for point, cls in points if point is not None and cls is not None}
            yield Classifier(name=name, dscp=tuple(sorted(known.items())))

    def watchdog(self) -> PfcWatchdog | None:
        node = self._mapping_nodes.get(self._common_mapping())
        deadlock = node.at("received-pfc-pause-frames", "deadlock") if node else None
        if deadlock is None or not deadlock.flag("enable", default=False):
            return None
        detect, recover = deadlock.number("detection-timer"), deadlock.number("recovery-timer")
        return PfcWatchdog(
            detect_ms=DEFAULT_DEADLOCK_MS if detect is None else detect,
            recover_ms=DEFAULT_DEADLOCK_MS if recover is None else recover,
        )

    def headroom_pool_percent(self) -> int:
        card = self._qos.entry("linecard", "slot", LINECARD)
        forwarding = card.entry("forwarding-complex", "name", FORWARDING_COMPLEX)
        percent = forwarding.child("input").number("pfc-buffer-reservation")
        return DEFAULT_RESERVATION_PERCENT if percent is None else percent

    def profiles(self, qos: Qos) -> Iterator[PortProfile]:
        """One per buffer allocation profile, with the ramps of the queue management profiles that belong to it."""
        for name, node in self._buffers.items():
            queues = _by_key(node.child("queues"), "queue", "queue-name")
            pfc_queues = _by_key(node.child("queues"), "pfc-queue", "pfc-queue-name")
            found = (self._thresholds(name, cls.name, queues, pfc_queues, qos) for cls in qos.classes)
            yield PortProfile(name=name, thresholds=tuple(entry for entry in found if entry is not None))

    def _thresholds(
        self,
        profile: str,
        traffic_class: str,
        queues: Mapping[str, ConfigNode],
        pfc_queues: Mapping[str, ConfigNode],
        qos: Qos,
    ) -> ClassThresholds | None:
        """Thresholds of one class in a port profile; None where it has none."""
        queue = queues.get(self._queue_of[traffic_class] or "")
        pfc = pfc_queues.get(PFC_PREFIX + traffic_class)
        marking = marking_name(profile, traffic_class, qos)
        found = ClassThresholds(
            traffic_class=traffic_class,
            ecn=_ramp(self._slopes.get(marking)),
            xoff_bytes=pfc.number("maximum-burst-size") if pfc else None,
            headroom_percent=pfc.number("maximum-pfc-reserved-share-percentage") if pfc else None,
            limit_bytes=queue.number("maximum-burst-size") if queue else None,
        )
        return None if found == ClassThresholds(traffic_class=traffic_class) else found

    def ports(self, qos: Qos) -> Iterator[PortQos]:
        """Effective QoS of every port with a binding."""
        with_ecn = "explicit-congestion-notification" in self._qos.value
        nothing = ConfigNode({}, self._qos.path, self._qos.problems)
        for name in self._ports:
            entry = self._bindings.get(name, nothing)
            unit = next(iter(self._units[name]), nothing)
            output = entry.child("output")
            self._known(entry.child("input"), "pfc-buffer-allocation-profile", self._buffers)
            yield PortQos(
                interface=name,
                profile=self._known(output, "buffer-allocation-profile", self._buffers),
                classifier=self._known(unit.at("input", "classifiers"), "dscp-policy", self._classifiers),
                pfc=self._pfc(entry.child("pfc")),
                ecn=self._marked(output, qos) if with_ecn else (),
            )

    def _pfc(self, node: ConfigNode) -> tuple[int, ...]:
        mapping = self._known(node, "pfc-mapping-profile", self._mappings)
        enabled = node.flag("pfc-enable", default=False)
        return self._mappings[mapping].priorities if mapping is not None and enabled else ()

    def _marked(self, output: ConfigNode, qos: Qos) -> tuple[str, ...]:
        """Classes whose queue has a queue management profile, unless its slope is disabled."""
        bound = {
            str(node.value["queue-name"]): self._known(node, "queue-management-profile", self._markings)
            for node in output.child("queues").entries("queue", "queue-name")
        }
        marked = {queue for queue, name in bound.items() if name is not None and self._marks[name]}
        return tuple(cls.name for cls in qos.classes if self._queue_of[cls.name] in marked)

    def _known(self, node: ConfigNode, leaf: str, known: Mapping[str, object]) -> str | None:
        """The name in a leaf; None without one, or after noting that it is not defined."""
        name = node.text(leaf)
        if name is not None and name not in known:
            names = ", ".join(sorted(known)) or "the profiles; none is defined yet"
            node.problem(f"{name} is not defined", f"Use one of {names}", leaf)
            return None
        return name


def _by_key(node: ConfigNode, name: str, key: str) -> dict[str, ConfigNode]:
    return {str(entry.value[key]): entry for entry in node.entries(name, key)}


def _by_port(bindings: Mapping[str, ConfigNode]) -> dict[str, list[ConfigNode]]:
    """Bindings of the subinterfaces of every port; none for a port that has only a binding of its own."""
    found: dict[str, list[ConfigNode]] = {}
    for name, node in bindings.items():
        port, _, index = name.rpartition(".")
        if port and index.isdecimal():
            found.setdefault(port, []).append(node)
        else:
            found.setdefault(name, [])
    return found


def _mapping(node: ConfigNode) -> _Mapping:
    sources = node.at("received-traffic", "unicast-mapping").entries("pfc-queue", "pfc-queue-name")
    frames = node.child("received-pfc-pause-frames").entries("queue", "queue-name")
    return _Mapping(
        sent={
            name: priority
            for queue in sources
            if (priority := queue.number("pfc-pause-frame-priority")) is not None
            for name in queue.words("forwarding-class")
        },
        obeyed={
            str(queue.value["queue-name"]): priority
            for queue in frames
            if queue.flag("enable-pfc", default=False)
            and (priority := queue.number("pfc-pause-frame-priority")) is not None
        },
    )


def _slope(marking: ConfigNode) -> ConfigNode | None:
    """The ECN marking slope of a queue management profile."""
    slopes = marking.child("wred").entries("wred-slope", "traffic-type", "drop-probability", "enable-ecn")
    return next((slope for slope in slopes if slope.flag("enable-ecn", default=False)), None)


def _marks(slope: ConfigNode | None) -> bool:
    """Whether a queue management profile with this slope marks, or would with a slope."""
    return slope is None or slope.flag("slope-enabled", default=False)


def _ramp(slope: ConfigNode | None) -> EcnRamp | None:
    """The ramp of a slope whose thresholds are in bytes."""
    if slope is None:
        return None
    kmin, kmax = slope.number("min-threshold"), slope.number("max-threshold")
    if kmin is None or kmax is None:
        return None
    pmax = slope.number("max-drop-probability-percent")
    return EcnRamp(kmin_bytes=kmin, kmax_bytes=kmax, pmax_percent=DEFAULT_PMAX_PERCENT if pmax is None else pmax)


def _without_default_limits(qos: Qos) -> Qos:
    """The QoS without the limits of queues that rendering sets where a model states none."""
    default = default_limit_bytes(qos)
    lossless = {cls.name for cls in qos.lossless()}

    def stated(found: ClassThresholds) -> ClassThresholds | None:
        needed = found.traffic_class in lossless or found.ecn is not None
        if not needed or found.limit_bytes != default:
            return found
        left = replace(found, limit_bytes=None)
        return None if left == ClassThresholds(traffic_class=found.traffic_class) else left

    profiles = (tuple(map(stated, profile.thresholds)) for profile in qos.profiles)
    return replace(
        qos,
        profiles=tuple(
            replace(profile, thresholds=tuple(entry for entry in found if entry is not None))
            for profile, found in zip(qos.profiles, profiles, strict=True)
        ),
    )
