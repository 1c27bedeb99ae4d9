"""Telemetry maps with the changes that users state in mapping files. Every fault has its file, line and key."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from railfab.errors import IntentError, raise_all
from railfab.gnmi.paths import canonical
from railfab.intent import PlatformTelemetry, RuleEntry, SubscriptionEntry, TelemetryFile, load_mappings
from railfab.intent.document import MAX_FAULTS, Document, Location, remaining_faults
from railfab.intent.model import KeyFault
from railfab.metrics import CATALOGUE, DEVICE, Kind, Metric
from railfab.platforms.registry import platform, platform_names
from railfab.platforms.telemetry_checks import (
    covers,
    is_of_devices,
    metric_faults,
    path_fault,
    rule_faults,
    subscribed_path_fault,
)
from railfab.platforms.telemetry_map import (
    PLACEHOLDER,
    Confidence,
    SubscriptionMode,
    TelemetryMap,
    TelemetryRule,
    TelemetrySubscription,
    carried_labels,
)
from railfab.platforms.telemetry_overrides import Overrides, rule_key, subscription_key, with_overrides
from railfab.text.display import display


def telemetry_maps(paths: Sequence[Path], *, interval_s: float = 0.0) -> dict[str, TelemetryMap]:
    """The maps of the platforms that mapping files change, by name. Later files change the maps of earlier ones.

    A platform that railfab does not have is among them where a file calls it new. interval_s: of samples that state
    none, for the check of their heartbeats.
    Raises IntentError, or Problems with every fault of a file.
    """
    maps: dict[str, TelemetryMap] = {}
    metrics: dict[str, Metric] = {}
    for path in paths:
        file, document = load_mappings(path)
        mapping = _File(document, metrics, interval_s)
        maps |= mapping.maps(file, maps)
        metrics |= mapping.metrics
    return {name: with_overrides(telemetry, Overrides(metrics=metrics)) for name, telemetry in maps.items()}


@dataclass(slots=True)
class _File:
    """One file. known: own metrics of the files before it. interval_s: of samples that state none. Faults are
    collected, and raised together.
    """

    document: Document
    known: dict[str, Metric]
    interval_s: float
    metrics: dict[str, Metric] = field(default_factory=dict)
    faults: list[IntentError] = field(default_factory=list)

    def maps(self, file: TelemetryFile, before: dict[str, TelemetryMap]) -> dict[str, TelemetryMap]:
        self._declare(file)
        self._stop_at_faults()
        maps = {}
        for name, section in file.platforms.items():
            base = before.get(name) or self._shipped(name, section)
            if base is not None:
                maps[name] = self._changed(name, section, base)
        self._stop_at_faults()
        return maps

    def _declare(self, file: TelemetryFile) -> None:
        """Take in the metrics that the file defines."""
        for name, entry in file.metrics.items():
            metric = Metric(name, Kind(entry.kind), entry.unit, entry.help, (*DEVICE, *entry.labels))
            if name in self.known:
                if self.known[name] != metric:
                    fault = KeyFault("", "an earlier file defines it otherwise", "Define it once")
                    self._report(("metrics", name), fault)
                continue
            others = (*CATALOGUE.values(), *self.known.values(), *self.metrics.values())
            for fault in metric_faults(metric, others):
                self._report(("metrics", name), fault)
            self.metrics[name] = metric

    def _shipped(self, name: str, section: PlatformTelemetry) -> TelemetryMap | None:
        """The map of railfab's platform, empty for a new one; None, with a fault, where there is no such platform."""
        place: Location = ("platforms", name)
        names = platform_names()
        if section.new and name in names:
            self._report(
                place, KeyFault("new", f"railfab has the platform {name}", "Remove it, or choose another name")
            )
        elif section.new:
            return TelemetryMap(rules=(), subscriptions=())
        elif name in names:
            return platform(name).telemetry
        else:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            remedy = f"{hint}Use one of {', '.join(names)}, or write new: true under a platform of your own"
            self._report(place, KeyFault("", "railfab has no such platform", remedy))
        return None

    def _changed(self, name: str, section: PlatformTelemetry, base: TelemetryMap) -> TelemetryMap:
        place: Location = ("platforms", name)
        subscriptions = self._subscriptions((*place, "subscriptions"), section, base)
        rules = self._rules((*place, "rules"), section, base)
        overrides = Overrides(
            rules=tuple(rules.values()),
            subscriptions=tuple(subscriptions),
            dropped_rules=frozenset(rule_key(rule.path, rule.metric) for rule in section.rules if rule.drop),
            dropped_subscriptions=frozenset(
                subscription_key(subscription.path, subscription.origin, subscription.target)
                for subscription in section.subscriptions
                if subscription.drop
            ),
            metrics=self.known | self.metrics,
        )
        changed = with_overrides(base, overrides)
        for index, rule in rules.items():
            if not any(covers(subscription.path, rule.path) for subscription in changed.subscriptions):
                path = PLACEHOLDER.sub("*", rule.path).rpartition("/")[0] or rule.path
                remedy = f'Add {{path: "{path}", mode: sample}} to subscriptions'
                self._report((*place, "rules", index), KeyFault("path", "no subscription brings this leaf", remedy))
        return changed

    def _subscriptions(
        self, place: Location, section: PlatformTelemetry, base: TelemetryMap
    ) -> Iterator[TelemetrySubscription]:
        shipped = {
            subscription_key(subscription.path, subscription.origin, subscription.target): subscription.path
            for subscription in base.subscriptions
        }
        seen: set[tuple[str, str, str]] = set()
        for index, entry in enumerate(section.subscriptions):
            here = (*place, index)
            if fault := subscribed_path_fault(entry.path):
                self._report(here, fault)
                continue
            key = subscription_key(entry.path, entry.origin, entry.target)
            if key in seen:
                self._report(here, KeyFault("path", "the file has this subscription twice", "Keep one of them"))
            seen.add(key)
            if entry.drop and key not in shipped:
                problem = "the platform has no subscription of this path, origin and target"
                self._report(here, KeyFault("path", problem, _near_path(entry.path, shipped.values())))
            elif not entry.drop:
                self._check_heartbeat(here, entry)
                yield _subscription(entry)

    def _check_heartbeat(self, place: Location, entry: SubscriptionEntry) -> None:
        """Report a heartbeat that is shorter than the interval of the samples that it stands in for."""
        interval_s = entry.interval_s or self.interval_s
        if entry.mode == "sample" and entry.heartbeat_s is not None and entry.heartbeat_s < interval_s:
            problem = f"a heartbeat of {entry.heartbeat_s:g} s is below the sample interval of {interval_s:g} s"
            self._report(place, KeyFault("heartbeat_s", problem, "Use a longer one, or a shorter interval_s"))

    def _rules(self, place: Location, section: PlatformTelemetry, base: TelemetryMap) -> dict[int, TelemetryRule]:
        """The rules that fit their metrics, by their index in the file."""
        shipped = {rule_key(rule.path, rule.metric): rule for rule in base.rules}
        seen: set[tuple[str, str]] = set()
        rules = {}
        for index, entry in enumerate(section.rules):
            here = (*place, index)
            if fault := path_fault(entry.path):
                self._report(here, fault)
                continue
            key = rule_key(entry.path, entry.metric)
            if key in seen:
                self._report(here, KeyFault("path", "the file has a rule of this path and metric twice", "Keep one"))
            seen.add(key)
            if entry.drop and key not in shipped:
                self._report(here, self._not_dropped(entry, base))
            elif not entry.drop and (rule := self._fitting(here, entry, shipped.get(key))):
                rules[index] = rule
        return rules

    def _not_dropped(self, entry: RuleEntry, base: TelemetryMap) -> KeyFault:
        """The fault of a rule to drop that the platform does not have."""
        path = canonical(entry.path)
        metrics = [rule.metric for rule in base.rules if canonical(rule.path) == path]
        if metrics:
            problem = f"the platform's rules of this path are of {' and '.join(metrics)}"
            return KeyFault("metric", problem, f"Use {metrics[0]}")
        paths = [rule.path for rule in base.rules if rule.metric == entry.metric] or [rule.path for rule in base.rules]
        return KeyFault("path", "the platform has no rule of this path", _near_path(entry.path, paths))

    def _fitting(self, place: Location, entry: RuleEntry, shipped: TelemetryRule | None) -> TelemetryRule | None:
        """The rule of an entry; None, with faults, where its metric is unknown or does not fit."""
        metrics = {**CATALOGUE, **self.known, **self.metrics}
        if entry.metric not in metrics:
            fits = [
                name
                for name, metric in metrics.items()
                if is_of_devices(metric) and not any(rule_faults(_rule(entry, metric), metric, frozenset()))
            ]
            near = difflib.get_close_matches(entry.metric, fits, n=1)
            hint = f"Did you mean {near[0]!r}? Else define" if near else "Define"
            self._report(
                place, KeyFault("metric", f"{display(entry.metric)} is not a metric", f"{hint} it under metrics")
            )
            return None
        metric = metrics[entry.metric]
        rule = _rule(entry, metric)
        rule = replace(rule, texts=shipped.texts) if shipped else rule
        lacking = frozenset(metric.labels) - carried_labels(shipped) - {*shipped.labels} if shipped else frozenset()
        faults = list(rule_faults(rule, metric, lacking))
        for fault in faults:
            self._report(place, fault)
        return None if faults else rule

    def _report(self, place: Location, fault: KeyFault) -> None:
        where = self.document.where((*place, fault.key) if fault.key else place)
        self.faults.append(IntentError(where, fault.problem, fault.remedy))

    def _stop_at_faults(self) -> None:
        raise_all([*self.faults[:MAX_FAULTS], *remaining_faults(self.document.path, len(self.faults))])


def _near_path(path: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(path, list(known), n=1)
    return f"Use {near[0]}" if near else "Remove it"


def _subscription(entry: SubscriptionEntry) -> TelemetrySubscription:
    return TelemetrySubscription(
        path=entry.path,
        mode=SubscriptionMode(entry.mode or "sample"),
        interval_s=entry.interval_s,
        origin=entry.origin,
        encoding=entry.encoding,
        target=entry.target,
        optional=entry.optional,
        heartbeat_s=entry.heartbeat_s,
        suppress_redundant=entry.suppress_redundant,
        updates_only=entry.updates_only,
    )


def _rule(entry: RuleEntry, metric: Metric) -> TelemetryRule:
    is_text = entry.states is not None or metric.kind is Kind.INFO
    return TelemetryRule(
        path=entry.path,
        metric=entry.metric,
        encoding=entry.encoding or ("string" if is_text else "uint64"),
        confidence=Confidence(entry.confidence),
        labels=entry.labels,
        scale=entry.scale,
        states=entry.states,
        on_change=entry.on_change,
        from_leaf=entry.from_leaf or None,
    )
