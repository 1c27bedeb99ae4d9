"""The Subscribe RPCs of a target: one for the paths that are subscribed to alike.

A target refuses an RPC as a whole, so a path that some targets lack has one of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from railfab.endpoints import Endpoint
from railfab.gnmi import messages
from railfab.gnmi.client import Subscription
from railfab.gnmi.values import JSON, JSON_IETF, PROTO
from railfab.platforms import SIMULATED_TIME, SubscriptionMode, TelemetryMap, TelemetrySubscription
from railfab.telemetry.health import Stream
from railfab.telemetry.retry import SILENT_INTERVALS

_LISTS = messages.SubscriptionList
_LIST_MODES = {SubscriptionMode.POLL: _LISTS.POLL, SubscriptionMode.ONCE: _LISTS.ONCE}
_CHANGES = (SubscriptionMode.ON_CHANGE, SubscriptionMode.TARGET_DEFINED)
"""Modes in which a leaf may be silent because it does not change."""


class SubscribeMode(NamedTuple):
    """Mode and encoding of subscriptions. encoding: of the paths for which the platform states none.

    on_change: whether the on-change paths of the platform are subscribed ON_CHANGE, or sampled. all_paths: whether the
    encoding is also that of paths for which the platform states another.
    """

    encoding: int
    on_change: bool
    all_paths: bool = False

    def __str__(self) -> str:
        return f"{messages.Encoding.Name(self.encoding)}, {'ON_CHANGE' if self.on_change else 'SAMPLE only'}"


SUBSCRIBE_MODES = (
    SubscribeMode(PROTO, True),
    SubscribeMode(JSON_IETF, True),
    SubscribeMode(JSON_IETF, False),
    SubscribeMode(PROTO, False),
    SubscribeMode(JSON, False),
)
"""Tried in turn while a target refuses: PROTO costs least to decode, nearly every target supports JSON_IETF."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscribeRpc:
    """One RPC. lasts_s: how long a value of it is true without another one [s]. optional: the target may refuse it.

    asked_every_s: how often an RPC of mode POLL or ONCE is asked for an answer [s]; None for a stream.
    """

    stream: Stream
    subscription: Subscription
    lasts_s: float
    optional: bool = False
    asked_every_s: float | None = None

    @property
    def is_timed(self) -> bool:
        """Whether its samples end with the simulated time of their counters."""
        return SIMULATED_TIME in self.subscription.paths


class _Kind(NamedTuple):
    """What paths must share to share an RPC. alone: the path that has one of its own, else empty."""

    mode: SubscriptionMode
    every_s: float
    heartbeat_s: float | None
    suppress_redundant: bool
    updates_only: bool
    encoding: int
    origin: str
    target: str
    alone: str


def modes_of(endpoint: Endpoint | None) -> tuple[SubscribeMode, ...]:
    """The modes to try in turn with one target: first those with the encoding that it is given."""
    if endpoint is None or not endpoint.gnmi_encoding:
        return SUBSCRIBE_MODES
    number = encoding_number(endpoint.gnmi_encoding)
    return (SubscribeMode(number, True, True), SubscribeMode(number, False, True), *SUBSCRIBE_MODES)


def encoding_number(name: str) -> int:
    """The number of an encoding that is written as in files."""
    return int(messages.Encoding.Value(name.upper()))


def of_target(telemetry: TelemetryMap, endpoint: Endpoint) -> tuple[TelemetrySubscription, ...]:
    """The subscriptions of a platform, in the mode that one target is given instead."""
    return tuple(_of_target(one, endpoint) for one in telemetry.subscriptions)


def _of_target(one: TelemetrySubscription, endpoint: Endpoint) -> TelemetrySubscription:
    if endpoint.gnmi_mode and endpoint.gnmi_mode != one.mode:
        mode = SubscriptionMode(endpoint.gnmi_mode)
        one = replace(one, mode=mode, heartbeat_s=None, suppress_redundant=False, updates_only=False)
    if endpoint.gnmi_suppress_redundant and one.mode is SubscriptionMode.SAMPLE:
        one = replace(one, suppress_redundant=True)
    if endpoint.gnmi_heartbeat_s and (one.mode in _CHANGES or one.suppress_redundant):
        one = replace(one, heartbeat_s=endpoint.gnmi_heartbeat_s)
    return one


def subscribe_rpcs(
    subscriptions: Iterable[TelemetrySubscription], interval_s: float, mode: SubscribeMode
) -> tuple[SubscribeRpc, ...]:
    """The RPCs of these subscriptions. interval_s: of sampled and polled paths that state none.

    A SubscribeRequest has one mode, one encoding and one prefix; a target answers the paths of one origin.
    """
    paths: dict[_Kind, list[str]] = {}
    for entry in subscriptions:
        paths.setdefault(_kind(entry, interval_s, mode), []).append(entry.path)
    return tuple(_rpc(kind, found) for kind, found in paths.items())


def time_question(mode: SubscribeMode) -> Subscription:
    """The question whether a target has the simulated time of a virtual switch; any other one refuses it."""
    return Subscription(paths=(SIMULATED_TIME,), interval_s=None, encoding=mode.encoding, mode=_LISTS.ONCE)


def _kind(entry: TelemetrySubscription, interval_s: float, mode: SubscribeMode) -> _Kind:
    sampled = entry.mode is SubscriptionMode.ON_CHANGE and not mode.on_change
    every_s, heartbeat_s = entry.every_s(interval_s), None if sampled else entry.heartbeat_s
    if heartbeat_s is not None and entry.mode is SubscriptionMode.SAMPLE:
        heartbeat_s = max(heartbeat_s, every_s)  # a target may sample less often than the heartbeat of the map
    stated = mode.encoding if mode.all_paths or entry.encoding is None else encoding_number(entry.encoding)
    return _Kind(
        mode=SubscriptionMode.SAMPLE if sampled else entry.mode,
        every_s=every_s,
        heartbeat_s=heartbeat_s,
        suppress_redundant=entry.suppress_redundant,
        updates_only=entry.updates_only,
        encoding=stated,
        origin=entry.origin,
        target=entry.target,
        alone=entry.path if entry.optional else "",
    )


def _rpc(kind: _Kind, paths: list[str]) -> SubscribeRpc:
    return SubscribeRpc(
        stream=Stream.ON_CHANGE if kind.mode in _CHANGES else Stream.SAMPLE,
        subscription=Subscription(
            paths=tuple(f"{kind.origin}:{path}" if kind.origin else path for path in paths),
            interval_s=None if kind.mode is SubscriptionMode.ON_CHANGE else kind.every_s,
            encoding=kind.encoding,
            target=kind.target,
            mode=_LIST_MODES.get(kind.mode, _LISTS.STREAM),
            target_defined=kind.mode is SubscriptionMode.TARGET_DEFINED,
            heartbeat_s=kind.heartbeat_s,
            suppress_redundant=kind.suppress_redundant,
            updates_only=kind.updates_only,
        ),
        lasts_s=_lasts_s(kind),
        optional=bool(kind.alone),
        asked_every_s=kind.every_s if kind.mode in _LIST_MODES else None,
    )


def _lasts_s(kind: _Kind) -> float:
    """How long a value is true: some intervals of what is sent in any case; without that, as long as the stream."""
    if kind.heartbeat_s is not None:
        return SILENT_INTERVALS * kind.heartbeat_s
    if kind.mode in _CHANGES or kind.suppress_redundant:
        return math.inf
    return SILENT_INTERVALS * kind.every_s
