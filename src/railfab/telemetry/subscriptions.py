"""The Subscribe RPCs of a target: one for the paths of each mode, interval, encoding, origin and prefix target.

A target refuses an RPC as a whole, so a path that some targets lack has one of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from railfab.gnmi import messages
from railfab.gnmi.client import Subscription
from railfab.gnmi.values import JSON, JSON_IETF, PROTO
from railfab.platforms import SubscriptionMode, TelemetryMap, TelemetrySubscription
from railfab.telemetry.health import Stream
from railfab.telemetry.retry import SILENT_INTERVALS


class SubscribeMode(NamedTuple):
    """Mode and encoding of subscriptions. encoding: of the paths for which the platform states none.

    on_change: whether the on-change paths of the platform are subscribed ON_CHANGE, or sampled.
    """

    encoding: int
    on_change: bool


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
    """One RPC. lasts_s: how long a sample of it is true without another one [s]. optional: the target may refuse it."""

    stream: Stream
    subscription: Subscription
    lasts_s: float
    optional: bool = False


def subscribe_rpcs(telemetry: TelemetryMap, interval_s: float, mode: SubscribeMode) -> tuple[SubscribeRpc, ...]:
    """The RPCs of a platform. interval_s: of sampled paths that state none.

    A SubscribeRequest has one encoding and one prefix; a target answers the paths of one origin.
    """
    paths: dict[tuple[float | None, int, str, str, str], list[str]] = {}
    for entry, every_s in _timed(telemetry, interval_s, mode):
        encoding = mode.encoding if entry.encoding is None else messages.Encoding.Value(entry.encoding.upper())
        alone = entry.path if entry.optional else ""
        paths.setdefault((every_s, encoding, entry.origin, entry.target, alone), []).append(entry.path)
    return tuple(
        SubscribeRpc(
            stream=Stream.ON_CHANGE if every_s is None else Stream.SAMPLE,
            subscription=Subscription(
                paths=tuple(f"{origin}:{path}" if origin else path for path in found),
                interval_s=every_s,
                encoding=encoding,
                target=target,
            ),
            lasts_s=math.inf if every_s is None else SILENT_INTERVALS * every_s,
            optional=bool(alone),
        )
        for (every_s, encoding, origin, target, alone), found in paths.items()
    )


def _timed(
    telemetry: TelemetryMap, interval_s: float, mode: SubscribeMode
) -> Iterator[tuple[TelemetrySubscription, float | None]]:
    """The subscriptions, each with its sample interval; None is ON_CHANGE."""
    for entry in telemetry.subscriptions:
        on_change = mode.on_change and entry.mode is SubscriptionMode.ON_CHANGE
        yield entry, None if on_change else entry.interval_s or interval_s
