"""One transaction with an SR Linux switch over gNMI, with pygnmi."""

from __future__ import annotations

import json
import logging
from types import TracebackType
from typing import Any, NoReturn, Self

from railfab.device import Observed
from railfab.endpoints import Credentials, Endpoint
from railfab.errors import CommitRefused, DeviceError, LoginRefused, Unreachable
from railfab.gnmi.paths import elements
from railfab.platforms.shared.json_tree import Json, text
from railfab.platforms.shared.notifications import merge_update
from railfab.platforms.srlinux.set_request import PATHS, SetRequest, managed, set_request
from railfab.platforms.srlinux.state import STATE_PATHS, observed_state
from railfab.platforms.srlinux.tls import tls_arguments
from railfab.platforms.srlinux.tree import difference, tree_of

logger = logging.getLogger(__name__)

ENCODING = "json_ietf"
KEEPALIVE_MS = 10_000
MAX_MESSAGE_BYTES = 64 << 20
LOGIN_CODES = frozenset(("UNAUTHENTICATED", "PERMISSION_DENIED"))
LOST_CODES = frozenset(("UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"))


class GnmiSession:
    """A platforms.Session over gNMI.

    `commit` keeps the running configuration in this object and `rollback` sets it again. There is no rollback timer on
    the switch, because pygnmi cannot send gNMI's commit-confirmed extension: after a lost connection the caller must
    reconnect and set the old text. gNMI cannot save the running configuration for the next boot either; SR Linux saves
    on `save startup` or with auto-save. One Set is one transaction: it applies as a whole or not at all.
    """

    def __init__(self, endpoint: Endpoint, credentials: Credentials) -> None:
        self._endpoint = endpoint
        self._credentials = credentials
        self._client: Any = None
        self._before: Json | None = None

    def __enter__(self) -> Self:
        from pygnmi.client import gNMIclient, gNMIException

        _silence_pygnmi()
        with tls_arguments(self._endpoint) as trust:
            self._client = gNMIclient(
                target=(self._endpoint.host, self._endpoint.gnmi_port),
                username=self._credentials.username,
                password=self._credentials.password,
                **trust,
                grpc_options=[("grpc.max_receive_message_length", MAX_MESSAGE_BYTES)],
                keepalive_time_ms=KEEPALIVE_MS,
                keepalive_timeout_ms=KEEPALIVE_MS,
            )
            try:
                # No timeout here: after one, pygnmi changes the TLS ciphers of the whole process.
                self._client.connect(timeout=0)
            except gNMIException as error:
                if _code(error):
                    self._client.close()
                self._refuse(error, "Check the switch's gNMI server")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def load(self) -> str:
        """The managed part of the running configuration."""
        return text(managed(self._get(PATHS, "config")))

    def diff(self, text: str) -> str:
        """Changes that committing this text would make, as a unified diff of `set / ...` lines."""
        return difference(self.load(), _managed(text))

    def commit(self, text: str, *, confirm_within_s: int) -> None:
        """Replace the managed subtrees that differ in one Set, and read them back.

        confirm_within_s is not sent (see the class): call `rollback` or `confirm`. Raises CommitRefused.
        """
        logger.debug("%s: no rollback timer on the switch, %d s requested", self._endpoint.name, confirm_within_s)
        running, wanted = tree_of(self.load()), managed(tree_of(text))
        self._before = running
        self._set(set_request(running, wanted))
        if left := difference(self.load(), _managed(text)):
            self.rollback()
            first = next(line for line in left.splitlines() if line[:3] not in ("---", "+++"))
            raise CommitRefused(
                self._endpoint.name, f"did not accept {first[1:]!r}", "Compare its release with the intent"
            )

    def confirm(self) -> None:
        """Discard the former configuration. gNMI saves nothing for the next boot (see the class)."""
        self._before = None

    def rollback(self) -> None:
        """Set the configuration that ran before `commit`; do nothing without an unconfirmed commit."""
        if self._before is not None:
            self._set(set_request(tree_of(self.load()), self._before))
            self._before = None

    def observe(self) -> Observed:
        return observed_state(self._get(STATE_PATHS, "all"))

    def _get(self, paths: tuple[str, ...], kind: str) -> Json:
        """The values at these paths in one tree; a path without value adds nothing."""
        tree: Json = {}
        for path in paths:
            for notification in self._answer(path, kind).get("notification", []):
                prefix = elements(notification.get("prefix") or "")
                for update in notification.get("update", []):
                    merge_update(tree, (*prefix, *elements(update["path"] or "")), update.get("val", {}))
        return tree

    def _answer(self, path: str, kind: str) -> Json:
        from pygnmi.client import gNMIException

        try:
            answer: Json = self._client.get(path=[path], datatype=kind, encoding=ENCODING)
        except gNMIException as error:
            if _code(error) != "NOT_FOUND":
                self._refuse(error, f"Check that the switch serves {path}")
            return {}
        return answer

    def _set(self, changes: SetRequest) -> None:
        from pygnmi.client import gNMIException

        if not changes:
            return
        logger.info("%s: setting %d subtrees", self._endpoint.name, len(changes.delete) + len(changes.replace))
        try:
            self._client.set(
                delete=list(changes.delete),
                replace=list(changes.replace),
                # pygnmi sends strings unencoded: a leaf must be JSON already.
                update=[(path, json.dumps(value)) for path, value in changes.update],
                encoding=ENCODING,
            )
        except gNMIException as error:
            if _code(error) in LOGIN_CODES | LOST_CODES:
                self._refuse(error, "Check the connection")
            problem = f"refused the configuration ({_details(error)})"
            raise CommitRefused(self._endpoint.name, problem, "Correct the configuration that it names") from None

    def _refuse(self, error: Exception, remedy: str) -> NoReturn:
        """Raise the railfab error for a gNMI error."""
        name, code = self._endpoint.name, _code(error)
        if code in LOGIN_CODES:
            user = self._credentials.username
            raise LoginRefused(
                name, f"rejects the login of {user} ({_details(error)})", "Check the user name and password"
            ) from None
        if code in LOST_CODES:
            address = f"{self._endpoint.host}:{self._endpoint.gnmi_port}"
            raise Unreachable(
                name, f"lost the connection to {address} ({_details(error)})", "Check the switch"
            ) from None
        raise DeviceError(name, f"refused a gNMI request ({code}: {_details(error)})", remedy) from None


def _managed(configuration: str) -> str:
    """The managed part of a configuration text; no other part is compared or set."""
    return text(managed(tree_of(configuration)))


def _code(error: Exception) -> str:
    """The gRPC status code of pygnmi's exception; empty when there is none."""
    origin: Any = getattr(error, "orig_exc", None)
    return str(origin.code().name) if hasattr(origin, "code") else ""


def _details(error: Exception) -> str:
    """The error details of the switch, as one line."""
    origin: Any = getattr(error, "orig_exc", None)
    details = origin.details() if hasattr(origin, "details") else str(error)
    return " ".join(str(details).split()).rstrip(".")


def _silence_pygnmi() -> None:
    """Remove pygnmi's log handler, which writes to stdout; its exceptions carry the same text."""
    log = logging.getLogger("pygnmi.client")
    log.handlers = [logging.NullHandler()]
    log.propagate = False
