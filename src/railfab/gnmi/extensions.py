"""gNMI's commit-confirmed extension as a protobuf message and back."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from railfab.gnmi import messages
from railfab.gnmi.target import Commit, CommitAction, RequestRefused
from railfab.units import NS_PER_S

_BODIES = {
    CommitAction.COMMIT: messages.CommitRequest,
    CommitAction.CONFIRM: messages.CommitConfirm,
    CommitAction.CANCEL: messages.CommitCancel,
    CommitAction.SET_ROLLBACK_DURATION: messages.CommitSetRollbackDuration,
}


class ExtensionUnsupported(RequestRefused):
    """A request has an extension that is not supported; it is never ignored, because the client counts on it."""


def commit_extension(commit: Commit) -> messages.Extension:
    """The extension of a SetRequest."""
    body = _BODIES[commit.action]()
    if commit.rollback_s is not None:
        body.rollback_duration.FromTimedelta(timedelta(seconds=commit.rollback_s))
    return messages.Extension(commit=messages.Commit(id=commit.id, **{commit.action.value: body}))


def commit_of(target: str, extensions: Iterable[messages.Extension]) -> Commit | None:
    """The commit extension among those of a SetRequest; None when there is no extension.

    Raises ExtensionUnsupported for any other extension, RequestRefused for a commit without id or action, or two.
    """
    commits = [_commit(target, extension) for extension in extensions]
    if len(commits) > 1:
        raise RequestRefused(target, "a Set with two commit extensions", "Send one")
    return commits[0] if commits else None


def refuse_extensions(target: str, extensions: Iterable[messages.Extension]) -> None:
    """Raise ExtensionUnsupported if there is any."""
    for extension in extensions:
        name = extension.WhichOneof("ext") or "unknown to this server"
        raise ExtensionUnsupported(target, f"the extension {name} is not supported", "Leave it out")


def _commit(target: str, extension: messages.Extension) -> Commit:
    if extension.WhichOneof("ext") != "commit":
        refuse_extensions(target, (extension,))
    wanted = extension.commit
    action = wanted.WhichOneof("action")
    if not wanted.id:
        raise RequestRefused(target, "a commit without an id", "Give it the id of the commit")
    if action is None:
        raise RequestRefused(target, f"commit {wanted.id!r} without an action", "Commit, confirm or cancel it")
    body = getattr(wanted, action)
    timed = "rollback_duration" in body.DESCRIPTOR.fields_by_name and body.HasField("rollback_duration")
    rollback_s = body.rollback_duration.ToNanoseconds() / NS_PER_S if timed else None
    return Commit(CommitAction(action), wanted.id, rollback_s)
