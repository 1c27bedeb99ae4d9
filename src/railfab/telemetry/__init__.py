"""From gNMI streams to Prometheus: subscribe, decode, keep the newest value of each series, expose it with its type."""

from railfab.telemetry.collector import Collector, fabric_collector
from railfab.telemetry.exposition import Snapshot
from railfab.telemetry.health import SessionState
from railfab.telemetry.http_server import ListenError
from railfab.telemetry.retry import RetryPolicy
from railfab.telemetry.scheduling import batch_scheduling
from railfab.telemetry.serve import MetricsServer

__all__ = [
    "Collector",
    "ListenError",
    "MetricsServer",
    "RetryPolicy",
    "SessionState",
    "Snapshot",
    "batch_scheduling",
    "fabric_collector",
]
