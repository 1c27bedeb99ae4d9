"""What /targets shows: each target, its state and why, for machines and for people."""

from __future__ import annotations

import html
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from railfab.telemetry.health import SessionState
from railfab.telemetry.session import TargetSession
from railfab.text.counted import counted
from railfab.text.printable import printable

Parts = Mapping[str, bool | Mapping[str, str | float]]
"""Parts of a collector, and whether each is as it should be; of what slows it down, what it is."""
UNKNOWN = "unknown"
"""State of what stands for the targets of a shard that does not answer."""
NOT_DIALED = "not dialed yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetStatus:
    """One target. address: host and port of gNMI, empty without an endpoint. state: a `SessionState` in lower case, or
    UNKNOWN.

    receiver: that of `fabric_collector_receiver_info`. encoding: those in which the target is asked, empty without an
    endpoint. interval_s: between its samples [s]; None where it is not known.

    series: that are known, also those not scraped yet. age_s: since the last sampled update [s], None before the first.
    error: why the session ended the last time, or that none was begun; empty while it is up. overloaded: whether its
    collector is.
    """

    name: str
    platform: str
    address: str
    state: str
    receiver: str
    encoding: str
    interval_s: float | None
    series: int
    age_s: float | None
    reconnects: int
    error: str
    overloaded: bool
    labels: dict[str, str]


def target_statuses(sessions: Iterable[TargetSession]) -> list[TargetStatus]:
    """The targets, those that are not up first, then by name."""
    return in_order(_status(session) for session in sessions)


def in_order(statuses: Iterable[TargetStatus]) -> list[TargetStatus]:
    """Those that are not up first, then by name."""
    return sorted(statuses, key=lambda status: (status.state == SessionState.UP.name.lower(), status.name))


def _status(session: TargetSession) -> TargetStatus:
    endpoint, health = session.endpoint, session.health
    return TargetStatus(
        name=session.name,
        platform=session.platform,
        address=f"{endpoint.host}:{endpoint.gnmi_port}" if endpoint else "",
        state=health.state.name.lower(),
        receiver=session.receiver,
        encoding=", ".join(session.encodings) if endpoint else "",
        interval_s=session.interval_s,
        series=len(session.store),
        age_s=round(time.time() - health.last_update_s, 1) if health.last_update_s else None,
        reconnects=health.reconnects,
        error=NOT_DIALED if health.state is SessionState.IDLE else health.last_error,
        overloaded=session.collector_is_overloaded,
        labels=dict(session.labels),
    )


def as_json(statuses: Iterable[TargetStatus]) -> list[dict[str, object]]:
    """The targets as JSON objects."""
    return [asdict(status) for status in statuses]


PAGE = """<!doctype html>
<title>Targets</title>
<style>body {{font-family: sans-serif}} td, th {{padding: .2em .8em; text-align: left}}
tr:nth-child(even) {{background: #eee}}</style>
<h1>Targets</h1>
{overload}<table>
{rows}</table>
"""
OVERLOADED = "it reads them later than they send, keeps their sessions, and dials no other"
COLUMNS = (
    "name",
    "platform",
    "address",
    "state",
    "receiver",
    "encoding",
    "interval_s",
    "series",
    "age_s",
    "reconnects",
    "error",
)


def as_html(statuses: Iterable[TargetStatus]) -> str:
    """The targets as a page with a table."""
    statuses = list(statuses)
    rows = [_row("th", COLUMNS)]
    rows += (_row("td", (getattr(status, column) for column in COLUMNS)) for status in statuses)
    late = sum(status.overloaded for status in statuses)
    overload = f"<p>{counted(late, 'target')} of a collector that is overloaded: {OVERLOADED}.</p>\n" if late else ""
    return PAGE.format(overload=overload, rows="".join(rows))


def _row(cell: str, values: Iterable[object]) -> str:
    return f"<tr>{''.join(f'<{cell}>{_cell(value)}</{cell}>' for value in values)}</tr>\n"


def _cell(value: object) -> str:
    return "" if value is None else html.escape(printable(str(value)))
