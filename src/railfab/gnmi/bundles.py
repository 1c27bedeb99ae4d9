"""Subscribe responses in wire format, assembled from parts that are encoded once.

A target of 64 ports has some 4,000 leaves, and a client asks for most of them every few seconds. The path of a leaf
never changes and its value rarely does, so each leaf is kept as the bytes of its `update` field, a value is encoded
when it has changed, and a response is a header and these bytes. The field numbers are those of gnmi.proto; a protobuf
message may be written as the concatenation of its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import Any

from railfab.gnmi import messages
from railfab.gnmi.paths import Element
from railfab.gnmi.target import Selected
from railfab.gnmi.values import JSON, JSON_IETF, Uint64, encode

MOST_UPDATES = 256
"""Maximum number of updates in one notification; larger messages would delay those of other streams."""

LENGTH_DELIMITED = 2
"""The wire type of strings and messages."""

_UNSENT = object()


def _tag(message: Any, field: str) -> bytes:
    """The tag of a message's field that is a string or a message."""
    return _varint(message.DESCRIPTOR.fields_by_name[field].number << 3 | LENGTH_DELIMITED)


def _varint(number: int) -> bytes:
    """A number in protobuf's variable-length form: seven bits a byte, the lowest first."""
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)


_SHORT = tuple(map(_varint, range(0x80)))


def _field(tag: bytes, content: bytes) -> bytes:
    length = len(content)
    return tag + (_SHORT[length] if length < len(_SHORT) else _varint(length)) + content


_RESPONSE_UPDATE = _tag(messages.SubscribeResponse, "update")
_UPDATE = _tag(messages.Notification, "update")
_ELEM = _tag(messages.Path, "elem")
_PATH, _VALUE = _tag(messages.Update, "path"), _tag(messages.Update, "val")
_JSON_TAGS = {
    JSON_IETF: _tag(messages.TypedValue, "json_ietf_val"),
    JSON: _tag(messages.TypedValue, "json_val"),
}

SYNC: bytes = messages.SubscribeResponse(sync_response=True).SerializeToString()


class Bundle:
    """Some leaves as one notification. sent: the value last sent of each leaf, by path, from an earlier bundle."""

    def __init__(
        self,
        leaves: Sequence[Selected],
        *,
        encoding: int,
        target: str,
        sent: Mapping[tuple[Element, ...], Any] | None = None,
    ) -> None:
        self._leaves = leaves
        self._encoding = encoding
        self._header = messages.Notification()
        self._header.prefix.target = target
        self._pick = _picker(leaves)
        self._written: tuple[Any, ...] = (_UNSENT,) * len(leaves)
        self._updates = [b""] * len(leaves)
        known = sent or {}
        self._sent: tuple[Any, ...] = tuple([known.get(leaf.leaf.path, _UNSENT) for leaf in leaves])

    def sent(self) -> dict[tuple[Element, ...], Any]:
        """The value last sent of each leaf, by path; leaves that were never sent are left out."""
        pairs = zip(self._leaves, self._sent, strict=True)
        return {leaf.leaf.path: value for leaf, value in pairs if value is not _UNSENT}

    def whole(self, values: Sequence[Any], timestamp_ns: int) -> bytes:
        """A response with every leaf. values: of a view with the layout that the leaves were selected from."""
        self._sent = self._write(values)
        return self._response(b"".join(self._updates), timestamp_ns)

    def difference(self, values: Sequence[Any], timestamp_ns: int) -> bytes | None:
        """A response with the leaves whose values differ from what was last sent; None when none does."""
        before, self._sent = self._sent, self._write(values)
        if before == self._sent:
            return None
        pairs = zip(before, self._sent, strict=True)
        changed = [at for at, (old, new) in enumerate(pairs) if old is not new and old != new]
        return self._response(b"".join([self._updates[at] for at in changed]), timestamp_ns)

    def note(self, values: Sequence[Any]) -> None:
        """Record the present values as sent."""
        self._sent = self._write(values)

    def _write(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Encode the values that have changed; all values."""
        before, now = self._written, self._pick(values)
        if before != now:
            for at, (old, new) in enumerate(zip(before, now, strict=True)):
                if old is not new and old != new:
                    self._updates[at] = _field(_UPDATE, _path(self._leaves[at].leaf.path) + _value(new, self._encoding))
            self._written = now
        return now

    def _response(self, updates: bytes, timestamp_ns: int) -> bytes:
        self._header.timestamp = timestamp_ns
        return _field(_RESPONSE_UPDATE, self._header.SerializeToString() + updates)


def _path(steps: tuple[Element, ...]) -> bytes:
    """The `path` field of an update."""
    return _field(_PATH, b"".join(map(_elem, steps)))


@lru_cache(maxsize=1 << 16)
def _elem(step: Element) -> bytes:
    """A step of a path as the `elem` field of a Path; the leaves of all ports and switches share most steps."""
    return _field(_ELEM, messages.PathElem(name=step.name, key=dict(step.keys)).SerializeToString())


def _picker(leaves: Sequence[Selected]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Take the values of these leaves out of all values of a view; constants stay as they are."""
    places = [leaf.place for leaf in leaves]
    if len(places) > 1 and None not in places:
        return itemgetter(*places)
    return lambda values: tuple(
        [leaf.value if place is None else values[place] for place, leaf in zip(places, leaves, strict=True)]
    )


def _value(value: Any, encoding: int) -> bytes:
    """The `val` field of an update; integers in JSON, nearly all values, without a message object."""
    kind = type(value)
    if encoding in _JSON_TAGS and kind in (int, Uint64):
        text = b'"%d"' % value if encoding == JSON_IETF and kind is Uint64 else b"%d" % value
        return _field(_VALUE, _field(_JSON_TAGS[encoding], text))
    return _field(_VALUE, encode(value, encoding).SerializeToString())


def bundles(
    leaves: Iterable[Selected],
    *,
    encoding: int,
    target: str,
    sent: Mapping[tuple[Element, ...], Any] | None = None,
) -> list[Bundle]:
    """The leaves in bundles of MOST_UPDATES at most; those of one list entry are adjacent."""
    ordered = iter(sorted(leaves, key=lambda leaf: _entry_of(leaf.leaf.path)))
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


def proto_path(steps: tuple[Element, ...]) -> messages.Path:
    """The protobuf path of these steps."""
    return messages.Path(elem=[messages.PathElem(name=step.name, key=dict(step.keys)) for step in steps])


def deletion(paths: Iterable[tuple[Element, ...]], timestamp_ns: int, target: str = "") -> bytes:
    """The response that reports these leaves as deleted."""
    notification = messages.Notification(timestamp=timestamp_ns, delete=[proto_path(path) for path in paths])
    notification.prefix.target = target
    response: bytes = messages.SubscribeResponse(update=notification).SerializeToString()
    return response
