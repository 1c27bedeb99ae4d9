"""The face `telemetry` of a platform: native gNMI paths, and the metrics that they carry; and that of every twin."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from railfab.metrics import Metric
from railfab.metrics import metric as catalogue_metric

if TYPE_CHECKING:
    from railfab.device import TrafficClass

PLACEHOLDER = re.compile(r"\{(\w+)(?::([^{}]*))?\}|(\*)")
"""In paths of rules and patterns of `from_leaf`: a label, a label with text before what stands there, or any text."""
LABEL = re.compile(r"\{(\w+)(?::([^{}]*))?\}")


class Confidence(StrEnum):
    """Evidence for a path: a test against the vendor's YANG models, the vendor's manual, or none."""

    VERIFIED = "verified"
    DOCUMENTED = "documented"
    UNVERIFIED = "unverified"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueNames:
    """Names, in the counters of a platform, of the egress queue of a class and the priority group of a lossless one.

    A priority group is the buffer of a class at ingress. `{name}`, `{queue}` and `{priority}` are those of the class.
    """

    queue: str = "{name}"
    priority_group: str = "{name}"

    def of(self, label: str, traffic_class: TrafficClass) -> str:
        """The value for a class of the label of this name, `queue` or `priority_group`."""
        text: str = getattr(self, label)
        return text.format(name=traffic_class.name, queue=traffic_class.queue, priority=traffic_class.pfc_priority)


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryRule:
    """One native gNMI path and the canonical metric it carries.

    path: keys and elements name labels, `/interface[name={interface}]/statistics/in-octets`,
        `/COUNTERS/{interface}/SAI_PORT_STAT_PFC_{priority}_RX_PKTS`; `*` stands for any text. `{peer:Ethernet}` takes
        the label `Ethernet1/1` from the text `1/1`.
    labels: labels that the path does not carry, with their fixed values.
    from_leaf: sibling leaves whose value carries labels: leaf name to a pattern, written like a key.
    encoding: type of the leaf: `uint64` (a string in JSON_IETF), `uint32`, `decimal` (a string), `string`, `timestamp`
        (RFC 3339 string).
    texts: of labels that the path has in other words, the text of each value: `-default` for the queue `0` in
        `c-out-8q-q{queue}`. Another text is not matched.
    scale: canonical value = leaf x scale. states: leaf string to number, for enumerations.
    on_change: whether the leaf is subscribed ON_CHANGE; otherwise it is sampled.
    """

    path: str
    metric: str
    encoding: str
    confidence: Confidence
    labels: Mapping[str, str]
    scale: float = 1.0
    states: Mapping[str, float] | None = None
    on_change: bool = False
    from_leaf: Mapping[str, str] | None = None
    texts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def carried_labels(rule: TelemetryRule) -> frozenset[str]:
    """The labels that the path of a rule and its sibling leaves carry."""
    texts = (rule.path, *(rule.from_leaf or {}).values())
    return frozenset(match[1] for text in texts for match in PLACEHOLDER.finditer(text) if match[1])


def path_text(rule: TelemetryRule, label: str, beginning: str, value: str | None) -> str | None:
    """The text for a label's value in a rule's path, behind `beginning`; None where the rule does not apply to it."""
    if value is None or not value.startswith(beginning):
        return None
    return rule.texts[label].get(value) if label in rule.texts else value.removeprefix(beginning)


class SubscriptionMode(StrEnum):
    """Mode of a gNMI subscription: three of a stream, and POLL and ONCE, where the collector asks at the interval."""

    SAMPLE = "sample"
    ON_CHANGE = "on_change"
    TARGET_DEFINED = "target_defined"
    POLL = "poll"
    ONCE = "once"


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetrySubscription:
    """One path to subscribe to.

    interval_s: of samples, polls and repeated ONCE [s]; None is the collector's, but at least min_interval_s: what
    changes slowly, or is costly to read, is sampled no more often than that, and no more often than all else. origin:
    of the path, such as `eos_native`. encoding: in lower case, such as `json_ietf`; None is the first one that the
    target supports. target: in the prefix of the request, such as SONiC's `COUNTERS_DB`. optional: whether some
    models of the platform lack the path, and refuse it. heartbeat_s: how often the target sends also what has not
    changed [s]; None is never. suppress_redundant: whether samples that have not changed are left out. updates_only:
    whether the stream begins without the present values.
    """

    path: str
    mode: SubscriptionMode
    interval_s: float | None = None
    min_interval_s: float = 0.0
    origin: str = ""
    encoding: str | None = None
    target: str = ""
    optional: bool = False
    heartbeat_s: float | None = None
    suppress_redundant: bool = False
    updates_only: bool = False

    def every_s(self, interval_s: float) -> float:
        """Interval of samples, polls and repeated ONCE [s]. interval_s: the collector's."""
        return self.interval_s or max(interval_s, self.min_interval_s)

    @property
    def is_at_collectors_pace(self) -> bool:
        """Whether the interval is the collector's, whatever that is."""
        return self.interval_s is None and not self.min_interval_s


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryMap:
    """rules: in file order. subscriptions: what to subscribe to. metrics: of users' own, besides the catalogue.

    queues: what the counters call queues and priority groups; None where it is not known. classes: the class of the
    intent that stands for each value of a label, by label.
    """

    rules: tuple[TelemetryRule, ...]
    subscriptions: tuple[TelemetrySubscription, ...]
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    queues: QueueNames | None = None
    classes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(tuple(rule.path for rule in self.rules))

    def metric(self, name: str) -> Metric:
        """The metric of a rule. Raises KeyError: a name that neither the catalogue nor a user defines is a bug."""
        return self.metrics[name] if name in self.metrics else catalogue_metric(name)


SIMULATED_TIME = "/railfab-twin/simulated-time"
"""Leaf of a virtual switch of any platform: simulated time of its counters [ns]."""

_TWIN_RULE = TelemetryRule(
    path=SIMULATED_TIME,
    metric="fabric_twin_simulated_seconds_total",
    encoding="uint64",
    confidence=Confidence.VERIFIED,
    labels={},
    scale=1e-9,
)


def has_simulated_time(telemetry: TelemetryMap) -> bool:
    """Whether a map subscribes to the simulated time of a virtual switch."""
    return any(entry.path == SIMULATED_TIME for entry in telemetry.subscriptions)


@lru_cache(maxsize=16)
def of_twin(telemetry: TelemetryMap) -> TelemetryMap:
    """The map of a platform's virtual switches: theirs, and the simulated time of their counters.

    It is the last path of the request that samples the counters: once a time has arrived, so has what was counted by
    then. A request of its own would be sampled at other times.
    """
    if has_simulated_time(telemetry):
        return telemetry
    sampled = (entry for entry in telemetry.subscriptions if entry.mode is SubscriptionMode.SAMPLE)
    counters = next((entry for entry in sampled if entry.is_at_collectors_pace and not entry.optional), None)
    alone = TelemetrySubscription(path=SIMULATED_TIME, mode=SubscriptionMode.SAMPLE)
    return replace(
        telemetry,
        rules=(*telemetry.rules, _TWIN_RULE),
        subscriptions=(*telemetry.subscriptions, replace(counters, path=SIMULATED_TIME) if counters else alone),
    )
