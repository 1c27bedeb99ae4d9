"""Grafana boards, recording rules and alerts built from the metric catalogue, written to files or to Grafana."""

from railfab.dashboards.alerts import ALERTS
from railfab.dashboards.board import Board
from railfab.dashboards.boards import BOARDS
from railfab.dashboards.files import DeliveryError, grafana_files, prometheus_files, write
from railfab.dashboards.grafana_board import board_document, board_queries
from railfab.dashboards.monitoring import Datasource, Scrape
from railfab.dashboards.recording import RECORDING
from railfab.dashboards.rules import Alert, AlertSeverity, RecordingRule
from railfab.dashboards.sink import DashboardSink, Delivery, Mark, push

__all__ = [
    "ALERTS",
    "BOARDS",
    "RECORDING",
    "Alert",
    "AlertSeverity",
    "Board",
    "DashboardSink",
    "Datasource",
    "Delivery",
    "DeliveryError",
    "Mark",
    "RecordingRule",
    "Scrape",
    "board_document",
    "board_queries",
    "grafana_files",
    "prometheus_files",
    "push",
    "write",
]
