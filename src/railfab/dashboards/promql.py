"""PromQL expressions for metrics of the catalogue, chosen by the kind of the metric."""

from __future__ import annotations

from railfab.metrics import Kind, metric

RATE_UNITS = {"bytes": "Bps", "packets": "pps", "seconds": "percentunit", "codewords": "cps", "": "cps"}
GAUGE_UNITS = {"bytes": "bytes", "bytes_per_second": "Bps", "seconds": "s", "ratio": "percentunit", "": "none"}


SELECTED = 'fabric=~"$fabric"'
"""Matcher of the fabrics that are selected on a board."""
OF_DEVICES = 'device!=""'
HELD = "2m"
"""Window in which the last value of a state counts: longer than a target is silent before another alert says so."""


def selector(name: str, *matchers: str) -> str:
    """Selector of the series of this name."""
    return f"{name}{{{', '.join(matchers)}}}" if matchers else name


def selected(name: str, *matchers: str) -> str:
    """Selector of the series of the fabrics that are selected on a board."""
    return selector(name, SELECTED, *matchers)


def held(series: str, window: str = HELD) -> str:
    """The last value of a state, also while its target is silent."""
    return f"last_over_time({series}[{window}])"


def pace(window: str, *matchers: str) -> str:
    """Simulated seconds a second of each device; there is none of hardware."""
    return f"rate({selector('fabric_twin_simulated_seconds_total', OF_DEVICES, *matchers)}[{window}])"


def simulated_rate(name: str, window: str, *matchers: str) -> str:
    """The rate of a counter by device; of a device of a twin, a simulated second.

    A twin that falls behind counts less in a second, but not in a simulated one. Counters and simulated time come from
    the device in one sample, so that what is lost in between is lost in both. One that simulates nothing has no pace.
    """
    rate = f"rate({selector(name, *matchers)}[{window}])"
    return f"({rate} / on (fabric, device) group_left () ({pace(window, *matchers)} > 0) or {rate})"


def wall_seconds(simulated: str) -> str:
    """Real time that a duration takes: on a twin, which simulates at most a second in a second, by its mean pace."""
    mean_pace = f"clamp_max(avg by (fabric) ({pace('1m')}), 1)"
    return f"({simulated} / on (fabric) group_left () {mean_pace}\n  or {simulated})"


def signal(name: str) -> str:
    """Expression for a graph: the rate of a counter, the value of any other metric."""
    if metric(name).kind is Kind.COUNTER:
        return simulated_rate(name, "$__rate_interval", SELECTED)
    return selected(name)


def growth(name: str) -> str:
    """Increase of a counter over the time range of the dashboard. Raises KeyError for another kind."""
    if metric(name).kind is not Kind.COUNTER:
        raise KeyError(f"{name} is not a counter")
    return f"increase({selected(name)}[$__range])"


def peak(name: str) -> str:
    """Maximum of a gauge between two points of a graph. Raises KeyError for another kind."""
    if metric(name).kind is not Kind.GAUGE:
        raise KeyError(f"{name} is not a gauge")
    return f"max_over_time({selected(name)}[$__rate_interval])"


def unit(name: str) -> str:
    """Grafana's id of the unit of `signal(name)`; the rate of seconds is a share of time."""
    entry = metric(name)
    return RATE_UNITS[entry.unit] if entry.kind is Kind.COUNTER else GAUGE_UNITS[entry.unit]
