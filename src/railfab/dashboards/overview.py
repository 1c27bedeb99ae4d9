"""The overview board: health, load, congestion, sessions and alerts of a fabric."""

from __future__ import annotations

from collections.abc import Iterator

from grafana_foundation_sdk.builders import dashboard, stat, table, timeseries
from grafana_foundation_sdk.models.dashboard import Dashboard, DashboardCursorSync, VariableRefresh, VariableSort

from railfab.dashboards.panels import (
    DATASOURCE,
    GREEN,
    ORANGE,
    RED,
    PanelText,
    Query,
    graph,
    limited,
    listing,
    tile,
    value_names,
)
from railfab.dashboards.promql import SELECTED, growth, pace, peak, selected, signal, unit

UID = "railfab-overview"
STALE_AFTER_S = 60

ECN_MARKS = "fabric_queue_ecn_marked_packets_total"
PFC_SENT = "fabric_pfc_transmit_frames_total"
PFC_RECEIVED = "fabric_pfc_receive_frames_total"
DROPS = "fabric_pfc_dropped_packets_total"
QUEUE_DROPS = "fabric_queue_dropped_packets_total"
LOSSLESS_QUEUE = selected("fabric_roce_queue_info", 'priority!=""')
QUEUE_DEPTH, QUEUE_PEAK = "fabric_queue_depth_bytes", "fabric_queue_depth_peak_bytes"
RAILS = selected("rail:fabric_transmit_bytes:rate1m")
BGP_STATES = {
    "1": ("idle", RED),
    "2": ("connect", ORANGE),
    "3": ("active", ORANGE),
    "4": ("opensent", ORANGE),
    "5": ("openconfirm", ORANGE),
    "6": ("established", GREEN),
}
BFD_STATES = {"0": ("down", RED), "1": ("up", GREEN)}

AnyPanel = stat.Panel | timeseries.Panel | table.Panel


def overview_board() -> Dashboard:
    """The board, from top to bottom: health, load, congestion, sessions and alerts."""
    board = dashboard.Dashboard("Fabric overview").uid(UID).tags(["railfab"])
    board.description("Health, load, congestion, sessions and alerts of fabrics.").refresh("10s").timezone("browser")
    board.time("now-30m", "now").tooltip(DashboardCursorSync.CROSSHAIR)
    board.with_variable(dashboard.DatasourceVariable("datasource").label("Prometheus").type("prometheus"))
    board.with_variable(_fabrics())
    panels: tuple[AnyPanel, ...] = (*_state(), *_load(), *_congestion(), *_tables(), *_pace())
    for number, panel in enumerate(panels, start=1):
        board.with_panel(panel.id(number))
    return board.build()


def _fabrics() -> dashboard.QueryVariable:
    """The fabrics to show. All of them includes the targets that are of none, which have no label of it."""
    fabrics = dashboard.QueryVariable("fabric").label("Fabric").datasource(DATASOURCE)
    fabrics.query("label_values(fabric_collector_session_up, fabric)").refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
    return fabrics.multi(True).include_all(True).all_value(".*").sort(VariableSort.ALPHABETICAL_ASC)


def _state() -> Iterator[stat.Panel]:
    sessions = tile(
        PanelText(
            title="BGP sessions", description="Session ends that are established, and that are down.", unit="none"
        ),
        Query(f"sum({selected('fabric_bgp_session_up')})", "up"),
        Query(f"sum({selected('fabric_bgp_session_up')} == bool 0)", "down"),
    )
    yield limited(sessions, "B", [(1, RED)])
    yield tile(
        PanelText(title="Links down", description="Interfaces that are enabled but down.", unit="none"),
        Query(
            f"sum(({selected('fabric_interface_admin_up')} - {selected('fabric_interface_oper_up')}) > bool 0)", "down"
        ),
        limits=[(1, RED)],
    )
    yield from _marks_and_drops()
    yield tile(
        PanelText(
            title="Stale devices",
            description=f"Devices without telemetry session or without update for {STALE_AFTER_S} s.",
            unit="none",
        ),
        Query(_stale_devices(), "stale"),
        limits=[(1, RED)],
    )


def _marks_and_drops() -> Iterator[stat.Panel]:
    yield tile(
        PanelText(
            title="ECN marks",
            description="Packets marked because a queue was above kmin. Bursts under incast are normal.",
            unit=unit(ECN_MARKS),
        ),
        Query(f"sum({signal(ECN_MARKS)})", "marked"),
    )
    yield tile(
        PanelText(
            title="PFC frames",
            description="Pause frames sent and received by switches. Zero without congestion.",
            unit=unit(PFC_SENT),
        ),
        Query(f"sum({signal(PFC_SENT)})", "sent"),
        Query(f"sum({signal(PFC_RECEIVED)})", "received"),
    )
    yield tile(
        PanelText(
            title="Lossless drops",
            description="Packets of lossless classes dropped in the time range, on arrival or in their queue."
            " Any drop is a fault.",
            unit="none",
        ),
        Query(
            f"sum({growth(DROPS)} or {growth(QUEUE_DROPS)} and on (fabric, device, queue) {LOSSLESS_QUEUE})", "dropped"
        ),
        limits=[(1, RED)],
    )


def _stale_devices() -> str:
    silent = f"(time() - {selected('fabric_collector_last_update_timestamp_seconds')}) > bool {STALE_AFTER_S}"
    return f"sum(max by (fabric, device) (({silent}) or ({selected('fabric_collector_session_up')} == bool 0)))"


def _load() -> Iterator[timeseries.Panel]:
    most, least = (f"{function} by (fabric) ({RAILS})" for function in ("max", "min"))
    yield graph(
        PanelText(
            title="Throughput by rail",
            description="Traffic from rail switches to hosts, by rail. A job loads all rails equally.",
            unit="bps",
        ),
        Query(f"8 * {RAILS}", "{{fabric}} rail {{rail}}"),
        width=16,
    )
    yield graph(
        PanelText(
            title="Rail skew",
            description="Difference between the most and the least loaded rail. Above 25 % for long: a broken"
            " or miscabled NIC, or rings that do not span all rails.",
            unit="percentunit",
        ),
        Query(f"({most} - {least}) / ({most} > 0)", "{{fabric}}"),
        at_most=1,
    )
    yield graph(
        PanelText(
            title="Spread under ECMP",
            description="Coefficient of variation of the load of a device's uplinks, and of its links to each neighbour"
            " of the tier below. 0 is even; above 0.3 few flows or a poor hash overload some links while others are"
            " idle.",
            unit="none",
        ),
        Query(
            selected("device_peer_device:fabric_ecmp_transmit:cov_rate1m"),
            "{{fabric}} {{device}} {{link}} {{peer_device}}",
        ),
    )
    yield from _busiest()


def _busiest() -> Iterator[timeseries.Panel]:
    yield graph(
        PanelText(
            title="Busiest ports",
            description="The eight ports with the highest transmit utilisation.",
            unit="percentunit",
        ),
        Query(
            f"topk(8, {selected('device_interface:fabric_transmit_utilization:ratio_rate1m')})",
            "{{fabric}} {{device}} {{interface}}",
        ),
        at_most=1,
    )
    yield graph(
        PanelText(
            title="Queue depth, peak",
            description="Deepest egress queue by device and traffic class; of samples, where a switch counts no peaks."
            " Compare with kmin, where ECN marking starts, and with xoff.",
            unit=unit(QUEUE_PEAK),
        ),
        Query(
            f"max by (fabric, device, queue) ({peak(QUEUE_PEAK)} or {peak(QUEUE_DEPTH)})",
            "{{fabric}} {{device}} {{queue}}",
        ),
    )


def _pace() -> Iterator[timeseries.Panel]:
    yield graph(
        PanelText(
            title="Pace of the twin",
            description="Simulated seconds a second. Rates are those of a simulated second, so that a twin that falls"
            " behind shows the rates of the fabric. Hardware has no pace.",
            unit="percentunit",
            empty="no twin",
        ),
        Query(f"avg by (fabric) ({pace('$__rate_interval', SELECTED)})", "{{fabric}}"),
        width=24,
    )


def _congestion() -> Iterator[timeseries.Panel]:
    yield graph(
        PanelText(
            title="ECN ratio",
            description="Share of marked packets, of the queue of each device with the highest share. More than 5 %"
            " for long is congestion that senders do not resolve.",
            unit="percentunit",
        ),
        Query(
            f"max by (fabric, device, queue) ({selected('device_interface_queue:fabric_ecn_marked:ratio_rate1m')})",
            "{{fabric}} {{device}} {{queue}}",
        ),
    )
    yield graph(
        PanelText(
            title="PFC frames sent",
            description="Pause frames by sending device. Congestion starts at a device that sends pause frames and"
            " is not paused itself.",
            unit=unit(PFC_SENT),
        ),
        Query(selected("device:fabric_pfc_transmit_frames:rate1m"), "{{fabric}} {{device}}"),
    )
    yield graph(
        PanelText(
            title="Paused time, estimated",
            description="Share of time that the most paused port of each device was paused. An upper bound: every"
            " counted frame is assumed to pause for the maximum time at port speed.",
            unit="percentunit",
        ),
        Query(
            "max by (fabric, device, priority)"
            f" ({selected('device_interface_priority:fabric_pfc_paused_estimated:ratio_rate1m')})",
            "{{fabric}} {{device}} priority {{priority}}",
        ),
        at_most=1,
    )


def _tables() -> Iterator[table.Panel]:
    sessions = listing(
        PanelText(
            title="BGP and BFD sessions",
            description="State of each session on the device; an unnumbered session is named by its interface.",
            unit="none",
        ),
        Query(f"max by (fabric, device, peer) ({selected('fabric_bgp_session_state')})", ""),
        Query(f"max by (fabric, device, peer) ({selected('fabric_bfd_session_up')})", ""),
        columns={"fabric": "Fabric", "device": "Device", "peer": "Peer", "Value #A": "BGP", "Value #B": "BFD"},
        first="BGP",
        width=12,
    )
    yield value_names(value_names(sessions, "BGP", BGP_STATES), "BFD", BFD_STATES)
    yield listing(
        PanelText(
            title="Active alerts",
            description="Alerts that are firing or pending.",
            unit="none",
            empty="none",
        ),
        Query(f"max by (alertstate, severity, alertname, fabric, device, interface, peer) ({selected('ALERTS')})", ""),
        columns={
            "alertstate": "State",
            "severity": "Severity",
            "alertname": "Alert",
            "fabric": "Fabric",
            "device": "Device",
            "interface": "Interface",
            "peer": "Peer",
        },
        first="State",
        width=12,
    )
