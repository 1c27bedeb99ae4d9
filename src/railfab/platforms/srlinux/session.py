"""Access to an SR Linux switch over gNMI."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from hashlib import sha256
from types import TracebackType
from typing import NoReturn, Self

from railfab.device import Observed
from railfab.endpoints import Credentials, Endpoint
from railfab.errors import CommitRefused, UnsupportedFeature
from railfab.gnmi.blocking import BlockingGnmiClient
from railfab.gnmi.client import CALL_TIMEOUT_S, SetChanges
from railfab.gnmi.statuses import Absent, CallFailed, NotNow, Refused, Unimplemented
from railfab.gnmi.target import Commit, CommitAction, DataType, Found
from railfab.platforms.session import ChangeName, Identity, Pending, Running, Staged, Verb
from railfab.platforms.shared.json_tree import Json, text
from railfab.platforms.shared.notifications import merge_update
from railfab.platforms.srlinux.drain_limits import refusals
from railfab.platforms.srlinux.set_request import PATHS, managed, restorable, set_request, system_of
from railfab.platforms.srlinux.state import MAC_TABLES, STATE_PATHS, has_svis, observed_state
from railfab.platforms.srlinux.stated import lost_access, new_servers, without_secrets
from railfab.platforms.srlinux.tree import difference, stripped, tree_of

logger = logging.getLogger(__name__)

COMMITS = "/system/configuration/commit[id=*]"
"""The list of configuration transactions (srl_nokia-configuration.yang)."""
VERSION, CHASSIS = "/system/information/version", "/platform/chassis/type"
UNCONFIRMED, COMPLETE = "unconfirmed", "complete"
"""Values of commit-status, in the same module."""

REMEDIES = {
    Verb.DRAIN: "List the switch under `drain` in the intent, and deploy",
    Verb.UNDRAIN: "Remove the switch from `drain` in the intent, and deploy",
    Verb.SAVE: "Set commit-save of its gNMI server or auto-save, or enter `save startup` in its CLI",
    Verb.RELOAD: "Enter `tools platform chassis reboot` in its CLI",
}
"""Remedies for what gNMI has no call for."""


class GnmiSession:
    """A platforms.Session over gNMI.

    A change is one Set with gNMI's commit-confirmed extension; its ID is the name of the change. So the timer and the
    former configuration are on the switch, and any later process confirms or cancels it. Nokia's models name the
    extension from 24.7.1 on (feature `gnmi-extensions` of srl_nokia-features.yang: "gNMI commit confirmed, depth and
    config subscription extensions"). What waits for a confirmation is read from the switch's list of commits, whose
    `persist-id` we take for that ID; if a release does not show it there, a change is still confirmed and reverted by
    its name, but `running` names it as one that railfab did not make.
    read_within_s: limit of every call, a Set too; None is that of the client [s].
    """

    def __init__(self, endpoint: Endpoint, credentials: Credentials, *, read_within_s: float | None = None) -> None:
        self._name = endpoint.name
        self._endpoint, self._credentials = endpoint, credentials
        self._call_timeout_s = read_within_s or CALL_TIMEOUT_S
        self._client = self._new_client()
        self._paths: tuple[str, ...] = PATHS
        self._stack = ExitStack()

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

    def running(self) -> Running:
        """The whole running configuration, and the commit that waits for its confirmation.

        The secrets of AAA servers are left out. The revision is that of the managed part.
        """
        whole = without_secrets(_tree(self._client.get(("/",), DataType.CONFIG)))
        state = _tree(self._client.once((COMMITS, VERSION, CHASSIS)))
        return Running(
            text=text(whole),
            revision=_revision(whole),
            identity=_identity(whole, state),
            pending=_pending(_commits(state)),
        )

    def stage(self, text: str) -> Staged:
        """Compare a candidate, as a unified diff of `set / ...` lines.

        gNMI has no call that only validates: the switch validates in `commit`. Raises ConfigError for broken JSON, and
        CommitRefused for a candidate that would end the access over which it is pushed, or that maintenance groups
        block.
        """
        running, candidate = self._configuration(), tree_of(text)
        self._refuse_lost_access(running, candidate)
        for problem, remedy in refusals(running, candidate):
            raise CommitRefused(self._name, problem, remedy)
        return _staged(text, running)

    def commit(self, staged: Staged, change: ChangeName, within_s: int) -> None:
        """Replace the managed subtrees that differ, in one Set, and read them back once."""
        running = self._configuration()
        if _revision(running) != staged.revision:
            raise CommitRefused(self._name, "has changed since its differences were read", "Review them again")
        candidate = tree_of(staged.text)
        self._refuse_lost_access(running, candidate)
        changes = set_request(running, candidate)
        if not changes:
            return
        changes = replace(changes, update=changes.update + self._secrets(running, candidate))
        logger.info("%s: setting %d subtrees", self._name, len(changes.delete) + len(changes.replace))
        self._begin(changes, Commit(CommitAction.COMMIT, str(change), within_s))
        if any("/grpc-server" in path for path, _ in changes.update):
            self._reconnect()
        if left := _difference(self._configuration(), staged.text):
            self.revert(change)
            first = next(line for line in left.splitlines() if line[:3] not in ("---", "+++"))
            raise CommitRefused(self._name, f"did not accept {first[1:]!r}", "Compare its release with the intent")

    def confirm(self, change: ChangeName) -> None:
        """Keep a change.

        It is kept for the next boot too where the switch saves by itself (`commit-save` of its gNMI server, or
        `auto-save`): gNMI has no call for it.
        """
        try:
            self._client.set(SetChanges(), Commit(CommitAction.CONFIRM, str(change)))
        except Refused as error:
            status = self._status(change)
            if status == UNCONFIRMED:
                raise
            if status != COMPLETE:
                problem = f"no longer has the change {change}, which it reverted ({error.details})"
                raise CommitRefused(self._name, problem, "Deploy again") from None

    def revert(self, change: ChangeName) -> None:
        try:
            self._client.set(SetChanges(), Commit(CommitAction.CANCEL, str(change)))
        except Refused:
            if self._status(change) == UNCONFIRMED:
                raise

    def observe(self) -> Observed:
        state = list(self._client.once(STATE_PATHS))
        if has_svis(_tree(state)):
            state += self._client.once((MAC_TABLES,))
        return observed_state(_tree(state))

    def operate(self, verb: Verb) -> NoReturn:
        """Raise UnsupportedFeature: gNMI changes configuration only."""
        raise UnsupportedFeature(self._name, f"cannot {verb} over gNMI", REMEDIES[verb])

    def _refuse_lost_access(self, running: Json, candidate: Json) -> None:
        """Raise CommitRefused where gNMI would be served elsewhere, so that the change could not be confirmed."""
        if leaf := lost_access(system_of(managed(running)), system_of(managed(candidate, candidate))):
            problem = f"would lose railfab's own access: its gNMI server has another {leaf}"
            remedy = "Change it in the CLI of the switch, and the port in the inventory, then deploy"
            raise CommitRefused(self._name, problem, remedy)

    def _secrets(self, running: Json, candidate: Json) -> tuple[tuple[str, str], ...]:
        """Updates with the secret of each AAA server that is new; none without a secret in the credentials."""
        secret = self._credentials.aaa_secret
        servers = new_servers(system_of(managed(running)), system_of(managed(candidate, candidate)))
        return () if secret is None else tuple((path, secret) for path in servers)

    def _reconnect(self) -> None:
        """Connect anew, as any later client has to. Raises DeviceError where it fails; then nothing is confirmed."""
        self._stack.close()
        self._client = self._new_client()
        self.__enter__()

    def _new_client(self) -> BlockingGnmiClient:
        return BlockingGnmiClient(self._endpoint, self._credentials, call_timeout_s=self._call_timeout_s)

    def _begin(self, changes: SetChanges, commit: Commit) -> None:
        """Set, to be confirmed. Raises CommitRefused."""
        try:
            self._client.set(changes, commit)
        except Unimplemented as error:
            problem = f"lacks gNMI's commit-confirmed extension ({error.details})"
            raise CommitRefused(self._name, problem, "Upgrade it to SR Linux 24.7 or later") from None
        except NotNow as error:
            raise CommitRefused(
                self._name, f"is being changed ({error.details})", "Deploy again when it ended"
            ) from None
        except CallFailed as error:
            problem = f"refused the configuration ({error.details})"
            raise CommitRefused(self._name, problem, "Correct the configuration that it names") from None

    def _configuration(self) -> Json:
        """The configuration of which a part is managed, in one request.

        A Get is refused as a whole when one path does not exist, as on a new switch: then all of it is read instead.
        """
        try:
            answer = self._client.get(self._paths, DataType.CONFIG)
        except Absent:
            self._paths = ("/",)
            answer = self._client.get(self._paths, DataType.CONFIG)
        return _tree(answer)

    def _status(self, change: ChangeName) -> str:
        """The status of the last commit with this name; empty when the switch lists none."""
        commits = _commits(_tree(self._client.once((COMMITS,))))
        return next((str(commit["status"]) for commit in reversed(commits) if _is(commit, change)), "")


def _is(commit: Json, change: ChangeName) -> bool:
    return bool(commit.get("persist-id") == str(change))


def _commits(state: Json) -> list[Json]:
    """The commits that the switch lists, oldest first."""
    configuration = state.get("system", {}).get("configuration", {})
    return sorted(configuration.get("commit", []), key=lambda commit: int(commit["id"]))


def _pending(commits: list[Json]) -> Pending | None:
    """The commit that waits for its confirmation. The models have no leaf for the time at which it is reverted."""
    waiting = next((commit for commit in reversed(commits) if commit.get("status") == UNCONFIRMED), None)
    if waiting is None:
        return None
    name = str(waiting.get("persist-id", ""))
    by = f" of {waiting['username']}" if "username" in waiting else ""
    since = f" since {waiting['started']}" if "started" in waiting else ""
    description = f"commit {name or waiting['id']}{by} waits{since}"
    return Pending(change=ChangeName.parse(name), description=description, reverts_in_s=None)


def _identity(configuration: Json, state: Json) -> Identity:
    names = stripped(configuration).get("system", {}).get("name", {})
    version = state.get("system", {}).get("information", {}).get("version", "")
    model = state.get("platform", {}).get("chassis", {}).get("type", "")
    return Identity(hostname=names.get("host-name", ""), version=version, model=model)


def _staged(candidate: str, running: Json) -> Staged:
    return Staged(
        text=candidate,
        diff=_difference(running, candidate),
        former=text(restorable(running, tree_of(candidate))),
        revision=_revision(running),
    )


def _revision(configuration: Json) -> str:
    """A digest of the managed part of a configuration; other changes on the switch do not count."""
    return sha256(json.dumps(managed(configuration), sort_keys=True).encode()).hexdigest()[:16]


def _difference(running: Json, candidate: str) -> str:
    wanted = tree_of(candidate)
    return difference(text(managed(running, wanted)), text(managed(wanted, wanted)))


def _tree(answer: Iterable[Found]) -> Json:
    """The values of an answer in one tree."""
    tree: Json = {}
    for path, value in answer:
        merge_update(tree, path, value)
    return tree
