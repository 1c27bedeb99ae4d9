"""Interfaces, as a virtual switch with NX-OS shows them.

Texts: recorded by ntc-templates; keys of the JSON: recorded by NAPALM, and by readers of NX-API.
"""

from __future__ import annotations

from collections.abc import Iterable

from railfab.device import DeviceModel
from railfab.platforms.nxos.interface_text import interface_text
from railfab.platforms.nxos.parse import parse
from railfab.platforms.nxos.show_ports import NxosPort, counters, port_name, shown_ports
from railfab.platforms.nxos.show_rows import Json, interface_row, short_name, status_row, table
from railfab.platforms.nxos.show_text import as_json, as_lines, is_json, require_json, require_text, ruled, since
from railfab.platforms.shared.virtual_readings import SwitchReadings
from railfab.platforms.twin_face import VirtualDevice

_STATUS = "Port          Name               Status    Vlan      Duplex  Speed   Type"
_BRIEF = (
    "Ethernet      VLAN    Type Mode   Status  Reason                   Speed     Port",
    "Interface                                                                    Ch #",
)
_ERRORS = "Port          Align-Err    FCS-Err   Xmit-Err    Rcv-Err  UnderSize OutDiscards"
_COUNTED = (
    ("InOctets", "eth_inbytes", "InUcastPkts", "eth_inucast"),
    ("InMcastPkts", "eth_inmcast", "InBcastPkts", "eth_inbcast"),
    ("OutOctets", "eth_outbytes", "OutUcastPkts", "eth_outucast"),
    ("OutMcastPkts", "eth_outmcast", "OutBcastPkts", "eth_outbcast"),
)
"""Titles and keys of the tables of `show interface counters`."""
_LAST_CHANGE = "fabric_interface_last_change_timestamp_seconds"


class InterfaceShows:
    """Commands that show interfaces; NxosShows derives from it. port: as typed; all without one."""

    device: VirtualDevice

    def model(self) -> DeviceModel:
        """The model of the running configuration."""
        return parse(self.device.running())

    def selected(self, port: str) -> list[NxosPort]:
        """The interfaces that a command is about. Raises CliRefusal for one that the switch does not have."""
        shown = shown_ports(self.device, self.model())
        return [shown[port_name(port, shown)]] if port else list(shown.values())

    def front_panel(self, port: str) -> list[NxosPort]:
        """The ports among the interfaces that a command is about."""
        return [shown for shown in self.selected(port) if shown.port]

    def show_interfaces(self, port: str = "", form: str = "text") -> str:
        readings = SwitchReadings(self.device)
        rows = [self._row(shown, readings) for shown in self.selected(port)]
        return as_json(table("interface", rows)) if is_json(form) else "\n".join(map(interface_text, rows))

    @staticmethod
    def _row(shown: NxosPort, readings: SwitchReadings) -> Json:
        if shown.port is None:
            return interface_row(shown, {})
        changed_s = readings.of_port(_LAST_CHANGE, shown.port.name)
        return interface_row(
            shown, {"eth_link_flapped": since(changed_s or None), **counters(readings, shown.port.name)}
        )

    def show_status(self, port: str = "", form: str = "text") -> str:
        rows = [status_row(shown) for shown in self.front_panel(port)]
        if is_json(form):
            return as_json(table("interface", rows))
        columns = "{interface:<13} {name:<18} {state:<9} {vlan:<9} {duplex:<7} {speed:<7} {type}"
        shortened = ({**row, "interface": short_name(row["interface"]), "name": row["name"][:18]} for row in rows)
        return as_lines([*ruled(_STATUS), *(columns.format_map(row) for row in shortened)])

    def show_brief(self, port: str = "", form: str = "text") -> str:
        require_text(form)
        shown = self.selected(port)
        ports = [_brief(each) for each in shown if each.port]
        loopbacks = [
            f"{each.name.replace('loopback', 'Lo'):<13} {_state(each):<10} {each.description or '--'}"
            for each in shown
            if not each.port
        ]
        return as_lines(
            [*_listed(ruled(*_BRIEF), ports), *_listed(ruled("Interface     Status     Description"), loopbacks)]
        )

    def show_descriptions(self, port: str = "", form: str = "text") -> str:
        require_text(form)
        shown = self.selected(port)
        ports = [
            f"{short_name(each.name):<13} {'eth':<6} {f'{each.port.rate_gbps:g}G':<7} {each.description or '--'}"
            for each in shown
            if each.port
        ]
        rest = [
            f"{each.name.replace('loopback', 'Lo'):<24} {each.description or '--'}" for each in shown if not each.port
        ]
        return as_lines(
            [
                *_listed(ruled("Port          Type   Speed   Description"), ports),
                *_listed(ruled("Interface                Description"), rest),
            ]
        )

    def show_counters(self, port: str = "", form: str = "text") -> str:
        counted = self._counted(port)
        if is_json(form):
            return as_json({**_counter_table("rx", "in", counted), **_counter_table("tx", "out", counted)})
        lines: list[str] = []
        for left, left_key, right, right_key in _COUNTED:
            rows = [f"{short_name(name):<12} {row[left_key]:>36} {row[right_key]:>32}" for name, row in counted]
            lines += [*ruled(f"{'Port':<12} {left:>36} {right:>32}"), *rows]
        return as_lines(lines)

    def show_counters_detailed(self, port: str = "", form: str = "text") -> str:
        """The counters that are not 0."""
        require_json(form)
        rows = [{"interface": name, **dict(filter(_is_counted, row.items()))} for name, row in self._counted(port)]
        return as_json(table("interface", rows))

    def show_counter_errors(self, port: str = "", form: str = "text") -> str:
        require_text(form)
        rows = [
            f"{short_name(name):<12} {'0':>10} {row['eth_crc']:>10} {row['eth_outerr']:>10} {row['eth_inerr']:>10} "
            f"{'0':>10} {row['eth_outdiscard']:>11}"
            for name, row in self._counted(port)
        ]
        return as_lines([*ruled(_ERRORS), *rows])

    def _counted(self, port: str) -> list[tuple[str, dict[str, str]]]:
        readings = SwitchReadings(self.device)
        return [(shown.name, counters(readings, shown.name)) for shown in self.front_panel(port)]


def _is_counted(counter: tuple[str, str]) -> bool:
    return counter[0] != "eth_reset_cntr" and counter[1] != "0"


def _listed(header: list[str], rows: list[str]) -> list[str]:
    return [*header, *rows] if rows else []


def _state(shown: NxosPort) -> str:
    return "up" if shown.oper_up else "down"


def _brief(shown: NxosPort) -> str:
    vlan, mode = ("--", "routed") if shown.is_routed else ("1", "access")
    speed = f"{shown.port.rate_gbps:g}G(D)" if shown.port else "--"
    return (
        f"{short_name(shown.name):<13} {vlan:<7} {'eth':<4} {mode:<6} {_state(shown):<7} "
        f"{shown.reason or 'none':<24} {speed:>9} --"
    )


def _counter_table(side: str, way: str, counted: Iterable[tuple[str, dict[str, str]]]) -> Json:
    """The rows of a direction: each port has one of bytes and one of packets."""
    of_bytes, of_packets = ("bytes", "ucast"), ("mcast", "bcast")
    rows = [
        {f"interface_{side}": name, **{f"eth_{way}{key}": row[f"eth_{way}{key}"] for key in keys}}
        for name, row in counted
        for keys in (of_bytes, of_packets)
    ]
    return table(f"{side}_counters", rows)
