"""The observation itself: targets, freshness and the collector's own state."""

from __future__ import annotations

from railfab.dashboards.board import GREEN, ORANGE, RED, Board, Graph, Listing, Query, StateTimeline, Tile
from railfab.dashboards.boards.parts import SILENT_DEVICES
from railfab.dashboards.promql import OF_DEVICES
from railfab.dashboards.selection import CHAIN, STEP, growth, selector

OF_DEVICE = "{{fabric}} {{device}}"
SESSION_STATES = {
    "0": ("not dialed", ORANGE),
    "1": ("connecting", ORANGE),
    "2": ("syncing", ORANGE),
    "3": ("up", GREEN),
    "4": ("retrying", RED),
    "5": ("refused", RED),
}
UP = selector("fabric_collector_session_up")
STATE = selector("fabric_collector_session_state")
LAST = selector("fabric_collector_last_update_timestamp_seconds")
INTERVAL = selector("fabric_collector_sample_interval_seconds")


def _own_rate(name: str, *matchers: str) -> str:
    """A rate of the collector: in real time, on a twin too."""
    return f"rate({selector(name, *matchers)}[{STEP}])"


COLLECTOR = Board(
    name="collector",
    title="Collector",
    question="Is everything observed, and can the numbers be trusted?",
    reading=(
        "All targets up and no age above three intervals: what the other boards show is the present. A target that"
        " retries names its reason in the errors. One that lags has a slow control plane; all of them together, a"
        " collector with too little CPU."
    ),
    variables=CHAIN,
    panels=(
        Tile(
            title="Targets",
            description="Targets whose subscriptions all stream, and those that do not.",
            queries=(Query(f"sum({UP})", "up"), Query(f"sum({UP} == bool 0)", "down")),
            limits=((1, RED),),
            limited="B",
        ),
        Tile(
            title="Targets without news",
            description="Targets without telemetry session or without update for 60 s.",
            queries=(Query(f"sum({SILENT_DEVICES})", "silent"),),
            limits=((1, RED),),
        ),
        Tile(
            title="Overloaded",
            description="Whether a collector is late for half of the time: it needs more cores or a longer interval.",
            queries=(Query(f"max({selector('fabric_collector_overloaded')})", "overloaded"),),
            limits=((1, RED),),
        ),
        Tile(
            title="Updates",
            description="Updates that the collectors receive.",
            unit="cps",
            queries=(Query(f"sum({_own_rate('fabric_collector_updates_total')})", "updates"),),
        ),
        Tile(
            title="Series",
            description="Series that the collectors store.",
            queries=(Query(f"sum({selector('fabric_collector_series')})", "series"),),
        ),
        Tile(
            title="Certificates not verified",
            description="Targets whose certificate is not verified: somebody else may answer in their place.",
            queries=(Query(f"sum({selector('fabric_collector_tls_verified')} == bool 0)", "targets"),),
            limits=((1, ORANGE),),
        ),
        StateTimeline(
            title="Sessions",
            description="State of the session of each target.",
            width=8,
            queries=(Query(STATE, OF_DEVICE),),
            states=SESSION_STATES,
        ),
        Graph(
            title="Age of samples",
            description="Time since the last sample of each target, as multiple of the interval in which one is due."
            " Above the line the numbers are not of the present.",
            limits=((3, ORANGE),),
            queries=(
                Query(
                    f"(time() - ({LAST} > 0)) / on (fabric, device, subscription) ({INTERVAL} > 0)",
                    f"{OF_DEVICE} {{{{subscription}}}}",
                ),
            ),
        ),
        Graph(
            title="Backlog",
            description="How much later than at best samples arrive.",
            unit="s",
            queries=(Query(f"max by (fabric, device) ({selector('fabric_collector_backlog_seconds')})", OF_DEVICE),),
        ),
        Graph(
            title="Lateness of the collector",
            description="Largest lateness of the collector itself. Above one second: it has too little CPU.",
            unit="s",
            limits=((1, ORANGE),),
            queries=(Query(selector("fabric_collector_lag_seconds"), "{{fabric}}"),),
        ),
        Graph(
            title="Targets held back",
            description="Share of time in which a target waited for the collector, an upper bound.",
            unit="percentunit",
            at_most=1,
            queries=(Query(_own_rate("fabric_collector_held_back_seconds_total"), OF_DEVICE),),
        ),
        Graph(
            title="Errors of streams",
            description="Streams that failed in the time range, by reason.",
            queries=(
                Query(f"sum by (fabric, reason) ({growth('fabric_collector_errors_total')})", "{{fabric}} {{reason}}"),
            ),
        ),
        Graph(
            title="Streams opened again",
            description="Times a stream was opened again in the time range.",
            queries=(Query(f"sum by (fabric, device) ({growth('fabric_collector_reconnects_total')})", OF_DEVICE),),
        ),
        Graph(
            title="Updates not stored",
            description="Updates that could not be stored, by reason.",
            unit="cps",
            queries=(
                Query(
                    f"sum by (fabric, reason) ({_own_rate('fabric_collector_dropped_updates_total')})",
                    "{{fabric}} {{reason}}",
                ),
            ),
        ),
        Graph(
            title="Updates by target",
            description="Updates that the collector receives from each target.",
            unit="cps",
            queries=(Query(f"sum by (fabric, device) ({_own_rate('fabric_collector_updates_total')})", OF_DEVICE),),
        ),
        Graph(
            title="Clock skew",
            description="How far the clock of each switch is ahead of the collector's.",
            unit="s",
            at_least=None,
            queries=(Query(selector("fabric_collector_clock_skew_seconds"), OF_DEVICE),),
        ),
        Graph(
            title="Counters that went back",
            description="Counters of a switch that wrapped or were reset, or went back at a reboot, in the time range.",
            queries=(
                Query(
                    f"sum by (fabric, device, reason) ({growth('fabric_collector_resets_total')})",
                    f"{OF_DEVICE} {{{{reason}}}}",
                ),
            ),
        ),
        Graph(
            title="Pace of the twin",
            description="Simulated seconds a second. Rates are those of a simulated second, so that a twin that falls"
            " behind shows the rates of the fabric. Hardware has no pace.",
            unit="percentunit",
            empty="no twin",
            queries=(
                Query(
                    f"avg by (fabric) ({_own_rate('fabric_twin_simulated_seconds_total', OF_DEVICES)})",
                    "{{fabric}}",
                ),
            ),
        ),
        Listing(
            title="Targets, one by one",
            description="State, series and lateness of each target.",
            queries=(
                Query(f"max by (fabric, device) ({STATE})"),
                Query(f"max by (fabric, device) (time() - ({LAST} > 0))"),
                Query(f"max by (fabric, device) ({selector('fabric_collector_series')})"),
                Query(f"max by (fabric, device) ({selector('fabric_collector_ingest_lag_seconds')})"),
            ),
            columns={
                "fabric": "Fabric",
                "device": "Switch",
                "Value #A": "Session",
                "Value #B": "Last sample",
                "Value #C": "Series",
                "Value #D": "Lag",
            },
            states={"Session": SESSION_STATES},
            units={"Last sample": "s", "Lag": "s"},
            first="Switch",
            width=24,
        ),
    ),
    alerts=(
        *("FabricCollectorSessionDown", "FabricTelemetryStale", "FabricTelemetryLagging", "FabricCollectorOverloaded"),
        *("FabricTwinSlow", "FabricTwinFailed", "FabricTwinUnmodelled"),
    ),
    next={"fabric": "everything is observed", "change": "targets are silent since a change"},
)
