"""Counters that orchagent polls: groups of FLEX_COUNTER_TABLE, of which that of ECN's marks is off at first.

SONiC, doc/qos/ECN_and_WRED_statistics_HLD.md; sonic-utilities, counterpoll/main.py.
"""

from __future__ import annotations

from railfab.platforms.sonic.tables import Tables, merged, row

TABLE, MARKS = "FLEX_COUNTER_TABLE", "WRED_ECN_QUEUE"
STATUS, ENABLED, DISABLED = "FLEX_COUNTER_STATUS", "enable", "disable"
MARK_METRICS = frozenset(("fabric_queue_ecn_marked_packets_total", "fabric_queue_ecn_marked_bytes_total"))


def uncounted(tables: Tables) -> frozenset[str]:
    """The metrics whose counters stay in the chip."""
    return frozenset() if row(tables, TABLE, MARKS).get(STATUS) == ENABLED else MARK_METRICS


def without_marks(tables: Tables) -> Tables:
    """The configuration without the group of marks, which has its effect in `uncounted`."""
    others = {name: fields for name, fields in tables.get(TABLE, {}).items() if name != MARKS}
    return {**{name: rows for name, rows in tables.items() if name != TABLE}, **({TABLE: others} if others else {})}


def with_marks(tables: Tables, status: str) -> Tables:
    """The configuration with this status of the counters of marks."""
    return merged((tables, {TABLE: {MARKS: {STATUS: status}}}))
