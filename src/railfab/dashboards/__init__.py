"""Grafana boards, recording rules and alerts built from the metric catalogue, written to files or to Grafana."""

from railfab.dashboards.alerts import ALERTS
from railfab.dashboards.boards import board_document, board_queries, boards
from railfab.dashboards.files import DeliveryError, grafana_files, prometheus_files, write
from railfab.dashboards.monitoring import Datasource, Scrape
from railfab.dashboards.recording import RECORDING
from railfab.dashboards.rules import Alert, AlertSeverity, RecordingRule
from railfab.dashboards.sink import DashboardSink, Delivery, push

__all__ = [
    "ALERTS",
    "RECORDING",
    "Alert",
    "AlertSeverity",
    "DashboardSink",
    "Datasource",
    "Delivery",
    "DeliveryError",
    "RecordingRule",
    "Scrape",
    "board_document",
    "board_queries",
    "boards",
    "grafana_files",
    "prometheus_files",
    "push",
    "write",
]
