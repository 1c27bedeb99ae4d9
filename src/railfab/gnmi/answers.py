"""Answers of a gNMI target to Get and Set, and the statuses of its refusals."""

from __future__ import annotations

import time
from collections.abc import Iterable

import grpc

from railfab.errors import RailfabError
from railfab.gnmi import messages
from railfab.gnmi.bundles import proto_path
from railfab.gnmi.commands import command_target, command_update, run_lines
from railfab.gnmi.extensions import ExtensionUnsupported, commit_of, refuse_extensions
from railfab.gnmi.paths import Element, to_text_elements
from railfab.gnmi.requests import MissingFeature, asked_steps, check_encoding, steps_of, union_steps
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
    offer_of,
)
from railfab.gnmi.values import PROTO, decode, encode

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
    if not offer_of(target).get:
        raise MissingFeature(target.name, "the call Get is not supported", "Subscribe")
    if request.use_models:
        raise MissingFeature(target.name, "use_models is not supported", "Leave it out")
    notifications = []
    for path in request.path or [messages.Path()]:
        notification = messages.Notification(timestamp=view.timestamp_ns, update=_updates(target, view, request, path))
        notification.prefix.target = request.prefix.target
        notifications.append(notification)
    return messages.GetResponse(notification=notifications)


def _updates(
    target: GnmiTarget, view: TargetView, request: messages.GetRequest, path: messages.Path
) -> list[messages.Update]:
    """The answers to one path of a Get."""
    if commands := command_target(target, request.prefix, path):
        return [command_update(commands, path, request.encoding)]
    check_encoding(target, request.encoding)
    steps, data_type = asked_steps(target, request.prefix, path), _data_type(request.type)
    proto = request.encoding == PROTO
    answers = _leaves(target.name, view, steps, data_type) if proto else view.get(steps, data_type)
    return [
        messages.Update(path=proto_path(answer.path), val=encode(answer.value, request.encoding)) for answer in answers
    ]


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
    if not offer_of(target).set:
        raise MissingFeature(target.name, "the call Set is not supported", "Configure it over SSH")
    if run_lines(target, request):
        return _set_response(request, [(entry.path, "UPDATE") for entry in request.update])
    commit = commit_of(target.name, request.extension)
    edits = _union_edits(target, request) if request.union_replace else _edits(target, request)
    if commit is None:
        target.set(edits)
    elif isinstance(target, CommitTarget):
        target.set_commit(edits, commit)
    else:
        refuse_extensions(target.name, request.extension)
    union = "UNION_REPLACE" if request.union_replace else None
    return _set_response(request, [(proto_path(edit.path), union or edit.operation.value) for edit in edits])


def _set_response(
    request: messages.SetRequest, operations: Iterable[tuple[messages.Path, str]]
) -> messages.SetResponse:
    """The response to a Set. operations: path and name of each that was carried out."""
    results = [messages.UpdateResult(path=path, op=name) for path, name in operations]
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
