"""The operations of Grafana's API that railfab uses, from its published description: the bodies that each takes, the
statuses that it answers, and what every answer has.

Source: grafana/grafana, `public/api-merged.json` (Swagger 2.0), 703,544 characters, as at commit
643993978b297ee0eda0737135f91bdfe590c7bf; read in November 2026, and here in our own words. It marks an update of a data
source by number as deprecated, in favour of that by uid. For a data source by name it has no 404, which Grafana answers
where there is none. Annotations: from `docs/sources/developers/http_api/annotations.md`, as at commit
00f489dbba0f67054565a81a61bb9a1cae575043, read in December 2026. Rules: from the page of the HTTP API for
provisioning of alerts of Grafana 12.4 and the types of the package grafana-foundation-sdk 0.0.21.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

FAILURES = frozenset((401, 403, 500))
SOURCE_FIELDS = frozenset(
    (
        *("access", "basicAuth", "basicAuthUser", "database", "isDefault", "jsonData", "name", "secureJsonData"),
        *("type", "uid", "url", "user", "withCredentials"),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """takes: the members of its body. answers: statuses. has: members that the answer of success requires."""

    takes: frozenset[str] = frozenset()
    answers: frozenset[int]
    has: frozenset[str] = frozenset()

    def problem(self, body: object, status: int, answer: object) -> str | None:
        """What is not as described in a request and its answer."""
        sent = body.keys() if isinstance(body, dict) else set()
        if unknown := sorted(sent - self.takes):
            return f"takes no {', '.join(unknown)}"
        if status not in self.answers:
            return f"does not answer {status}"
        given = answer.keys() if isinstance(answer, dict) else set()
        if status == 200 and (missing := sorted(self.has - given)):
            return f"answers with {', '.join(missing)}"
        return "answers an error with a message" if status != 200 and "message" not in given else None


OPERATIONS = {
    "GET /folders/{uid}": Operation(answers=FAILURES | {200, 404}),
    "POST /folders": Operation(
        takes=frozenset(("description", "parentUid", "title", "uid")), answers=FAILURES | {200, 400, 409}
    ),
    "GET /datasources/name/{name}": Operation(answers=FAILURES | {200, 404}),
    "POST /datasources": Operation(
        takes=SOURCE_FIELDS,
        answers=FAILURES | {200, 409},
        has=frozenset(("id", "name", "message", "datasource")),
    ),
    "PUT /datasources/uid/{uid}": Operation(
        takes=SOURCE_FIELDS | {"version"},
        answers=FAILURES | {200, 409},
        has=frozenset(("id", "name", "message", "datasource")),
    ),
    "GET /dashboards/uid/{uid}": Operation(answers=FAILURES | {200, 404, 406}),
    "POST /dashboards/db": Operation(
        takes=frozenset(
            ("UpdatedAt", "dashboard", "folderId", "folderUid", "isFolder", "message", "overwrite", "userId")
        ),
        answers=FAILURES | {200, 400, 404, 412, 422},
        has=frozenset(("status", "title", "version", "id", "uid", "url")),
    ),
    "GET /v1/provisioning/folder/{uid}/rule-groups/{group}": Operation(
        answers=FAILURES | {200, 404}, has=frozenset(("title", "folderUid", "interval", "rules"))
    ),
    "PUT /v1/provisioning/folder/{uid}/rule-groups/{group}": Operation(
        takes=frozenset(("folderUid", "interval", "rules", "title")),
        answers=FAILURES | {200, 400},
        has=frozenset(("title", "folderUid", "interval", "rules")),
    ),
    "GET /annotations": Operation(answers=FAILURES | {200}),
    "POST /annotations": Operation(
        takes=frozenset(("dashboardUID", "panelId", "tags", "text", "time", "timeEnd")),
        answers=FAILURES | {200, 400},
        has=frozenset(("id", "message")),
    ),
    "PATCH /annotations/{id}": Operation(
        takes=frozenset(("tags", "text", "time", "timeEnd")), answers=FAILURES | {200, 404}, has=frozenset(("message",))
    ),
}
RULE_FIELDS = frozenset(
    (
        *("annotations", "condition", "data", "execErrState", "folderUID", "for", "isPaused", "keep_firing_for"),
        *("labels", "noDataState", "notification_settings", "orgID", "record", "ruleGroup", "title", "uid"),
        *("id", "missingSeriesEvalsToResolve", "provenance", "updated"),
    )
)
RULE_NEEDS = frozenset(
    ("condition", "data", "execErrState", "folderUID", "for", "noDataState", "orgID", "ruleGroup", "title")
)
ENTRY_FIELDS = frozenset(("datasourceUid", "model", "queryType", "refId", "relativeTimeRange"))


def problem_of_rules(group: Mapping[str, Any]) -> str | None:
    """What Grafana would refuse in a group of rules: their members, UIDs and titles, states and intervals."""
    rules = group["rules"]
    if group["interval"] % 10:
        return f"interval {group['interval']} is no multiple of 10 s"
    if len({rule["uid"] for rule in rules}) < len(rules) or len({rule["title"] for rule in rules}) < len(rules):
        return "two rules have one UID or title"
    return next(filter(None, map(_problem_of_rule, rules)), None)


def _problem_of_rule(rule: Mapping[str, Any]) -> str | None:
    if unknown := sorted(rule.keys() - RULE_FIELDS) or sorted(RULE_NEEDS - rule.keys()):
        return f"{rule['title']}: members {', '.join(unknown)}"
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", rule["uid"]):
        return f"UID {rule['uid']}"
    if rule["noDataState"] not in ("Alerting", "NoData", "OK") or rule["execErrState"] not in (
        "Alerting",
        "Error",
        "OK",
    ):
        return f"{rule['title']}: states"
    if any(entry.keys() - ENTRY_FIELDS for entry in rule["data"]):
        return f"{rule['title']}: members of a query"
    if rule["condition"] not in {entry["refId"] for entry in rule["data"]}:
        return f"{rule['title']}: condition {rule['condition']}"
    if any("query" in part for text in rule["annotations"].values() for part in re.findall(r"\| *\w+", text)):
        return f"{rule['title']}: a template makes a query"
    return None


ANNOTATION_FILTERS = frozenset(
    ("from", "to", "limit", "alertId", "dashboardId", "dashboardUID", "panelId", "userId", "type", "tags")
)


def problem_of(method: str, path: str, body: object, status: int, answer: object) -> str | None:
    """What is not as described in a request to a path below /api and its answer; None where all is."""
    path, _, query = path.partition("?")
    if unknown := sorted(parse_qs(query, strict_parsing=bool(query)).keys() - ANNOTATION_FILTERS):
        return f"{method} {path} has no filter {', '.join(unknown)}"
    for name, operation in OPERATIONS.items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", name), f"{method} {path}"):
            problem = operation.problem(body, status, answer)
            return None if problem is None else f"{name} {problem}"
    return f"{method} {path} is no operation that is described and not deprecated"
