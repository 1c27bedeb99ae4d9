"""Show commands for the ports of a virtual SONiC switch. Layouts: sonic-utilities, intfutil, portstat and sfpshow."""

from __future__ import annotations

import json

from railfab.platforms.shared.virtual_readings import SwitchReadings
from railfab.platforms.sonic.shell_login import NOT_AVAILABLE, SonicLogin, addresses
from railfab.platforms.sonic.tables import SEPARATOR, Tables, row
from railfab.platforms.sonic.tabulated import table
from railfab.platforms.twin_face import VirtualPort

DEFAULT_MTU = 9100
"""MTU of a port that states none (sonic-port, default of the switch's own CLI) [bytes]."""
STATES = {True: "up", False: "down"}
STATUS = ("Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Vlan", "Oper", "Admin", "Type", "Asym PFC")
DESCRIPTION = ("Interface", "Oper", "Admin", "Alias", "Description")
DIRECTIONS = {"RX": "receive", "TX": "transmit"}
RATES = ("BPS", "UTIL")
"""Columns of rates, which a virtual switch does not compute: it has no table RATES in COUNTERS_DB."""
ERRORS = ("ERR", "DRP", "OVR")
COUNTED = {"OK": "packets", "ERR": "errors", "DRP": "discards"}
"""Columns of counters; that of oversized packets (OVR) is not counted."""


class SonicPortShows(SonicLogin):
    """The commands for ports."""

    def interface_status(self, interface: str | None = None) -> str:
        tables = self.tables()
        return table(STATUS, [_status(tables, port) for port in self.ports(interface)], right=True)

    def interface_description(self, interface: str | None = None) -> str:
        tables = self.tables()
        return table(DESCRIPTION, [_description(tables, port) for port in self.ports(interface)], right=True)

    def presence(self, interface: str | None = None) -> str:
        """Ports with a transceiver: a virtual switch has one in each."""
        return table(("Port", "Presence"), [(port.name, "Present") for port in self.ports(interface)])

    def counters(self, interface: str | None = None) -> str:
        return self._counters(interface, ("OK", *RATES, *ERRORS))

    def counters_json(self, interface: str | None = None) -> str:
        header, rows = self._counter_rows(interface, ("OK", *RATES, *ERRORS))
        shown = {name: dict(zip(header[1:], cells, strict=True)) for name, *cells in rows}
        return json.dumps(shown, indent=4, sort_keys=True)

    def error_counters(self) -> str:
        return self._counters(None, ERRORS)

    def _counters(self, interface: str | None, columns: tuple[str, ...]) -> str:
        header, rows = self._counter_rows(interface, columns)
        return table(header, rows, right=True)

    def _counter_rows(
        self, interface: str | None, columns: tuple[str, ...]
    ) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        readings, tables = self.readings(), self.tables()
        header = ("IFACE", "STATE", *(f"{way}_{column}" for way in DIRECTIONS for column in columns))
        rows = [
            (
                port.name,
                _state(tables, port),
                *(_count(readings, port.name, way, column) for way in DIRECTIONS.values() for column in columns),
            )
            for port in self.ports(interface)
        ]
        return header, rows


def is_enabled(tables: Tables, port: VirtualPort) -> bool:
    return row(tables, "PORT", port.name).get("admin_status") == "up"


def _state(tables: Tables, port: VirtualPort) -> str:
    """`U`, `D`, or `X` of a disabled port."""
    if not is_enabled(tables, port):
        return "X"
    return "D" if port.fault else "U"


def _count(readings: SwitchReadings, port: str, way: str, column: str) -> str:
    if column not in COUNTED:
        return NOT_AVAILABLE
    return f"{readings.of_port(f'fabric_interface_{way}_{COUNTED[column]}_total', port):,.0f}"


def _status(tables: Tables, port: VirtualPort) -> tuple[str, ...]:
    fields = row(tables, "PORT", port.name)
    texts = (fields.get("lanes", ""), _speed(port), fields.get("mtu", str(DEFAULT_MTU)))
    oper, admin, alias = _states(tables, port)
    pfc = fields.get("pfc_asym", NOT_AVAILABLE)
    fec = fields.get("fec", NOT_AVAILABLE)
    return (port.name, *texts, fec, alias, _vlan(tables, port.name), oper, admin, NOT_AVAILABLE, pfc)


def _description(tables: Tables, port: VirtualPort) -> tuple[str, ...]:
    description = row(tables, "PORT", port.name).get("description", NOT_AVAILABLE)
    return (port.name, *_states(tables, port), description)


def _states(tables: Tables, port: VirtualPort) -> tuple[str, str, str]:
    """Operational and administrative state, and alias."""
    alias = row(tables, "PORT", port.name).get("alias", port.name)
    return STATES[not port.fault], STATES[is_enabled(tables, port)], alias


def _speed(port: VirtualPort) -> str:
    speed_mbps = int(port.rate_gbps * 1000)
    return f"{speed_mbps // 1000}G" if speed_mbps % 1000 == 0 else f"{speed_mbps}M"


def _vlan(tables: Tables, name: str) -> str:
    """The LAG of a port, or whether it routes."""
    members = (key.split(SEPARATOR) for key in tables.get("PORTCHANNEL_MEMBER", {}))
    if lag := next((lag for lag, member in members if member == name), None):
        return lag
    routed = name in tables.get("INTERFACE", {}) or any(each == name for each, _ in addresses(tables))
    return "routed" if routed else "trunk"
