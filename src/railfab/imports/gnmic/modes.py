"""Modes and encodings of gnmic's subscriptions as keys of a subscription of a mapping file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from railfab.imports.gnmic.config import GnmicSubscription
from railfab.imports.gnmic.conversion import ASKED, STATED_ENCODINGS, Conversion, Subscribed, bounded_s
from railfab.platforms import TelemetrySubscription, platform
from railfab.platforms.telemetry_checks import covers

PLAIN = re.compile(r"[A-Za-z][\w-]*")
WORDS = frozenset(("yes", "no", "on", "off", "true", "false", "null", "y", "n"))
"""What YAML reads as another kind of value."""


def asked_subscriptions(conversion: Conversion) -> dict[str, list[str]]:
    """By platform, the subscriptions of railfab's map that gnmic's file asks for in another way, as YAML.

    Where two subscriptions of gnmic ask for the paths of one of railfab, the first one counts.
    """
    found: dict[str, dict[TelemetrySubscription, str]] = {}
    for one in conversion.subscribed:
        for kept in _of_platform(one) if one.rules else ():
            entry = _entry(one.subscription, kept) if _says_how(one, conversion) else ""
            found.setdefault(one.platform, {}).setdefault(kept, entry)
    entries = {name: [entry for entry in kept.values() if entry] for name, kept in found.items()}
    return {name: some for name, some in entries.items() if some}


def mode_keys(subscription: GnmicSubscription) -> str:
    """`mode` and what belongs to it, without what has no effect in that mode."""
    mode = subscription.mode
    keys = [f"mode: {mode}"]
    if subscription.interval_s and mode != "on_change":
        keys.append(f"interval_s: {bounded_s(subscription.interval_s):g}")
    suppresses = subscription.suppress_redundant and mode in ("sample", "target_defined")
    if suppresses:
        keys.append("suppress_redundant: true")
    if subscription.heartbeat_s and (suppresses or mode in ("on_change", "target_defined")):
        heartbeat_s = max(subscription.heartbeat_s, subscription.interval_s or 0.0)
        keys.append(f"heartbeat_s: {bounded_s(heartbeat_s):g}")
    if subscription.updates_only and mode not in ASKED:
        keys.append("updates_only: true")
    if subscription.encoding in STATED_ENCODINGS:
        keys.append(f"encoding: {subscription.encoding}")
    return ", ".join(keys)


def _says_how(one: Subscribed, conversion: Conversion) -> bool:
    """Whether a subscription of gnmic says more than what is sampled and how often."""
    stated = one.subscription
    if stated.mode in ASKED:
        using = [
            target for target in conversion.targets if stated.name in (target.source.subscriptions or (stated.name,))
        ]
        return not using or any(target.mode != stated.mode for target in using)
    if stated.mode == "target_defined" and not stated.by_default:
        return True
    beats = stated.heartbeat_s and stated.mode != "sample"  # that of samples is for those that are left out
    more = (beats, stated.suppress_redundant, stated.updates_only, stated.encoding in STATED_ENCODINGS)
    return any(more)


def _of_platform(one: Subscribed) -> Iterator[TelemetrySubscription]:
    """The subscriptions of the platform that bring the leaves of a path of gnmic."""
    for kept in platform(one.platform).telemetry.subscriptions:
        if any(covers(kept.path, rule.path) for rule in one.rules):
            yield kept


def _entry(subscription: GnmicSubscription, kept: TelemetrySubscription) -> str:
    keys = [f"path: {scalar(kept.path)}", mode_keys(subscription)]
    if kept.encoding and subscription.encoding not in STATED_ENCODINGS:
        keys.append(f"encoding: {kept.encoding}")
    keys += [f"{key}: {scalar(text)}" for key, text in (("origin", kept.origin), ("target", kept.target)) if text]
    if kept.optional:
        keys.append("optional: true")
    return f"{{{', '.join(keys)}}}"


def scalar(value: str | bool | float) -> str:
    """A YAML scalar; a text in quotes where it could be read as something else."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return value if PLAIN.fullmatch(value) and value.lower() not in WORDS else json.dumps(value)
