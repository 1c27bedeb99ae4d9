"""Expressions from the catalogue: the kind of a metric, not the author of a panel, decides how it is read."""

from __future__ import annotations

from railfab.metrics import Kind, metric

RATE_UNITS = {"bytes": "Bps", "packets": "pps", "seconds": "percentunit", "codewords": "cps", "": "cps"}
GAUGE_UNITS = {"bytes": "bytes", "bytes_per_second": "Bps", "seconds": "s", "ratio": "percentunit", "": "none"}


def selector(name: str, **equal: str) -> str:
    """Series of a catalogued metric whose labels have these values. Raises KeyError for an unknown metric or label."""
    if unknown := equal.keys() - set(metric(name).labels):
        raise KeyError(f"{name} has no label {', '.join(sorted(unknown))}")
    matchers = ",".join(f'{label}="{value}"' for label, value in equal.items())
    return f"{name}{{{matchers}}}" if matchers else name


def signal(name: str, **equal: str) -> str:
    """What a panel draws of a metric: the per-second rate of a counter, the value of anything else."""
    if metric(name).kind is Kind.COUNTER:
        return f"rate({selector(name, **equal)}[$__rate_interval])"
    return selector(name, **equal)


def growth(name: str, **equal: str) -> str:
    """By how much a counter grew over the time the dashboard shows. Raises KeyError for anything but a counter."""
    if metric(name).kind is not Kind.COUNTER:
        raise KeyError(f"{name} is no counter")
    return f"increase({selector(name, **equal)}[$__range])"


def peak(name: str, **equal: str) -> str:
    """The highest value of a gauge between two points of a graph. Raises KeyError for anything but a gauge."""
    if metric(name).kind is not Kind.GAUGE:
        raise KeyError(f"{name} is no gauge")
    return f"max_over_time({selector(name, **equal)}[$__rate_interval])"


def unit(name: str) -> str:
    """Grafana's id of the unit that `signal(name)` has; the rate of seconds is a share of time."""
    entry = metric(name)
    return RATE_UNITS[entry.unit] if entry.kind is Kind.COUNTER else GAUGE_UNITS[entry.unit]
