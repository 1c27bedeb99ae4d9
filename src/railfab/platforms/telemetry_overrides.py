"""Changes of a user to the telemetry map of a platform."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from railfab.gnmi.paths import canonical
from railfab.metrics import Metric
from railfab.platforms.telemetry_map import TelemetryMap, TelemetryRule, TelemetrySubscription

RuleKey = tuple[str, str]
"""Canonical path and metric."""
SubscriptionKey = tuple[str, str, str]
"""Canonical path, origin and target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """Rules and subscriptions to add or to put in place of those with the same key, keys to drop, and own metrics."""

    rules: tuple[TelemetryRule, ...] = ()
    subscriptions: tuple[TelemetrySubscription, ...] = ()
    dropped_rules: frozenset[RuleKey] = frozenset()
    dropped_subscriptions: frozenset[SubscriptionKey] = frozenset()
    metrics: Mapping[str, Metric] = field(default_factory=dict)


def rule_key(path: str, metric: str) -> RuleKey:
    """Key that is equal for two rules that are the same one."""
    return canonical(path), metric


def subscription_key(path: str, origin: str, target: str) -> SubscriptionKey:
    """Key that is equal for two subscriptions that are the same one."""
    return canonical(path), origin, target


def with_overrides(telemetry: TelemetryMap, overrides: Overrides) -> TelemetryMap:
    """The map after the changes. Applying them again changes nothing.

    A new rule precedes those of the platform, since the first one that matches a leaf applies; a new subscription
    follows them.
    """
    kept = {rule_key(rule.path, rule.metric): rule for rule in telemetry.rules}
    new_rules = {rule_key(rule.path, rule.metric): rule for rule in overrides.rules}
    new = [rule for key, rule in new_rules.items() if key not in kept]
    subscribed = {
        _key(subscription): subscription for subscription in (*telemetry.subscriptions, *overrides.subscriptions)
    }
    return replace(
        telemetry,
        rules=(*new, *(new_rules.get(key, rule) for key, rule in kept.items() if key not in overrides.dropped_rules)),
        subscriptions=tuple(
            subscription for key, subscription in subscribed.items() if key not in overrides.dropped_subscriptions
        ),
        metrics={**telemetry.metrics, **overrides.metrics},
    )


def _key(subscription: TelemetrySubscription) -> SubscriptionKey:
    return subscription_key(subscription.path, subscription.origin, subscription.target)
