"""Selectors of what is chosen on a board: a metric is filtered by each variable that one of its labels answers to."""

from __future__ import annotations

from dataclasses import dataclass, replace

from railfab.dashboards.promql import OF_DEVICES, per_simulated_second
from railfab.dashboards.recording import RECORDING
from railfab.metrics import CATALOGUE, Kind, metric

STEP = "$__rate_interval"
RECORDED = {rule.record: rule.labels for rule in RECORDING}
EXPOSED = {name: each.labels for each in CATALOGUE.values() for name in each.exposed_names()}
FILTERS = {"fabric": "$fabric", "device": "$switch", "job_id": "$job"}
"""The variable that a label is filtered by, whatever the metric."""
ON_RAIL, ON_PORT = 'rail=~"$rail"', 'interface=~"$port"'
HOST_PORT, UPLINK = 'link="host"', 'link="uplink"'
TO_PORT = "on (fabric, device, interface)"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardVariable:
    """A choice on a board.

    query: `label_values` or `query_result` of the Prometheus datasource, with the variables before it. regex: the part
    of a result that is a value. everything: what All stands for; None is every value of the list, so that the variables
    before it count. is_single: one value is chosen, never all.
    """

    name: str
    label: str
    query: str
    regex: str = ""
    everything: str | None = None
    is_single: bool = False


FABRIC = BoardVariable(
    name="fabric", label="Fabric", query="label_values(fabric_collector_session_up, fabric)", everything=".*"
)
"""All of them includes the targets that are of no fabric, which have no label of it."""
POD = BoardVariable(
    name="pod", label="Pod", query='label_values(fabric_device_info{fabric=~"$fabric"}, pod)', everything=".*"
)
RAIL = BoardVariable(
    name="rail",
    label="Rail",
    query=(
        'query_result(count by (rail) (fabric_interface_info{fabric=~"$fabric", link="host", rail!=""}'
        ' and on (fabric, device) fabric_device_info{fabric=~"$fabric", pod=~"$pod"}))'
    ),
    regex='/rail="([^"]+)"/',
    everything=".*",
)
SWITCH = BoardVariable(
    name="switch",
    label="Switch",
    query=(
        'query_result(count by (device) (fabric_device_info{fabric=~"$fabric", pod=~"$pod"}'
        ' and on (fabric, device) fabric_interface_info{fabric=~"$fabric", rail=~"$rail"}'
        ' or fabric_target_info{fabric=~"$fabric", pod=~"$pod", rail=~"$rail"}))'
    ),
    regex='/device="([^"]+)"/',
)
"""Those with a port of the rail. Targets of no intent have neither pod nor rail."""
ONE_SWITCH = replace(SWITCH, is_single=True)
PORT = BoardVariable(
    name="port",
    label="Port",
    query='label_values(fabric_interface_speed_bytes_per_second{fabric=~"$fabric", device=~"$switch"}, interface)',
    everything=".*",
)
JOB = BoardVariable(
    name="job", label="Job", query='label_values(training_job_running{fabric=~"$fabric"}, job_id)', everything=".*"
)
CHAIN = (FABRIC, POD, RAIL, SWITCH)


def selector(name: str, *matchers: str) -> str:
    """Selector of the series of this name that are chosen on a board. Raises KeyError for an unknown name."""
    labels = RECORDED[name] if name in RECORDED else EXPOSED[name]
    chosen = [f'{label}=~"{variable}"' for label, variable in FILTERS.items() if label in labels]
    return f"{name}{{{', '.join((*chosen, *matchers))}}}"


def rate(name: str, *matchers: str, window: str = STEP) -> str:
    """The rate of a counter; on a twin, that of a simulated second. Raises KeyError for another kind."""
    _require(name, Kind.COUNTER)
    pace = f"rate({selector('fabric_twin_simulated_seconds_total', OF_DEVICES)}[{window}])"
    return per_simulated_second(f"rate({selector(name, *matchers)}[{window}])", pace)


def growth(name: str, *matchers: str) -> str:
    """Increase of a counter over the time range of the dashboard. Raises KeyError for another kind."""
    _require(name, Kind.COUNTER)
    return f"increase({selector(name, *matchers)}[$__range])"


def peak(name: str, *matchers: str) -> str:
    """Maximum of a gauge between two points of a graph. Raises KeyError for another kind."""
    _require(name, Kind.GAUGE)
    return f"max_over_time({selector(name, *matchers)}[{STEP}])"


def _require(name: str, kind: Kind) -> None:
    if metric(name).kind is not kind:
        raise KeyError(f"{name} is no {kind}")


def joined(series: str, labels: str, *matchers: str) -> str:
    """Series of ports with labels of the design, of ports that have these attributes in it."""
    return f"{series} * {TO_PORT} group_left ({labels}) {selector('fabric_interface_info', *matchers)}"


def alerts(names: tuple[str, ...] = ()) -> str:
    """Alerts that are firing or pending, of these names; those of the fabric itself name no switch."""
    chosen = f', alertname=~"{"|".join(names)}"' if names else ""
    return f'ALERTS{{fabric=~"$fabric", device=~"|$switch"{chosen}}}'
