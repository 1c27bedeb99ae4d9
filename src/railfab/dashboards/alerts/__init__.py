"""Alerts, with meaning and first step; `docs/alerts/` has a runbook of each. Thresholds are starting points.

Every alert uses metrics that a platform, the collector, a job or the twin provides; others could never fire.
States are looked up in a window (`last_over_time`), and counters as rates over one, so that a target that is silent for
some seconds restarts no `for`; a minute of silence restarts that of a pending alert on a rate. An alert that fires
keeps firing for `KEPT_FIRING`.
"""

from railfab.dashboards.alerts.configuration import CONFIGURATION
from railfab.dashboards.alerts.hosts import HOSTS
from railfab.dashboards.alerts.jobs import JOBS
from railfab.dashboards.alerts.links import LINKS
from railfab.dashboards.alerts.load import LOAD
from railfab.dashboards.alerts.loss import LOSS
from railfab.dashboards.alerts.observation import OBSERVATION
from railfab.dashboards.alerts.pfc import PFC
from railfab.dashboards.alerts.routing import ROUTING
from railfab.dashboards.rules import Alert

ALERTS: tuple[Alert, ...] = (*PFC, *LOSS, *LOAD, *LINKS, *ROUTING, *JOBS, *HOSTS, *CONFIGURATION, *OBSERVATION)
"""Every alert."""

__all__ = ["ALERTS"]
