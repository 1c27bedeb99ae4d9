"""Prometheus' configuration and Grafana's provisioning: who asks whom, where, how often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

COLLECTOR = "127.0.0.1:9804"
PROMETHEUS_URL = "http://127.0.0.1:9090"
LONGEST_INTERVAL_S = 20
"""Between two scrapes: the rules' shortest window, one minute, then still holds three samples."""
BOARDS_PATH = "/var/lib/grafana/dashboards/railfab"
FOLDER_UID, FOLDER = "railfab", "railfab"
DATASOURCE_UID = "railfab-prometheus"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrape:
    """What Prometheus scrapes. collector and jobs are host:port.

    jobs: where training jobs show their metrics, unless the collector does that too (it does beside the twin).
    """

    collector: str = COLLECTOR
    jobs: str | None = None
    interval_s: int = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Datasource:
    """A Prometheus as Grafana sees it. url: as Grafana reaches it. interval_s: how often that Prometheus scrapes."""

    url: str = PROMETHEUS_URL
    name: str = "railfab"
    uid: str = DATASOURCE_UID
    interval_s: int = 15

    def document(self) -> dict[str, Any]:
        """As both the provisioning file and the HTTP API want it."""
        return {
            "name": self.name,
            "uid": self.uid,
            "type": "prometheus",
            "access": "proxy",
            "url": self.url,
            "jsonData": {"httpMethod": "POST", "timeInterval": f"{self.interval_s}s"},
        }


def prometheus_config(scrape: Scrape) -> dict[str, Any]:
    """prometheus.yml; rules are evaluated as often as targets are scraped."""
    targets = {"railfab-collector": scrape.collector, "railfab-jobs": scrape.jobs}
    interval = f"{scrape.interval_s}s"
    return {
        "global": {"scrape_interval": interval, "evaluation_interval": interval},
        "rule_files": ["rules/*.yml"],
        "scrape_configs": [
            {"job_name": job, "static_configs": [{"targets": [target]}]} for job, target in targets.items() if target
        ],
    }


def datasource_provisioning(datasource: Datasource) -> dict[str, Any]:
    return {"apiVersion": 1, "datasources": [{**datasource.document(), "editable": False}]}


def board_provisioning() -> dict[str, Any]:
    """Tells Grafana to read the boards from a directory, where they cannot be edited by hand."""
    provider = {
        "name": "railfab",
        "folder": FOLDER,
        "folderUid": FOLDER_UID,
        "type": "file",
        "allowUiUpdates": False,
        "updateIntervalSeconds": 30,
        "options": {"path": BOARDS_PATH},
    }
    return {"apiVersion": 1, "providers": [provider]}
