"""Notifications built once and sent often: paths are encoded when leaves are grouped, only values on each send."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from pygnmi.spec.v080 import gnmi_pb2

from railfab.gnmi.paths import Element
from railfab.gnmi.target import Leaf
from railfab.gnmi.values import JSON, JSON_IETF, PROTO, encode

MOST_UPDATES = 256
"""Updates in one notification: a message stays small enough to be handled between two others."""

_UNSENT = object()
_FIELDS = {JSON_IETF: "json_ietf_val", JSON: "json_val"}


class Bundle:
    """Some leaves as one notification.

    sent: the value last sent of each leaf, by path; shared by the bundles of a stream, so that a bundle made anew when
    other leaves come or go does not send its own again.
    """

    def __init__(self, leaves: list[Leaf], *, encoding: int, target: str, sent: dict[str, Any]) -> None:
        self._leaves = leaves
        self._encoding = encoding
        self._sent = sent
        self._written: list[Any] = [_UNSENT] * len(leaves)
        self._message = gnmi_pb2.SubscribeResponse()
        notification = self._message.update
        notification.prefix.target = target
        for leaf in leaves:
            notification.update.add().path.CopyFrom(proto_path(leaf.steps))
        self._values = [update.val for update in notification.update]

    def whole(self, timestamp_ns: int) -> gnmi_pb2.SubscribeResponse:
        """Every leaf with its present value. The message is the bundle's own: send it before asking again."""
        self._write()
        self._sent.update((leaf.path, leaf.value) for leaf in self._leaves)
        self._message.update.timestamp = timestamp_ns
        return self._message

    def difference(self, timestamp_ns: int) -> gnmi_pb2.SubscribeResponse | None:
        """The leaves whose values differ from what was last sent; None when none does."""
        sent = self._sent
        changed = [at for at, leaf in enumerate(self._leaves) if sent.get(leaf.path, _UNSENT) != leaf.value]
        if not changed:
            return None
        self._write()
        sent.update((self._leaves[at].path, self._leaves[at].value) for at in changed)
        notification = gnmi_pb2.Notification(timestamp=timestamp_ns, prefix=self._message.update.prefix)
        notification.update.extend(self._message.update.update[at] for at in changed)
        return gnmi_pb2.SubscribeResponse(update=notification)

    def _write(self) -> None:
        """Bring the message's values up to date."""
        written, values, encoding = self._written, self._values, self._encoding
        for at, leaf in enumerate(self._leaves):
            value = leaf.value
            if value != written[at]:
                written[at] = value
                _put(values[at], value, encoding)


def _put(place: gnmi_pb2.TypedValue, value: Any, encoding: int) -> None:
    """Encode a value into its place in a prebuilt message; integers and strings, nearly all, without a detour."""
    kind = type(value)
    if kind is int and encoding != PROTO:
        setattr(place, _FIELDS[encoding], b"%d" % value)
    else:
        place.CopyFrom(encode(value, encoding))


def bundles(leaves: Iterable[Leaf], *, encoding: int, target: str, sent: dict[str, Any]) -> list[Bundle]:
    """The leaves in bundles of MOST_UPDATES at most; those of one list entry stand side by side."""
    ordered = iter(sorted(leaves, key=lambda leaf: _entry_of(leaf.steps)))
    made = []
    while part := list(islice(ordered, MOST_UPDATES)):
        made.append(Bundle(part, encoding=encoding, target=target, sent=sent))
    return made


def _entry_of(steps: tuple[Element, ...]) -> tuple[Element, ...]:
    """The path of the outermost list entry on the way to a leaf; of its parent where there is none."""
    for depth, step in enumerate(steps[:-1], start=1):
        if step.keys:
            return steps[:depth]
    return steps[:-1]


def proto_path(steps: tuple[Element, ...]) -> gnmi_pb2.Path:
    """The protobuf path of these steps."""
    return gnmi_pb2.Path(elem=[gnmi_pb2.PathElem(name=step.name, key=dict(step.keys)) for step in steps])


def deletion(paths: list[tuple[Element, ...]], timestamp_ns: int, target: str = "") -> gnmi_pb2.SubscribeResponse:
    """The notification that these leaves are gone."""
    notification = gnmi_pb2.Notification(timestamp=timestamp_ns, delete=[proto_path(path) for path in paths])
    notification.prefix.target = target
    return gnmi_pb2.SubscribeResponse(update=notification)
