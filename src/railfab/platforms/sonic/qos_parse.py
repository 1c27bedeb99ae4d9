"""Parses the QoS tables for their effect: the classes of queues, what each port uses, and its thresholds."""

from __future__ import annotations

import re
from collections import Counter
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
from railfab.platforms.sonic.qos import BYTES_PER_GBIT, MAP, QUEUES, SPECTRUM, threshold_name
from railfab.platforms.sonic.tables import Tables, key, nodes, row

LIMITED = re.compile(r"(?P<class>.+)_\d+g")
"""Name of a scheduler that limits a rate: of the class and the speed."""

OF_SWITCH = "global"
"""Row of PORT_QOS_MAP with the map of ports that have none (qos_config.j2)."""

CHASSIS_PARTS = 4
"""Parts of a key of a chassis: `sonic3|asic0|Ethernet0|3-4`."""
MOST_NUMBERS = 64
"""Queues of a port, more than any chip has."""

DEFAULT_PROFILE = "ports"
"""Name of a profile without thresholds of names."""

NULL = "NULL"
"""Profile of a group that buffermgrd is to make."""

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
        self._maps: dict[tuple[str, str | None], dict[int, int]] = {}
        self._lags = {lag.name: lag.members for lag in interfaces if isinstance(lag, Lag)}
        self._queues = dict(self._numbered("QUEUE"))
        self._buffers = {place: node.text("profile") for place, node in self._numbered("BUFFER_QUEUE")}
        self._groups = {place: node.text("profile") for place, node in self._numbered("BUFFER_PG")}
        mapped = (parts[0] for parts, _ in nodes(tree, "PORT_QOS_MAP", problems) if parts[0] != OF_SWITCH)
        self._ports = tuple(dict.fromkeys((*(port for port, _ in self._queues), *mapped)))

    def qos(self) -> Qos | None:
        """The QoS; None where no queue has a scheduler, thresholds or packets of a map: there are no classes."""
        classes = tuple(self._classes())
        if not classes:
            return None
        pool = self._node("BUFFER_POOL", INGRESS_POOL)
        default = next(
            (traffic_class.name for traffic_class in classes if traffic_class.queue == DEFAULT_QUEUE), classes[0].name
        )
        bound = dict(self._bound_profiles(classes))
        ports = tuple(self._port(name, classes, bound.get(name)) for name in self._ports)
        return Qos(
            classes=classes,
            default_class=default,
            classifiers=tuple(self._classifiers(classes, default)),
            profiles=(*self._profiles(classes), *{profile.name: profile for profile in bound.values()}.values()),
            ports=tuple(self._of_lags(ports)),
            watchdog=self._watchdog(),
            headroom_pool_bytes=pool.number("xoff"),
            shared_pool_bytes=pool.number("size"),
            trimming=self._trimming(classes),
        )

    def _node(self, table: str, *parts: object) -> ConfigNode:
        return ConfigNode(row(self._tree, table, *parts), f"{table}|{key(*parts)}", self._problems)

    def _numbered(self, table: str) -> Iterator[tuple[tuple[str, int], ConfigNode]]:
        """The rows of queues or priority groups, each by port and number; `3-4` stands for both.

        Rows of a chassis (sonic-queue, VOQ_QUEUE_LIST) are not read.
        """
        for parts, node in nodes(self._tree, table, self._problems):
            first, _, last = parts[-1].partition("-")
            if len(parts) == CHASSIS_PARTS:
                continue
            if len(parts) != 2 or not first.isdecimal() or not (last or first).isdecimal():
                node.problem("is no port with a number", "Use PORT|NUMBER as its key")
                continue
            if int(last or first) >= MOST_NUMBERS:
                node.problem(f"has a number above {MOST_NUMBERS - 1}", "Use a queue or priority group of the chip")
                continue
            for number in range(int(first), int(last or first) + 1):
                yield (parts[0], number), node

    def _classes(self) -> Iterator[TrafficClass]:
        """The class of each queue with a scheduler or thresholds; without schedulers also of each to which a map leads.

        A queue without packets that has the scheduler of another one is none.
        """
        reached, rows = self._reached(), self._rows_of_queues()
        first = next(iter(self._ports), "")
        if all(node.text("scheduler") is None for _, node in rows.values()):
            rows = {**{queue: (first, self._node("QUEUE", first, queue)) for queue in reached}, **rows}
        schedulers = {queue: node.text("scheduler") for queue, (_, node) in rows.items()}
        users = Counter(schedulers.values())
        used = {queue for queue, name in schedulers.items() if users[name] == 1 or queue in reached or not reached}
        users = Counter(schedulers[queue] for queue in used)
        for queue in sorted(used):
            name = schedulers[queue]
            alias = f"queue{queue}" if name is None or users[name] > 1 else None
            yield self._class(queue, rows[queue][0], self._node("SCHEDULER", name or ""), alias)

    def _rows_of_queues(self) -> dict[int, tuple[str, ConfigNode]]:
        """By queue the first port and row that has a scheduler, or thresholds where none has one."""
        rows: dict[int, tuple[str, ConfigNode]] = {}
        for field in ("wred_profile", "scheduler"):
            of_field: dict[int, tuple[str, ConfigNode]] = {}
            for (port, queue), node in self._queues.items():
                if node.text(field) is not None:
                    of_field.setdefault(queue, (port, node))
            rows |= of_field
        return rows

    def _reached(self) -> frozenset[int]:
        """The queues to which the maps of ports lead."""
        queues: set[int] = set()
        for port in self._ports:
            maps = self._node("PORT_QOS_MAP", port)
            points = self._mapped("DSCP_TO_TC_MAP", self._classifier_of(maps))
            of_class = self._queues_of(maps)
            queues.update(of_class.get(number, number) for number in points.values())
        return frozenset(queues)

    def _classifier_of(self, maps: ConfigNode) -> str | None:
        return maps.text("dscp_to_tc_map") or self._node("PORT_QOS_MAP", OF_SWITCH).text("dscp_to_tc_map")

    def _class(self, queue: int, port: str, node: ConfigNode, alias: str | None) -> TrafficClass:
        """A class. node: of its scheduler. alias: its name where the scheduler is of several."""
        name = alias or node.path.partition("|")[2]
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

        Packets of a lossless class are in a priority group of its own that has a buffer. A map of all priorities to
        queues says nothing of those that no port enables.
        """
        maps = self._maps_of(port, "tc_to_pg_map")
        to_group = self._mapped("TC_TO_PRIORITY_GROUP_MAP", maps.text("tc_to_pg_map"))
        to_queue = self._mapped(
            "MAP_PFC_PRIORITY_TO_QUEUE", self._maps_of(port, "pfc_to_queue_map").text("pfc_to_queue_map")
        )
        classes = [number for number, mapped in self._queues_of(maps).items() if mapped == queue] or [queue]
        lossy = to_group.get(DEFAULT_QUEUE, 0)
        groups = [to_group[number] for number in classes if number in to_group]
        group = next((number for number in groups if number != lossy), lossy)
        obeyed = next((priority for priority, mapped in sorted(to_queue.items()) if mapped == queue), None)
        if len(to_queue) == len(QUEUES) and obeyed not in self._enabled():
            obeyed = None
        return group if group != lossy and self._is_lossless(group, lossy) else None, obeyed

    def _maps_of(self, port: str, field: str) -> ConfigNode:
        """The maps of a port; of the first port with such a map where it has none."""
        ports = (self._node("PORT_QOS_MAP", name) for name in (port, *self._ports))
        return next((maps for maps in ports if maps.text(field)), self._node("PORT_QOS_MAP", port))

    def _enabled(self) -> frozenset[int]:
        """The priorities that some port pauses."""
        texts = (self._node("PORT_QOS_MAP", port).text("pfc_enable") or "" for port in self._ports)
        return frozenset(int(number) for text in texts for number in text.split(",") if number.isdecimal())

    def _is_lossless(self, group: int, lossy: int) -> bool:
        """Whether a priority group has a buffer that is not that of the lossy one. Where buffermgrd makes the buffers,
        from the lengths of cables, it does for each priority that is enabled (buffermgr.cpp, buffermgrdyn.cpp)."""
        if not self._groups or (self._tree.get("CABLE_LENGTH") and group not in {number for _, number in self._groups}):
            return group in self._enabled()
        return any(
            profile != self._groups.get((port, lossy))
            for (port, number), profile in self._groups.items()
            if number == group
        )

    def _queues_of(self, maps: ConfigNode) -> dict[int, int]:
        return self._mapped("TC_TO_QUEUE_MAP", maps.text("tc_to_queue_map"))

    def _mapped(self, table: str, name: str | None) -> dict[int, int]:
        """A map of numbers, read once for all ports; empty for a name that has none."""
        if (table, name) not in self._maps:
            node = self._node(table, name or "")
            numbers = {leaf: node.number(leaf) for leaf in node.value if leaf.isdecimal()}
            self._maps[table, name] = {int(leaf): number for leaf, number in numbers.items() if number is not None}
        return self._maps[table, name]

    def _classifiers(self, classes: Iterable[TrafficClass], default: str) -> Iterator[Classifier]:
        names = {traffic_class.queue: traffic_class.name for traffic_class in classes}
        queues: dict[int, int] = {}
        for port in self._ports:
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
        return self._limits(traffic_class, name, f"{INGRESS}{name}", f"{EGRESS}{name}")

    def _limits(self, traffic_class: TrafficClass, wred: str, ingress_name: str, egress_name: str) -> ClassThresholds:
        """The thresholds of a class, by the names of a WRED profile and of buffer profiles."""
        ingress, egress = (self._node("BUFFER_PROFILE", name) for name in (ingress_name, egress_name))
        held = ingress if traffic_class.lossless else egress
        exponent = held.number("dynamic_th")
        usual = not traffic_class.lossless and exponent == LOSSY_ALPHA
        ramp, marks = self._ramp(wred), self._marks(wred)
        return ClassThresholds(
            traffic_class=traffic_class.name,
            ecn=ramp if marks else None,
            wred=None if marks else ramp,
            xon_offset_bytes=ingress.number("xon_offset"),
            headroom_bytes=ingress.number("xoff"),
            alpha=None if exponent is None or usual else 2.0**exponent,
        )

    def _bound_profiles(self, classes: tuple[TrafficClass, ...]) -> Iterator[tuple[str, PortProfile]]:
        """The profiles of ports whose buffers have no names of railfab: what their queues and groups name."""
        names: dict[tuple[ClassThresholds, ...], str] = {}
        for port in self._ports:
            bound = {} if self._profile_of(port, classes) else {name: self._bound(port, name) for name in classes}
            every = (self._limits(name, *bound[name]) for name in bound)
            thresholds = tuple(
                limits for limits in every if limits != ClassThresholds(traffic_class=limits.traffic_class)
            )
            if thresholds:
                if thresholds not in names:
                    names[thresholds] = self._title([*bound.values()], names.values())
                yield port, PortProfile(name=names[thresholds], thresholds=thresholds)

    def _title(self, bound: Iterable[tuple[str, str, str]], taken: Iterable[str]) -> str:
        """A name of a profile: that of the first buffer of a group, or of the first WRED profile."""
        groups, ramps = ([entry[part] for entry in bound if entry[part]] for part in (1, 0))
        title = next(iter((*groups, *ramps)), DEFAULT_PROFILE)
        same = sum(name.partition("#")[0] == title for name in taken)
        return f"{title}#{same + 1}" if same else title

    def _bound(self, port: str, traffic_class: TrafficClass) -> tuple[str, str, str]:
        """The names of the WRED profile and of the buffers of a class on a port; empty for the usual buffers."""
        queue = self._queues.get((port, traffic_class.queue))
        group = traffic_class.pfc_priority
        ingress = None if group is None else self._groups.get((port, group))
        egress = self._buffers.get((port, traffic_class.queue))
        usual = (None, NULL, *DEFAULTS.values())
        ramp = queue.text("wred_profile") if queue else None
        return ramp or "", "" if ingress in usual else str(ingress), "" if egress in usual else str(egress)

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

    def _port(self, name: str, classes: tuple[TrafficClass, ...], bound: PortProfile | None) -> PortQos:
        """The QoS of a port. bound: the profile that its queues and groups name, where the names are not railfab's."""
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
            profile=bound.name if bound else self._profile_of(name, classes),
            classifier=self._classifier_of(maps),
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
