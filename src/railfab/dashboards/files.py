"""Configuration files of Prometheus and Grafana."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from railfab.dashboards.adopted import ADOPTED
from railfab.dashboards.alertmanager import alertmanager_config
from railfab.dashboards.alerts import ALERTS
from railfab.dashboards.boards import BOARDS
from railfab.dashboards.grafana_board import board_document
from railfab.dashboards.monitoring import (
    Datasource,
    Scrape,
    board_provisioning,
    datasource_provisioning,
    prometheus_config,
)
from railfab.dashboards.recording import RECORDING
from railfab.dashboards.rules import RUNBOOKS, rules_text, yaml_text
from railfab.errors import RailfabError


class DeliveryError(RailfabError):
    """Boards or rules cannot be written or pushed."""


def prometheus_files(scrape: Scrape, runbooks: str = RUNBOOKS) -> dict[str, str]:
    """prometheus.yml, its rule files and alertmanager.yml, by relative path. Needs no extra.

    runbooks: folder or URL of the pages of alerts.
    """
    return {
        "alertmanager.yml": yaml_text(alertmanager_config()),
        "prometheus.yml": yaml_text(prometheus_config(scrape)),
        "rules/recording.yml": rules_text("fabric.recording", RECORDING),
        "rules/adopted.yml": rules_text("fabric.adopted", ADOPTED),
        "rules/alerts.yml": rules_text("fabric.alerts", ALERTS, runbooks),
    }


def grafana_files(datasource: Datasource, runbooks: str = RUNBOOKS) -> dict[str, str]:
    """Boards and provisioning files, by relative path. Needs the extra `dashboards`. runbooks: as of the rules."""
    documents = {f"boards/{name}.json": board_document(board, runbooks) for name, board in BOARDS.items()}
    return {
        **{name: json.dumps(document, indent=2) + "\n" for name, document in documents.items()},
        "provisioning/datasources/railfab.yml": yaml_text(datasource_provisioning(datasource)),
        "provisioning/dashboards/railfab.yml": yaml_text(board_provisioning()),
    }


def write(files: Mapping[str, str], directory: Path) -> dict[str, bool]:
    """Write files below a directory, which is created if missing; return for each whether it changed."""
    return {name: _written(directory / name, text) for name, text in files.items()}


def _written(path: Path, text: str) -> bool:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.read_text() == text:
            return False
        path.write_text(text)
    except OSError as error:
        raise DeliveryError(str(path), f"cannot be written: {error.strerror}", "Use a writable directory") from error
    return True
