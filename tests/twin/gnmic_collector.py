"""gnmic as the collector of a virtual switch, and the canonical series that the values which it stores mean.

The reading of `telemetry.yml` here is another one than the collector's, so that both are compared.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from railfab.endpoints import Endpoint, read_credentials
from railfab.platforms import TelemetryMap, TelemetryRule, TelemetrySubscription
from railfab.platforms.telemetry_map import PLACEHOLDER

WITHIN_S = 60.0
QUIET_S = 3.0
"""Time without a new path after which gnmic has all of them."""
Key = tuple[str, frozenset[tuple[str, str]]]
"""Metric and labels of a series."""


def gnmic_values(node: Endpoint, telemetry: TelemetryMap, encoding: str, folder: Path) -> Mapping[str, Any]:
    """The newest value of each path that gnmic stores, once there are no new paths."""
    stored = folder / f"{node.name}-{encoding}.json"
    configuration = stored.with_suffix(".yml")
    configuration.write_text(yaml.safe_dump(_configuration(node, telemetry, encoding, stored)))
    login = read_credentials(node)
    environment = os.environ | {"GNMIC_USERNAME": login.username, "GNMIC_PASSWORD": login.password}
    log = stored.with_suffix(".log")
    command = ["gnmic", "--config", str(configuration), "--log", "--log-file", str(log), "subscribe"]
    with subprocess.Popen(command, env=environment) as process:
        try:
            return _settled(stored, log)
        finally:
            process.terminate()


def _configuration(node: Endpoint, telemetry: TelemetryMap, encoding: str, stored: Path) -> dict[str, Any]:
    """A file as gnmic's user guide has it: a target, a subscription for each request, and an output."""
    requests: dict[tuple[str, str, str], list[TelemetrySubscription]] = {}
    for entry in telemetry.subscriptions:
        requests.setdefault((entry.mode, entry.target, entry.path if entry.optional else ""), []).append(entry)
    return {
        "encoding": encoding,
        "targets": {node.name: {"address": f"{node.host}:{node.gnmi_port}", "tls-ca": str(node.ca)}},
        "subscriptions": {
            f"request-{number}": {
                "paths": [f"{one.origin}:{one.path}" if one.origin else one.path for one in entries],
                "stream-mode": mode.replace("_", "-"),
                **({"sample-interval": "1s"} if mode == "sample" else {}),
                **({"target": target} if target else {}),
            }
            for number, ((mode, target, _), entries) in enumerate(requests.items())
        },
        "outputs": {"file": {"type": "file", "filename": str(stored), "format": "json", "multiline": False}},
    }


def _settled(stored: Path, log: Path) -> dict[str, Any]:
    values: dict[str, Any] = {}
    since_s, end_s = time.monotonic(), time.monotonic() + WITHIN_S
    while not values or time.monotonic() < since_s + QUIET_S:
        assert time.monotonic() < end_s, log.read_text() if log.exists() else stored
        time.sleep(0.5)
        now = dict(_leaves(stored.read_text())) if stored.exists() else {}
        if now.keys() != values.keys():
            since_s = time.monotonic()
        values = now
    return values


def _leaves(text: str) -> Iterator[tuple[str, Any]]:
    """Path and value of each update in gnmic's file, in their order; those in a container one by one."""
    for line in text.splitlines(keepends=True):
        if not line.endswith("\n"):
            return
        message = json.loads(line)
        for update in message.get("updates", ()):
            path = "/".join(filter(None, (message.get("prefix", ""), update["Path"])))
            (value,) = update["values"].values()
            yield from _flat("/" + path.rpartition(":/")[2].lstrip("/"), value)


def _flat(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, child in value.items():
            yield from _flat(f"{path}/{name}", child)
    else:
        yield path, value


def canonical(
    rules: Sequence[TelemetryRule], values: Mapping[str, Any], classes: Mapping[str, Mapping[str, str]]
) -> dict[Key, float]:
    """The series that these values mean: of each leaf by the first rule of a metric that has its path.

    classes: the class of the intent for the name that the counters have, by label.
    """
    series: dict[Key, float] = {}
    for path, value in values.items():
        seen: set[tuple[str, str]] = set()
        for rule in rules:
            key = (rule.metric, str(rule.labels))
            labels = None if key in seen else _labels(rule, path, values)
            if labels is not None:
                seen.add(key)
                named = {label: classes.get(label, {}).get(text, text) for label, text in labels.items()}
                series[rule.metric, frozenset(named.items())] = _number(rule, value)
    return series


def _labels(rule: TelemetryRule, path: str, values: Mapping[str, Any]) -> dict[str, str] | None:
    """The labels of a leaf by a rule; None where the rule has another path, or a leaf beside it is missing."""
    match = _pattern(rule.path).fullmatch(path)
    if match is None:
        return None
    texts = [(rule.path, match)]
    for name, template in (rule.from_leaf or {}).items():
        sibling = f"{path.rpartition('/')[0]}/{name}"
        if sibling not in values or (found := _pattern(template).fullmatch(values[sibling])) is None:
            return None
        texts.append((template, found))
    labels = dict(rule.labels)
    for template, found in texts:
        beginnings = {one[1]: one[2] or "" for one in PLACEHOLDER.finditer(template) if one[1]}
        for label, text in found.groupdict().items():
            known = {shown: value for value, shown in rule.texts.get(label, {}).items()}
            if known and text not in known:
                return None
            labels[label] = known[text] if known else beginnings[label] + text
    return labels


def _pattern(template: str) -> re.Pattern[str]:
    """A path of a rule as a pattern whose groups are labels."""
    pattern, at = "", 0
    for found in PLACEHOLDER.finditer(template):
        pattern += re.escape(template[at : found.start()])
        in_key = template.rfind("[", 0, found.start()) > template.rfind("]", 0, found.start())
        is_whole = not template.startswith("/")
        text = ".+" if is_whole else r"[^\]]+" if in_key else r"\d+" if found[1] == "priority" else "[^/]+"
        pattern += f"(?P<{found[1]}>{text})" if found[1] else text
        at = found.end()
    return re.compile(pattern + re.escape(template[at:]))


def _number(rule: TelemetryRule, value: Any) -> float:
    if rule.states is not None:
        return rule.states[value]
    if rule.from_leaf and rule.encoding == "string":
        return 1.0
    if rule.encoding == "timestamp":
        return datetime.fromisoformat(value).timestamp()
    return float(value) * rule.scale
