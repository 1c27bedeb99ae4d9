"""Queuing policies of ports with the counters of their classes, as a virtual switch with NX-OS shows them.

Text: recorded from a Nexus 9000; the index of a policy in SNMP, which a virtual switch does not have, is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from railfab.device import DeviceModel
from railfab.platforms.nxos.lines import FORMAT
from railfab.platforms.nxos.show_ports import NxosPort
from railfab.platforms.nxos.show_text import as_lines, require_text
from railfab.platforms.nxos.shows_qos import queue_labels
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.virtual_readings import SwitchReadings
from railfab.platforms.twin_face import VirtualDevice

SERVICE, POLICY = "service-policy type queuing output ", "policy-map type queuing "
CLASS, DEFAULT = "class type queuing ", "-default"


class PolicyShows:
    """Commands that show policies; NxosShows derives from it. port: as typed; all without one."""

    device: VirtualDevice
    model: Callable[[], DeviceModel]
    front_panel: Callable[[str], list[NxosPort]]

    def show_queuing_policies(self, port: str = "", form: str = "text") -> str:
        require_text(form)
        lines = FORMAT.tree(self.device.running())
        policies = {line.text.removeprefix(POLICY): line.children for line in lines if line.text.startswith(POLICY)}
        labels, readings = queue_labels(self.model().qos), SwitchReadings(self.device)
        shown = ["", "", "Global statistics status :   enabled", ""]
        for each in self.front_panel(port):
            name = _service(lines, f"interface {each.name}") or _service(lines, "system qos")
            if name in policies:
                shown += [each.name, "", f"  Service-policy (queuing) output:   {name} ", ""]
                shown += _classes(each.name, policies[name], labels, readings)
        return as_lines(shown)


def _service(lines: Sequence[Line], section: str) -> str | None:
    """The output queuing policy of a section."""
    stated = (child.text for line in lines if line.text == section for child in line.children)
    return next((text.removeprefix(SERVICE) for text in stated if text.startswith(SERVICE)), None)


def _classes(port: str, classes: Sequence[Line], labels: dict[int, str], readings: SwitchReadings) -> Iterator[str]:
    for line in classes:
        name = line.text.removeprefix(CLASS)
        group = 0 if name.endswith(DEFAULT) else int(name[-1])
        yield f"    Class-map (queuing):   {name} (match-any)"
        yield from (f"      {statement.text}" for statement in line.children)
        queue = {"interface": port, "queue": labels.get(group, "")}
        dropped = readings.by("fabric_queue_dropped_packets_total", **queue).get((), 0)
        depth = readings.by("fabric_queue_depth_bytes", **queue).get((), 0)
        yield from (f"      queue dropped pkts : {int(dropped)} ", f"      queue depth in bytes : {int(depth)} ", "")
