"""PromQL expressions for metrics of the catalogue, chosen by the kind of the metric."""

from __future__ import annotations

from railfab.metrics import Kind, metric

RATE_UNITS = {"bytes": "Bps", "packets": "pps", "seconds": "percentunit", "codewords": "cps", "": "cps"}
GAUGE_UNITS = {"bytes": "bytes", "bytes_per_second": "Bps", "seconds": "s", "ratio": "percentunit", "": "none"}


def selector(name: str, **equal: str) -> str:
    """Selector of a metric with these label values. Raises KeyError for an unknown metric or label."""
    if unknown := equal.keys() - set(metric(name).labels):
        raise KeyError(f"{name} has no label {', '.join(sorted(unknown))}")
    matchers = ",".join(f'{label}="{value}"' for label, value in equal.items())
    return f"{name}{{{matchers}}}" if matchers else name


def signal(name: str, **equal: str) -> str:
    """Expression for a graph: the rate of a counter, the value of any other metric."""
    if metric(name).kind is Kind.COUNTER:
        return f"rate({selector(name, **equal)}[$__rate_interval])"
    return selector(name, **equal)


def growth(name: str, **equal: str) -> str:
    """Increase of a counter over the time range of the dashboard. Raises KeyError for another kind."""
    if metric(name).kind is not Kind.COUNTER:
        raise KeyError(f"{name} is not a counter")
    return f"increase({selector(name, **equal)}[$__range])"


def peak(name: str, **equal: str) -> str:
    """Maximum of a gauge between two points of a graph. Raises KeyError for another kind."""
    if metric(name).kind is not Kind.GAUGE:
        raise KeyError(f"{name} is not a gauge")
    return f"max_over_time({selector(name, **equal)}[$__rate_interval])"


def unit(name: str) -> str:
    """Grafana's id of the unit of `signal(name)`; the rate of seconds is a share of time."""
    entry = metric(name)
    return RATE_UNITS[entry.unit] if entry.kind is Kind.COUNTER else GAUGE_UNITS[entry.unit]
