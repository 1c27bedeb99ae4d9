"""Parses QoS of a tree in today's spelling: what each port has in effect, by the profiles that it uses.

A port without a profile has the global one, `default-global`, in which `qos roce` and the switch have their defaults.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from railfab.device import (
    Classifier,
    ClassThresholds,
    EcnRamp,
    Interface,
    Lag,
    PacketTrimming,
    PfcWatchdog,
    Port,
    PortProfile,
    PortQos,
    Qos,
    Scheduling,
    TrafficClass,
)
from railfab.platforms.cumulus.names import given
from railfab.platforms.cumulus.nodes import entries, is_on, keys, numbers
from railfab.platforms.cumulus.qos import GLOBAL, KBPS_PER_PERCENT, LOSSLESS_POOL, POLL_MS, PRIORITIES
from railfab.platforms.cumulus.qos_defaults import MULTI_TC, TRIMMING, with_code_points, with_defaults
from railfab.platforms.cumulus.schema import DISABLE, ENABLE
from railfab.platforms.qos_removals import queue_class
from railfab.platforms.shared.config_node import ConfigNode

_VARIANT = re.compile(r"_(?:ecn|pfc)[\d-]*$")
_SHAPER = re.compile(r"rate-(\d+)g")
DEFAULT_ROBUSTNESS = 3


FORWARDING = {"mapping", "egress-queue-mapping", "egress-scheduler", "congestion-control", "pfc", "roce"}
"""Parts of `qos` any of which makes a QoS of its own."""


def parse_qos(root: ConfigNode, interfaces: tuple[Interface, ...]) -> Qos | None:
    """The QoS of a switch; None where it states none."""
    stated = root.child("qos")
    if not FORWARDING & set(stated.value):
        return None
    reader = CumulusQosReader(stated)
    bound = {name: node.child("qos") for name, node in entries(root, "interface") if "qos" in node.value}
    if reader.is_global:
        everywhere = ConfigNode({}, "", root.problems)
        bound = {port.name: everywhere for port in interfaces if isinstance(port, Port)} | bound
    return Qos(
        classes=tuple(reader.classes(bound.values())),
        default_class=reader.default_class(),
        classifiers=tuple(reader.classifiers()),
        profiles=tuple(reader.profiles(bound.values())),
        ports=tuple(reader.port(name, node) for name, node in _ports(interfaces, bound)),
        watchdog=reader.watchdog(),
        trimming=reader.trimming(root.at("system", "forwarding", "packet-trim")),
    )


def _ports(interfaces: Sequence[Interface], bound: Mapping[str, ConfigNode]) -> Iterator[tuple[str, ConfigNode]]:
    """The ports with QoS; a LAG instead of its members where all have the same."""
    together: set[str] = set()
    for lag in interfaces:
        if isinstance(lag, Lag) and lag.members and all(member in bound for member in lag.members):
            first, *others = (bound[member] for member in lag.members)
            if all(_shared(node) == _shared(first) for node in others):
                together.update(lag.members)
                yield lag.name, first
    for port in interfaces:
        if isinstance(port, Port) and port.name in bound and port.name not in together:
            yield port.name, bound[port.name]


def _shared(node: ConfigNode) -> dict[str, object]:
    """The settings that all members of a LAG share; the shaper is that of their speed."""
    return {name: part for name, part in node.value.items() if name != "egress-shaper"}


class CumulusQosReader:
    """Reads `qos`."""

    def __init__(self, stated: ConfigNode) -> None:
        self._node = node = ConfigNode(with_defaults(dict(stated.value)), stated.path, stated.problems)
        mapped = node.at("egress-queue-mapping", GLOBAL)
        self._queues = {
            sp: queue
            for sp, entry in numbers(mapped, "switch-priority")
            if (queue := entry.number("traffic-class")) is not None
        }
        self._lossless = _lossless(node, stated)
        named = [stated.at("egress-scheduler", GLOBAL)]
        named += [profile for _, profile in entries(stated, "congestion-control")]
        self._class_queues = {
            *self._queues.values(),
            *(queue for profile in named for queue, _ in numbers(profile, "traffic-class") if queue in PRIORITIES),
        }
        self.is_global = _trusts(node.at("mapping", GLOBAL)) or bool(stated.at("pfc", GLOBAL, "switch-priority").value)
        """Whether ports without a profile have QoS of their own: their code points are trusted, or they have PFC."""

    def _class_of(self, priority: int | None) -> str:
        """The class of a switch priority, which by default has the queue with its number; without one, of 0."""
        stated = priority if priority is not None and priority in PRIORITIES else 0
        return queue_class(self._queues.get(stated, stated))

    def classes(self, bound: Iterable[ConfigNode]) -> Iterator[TrafficClass]:
        """A class for each queue that a priority has, or that a configuration schedules or marks."""
        rates = self._rates({node.child("egress-shaper").text("profile") for node in bound})
        scheduler = self._node.at("egress-scheduler", GLOBAL, "traffic-class")
        for queue in sorted(self._class_queues):
            node = scheduler.child(str(queue))
            strict = node.text("mode") == "strict"
            paused = [sp for sp in sorted(self._lossless) if self._queues.get(sp, sp) == queue]
            priority = paused[0] if paused else None
            yield TrafficClass(
                name=queue_class(queue),
                queue=queue,
                scheduling=Scheduling.STRICT if strict else Scheduling.WEIGHTED,
                weight=None if strict else node.number("bw-percent"),
                pfc_priority=priority,
                obeyed_priority=priority,
                rate_percent=rates.get(queue),
            )

    def _rates(self, used: Container[str | None]) -> dict[int, int]:
        """The largest rate of each queue [percent], from the shapers of ports that are named after a speed."""
        rates: dict[int, int] = {}
        for name, shaper in entries(self._node, "egress-shaper"):
            speed = _SHAPER.fullmatch(name) if name in used else None
            for queue, node in numbers(shaper, "traffic-class") if speed else ():
                rate = node.number("max-rate")
                if speed and rate is not None and int(speed[1]):
                    rates.setdefault(queue, rate // (int(speed[1]) * KBPS_PER_PERCENT))
        return rates

    def default_class(self) -> str:
        return self._class_of(self._node.at("mapping", GLOBAL).number("port-default-sp"))

    def classifiers(self) -> Iterator[Classifier]:
        """The maps of code points, each without those of the default class."""
        default = self.default_class()
        for name, node in entries(self._node, "mapping"):
            if name == GLOBAL and not _trusts(node):
                continue
            points = (
                (point, self._class_of(entry.number("switch-priority")))
                for point, entry in (numbers(_all_points(node), "dscp") if _trusts(node) else ())
            )
            yield Classifier(
                name=given(name),
                dscp=tuple((point, class_name) for point, class_name in points if class_name != default),
            )

    def profiles(self, bound: Iterable[ConfigNode]) -> Iterator[PortProfile]:
        """The profiles of thresholds, by the congestion control of that name; their cables are those of its ports."""
        pauses = {name: pause for node in bound for name, pause in [self._profiles_of(node)]}
        for name, node in entries(self._node, "congestion-control"):
            if (name != GLOBAL or GLOBAL in pauses) and _VARIANT.search(name) is None:
                alike = name if name in self._node.child("pfc").value else pauses.get(name, name)
                cable_m = self._node.at("pfc", alike).number("cable-length")
                yield PortProfile(name=given(name), thresholds=tuple(self._ramps(name, node)), cable_m=cable_m)

    def _profiles_of(self, node: ConfigNode) -> tuple[str | None, str]:
        """The profiles of congestion control, None for one that marks nothing, and of PFC that a port uses."""
        congestion = node.child("congestion-control").text("profile") or GLOBAL
        if congestion not in self._node.child("congestion-control").value:
            congestion = GLOBAL
        marks = congestion != GLOBAL or (self.is_global and any(self._marked(GLOBAL)))
        return congestion if marks else None, node.child("pfc").text("profile") or GLOBAL

    def _marked(self, profile: str) -> Iterator[str]:
        """The classes that a profile marks."""
        settings = numbers(self._node.at("congestion-control", profile), "traffic-class")
        return (queue_class(queue) for queue, node in settings if _marks(node) and queue in self._class_queues)

    def _ramps(self, profile: str, node: ConfigNode) -> Iterator[ClassThresholds]:
        """The ramps of a profile; of the global one, which always has some, those that are used."""
        for queue, entry in numbers(node, "traffic-class"):
            kmin, kmax, pmax = (entry.number(leaf) for leaf in ("min-threshold", "max-threshold", "probability"))
            used = queue in self._class_queues and (profile != GLOBAL or _marks(entry))
            if kmin is not None and kmax is not None and used:
                ramp = EcnRamp(kmin_bytes=kmin, kmax_bytes=kmax, pmax_percent=100 if pmax is None else pmax)
                yield ClassThresholds(traffic_class=queue_class(queue), ecn=ramp)

    def port(self, name: str, node: ConfigNode) -> PortQos:
        """Settings of a port that are in effect."""
        congestion, pfc = self._profiles_of(node)
        pause, mapping = self._node.at("pfc", pfc), node.child("mapping").text("profile")
        if mapping is None and _trusts(self._node.at("mapping", GLOBAL)):
            mapping = GLOBAL
        paused = (int(key) for key in keys(pause, "switch-priority") if key.isdecimal())
        return PortQos(
            interface=name,
            profile=given(_VARIANT.sub("", congestion)) if congestion else None,
            classifier=given(mapping) if mapping else None,
            pfc=tuple(sorted(paused)) if pause.text("tx") != DISABLE else (),
            ecn=tuple(self._marked(congestion)) if congestion else (),
        )

    def watchdog(self) -> PfcWatchdog | None:
        """The watchdog; its detection takes several polls."""
        node = self._node.child("pfc-watchdog")
        if not node.value:
            return None
        poll, robustness = node.number("polling-interval"), node.number("robustness")
        detect_ms = (POLL_MS if poll is None else poll) * (DEFAULT_ROBUSTNESS if robustness is None else robustness)
        return PfcWatchdog(detect_ms=detect_ms, recover_ms=detect_ms)

    def trimming(self, node: ConfigNode) -> PacketTrimming | None:
        """Packet trimming; None where it is off, or its values are those of a profile."""
        if self._node.child("roce").text("mode") == MULTI_TC and is_on(self._node.child("roce")):
            node = ConfigNode({**TRIMMING, **node.value}, node.path, node.problems)
        size, priority = node.number("size"), node.number("switch-priority")
        mark = node.child("remark").text("dscp") or ""
        if not is_on(node) or size is None or priority is None or not mark.isdecimal():
            return None
        return PacketTrimming(size_bytes=size, dscp=int(mark), traffic_class=self._class_of(priority))


def _trusts(mapping: ConfigNode) -> bool:
    """Whether a map goes by code points."""
    return mapping.text("trust") in ("l3", "both")


def _all_points(mapping: ConfigNode) -> ConfigNode:
    return ConfigNode(with_code_points(dict(mapping.value)), mapping.path, mapping.problems)


def _lossless(node: ConfigNode, stated: ConfigNode) -> set[int]:
    """The priorities of lossless classes: of the pools that a configuration states, else those of PFC."""
    pools = [stated.at("traffic-pool", name) for name in (LOSSLESS_POOL, "default-lossless")]
    of_pools = {int(key) for pool in pools for key in keys(pool, "switch-priority") if key.isdecimal()}
    if of_pools:
        return of_pools
    pauses = (pause for _, pause in entries(node, "pfc"))
    return {int(key) for pause in pauses for key in keys(pause, "switch-priority") if key.isdecimal()}


def _marks(node: ConfigNode) -> bool:
    """Whether a class is marked; one with thresholds is, where it states nothing else."""
    return node.text("ecn") in (ENABLE, None) and {"min-threshold", "max-threshold"} <= set(node.value)
