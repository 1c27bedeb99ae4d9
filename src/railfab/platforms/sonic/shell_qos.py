"""Show commands for the QoS of a virtual SONiC switch. Layouts: sonic-utilities, pfcstat, pfc, pfcwd, queuestat,
watermarkstat and ecnconfig."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from railfab.device import natural
from railfab.platforms.shared.virtual_readings import Values
from railfab.platforms.sonic.shell_login import NOT_AVAILABLE, SonicLogin
from railfab.platforms.sonic.tables import row
from railfab.platforms.sonic.tabulated import pairs, table

PRIORITIES = range(8)
STORMS = "fabric_pfc_watchdog_storms_detected_total"
QUEUE_COUNTERS = {
    "Counter/pkts": "fabric_queue_transmit_packets_total",
    "Counter/bytes": "fabric_queue_transmit_bytes_total",
    "Drop/pkts": "fabric_queue_dropped_packets_total",
    "Drop/bytes": "fabric_queue_dropped_bytes_total",
}
QUEUE_KEYS = ("totalpacket", "totalbytes", "droppacket", "dropbytes")
WATCHDOG = {"ACTION": "action", "DETECTION TIME": "detection_time", "RESTORATION TIME": "restoration_time"}
WATCHDOG_DEFAULTS = {"action": "drop", "detection_time": NOT_AVAILABLE, "restoration_time": "infinite"}
WATCHDOG_STATS = ("STORM DETECTED/RESTORED", "TX OK/DROP", "RX OK/DROP", "TX LAST OK/DROP", "RX LAST OK/DROP")


class SonicQosShows(SonicLogin):
    """The commands for PFC, queues and ECN."""

    def pfc_counters(self) -> str:
        """Pause frames by priority, received and sent."""
        return "\n".join(self._pfc_table(*way) for way in (("Rx", "receive"), ("Tx", "transmit")))

    def _pfc_table(self, title: str, way: str) -> str:
        frames = self.readings().by(f"fabric_pfc_{way}_frames_total", "interface", "priority")
        header = (f"Port {title}", *(f"PFC{priority}" for priority in PRIORITIES))
        rows = [
            (port.name, *(f"{frames.get((port.name, str(priority)), 0):,.0f}" for priority in PRIORITIES))
            for port in self.ports()
        ]
        return table(header, rows, right=True)

    def pfc_priority(self, interface: str | None = None) -> str:
        """Priorities with PFC, as CONFIG_DB has them."""
        maps = self.tables().get("PORT_QOS_MAP", {})
        if interface is not None and interface not in maps:
            return f"Cannot find interface {interface}"
        names = sorted(maps, key=natural) if interface is None else [interface]
        rows = [(name, maps[name].get("pfc_enable", NOT_AVAILABLE)) for name in names]
        return f"\n{table(('Interface', 'Lossless priorities'), rows)}\n"

    def pfc_asymmetric(self, interface: str | None = None) -> str:
        tables = self.tables()
        rows = [
            (port.name, row(tables, "PORT", port.name).get("pfc_asym", NOT_AVAILABLE)) for port in self.ports(interface)
        ]
        return f"\n{table(('Interface', 'Asymmetric'), rows)}\n"

    def watchdog_config(self) -> str:
        """Ports with a watchdog, as CONFIG_DB has them."""
        watchdogs = self.tables().get("PFC_WD", {})
        rows = [
            (port.name, *(fields.get(name, WATCHDOG_DEFAULTS[name]) for name in WATCHDOG.values()), history)
            for port in self.ports()
            if (fields := watchdogs.get(port.name))
            for history in [fields.get("pfc_stat_history", "disable")]
        ]
        interval = watchdogs.get("GLOBAL", {}).get("POLL_INTERVAL") if rows else None
        begin = f"Changed polling interval to {interval}ms\n" if interval else ""
        return begin + table(("PORT", *WATCHDOG, "HISTORY"), rows, right=True)

    def watchdog_stats(self) -> str:
        """Queues that had a storm; a virtual switch counts no other statistics of the watchdog."""
        storms = self.readings().by(STORMS, "interface", "priority")
        rows = [
            (f"{port.name}:{priority}", NOT_AVAILABLE, f"{storms[key]:.0f}/0", *["0/0"] * (len(WATCHDOG_STATS) - 1))
            for port in self.ports()
            for priority in PRIORITIES
            if storms.get(key := (port.name, str(priority)))
        ]
        return table(("QUEUE", "STATUS", *WATCHDOG_STATS), rows, right=True)

    def queue_counters(self, interface: str | None = None) -> str:
        header = ("Port", "TxQ", *QUEUE_COUNTERS)
        return "".join(
            f"For namespace :\n{table(header, [(port, *each) for each in rows], right=True)}\n"
            for port, rows in self._queues(interface).items()
            if rows
        )

    def queue_counters_json(self, interface: str | None = None) -> str:
        now = datetime.now(UTC).replace(tzinfo=None).isoformat(" ")
        shown = {
            port: {"time": now, **{name: dict(zip(QUEUE_KEYS, cells, strict=True)) for name, *cells in rows}}
            for port, rows in self._queues(interface).items()
        }
        return json.dumps(shown, indent=2, sort_keys=True)

    def _queues(self, interface: str | None) -> Mapping[str, list[tuple[str, ...]]]:
        """Rows of counters of the queues that classes use, by port."""
        counts = [self.readings().by(metric, "interface", "queue") for metric in QUEUE_COUNTERS.values()]
        numbers = _numbers(counts[0])
        return {
            port.name: [
                (f"UC{number}", *(f"{values.get((port.name, number), 0):.0f}" for values in counts))
                for number in numbers
            ]
            for port in self.ports(interface)
        }

    def queue_watermark(self) -> str:
        return f"Egress shared pool occupancy per unicast queue:\n{table(*self._queue_watermarks(), right=True)}"

    def queue_watermark_json(self) -> str:
        return _watermarks_json(*self._queue_watermarks())

    def headroom_watermark(self) -> str:
        return f"Ingress headroom per PG:\n{table(*self._headroom_watermarks(), right=True)}"

    def headroom_watermark_json(self) -> str:
        return _watermarks_json(*self._headroom_watermarks())

    def _queue_watermarks(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        return self._watermarks("UC", self.readings().by("fabric_queue_depth_peak_bytes", "interface", "queue"))

    def _headroom_watermarks(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        peaks = self.readings().by("fabric_buffer_headroom_peak_bytes", "interface", "priority_group")
        return self._watermarks("PG", peaks)

    def _watermarks(self, prefix: str, peaks: Values) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        numbers = _numbers(peaks)
        header = ("Port", *(f"{prefix}{number}" for number in numbers))
        rows = [
            (port.name, *(f"{peaks.get((port.name, number), 0):.0f}" for number in numbers)) for port in self.ports()
        ]
        return header, rows

    def wred_profiles(self) -> str:
        """The profiles of WRED, as CONFIG_DB has them."""
        profiles = self.tables().get("WRED_PROFILE", {})
        return "".join(f"Profile: {name}\n{pairs([*fields.items()])}\n" for name, fields in profiles.items())


def _numbers(values: Values) -> list[str]:
    """The queues or priority groups in values by port and number."""
    return sorted({number for _, number in values}, key=int)


def _watermarks_json(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return json.dumps([dict(zip(header, cells, strict=True)) for cells in rows], indent=4)
