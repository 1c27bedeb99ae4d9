"""Access to an SR Linux switch over gNMI."""

from __future__ import annotations

import json
import logging
from contextlib import ExitStack
from dataclasses import replace
from hashlib import sha256
from types import TracebackType
from typing import Self

from railfab.device import Observed
from railfab.endpoints import Credentials, Endpoint
from railfab.errors import CommitRefused, UnsupportedFeature
from railfab.gnmi.blocking import BlockingGnmiClient
from railfab.gnmi.client import CALL_TIMEOUT_S, SetChanges
from railfab.gnmi.statuses import Absent, CallFailed, NotNow, Refused, Unimplemented
from railfab.gnmi.target import Commit, CommitAction, DataType
from railfab.platforms.image import Image
from railfab.platforms.session import ChangeName, Identity, Running, Staged, Verb
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.shared.json_tree import text as json_text
from railfab.platforms.shared.notifications import merged
from railfab.platforms.srlinux.commits import COMMITS, COMPLETE, UNCONFIRMED, pending_commit, status_of
from railfab.platforms.srlinux.drain import DRAIN, is_in_maintenance
from railfab.platforms.srlinux.drain_limits import refusals
from railfab.platforms.srlinux.drain_verb import MARK_PATH, is_drained_by_verb, with_drain, without_drain
from railfab.platforms.srlinux.set_request import PATHS, managed, restorable, set_request, system_of
from railfab.platforms.srlinux.state import GROUPS, MAC_TABLES, NEIGHBOR_PATHS, STATE_PATHS, has_svis, observed_state
from railfab.platforms.srlinux.stated import lost_access, new_servers, without_secrets
from railfab.platforms.srlinux.tree import difference, read_tree, stripped, tree_of

logger = logging.getLogger(__name__)

VERSION, CHASSIS = "/system/information/version", "/platform/chassis/type"
REMEDIES = {
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
        whole = without_secrets(merged(self._client.get(("/",), DataType.CONFIG)))
        state = merged(self._client.once((COMMITS, VERSION, CHASSIS)))
        return Running(
            text=json_text(whole),
            revision=_revision(whole),
            identity=_identity(whole, state),
            pending=pending_commit(state),
            drained=is_drained_by_verb(whole),
        )

    def stage(self, text: str, change: ChangeName | None = None) -> Staged:  # noqa: ARG002
        """Compare a candidate, as a unified diff of `set / ...` lines.

        gNMI has no call that only validates: the switch validates in `commit`. Raises ConfigError for broken JSON, and
        CommitRefused for a candidate that would end the access over which it is pushed, or that maintenance groups
        block.
        """
        running = self._configuration()
        if is_drained_by_verb(running):
            text = json_text(with_drain(tree_of(text)))
        candidate = read_tree(text)
        self._refuse_lost_access(running, candidate)
        self._refuse_maintenance(running, candidate)
        return _staged(text, running)

    def commit(self, staged: Staged, change: ChangeName, within_s: int) -> None:
        """Replace the managed subtrees that differ, in one Set, and read them back once."""
        running = self._configuration()
        if _revision(running) != staged.revision:
            raise CommitRefused(self._name, "has changed since its differences were read", "Review them again")
        candidate = read_tree(staged.text)
        self._refuse_lost_access(running, candidate)
        changes = set_request(running, candidate)
        if not changes:
            return
        changes = replace(changes, update=changes.update + self._secrets(running, candidate))
        logger.info("%s: setting %d subtrees", self._name, len(changes.delete) + len(changes.replace))
        self._set(changes, Commit(CommitAction.COMMIT, str(change), within_s))
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

    def observe(self, *, resolved: bool = True, routes: bool = False) -> Observed:
        paths = (*STATE_PATHS, *(NEIGHBOR_PATHS if resolved else ()), *((GROUPS,) if routes else ()))
        updates = self._client.once(paths)
        state = merged(updates)
        if resolved and has_svis(state):
            state = merged((*updates, *self._client.once((MAC_TABLES,))))
        return observed_state(state, resolved=resolved, routes=routes)

    def install(self, image: Image) -> None:
        """Refuse it: gNOI installs images of SR Linux, which railfab does not speak."""
        problem = f"railfab cannot install {image.file} over gNMI, the only protocol that it speaks with SR Linux"
        remedy = (
            "Install it with gNOI's OS service, as `gnoic os install` and `gnoic os activate` do, then railfab verify"
        )
        raise UnsupportedFeature(self._name, problem, remedy)

    def operate(self, verb: Verb) -> None:
        """Drain or undrain in one Set, which the switch takes as a whole or not at all; without a timer, because the
        sessions stay, and so does what is reached over them.

        Raises UnsupportedFeature for other verbs: gNMI changes configuration only.
        """
        if verb in REMEDIES:
            raise UnsupportedFeature(self._name, f"cannot {verb} over gNMI", REMEDIES[verb])
        if pending := pending_commit(merged(self._client.once((COMMITS,)))):
            problem = f"has an unconfirmed change: {pending.description}"
            raise CommitRefused(self._name, problem, "Confirm or revert it first")
        self._set(self._drained() if verb is Verb.DRAIN else self._undrained())

    def _drained(self) -> SetChanges:
        """The changes that drain the switch. Raises CommitRefused where it cannot be drained."""
        running = self._configuration()
        candidate = with_drain(running)
        if not is_in_maintenance(candidate, DRAIN):
            raise CommitRefused(self._name, "has no BGP to drain", "Deploy its configuration first")
        self._refuse_maintenance(running, candidate)
        changes = set_request(running, candidate)
        return replace(changes, update=(*changes.update, (MARK_PATH, {})))

    def _undrained(self) -> SetChanges:
        running = self._configuration()
        changes = set_request(running, without_drain(running))
        return replace(changes, delete=(*changes.delete, MARK_PATH))

    def _refuse_maintenance(self, running: Json, candidate: Json) -> None:
        """Raise CommitRefused where maintenance groups block the candidate."""
        for problem, remedy in refusals(running, candidate):
            raise CommitRefused(self._name, problem, remedy)

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

    def _set(self, changes: SetChanges, commit: Commit | None = None) -> None:
        """Set, to be confirmed where a commit is given. Raises CommitRefused."""
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
        return merged(answer)

    def _status(self, change: ChangeName) -> str:
        """The status of the last commit with this name; empty when the switch lists none."""
        return status_of(merged(self._client.once((COMMITS,))), change)


def _identity(configuration: Json, state: Json) -> Identity:
    names = stripped(configuration).get("system", {}).get("name", {})
    version = state.get("system", {}).get("information", {}).get("version", "")
    model = state.get("platform", {}).get("chassis", {}).get("type", "")
    return Identity(hostname=names.get("host-name", ""), version=version, model=model)


def _staged(candidate: str, running: Json) -> Staged:
    before = without_drain(running) if is_drained_by_verb(running) else running
    return Staged(
        text=candidate,
        diff=_difference(running, candidate),
        former=json_text(restorable(before, read_tree(candidate))),
        revision=_revision(running),
    )


def _revision(configuration: Json) -> str:
    """A digest of the managed part of a configuration; other changes on the switch do not count."""
    return sha256(json.dumps(managed(configuration), sort_keys=True).encode()).hexdigest()[:16]


def _difference(running: Json, candidate: str) -> str:
    wanted = read_tree(candidate)
    return difference(managed(running, wanted), managed(wanted, wanted))
