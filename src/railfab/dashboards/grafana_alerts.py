"""Alerts as rules that Grafana evaluates itself, for those who run no Alertmanager.

Recording rules stay in Prometheus: Grafana evaluates its own rules in no order of a group.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from railfab.dashboards.alerts.loss import DROP_REASONS
from railfab.dashboards.monitoring import FOLDER_UID, Datasource
from railfab.dashboards.rules import KEPT_FIRING, RUNBOOKS, Alert

GROUP = "railfab"
BASE_INTERVAL_S = 10
"""Grafana evaluates groups at multiples of it."""
QUERY, CONDITION = "A", "B"
EXPRESSION = {"type": "__expr__", "uid": "__expr__"}
LOOKS_BACK_S = 600
SET_BY_GRAFANA = {"intervalMs": 1000, "maxDataPoints": 43200}
"""What Grafana adds to a model without it."""
VALUE = re.compile(r"\$value\b")


def rule_group(alerts: Sequence[Alert], datasource: Datasource, runbooks: str = RUNBOOKS) -> dict[str, Any]:
    """A group of rules in the format of Grafana's API for provisioning. runbooks: folder or URL of the pages."""
    interval_s = -(-datasource.interval_s // BASE_INTERVAL_S) * BASE_INTERVAL_S
    rules = [_rule(alert, datasource.uid, runbooks) for alert in alerts]
    return {"title": GROUP, "folderUid": FOLDER_UID, "interval": interval_s, "rules": rules}


def _rule(alert: Alert, datasource: str, runbooks: str) -> dict[str, Any]:
    document = alert.document(runbooks)
    return {
        "uid": f"{GROUP}-{alert.alert}",
        "orgID": 1,
        "folderUID": FOLDER_UID,
        "ruleGroup": GROUP,
        "title": alert.alert,
        "condition": CONDITION,
        "data": [_query(alert.expr, datasource), _any_number()],
        "noDataState": "OK",
        "execErrState": "Error",
        "for": document.get("for", "0s"),
        "keep_firing_for": KEPT_FIRING if alert.lasting else "0s",
        "annotations": {name: _text(text) for name, text in document["annotations"].items()},
        "labels": document["labels"],
        "isPaused": False,
    }


def _query(expr: str, datasource: str) -> dict[str, Any]:
    source = {"type": "prometheus", "uid": datasource}
    model = {"refId": QUERY, "datasource": source, "expr": expr, "instant": True, "range": False, **SET_BY_GRAFANA}
    return _entry(QUERY, datasource, model)


def _any_number() -> dict[str, Any]:
    """True for each series of the query, whatever its value: Prometheus returns none that is not to be raised."""
    model = {"refId": CONDITION, "datasource": EXPRESSION, "type": "math", "expression": f"is_number(${QUERY})"}
    return _entry(CONDITION, EXPRESSION["uid"], model | SET_BY_GRAFANA)


def _entry(letter: str, datasource: str, model: dict[str, Any]) -> dict[str, Any]:
    window = {"from": LOOKS_BACK_S, "to": 0}
    return {"refId": letter, "queryType": "", "relativeTimeRange": window, "datasourceUid": datasource, "model": model}


def _text(template: str) -> str:
    """A text in Grafana's templates, which name the value of a query by its letter, and make no queries themselves."""
    return VALUE.sub(f"$values.{QUERY}.Value", template.replace(DROP_REASONS, ""))
