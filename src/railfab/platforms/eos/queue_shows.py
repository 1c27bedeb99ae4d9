"""Show commands of a virtual switch with EOS about its queues and PFC.

Keys of JSON: those that ANTA, and programs that collect from switches, read. Columns of texts: those that they parse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from railfab.device import Qos
from railfab.platforms.eos.answers import answer, json_text, require_json, table
from railfab.platforms.eos.configuration import parse
from railfab.platforms.eos.names import native_name
from railfab.platforms.eos.port_state import full_name, place, short_name
from railfab.platforms.eos.state import UNMARKED
from railfab.platforms.shared.virtual_readings import SwitchReadings, Values
from railfab.platforms.twin_face import VirtualDevice

Json = dict[str, Any]
QUEUES = tuple(map(str, range(8)))
QUEUE = "fabric_queue_"


class EosQueueShows:
    """Commands that show queues and PFC. interface: the only one that is asked for; empty for all."""

    device: VirtualDevice

    def _names(self, interface: str) -> list[str]:
        """The ports, in the order of their numbers."""
        names = sorted((port.name for port in self.device.ports()), key=lambda name: place(native_name(name)))
        return [name for name in names if not interface or native_name(name) == full_name(interface)]

    def _by_queue(self, metric: str, label: str = "queue") -> Values:
        return SwitchReadings(self.device).by(metric, "interface", label)

    def show_pfc_counters(self, interface: str = "", form: str = "text") -> str:
        readings = SwitchReadings(self.device)
        frames = {
            name: [int(readings.of_port(f"fabric_pfc_{way}_frames_total", name)) for way in ("receive", "transmit")]
            for name in self._names(interface)
        }
        return answer(
            form,
            lambda: {
                "interfaceCounters": {
                    native_name(name): {"rxFrames": received, "txFrames": sent}
                    for name, (received, sent) in frames.items()
                }
            },
            lambda: table(
                "{:<10} {:>15} {:>15}",
                ("Port", "RxPfc", "TxPfc"),
                [(short_name(name), *counted) for name, counted in frames.items()],
            ),
        )

    def show_watchdog_counters(self, form: str = "text") -> str:
        """Queues that were stuck; one that never was is left out."""
        require_json(form)
        stuck = self._by_queue("fabric_pfc_watchdog_storms_detected_total", "priority")
        interfaces: dict[str, Json] = {}
        for (port, priority), count in stuck.items():
            if count:
                queues = interfaces.setdefault(native_name(port), {"txQueues": {}})["txQueues"]
                queues[priority] = {"stuckCount": int(count)}
        return json_text({"interfaces": interfaces})

    def show_ecn_counters(self, interface: str = "", form: str = "text") -> str:
        require_json(form)
        marked, marking = self._by_queue(f"{QUEUE}ecn_marked_packets_total"), marking_queues(self.device.running())
        return json_text(
            {
                "intfQueueCounters": {
                    native_name(name): {"queueCounters": _marks(name, marked, marking.get(name, ()))}
                    for name in self._names(interface)
                }
            }
        )

    def show_queue_drops(self, interface: str = "", form: str = "text") -> str:
        readings = SwitchReadings(self.device)
        names = self._names(interface)
        return answer(
            form,
            None,
            lambda: table(
                "{:<10} {:>16} {:>16} {:>16}",
                ("Port", "InDroppedPkts", "OutUcDroppedPkts", "OutMcDroppedPkts"),
                [
                    (
                        short_name(name),
                        int(readings.of_port("fabric_interface_receive_discards_total", name)),
                        int(readings.of_port(f"{QUEUE}dropped_packets_total", name)),
                        0,
                    )
                    for name in names
                ],
            ),
        )

    def show_queue_detail(self, interface: str = "", form: str = "text") -> str:
        metrics = ("transmit_packets", "transmit_bytes", "dropped_packets", "dropped_bytes")
        columns = [self._by_queue(f"{QUEUE}{metric}_total") for metric in metrics]
        return answer(
            form,
            None,
            lambda: table(
                "{:<10} {:<5} {:>18} {:>18} {:>18} {:>18}",
                ("Port", "TxQ", "Counter/pkts", "Counter/bytes", "Drop/pkts", "Drop/bytes"),
                [
                    (short_name(name), f"UC{queue}", *(int(column.get((name, queue), 0)) for column in columns))
                    for name in self._names(interface)
                    for queue in QUEUES
                ],
            ),
        )


@lru_cache(maxsize=64)
def marking_queues(running: str) -> Mapping[str, Sequence[str]]:
    """Queues with ECN by port, in a running configuration."""
    qos = parse(running).qos
    return {} if qos is None else {port.interface: _queues(qos, port.ecn) for port in qos.ports}


def _queues(qos: Qos, classes: Sequence[str]) -> tuple[str, ...]:
    queues = {each.name: str(each.queue) for each in qos.classes}
    return tuple(queues[name] for name in classes if name in queues)


def _marks(port: str, marked: Values, queues: Sequence[str]) -> dict[str, str]:
    return {queue: str(int(marked.get((port, queue), 0))) if queue in queues else UNMARKED for queue in QUEUES}
