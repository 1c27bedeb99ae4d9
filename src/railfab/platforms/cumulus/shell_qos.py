"""Show commands for the QoS of a virtual Cumulus Linux switch (NVUE reference, QoS; RDMA over Converged Ethernet)."""

from __future__ import annotations

from railfab.device import TrafficClass
from railfab.platforms.cumulus.nvue_tables import NOT_COUNTED, in_form, keyed, size, sized, table, titled, tree
from railfab.platforms.cumulus.roce_status import QosOfPort, RoceStatus
from railfab.platforms.cumulus.shell_login import CumulusLogin
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.shared.linux_files import CommandFailed

PRIORITIES = range(8)
PORT_STATS = {"ecn-marked-packets": "ECN Marked Packets", "mc-buffer-discards": "MC Buffer Discards"}
SIZES = (*("max-threshold", "min-threshold", "roce-bytes", "cnp-bytes", "tc-usage", "tc-max-usage"), "tx-bytes")
MICROSECONDS = 1_000_000
RULER = "-" * 37
QUEUE_STATS = {
    "tx-frames": "fabric_queue_transmit_packets_total",
    "tx-bytes": "fabric_queue_transmit_bytes_total",
    "tx-uc-buffer-discards": "fabric_queue_dropped_packets_total",
}
PFC_STATS = {"rx-pause-frames": "receive_frames_total", "tx-pause-frames": "transmit_frames_total"}


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
        self._qos(interface)
        roce = self._roce()
        return in_form(form, roce.status(interface) | roce.maps(interface), _status_text(roce, interface))

    def show_roce_statuses(self, form: str = "text") -> str:
        """The status of RoCE on every port that has QoS."""
        roce = self._roce()
        names = [port.name for port in self.device.ports() if port.name in roce.ports]
        held = {name: {"qos": {"roce": {"status": roce.status(name) | roce.maps(name)}}} for name in names}
        return in_form(
            form, held, "".join(f"{RULER}\nInterface: {name}\n{RULER}\n{_status_text(roce, name)}" for name in names)
        )

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
        rows = [(str(priority), str(queue)) for priority, queue in self._roce().queues.items()]
        return titled("SP->TC mapping configuration", table(("switch-priority", "traffic-class"), rows))

    def _roce(self) -> RoceStatus:
        return RoceStatus(self.running_tree(), self.model())

    def _qos(self, interface: str) -> QosOfPort:
        """The QoS of a port. Raises CommandFailed for a port without."""
        held = self._roce().ports.get(self.port(interface).name)
        if held is None:
            raise CommandFailed(self.text("no_item"))
        return held

    def _queue_stats(self, interface: str) -> dict[str, Json]:
        name, readings = self.port(interface).name, self.readings()
        counts = {stat: readings.by(metric, "queue", interface=name) for stat, metric in QUEUE_STATS.items()}
        marked = readings.by("fabric_queue_ecn_marked_packets_total", "queue", interface=name)
        return {
            str(queue): {
                **{stat: int(values.get((str(queue),), 0)) for stat, values in counts.items()},
                "wred-discards": 0,
                "ecn-marked-frames": int(marked.get((str(queue),), 0)),
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
        readings, numbers = self.readings(), {str(each.queue) for each in classes}

        def depth(metric: str) -> int:
            values = readings.by(metric, "queue", interface=interface)
            return int(sum(value for (number,), value in values.items() if number in numbers))

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


def _status_text(roce: RoceStatus, interface: str) -> str:
    titles = {
        "prio-map": "RoCE PCP/DSCP->SP mapping configurations",
        "tc-map": "RoCE SP->TC mapping and ETS configurations",
    }
    maps = roce.maps(interface)
    tables = [titled(title, keyed("", maps[name])) for name, title in titles.items()]
    return "\n".join((tree(sized(roce.status(interface), SIZES)), *tables))
