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
from railfab.platforms.srlinux.answers import graft
from railfab.platforms.srlinux.managed import PATHS, Edits, edits, owned
from railfab.platforms.srlinux.observed import STATE_PATHS, observed
from railfab.platforms.srlinux.reach import reach
from railfab.platforms.srlinux.tree import Json, difference, text, tree_of

logger = logging.getLogger(__name__)

ENCODING = "json_ietf"
KEEPALIVE_MS = 10_000
MAX_MESSAGE_BYTES = 64 << 20
LOGIN_CODES = frozenset(("UNAUTHENTICATED", "PERMISSION_DENIED"))
LOST_CODES = frozenset(("UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"))


class GnmiSession:
    """A railfab Session over gNMI.

    The way back is this session's own: `commit` remembers what was running, and `rollback` sets it again. There is no
    timer on the switch, because pygnmi cannot send gNMI's commit-confirmed extension: whoever loses the connection
    after a commit has to come back with the old text. Nor can gNMI save the running configuration for the next boot;
    SR Linux saves on `save startup` or with auto-save. One Set is one transaction: it applies as a whole or not at all.
    """

    def __init__(self, endpoint: Endpoint, credentials: Credentials) -> None:
        self._endpoint = endpoint
        self._credentials = credentials
        self._client: Any = None
        self._before: Json | None = None

    def __enter__(self) -> Self:
        from pygnmi.client import gNMIclient, gNMIException

        _quieten()
        with reach(self._endpoint) as trust:
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
                # Not to wait here: on a timeout pygnmi would change the ciphers of the whole process.
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
        """The part of the running configuration that railfab owns."""
        return text(owned(self._get(PATHS, "config")))

    def diff(self, text: str) -> str:
        """What committing this text would change, as unified `set / ...` lines."""
        return difference(self.load(), _owned(text))

    def commit(self, text: str, *, confirm_within_s: int) -> None:
        """Replace what differs of the owned part in one Set, and read it back.

        confirm_within_s is not sent, see the class: call `rollback` or `confirm`. Raises CommitRefused.
        """
        logger.debug("%s: no timer on the switch for the %d s asked", self._endpoint.name, confirm_within_s)
        running, wanted = tree_of(self.load()), owned(tree_of(text))
        self._before = running
        self._set(edits(running, wanted))
        if left := difference(self.load(), _owned(text)):
            self.rollback()
            first = next(line for line in left.splitlines() if line[:3] not in ("---", "+++"))
            raise CommitRefused(
                self._endpoint.name, f"did not take {first[1:]!r}", "Compare its release with the intent"
            )

    def confirm(self) -> None:
        """Give up the way back. Over gNMI nothing is saved for the next boot, see the class."""
        self._before = None

    def rollback(self) -> None:
        """Set what was running before `commit` again; nothing when there was no commit, or it was confirmed."""
        if self._before is not None:
            self._set(edits(tree_of(self.load()), self._before))
            self._before = None

    def observe(self) -> Observed:
        return observed(self._get(STATE_PATHS, "all"))

    def _get(self, paths: tuple[str, ...], kind: str) -> Json:
        """The answers to these paths in one tree; a path at which there is nothing adds nothing."""
        tree: Json = {}
        for path in paths:
            for notification in self._answer(path, kind).get("notification", []):
                prefix = elements(notification.get("prefix") or "")
                for update in notification.get("update", []):
                    graft(tree, (*prefix, *elements(update["path"] or "")), update.get("val", {}))
        return tree

    def _answer(self, path: str, kind: str) -> Json:
        from pygnmi.client import gNMIException

        try:
            answer: Json = self._client.get(path=[path], datatype=kind, encoding=ENCODING)
        except gNMIException as error:
            if _code(error) != "NOT_FOUND":
                self._refuse(error, f"Check that it serves {path}")
            return {}
        return answer

    def _set(self, changes: Edits) -> None:
        from pygnmi.client import gNMIException

        if not changes:
            return
        logger.info("%s: setting %d subtrees", self._endpoint.name, len(changes.delete) + len(changes.replace))
        try:
            self._client.set(
                delete=list(changes.delete),
                replace=list(changes.replace),
                # pygnmi sends a string as it is: a leaf has to be JSON already.
                update=[(path, json.dumps(value)) for path, value in changes.update],
                encoding=ENCODING,
            )
        except gNMIException as error:
            if _code(error) in LOGIN_CODES | LOST_CODES:
                self._refuse(error, "Check the connection")
            problem = f"refused the configuration ({_details(error)})"
            raise CommitRefused(self._endpoint.name, problem, "Correct what it names") from None

    def _refuse(self, error: Exception, remedy: str) -> NoReturn:
        """Turn what went wrong into one of railfab's errors."""
        name, code = self._endpoint.name, _code(error)
        if code in LOGIN_CODES:
            user = self._credentials.username
            raise LoginRefused(name, f"does not let {user} in ({_details(error)})", "Check user and password") from None
        if code in LOST_CODES:
            place = f"{self._endpoint.host}:{self._endpoint.gnmi_port}"
            raise Unreachable(name, f"lost the connection to {place} ({_details(error)})", "Check the switch") from None
        raise DeviceError(name, f"refused a gNMI call ({code}: {_details(error)})", remedy) from None


def _owned(configuration: str) -> str:
    """The owned part of a configuration text: no other part is compared or set."""
    return text(owned(tree_of(configuration)))


def _code(error: Exception) -> str:
    """The gRPC status behind pygnmi's exception; empty when there is none."""
    origin: Any = getattr(error, "orig_exc", None)
    return str(origin.code().name) if hasattr(origin, "code") else ""


def _details(error: Exception) -> str:
    """What the other side said, in one line."""
    origin: Any = getattr(error, "orig_exc", None)
    said = origin.details() if hasattr(origin, "details") else str(error)
    return " ".join(str(said).split()).rstrip(".")


def _quieten() -> None:
    """pygnmi logs to stdout from its import on; what goes wrong is in the exception already."""
    log = logging.getLogger("pygnmi.client")
    log.handlers = [logging.NullHandler()]
    log.propagate = False
