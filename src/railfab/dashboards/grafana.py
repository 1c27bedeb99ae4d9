"""Delivery to a Grafana server with the package grafana-api (legacy `/api`, still served by Grafana 13)."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlencode, urlsplit

from grafana_api.grafana_api import GrafanaClientError, GrafanaException, GrafanaUnauthorizedError
from grafana_api.grafana_face import GrafanaFace
from requests.exceptions import ConnectionError, RequestException, SSLError, Timeout

from railfab.dashboards.files import DeliveryError
from railfab.dashboards.monitoring import Datasource

FORBIDDEN, NOT_FOUND, CONFLICT = 403, 404, 412
TIMEOUT_S = 10.0
SET_BY_GRAFANA = ("id", "version")
KEPT = ("basicAuth", "basicAuthUser", "database", "isDefault", "user", "version", "withCredentials")
"""Settings of a datasource that an update keeps; Grafana's API takes no other members of what it answers."""


@dataclass(frozen=True, slots=True)
class GrafanaLogin:
    """A token, or a user and a password; hidden in repr()."""

    secret: str = field(repr=False)
    user: str | None = None


def grafana_login(environment: Mapping[str, str], token_file: Path | None = None) -> GrafanaLogin:
    """The token in a file, else in GRAFANA_TOKEN, else GRAFANA_USERNAME and GRAFANA_PASSWORD."""
    if token_file is not None:
        return GrafanaLogin(_token(token_file))
    if token := environment.get("GRAFANA_TOKEN"):
        return GrafanaLogin(token)
    if (user := environment.get("GRAFANA_USERNAME")) and (password := environment.get("GRAFANA_PASSWORD")):
        return GrafanaLogin(password, user)
    raise DeliveryError("Grafana", "no login is set", "Set GRAFANA_TOKEN, or GRAFANA_USERNAME and GRAFANA_PASSWORD")


def _token(path: Path) -> str:
    try:
        token = path.read_text().strip()
    except OSError as error:
        raise DeliveryError(
            str(path), f"cannot be read: {error.strerror}", "Use a file that contains the token"
        ) from error
    except UnicodeDecodeError:
        raise DeliveryError(str(path), "is not a text file", "Use a file that contains the token") from None
    if not token:
        raise DeliveryError(str(path), "is empty", "Write the token of a service account to it")
    return token


class GrafanaSink:
    """Folders, datasources and dashboards of one Grafana. ca: PEM file with the CA to trust instead of the system's."""

    def __init__(self, url: str, login: GrafanaLogin, *, ca: Path | None = None) -> None:
        self.url = url
        if ca is not None and not ca.is_file():
            raise DeliveryError(str(ca), "does not exist", "Use the PEM file of the CA")
        face: Callable[..., Any] = GrafanaFace  # untyped
        self._api = face(
            auth=login.secret if login.user is None else (login.user, login.secret),
            verify=True if ca is None else str(ca),
            timeout=TIMEOUT_S,
            **_address(url),
        )

    def ensure_folder(self, uid: str, title: str) -> bool:
        if self._found(lambda: self._api.folder.get_folder(uid)) is not None:
            return False
        self._send(lambda: self._api.folder.create_folder(title, uid))
        return True

    def ensure_datasource(self, datasource: Datasource) -> bool:
        """Create or update the datasource of that name."""
        wanted = datasource.document()
        present = self._found(lambda: self._api.datasource.get_datasource_by_name(datasource.name))
        if present is None:
            self._send(lambda: self._api.datasource.create_datasource(wanted))
        elif any(present.get(key) != value for key, value in wanted.items()):
            changed = {**{key: present[key] for key in KEPT if key in present}, **wanted}
            self._send(lambda: self._api.api.PUT(f"/datasources/uid/{present['uid']}", json=changed))
        else:
            return False
        return True

    def put_dashboard(self, dashboard: Mapping[str, Any], *, folder_uid: str, overwrite: bool) -> bool:
        """Create the dashboard, or replace its version; fails when another one was saved since it was read."""
        present = self._found(lambda: self._api.dashboard.get_dashboard(dashboard["uid"]))
        known = {} if present is None else present["dashboard"]
        if known and _content(known) == _content(dashboard):
            return False
        if known and not overwrite:
            raise self._error(
                f"dashboard {dashboard['uid']} exists (version {known.get('version')}) and differs from the built one",
                "Use --overwrite to replace it; Grafana keeps the old version in its history",
            )
        request = {
            "dashboard": {**dashboard, "id": known.get("id"), "version": known.get("version", 0)},
            "folderUid": folder_uid,
            "overwrite": False,
            "message": "railfab dashboards push",
        }
        self._send(lambda: self._api.dashboard.update_dashboard(request))
        return True

    def put_rules(self, group: Mapping[str, Any], *, overwrite: bool) -> bool:
        """Create the group of alert rules, or replace it; rules of it that are not in this one are removed."""
        path = f"/v1/provisioning/folder/{group['folderUid']}/rule-groups/{group['title']}"
        present = self._found(lambda: self._api.api.GET(path))
        if present is not None and _holds(_by_uid(present), _by_uid(group)):
            return False
        if present is not None and present.get("rules") and not overwrite:
            raise self._error(
                f"the alert rules {group['title']} exist and differ from the built ones",
                "Use --overwrite to replace them",
            )
        self._send(lambda: self._api.api.PUT(path, json=group))
        return True

    def annotate(self, text: str, tags: Sequence[str], began: datetime, ended: datetime) -> bool:
        """Create the annotation of all dashboards that has these tags, or correct its text and end where it differs."""
        query = urlencode([("type", "annotation"), ("limit", "1"), *(("tags", tag) for tag in tags)])
        present = self._response(lambda: self._api.api.GET(f"/annotations?{query}"))
        if not isinstance(present, list):
            raise self._error(*NOT_GRAFANA)
        wanted = {"text": text, "timeEnd": _milliseconds(ended)}
        if not present:
            new = {**wanted, "time": _milliseconds(began), "tags": list(tags)}
            self._send(lambda: self._api.api.POST("/annotations", json=new))
        elif any(present[0].get(key) != value for key, value in wanted.items()):
            self._send(lambda: self._api.api.PATCH(f"/annotations/{present[0]['id']}", json=wanted))
        else:
            return False
        return True

    def _found(self, request: Callable[[], Any]) -> dict[str, Any] | None:
        """The response, or None when Grafana has no such object."""
        try:
            return self._send(request)
        except DeliveryError as error:
            if isinstance(error.__cause__, GrafanaClientError) and error.__cause__.status_code == NOT_FOUND:
                return None
            raise

    def _send(self, request: Callable[[], Any]) -> dict[str, Any]:
        """The object that Grafana responds with."""
        answer = self._response(request)
        if not isinstance(answer, dict):
            raise self._error(*NOT_GRAFANA)
        return answer

    def _response(self, request: Callable[[], Any]) -> Any:
        try:
            return request()
        except (
            GrafanaException,
            RequestException,
            TypeError,
        ) as error:  # TypeError: grafana-api received text instead of JSON
            raise self._error(*_explanation(error)) from error

    def _error(self, problem: str, remedy: str) -> DeliveryError:
        return DeliveryError(f"Grafana {self.url}", problem, remedy)


NOT_GRAFANA = ("the response is not from Grafana's API", "Check the URL, and whether a proxy or login page answers")


def _explanation(error: Exception) -> tuple[str, str]:
    """Problem and remedy."""
    if isinstance(error, GrafanaUnauthorizedError):
        return "the login was refused", "Check GRAFANA_TOKEN, or the user and password"
    if isinstance(error, GrafanaException):
        return _refusal(error)
    if isinstance(error, SSLError):
        return f"its certificate is not trusted: {_root(error)}", "Use --ca with the PEM file of its CA"
    if isinstance(error, Timeout):
        return f"no response within {TIMEOUT_S:g} s", "Check the URL and the network"
    if isinstance(error, ConnectionError):
        return f"not reachable: {_root(error)}", "Check the URL, and that Grafana is running"
    return NOT_GRAFANA


def _refusal(error: GrafanaException) -> tuple[str, str]:
    remedies = {
        FORBIDDEN: "Give the account the role Editor, or Admin to create datasources",
        NOT_FOUND: "Check the URL including its path",
        CONFLICT: "The dashboard was saved by another user since it was read; check it, then push again",
    }
    message = error.response.get("message", "") if isinstance(error.response, dict) else ""
    problem = f"it responded {error.status_code} {message}".rstrip(" .")
    return problem, remedies.get(error.status_code, "Check Grafana's log")


def _root(error: BaseException) -> str:
    """Error text of the operating system or TLS, from the exceptions wrapped by requests and urllib3."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return cause.verify_message
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        cause = cause.__cause__ or getattr(cause, "reason", None) or cause.__context__
    return "connection lost"


def _address(url: str) -> dict[str, Any]:
    """GrafanaFace's parameters. Raises DeliveryError for anything but http(s)://host[:port][/path]."""
    parts = urlsplit(url)
    if parts.username or parts.password:
        raise DeliveryError(
            "--url", "it contains a login", "Set GRAFANA_TOKEN, or GRAFANA_USERNAME and GRAFANA_PASSWORD"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname or not _port_is_a_number(parts):
        raise DeliveryError("--url", f"{url!r} is not a Grafana URL", "Use for example https://grafana.example")
    path = parts.path.strip("/")
    return {
        "protocol": parts.scheme,
        "host": f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname,
        "port": parts.port,
        "url_path_prefix": f"{path}/" if path else "",
    }


def _port_is_a_number(parts: SplitResult) -> bool:
    try:
        return parts.port is None or parts.port > 0
    except ValueError:
        return False


def _milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def _content(dashboard: Mapping[str, Any]) -> dict[str, Any]:
    """A dashboard without the fields that Grafana assigns."""
    return {key: value for key, value in dashboard.items() if key not in SET_BY_GRAFANA}


def _by_uid(group: Mapping[str, Any]) -> dict[str, Any]:
    """A group of rules whose rules are found by their UID."""
    rules = {rule["uid"]: rule for rule in group.get("rules") or ()}
    return {**group, "rules": rules, "number": len(rules)}


def _holds(present: Any, wanted: Any) -> bool:
    """Whether everything that is wanted is there; Grafana adds members of its own."""
    if isinstance(wanted, Mapping):
        return isinstance(present, Mapping) and all(_holds(present.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list):
        return isinstance(present, list) and len(present) == len(wanted) and all(map(_holds, present, wanted))
    return bool(present == wanted)
