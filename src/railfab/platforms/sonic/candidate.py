"""The tables that a switch has after a deploy: what the text states, and what is the operator's (see `scope`).

Tables that are neither the fabric's nor stated stay, as do ports' fields of the hardware, fields of the switch itself
and features that the text does not state; LLDP, by which cables are verified, is not left switched off. A text with the
address of the switch is of a whole configuration, which is restored table by table.
"""

from __future__ import annotations

from railfab.platforms.sonic.scope import FABRIC, HARDWARE_FEC, HOST, PORT_FIELDS
from railfab.platforms.sonic.tables import DOWN, FALSE, TRUE, UP, Row, Table, Tables

OPTIONAL = ("fec", "speed", "mtu")
"""Fields of a port that stay as they are where the text leaves them out."""

LLDP_TABLES, OFF = ("LLDP", "LLDP_PORT"), ("enabled", FALSE)


def candidate(running: Tables, stated: Tables) -> Tables:
    """The tables of the switch with those of a text."""
    kept = {name: table for name, table in running.items() if name not in FABRIC and name not in stated}
    if "mac" in stated.get("DEVICE_METADATA", {}).get(HOST, {}):
        return {name: table for name, table in {**kept, **stated}.items() if table}
    kept |= {name: _sending(kept[name]) for name in LLDP_TABLES if name in kept}
    tables = {name: _table(name, running.get(name, {}), table) for name, table in stated.items()}
    ports = {"PORT": _ports(running.get("PORT", {}), stated.get("PORT", {}))}
    unsplit = {} if "BREAKOUT_CFG" in stated else {"BREAKOUT_CFG": running.get("BREAKOUT_CFG", {})}
    return {name: table for name, table in {**kept, **unsplit, **tables, **ports}.items() if table}


def _table(name: str, running: Table, stated: Table) -> Table:
    if name == "DEVICE_METADATA":
        return running | stated | {HOST: running.get(HOST, {}) | stated.get(HOST, {})}
    if name in ("FEATURE", "BREAKOUT_CFG"):
        return running | {row: running.get(row, {}) | fields for row, fields in stated.items()}
    return stated


def _sending(table: Table) -> Table:
    """A table of LLDP without what switches it off."""
    rows = {
        row: {name: value for name, value in fields.items() if (name, value) != OFF} for row, fields in table.items()
    }
    return {row: fields for row, fields in rows.items() if fields}


def _ports(running: Table, stated: Table) -> Table:
    """The ports: those that the text does not have are disabled where they are up, and none is removed."""
    unused = {
        port: fields | ({"admin_status": DOWN} if fields.get("admin_status") == UP else {})
        for port, fields in running.items()
    }
    return unused | {port: _port(running.get(port, {}), fields) for port, fields in stated.items()}


def _port(running: Row, stated: Row) -> Row:
    hardware = {name: value for name, value in running.items() if name not in PORT_FIELDS or name == "index"}
    optional = {name: running[name] for name in OPTIONAL if name in running}
    if optional.get("fec", HARDWARE_FEC) != HARDWARE_FEC:
        del optional["fec"]
    return hardware | optional | stated


def restoring(running: Tables, after: Tables) -> Tables:
    """The running tables as a text that restores them: tables that a candidate adds are stated as empty."""
    return {name: {} for name in after} | running


SHUTDOWN, MODE = ("BGP_GLOBALS", "default", "graceful_shutdown"), ("BGP_DEVICE_GLOBAL", "STATE", "tsa_enabled")
"""Fields of a drain: what neighbours see (RFC 8326), and the switch's mode of maintenance, which has no effect on
frrcfgd and so marks a drain by a verb."""


def is_drained(tables: Tables) -> bool:
    """Whether a verb has drained the switch."""
    return all(tables.get(table, {}).get(row, {}).get(field) == TRUE for table, row, field in (SHUTDOWN, MODE))


def drained(tables: Tables) -> Tables:
    """The tables with a drain by a verb."""
    for table, row, field in (SHUTDOWN, MODE):
        rows = tables.get(table, {})
        tables = tables | {table: rows | {row: rows.get(row, {}) | {field: TRUE}}}
    return tables


def undrained(tables: Tables) -> Tables:
    """The tables without a drain."""
    for table, row, field in (SHUTDOWN, MODE):
        rows = dict(tables.get(table, {}))
        fields = {name: value for name, value in rows.pop(row, {}).items() if name != field}
        rows |= {row: fields} if fields else {}
        tables = {name: rows if name == table else present for name, present in tables.items()}
    return {name: rows for name, rows in tables.items() if rows}
