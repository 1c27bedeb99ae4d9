"""One transaction with an SR Linux switch over gNMI."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from railfab.device import Observed
from railfab.endpoints import Credentials, Endpoint
from railfab.errors import CommitRefused
from railfab.gnmi.blocking import BlockingGnmiClient
from railfab.gnmi.client import Absent, CallFailed, SetChanges
from railfab.gnmi.target import DataType, Found
from railfab.platforms.shared.json_tree import Json, text
from railfab.platforms.shared.notifications import merge_update
from railfab.platforms.srlinux.set_request import PATHS, managed, set_request
from railfab.platforms.srlinux.state import STATE_PATHS, observed_state
from railfab.platforms.srlinux.tree import difference, tree_of

logger = logging.getLogger(__name__)


class GnmiSession:
    """A platforms.Session over gNMI.

    `commit` keeps the running configuration in this object and `rollback` sets it again. There is no rollback timer on
    the switch: after a lost connection the caller must reconnect and set the old text. gNMI cannot save the running
    configuration for the next boot either; SR Linux saves on `save startup` or with auto-save. One Set is one
    transaction: it applies as a whole or not at all.
    """

    def __init__(self, endpoint: Endpoint, credentials: Credentials) -> None:
        self._name = endpoint.name
        self._client = BlockingGnmiClient(endpoint, credentials)
        self._before: Json | None = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(self._client)
            self._client.capabilities()  # a refused login is reported now, not in the middle of a change
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def load(self) -> str:
        """The managed part of the running configuration."""
        return text(managed(self._configuration()))

    def diff(self, text: str) -> str:
        """Changes that committing this text would make, as a unified diff of `set / ...` lines."""
        return difference(self.load(), _managed(text))

    def commit(self, text: str, *, confirm_within_s: int) -> None:
        """Replace the managed subtrees that differ in one Set, and read them back.

        confirm_within_s is not sent (see the class): call `rollback` or `confirm`. Raises CommitRefused.
        """
        logger.debug("%s: no rollback timer on the switch, %d s requested", self._name, confirm_within_s)
        running, wanted = tree_of(self.load()), managed(tree_of(text))
        self._before = running
        self._set(set_request(running, wanted))
        if left := difference(self.load(), _managed(text)):
            self.rollback()
            first = next(line for line in left.splitlines() if line[:3] not in ("---", "+++"))
            raise CommitRefused(self._name, f"did not accept {first[1:]!r}", "Compare its release with the intent")

    def confirm(self) -> None:
        """Discard the former configuration. gNMI saves nothing for the next boot (see the class)."""
        self._before = None

    def rollback(self) -> None:
        """Set the configuration that ran before `commit`; do nothing without an unconfirmed commit."""
        if self._before is not None:
            self._set(set_request(tree_of(self.load()), self._before))
            self._before = None

    def observe(self) -> Observed:
        return observed_state(_tree(self._client.once(STATE_PATHS)))

    def _configuration(self) -> Json:
        """The configuration, at least the managed part, in one request; in a second one if a part does not exist."""
        try:
            found = self._client.get(PATHS, DataType.CONFIG)
        except Absent:
            found = self._client.get(("/",), DataType.CONFIG)
        return _tree(found)

    def _set(self, changes: SetChanges) -> None:
        if not changes:
            return
        logger.info("%s: setting %d subtrees", self._name, len(changes.delete) + len(changes.replace))
        try:
            self._client.set(changes)
        except CallFailed as error:
            problem = f"refused the configuration ({error.details})"
            raise CommitRefused(self._name, problem, "Correct the configuration that it names") from None


def _tree(found: Iterable[Found]) -> Json:
    """The values of an answer in one tree."""
    tree: Json = {}
    for path, value in found:
        merge_update(tree, path, value)
    return tree


def _managed(configuration: str) -> str:
    """The managed part of a configuration text; no other part is compared or set."""
    return text(managed(tree_of(configuration)))
