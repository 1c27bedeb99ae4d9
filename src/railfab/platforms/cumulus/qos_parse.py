"""Parses QoS of a tree in today's spelling: what each port has in effect, by the profiles that it uses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

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
from railfab.platforms.cumulus.qos import GLOBAL, KBPS_PER_PERCENT, LOSSLESS_POOL, POLL_MS
from railfab.platforms.cumulus.schema import DISABLE, ENABLE
from railfab.platforms.qos_removals import queue_class
from railfab.platforms.shared.config_node import ConfigNode

_VARIANT = re.compile(r"_(?:ecn|pfc)[\d-]*$")
_SHAPER = re.compile(r"rate-(\d+)g")
DEFAULT_ROBUSTNESS = 3


def parse_qos(root: ConfigNode, interfaces: tuple[Interface, ...]) -> Qos | None:
    """The QoS of a switch; None without a scheduler of its own."""
    reader = CumulusQosReader(root.child("qos"))
    classes = tuple(reader.classes())
    if not classes:
        return None
    bound = {name: node.child("qos") for name, node in entries(root, "interface") if "qos" in node.value}
    return Qos(
        classes=classes,
        default_class=reader.default_class(),
        classifiers=tuple(reader.classifiers()),
        profiles=tuple(reader.profiles()),
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

    def __init__(self, node: ConfigNode) -> None:
        self._node = node
        mapped = node.at("egress-queue-mapping", GLOBAL)
        self._queues = {
            sp: queue
            for sp, entry in numbers(mapped, "switch-priority")
            if (queue := entry.number("traffic-class")) is not None
        }
        pool = node.at("traffic-pool", LOSSLESS_POOL)
        self._lossless = {int(key) for key in keys(pool, "switch-priority") if key.isdecimal()}

    def _class_of(self, priority: int) -> str:
        """The class of a switch priority, which by default has the queue with its number."""
        return queue_class(self._queues.get(priority, priority))

    def classes(self) -> Iterator[TrafficClass]:
        """A class for each queue that the scheduler names."""
        rates = self._rates()
        for queue, node in numbers(self._node.at("egress-scheduler", GLOBAL), "traffic-class"):
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

    def _rates(self) -> dict[int, int]:
        """The largest rate of each queue [percent], from the shapers that are named after a speed."""
        rates: dict[int, int] = {}
        for name, shaper in entries(self._node, "egress-shaper"):
            speed = _SHAPER.fullmatch(name)
            for queue, node in numbers(shaper, "traffic-class") if speed else ():
                rate = node.number("max-rate")
                if speed and rate is not None and int(speed[1]):
                    rates.setdefault(queue, rate // (int(speed[1]) * KBPS_PER_PERCENT))
        return rates

    def default_class(self) -> str:
        return self._class_of(self._node.at("mapping", GLOBAL).number("port-default-sp") or 0)

    def classifiers(self) -> Iterator[Classifier]:
        """The maps of code points, each without those of the default class."""
        default = self.default_class()
        for name, node in entries(self._node, "mapping"):
            if name == GLOBAL:
                continue
            points = (
                (point, self._class_of(entry.number("switch-priority") or 0)) for point, entry in numbers(node, "dscp")
            )
            yield Classifier(
                name=given(name),
                dscp=tuple((point, class_name) for point, class_name in points if class_name != default),
            )

    def profiles(self) -> Iterator[PortProfile]:
        """The profiles of thresholds, by the congestion control of that name."""
        for name, node in entries(self._node, "congestion-control"):
            if name != GLOBAL and _VARIANT.search(name) is None:
                cable_m = self._node.at("pfc", name).number("cable-length")
                yield PortProfile(name=given(name), thresholds=tuple(_ramps(node)), cable_m=cable_m)

    def port(self, name: str, node: ConfigNode) -> PortQos:
        """Settings of a port that are in effect."""
        pause = self._node.at("pfc", node.child("pfc").text("profile") or GLOBAL)
        congestion = node.child("congestion-control").text("profile")
        marks = self._node.at("congestion-control", congestion) if congestion else ConfigNode({}, "", [])
        paused = (int(key) for key in keys(pause, "switch-priority") if key.isdecimal())
        return PortQos(
            interface=name,
            profile=given(_VARIANT.sub("", congestion)) if congestion else None,
            classifier=given(mapping) if (mapping := node.child("mapping").text("profile")) else None,
            pfc=tuple(sorted(paused)) if pause.text("tx") != DISABLE else (),
            ecn=tuple(queue_class(queue) for queue, settings in numbers(marks, "traffic-class") if _marks(settings)),
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
        size, priority = node.number("size"), node.number("switch-priority")
        mark = node.child("remark").text("dscp") or ""
        if not is_on(node) or size is None or priority is None or not mark.isdecimal():
            return None
        return PacketTrimming(size_bytes=size, dscp=int(mark), traffic_class=self._class_of(priority))


def _marks(node: ConfigNode) -> bool:
    return node.text("ecn") == ENABLE and "min-threshold" in node.value


def _ramps(node: ConfigNode) -> Iterator[ClassThresholds]:
    for queue, entry in numbers(node, "traffic-class"):
        kmin, kmax, pmax = (entry.number(leaf) for leaf in ("min-threshold", "max-threshold", "probability"))
        if kmin is not None and kmax is not None:
            ramp = EcnRamp(kmin_bytes=kmin, kmax_bytes=kmax, pmax_percent=100 if pmax is None else pmax)
            yield ClassThresholds(traffic_class=queue_class(queue), ecn=ramp)
