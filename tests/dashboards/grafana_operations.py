"""The operations of Grafana's API that railfab uses, from its published description: the bodies that each takes, the
statuses that it answers, and what every answer has.

Source: grafana/grafana, `public/api-merged.json` (Swagger 2.0), 703,544 characters, as at commit
643993978b297ee0eda0737135f91bdfe590c7bf; read in November 2026, and here in our own words. It marks an update of a data
source by number as deprecated, in favour of that by uid. For a data source by name it has no 404, which Grafana answers
where there is none. Annotations: from `docs/sources/developers/http_api/annotations.md`, as at commit
00f489dbba0f67054565a81a61bb9a1cae575043, read in December 2026.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
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
