"""Configuration of Prometheus and provisioning of Grafana."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from railfab.units import COLLECTOR_PORT, PROMETHEUS_PORT

BOARDS_PATH = "/var/lib/grafana/dashboards/railfab"
FOLDER_UID, FOLDER = "railfab", "railfab"
DATASOURCE_UID = "railfab-prometheus"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrape:
    """Scrape targets of Prometheus. collectors: host:port, or the URL of the list of a collector's processes.

    jobs: host:port of the metrics of training jobs; None where the collector exposes them too, as with the twin.
    """

    collectors: tuple[str, ...] = (f"127.0.0.1:{COLLECTOR_PORT}",)
    jobs: str | None = None
    interval_s: int = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Datasource:
    """A Prometheus datasource of Grafana. url: as reached from Grafana. interval_s: scrape interval."""

    url: str = f"http://127.0.0.1:{PROMETHEUS_PORT}"
    name: str = "railfab"
    uid: str = DATASOURCE_UID
    interval_s: int = 15

    def document(self) -> dict[str, Any]:
        """The datasource in the format of the provisioning file and of the HTTP API."""
        return {
            "name": self.name,
            "uid": self.uid,
            "type": "prometheus",
            "access": "proxy",
            "url": self.url,
            "jsonData": {"httpMethod": "POST", "timeInterval": f"{self.interval_s}s"},
        }


def prometheus_config(scrape: Scrape) -> dict[str, Any]:
    """Content of prometheus.yml; rules are evaluated at the scrape interval."""
    jobs = {"railfab-collector": scrape.collectors, "railfab-jobs": (scrape.jobs,) if scrape.jobs else ()}
    interval = f"{scrape.interval_s}s"
    return {
        "global": {"scrape_interval": interval, "evaluation_interval": interval},
        "rule_files": ["rules/*.yml"],
        "scrape_configs": [{"job_name": job, **_found(targets, interval)} for job, targets in jobs.items() if targets],
    }


def _found(targets: Sequence[str], interval: str) -> dict[str, Any]:
    """Where Prometheus finds these targets: those with a URL are lists, which it reads anew at the scrape interval."""
    lists = [{"url": target, "refresh_interval": interval} for target in targets if "://" in target]
    stated = [target for target in targets if "://" not in target]
    static = [{"targets": stated}] if stated else []
    named = {"static_configs": static, "http_sd_configs": lists}
    return {name: configs for name, configs in named.items() if configs}


def datasource_provisioning(datasource: Datasource) -> dict[str, Any]:
    return {"apiVersion": 1, "datasources": [{**datasource.document(), "editable": False}]}


def board_provisioning() -> dict[str, Any]:
    """Provisioning of read-only boards from a directory."""
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
