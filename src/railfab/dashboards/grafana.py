"""A Grafana server as a sink, through the package grafana-api (legacy `/api`, which Grafana 13 still serves)."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from grafana_api.grafana_api import GrafanaClientError, GrafanaException, GrafanaUnauthorizedError
from grafana_api.grafana_face import GrafanaFace
from requests.exceptions import ConnectionError, RequestException, SSLError, Timeout

from railfab.dashboards.files import DeliveryError
from railfab.dashboards.monitoring import Datasource

FORBIDDEN, NOT_FOUND, CONFLICT = 403, 404, 412
TIMEOUT_S = 10.0
SET_BY_GRAFANA = ("id", "version")


@dataclass(frozen=True, slots=True)
class GrafanaLogin:
    """A token, or a user and a password; neither shows in a representation."""

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
    raise DeliveryError("Grafana", "there is no login", "Set GRAFANA_TOKEN, or GRAFANA_USERNAME and GRAFANA_PASSWORD")


def _token(path: Path) -> str:
    try:
        token = path.read_text().strip()
    except OSError as error:
        raise DeliveryError(
            str(path), f"cannot be read: {error.strerror}", "Name a file that holds the token"
        ) from error
    except UnicodeDecodeError:
        raise DeliveryError(str(path), "is no text", "Name a file that holds the token") from None
    if not token:
        raise DeliveryError(str(path), "is empty", "Put the token of a service account into it")
    return token


class GrafanaSink:
    """Folders, datasources and dashboards of one Grafana. ca: PEM file to trust instead of the system's authorities."""

    def __init__(self, url: str, login: GrafanaLogin, *, ca: Path | None = None) -> None:
        self.url = url
        if ca is not None and not ca.is_file():
            raise DeliveryError(str(ca), "there is no such file", "Name the authority's PEM file")
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
        self._asked(lambda: self._api.folder.create_folder(title, uid))
        return True

    def ensure_datasource(self, datasource: Datasource) -> bool:
        """Made or corrected under its name."""
        wanted = datasource.document()
        present = self._found(lambda: self._api.datasource.get_datasource_by_name(datasource.name))
        if present is None:
            self._asked(lambda: self._api.datasource.create_datasource(wanted))
        elif any(present.get(key) != value for key, value in wanted.items()):
            changed = {**present, **wanted}
            self._asked(lambda: self._api.datasource.update_datasource(present["id"], changed))
        else:
            return False
        return True

    def put_dashboard(self, dashboard: Mapping[str, Any], *, folder_uid: str, overwrite: bool) -> bool:
        """Made, or replaced by version: whoever saves it meanwhile makes this fail rather than vanish."""
        present = self._found(lambda: self._api.dashboard.get_dashboard(dashboard["uid"]))
        known = {} if present is None else present["dashboard"]
        if known and _content(known) == _content(dashboard):
            return False
        if known and not overwrite:
            raise self._error(
                f"dashboard {dashboard['uid']} is there (version {known.get('version')}) and differs from ours",
                "Use --overwrite to replace it; Grafana keeps the old version in its history",
            )
        request = {
            "dashboard": {**dashboard, "id": known.get("id"), "version": known.get("version", 0)},
            "folderUid": folder_uid,
            "overwrite": False,
            "message": "railfab dashboards push",
        }
        self._asked(lambda: self._api.dashboard.update_dashboard(request))
        return True

    def _found(self, request: Callable[[], Any]) -> dict[str, Any] | None:
        """The answer, or None where Grafana has no such thing."""
        try:
            return self._asked(request)
        except DeliveryError as error:
            if isinstance(error.__cause__, GrafanaClientError) and error.__cause__.status_code == NOT_FOUND:
                return None
            raise

    def _asked(self, request: Callable[[], Any]) -> dict[str, Any]:
        try:
            answer = request()
        except (GrafanaException, RequestException, TypeError) as error:  # TypeError: grafana-api met a page of text
            raise self._error(*_explanation(error)) from error
        if not isinstance(answer, dict):
            raise self._error(*NOT_GRAFANA)
        return answer

    def _error(self, problem: str, remedy: str) -> DeliveryError:
        return DeliveryError(f"Grafana {self.url}", problem, remedy)


NOT_GRAFANA = ("the answer is not one of Grafana's", "Check the URL, and that no proxy or login page stands before it")


def _explanation(error: Exception) -> tuple[str, str]:
    """Problem and remedy."""
    if isinstance(error, GrafanaUnauthorizedError):
        return "the login was refused", "Check GRAFANA_TOKEN, or the user and password"
    if isinstance(error, GrafanaException):
        return _refusal(error)
    if isinstance(error, SSLError):
        return f"its certificate is not trusted: {_root(error)}", "Name the authority's PEM file with --ca"
    if isinstance(error, Timeout):
        return f"no answer within {TIMEOUT_S:g} s", "Check the URL and the way there"
    if isinstance(error, ConnectionError):
        return f"not reachable: {_root(error)}", "Check the URL, and that Grafana runs"
    return NOT_GRAFANA


def _refusal(error: GrafanaException) -> tuple[str, str]:
    remedies = {
        FORBIDDEN: "Give the account the role Editor, and Admin if it is to make datasources",
        NOT_FOUND: "Check the URL, its path included",
        CONFLICT: "Somebody else saved it meanwhile; look at it, then run again",
    }
    said = error.response.get("message", "") if isinstance(error.response, dict) else ""
    return f"it answered {error.status_code} {said}".rstrip(" ."), remedies.get(error.status_code, "See Grafana's log")


def _root(error: BaseException) -> str:
    """What the operating system or TLS said, out of the wrappings of requests and urllib3."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return cause.verify_message
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        cause = cause.__cause__ or getattr(cause, "reason", None) or cause.__context__
    return "the connection broke"


def _address(url: str) -> dict[str, Any]:
    """GrafanaFace's parameters. Raises DeliveryError for anything but http(s)://host[:port][/path]."""
    parts = urlsplit(url)
    if parts.username or parts.password:
        raise DeliveryError("--url", "it holds a login", "Set GRAFANA_TOKEN, or GRAFANA_USERNAME and GRAFANA_PASSWORD")
    if parts.scheme not in ("http", "https") or not parts.hostname or not _port_is_a_number(parts):
        raise DeliveryError("--url", f"{url!r} is no address of a Grafana", "Write it like https://grafana.example")
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


def _content(dashboard: Mapping[str, Any]) -> dict[str, Any]:
    """A dashboard without what Grafana numbers itself."""
    return {key: value for key, value in dashboard.items() if key not in SET_BY_GRAFANA}
