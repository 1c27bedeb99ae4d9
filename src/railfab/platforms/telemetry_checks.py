"""Checks of what a mapping file states: names and kinds of own metrics, and whether rules fit their metrics."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

from railfab.gnmi.paths import ANY, ANY_DEPTH, Element, PathError, elements
from railfab.intent.model import KeyFault
from railfab.metrics import CATALOGUE, DEVICE, Kind, Metric
from railfab.platforms.telemetry_map import PLACEHOLDER, TelemetryRule, carried_labels

NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9]*(?:_[a-zA-Z0-9]+)*")
RESERVED = ("fabric_", "process_", "python_", "scrape_")
"""Prefixes of railfab's own metrics, of those of the collector's process and of Prometheus."""
SUFFIXES: Mapping[Kind, str] = {Kind.COUNTER: "_total", Kind.INFO: "_info"}
NOT_OF_DEVICES = ("fabric_collector_", "fabric_configuration_", "fabric_maintenance_", "fabric_twin_")
FROM_INTENT = frozenset(
    ("fabric_device_info", "fabric_interface_info", "fabric_link_intended_info", "fabric_roce_queue_info")
)


def metric_faults(metric: Metric, known: Iterable[Metric]) -> Iterator[KeyFault]:
    """Reasons against exposing a metric of a user. known: metrics of the catalogue and of users' own before it."""
    suffix = SUFFIXES.get(metric.kind, "")
    base = metric.name.removesuffix("_total").removesuffix("_info")
    reserved = next((prefix for prefix in RESERVED if metric.name.startswith(prefix)), None)
    if metric.name in CATALOGUE:
        yield KeyFault("", "railfab has a metric of this name", "Remove it here; rules may use that of railfab")
    elif reserved is not None:
        problem = f"names that begin with {reserved} are taken"
        yield KeyFault(
            "", problem, f"Name it acme_{metric.name.removeprefix(reserved)}, with a word of your own for acme"
        )
    elif not NAME.fullmatch(metric.name):
        yield KeyFault("", "is not the name of a metric", "Use letters and digits, with one underscore between words")
    elif metric.name != base + suffix:
        need = f"ends in {suffix}" if suffix else "ends in neither _total nor _info"
        yield KeyFault("", f"the name of a metric of kind {metric.kind} {need}", f"Name it {base}{suffix}")
    elif metric.unit and not base.endswith(f"_{metric.unit}"):
        yield KeyFault("unit", f"the name lacks its unit {metric.unit}", f"Name it {base}_{metric.unit}{suffix}")
    elif same := next((other_metric.name for other_metric in known if _family(other_metric) == _family(metric)), None):
        yield KeyFault("", f"{same} has the same name without its ending", "Give it another name")


def _family(metric: Metric) -> str:
    """Name of the metric family in OpenMetrics."""
    return metric.name.removesuffix(SUFFIXES.get(metric.kind, ""))


def path_fault(path: str) -> KeyFault | None:
    """Reason why a text is not the path of a rule or of a subscription."""
    try:
        steps = elements(path)
    except PathError as error:
        return KeyFault("path", error.problem, error.remedy)
    if not path.startswith("/") and not path.partition(":")[2].startswith("/"):
        return KeyFault("path", "does not begin with a slash", f"Write /{path}")
    if not steps:
        return KeyFault("path", "has no steps", "Write /name[key=value]/name")
    if {"{", "}"} & {*PLACEHOLDER.sub("", path)}:
        return KeyFault(
            "path", "has a brace that belongs to no label", "Write a label as {name}, in letters and digits"
        )
    return None


def subscribed_path_fault(path: str) -> KeyFault | None:
    """Reason why a text is not a path to subscribe to."""
    if fault := path_fault(path):
        return fault
    if "{" in path:
        return KeyFault("path", "a subscription has no labels", f"Write {PLACEHOLDER.sub(ANY, path)}")
    return None


def rule_faults(rule: TelemetryRule, metric: Metric, missing: frozenset[str]) -> Iterator[KeyFault]:
    """Reasons why a rule does not fit a metric. missing: labels that the platform's own rule lacks too."""
    if not is_of_devices(metric):
        yield KeyFault("metric", f"{metric.name} is not measured by devices", "Use another one, or one of your own")
        return
    yield from _label_faults(rule, metric, missing)
    if metric.kind is Kind.INFO and (rule.states is not None or rule.scale != 1):
        key = "states" if rule.states is not None else "scale"
        yield KeyFault(key, f"{metric.name} is an info metric, always 1", f"Remove {key}")
    elif metric.kind is Kind.COUNTER and (rule.states is not None or rule.encoding in ("timestamp", "string")):
        key = "states" if rule.states is not None else "encoding"
        yield KeyFault(key, f"{metric.name} is a counter, and this leaf is not a number", "Use a gauge")
    elif metric.kind is Kind.COUNTER and rule.scale < 0:
        yield KeyFault("scale", f"{metric.name} is a counter, which only rises", "Use a positive number, or a gauge")
    elif metric.kind is Kind.GAUGE and rule.encoding == "string" and rule.states is None:
        yield KeyFault("encoding", "a text has no value without states", "Add states, or use an info metric")


def _label_faults(rule: TelemetryRule, metric: Metric, missing: frozenset[str]) -> Iterator[KeyFault]:
    carried, known = carried_labels(rule), [label for label in metric.labels if label not in DEVICE]
    given = {*carried, *rule.labels}
    unknown = sorted(given - {*known})
    for label in unknown:
        key = "labels" if label in rule.labels else "path" if f"{{{label}}}" in rule.path else "from_leaf"
        yield KeyFault(key, f"{metric.name} has no label {label!r}", _label_remedy(label, known, given))
    for label in sorted(carried & {*rule.labels}):
        yield KeyFault("labels", f"label {label!r} is also in the path or in from_leaf", "Remove it here")
    lacking = [label for label in known if label not in given and label not in missing]
    if lacking and not unknown:
        label = lacking[0]
        remedy = f"Write {{{label}}} in a key of the path or in from_leaf, or {label} with a value in labels"
        yield KeyFault("path", f"label {label!r} of {metric.name} is missing", remedy)


def _label_remedy(label: str, known: list[str], given: set[str]) -> str:
    free = [name for name in known if name not in given]
    similar = difflib.get_close_matches(label, free, n=1, cutoff=0.5) or (free if len(free) == 1 else [])
    if similar:
        return f"Use {similar[0]!r}"
    return f"Its labels are {', '.join(known)}" if known else "Remove the label"


def is_of_devices(metric: Metric) -> bool:
    """Whether switches measure it: not the collector, the design or a job."""
    return (
        "device" in metric.labels
        and metric.name not in FROM_INTENT
        and not metric.name.startswith(NOT_OF_DEVICES)
        and metric.kind is not Kind.HISTOGRAM
    )


def covers(subscribed: str, rule: str) -> bool:
    """Whether the leaves of a rule may lie at or below a subscribed path; labels and `*` stand for any text."""
    return _covers(elements(subscribed), elements(PLACEHOLDER.sub(ANY, rule)))


def _covers(subscribed: tuple[Element, ...], rule: tuple[Element, ...]) -> bool:
    for index, wanted in enumerate(subscribed):
        if wanted.name == ANY_DEPTH:
            return any(_covers(subscribed[index + 1 :], rule[start:]) for start in range(index, len(rule) + 1))
        if index >= len(rule) or not _meets(wanted, rule[index]):
            return False
    return True


def _meets(wanted: Element, step: Element) -> bool:
    """Whether a step of a rule may be one that is subscribed to."""
    given = dict(step.keys)
    return _meet(wanted.name, step.name) and all(_meet(value, given.get(name, ANY)) for name, value in wanted.keys)


def _meet(left: str, right: str) -> bool:
    return fnmatchcase(left, right) or fnmatchcase(right, left)
