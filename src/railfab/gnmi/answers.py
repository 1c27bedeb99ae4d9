"""Answers of a gNMI target to Get and Set, and the statuses of its refusals."""

from __future__ import annotations

import time

import grpc

from railfab.errors import RailfabError
from railfab.gnmi import messages
from railfab.gnmi.bundles import proto_path
from railfab.gnmi.extensions import ExtensionUnsupported, commit_of, refuse_extensions
from railfab.gnmi.paths import Element, to_text_elements
from railfab.gnmi.requests import MissingFeature, asked_steps, steps_of, union_steps
from railfab.gnmi.target import (
    CommitTarget,
    DataType,
    Edit,
    Found,
    GnmiTarget,
    Operation,
    PathNotFound,
    RequestRefused,
    TargetView,
    WrongState,
)
from railfab.gnmi.values import ENCODINGS, PROTO, decode, encode

MOST_STATUS_CHARACTERS = 2000
"""A status is sent in a header, which gRPC limits to 8 kB; some characters take three bytes in it."""


def status_text(error: RailfabError) -> str:
    """An error as the text of a status: as many lines as a response's header has room for, and the number of others."""
    lines = str(error).splitlines()
    room, kept = MOST_STATUS_CHARACTERS, 0
    while kept < len(lines) and (room := room - len(lines[kept])) >= 0:
        kept += 1
    if kept == len(lines):
        return "\n".join(lines)
    if not kept:
        return lines[0][:MOST_STATUS_CHARACTERS]
    return "\n".join((*lines[:kept], f"and {len(lines) - kept} more"))


_CODES: tuple[tuple[type[RailfabError], grpc.StatusCode], ...] = (
    (MissingFeature, grpc.StatusCode.UNIMPLEMENTED),
    (ExtensionUnsupported, grpc.StatusCode.UNIMPLEMENTED),
    (PathNotFound, grpc.StatusCode.NOT_FOUND),
    (WrongState, grpc.StatusCode.FAILED_PRECONDITION),
)


def status_code(error: RailfabError) -> grpc.StatusCode:
    """The status of a refusal."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), grpc.StatusCode.INVALID_ARGUMENT)


def get_response(target: GnmiTarget, view: TargetView, request: messages.GetRequest) -> messages.GetResponse:
    """Answer a Get: one notification for each path."""
    if request.encoding not in ENCODINGS:
        name = messages.Encoding.Name(request.encoding)
        raise MissingFeature(target.name, f"encoding {name} is not supported", "Use JSON_IETF, JSON or PROTO")
    if request.use_models:
        raise MissingFeature(target.name, "use_models is not supported", "Leave it out")
    data_type = _data_type(request.type)
    notifications = []
    for path in request.path or [messages.Path()]:
        steps = asked_steps(target, request.prefix, path)
        proto = request.encoding == PROTO
        answers = _leaves(target.name, view, steps, data_type) if proto else view.get(steps, data_type)
        notification = messages.Notification(timestamp=view.timestamp_ns)
        notification.prefix.target = request.prefix.target
        for answer in answers:
            notification.update.add(path=proto_path(answer.path), val=encode(answer.value, request.encoding))
        notifications.append(notification)
    return messages.GetResponse(notification=notifications)


def _data_type(wanted: int) -> DataType:
    """The part of the datastore that is asked for; OPERATIONAL is answered as STATE."""
    name = messages.GetRequest.DataType.Name(wanted)
    return DataType.STATE if name == "OPERATIONAL" else DataType(name)


def _leaves(target: str, view: TargetView, steps: tuple[Element, ...], data_type: DataType) -> list[Found]:
    """The leaves below a path, for an encoding without containers."""
    leaves = [
        Found(chosen.leaf.path, chosen.value if chosen.place is None else view.values[chosen.place])
        for chosen in view.select(steps, data_type)
    ]
    if not leaves:
        raise PathNotFound(target, f"nothing at {to_text_elements(steps)}", "Check the path and its keys")
    return leaves


def set_response(target: GnmiTarget, request: messages.SetRequest) -> messages.SetResponse:
    """Apply a Set: deletes, then replaces, then updates, as the specification orders them (section 3.4.3)."""
    commit = commit_of(target.name, request.extension)
    edits = _union_edits(target, request) if request.union_replace else _edits(target, request)
    if commit is None:
        target.set(edits)
    elif isinstance(target, CommitTarget):
        target.set_commit(edits, commit)
    else:
        refuse_extensions(target.name, request.extension)
    union = "UNION_REPLACE" if request.union_replace else None
    results = [messages.UpdateResult(path=proto_path(edit.path), op=union or edit.operation.value) for edit in edits]
    return messages.SetResponse(
        prefix=messages.Path(target=request.prefix.target), response=results, timestamp=time.time_ns()
    )


def _edits(target: GnmiTarget, request: messages.SetRequest) -> list[Edit]:
    edits = [Edit(Operation.DELETE, steps_of(target, request.prefix, path)) for path in request.delete]
    for operation, updates in ((Operation.REPLACE, request.replace), (Operation.UPDATE, request.update)):
        for entry in updates:
            edits.append(Edit(operation, steps_of(target, request.prefix, entry.path), decode(entry.val)))
    return edits


def _union_edits(target: GnmiTarget, request: messages.SetRequest) -> list[Edit]:
    """The edits that replace each subtree with the union of the values given in it.

    Values of a target's own models replace subtrees of the running configuration (OpenConfig, union_replace gNMI
    method, section 5.3.2).
    """
    if request.delete or request.replace or request.update:
        raise RequestRefused(target.name, "union_replace beside another operation", "Send it alone")
    edits: list[Edit] = []
    for steps, entry in union_steps(target, request.prefix, request.union_replace):
        inside = any(steps[: len(edit.path)] == edit.path for edit in edits)
        edits.append(Edit(Operation.UPDATE if inside else Operation.REPLACE, steps, decode(entry.val)))
    return edits
