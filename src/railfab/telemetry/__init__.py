"""From gNMI streams to Prometheus: subscribe, decode, keep the newest value of each series, expose it with its type."""

from railfab.telemetry.collector import SWITCH_INTERVAL_S, Collector, fabric_collector
from railfab.telemetry.exposition import Snapshot
from railfab.telemetry.health import State
from railfab.telemetry.http_server import ListenError
from railfab.telemetry.retry import Policy
from railfab.telemetry.serve import MetricsServer

__all__ = [
    "SWITCH_INTERVAL_S",
    "Collector",
    "ListenError",
    "MetricsServer",
    "Policy",
    "Snapshot",
    "State",
    "fabric_collector",
]
