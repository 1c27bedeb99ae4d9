"""The mapping file: a user's changes to what `collect` subscribes to, and to the metrics of the leaves that arrive."""

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from railfab.intent.model import LINE_PATTERN, Interval, KeyFault, Line, Listed, Model, Text
from railfab.metrics import DEVICE

PathText = Annotated[str, Field(min_length=1, max_length=500, pattern=LINE_PATTERN)]
LABEL = re.compile(r"[a-z][a-z0-9_]*")
UNIT = re.compile(r"[a-z]+(?:_[a-z]+)*")


class OwnMetric(Model):
    """A metric that the catalogue of railfab does not have."""

    kind: Literal["counter", "gauge", "info"] = Field(description="type; an info metric is a gauge that is always 1")
    unit: Line = Field(default="", description="base unit at the end of its name, such as `seconds` or `bytes`")
    help: Line = Field(min_length=1, description="meaning, in a sentence")
    labels: Listed[Text] = Field(
        default=(), description="labels besides `device` and `fabric`, which the collector gives to every series"
    )

    def _faults(self) -> Iterator[KeyFault]:
        if self.unit and not UNIT.fullmatch(self.unit):
            yield KeyFault("unit", f"{self.unit!r} is not a unit", "Use a word such as seconds or bytes")
        if self.unit and self.kind == "info":
            yield KeyFault("unit", "an info metric has no unit", "Remove it")
        for place, label in enumerate(self.labels):
            if label in DEVICE:
                yield KeyFault("labels", f"every series has the label {label}", "Leave it out")
            elif not LABEL.fullmatch(label):
                remedy = "Use lower-case letters, digits and underscores, a letter first"
                yield KeyFault("labels", f"{label!r} is not the name of a label", remedy)
            elif label in self.labels[:place]:
                yield KeyFault("labels", f"label {label!r} is there twice", "Keep one of them")


class RuleEntry(Model):
    """A path and the metric that it carries, with the keys of a rule of a platform's telemetry.yml."""

    path: PathText = Field(
        description="native path of the leaf; keys in braces are labels: `/interface[name={interface}]`"
    )
    metric: Text = Field(description="name of a metric of the catalogue, or of `metrics`")
    drop: bool = Field(default=False, description="remove the rule that the platform has for this path and metric")
    encoding: Literal["uint64", "uint32", "decimal", "string", "timestamp"] | None = Field(
        default=None, description="type of the leaf; by default string with `states` and of info metrics, else uint64"
    )
    scale: float = Field(default=1.0, description="value of the metric for a leaf of 1")
    states: dict[Text, float] | None = Field(default=None, description="numbers of the values of an enumeration")
    labels: dict[Text, Line] = Field(default={}, description="labels that the path does not carry, with their values")
    from_leaf: dict[Text, Line] = Field(
        default={}, description="labels that leaves beside this one carry: leaf, and a pattern like that of a key"
    )
    on_change: bool = Field(default=False, description="whether the device sends it when it changes; the twin's use")
    confidence: Literal["verified", "documented", "unverified"] = Field(
        default="unverified", description="evidence for the path"
    )

    def _faults(self) -> Iterator[KeyFault]:
        if extra := sorted(self.model_fields_set - {"path", "metric", "drop"}) if self.drop else ():
            yield KeyFault(extra[0], "a rule with drop has only path and metric", f"Remove {', '.join(extra)}, or drop")
        if self.states is not None and self.encoding not in (None, "string"):
            yield KeyFault("encoding", f"states are texts, not {self.encoding}", "Use string, or remove states")
        if self.states is not None and not self.states:
            yield KeyFault("states", "there are no states", "Add each value of the leaf with its number")
        if self.scale == 0:
            yield KeyFault("scale", "0 makes every value 0", "Use another number")
        if self.scale != 1 and (self.states is not None or self.encoding == "timestamp"):
            yield KeyFault("scale", "states and times are not scaled", "Remove it")


class SubscriptionEntry(Model):
    """A path to subscribe to, with the keys of a subscription of a platform's telemetry.yml."""

    path: PathText = Field(description="path to subscribe to; `*` in a key is every entry of a list")
    mode: Literal["sample", "on_change", "target_defined", "poll", "once"] | None = Field(
        default=None, description="sample, on_change or target_defined of a stream; poll or once: asked at the interval"
    )
    drop: bool = Field(default=False, description="remove the platform's subscription to this path")
    interval_s: Interval | None = Field(
        default=None, description="of samples, polls and repeated once [s]; by default that of --interval"
    )
    heartbeat_s: Interval | None = Field(
        default=None, description="how often the target sends also what has not changed [s]"
    )
    suppress_redundant: bool = Field(default=False, description="whether samples that have not changed are left out")
    updates_only: bool = Field(default=False, description="whether the stream begins without the present values")
    origin: Line = Field(default="", description="origin of the path, such as `openconfig`")
    target: Line = Field(default="", description="target in the prefix of the request, such as SONiC's `COUNTERS_DB`")
    encoding: Literal["proto", "json_ietf", "json", "bytes", "ascii"] | None = Field(
        default=None, description="by default the first one that the target supports"
    )
    optional: bool = Field(default=False, description="whether the target may refuse the path, as some models do")

    def _faults(self) -> Iterator[KeyFault]:
        keys = {"path", "drop", "origin", "target"}
        if extra := sorted(self.model_fields_set - keys) if self.drop else ():
            problem = "a subscription with drop has only path, origin and target"
            yield KeyFault(extra[0], problem, f"Remove {', '.join(extra)}, or drop")
        if self.mode is None and not self.drop:
            yield KeyFault("mode", "the key is missing", "Add it: sample or on_change")
        if self.mode == "on_change" and self.interval_s is not None:
            yield KeyFault("interval_s", "changes are sent when they happen", "Remove it, or use mode: sample")
        if self.mode in ("poll", "once"):
            yield from self._asked_faults(self.mode)
        if self.mode == "on_change" and self.suppress_redundant:
            yield KeyFault("suppress_redundant", "only changes are sent in mode on_change", "Remove it")
        if self.mode == "sample" and self.heartbeat_s is not None and not self.suppress_redundant:
            problem = "every sample is sent, changed or not"
            yield KeyFault("heartbeat_s", problem, "Remove it, or add suppress_redundant: true")

    def _asked_faults(self, mode: str) -> Iterator[KeyFault]:
        """The keys of a stream in a mode where the target answers and sends nothing by itself."""
        if self.heartbeat_s is not None:
            yield KeyFault(
                "heartbeat_s", f"each answer of mode {mode} is whole", "Remove it; interval_s says how often"
            )
        if self.suppress_redundant:
            yield KeyFault(
                "suppress_redundant", f"each answer of mode {mode} is whole", "Remove it, or use mode: sample"
            )
        if self.updates_only:
            yield KeyFault(
                "updates_only", f"mode {mode} would then bring no value", "Remove it, or use a mode of a stream"
            )


class PlatformTelemetry(Model):
    """The changes to the telemetry map of one platform."""

    new: bool = Field(default=False, description="whether railfab has no such platform, and this is all of its map")
    subscriptions: Listed[SubscriptionEntry] = Field(default=(), description="added, replaced and dropped ones")
    rules: Listed[RuleEntry] = Field(default=(), description="added, replaced and dropped ones")


class TelemetryFile(Model):
    """A mapping file."""

    version: Literal[1] = Field(description="version of the format")
    metrics: dict[Text, OwnMetric] = Field(default={}, description="metrics of your own, by name")
    platforms: dict[Text, PlatformTelemetry] = Field(default={}, description="changes by platform, such as `srlinux`")
