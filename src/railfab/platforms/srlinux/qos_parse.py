"""Parses `/qos` to the effective queues, thresholds and port bindings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from railfab.device import (
    Classifier,
    ClassPriority,
    ClassThresholds,
    PfcWatchdog,
    PortProfile,
    PortQos,
    Qos,
    Scheduling,
    TrafficClass,
)
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.srlinux.names import is_port, model_lag
from railfab.platforms.srlinux.port_profiles import PortProfiles, ProfileUse, by_key, known_name
from railfab.platforms.srlinux.qos import (
    FORWARDING_COMPLEX,
    LINECARD,
    NAME,
    STRICT_PRIORITY,
    default_limit_bytes,
    has_ramp,
)

DEFAULT_RESERVATION_PERCENT = 1
DEFAULT_DEADLOCK_MS = 750
DEFAULT_RATE_PERCENT = 100
"""SR Linux's defaults (srl_nokia-qos 25.3.1)."""


DSCP_NAMES = {
    **{f"CS{number}": 8 * number for number in range(8)},
    **{f"AF{number}{drop}": 8 * number + 2 * drop for number in (1, 2, 3, 4) for drop in (1, 2, 3)},
    "EF": 46,
    "LE": 1,
}
"""Code points by name (srl_nokia-common, dscp)."""


def parse_qos(root: ConfigNode) -> Qos | None:
    """The effective QoS; None when no forwarding class is defined."""
    node = root.child("qos")
    if not list(node.child("forwarding-classes").entries("forwarding-class", "name")):
        return None
    reader = _QosReader(node)
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
    """A PFC mapping profile: priority of the pause frames that a forwarding class sends, and that a queue obeys.

    pfc_queues: of each class.
    """

    sent: Mapping[str, int]
    obeyed: Mapping[str, int]
    pfc_queues: Mapping[str, str] = field(default_factory=dict)

    @property
    def priorities(self) -> tuple[int, ...]:
        return tuple(sorted({*self.sent.values(), *self.obeyed.values()}))


class _QosReader:
    """The lists of `/qos` by name, and which of them the ports use most."""

    def __init__(self, qos: ConfigNode) -> None:
        self._qos = qos
        self._nothing = ConfigNode({}, qos.path, qos.problems)
        self._bindings = by_key(qos.child("interfaces"), "interface", "interface-id")
        self._units = _by_port(self._bindings)
        self._ports = [name for name in self._units if is_port(name) or model_lag(name)]
        self._queues = by_key(qos.child("queues"), "queue", "name")
        self._classes = by_key(qos.child("forwarding-classes"), "forwarding-class", "name")
        self._classifiers = by_key(qos.child("classifiers"), "dscp-policy", "name")
        self._mapping_nodes = by_key(qos, "pfc-mapping-profile", "name")
        self._mappings = {name: _mapping(node) for name, node in self._mapping_nodes.items()}
        self._queue_of = {name: node.child("output").text("unicast-queue") for name, node in self._classes.items()}
        pfc_queues = {name: queue for mapping in self._mappings.values() for name, queue in mapping.pfc_queues.items()}
        self._profiles = PortProfiles(qos.child("buffer-management"), self._queue_of, pfc_queues)

    def default_class(self) -> str:
        """The forwarding class with index 0; empty without one."""
        numbers = {name: node.number("forwarding-class-index") for name, node in self._classes.items()}
        return next((name for name, number in numbers.items() if number == 0), "")

    def classes(self) -> Iterator[TrafficClass]:
        """Traffic classes, with the weights and priorities that most ports use."""
        scheduled = self._scheduled()
        mapping = self._mappings.get(self._common_mapping(), _Mapping({}, {}))
        for name, node in self._classes.items():
            queue = self._queue_of[name]
            if queue not in self._queues:
                node.problem(
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
        policies = by_key(self._qos.child("scheduler-policies"), "scheduler-policy", "name")
        chosen = policies.get(self._common(("output", "scheduler"), "scheduler-policy", policies) or "")
        scheduled: dict[str, tuple[int | None, int | None]] = {}
        for scheduler in chosen.entries("scheduler", "sequence") if chosen else ():
            strict = scheduler.text("priority") == STRICT_PRIORITY
            for entry in scheduler.entries("input", "id"):
                weight = None if strict else entry.number("weight") or 1
                rate = entry.number("peak-rate-percent")
                scheduled[entry.text("queue-name") or ""] = weight, None if rate == DEFAULT_RATE_PERCENT else rate
        return scheduled

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
        unsaid = (None, self.default_class())
        for name, node in self._classifiers.items():
            points = ((_code_point(entry), entry.text("forwarding-class")) for entry in node.entries("dscp", "value"))
            known = {point: cls for point, cls in points if point is not None and cls not in unsaid}
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
        """One per buffer allocation profile, and one per other combination of profiles that a port uses."""
        uses = [ProfileUse.usual(name) for name in self._profiles.buffers]
        uses += [self._profiles.use(self._binding(port), qos) for port in self._ports]
        named = {name: use for use in uses if (name := use.name(qos)) is not None}
        return (self._profiles.profile(name, use, qos) for name, use in named.items())

    def _binding(self, port: str) -> ConfigNode:
        return self._bindings.get(port, self._nothing)

    def ports(self, qos: Qos) -> Iterator[PortQos]:
        """Effective QoS of every port with a binding."""
        with_ecn = "explicit-congestion-notification" in self._qos.value
        for name in self._ports:
            entry, unit = self._binding(name), next(iter(self._units[name]), self._nothing)
            use = self._profiles.use(entry, qos)
            yield PortQos(
                interface=name,
                profile=use.name(qos),
                classifier=known_name(unit.at("input", "classifiers"), "dscp-policy", self._classifiers),
                pfc=(pfc := self._pfc(entry.child("pfc"))),
                priorities=tuple(self._priorities(entry.child("pfc"), pfc, qos)),
                ecn=self._profiles.marked(use) if with_ecn else (),
                wred=self._profiles.dropped(use),
            )

    def _pfc(self, node: ConfigNode) -> tuple[int, ...]:
        mapping = known_name(node, "pfc-mapping-profile", self._mappings)
        enabled = node.flag("pfc-enable", default=False)
        return self._mappings[mapping].priorities if mapping is not None and enabled else ()

    def _priorities(self, node: ConfigNode, pfc: tuple[int, ...], qos: Qos) -> Iterator[ClassPriority]:
        """The classes to which the mapping profile of a port gives other priorities than the switch has."""
        mapping = self._mappings.get(node.text("pfc-mapping-profile") or "")
        if mapping is None or not pfc:
            return
        for traffic_class in qos.classes:
            name = traffic_class.name
            sent, obeyed = mapping.sent.get(name), mapping.obeyed.get(self._queue_of[name] or "")
            usual = (traffic_class.pfc_priority, traffic_class.obeyed_priority)
            if (sent, obeyed) != tuple(priority if priority in pfc else None for priority in usual):
                yield ClassPriority(traffic_class=traffic_class.name, pfc_priority=sent, obeyed_priority=obeyed)


def _code_point(entry: ConfigNode) -> int | None:
    """The DSCP of an entry, which may have the name of RFC 2474, 2597, 3246 or 8622."""
    named = DSCP_NAMES.get(str(entry.value["value"]))
    return entry.number("value") if named is None else named


def _by_port(bindings: Mapping[str, ConfigNode]) -> dict[str, list[ConfigNode]]:
    """Bindings of the subinterfaces of every port; none for a port that has only a binding of its own."""
    by_port: dict[str, list[ConfigNode]] = {}
    for name, node in bindings.items():
        port, _, index = name.rpartition(".")
        if port and index.isdecimal():
            by_port.setdefault(port, []).append(node)
        else:
            by_port.setdefault(name, [])
    return by_port


def _mapping(node: ConfigNode) -> _Mapping:
    sources = list(node.at("received-traffic", "unicast-mapping").entries("pfc-queue", "pfc-queue-name"))
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
        pfc_queues={
            name: str(queue.value["pfc-queue-name"]) for queue in sources for name in queue.words("forwarding-class")
        },
    )


def _without_default_limits(qos: Qos) -> Qos:
    """The QoS without the limits of queues that rendering sets where a model states none."""
    default = default_limit_bytes(qos)
    lossless = {cls.name for cls in qos.lossless()}

    def stated(thresholds: ClassThresholds) -> ClassThresholds | None:
        needed = thresholds.traffic_class in lossless or has_ramp(thresholds)
        if not needed or thresholds.limit_bytes != default:
            return thresholds
        left = replace(thresholds, limit_bytes=None)
        return None if left == ClassThresholds(traffic_class=thresholds.traffic_class) else left

    profiles = (tuple(map(stated, profile.thresholds)) for profile in qos.profiles)
    return replace(
        qos,
        profiles=tuple(
            replace(profile, thresholds=tuple(entry for entry in limits if entry is not None))
            for profile, limits in zip(qos.profiles, profiles, strict=True)
        ),
    )
