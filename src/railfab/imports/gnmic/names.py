"""The names that gnmic gives to metrics and labels of its Prometheus outputs.

Source: openconfig/gnmic, pkg/outputs/prometheus_output/prometheus_common.go (MetricName, GetLabels) and
pkg/formatters/event.go (tagsFromGNMIPath).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from railfab.gnmi.paths import elements
from railfab.platforms.telemetry_map import LABEL, PLACEHOLDER

OTHERS = re.compile(r"[^a-zA-Z0-9_]+")


def metric_name(path: str, *, prefix: str = "", subscription: str = "") -> str:
    """The name of the metric of a leaf: its path without keys, after the prefix and the name of the subscription.

    A label in the name of an element stands in angle brackets: gnmic has a metric for each of its values.
    """
    parts = [OTHERS.sub("_", prefix)] if prefix else []
    if subscription:
        parts.append(OTHERS.sub("_", subscription).rstrip("_"))
    steps = "_".join(_step(step.name) for step in elements(path))
    return "_".join((*parts, steps.lstrip("_")))


def _step(name: str) -> str:
    """`{label}` as `<label>`, everything else as in a metric."""
    out, at = "", 0
    for found in PLACEHOLDER.finditer(name):
        out += OTHERS.sub("_", name[at : found.start()]) + (f"<{found[1]}>" if found[1] else "*")
        at = found.end()
    return out + OTHERS.sub("_", name[at:])


class LabelName(NamedTuple):
    """The label of a rule for one of gnmic's. part: whether its value is a part of gnmic's: the port of an address."""

    name: str
    part: bool


def label_names(path: str) -> dict[str, LabelName]:
    """gnmic's labels of a path with the labels of a rule in its keys: element and key to the rule's label."""
    return {
        OTHERS.sub("_", f"{step.name}_{key}"): LabelName(found[1], part=found[0] != text)
        for step in elements(path)
        for key, text in step.keys
        if (found := LABEL.search(text))
    }
