"""PromQL expressions for metrics of the catalogue, chosen by the kind of the metric."""

from __future__ import annotations

from railfab.metrics import Kind, metric

RATE_UNITS = {"bytes": "Bps", "packets": "pps", "seconds": "percentunit", "codewords": "cps", "": "cps"}
GAUGE_UNITS = {"bytes": "bytes", "bytes_per_second": "Bps", "seconds": "s", "ratio": "percentunit", "": "none"}

OF_DEVICES = 'device!=""'
HELD = "2m"
"""Window in which the last value of a state counts: longer than a target is silent before another alert says so."""


def held(series: str, window: str = HELD) -> str:
    """The last value of a state, also while its target is silent."""
    return f"last_over_time({series}[{window}])"


def pace(window: str, *matchers: str) -> str:
    """Simulated seconds a second of each device; there is none of hardware."""
    return f"rate(fabric_twin_simulated_seconds_total{{{', '.join((OF_DEVICES, *matchers))}}}[{window}])"


def per_simulated_second(rate: str, pace: str) -> str:
    """A rate by device; of a device of a twin, that of a simulated second.

    A twin that falls behind counts less in a second, but not in a simulated one. Counters and simulated time come from
    the device in one sample, so that what is lost in between is lost in both. One that simulates nothing has no pace.
    """
    return f"({rate} / on (fabric, device) group_left () ({pace} > 0) or {rate})"


def simulated_rate(name: str, window: str, *matchers: str) -> str:
    """The rate of a counter in a simulated second."""
    series = f"{name}{{{', '.join(matchers)}}}" if matchers else name
    return per_simulated_second(f"rate({series}[{window}])", pace(window, *matchers))


def wall_seconds(simulated: str) -> str:
    """Real time that a duration takes: on a twin, which simulates at most a second in a second, by its mean pace."""
    mean_pace = f"clamp_max(avg by (fabric) ({pace('1m')}), 1)"
    return f"({simulated} / on (fabric) group_left () {mean_pace}\n  or {simulated})"


def unit(name: str) -> str:
    """Grafana's id of the unit of a rate of a counter, which of seconds is a share of time, or of another metric."""
    entry = metric(name)
    return RATE_UNITS[entry.unit] if entry.kind is Kind.COUNTER else GAUGE_UNITS[entry.unit]
