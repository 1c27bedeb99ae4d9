"""PFC, queues and the PFC watchdog of ports, as a virtual switch with NX-OS shows them.

Texts: recorded by readers of NX-OS 9.3 to 10.3; keys of the JSON: of the Nexus 9000 Show Command Reference 9.3(x). The
switch does not know which priorities are paused at the moment: none is shown as active.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from railfab.device import DeviceModel, PortQos, Qos
from railfab.platforms.nxos.lines import FORMAT
from railfab.platforms.nxos.render_qos import QUEUES, group_of
from railfab.platforms.nxos.show_ports import NxosPort
from railfab.platforms.nxos.show_rows import Json, table
from railfab.platforms.nxos.show_text import as_json, as_lines, is_json, require_text
from railfab.platforms.shared.virtual_readings import SwitchReadings
from railfab.platforms.twin_face import VirtualDevice

PRIORITIES = range(8)
PFC_MODE = "priority-flow-control mode "
_PFC_RULE = "=" * 60
_PFC = "Port               Mode Oper(VL bmap)  RxPPP      TxPPP"
_QUEUE_RULE, _PAUSE_RULE, _WATCHDOG_RULE = f"+{'-' * 61}+", "-" * 76, f"+{'-' * 52}+"
_QUEUE_COUNTERS = (
    ("Tx", "Pkts", "fabric_queue_transmit_packets_total"),
    ("Tx", "Byts", "fabric_queue_transmit_bytes_total"),
    ("WRED/AFD & Tail Drop", "Pkts", "fabric_queue_dropped_packets_total"),
    ("WRED/AFD & Tail Drop", "Byts", "fabric_queue_dropped_bytes_total"),
    ("ECN", "Pkts", "fabric_queue_ecn_marked_packets_total"),
    ("ECN", "Byts", "fabric_queue_ecn_marked_bytes_total"),
    ("Q Depth", "Byts", "fabric_queue_depth_bytes"),
)
"""Kind and unit of the counters of a queue, with their metrics."""
_SENT, _RECEIVED = "fabric_pfc_transmit_frames_total", "fabric_pfc_receive_frames_total"
_STORMS, _DROPPED = "fabric_pfc_watchdog_storms_detected_total", "fabric_pfc_dropped_packets_total"
_WATCHDOG = """\
{name} Interface PFC watchdog: [{state}]
{rule}
| QOS GROUP {group} [Active] PFC [YES] PFC-COS [{priority}]
{rule}
|                               |  Stats             |
{rule}
|                       Shutdown|{storms:>20}|
|                       Restored|{storms:>20}|
|             Total pkts dropped|{dropped:>20}|
{rule}
"""


class QosShows:
    """Commands that show queues and pauses; NxosShows derives from it. port: as typed; all without one."""

    device: VirtualDevice
    model: Callable[[], DeviceModel]
    front_panel: Callable[[str], list[NxosPort]]

    def show_pfc(self, port: str = "", form: str = "text") -> str:
        readings, modes = SwitchReadings(self.device), self._pfc_modes()
        stated = _port_qos(self.model())
        rows = [
            _pfc_row(shown.name, modes.get(shown.name, "Auto"), stated, readings) for shown in self.front_panel(port)
        ]
        if is_json(form):
            keys = ("if_name_str", "admin", "oper", "rx-stats", "tx-stats")
            return as_json(_of_module(table("pfc_interface", [{key: row[key] for key in keys} for row in rows])))
        columns = "{if_name_str:<18} {admin:<4} {runs} {rx-stats:<10} {tx-stats:<10}"
        return as_lines(["", _PFC_RULE, _PFC, _PFC_RULE, "", *(columns.format_map(row) for row in rows)])

    def show_queuing(self, port: str = "", form: str = "text") -> str:
        readings, qos = SwitchReadings(self.device), self.model().qos
        names = [shown.name for shown in self.front_panel(port)]
        if is_json(form):
            rows = [row for name in names for row in _queuing_rows(name, qos, readings)]
            return as_json(_of_module(table("queuing_interface", rows)))
        return as_lines(
            ["slot  1", "=======", *(line for name in names for line in _queuing_lines(name, qos, readings))]
        )

    def show_watchdog(self, port: str = "", form: str = "text") -> str:
        """The queues with PFC. Each storm that the watchdog has detected is over when it is counted."""
        require_text(form)
        readings, model = SwitchReadings(self.device), self.model()
        stated = _port_qos(model)
        running = bool(model.qos and model.qos.watchdog)
        blocks = [
            _WATCHDOG.format(
                name=shown.name,
                state="Enabled" if running else "Disabled",
                rule=_WATCHDOG_RULE,
                group=_group_of_priority(model.qos, priority),
                priority=priority,
                storms=_of_priority(readings, _STORMS, shown.name, priority),
                dropped=_of_priority(readings, _DROPPED, shown.name, priority),
            )
            for shown in self.front_panel(port)
            for priority in (stated[shown.name].pfc if shown.name in stated else ())
        ]
        return "\n".join(
            (f"slot  1\n=======\nGlobal watch-dog interval [{'Enabled' if running else 'Disabled'}]\n", *blocks)
        )

    def _pfc_modes(self) -> dict[str, str]:
        """`On` or `Off` of each port that states it."""
        return {
            section.text.partition(" ")[2]: line.text.removeprefix(PFC_MODE).capitalize()
            for section in FORMAT.tree(self.device.running())
            if section.kind == "interface"
            for line in section.children
            if line.text.startswith(PFC_MODE)
        }


def _port_qos(model: DeviceModel) -> dict[str, PortQos]:
    return {port.interface: port for port in model.qos.ports} if model.qos else {}


def _of_module(answer: Json) -> Json:
    return table("module", [{"module_number": "1", **answer}])


def _of_priority(readings: SwitchReadings, metric: str, name: str, priority: int) -> int:
    return int(readings.by(metric, "priority", interface=name).get((str(priority),), 0))


def _pfc_row(name: str, mode: str, stated: dict[str, PortQos], readings: SwitchReadings) -> Json:
    """PFC of a port. A port in mode `auto` has no PFC: nothing negotiates it, for the twin has no DCBX."""
    priorities = stated[name].pfc if name in stated and mode == "On" else ()
    bitmap = f"({sum(1 << priority for priority in priorities):x})"
    return {
        "if_name_str": name,
        "admin": mode,
        "oper": "On" if mode == "On" else "Off",
        "runs": f"On   {bitmap:<9}" if mode == "On" else f"{'Off':<13}",
        "rx-stats": str(int(readings.of_port(_RECEIVED, name))),
        "tx-stats": str(int(readings.of_port(_SENT, name))),
    }


def queue_labels(qos: Qos | None) -> dict[int, str]:
    """The label of the queue of each QoS group that has a class; without QoS, all packets are of group 0."""
    return {group_of(each.queue): str(each.queue) for each in qos.classes} if qos else {0: "0"}


def _group_of_priority(qos: Qos | None, priority: int) -> str:
    groups = (str(group_of(each.queue)) for each in (qos.classes if qos else ()) if each.pfc_priority == priority)
    return next(groups, "-")


def _counted(name: str, label: str | None, readings: SwitchReadings) -> Iterator[tuple[str, str, int]]:
    """Kind, unit and value of each counter of a queue."""
    for kind, unit, metric in _QUEUE_COUNTERS:
        yield kind, unit, int(readings.by(metric, "queue", interface=name).get((label or "",), 0))


def _pauses(name: str, qos: Qos | None, readings: SwitchReadings) -> Iterator[tuple[int, str, int, int]]:
    """QoS group and pause frames sent and received, of each priority."""
    for priority in PRIORITIES:
        sent, received = (_of_priority(readings, metric, name, priority) for metric in (_SENT, _RECEIVED))
        yield priority, _group_of_priority(qos, priority), sent, received


def _queue_row(name: str, group: int, label: str | None, readings: SwitchReadings) -> Json:
    counters = [
        {"eq-stat-type": kind, "eq-stat-units": unit, "eq-uc-stat-value": str(count), "eq-mc-stat-value": "0"}
        for kind, unit, count in _counted(name, label, readings)
    ]
    return {"eq-qosgrp": str(group), **table("qosgrp_egress_stats_entry", counters)}


def _queuing_rows(name: str, qos: Qos | None, readings: SwitchReadings) -> Iterator[Json]:
    groups = queue_labels(qos)
    queues = [_queue_row(name, group, groups.get(group), readings) for group in QUEUES]
    yield {"dir": "Egress", "if_name_str": name, **table("qosgrp_egress_stats", queues)}
    pauses = [
        {
            "cos": str(priority),
            "pfc-qosgrp": group,
            "pfc-pg": group,
            "tx-pause-state": "Inactive",
            "tx-pause-count": str(sent),
            "rx-pause-state": "Inactive",
            "rx-pause-count": str(received),
        }
        for priority, group, sent, received in _pauses(name, qos, readings)
    ]
    totals = {"tx-ppp": int(readings.of_port(_SENT, name)), "rx-ppp": int(readings.of_port(_RECEIVED, name))}
    shown = {key: str(count) for key, count in totals.items()}
    yield {"dir": "Ingress", "if_name_str": name, **shown, **table("pfc_stats", pauses)}


def _queuing_lines(name: str, qos: Qos | None, readings: SwitchReadings) -> Iterator[str]:
    groups = queue_labels(qos)
    yield from ("", "", f"Egress Queuing for {name} [Interface]", _QUEUE_RULE)
    for number in QUEUES:
        yield from (f"|{f'QOS GROUP {number}':>41}{'':<20}|", _QUEUE_RULE)
        yield from ("|                           |  Unicast       |Multicast       |", _QUEUE_RULE)
        for kind, unit, count in _counted(name, groups.get(number), readings):
            yield f"| {f'{kind} {unit}':>25} |{count:>16}|{0:>16}|"
        yield _QUEUE_RULE
    sent, received = int(readings.of_port(_SENT, name)), int(readings.of_port(_RECEIVED, name))
    yield from ("", f"Ingress Queuing for {name}", "", "PFC Statistics", _PAUSE_RULE)
    yield from (f"TxPPP: {sent:>20},   RxPPP: {received:>20}", _PAUSE_RULE)
    yield from (" COS QOS Group        PG   TxPause   TxCount         RxPause         RxCount",)
    for priority, group, out_count, in_count in _pauses(name, qos, readings):
        yield f"{priority:>4} {group:>9} {group:>9}  Inactive {out_count:>9}        Inactive {in_count:>15}"
    yield _PAUSE_RULE
