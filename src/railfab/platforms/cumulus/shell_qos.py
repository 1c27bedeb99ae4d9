"""Show commands for the QoS of a virtual Cumulus Linux switch (NVUE reference, QoS; RDMA over Converged Ethernet)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from railfab.device import EcnRamp, PortQos, Qos, Scheduling, TrafficClass
from railfab.platforms.cumulus.nvue_tables import NOT_COUNTED, in_form, keyed, size, sized, table, titled, tree
from railfab.platforms.cumulus.qos import GLOBAL
from railfab.platforms.cumulus.shell_login import CumulusLogin, at
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.shared.linux_files import CommandFailed

PRIORITIES = range(8)
TRUST = {"l2": "pcp", "l3": "dscp", "both": "pcp,dscp", "port": "port"}
"""Names in the status of RoCE of what a mapping trusts."""
PORT_STATS = {"ecn-marked-packets": "ECN Marked Packets", "mc-buffer-discards": "MC Buffer Discards"}
SIZES = (*("max-threshold", "min-threshold", "roce-bytes", "cnp-bytes", "tc-usage", "tc-max-usage"), "tx-bytes")
MICROSECONDS = 1_000_000
QUEUE_STATS = {
    "tx-frames": "fabric_queue_transmit_packets_total",
    "tx-bytes": "fabric_queue_transmit_bytes_total",
    "tx-uc-buffer-discards": "fabric_queue_dropped_packets_total",
}
PFC_STATS = {"rx-pause-frames": "receive_frames_total", "tx-pause-frames": "transmit_frames_total"}


class QosOfPort(NamedTuple):
    """QoS of a port. lossless, control: its classes of RoCE, and the strict one of congestion notifications."""

    qos: Qos
    port: PortQos
    lossless: tuple[TrafficClass, ...]
    control: tuple[TrafficClass, ...]

    def ramp(self, traffic_class: TrafficClass) -> EcnRamp | None:
        profile = next((each for each in self.qos.profiles if each.name == self.port.profile), None)
        thresholds = profile.of(traffic_class.name) if profile else None
        return thresholds.ecn if thresholds else None

    def marked(self) -> Iterator[tuple[TrafficClass, EcnRamp]]:
        for traffic_class in self.qos.classes:
            ramp = self.ramp(traffic_class)
            if traffic_class.name in self.port.ecn and ramp is not None:
                yield traffic_class, ramp


class CumulusQosShows(CumulusLogin):
    """The commands for queues, PFC, ECN and RoCE."""

    def show_qos_counters(self, interface: str, form: str = "text") -> str:
        queues, pauses = self._queue_stats(interface), self._pfc_stats(interface)
        ports = _port_stats(queues)
        text = "\n".join(
            (
                titled("Egress Queue Statistics", keyed("traffic-class", _texts(queues))),
                titled("PFC Statistics", keyed("switch-priority", _with_sent(pauses))),
                titled("Qos Port Statistics", _port_table(ports, {})),
            )
        )
        return in_form(form, {"egress-queue-stats": queues, "pfc-stats": pauses, "port-stats": ports}, text)

    def show_queue_stats(self, interface: str, form: str = "text") -> str:
        held = self._queue_stats(interface)
        return in_form(form, held, keyed("traffic-class", _texts(held)))

    def show_pfc_stats(self, interface: str, form: str = "text") -> str:
        held = self._pfc_stats(interface)
        return in_form(form, held, keyed("switch-priority", _with_sent(held)))

    def show_port_stats(self, interface: str, form: str = "text") -> str:
        held = _port_stats(self._queue_stats(interface))
        return in_form(form, held, _port_table(held, PORT_STATS))

    def show_roce_status(self, interface: str, form: str = "text") -> str:
        held, maps = self._roce(interface), self._roce_maps(interface)
        titles = {
            "prio-map": "RoCE PCP/DSCP->SP mapping configurations",
            "tc-map": "RoCE SP->TC mapping and ETS configurations",
        }
        tables = [titled(title, keyed("", maps[name])) for name, title in titles.items()]
        return in_form(form, held | maps, "\n".join((tree(sized(held, SIZES)), *tables)))

    def show_roce_counters(self, interface: str, form: str = "text") -> str:
        held = self._roce_counters(interface)
        return in_form(form, held, tree(sized(held, SIZES)))

    def show_congestion(self, interface: str) -> str:
        header = ("traffic-class", "ECN", "RED", "Min Th", "Max Th", "Probability")
        rows = [
            (
                str(each.queue),
                "enable",
                "disable",
                *map(size, (ramp.kmin_bytes, ramp.kmax_bytes)),
                str(ramp.pmax_percent),
            )
            for each, ramp in self._qos(interface).marked()
        ]
        return titled("ECN configuration", table(header, rows))

    def show_queue_mapping(self, interface: str) -> str:
        self.port(interface)
        queues = self._queues()
        rows = [(str(priority), str(queues.get(priority, priority))) for priority in PRIORITIES]
        return titled("SP->TC mapping configuration", table(("switch-priority", "traffic-class"), rows))

    def _qos(self, interface: str) -> QosOfPort:
        """The QoS of a port. Raises CommandFailed for a port without."""
        name, qos = self.port(interface).name, self.model().qos
        port = next((each for each in qos.ports if each.interface == name), None) if qos else None
        if qos is None or port is None:
            raise CommandFailed(self.text("no_item"))
        lossless = tuple(each for each in qos.classes if each.pfc_priority in port.pfc)
        control = tuple(each for each in qos.classes if each.scheduling is Scheduling.STRICT)
        return QosOfPort(qos, port, lossless, control)

    def _queues(self) -> dict[int, int]:
        """The traffic class of each switch priority that the configuration states."""
        stated = at(self.running_tree(), "qos", "egress-queue-mapping", GLOBAL, "switch-priority")
        return {int(priority): int(entry["traffic-class"]) for priority, entry in stated.items() if entry}

    def _queue_stats(self, interface: str) -> dict[str, Json]:
        """Counters of the queues, whose labels in the readings are the names of their classes."""
        name, readings, qos = self.port(interface).name, self.readings(), self.model().qos
        labels = {each.queue: each.name for each in (qos.classes if qos else ())}
        counts = {stat: readings.by(metric, "queue", interface=name) for stat, metric in QUEUE_STATS.items()}
        marked = readings.by("fabric_queue_ecn_marked_packets_total", "queue", interface=name)
        return {
            str(queue): {
                **{stat: int(values.get((labels.get(queue, ""),), 0)) for stat, values in counts.items()},
                "wred-discards": 0,
                "ecn-marked-frames": int(marked.get((labels.get(queue, ""),), 0)),
            }
            for queue in PRIORITIES
        }

    def _pfc_stats(self, interface: str) -> dict[str, Json]:
        name, readings = self.port(interface).name, self.readings()
        counts = {
            stat: readings.by(f"fabric_pfc_{metric}", "priority", interface=name) for stat, metric in PFC_STATS.items()
        }
        paused = readings.by("fabric_pfc_receive_pause_seconds_total", "priority", interface=name)
        return {
            str(priority): {
                "rx-pause-frames": int(counts["rx-pause-frames"].get((str(priority),), 0)),
                "rx-pause-duration": int(paused.get((str(priority),), 0) * MICROSECONDS),
                "tx-pause-frames": int(counts["tx-pause-frames"].get((str(priority),), 0)),
            }
            for priority in PRIORITIES
        }

    def _roce(self, interface: str) -> Json:
        """The status of RoCE on a port."""
        qos = self._qos(interface)
        marked = [*qos.marked()]
        held: Json = {"congestion-control": {"congestion-mode": "ecn, absolute"}} if marked else {}
        if marked:
            ramp = marked[0][1]
            held["congestion-control"] |= {
                "enabled-tc": ",".join(str(each.queue) for each, _ in marked),
                "max-threshold": ramp.kmax_bytes,
                "min-threshold": ramp.kmin_bytes,
                "probability": ramp.pmax_percent,
            }
        pfc = "yes" if qos.port.pfc else "no"
        priorities = ",".join(map(str, qos.port.pfc)) or "-"
        held["pfc"] = {"pfc-priority": priorities, "rx-enabled": pfc, "tx-enabled": pfc}
        held["trust"] = {"trust-mode": TRUST[self._trust(interface)]}
        held["mode"] = at(self.running_tree(), "qos", "roce").get("mode", "lossless")
        return held

    def _trust(self, interface: str) -> str:
        tree = self.running_tree()
        profile = at(tree, "interface", interface, "qos", "mapping").get("profile", GLOBAL)
        return str(at(tree, "qos", "mapping", profile).get("trust", "port"))

    def _roce_maps(self, interface: str) -> dict[str, dict[str, Json]]:
        """Code points, switch priority and queue of the classes of RoCE and of congestion notifications."""
        held = self._qos(interface)
        classes = {"cnp": held.control[:1], "roce": held.lossless[:1]}
        named = [(name, each) for name, some in classes.items() for each in some]
        return {
            "prio-map": {
                name: {"pcp": "-", "dscp": self._points(held, each), "switch-prio": self._priority(each)}
                for name, each in named
            },
            "tc-map": {
                name: {
                    "switch-prio": self._priority(each),
                    "traffic-class": each.queue,
                    "scheduler-weight": _weight(each),
                }
                for name, each in named
            },
        }

    def _points(self, held: QosOfPort, traffic_class: TrafficClass) -> str:
        classifier = next((each for each in held.qos.classifiers if each.name == held.port.classifier), None)
        points = [str(point) for point, name in classifier.dscp if name == traffic_class.name] if classifier else []
        return ",".join(points) or "-"

    def _priority(self, traffic_class: TrafficClass) -> int:
        """The switch priority of a class."""
        if traffic_class.pfc_priority is not None:
            return traffic_class.pfc_priority
        queues = self._queues()
        return next((each for each in PRIORITIES if queues.get(each, each) == traffic_class.queue), 0)

    def _roce_counters(self, interface: str) -> Json:
        held, queues, pauses = self._qos(interface), self._queue_stats(interface), self._pfc_stats(interface)
        lossless = [pauses[str(priority)] for priority in held.port.pfc]
        roce = self._class_counters(interface, "roce", held.lossless, queues)
        cnp = self._class_counters(interface, "cnp", held.control, queues)
        marked = sum(queues[str(each.queue)]["ecn-marked-frames"] for each in held.qos.classes)
        return {
            "rx-stats": {
                "rx-pfc-stats": {
                    "pause-duration": sum(each["rx-pause-duration"] for each in lossless),
                    "pause-packets": sum(each["rx-pause-frames"] for each in lossless),
                }
            },
            "tx-stats": {
                "tx-cnp-stats": cnp,
                "tx-ecn-stats": {"ecn-marked-packets": marked},
                "tx-pfc-stats": {"pause-packets": sum(each["tx-pause-frames"] for each in lossless)},
                "tx-roce-stats": roce,
            },
        }

    def _class_counters(
        self, interface: str, prefix: str, classes: tuple[TrafficClass, ...], queues: dict[str, Json]
    ) -> Json:
        """Counters of classes on a port: sent, lost, and their queues now and at most."""
        held = [queues[str(each.queue)] for each in classes]
        readings, names = self.readings(), {each.name for each in classes}

        def depth(metric: str) -> int:
            values = readings.by(metric, "queue", interface=interface)
            return int(sum(value for (name,), value in values.items() if name in names))

        return {
            f"{prefix}-bytes": sum(each["tx-bytes"] for each in held),
            f"{prefix}-packets": sum(each["tx-frames"] for each in held),
            "tc-max-usage": depth("fabric_queue_depth_peak_bytes"),
            "tc-usage": depth("fabric_queue_depth_bytes"),
            "unicast-no-buffer-discard": sum(each["tx-uc-buffer-discards"] for each in held),
        }


def _with_sent(pauses: dict[str, Json]) -> dict[str, Json]:
    """Pauses with the column of those that were sent, whose time is not counted."""
    return {priority: {**entry, "tx-pause-duration": NOT_COUNTED} for priority, entry in pauses.items()}


def _port_stats(queues: dict[str, Json]) -> Json:
    marked = sum(entry["ecn-marked-frames"] for entry in queues.values())
    return {"ecn-marked-packets": {"transmit": marked}, "mc-buffer-discards": {"transmit": 0}}


def _texts(queues: dict[str, Json]) -> dict[str, Json]:
    """Counters of queues as the table has them, without the marks, which it lacks."""
    return {
        queue: sized({stat: value for stat, value in entry.items() if stat != "ecn-marked-frames"}, SIZES)
        for queue, entry in queues.items()
    }


def _port_table(held: Json, titles: dict[str, str]) -> str:
    rows = [(titles.get(name, name), NOT_COUNTED, str(entry["transmit"])) for name, entry in held.items()]
    return table(("Counter", "Receive", "Transmit"), rows)


def _weight(traffic_class: TrafficClass) -> str:
    strict = traffic_class.scheduling is Scheduling.STRICT
    return "strict priority" if strict else f"dwrr-{traffic_class.weight}%"
