"""Notifications to samples. What a path means is worked out once; what cannot be decoded is counted, never fatal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from railfab.gnmi import messages
from railfab.gnmi.paths import (
    MOST_SHARED,
    SHARED_PATHS,
    Element,
    matches_elements,
    proto_elements,
    to_text_elements,
)
from railfab.gnmi.values import JSON_SCALARS, GnmiValueError, decode
from railfab.platforms.shared.json_tree import bare
from railfab.telemetry.entries import Entries
from railfab.telemetry.mapping import Match, PathMap, Steps, Undecodable, names
from railfab.telemetry.series import Series
from railfab.units import NS_PER_S

K = TypeVar("K")
V = TypeVar("V")

CACHE_PATHS = 1 << 18
ROOT_STEPS = 2
MOST_LABEL = 1 << 10
"""Longest text that becomes a label [characters]; names of ports, queues and peers, and descriptions, are shorter."""
_MILLISECOND, _MICROSECOND, _NANOSECOND = 1e11, 1e14, 1e17
"""Unix times of our century lie above these in that unit, and below in seconds."""
_LATEST_NS = 2**63 - 1


@dataclass(slots=True)
class Decoded:
    """One notification. device_ns: its time stamp, None where the target gives none.

    removed: series that are gone, to be applied before the samples. unmapped: leaves that no rule knows, by path root.
    """

    device_ns: int | None
    samples: list[tuple[Series, float]] = field(default_factory=list)
    removed: list[Series] = field(default_factory=list)
    unmapped: Counter[str] = field(default_factory=Counter)
    undecodable: int = 0
    updates: int = 0


@dataclass(frozen=True, slots=True)
class Known:
    """Rules that apply to one path. plain: rule and series; pending: rules whose labels stand in other leaves.

    is_long: whether a name or key is longer than a label may be; such a leaf is counted as undecodable.
    """

    steps: Steps
    plain: tuple[tuple[Match, Series], ...]
    pending: tuple[Match, ...]
    is_text: bool
    unmapped: bool
    is_long: bool = False


class NotificationDecoder:
    """Decodes messages of one target with protobuf: the reference of `Decoder`, and what does all that is not plain.

    It keeps what it learnt of paths, bounded, and half-known list entries.
    """

    def __init__(self, paths: PathMap, *, cache_paths: int = CACHE_PATHS) -> None:
        self._map = paths
        self._cache_paths = cache_paths
        self._by_steps: dict[Steps, Known] = {}
        self._entries = Entries(cache_paths)

    def decode(self, notification: messages.Notification) -> Decoded:
        """The samples of a notification; deletes come first, as the gNMI specification has it (section 3.5.2.3)."""
        decoded = Decoded(normalised_ns(notification.timestamp))
        for gone in deleted(notification):
            decoded.removed.extend(self.forget(gone))
        prefix = proto_elements(notification.prefix)
        touched: dict[Steps, None] = {}
        for update in notification.update:
            self._update(self.known((*prefix, *proto_elements(update.path))), update.val, decoded, touched)
        self._settle(touched, decoded)
        return decoded

    def decode_update(self, known: Known, value: messages.TypedValue, device_ns: int | None) -> Decoded:
        """The samples of one update."""
        decoded = Decoded(device_ns)
        touched: dict[Steps, None] = {}
        self._update(known, value, decoded, touched)
        self._settle(touched, decoded)
        return decoded

    def discard(self, known: Known) -> None:
        """Forget a path that another keeps."""
        self._by_steps.pop(known.steps, None)

    def _settle(self, touched: dict[Steps, None], decoded: Decoded) -> None:
        if touched:
            samples, replaced = self._entries.settle(touched)
            decoded.samples.extend(samples)
            decoded.removed.extend(replaced)

    def forget(self, steps: Steps) -> list[Series]:
        """The series at or below a deleted path, which may hold wildcards."""
        if (leaf := self._by_steps.get(steps)) is not None:
            return self._series_of(leaf)
        below = [known for known in self._by_steps.values() if matches_elements(steps, known.steps)]
        gone = [series for known in below for series in self._series_of(known)]
        return list(dict.fromkeys(gone))

    def _series_of(self, known: Known) -> list[Series]:
        pending = self._entries.forget(known.steps) if known.pending or known.is_text else []
        return [*(series for _, series in known.plain), *pending]

    def _update(self, known: Known, value: messages.TypedValue, decoded: Decoded, touched: dict[Steps, None]) -> None:
        if known.unmapped and not may_have_leaves(value):
            self._leaf(known, None, decoded, touched)
            return
        try:
            leaf = _text(decode(value))
            below = list(self._leaves(known.steps, leaf)) if isinstance(leaf, dict) else None
        except (GnmiValueError, RecursionError):  # nested deeper than any model: not worth a stack
            decoded.updates += 1
            decoded.undecodable += 1
            return
        if below is None:
            self._leaf(known, leaf, decoded, touched)
            return
        for steps, inner in below:
            self._leaf(self.known(steps), inner, decoded, touched)

    def _leaf(self, known: Known, value: Any, decoded: Decoded, touched: dict[Steps, None]) -> None:
        decoded.updates += 1
        if known.unmapped:
            decoded.unmapped[root(known.steps)] += 1
            return
        if known.is_long:
            decoded.undecodable += 1
            return
        try:
            for match, series in known.plain:
                decoded.samples.append((series, match.rule.number(value)))
            if known.pending or known.is_text:
                self._pend(known, value)
                touched[known.steps[:-1]] = None
        except Undecodable:
            decoded.undecodable += 1

    def _pend(self, known: Known, value: Any) -> None:
        if known.is_text:
            if len(text := str(value)) > MOST_LABEL:
                raise Undecodable
            self._entries.text(known.steps, text)
        for match in known.pending:
            self._entries.value(known.steps, match, match.rule.number(value))

    def known(self, steps: Steps) -> Known:
        """The rules that apply to a path."""
        known = self._by_steps.get(steps)
        if known is None:
            lengths = [len(text) for step in steps for text in (step.name, *(key for _, key in step.keys))]
            if max(lengths, default=0) > MOST_LABEL:
                return Known(steps, (), (), is_text=False, unmapped=False, is_long=True)
            known = (_known if sum(lengths) <= MOST_SHARED else _known.__wrapped__)(self._map, steps)
            _remember(self._by_steps, steps, known, self._cache_paths)
        return known

    def _leaves(self, steps: Steps, node: dict[str, Any]) -> Iterator[tuple[Steps, Any]]:
        """The leaves of a container sent as JSON, module prefixes stripped."""
        for name, value in node.items():
            child = Element(bare(name))
            below = (*steps, child)
            if isinstance(value, dict):
                yield from self._leaves(below, value)
            elif isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
                for entry in value:
                    yield from self._leaves((*steps, self._keyed(below, entry)), entry)
            elif not steps or child.name not in dict(steps[-1].keys):
                yield below, value

    def _keyed(self, below: Steps, entry: dict[str, Any]) -> Element:
        """The list step of an entry: its keys are those that the rules name."""
        plain = {bare(name): value for name, value in entry.items()}
        keys = sorted(name for name in self._map.keys_of(names(below)) if name in plain)
        return Element(below[-1].name, tuple((name, str(plain[name])) for name in keys))


def _text(value: Any) -> Any:
    """A value, that of the encoding BYTES as the text that it holds."""
    return value.decode(errors="replace") if isinstance(value, bytes) else value


@lru_cache(maxsize=SHARED_PATHS)
def _known(paths: PathMap, steps: Steps) -> Known:
    """The rules that apply to a path, worked out once for the switches of a platform, whose ports have the same."""
    matches = paths.matches(steps)
    plain = tuple((match, Series(match.rule.metric, match.labels)) for match in matches if not match.rule.siblings)
    pending = tuple(match for match in matches if match.rule.siblings)
    is_text = paths.is_text(steps)
    return Known(steps, plain, pending, is_text, not (plain or pending or is_text))


def deleted(notification: messages.Notification) -> list[Steps]:
    """The paths that a notification deletes; an atomic one replaces all below its prefix (section 2.1.1)."""
    prefix = proto_elements(notification.prefix)
    gone = [*notification.delete, *((messages.Path(),) if notification.atomic else ())]
    return [(*prefix, *proto_elements(path)) for path in gone]


def may_have_leaves(value: messages.TypedValue) -> bool:
    """Whether a value may be a container as JSON, or is none."""
    kind = value.WhichOneof("value")
    if kind not in ("json_val", "json_ietf_val"):
        return kind is None
    return getattr(value, kind)[:1] not in JSON_SCALARS


def root(steps: Steps) -> str:
    """The first steps of a path, without keys: by what unmapped leaves are counted."""
    return to_text_elements(tuple(Element(step.name) for step in steps[:ROOT_STEPS]))


def normalised_ns(timestamp: int) -> int | None:
    """A time stamp in nanoseconds; some targets send seconds, milliseconds or microseconds, or zero for none.

    A time after the year 2262, which 64 bits do not hold in nanoseconds, is no time stamp.
    """
    if timestamp <= 0:
        return None
    if timestamp < _MILLISECOND:
        unit_ns = NS_PER_S
    elif timestamp < _MICROSECOND:
        unit_ns = 1_000_000
    else:
        unit_ns = 1_000 if timestamp < _NANOSECOND else 1
    return timestamp * unit_ns if timestamp * unit_ns <= _LATEST_NS else None


def _remember(cache: dict[K, V], key: K, value: V, most: int) -> None:
    """Store a value, and remove the oldest when there are too many."""
    if len(cache) >= most:
        del cache[next(iter(cache))]
    cache[key] = value
