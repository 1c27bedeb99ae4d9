"""Parses the QoS tables for their effect: the classes of queues, what each port uses, and its thresholds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from railfab.device import (
    Classifier,
    ClassThresholds,
    EcnRamp,
    Interface,
    Lag,
    PacketTrimming,
    PfcWatchdog,
    PortProfile,
    PortQos,
    Qos,
    Scheduling,
    TrafficClass,
)
from railfab.errors import RailfabError
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.sonic.buffers import DEFAULTS, EGRESS, INGRESS, INGRESS_POOL, LOSSY_ALPHA
from railfab.platforms.sonic.qos import BYTES_PER_GBIT, MAP, SPECTRUM, threshold_name
from railfab.platforms.sonic.tables import Tables, key, nodes, row

LIMITED = re.compile(r"(?P<class>.+)_\d+g")
"""Name of a scheduler that limits a rate: of the class and the speed."""

OF_SWITCH = "global"
"""Row of PORT_QOS_MAP with the map of ports that have none (qos_config.j2)."""

DEFAULT_QUEUE = 0
"""Queue of packets that no map names."""


def parse_silicon(tree: Tables, problems: list[RailfabError]) -> str:
    """NVIDIA's chip where railfab's rows for it are: its map of priorities to groups, or a lossless profile with the
    buffer up to which sending resumes; empty where they are not."""
    profiles = nodes(tree, "BUFFER_PROFILE", problems)
    resumes = any(parts[0].startswith(INGRESS) and node.number("xon") for parts, node in profiles)
    return SPECTRUM if resumes or MAP in tree.get("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", {}) else ""


class SonicQosReader:
    """The QoS of a configuration. rates: of ports [Gb/s]."""

    def __init__(
        self,
        tree: Tables,
        problems: list[RailfabError],
        interfaces: Iterable[Interface],
        rates: Mapping[str, int | None],
    ) -> None:
        self._tree, self._problems, self._rates = tree, problems, rates
        self._lags = {lag.name: lag.members for lag in interfaces if isinstance(lag, Lag)}
        self._queues = dict(self._numbered("QUEUE"))
        self._buffers = {place: node.text("profile") for place, node in self._numbered("BUFFER_QUEUE")}
        self._groups = {place: node.text("profile") for place, node in self._numbered("BUFFER_PG")}

    def qos(self) -> Qos | None:
        """The QoS; None where no queue has a scheduler, so that there are no classes."""
        classes = tuple(self._classes())
        if not classes:
            return None
        pool = self._node("BUFFER_POOL", INGRESS_POOL)
        default = next(
            (traffic_class.name for traffic_class in classes if traffic_class.queue == DEFAULT_QUEUE), classes[0].name
        )
        ports = tuple(self._port(name, classes) for name in dict.fromkeys(port for port, _ in self._queues))
        return Qos(
            classes=classes,
            default_class=default,
            classifiers=tuple(self._classifiers(classes, default)),
            profiles=tuple(self._profiles(classes)),
            ports=tuple(self._of_lags(ports)),
            watchdog=self._watchdog(),
            headroom_pool_bytes=pool.number("xoff"),
            shared_pool_bytes=pool.number("size"),
            trimming=self._trimming(classes),
        )

    def _node(self, table: str, *parts: object) -> ConfigNode:
        return ConfigNode(row(self._tree, table, *parts), f"{table}|{key(*parts)}", self._problems)

    def _numbered(self, table: str) -> Iterator[tuple[tuple[str, int], ConfigNode]]:
        """The rows of queues or priority groups, each by port and number; `3-4` stands for both."""
        for parts, node in nodes(self._tree, table, self._problems):
            first, _, last = parts[-1].partition("-")
            if len(parts) != 2 or not first.isdecimal() or not (last or first).isdecimal():
                node.problem("is no port with a number", "Use PORT|NUMBER as its key")
                continue
            for number in range(int(first), int(last or first) + 1):
                yield (parts[0], number), node

    def _classes(self) -> Iterator[TrafficClass]:
        """The class of each queue that has a scheduler somewhere, by the first port that has one."""
        schedulers: dict[int, tuple[str, ConfigNode]] = {}
        for (port, queue), node in self._queues.items():
            name = node.text("scheduler")
            if name is not None:
                schedulers.setdefault(queue, (port, self._node("SCHEDULER", name)))
        for queue, (port, node) in sorted(schedulers.items()):
            yield self._class(queue, port, node)

    def _class(self, queue: int, port: str, node: ConfigNode) -> TrafficClass:
        name = node.path.partition("|")[2]
        limited = LIMITED.fullmatch(name) if "pir" in node.value else None
        strict = node.text("type") == "STRICT"
        sent, obeyed = self._priorities(queue, port)
        return TrafficClass(
            name=limited["class"] if limited else name,
            queue=queue,
            scheduling=Scheduling.STRICT if strict else Scheduling.WEIGHTED,
            weight=None if strict else node.number("weight") or 1,
            pfc_priority=sent,
            obeyed_priority=obeyed,
            rate_percent=self._percent(node.number("pir"), port),
        )

    def _percent(self, rate: int | None, port: str) -> int | None:
        """A rate [byte/s] as a share of the speed of a port."""
        speed = self._rates.get(port)
        return None if rate is None or not speed else rate * 100 // (speed * BYTES_PER_GBIT)

    def _priorities(self, queue: int, port: str) -> tuple[int | None, int | None]:
        """The priority of the pause frames that a queue's packets make a port send, and of those that stop it.

        Packets of a lossless class are in a priority group of its own that has a buffer.
        """
        maps = self._node("PORT_QOS_MAP", port)
        to_group = self._mapped("TC_TO_PRIORITY_GROUP_MAP", maps.text("tc_to_pg_map"))
        to_queue = self._mapped("MAP_PFC_PRIORITY_TO_QUEUE", maps.text("pfc_to_queue_map"))
        traffic_class = next((number for number, mapped in self._queues_of(maps).items() if mapped == queue), queue)
        lossy, group = to_group.get(DEFAULT_QUEUE, 0), to_group.get(traffic_class)
        has_buffer = any(number == group for _, number in self._groups)
        obeyed = next((priority for priority, mapped in sorted(to_queue.items()) if mapped == queue), None)
        return group if group != lossy and has_buffer else None, obeyed

    def _queues_of(self, maps: ConfigNode) -> dict[int, int]:
        return self._mapped("TC_TO_QUEUE_MAP", maps.text("tc_to_queue_map"))

    def _mapped(self, table: str, name: str | None) -> dict[int, int]:
        """A map of numbers; empty for a name that has none."""
        node = self._node(table, name or "")
        numbers = {leaf: node.number(leaf) for leaf in node.value if leaf.isdecimal()}
        return {int(leaf): number for leaf, number in numbers.items() if number is not None}

    def _classifiers(self, classes: Iterable[TrafficClass], default: str) -> Iterator[Classifier]:
        names = {traffic_class.queue: traffic_class.name for traffic_class in classes}
        queues: dict[int, int] = {}
        for port in dict.fromkeys(port for port, _ in self._queues):
            queues = queues or self._queues_of(self._node("PORT_QOS_MAP", port))
        for name in self._tree.get("DSCP_TO_TC_MAP", {}):
            points = self._mapped("DSCP_TO_TC_MAP", name)
            named = (
                (point, names.get(queues.get(number, number), default)) for point, number in sorted(points.items())
            )
            dscp = tuple((point, class_name) for point, class_name in named if class_name != default)
            yield Classifier(name=name, dscp=dscp)

    def _profiles(self, classes: tuple[TrafficClass, ...]) -> Iterator[PortProfile]:
        """The profiles of ports: those of which each class has one of buffers, then those of other names."""
        for name in self._profile_names(classes):
            thresholds = (self._thresholds(name, traffic_class) for traffic_class in classes)
            stated = tuple(
                limits for limits in thresholds if limits != ClassThresholds(traffic_class=limits.traffic_class)
            )
            yield PortProfile(name=name, thresholds=stated)

    def _profile_names(self, classes: tuple[TrafficClass, ...]) -> list[str]:
        endings = {f"_{traffic_class.name}": traffic_class for traffic_class in classes}
        names: dict[str, None] = {}
        for name in self._tree.get("BUFFER_PROFILE", {}):
            for ending in endings:
                if name.startswith(EGRESS) and name.endswith(ending) and name not in DEFAULTS.values():
                    names[name.removeprefix(EGRESS).removesuffix(ending)] = None
        return [*names]

    def _thresholds(self, profile: str, traffic_class: TrafficClass) -> ClassThresholds:
        name = threshold_name(profile, traffic_class.name)
        ingress, egress = (self._node("BUFFER_PROFILE", f"{begin}{name}") for begin in (INGRESS, EGRESS))
        held = ingress if traffic_class.lossless else egress
        exponent = held.number("dynamic_th")
        usual = not traffic_class.lossless and exponent == LOSSY_ALPHA
        ramp, marks = self._ramp(name), self._marks(name)
        return ClassThresholds(
            traffic_class=traffic_class.name,
            ecn=ramp if marks else None,
            wred=None if marks else ramp,
            xon_offset_bytes=ingress.number("xon_offset"),
            headroom_bytes=ingress.number("xoff"),
            alpha=None if exponent is None or usual else 2.0**exponent,
        )

    def _ramp(self, name: str) -> EcnRamp | None:
        """The ramp of a WRED profile; None of one that is off for the first colour, which all packets have."""
        node = self._node("WRED_PROFILE", name)
        kmin, kmax = node.number("green_min_threshold"), node.number("green_max_threshold")
        if kmin is None or kmax is None or not node.flag("wred_green_enable", default=False):
            return None
        pmax = node.number("green_drop_probability")
        return EcnRamp(kmin_bytes=kmin, kmax_bytes=kmax, pmax_percent=100 if pmax is None else pmax)

    def _marks(self, name: str) -> bool:
        """Whether a WRED profile marks packets of the first colour; else it drops them."""
        ecn = self._node("WRED_PROFILE", name).text("ecn")
        return ecn in ("ecn_all", "ecn_green", "ecn_green_yellow", "ecn_green_red")

    def _port(self, name: str, classes: tuple[TrafficClass, ...]) -> PortQos:
        maps = self._node("PORT_QOS_MAP", name)
        priorities = maps.text("pfc_enable") or ""
        if not re.fullmatch(r"([0-7](,[0-7])*)?", priorities):
            maps.problem(f"{priorities!r} is no list of priorities", "Use one such as 3,4", "pfc_enable")
            priorities = ""
        ramps = {
            traffic_class.name: wred
            for traffic_class in classes
            if (wred := self._bound_ramp(name, traffic_class)) is not None
        }
        return PortQos(
            interface=name,
            profile=self._profile_of(name, classes),
            classifier=maps.text("dscp_to_tc_map") or self._node("PORT_QOS_MAP", OF_SWITCH).text("dscp_to_tc_map"),
            pfc=tuple(sorted({int(priority) for priority in priorities.split(",") if priority})),
            ecn=tuple(class_name for class_name, wred in ramps.items() if self._marks(wred)),
            wred=tuple(class_name for class_name, wred in ramps.items() if not self._marks(wred)),
        )

    def _bound_ramp(self, port: str, traffic_class: TrafficClass) -> str | None:
        """The name of the WRED profile with a ramp that the queue of a class has on a port."""
        node = self._queues.get((port, traffic_class.queue))
        wred = node.text("wred_profile") if node else None
        return wred if wred is not None and self._ramp(wred) is not None else None

    def _profile_of(self, port: str, classes: tuple[TrafficClass, ...]) -> str | None:
        """The profile of a port: of the first of its queues whose buffer profile has the name of one."""
        for traffic_class in classes:
            name = self._buffers.get((port, traffic_class.queue)) or ""
            if name.startswith(EGRESS) and name.endswith(f"_{traffic_class.name}") and name not in DEFAULTS.values():
                return name.removeprefix(EGRESS).removesuffix(f"_{traffic_class.name}")
        return None

    def _of_lags(self, ports: tuple[PortQos, ...]) -> Iterator[PortQos]:
        """The ports, with a LAG instead of its members: as the first of them that has QoS."""
        lags = {member: lag for lag, members in self._lags.items() for member in members}
        seen: set[str] = set()
        for port in ports:
            lag = lags.get(port.interface)
            if lag is None:
                yield port
            elif lag not in seen:
                seen.add(lag)
                yield replace(port, interface=lag)

    def _watchdog(self) -> PfcWatchdog | None:
        for parts, node in nodes(self._tree, "PFC_WD", self._problems):
            detect, recover = node.number("detection_time"), node.number("restoration_time")
            if parts[0] != "GLOBAL" and detect is not None:
                return PfcWatchdog(detect_ms=detect, recover_ms=2 * detect if recover is None else recover)
        return None

    def _trimming(self, classes: Iterable[TrafficClass]) -> PacketTrimming | None:
        node = self._node("SWITCH_TRIMMING", "GLOBAL")
        size = node.number("size")
        numbers = {leaf: str(node.value.get(leaf, "")) for leaf in ("dscp_value", "queue_index")}
        if size is None or not all(text.isdecimal() for text in numbers.values()):
            return None
        names = {traffic_class.queue: traffic_class.name for traffic_class in classes}
        name = names.get(int(numbers["queue_index"]))
        if name is None:
            return None
        return PacketTrimming(size_bytes=size, dscp=int(numbers["dscp_value"]), traffic_class=name)
